/* SPDX-License-Identifier: Apache-2.0 */
/* The sending loop against a store that answers as it is told: what goes first, what is tried again, what becomes of a
 * window. */
/* covers: send/sender.c send/retries.c send/spool/counters.c */
#include "send/sender.h"
#include "send/format/pack.h"

#include "send/spool/counters.h"
#include "test/lib/norenameat2.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <ftw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define OLD UINT64_C(1700000000)

/* What the store answers to each window (by epoch), and what it was asked. */
static struct script {
	uint64_t epoch;
	enum store_verdict verdict;
	uint64_t after;
	bool cured;   /* isolate finds the poison */
	bool partly;  /* a stack of it is refused, whatever else it answers */
	bool differs; /* it holds something else there */
} script[16];
static size_t nscript, ncalls;
static uint64_t calls[4096];
static uint64_t resume_seen;
static bool isolated;

static void fake_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
		      struct store_report *report)
{
	(void)store;
	calls[ncalls++ % countof(calls)] = window->epoch;
	resume_seen = *resume;
	*resume += 1;
	isolated = isolate;
	report->verdict = STORE_SENT;
	report->documents = 1;
	for (size_t i = 0; i < nscript; i++) {
		if (script[i].epoch != window->epoch)
			continue;
		report->verdict = script[i].verdict;
		report->after = script[i].after;
		text_add(&report->why, "as told");
		report->differs = script[i].differs;
		if ((isolate && script[i].cured) || script[i].partly) {
			report->verdict = script[i].partly ? report->verdict : STORE_SENT;
			text_add(&report->refused, "poison 7\n");
			text_add(&report->refused_why, "as told");
		}
	}
}

static const struct store_ops fake = {
	.scheme = "fake", .form = "fake:", .does = "answers as told", .exact = true, .send = fake_send
};

static struct spool spool;
static struct store store = { .ops = &fake, .spec = "fake:" };
static struct sender s;
static char dir[] = "/tmp/pj-sender.XXXXXX";

static enum store_joined fake_join(void *to, const struct window *window, struct store_report *report)
{
	(void)to, (void)report;
	calls[ncalls++ % countof(calls)] = window->epoch;
	return STORE_JOINED;
}

/* Confirms all windows; then the files in the spool cannot be removed. */
static void fake_send_joined(void *to, struct store_report *report)
{
	(void)to;
	report->verdict = STORE_SENT;
	spool.space = -1;
}

static void put(uint64_t epoch, uint64_t seconds)
{
	struct text t = { 0 };
	struct window w = { .epoch = epoch,
			    .until = epoch + seconds,
			    .host = STR("h"),
			    .unit = STR("samples"),
			    .samples = 1,
			    .parts = 1 };

	window_header(&t, &w);
	text_add(&t, "a;b 1\n");
	spool_put(&spool, (struct spool_name){ epoch, 1 }, text_view(&t));
	text_free(&t);
}

static void begin(bool once, double catch_up)
{
	nscript = ncalls = 0;
	isolated = false;
	s = (struct sender){ .spool = &spool,
			     .store = &store,
			     .o = { .once = once, .catch_up = catch_up, .quiet = true } };
	sender_begin(&s);
}

/* Time passes. */
static void later(void)
{
	s.store_due = 0;
	s.backlog_due = 0;
	for (size_t i = 0; i < s.n; i++)
		s.window[i].due = 0;
}

static size_t in_folder(const char *name)
{
	char path[100];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	d = opendir(path);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.' && strcmp(e->d_name, "recorder") != 0;
	closedir(d);
	return n;
}

static void empty(void)
{
	uint64_t bytes;
	struct spool_name *names;
	size_t n;

	sender_end(&s);
	spool_windows(&spool, &names, &n);
	for (size_t i = 0; i < n; i++)
		spool_done(&spool, names[i]);
	free(names);
	while (spool_drop_bad(&spool, &bytes))
		;
}

static uint64_t ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void test_order(void)
{
	bool rising = true;

	for (uint64_t i = 0; i < 20; i++)
		put(OLD + 30 * (i * 7 % 20), 30);
	begin(false, 0);
	while (sender_step(&s))
		;
	for (size_t i = 1; i < ncalls; i++)
		rising &= calls[i] > calls[i - 1];
	ok(ncalls == 20 && rising && s.n == 0 && in_folder("spool") == 0,
	   "a backlog goes oldest first, and nothing is left");
	empty();
}

static void test_blocked(void)
{
	put(OLD, 30);
	put(OLD + 30, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_LATER };
	sender_step(&s);
	ok(ncalls == 1 && s.store_due > ms() && !sender_step(&s), "after a failure the store is left alone");
	ok(s.window[0].due > s.store_due, "and another window goes first then");
	s.store_due = 0;
	sender_step(&s);
	ok(calls[1] == OLD + 30 && s.n == 1, "one that is blocked does not block the next");
	later();
	sender_step(&s);
	ok(resume_seen == 1, "a store finds what it had reached before");
	empty();
}

static void test_waiting(void)
{
	uint64_t max = 0, now;

	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_LATER, .after = 120 };
	now = ms();
	sender_step(&s);
	ok(s.store_due >= now + 120000 && s.store_due <= ms() + 121001, "what the store asks for is kept");
	script[0].after = 86400;
	later();
	now = ms();
	sender_step(&s);
	ok(s.store_due >= now + 300000 && s.store_due <= ms() + 301001, "but no more than 5 minutes");
	script[0].after = 0;
	for (unsigned i = 0; i < 40; i++) {
		later();
		now = ms();
		sender_step(&s);
		max = s.store_due > now && s.store_due - now > max ? s.store_due - now : max;
	}
	ok(max <= 60000 + 1000 && max > 1000, "pauses grow to at most a minute");
	ok(s.n == 1 && in_folder("spool") == 1, "and nothing is given up, however often it fails");
	script[0].verdict = STORE_SENT;
	later();
	sender_step(&s);
	ok(s.n == 0 && s.failures == 0 && s.store_due == 0, "a success begins anew");
	empty();
}

static void test_hold(void)
{
	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_HOLD };
	for (unsigned i = 0; i < 50; i++) {
		later();
		sender_step(&s);
	}
	sender_report(&s, true);
	ok(s.held && s.n == 1 && in_folder("spool") == 1 && counter_get(COUNT_HELD) == 1,
	   "a wrong configuration holds the data, and is an alarm");
	nscript = 0;
	later();
	sender_step(&s);
	ok(!s.held && s.n == 0, "once it is mended all goes on");
	empty();
}

static void test_doubt(void)
{
	unsigned i;

	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_INDETERMINATE, .cured = true };
	for (i = 0; i < 50; i++) {
		later();
		sender_step(&s);
	}
	ok(s.n == 1 && !isolated, "while the store takes nothing at all, it is the store");
	put(OLD + 30, 30);
	sender_add(&s, (struct spool_name){ OLD + 30, 1 });
	for (i = 0; i < 4 && s.n; i++) {
		later();
		s.window[0].due = i ? 0 : UINT64_MAX; /* the other one first */
		sender_step(&s);
	}
	ok(s.n == 0 && isolated, "when it takes others, the poison is looked for");
	ok(in_folder("bad") == 2 && counter_get(COUNT_POISON) == 1, "and goes to bad/ with its reason, alone");
	empty();

	put(OLD, 30);
	put(OLD + 30, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_INDETERMINATE };
	sender_step(&s);
	s.store_due = 0;
	sender_step(&s); /* the other one */
	for (i = 2; i < 50 && s.n; i++) {
		later();
		sender_step(&s);
	}
	ok(s.n == 0 && i > 10 && in_folder("bad") == 2 && in_folder("spool") == 0,
	   "one that cannot be isolated goes to bad/ whole, after some attempts");
	empty();
}

/* Each attempt is a run of its own, as cron has it. */
static void test_doubt_runs(void)
{
	unsigned runs;

	put(OLD, 30);
	s.refused = 0;
	for (runs = 0; runs < 30 && !s.refused; runs++) {
		put(OLD + 30, 30);
		begin(true, 0);
		script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_INDETERMINATE, .cured = true };
		while (sender_step(&s))
			;
		sender_report(&s, true);
		if (runs == 3)
			ok(in_folder("spool") == 2, "what is in doubt is noted from run to run");
		sender_end(&s);
	}
	ok(runs == 11 && s.refused == 1 && in_folder("bad") == 2,
	   "ten runs are ten attempts: then the poison is looked for");
	ok(in_folder("spool") == 0, "and nothing is in doubt any more");
	begin(true, 0);
	empty();

	put(OLD, 30);
	for (runs = 0; runs < 30; runs++) {
		begin(true, 0);
		script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_INDETERMINATE, .cured = true };
		while (sender_step(&s))
			;
		sender_report(&s, true);
		sender_end(&s);
	}
	ok(!isolated && in_folder("bad") == 0, "not while the store takes nothing at all, however many runs");
	begin(true, 0);
	empty();
	unlinkat(spool.space, "doubts", 0);
}

static void test_refused(void)
{
	put(OLD, 30);
	put(OLD + 30, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_REFUSED };
	while (sender_step(&s))
		;
	ok(s.n == 0 && ncalls == 2 && in_folder("bad") == 2,
	   "what is refused for good goes to bad/, the rest to the store");
	empty();
}

/* Windows that the store confirmed, but whose files cannot be removed, are not sent again. */
static void test_not_removed(void)
{
	struct store_ops joining = fake;
	int space = spool.space;

	joining.join = fake_join;
	joining.send_joined = fake_send_joined;
	store.ops = &joining;
	put(OLD, 30);
	put(OLD + 30, 30);
	begin(false, 0);
	ok(sender_step(&s) && ncalls == 2 && s.sent == 2 && s.n == 2, "two windows are sent, and stay in the spool");
	spool.space = space;
	later();
	while (sender_step(&s))
		;
	spool.space = space;
	ok(ncalls == 2 && s.sent == 2 && s.n == 0 && in_folder("spool") == 0,
	   "later they are removed, and not sent again");
	store.ops = &fake;
	empty();
}

/* A build without zstd cannot read a window of another build, which is not damaged. */
static void test_no_zstd(void)
{
	int fd;

	if (pack_has_zstd)
		return;
	fd = openat(spool.space, "1700000000.0000000000000001.folded.zst", O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, "\x28\xB5\x2F\xFD window", 11) != 11 || close(fd) != 0)
		abort();
	begin(false, 0);
	sender_step(&s);
	ok(s.n == 1 && ncalls == 0 && s.refused == 0 && in_folder("bad") == 0 && in_folder("spool") == 1,
	   "without zstd a window compressed with it waits");
	empty();
}

/* One of the two is broken off: what was found before is neither lost nor told twice. */
static void test_saved(void)
{
	uint64_t before = counter_get(COUNT_POISON), differ = counter_get(COUNT_DIFFERS);

	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_LATER, .partly = true };
	sender_step(&s);
	ok(s.n == 1 && in_folder("bad") == 2 && counter_get(COUNT_POISON) == before + 1,
	   "a stack that was refused before the connection broke is in bad/");
	nscript = 0;
	later();
	sender_step(&s);
	ok(s.n == 0 && in_folder("bad") == 2 && in_folder("spool") == 0, "and stays there when the rest has arrived");
	empty();

	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_LATER, .differs = true };
	sender_step(&s);
	ok(s.n == 1 && in_folder("bad") == 0,
	   "what is stored otherwise is not given up before the store has answered to the end");
	nscript = 0;
	later();
	sender_step(&s);
	ok(s.n == 0 && s.differ == 1 && in_folder("bad") == 2 && counter_get(COUNT_DIFFERS) == differ + 1,
	   "then it is kept in bad/, and counted once");
	empty();
}

static void test_fresh(void)
{
	uint64_t now = (uint64_t)time(NULL);
	size_t fresh = 0, turn = 0;

	for (uint64_t i = 0; i < 10; i++)
		put(OLD + 30 * i, 30);
	put(now - 20, 10);
	put(now - 10, 10);
	begin(false, 0);
	for (size_t i = 0; i < 5; i++)
		sender_step(&s);
	for (size_t i = 0; i < 5; i++) {
		fresh += calls[i] > OLD + 1000;
		turn += calls[i] == OLD + 30 * turn;
	}
	ok(fresh == 2 && turn == 3, "new windows are not starved by a backlog, nor it by them");
	empty();

	for (uint64_t i = 0; i < 3; i++)
		put(OLD + 30 * i, 30);
	begin(false, 4);
	now = ms();
	sender_step(&s);
	ok(s.backlog_due >= now + 7500 && s.backlog_due <= ms() + 7501 && s.n == 2,
	   "a backlog of 30 s windows goes at 4 in 30 s");
	s.backlog_due = ms() + 3600000;
	now = (uint64_t)time(NULL);
	put(now - 10, 10);
	sender_add(&s, (struct spool_name){ now - 10, 1 });
	ok(sender_step(&s) && calls[1] == now - 10 && !sender_step(&s), "a new one need not wait for that");
	empty();
}

static void test_splay(void)
{
	unsigned in[10] = { 0 }, least = 1000, max = 0;
	char host[32];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(host, sizeof(host), "web%u.example.org", i);
		in[sender_splay(str_of(host), 30) / 3000]++;
	}
	for (size_t i = 0; i < 10; i++) {
		least = in[i] < least ? in[i] : least;
		max = in[i] > max ? in[i] : max;
	}
	ok(least > 60 && max < 150, "1000 hosts spread evenly over 30 s");
	ok(sender_splay(STR("web18"), 1) == 997 && sender_splay(STR("web18"), 0) == 0,
	   "a host always waits as long (send.t relies on this one)");
	put(OLD, 30);
	begin(true, 0);
	sender_not_before(&s, 3600000);
	ok(!sender_step(&s) && ncalls == 0 && !sender_finished(&s),
	   "nothing is sent before that, and the run is not at its end");
	empty();
}

static void test_once(void)
{
	for (uint64_t i = 0; i < 5; i++)
		put(OLD + 30 * i, 30);
	begin(true, 4);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_LATER };
	script[nscript++] = (struct script){ .epoch = OLD + 60, .verdict = STORE_LATER };
	while (sender_step(&s))
		;
	ok(ncalls == 5 && s.n == 2 && sender_finished(&s), "once: each is tried once, without waiting");
	empty();

	for (uint64_t i = 0; i < 15; i++)
		put(OLD + 30 * i, 30);
	begin(true, 4);
	for (uint64_t i = 0; i < 15; i++)
		script[nscript++] = (struct script){ .epoch = OLD + 30 * i, .verdict = STORE_LATER };
	while (sender_step(&s))
		;
	ok(ncalls == 5 && s.n == 15 && sender_finished(&s), "once: a store that is away is not asked for each of many");
	empty();
	for (uint64_t i = 0; i < 15; i++)
		put(OLD + 30 * i, 30);
	begin(true, 4);
	for (uint64_t i = 0; i < 14; i++)
		script[nscript++] = (struct script){ .epoch = OLD + 30 * i, .verdict = STORE_INDETERMINATE };
	while (sender_step(&s))
		;
	ok(ncalls == 15 && s.n == 14,
	   "but one that answers is, so that what is wrong with some does not hold up the rest");
	empty();
	unlinkat(spool.space, "doubts", 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_all(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Last, because renameat2 fails from here on. */
static void test_no_renameat2(void)
{
	if (!norenameat2_begin()) {
		printf("ok %d - a spool on NFS # SKIP seccomp is not available\n", ++tap_n);
		return;
	}
	unlinkat(spool.space, "recorder", 0);
	spool_close(&spool);
	spool_open(&spool, dir);
	ok(spool.recorder != 0, "a spool without RENAME_NOREPLACE is opened");
	put(OLD, 30);
	begin(false, 0);
	script[nscript++] = (struct script){ .epoch = OLD, .verdict = STORE_REFUSED };
	sender_step(&s);
	ok(s.n == 0 && s.refused == 1 && in_folder("bad") == 2 && in_folder("spool") == 0,
	   "and a refused window goes to bad/ there, too");
	empty();
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	spool_open(&spool, dir);
	counters_open(spool.dir);
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	test_order();
	test_blocked();
	test_waiting();
	test_hold();
	test_doubt();
	test_doubt_runs();
	test_refused();
	test_not_removed();
	test_no_zstd();
	test_saved();
	test_fresh();
	test_once();
	test_splay();
	test_no_renameat2();
	spool_close(&spool);
	remove_all();
	return done();
}
