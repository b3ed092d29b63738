/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/follow.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "jmap/execs.h"
#include "jmap/followed.h"
#include "common/process/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS FOLLOW_MS
#define SECOND FOLLOW_SECOND
#define SWEEP_EVERY (60 * SECOND)
#define SWEEP_SHARE 1000 /* of the time at most one part in so many goes into sweeping */
#define EXECS_EVERY \
	(10 * MS)         /* messages about execs are read at most so often: a storm of them costs no wake-up each */
#define LOOK_SHARE 100    /* of the time at most one part in so many goes into looking for JVMs, over some seconds */
#define LOOK_BURST SECOND /* of rest that may be owed */
#define LAST_SCANS (SECOND / 2)       /* for all of them, once a signal asks to end */
#define LATER 4                       /* times what a look costs, it waits for others that are due */
#define SCANS_MAX 4                   /* of a tenant that are not answered, at a time */
#define PENDING_MAX 64                /* of all */
#define BLOCKED_TRY (50 * MS)         /* when a JVM is tried again whose tenant has so many */
#define HANG_TRY SECOND               /* when a look that is not answered is checked again */
#define LAST_MAX (150 * MS)           /* for the answer to a last look, */
#define LASTS_MAX 4                   /* and how many there are at a time */
#define LOOK_EVERYWHERE (10 * SECOND) /* at processes that were no JVM: they may have loaded one since */

static const unsigned young_after[] = { 15, 40, 90, 200, 500, 1500 }; /* ms after an exec: has it become a JVM? */

static volatile sig_atomic_t end_requested;

static void follow_on_signal(int signal)
{
	(void)signal;
	end_requested = 1;
}

/* ---- one JVM --------------------------------------------------------------------------------------------------- */

static void follow_let_go(struct follower *f, size_t i, bool ended)
{
	struct followed *j = &f->one[i];

	if (!f->r->quiet && ended)
		warn("%d: ended: %llu pieces of code came, %llu went, %llu bytes in %s", (int)j->p.pid,
		     (unsigned long long)j->t.added, (unsigned long long)j->t.removed, (unsigned long long)j->t.written,
		     j->t.path);
	perfmaps_ended(&f->maps, j->p.pid);
	f->left_out += j->left_out;
	journalfile_close(&j->t, ended);
	followed_stop(f, j);
	jvm_process_close(&j->p);
	f->one[i] = f->one[--f->n];
	f->ended += ended;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

/* A process that runs another program by now is let go: what it runs is a JVM of its own. */
static bool is_followed(struct follower *f, const struct jvm_process *p)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct followed *known = &f->one[i];

		if (known->p.pid != p->pid || known->p.start != p->start)
			continue;
		if (followed_lives(known))
			return true;
		follow_let_go(f, i, true);
		return false;
	}
	return false;
}

/* True: its tenant has as many as it may. */
static bool are_enough(struct follower *f, struct tenant of)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += tenant_same(f->one[i].tenant, of);
	if (n < f->jvms_max && f->n < 4 * f->jvms_max)
		return false;
	f->not_followed++;
	allowance_report(&f->allowance, of, "open files");
	return true;
}

/* One that was found. Takes p. */
static bool follow_add(void *arg, struct jvm_process *p)
{
	struct follower *f = arg;
	uint64_t now = clock_now(), age = jvm_process_age_ns(p);
	struct tenant of = tenant_of(p->folder);

	if (is_followed(f, p) || are_enough(f, of))
		return false;
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->one = mem_grow(f->one, sizeof(*f->one), f->cap);
	}
	f->one[f->n] = (struct followed){ .p = *p,
					  .t = { .fd = -1, .folder = -1 },
					  .look = { .socket = -1, .records = -1, .map = -1 },
					  .tenant = of,
					  .cost = UINT64_MAX,
					  .steps = ALLOWANCE_FIRST_STEPS,
					  .since = now > age ? now - age : 0,
					  .next = now };
	f->n++;
	f->seen++;
	return true;
}

/* False: there is no such process. */
static bool add_one(struct follower *f, pid_t pid)
{
	struct jvm_process p;

	if (!discover_candidate(f->r->proc, pid, &p))
		return false;
	if (!p.alive || (p.kind != JVM_HOTSPOT && p.kind != JVM_OPENJ9) || !follow_add(f, &p))
		jvm_process_close(&p);
	return true;
}

static uint64_t follow_cpu_now(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec : 0;
}

/* Looking for JVMs cost CPU time since `before`. */
static void follow_account(struct follower *f, uint64_t now, uint64_t before)
{
	f->rested = (f->rested > now ? f->rested : now) + (follow_cpu_now() - before) * LOOK_SHARE;
}

/* From when on JVMs may be looked for again. */
static uint64_t may_look_at(const struct follower *f)
{
	return f->rested > LOOK_BURST ? f->rested - LOOK_BURST : 0;
}

static void look_everywhere(struct follower *f, uint64_t now)
{
	uint64_t before = follow_cpu_now();
	struct discovery d = discover(f->r->proc, follow_add, f);

	if (now < f->regular) /* else it comes too seldom to matter, and what is new shall not wait for it */
		follow_account(f, now, before);

	if (f->everywhere == 0 && d.forbidden && !f->r->quiet)
		warn("%u of %u processes may not be looked into", d.forbidden, d.processes);
	if (f->everywhere == 0 && d.stalled && !f->r->quiet)
		warn("%u of %u processes do not answer, and are left out", d.stalled, d.processes);
	f->everywhere = f->regular = now + (f->execs >= 0 ? LOOK_EVERYWHERE : f->r->interval);
}

/* There are more than can be watched one by one: all processes are looked at, as soon as that does not cost too much.
 */
static void look_soon(struct follower *f, uint64_t now)
{
	uint64_t soon = may_look_at(f) > now ? may_look_at(f) : now;

	if (soon < f->everywhere)
		f->everywhere = soon;
}

/* A process that execs again and again is one candidate, whose program began anew. */
static void add_candidate(struct follower *f, pid_t pid, uint64_t now)
{
	struct follow_candidate new = { pid, now + young_after[0] * MS, 0 };

	for (size_t i = f->ncandidates; i-- > 0;) {
		if (f->candidate[i].pid == pid) {
			f->candidate[i] = new;
			return;
		}
	}
	if (f->ncandidates == countof(f->candidate))
		look_soon(f, now);
	else
		f->candidate[f->ncandidates++] = new;
}

static void take_execs(struct follower *f, uint64_t now)
{
	pid_t pid[256];
	int n;

	if (now < f->execs_read + EXECS_EVERY)
		return;
	while ((n = execs_read(f->execs, pid, countof(pid))) > 0) {
		f->execs_read = now;
		for (int i = 0; i < n; i++)
			add_candidate(f, pid[i], now);
		if (n < (int)countof(pid))
			break;
	}
	if (n < 0)
		look_soon(f, now);
}

static void try_candidates(struct follower *f, uint64_t now)
{
	size_t saved = 0;

	for (size_t i = 0; i < f->ncandidates; i++) {
		struct follow_candidate c = f->candidate[i];
		uint64_t before;
		size_t n = f->n;
		bool lasts;

		if (c.at > now || may_look_at(f) > now) {
			f->candidate[saved++] = c;
			continue;
		}
		before = follow_cpu_now();
		lasts = add_one(f, c.pid);
		follow_account(f, now, before);
		if (lasts && f->n == n && ++c.tries < countof(young_after)) {
			c.at = now + (young_after[c.tries] - young_after[c.tries - 1]) * MS;
			f->candidate[saved++] = c;
		}
	}
	f->ncandidates = saved;
}

/* ---- DIR/maps -------------------------------------------------------------------------------------------------- */

/* Bytes of the timelines of a tenant's JVMs that live. */
static uint64_t follow_timelines_of(const struct follower *f, struct tenant of)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->one[i].t.fd >= 0 && !f->one[i].t.anew && tenant_same(f->one[i].tenant, of))
			sum += f->one[i].t.size;
	return sum;
}

/* Those whose JVMs live are all that is left, and still too much: of the tenant that holds most, the largest one with
 * mostly former code begins anew. One whose helper is at work stays as it is. */
static void follow_shorten(struct follower *f)
{
	uint64_t max = f->r->keep_bytes, bytes = f->swept.bytes;

	while (bytes > max) {
		struct followed *largest = NULL;
		uint64_t held = 0;

		for (size_t i = 0; i < f->n; i++) {
			struct followed *j = &f->one[i];
			uint64_t n = follow_timelines_of(f, j->tenant);

			if (j->t.fd >= 0 && !j->look.since && !j->t.anew &&
			    j->t.size > j->t.first_size + j->t.first_size / 2 &&
			    (!largest || n > held || (n == held && j->t.size > largest->t.size))) {
				largest = j;
				held = n;
			}
		}
		if (!largest)
			break;
		bytes -= largest->t.size < bytes ? largest->t.size : bytes;
		followed_begin_anew(f, largest, "--keep-bytes");
		if (!largest->t.anew)
			break;
	}
	if (bytes > max && !f->full_reported)
		warn("--keep-bytes: the JVMs that live need %llu bytes in '%s/maps', and more than %llu may not be used: it is exceeded",
		     (unsigned long long)f->swept.bytes, f->r->dir, (unsigned long long)max);
	f->full_reported = bytes > max;
}

static void follow_sweep(struct follower *f, uint64_t now)
{
	struct mapsdir_swept s = mapsdir_sweep(f->r->dir, f->r->proc, f->boot, f->r->keep_bytes);

	if (s.unneeded && !f->r->quiet)
		warn("%llu timelines of JVMs that ended removed: no window needs them", (unsigned long long)s.unneeded);
	if (s.needed)
		warn("--keep-bytes: %llu timelines removed that windows in '%s' still need: Java code of these JVMs has no names any more; fold "
		     "sooner, or allow more",
		     (unsigned long long)s.needed, f->r->dir);
	if (s.largest_bytes && (s.needed || s.bytes > f->r->keep_bytes))
		allowance_report(&f->allowance, s.largest, "bytes in DIR/maps");
	f->swept.unneeded += s.unneeded;
	f->swept.needed += s.needed;
	f->swept.bytes = s.bytes;
	f->grown = 0;
	f->soonest = now + s.took * SWEEP_SHARE;
	f->next_sweep = f->soonest > now + SWEEP_EVERY ? f->soonest : now + SWEEP_EVERY;
	if (f->r->keep_bytes && s.bytes > f->r->keep_bytes)
		follow_shorten(f);
}

static bool is_time_to_sweep(const struct follower *f, uint64_t now)
{
	uint64_t max = f->r->keep_bytes;

	return now >= f->next_sweep || (max && f->grown > max / 10 && now >= f->soonest);
}

/* Until when a look keeps the others waiting; 0: none does. */
static uint64_t busy_until(const struct follower *f, uint64_t now)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->one[i].look.since && now < f->one[i].look.since + FOLLOWED_ALONE)
			return f->one[i].look.since + FOLLOWED_ALONE;
	return 0;
}

/* When a JVM has to be seen to. busy: until then no look begins; 0: now. */
static uint64_t next_of_one(const struct followed *j, uint64_t busy, uint64_t now)
{
	if (j->look.since)
		return now + HANG_TRY;
	if (j->next > now)
		return j->next;
	return busy ? busy : now + BLOCKED_TRY;
}

static uint64_t next_of(const struct follower *f, uint64_t now)
{
	uint64_t next = f->r->npids || f->everywhere > f->next_sweep ? f->next_sweep : f->everywhere,
		 busy = busy_until(f, now);

	for (size_t i = 0; i < f->n; i++) {
		uint64_t at = next_of_one(&f->one[i], busy, now);

		if (at < next)
			next = at;
	}
	for (size_t i = 0; i < f->ncandidates; i++) {
		uint64_t at = f->candidate[i].at > may_look_at(f) ? f->candidate[i].at : may_look_at(f);

		if (at < next)
			next = at;
	}
	return next;
}

/* Sockets of helpers that have to answer. */
static nfds_t put_sockets(const struct follower *f, struct pollfd *p)
{
	nfds_t n = 0;

	for (size_t i = 0; i < f->n && n < PENDING_MAX; i++)
		if (f->one[i].look.since)
			p[n++] = (struct pollfd){ .fd = f->one[i].look.socket, .events = POLLIN };
	return n;
}

/* A signal that came before it waits ends the wait. */
static void follow_wait_until(struct follower *f, uint64_t next, const sigset_t *mask)
{
	struct pollfd p[PENDING_MAX + 1];
	nfds_t n = put_sockets(f, p);
	uint64_t now = clock_now(), execs = f->execs_read + EXECS_EVERY, ns;
	struct timespec t;

	if (f->execs >= 0 && now >= execs)
		p[n++] = (struct pollfd){ .fd = f->execs, .events = POLLIN };
	else if (f->execs >= 0 && execs < next)
		next = execs;
	ns = next <= now ? 0 : next - now;
	t = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	ppoll(p, n, &t, mask);
}

static void print_sum(const struct follower *f)
{
	struct text t = { 0 };

	if (f->left_out)
		text_printf(&t, "; %llu pieces of code could not be read or named", (unsigned long long)f->left_out);
	if (f->swept.unneeded + f->swept.needed)
		text_printf(&t, "; %llu timelines removed, %llu of them needed",
			    (unsigned long long)(f->swept.unneeded + f->swept.needed),
			    (unsigned long long)f->swept.needed);
	if (f->begun_anew)
		text_printf(&t, "; %llu began anew", (unsigned long long)f->begun_anew);
	if (f->allowance.ntold)
		text_printf(&t, "; %zu tenants over budget", f->allowance.ntold);
	if (f->hung + f->crashed)
		text_printf(&t, "; %llu looks hung, %llu crashed", (unsigned long long)f->hung,
			    (unsigned long long)f->crashed);
	if (f->not_followed)
		text_printf(&t, "; %llu JVMs not followed: too many", (unsigned long long)f->not_followed);
	if (!f->r->quiet)
		warn("%llu JVM%s followed, %llu ended%.*s", (unsigned long long)f->seen, f->seen == 1 ? "" : "s",
		     (unsigned long long)f->ended, (int)t.n, t.p ? t.p : "");
	text_free(&t);
}

static void follow_add_named(struct follower *f)
{
	for (size_t i = 0; i < f->r->npids; i++) {
		size_t before = f->n;

		add_one(f, f->r->pid[i]);
		if (f->n == before) {
			warn("%d: no such process, or no JVM", (int)f->r->pid[i]);
			f->failed = true;
		}
	}
}

static void take_answers(struct follower *f, uint64_t now)
{
	for (size_t i = f->n; i-- > 0;)
		if (f->one[i].look.since && !followed_take(f, &f->one[i], now))
			follow_let_go(f, i, true);
	if (f->left.n)
		jvmhandle_reap(&f->left);
}

/* When its turn is: one that costs much lets others go first, for a while. */
static uint64_t turn_of(const struct followed *j)
{
	return j->next + (j->cost == UINT64_MAX ? 0 : LATER * j->cost);
}

/* Tenants of the looks that are not answered. Returns how many there are, at most PENDING_MAX. */
static size_t pending_tenants(const struct follower *f, struct tenant pending[PENDING_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < f->n && n < PENDING_MAX; i++)
		if (f->one[i].look.since)
			pending[n++] = f->one[i].tenant;
	return n;
}

static size_t follow_count_tenant(const struct tenant *of, size_t n, struct tenant tenant)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += tenant_same(of[i], tenant);
	return count;
}

/* Of those that are due the one whose turn is next; NULL: none may be looked at. */
static struct followed *next_due(struct follower *f, uint64_t now)
{
	struct tenant pending[PENDING_MAX];
	size_t n = pending_tenants(f, pending);
	struct followed *found = NULL;

	for (size_t i = 0; i < f->n && n < PENDING_MAX; i++) {
		struct followed *j = &f->one[i];

		if (j->next <= now && !j->look.since && (!found || turn_of(j) < turn_of(found)) &&
		    follow_count_tenant(pending, n, j->tenant) < SCANS_MAX)
			found = j;
	}
	return found;
}

/* One look after the other; beside those whose JVMs do not answer for long. */
static void begin_scans(struct follower *f, uint64_t now)
{
	struct followed *j;

	while (!busy_until(f, now) && (j = next_due(f, now)) != NULL)
		if (!followed_look(f, j, now, false))
			follow_let_go(f, (size_t)(j - f->one), true);
}

/* Signals come while it works, too, and end what it does; between the last look at the flag and its sleep they wait. */
static void follow_work(struct follower *f, const sigset_t *block, const sigset_t *mask)
{
	while (!end_requested && (!f->r->npids || f->n)) {
		uint64_t now = clock_now();

		sigprocmask(SIG_SETMASK, mask, NULL);
		if (f->execs >= 0)
			take_execs(f, now);
		try_candidates(f, now);
		if (!f->r->npids && now >= f->everywhere)
			look_everywhere(f, now);
		take_answers(f, now);
		begin_scans(f, now);
		if (is_time_to_sweep(f, now) && !end_requested)
			follow_sweep(f, now);
		sigprocmask(SIG_BLOCK, block, NULL);
		if (!end_requested)
			follow_wait_until(f, next_of(f, clock_now()), mask);
	}
}

/* Last looks that go on; those that take too long end. */
static size_t last_scans(struct follower *f, uint64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (f->one[i].look.since && now > f->one[i].look.since + LAST_MAX)
			followed_stop(f, &f->one[i]);
		n += f->one[i].look.since && f->one[i].last;
	}
	return n;
}

/* Once more, so that the last moments have their code, too; as long as there is time. */
static void end_all(struct follower *f)
{
	uint64_t now = clock_now(), until = now + LAST_SCANS;
	struct pollfd p[PENDING_MAX];
	size_t left = f->n, going;

	while ((going = last_scans(f, now)) + left > 0 && now < until) {
		for (; left > 0 && going < LASTS_MAX; left--)
			if (left <= f->n && !f->one[left - 1].look.since &&
			    followed_look(f, &f->one[left - 1], now, true))
				going += f->one[left - 1].look.since != 0;
		poll(p, put_sockets(f, p), 10);
		now = clock_now();
		take_answers(f, now);
	}
	while (f->n)
		follow_let_go(f, f->n - 1, false);
	jvmhandle_leave(&f->left);
}

bool follow(const struct request *r)
{
	struct follower *f = mem_alloc(sizeof(*f), 1);
	pid_t parent = getppid();
	struct sigaction end = { .sa_handler = follow_on_signal, .sa_flags = SA_RESTART };
	sigset_t block, mask;
	bool good;

	mem_give_back();
	mapsdir_make(r->dir);
	f->r = r;
	f->jvms_max = allowance_files();
	allowance_open(&f->allowance);
	f->maps = (struct perfmaps){ .dir = r->to ? r->to : "/tmp",
				     .publisher = r->publisher,
				     .tenants = f->allowance.tenants };
	if (boot_id(r->proc, f->boot)) /* without it no timeline can be written, which is said then */
		mapsdir_prepare(r->dir, f->boot);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &mask);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (r->with_parent)
		parent_bind(parent);
	f->execs = r->npids ? -1 : execs_open();
	mapopts_limit(r);
	follow_add_named(f);
	follow_work(f, &block, &mask);
	end_all(f);
	if (f->execs >= 0)
		close(f->execs);
	print_sum(f);
	good = !f->failed;
	perfmaps_free(&f->maps);
	allowance_close(&f->allowance);
	free(f->one);
	free(f);
	return good;
}
