/* windows_test - the life of windows in a real directory: names, locks, limits, leftovers, readers who are slow or
 * gone. */
/* covers: record/windows/windows.c record/windows/windowfile.c record/windows/announce.c */
/* covers: record/windows/leftovers.c record/windows/windir.c */
/* covers: record/windows/metrics.c record/windows/rescue.c record/windows/retention.c */
#include "record/windows/windows.h"

#include "test/lib/child.h"
#include "common/diag.h"
#include "test/lib/killed.h"
#include "record/windows/rescue.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

static char base[] = "/tmp/pj-windows-test.XXXXXX";
static char dir[80];
static struct child c;
static struct windows_options options;

/* ---- helpers ------------------------------------------------------------------------------------------------- */

static void shell(const char *fmt, ...) PRINTF(1, 2);
static void shell(const char *fmt, ...)
{
	char command[1000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	fflush(stdout);
	if (system(command) != 0) {
		printf("# failed: %s\n", command);
		exit(1);
	}
}

/* A new DIR, so that no test sees what another left. */
static void fresh(void)
{
	static int n;

	snprintf(dir, sizeof(dir), "%s/%d", base, ++n);
	options = (struct windows_options){ .dir = dir, .print = true };
}

/* Names in a folder of DIR, sorted, in one line. */
static struct str list(const char *space)
{
	static char line[4][4096];
	static unsigned i;
	char *buf = line[i = (i + 1) % 4], path[200];
	struct dirent **e;
	size_t n = 0;
	int k;

	snprintf(path, sizeof(path), "%s/%s", dir, space);
	k = scandir(path, &e, NULL, alphasort);
	for (int j = 0; j < k; j++) {
		if (strcmp(e[j]->d_name, ".") != 0 && strcmp(e[j]->d_name, "..") != 0 && n + 60 < sizeof(line[0]))
			n += (size_t)snprintf(buf + n, 60, "%s%s", n ? " " : "", e[j]->d_name);
		free(e[j]);
	}
	if (k >= 0)
		free(e);
	return (struct str){ buf, n };
}

static struct str content(const char *name)
{
	static char buf[65536];
	char path[200];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));
	if (fd >= 0)
		close(fd);
	return (struct str){ buf, n > 0 ? (size_t)n : 0 };
}

static struct str metric(const char *series)
{
	struct str text = content("pjrecord.prom");

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_starts(line, str_of(series)) && line.n > strlen(series) && line.p[strlen(series)] == ' ')
			return str_from(line, strlen(series) + 1);
	}
	return STR("none");
}

static bool says(const char *what)
{
	bool found = str_find_str(c.err, str_of(what)) >= 0;

	if (!found)
		printf("# stderr: %.*s\n", (int)c.err.n, c.err.p);
	return found;
}

/* A window as the recorder writes it, complete or not. */
static void fill(int fd, size_t samples, bool complete, uint64_t end, const char *boot)
{
	struct pj_window w = { KILLED_TIME, end, 0 };
	struct killed *k = calloc(1, sizeof(*k));
	struct rescued found;
	const char *why;

	if (!k)
		abort();
	killed_start(k, &w, boot);
	for (size_t i = 0; i < samples; i++)
		killed_sample(k, KILLED_TIME + i * 1000);
	if (write(fd, k->file.p, k->file.n) != (ssize_t)k->file.n ||
	    (complete && samples && !chunk_rescue(fd, &found, &why)))
		abort();
	text_free(&k->file);
	free(k);
}

static struct window_report report(uint64_t samples)
{
	return (struct window_report){
		.begin = 0, .end = 1000000000, .samples = samples, .processes = 1, .loss.ring_high = 123
	};
}

static bool one_window(struct windows *windows, uint64_t epoch, size_t samples)
{
	struct window_report r = report(samples);
	struct window w;

	if (!windows_create(windows, epoch, &w))
		return false;
	fill(w.fd, samples, true, KILLED_TIME + 1000, KILLED_BOOT);
	windows_finish(windows, &w, &r);
	return w.fd == -1;
}

/* Whole runs, each in a process of its own: epochs, ended by 0. */
static void run(void *epochs)
{
	struct windows *ws = windows_open(&options);

	for (const uint64_t *e = epochs; *e; e++)
		if (!one_window(ws, *e, 10))
			_exit(7);
	if (!windows_close(ws))
		_exit(8);
}

static void run_of(uint64_t a, uint64_t b, uint64_t d)
{
	uint64_t epochs[] = { a, b, d, 0 };

	child_run(&c, run, epochs);
}

/* A file that a killed run left. */
static void leave(const char *space, uint64_t epoch, size_t samples, bool complete)
{
	char path[200];
	int fd;

	shell("mkdir -p -m 750 %s/%s", dir, space);
	snprintf(path, sizeof(path), "%s/%s/%llu.data", dir, space, (unsigned long long)epoch);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0640);
	fill(fd, samples, complete, KILLED_TIME + 1000, KILLED_BOOT);
	close(fd);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void simple(void)
{
	char want[300];
	struct stat st;

	fresh();
	run_of(1000, 1030, 1060);
	is_u64((uint64_t)c.status, 0, "three windows");
	snprintf(want, sizeof(want), "%s/out/1000.data\n%s/out/1030.data\n%s/out/1060.data\n", dir, dir, dir);
	is_str(c.out, str_of(want), "their paths");
	is_str(list("out"), STR("1000.data 1030.data 1060.data"), "and the files");
	is_str(list("recording"), STR("used"), "nothing stays behind");
	is_str(list("."), STR("bad out pjrecord.prom recording"), "in DIR");
	ok(says("/out/1030.data: 10 samples, 1 process, 1.0 s\n"), "a sentence each");
	is_str(metric("pj_record_windows_total"), STR("3"), "counted");
	is_str(metric("pj_record_kept_windows"), STR("3"), "kept");
	is_str(metric("pj_record_ring_high_ratio"), STR("0.123"), "the fullest ring");
	ok(metric("pj_record_resident_bytes").n > 5 && !str_eq(metric("pj_record_cpu_seconds_total"), STR("0.000000")),
	   "itself measured");
	snprintf(want, sizeof(want), "%s/out/1000.data", dir);
	ok(stat(want, &st) == 0 && (st.st_mode & 07777) == 0640, "files 0640");
	snprintf(want, sizeof(want), "%s/out", dir);
	ok(stat(want, &st) == 0 && (st.st_mode & 07777) == 0750, "folders 0750");
	options.quiet = true;
	options.print = false;
	run_of(1090, 0, 0);
	ok(c.status == 0 && c.out.n == 0 && c.err.n == 0, "quiet");
	is_str(metric("pj_record_windows_total"), STR("4"), "counters go on with the next run");
}

static void clocks(void)
{
	fresh();
	run_of(5000, 5000, 4000);
	is_str(list("out"), STR("4000.data 5000.data 5001.data"), "the same second, and the clock set back");
	shell("rm %s/out/*", dir);
	run_of(5000, 5001, 5030);
	is_str(list("out"), STR("5002.data 5003.data 5030.data"), "names of windows that were sent are not used again");
	fresh();
	leave("out", 7000, 5, true);
	leave("bad", 7010, 5, true);
	run_of(7000, 7010, 0);
	is_str(list("out"), STR("7000.data 7011.data 7012.data"), "without a list of what was used, the files tell");
}

struct race {
	unsigned n;
};

static void races(void *arg)
{
	struct windows *ws = windows_open(&options);

	for (unsigned i = 0; i < ((struct race *)arg)->n; i++)
		if (!one_window(ws, 100, 3))
			_exit(7);
	_exit(windows_close(ws) ? 0 : 8);
}

static void together(void)
{
	enum { RUNS = 4, EACH = 25 };
	struct race r = { EACH };
	bool failed = false;
	struct str names;
	unsigned n = 0;

	fresh();
	options.print = false;
	options.quiet = true;
	fflush(stdout);
	for (int i = 0; i < RUNS; i++)
		if (fork() == 0)
			races(&r);
	for (int i = 0, status; i < RUNS; i++)
		failed = wait(&status) < 0 || status || failed;
	ok(!failed, "four runs at once");
	for (names = list("out"); names.n; n++)
		str_cut(&names, ' ');
	is_u64(n, RUNS * EACH, "no name twice, no window lost");
	is_str(list("recording"), STR("used"), "nothing stays behind");
	is_str(metric("pj_record_windows_total"), STR("100"), "no count lost");
}

static void killed_runs(void)
{
	fresh();
	leave("recording", 100, 50, false);
	leave("recording", 200, 0, false);
	leave("recording", 300, 20, true);
	shell("touch %s/recording/400.data %s/recording/.500.data.tmp %s/bad/.x.tmp 2>/dev/null || mkdir %s/bad && touch %s/bad/.x.tmp",
	      dir, dir, dir, dir, dir);
	run_of(1000, 0, 0);
	is_u64((uint64_t)c.status, 0, "a run after killed ones");
	is_str(list("recording"), STR("used"), "sweeps");
	is_str(list("out"), STR("100.data 1000.data 300.data"), "rescues what holds samples");
	is_str(list("bad"), STR("200.data 200.data.why 400.data 400.data.why"), "and puts away what does not");
	is_str(content("bad/200.data.why"), STR("left by a run that was killed: it has no sample\n"),
	       "with the reason");
	ok(says("100.data: left by a run that was killed: 50 samples") &&
		   says("300.data: left by a run that was killed: 20 samples"),
	   "says so");
	ok(str_find_str(c.out, STR("/out/100.data\n")) > 0 && str_find_str(c.out, STR("/out/300.data\n")) > 0,
	   "prints their paths");
	is_str(metric("pj_record_windows_rescued_total"), STR("2"), "counts them");
	is_str(metric("pj_record_windows_bad_total"), STR("2"), "and those");
	is_str(metric("pj_record_samples_total"), STR("80"), "and their samples");
}

/* Another run that lives: a process that holds a window until it is killed. */
static pid_t other_run(uint64_t epoch, uint64_t end, const char *boot)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready) < 0)
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct windows_options own = options;
		struct windows *ws;
		struct window w;

		own.quiet = true;
		ws = windows_open(&own);
		if (!windows_create(ws, epoch, &w))
			_exit(1);
		fill(w.fd, 5, false, end, boot);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	return pid;
}

static void other_ends(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void queries_predecessor(void *arg)
{
	struct windows *ws = windows_open(&options);
	uint64_t end = 7;
	struct window w;
	bool found;

	(void)arg;
	if (!windows_create(ws, 9000, &w))
		_exit(7);
	fill(w.fd, 3, false, 123, KILLED_BOOT);
	found = windows_predecessor(ws, &end);
	printf("%d %llu\n", found, (unsigned long long)end);
	windows_drop(ws, &w, 0, NULL);
	windows_close(ws);
}

static void overlap(void)
{
	pid_t a, b;
	char boot[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);

	if (fd < 0 || read(fd, boot, 36) != 36)
		abort();
	close(fd);
	fresh();
	options.print = false;
	child_run(&c, queries_predecessor, NULL);
	is_str(c.out, STR("0 0\n"), "no other run, and own windows are none");
	a = other_run(100, 5000, boot);
	b = other_run(200, 7000, boot);
	child_run(&c, queries_predecessor, NULL);
	is_str(c.out, STR("1 7000\n"), "the newest window of another run");
	run_of(300, 0, 0);
	is_str(list("recording"), STR("100.data 200.data used"), "windows of runs that live are left alone");
	other_ends(b);
	child_run(&c, queries_predecessor, NULL);
	is_str(c.out, STR("1 5000\n"), "one that was killed is none any more");
	other_ends(a);
	a = other_run(400, UINT64_MAX, boot);
	b = other_run(500, 9000, KILLED_BOOT);
	child_run(&c, queries_predecessor, NULL);
	is_str(c.out, STR("0 0\n"), "none without a planned end, or of another boot");
	other_ends(a);
	other_ends(b);
	run_of(600, 0, 0);
	is_str(list("out"), STR("100.data 200.data 300.data 400.data 500.data 600.data"),
	       "all were rescued in the end");
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static uint64_t size_of_window(void)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/out/1000.data", dir);
	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static void limits(void)
{
	char path[200];
	uint64_t now = (uint64_t)time(NULL), epochs[] = { 1000, 2000, 3000, 4000, 5000, 0 };
	uint64_t young[] = { now - 1000, now - 50, now - 40, 0 };
	int fd;

	fresh();
	child_run(&c, run, epochs);
	options.keep_bytes = 3 * size_of_window();
	run_of(6000, 0, 0);
	is_str(list("out"), STR("4000.data 5000.data 6000.data"), "--keep-bytes deletes the oldest");
	ok(says("deleted the oldest windows, 2 of them") && says("--keep-bytes"), "says so");
	/* at the start, and after each window */
	is_str(metric("pj_record_windows_deleted_total{reason=\"bytes\"}"), STR("3"), "and counts them");
	is_str(metric("pj_record_kept_windows"), STR("3"), "how many are kept");
	snprintf(path, sizeof(path), "%s/out/4000.data", dir);
	fd = open(path, O_RDONLY);
	flock(fd, LOCK_SH);
	run_of(7000, 0, 0);
	is_str(list("out"), STR("4000.data 6000.data 7000.data"), "one that is read under a lock stays, the next goes");
	close(fd);
	options.keep_bytes = 1;
	run_of(8000, 0, 0);
	is_str(list("out"), STR("8000.data"), "the newest stays, whatever the limit");

	fresh();
	child_run(&c, run, young);
	options.keep_age_s = 500;
	run_of(now, 0, 0);
	snprintf(path, sizeof(path), "%llu.data %llu.data %llu.data", (unsigned long long)now - 50,
		 (unsigned long long)now - 40, (unsigned long long)now);
	is_str(list("out"), str_of(path), "--keep-age");
	options.keep_age_s = 0;
	options.min_free = 1;
	run_of(now + 10, 0, 0);
	snprintf(path, sizeof(path), "%llu.data", (unsigned long long)now + 10);
	is_str(list("out"), str_of(path), "--min-free, of a disk that is never so empty: only the newest stays");
	ok(says("only the newest window is left, which is not deleted"), "which is said");
	ok(!str_eq(metric("pj_record_windows_deleted_total{reason=\"free\"}"), STR("0")), "and counted");

	fresh();
	for (uint64_t e = 1; e <= 130; e++)
		leave("recording", e, 0, false);
	run_of(5000, 0, 0);
	child_run(&c, run, (uint64_t[]){ 5001, 0 });
	ok(str_starts(list("bad"), STR("100.data ")) && says("") && str_find_str(list("bad"), STR("30.data")) >= 0,
	   "bad/ keeps the newest hundred");
	is_str(metric("pj_record_windows_deleted_total{reason=\"bytes\"}"), STR("30"), "of what was put away");
}

static void drops(void *error)
{
	struct windows *ws = windows_open(&options);
	struct window_report r = report(77);
	struct window w;
	uint64_t complete, dropped;

	r.loss.samples = 5;
	if (!windows_create(ws, 9000, &w))
		_exit(7);
	fill(w.fd, 77, false, 0, KILLED_BOOT);
	windows_drop(ws, &w, *(int *)error, &r);
	if (w.fd != -1 || !one_window(ws, 9030, 10))
		_exit(6);
	windows_counts(ws, &complete, &dropped);
	_exit(windows_close(ws) ? 0 : 8);
}

static void drop(void)
{
	int none = 0, full = ENOSPC, broken = EIO;
	uint64_t epochs[] = { 1000, 2000, 3000, 0 };

	fresh();
	child_run(&c, run, epochs);
	child_run(&c, drops, &none);
	ok(c.status == 0 && str_find_str(c.err, STR("9000")) < 0, "a window nobody wants");
	is_str(list("out"), STR("1000.data 2000.data 3000.data 9030.data"), "is gone");
	shell("rm %s/out/9030.data", dir);
	child_run(&c, drops, &broken);
	is_u64((uint64_t)c.status, 8, "a disk that fails: an error in the end");
	ok(says("dropped, with 77 samples") && says("Input/output error"), "said");
	is_str(list("out"), STR("1000.data 2000.data 3000.data 9032.data"), "nothing is deleted for it");
	child_run(&c, drops, &full);
	ok(c.status == 8 && says("No space left on device"), "a full disk");
	ok(says("deleted the oldest window"), "makes room");
	is_str(metric("pj_record_windows_dropped_total{reason=\"disk\"}"), STR("1"), "counted");
	is_str(metric("pj_record_windows_dropped_total{reason=\"io\"}"), STR("1"), "by reason");
	is_str(metric("pj_record_lost_samples_total"), STR("10"), "what such windows lost counts, too");
}

/* ---- slow and absent readers of paths ------------------------------------------------------------------------ */

static void to_closed_stdout(void *arg)
{
	(void)arg;
	close(STDOUT_FILENO);
	diag_tool("pjtest");
	run((uint64_t[]){ 1, 2, 3, 0 });
}

static void to_gone_reader(void *arg)
{
	int fd[2];

	(void)arg;
	if (pipe(fd) < 0)
		abort();
	dup2(fd[1], STDOUT_FILENO);
	close(fd[0]);
	close(fd[1]);
	run((uint64_t[]){ 1, 2, 3, 0 });
}

/* Reads nothing until all windows are finished, and its pipe is full from the start. */
static void to_slow_reader(void *arg)
{
	static char junk[1 << 20], all[1 << 20];
	uint64_t complete = 0, dropped;
	struct windows *ws;
	size_t n = 0;
	ssize_t got;
	int fd[2], flags;

	(void)arg;
	if (pipe(fd) < 0)
		abort();
	flags = fcntl(fd[1], F_GETFL);
	fcntl(fd[1], F_SETFL, flags | O_NONBLOCK);
	memset(junk, '\n', sizeof(junk));
	while (write(fd[1], junk, 4096) > 0)
		;
	fcntl(fd[1], F_SETFL, flags);
	dup2(fd[1], STDOUT_FILENO);
	close(fd[1]);
	ws = windows_open(&options);
	for (uint64_t e = 1; e <= 20; e++)
		one_window(ws, e, 3);
	for (int i = 0; i < 6000 && complete < 20; i++) {
		windows_counts(ws, &complete, &dropped);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	if (complete != 20)
		_exit(5);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 6000 && !memmem(all, n, "/20.data\n", 9); i++) {
		while ((got = read(fd[0], all + n, sizeof(all) - n)) > 0)
			n += (size_t)got;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	_exit(!memmem(all, n, "/1.data\n", 8) || !memmem(all, n, "/20.data\n", 9) || !windows_close(ws));
}

static void readers(void)
{
	fresh();
	child_run(&c, to_closed_stdout, NULL);
	is_u64((uint64_t)c.status, 8, "closed standard output: an error in the end");
	ok(says("cannot print more paths of windows") && says("recording continues"), "said once");
	is_str(list("out"), STR("1.data 2.data 3.data"), "and all windows are there");
	is_str(metric("pj_record_paths_unprinted_total"), STR("3"), "counted");
	fresh();
	child_run(&c, to_gone_reader, NULL);
	ok(c.status == 8 && says("Broken pipe"), "a reader who left");
	is_str(list("out"), STR("1.data 2.data 3.data"), "does not end the recorder");
	fresh();
	child_run(&c, to_slow_reader, NULL);
	is_u64((uint64_t)c.status, 0, "a reader who is busy holds nothing up, and gets all paths later");
}

/* Whoever holds the lock of DIR makes the finisher slow: more windows wait than it has room for. */
static void held_up(void *arg)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct windows *ws;

	(void)arg;
	flock(fd, LOCK_EX);
	ws = windows_open(&options);
	for (uint64_t e = 1; e <= 100; e++)
		if (!one_window(ws, e, 3))
			_exit(7);
	flock(fd, LOCK_UN);
	_exit(windows_close(ws) ? 0 : 8);
}

static void slow_disk(void)
{
	struct str names;
	unsigned n = 0;

	fresh();
	options.print = false;
	run_of(1000, 0, 0);
	child_run(&c, held_up, NULL);
	is_u64((uint64_t)c.status, 0, "more windows than a slow disk takes");
	for (names = list("out"); names.n; n++)
		str_cut(&names, ' ');
	is_u64(n, 101, "are all complete in the end");
	ok(says("the disk is too slow: window") && !str_eq(metric("pj_record_windows_delayed_total"), STR("0")),
	   "said and counted");
	is_str(list("recording"), STR("used"), "none stays behind");
}

static void no_space_at_all(void *arg)
{
	struct windows *ws = windows_open(&options);
	struct window w;
	char path[200];
	bool first, second, third;

	(void)arg;
	snprintf(path, sizeof(path), "%s/recording", dir);
	chmod(path, 0550);
	if (getuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		_exit(6);
	first = windows_create(ws, 1, &w);
	second = windows_create(ws, 2, &w);
	printf("%d %d %d %d\n", first, second, errno == EACCES, w.fd);
	third = windows_close(ws);
	printf("%d\n", third);
}

static void cannot_create(void)
{
	struct str err;

	fresh();
	shell("mkdir -m 777 %s", dir);
	child_run(&c, no_space_at_all, NULL);
	is_str(c.out, STR("0 0 1 -1\n0\n"), "a window that cannot be made");
	err = c.err;
	ok(says("cannot create a window") &&
		   str_find_str(str_from(err, (size_t)str_find_str(err, STR("cannot create")) + 5),
				STR("cannot create")) < 0,
	   "is said once, not for each");
}

/* ---- owner of the directory ---------------------------------------------------------------------------------- */

static void opens(void *arg)
{
	(void)arg;
	windows_close(windows_open(&options));
}

static void prepares(void *uid)
{
	uid_t u = *(uid_t *)uid;
	gid_t g = (gid_t)-1;

	windows_prepare(dir, &u, &g);
	printf("%ld %ld\n", (long)u, (long)g);
}

static long owner(const char *name)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0 ? (long)st.st_uid : -1;
}

static void folders(void)
{
	uid_t stay = (uid_t)-1, nobody = 65534;

	fresh();
	shell("mkdir -p %s/elsewhere && ln -s elsewhere %s/out", dir, dir);
	child_run(&c, opens, NULL);
	ok(c.status == 1 && says("/out' is a link or not a directory: refused"), "a link instead of a folder");
	fresh();
	shell("mkdir -p %s && touch %s/recording", dir, dir);
	child_run(&c, opens, NULL);
	ok(c.status == 1, "a file instead of a folder");
	fresh();
	shell("mkdir -p %s/recording && mkfifo %s/recording/used", dir, dir);
	child_run(&c, opens, NULL);
	ok(c.status == 1 || c.status == 128 + SIGALRM, "a FIFO instead of a file");
	fresh();
	snprintf(dir, sizeof(dir), "%s/no/such", base);
	child_run(&c, opens, NULL);
	ok(c.status == 1 && says("cannot create the directory") && says("No such file or directory"), "nowhere");
	fresh();
	child_run(&c, prepares, &stay);
	ok(c.status == 0 && owner("out") == (long)getuid(), "for who we are");
	if (getuid() != 0) {
		printf("ok %d - for somebody else # SKIP needs root\n", ++tap_n);
		return;
	}
	fresh();
	shell("mkdir -m 755 %s && chown 65534:65534 %s", dir, dir);
	child_run(&c, prepares, &stay);
	ok(c.status == 1 && says("belongs to user 65534, who could read root's recordings") && owner("out") < 0,
	   "root refuses a DIR of another user");
	setenv("SUDO_UID", "65534", 1);
	child_run(&c, prepares, &stay);
	unsetenv("SUDO_UID");
	is_str(c.out, STR("65534 65534\n"), "but for the one who called sudo, whom it becomes");
	ok(owner("out") == 65534 && owner("recording") == 65534 && owner("symbols") == 65534,
	   "to whom the folders belong");
	fresh();
	child_run(&c, prepares, &nobody);
	ok(c.status == 0 && owner(".") == 65534 && owner("out") == 65534, "a new DIR for a user");
	fresh();
	shell("mkdir -m 755 %s", dir);
	child_run(&c, prepares, &nobody);
	ok(c.status == 0 && owner(".") == 0 && owner("out") == 65534,
	   "folders for a user in root's directory, which stays root's");
	fresh();
	shell("mkdir -m 777 %s && mkdir %s/out && chown 1234 %s/out", dir, dir, dir);
	child_run(&c, prepares, &stay);
	ok(c.status == 1 && says("belongs to user 1234, not to 0"), "somebody else's folder is refused");
	fresh();
	shell("mkdir -m 777 %s && chown 65534 %s && mkdir %s/out && echo x >%s/out/secret", dir, dir, dir, dir);
	child_run(&c, prepares, &stay);
	ok(c.status == 1 && owner("out") == 0 && owner("out/secret") == 0, "and root's own is not given away");
}

int main(void)
{
	diag_tool("pjtest");
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	alarm(300);
	if (!mkdtemp(base))
		abort();
	chmod(base, 0755);
	simple();
	clocks();
	together();
	killed_runs();
	overlap();
	limits();
	drop();
	readers();
	slow_disk();
	cannot_create();
	folders();
	shell("chmod -R u+rwx %s; rm -rf %s", base, base);
	return done();
}
