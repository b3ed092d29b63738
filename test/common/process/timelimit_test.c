/* Calls that return in time, late, or never: what the caller gets, what is dropped, how long places rest, how many
 * threads there are. */
/* covers: common/process/timelimit.c */
#include "common/process/timelimit.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child process that was forked beside other threads may start its own. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

#define MS (SECOND_NS / 1000)
enum { LONG_MS = 20000 }; /* for calls that are to return in time, also on a loaded machine */

static int gate[2]; /* a function that hangs reads it; it returns when the writing end is closed */
static atomic_uint calls, drops;

enum kind { RETURNS, HANGS, SPINS };

struct job {
	enum kind kind;
	uint64_t place;
	int fd;
	pid_t tid;
};

static void run(void *arg)
{
	struct job *j = arg;
	uint64_t start = clock_now();
	char byte;

	atomic_fetch_add(&calls, 1);
	j->tid = (pid_t)syscall(SYS_gettid);
	if (j->kind == HANGS && read(j->fd, &byte, 1) != 0)
		abort();
	while (j->kind == SPINS && clock_now() < start + 200 * MS)
		continue;
}

static void drop(void *arg)
{
	atomic_fetch_add(&drops, 1);
	free(arg);
}

static uint64_t place_of(void *arg)
{
	const struct job *j = arg;

	return j->place;
}

/* The thread that ran it; 0 if timelimit_call returned false. */
static pid_t call(enum kind kind, uint64_t place, unsigned ms, unsigned loaded_ms)
{
	struct job *j = mem_alloc(sizeof(*j), 1);
	pid_t tid;

	*j = (struct job){ kind, place, gate[0], 0 };
	if (!timelimit_call(&(struct timelimit_call){ run, drop, place_of, j, ms, loaded_ms }))
		return 0;
	tid = j->tid;
	free(j);
	return tid;
}

/* A thread that waits for a CPU has not come to the gate yet. */
static pid_t hang(uint64_t place, unsigned ms)
{
	return call(HANGS, place, ms, LONG_MS);
}

static void shut_gate(void)
{
	calls = drops = 0;
	if (pipe(gate) < 0)
		abort();
}

static unsigned await_left(void)
{
	for (int k = 0; k < 20000 && timelimit_left(); k++)
		usleep(1000);
	return timelimit_left();
}

static unsigned await_drops(unsigned n)
{
	for (int k = 0; k < 20000 && drops < n; k++)
		usleep(1000);
	usleep(10000); /* one too many would come now */
	return drops;
}

static void open_gate(void)
{
	close(gate[1]);
	await_left();
	close(gate[0]);
}

static void check_in_time(void)
{
	pid_t first;

	calls = drops = 0;
	first = call(RETURNS, 1, LONG_MS, 0);
	ok(first && first != getpid(), "a call that returns, in another thread");
	is_u64((uint64_t)call(RETURNS, 2, LONG_MS, 0), (uint64_t)first, "  the same thread serves the next one");
	is_u64(calls, 2, "  both functions ran");
	is_u64(drops, 0, "  nothing is dropped");
	is_u64(timelimit_left(), 0, "  no thread is left");
}

static void check_hang(void)
{
	uint64_t start = clock_now(), took;

	shut_gate();
	errno = 0;
	ok(!hang(10, 50), "a call that does not return");
	took = clock_now() - start;
	is_u64((uint64_t)errno, ETIMEDOUT, "  is ETIMEDOUT");
	ok(took >= 50 * MS && took < 10 * SECOND_NS, "  after its time");
	is_u64(timelimit_left(), 1, "  its thread is left");
	is_u64(drops, 0, "  which still uses the argument");
	errno = 0;
	ok(!call(RETURNS, 10, LONG_MS, 0) && errno == EBUSY, "  its place rests, which is EBUSY");
	is_u64(calls, 1, "  no function is called there");
	is_u64(drops, 1, "  its argument is dropped");
	ok(call(RETURNS, 11, LONG_MS, 0), "  another place does not rest");
	open_gate();
	is_u64(await_drops(2), 2, "  the argument is dropped once when the function returns");
	is_u64(timelimit_left(), 0, "  and no thread is left");
}

static void check_rest(void)
{
	uint64_t start = clock_now(), took;

	shut_gate();
	hang(20, 50);
	open_gate();
	while (!call(RETURNS, 20, LONG_MS, 0) && clock_now() < start + 30 * SECOND_NS)
		usleep(5000);
	took = clock_now() - start;
	ok(took >= 21 * 50 * MS, "a place rests for twenty times the wait, also after the function returned");
	ok(took < 30 * SECOND_NS, "  and then no longer");
	is_u64(calls, 2, "  until then no function is called there");
}

static void check_max(void)
{
	enum { MORE = 10 };

	shut_gate();
	for (uint64_t k = 0; k < TIMELIMIT_LEFT_MAX + MORE; k++)
		hang(1000 + k, 5);
	is_u64(timelimit_left(), TIMELIMIT_LEFT_MAX, "threads that are left are limited");
	ok(!hang(1, 5) && errno == EBUSY, "  a call beyond is EBUSY");
	is_u64(drops, MORE + 1, "  calls beyond are not made, and their arguments are dropped");
	open_gate();
	is_u64(await_drops(TIMELIMIT_LEFT_MAX + MORE + 1), TIMELIMIT_LEFT_MAX + MORE + 1,
	       "  the others once their functions return");
	ok(call(RETURNS, 1, LONG_MS, 0), "  calls are made again");
}

static void check_loaded(void)
{
	ok(call(SPINS, 30, 20, LONG_MS), "a thread that uses a CPU has loaded_ms");
	shut_gate();
	ok(!hang(31, 20), "one that waits has ms");
	open_gate();
	ok(!call(SPINS, 32, 20, 0), "without loaded_ms a thread that uses a CPU has ms, too");
	is_u64(await_drops(2), 2, "  each argument is dropped once");
}

/* ---- several threads -------------------------------------------------------------------------------------------- */

static atomic_bool in_place, others_done;

/* Waits, as files of a loaded machine do, until another thread had its call. */
static uint64_t slow_place(void *arg)
{
	in_place = true;
	for (int k = 0; k < 10000 && !others_done; k++)
		usleep(1000);
	return place_of(arg);
}

static void *hang_with_slow_place(void *arg)
{
	struct job *j = mem_alloc(sizeof(*j), 1);

	(void)arg;
	*j = (struct job){ .kind = HANGS, .place = 40, .fd = gate[0] };
	if (timelimit_call(&(struct timelimit_call){ run, drop, slow_place, j, 20, LONG_MS }))
		free(j);
	return NULL;
}

static void *call_here(void *tid)
{
	*(pid_t *)tid = call(RETURNS, 50, LONG_MS, 0);
	return NULL;
}

static void check_slow_place(void)
{
	pthread_t thread;
	uint64_t start;

	in_place = others_done = false;
	shut_gate();
	pthread_create(&thread, NULL, hang_with_slow_place, NULL);
	while (!in_place)
		usleep(1000);
	start = clock_now();
	ok(call(RETURNS, 41, LONG_MS, 0) && clock_now() < start + 8 * SECOND_NS,
	   "no thread waits while the place of another one is looked up");
	others_done = true;
	pthread_join(thread, NULL);
	is_u64(timelimit_left(), 1, "  one is left");
	open_gate();
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	for (const struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void check_callers(void)
{
	unsigned before;
	pid_t own, other = 0;
	pthread_t thread;

	own = call(RETURNS, 50, LONG_MS, 0);
	for (int k = 0; k < 20000 && threads() > 3;
	     k++) /* of the checks before: main, its worker, and one of the sanitizer */
		usleep(1000);
	before = threads();
	for (int k = 0; k < 100; k++) {
		pthread_create(&thread, NULL, call_here, &other);
		pthread_join(thread, NULL);
		if (!other || other == own)
			break;
	}
	ok(other && other != own, "a thread is served by one that it started");
	for (int k = 0; k < 20000 && threads() > before; k++)
		usleep(1000);
	ok(threads() <= before, "  which ends with it");
	is_u64((uint64_t)call(RETURNS, 50, LONG_MS, 0), (uint64_t)own, "  others keep theirs");
}

/* ---- fork ------------------------------------------------------------------------------------------------------- */

static int status_of_child(void (*f)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		alarm(30);
		f();
		_exit(100);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void in_child(void)
{
	unsigned bad = timelimit_left() != 0;

	drops = 0;
	bad |= call(RETURNS, 61, LONG_MS, 0) ? 0u : 2u;
	bad |= hang(62, 20) ? 4u : 0u;
	bad |= timelimit_left() == 1 ? 0u : 8u;
	bad |= call(RETURNS, 63, LONG_MS, 0) ? 0u : 16u;
	bad |= drops == 0 ? 0u : 32u;
	_exit((int)bad);
}

static void count_in_child(void)
{
	_exit(timelimit_left() == 0 ? 0 : 1);
}

static atomic_bool stop;

static void *call_always(void *arg)
{
	(void)arg;
	while (!stop)
		call(RETURNS, 70, LONG_MS, 0);
	return NULL;
}

static void check_fork(void)
{
	unsigned good = 0;
	pthread_t thread;

	shut_gate();
	ok(call(RETURNS, 59, LONG_MS, 0) && !hang(60, 20), "a thread is left");
	is_u64((uint64_t)status_of_child(in_child), 0, "a child process has none, and calls with its own");
	is_u64(timelimit_left(), 1, "  that of its parent stays");
	open_gate();
	stop = false;
	pthread_create(&thread, NULL, call_always, NULL);
	while (good < 200 && status_of_child(count_in_child) == 0)
		good++;
	stop = true;
	pthread_join(thread, NULL);
	is_u64(good, 200, "children that are forked while other threads call do not hang");
}

int main(void)
{
	check_in_time();
	check_hang();
	check_rest();
	check_loaded();
	check_slow_place();
	check_callers();
	check_fork();
	check_max();
	return done();
}
