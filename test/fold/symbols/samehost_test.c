/* A recording may only be told about by the machine, the boot and the process that it is of. */
/* covers: fold/symbols/samehost.c */
#include "fold/symbols/samehost.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check_parsers(void)
{
	uint64_t start = 0;
	char state = 0;

	ok(samehost_parse_stat(STR("12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n"), &state,
			       &start),
	   "stat");
	is_u64(start, 4711, "  start");
	ok(state == 'S', "  state");
	ok(samehost_parse_stat(STR("12 (a) Z 1 (b) c) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 42 20"), &state,
			       &start) &&
		   start == 42 && state == 'R',
	   "a comm with brackets and blanks");
	ok(!samehost_parse_stat(STR("12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"), &state, &start),
	   "too few fields");
	ok(!samehost_parse_stat(STR("12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -1 3"), &state, &start),
	   "no number");
	ok(!samehost_parse_stat(STR("12 (a)"), &state, &start), "nothing behind comm");
	ok(!samehost_parse_stat(STR(""), &state, &start), "nothing");
	is_u64((uint64_t)samehost_parse_status(STR("Name:\tx\nNSpid:\t17\t3\t1\nNSpgid:\t5\n")), 1,
	       "the innermost PID");
	is_u64((uint64_t)samehost_parse_status(STR("Name:\tx\nNSpid:\t17\n")), 17, "one namespace");
	is_u64((uint64_t)samehost_parse_status(STR("Name:\tNSpid:\t9\nPid:\t3\n")), 0, "a name is no field");
	is_u64((uint64_t)samehost_parse_status(STR("NSpid:\t1\t99999999999999999999\n")), 0, "too large");
	is_u64((uint64_t)samehost_parse_status(STR("NSpid:\t0\n")), 0, "0");
	is_u64((uint64_t)samehost_parse_status(STR("")), 0, "nothing");
}

static void check_host(void)
{
	struct utsname u;

	uname(&u);
	ok(samehost_is_this_host(str_of(u.nodename), str_of(u.release)), "this host");
	ok(!samehost_is_this_host(STR("elsewhere.example"), str_of(u.release)), "another");
	ok(!samehost_is_this_host(str_of(u.nodename), STR("2.6.32")), "another kernel");
	ok(!samehost_is_this_host(STR(""), STR("")), "unknown");
	ok(samehost_is_this_boot(now(CLOCK_REALTIME), now(CLOCK_MONOTONIC)), "this boot");
	ok(!samehost_is_this_boot(now(CLOCK_REALTIME) - 3600000000000u, now(CLOCK_MONOTONIC)),
	   "another: wall time does not fit");
	ok(!samehost_is_this_boot(now(CLOCK_REALTIME), now(CLOCK_MONOTONIC) + 3600000000000u),
	   "  it was up for longer");
	ok(!samehost_boot_is(STR("01234567-89ab-cdef-0123-456789abcdef")) && !samehost_boot_is(STR("")),
	   "another boot by its id");
}

static uint64_t own_start(void)
{
	char buf[4096], state;
	uint64_t start = 0;
	FILE *f = fopen("/proc/self/stat", "r");

	if (f) {
		samehost_parse_stat((struct str){ buf, fread(buf, 1, sizeof(buf), f) }, &state, &start);
		fclose(f);
	}
	return start;
}

static void check_processes(void)
{
	pid_t child;

	prctl(PR_SET_NAME, "a) Z 1 (b");
	ok(samehost_process_lived(getpid(), now(CLOCK_MONOTONIC)), "this process, now");
	ok(!samehost_process_lived(getpid(), now(CLOCK_MONOTONIC) + 3600000000000u),
	   "not in the future: that is another boot");
	ok(!samehost_process_lived(getpid(), 0), "without a time");
	ok(!samehost_process_lived(0, 1) && !samehost_process_lived(-1, 1), "no process");
	ok(samehost_inner_pid(getpid()) > 0, "its inner PID");
	ok(samehost_process_is(getpid(), own_start()), "this process, by its start");
	ok(!samehost_process_is(getpid(), own_start() + 1) && !samehost_process_is(0, own_start()), "not by another");
	child = fork();
	if (child == 0)
		_exit(0);
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	ok(!samehost_process_lived(child, now(CLOCK_MONOTONIC)), "a zombie");
	waitpid(child, NULL, 0);
	ok(!samehost_process_lived(child, now(CLOCK_MONOTONIC)), "one that is gone");
	ok(samehost_inner_pid(child) == 0, "  has no inner PID");
}

/* A process that began after the sample has only the number of the one that was sampled. */
static void check_younger(void)
{
	uint64_t uptime = now(CLOCK_MONOTONIC), slack = uptime / 10000 + 200000000;

	if (uptime < 2 * slack) {
		printf("ok %d - a younger process # SKIP the machine is up for too short a time\n", ++tap_n);
		return;
	}
	ok(!samehost_process_lived(getpid(),
				   uptime - 2 * slack - 5000000000u < uptime ? uptime - 2 * slack - 5000000000u : 1),
	   "a process younger than the sample");
	ok(samehost_process_lived(1, uptime - slack / 2), "PID 1 was there");
}

/* A process that is PID 1 in a namespace of its own. */
static void check_namespace(void)
{
	int ready[2], hold[2];
	pid_t parent, inner = 0;
	char c;

	if (pipe(ready) || pipe(hold))
		return;
	parent = fork();
	if (parent == 0) {
		if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
			inner = -errno;
		else
			inner = fork();
		if (inner == 0) {
			close(hold[1]);
			(void)!read(hold[0], &c, 1);
			_exit(0);
		}
		(void)!write(ready[1], &inner, sizeof(inner));
		close(hold[1]);
		waitpid(inner, NULL, 0);
		_exit(0);
	}
	if (read(ready[0], &inner, sizeof(inner)) != sizeof(inner) || inner < 0) {
		printf("ok %d - PID namespaces # SKIP not allowed here\n", ++tap_n);
	} else {
		is_u64((uint64_t)samehost_inner_pid(inner), 1, "PID 1 in a namespace of its own");
		ok(samehost_process_lived(inner, now(CLOCK_MONOTONIC)), "  lives by its outer PID");
	}
	close(hold[0]);
	close(hold[1]);
	waitpid(parent, NULL, 0);
}

int main(void)
{
	check_parsers();
	check_host();
	check_processes();
	check_younger();
	check_namespace();
	return done();
}
