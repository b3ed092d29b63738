/* SPDX-License-Identifier: Apache-2.0 */
/* tables_test.c - helpers that make tables, a pair for each tenant: one that hangs or lies, its neighbours, how many
 * there are. */
/* covers: record/unwind/cfitables.c record/unwind/cfihelpers.c record/unwind/cfistarter.c record/unwind/cfiopener.c */
/* covers: record/unwind/cfiparser.c common/process/helperprocess.c */
#include "record/unwind/cfitables.h"

#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/interpreters/interphelper.h"
#include "record/unwind/cfimaker.h"
#include "record/unwind/cfistarter.h"
#include "test/lib/tap.h"
#include "unwind/dwarf/cfiunwind.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 64, HANGS = 666, LIES = 667, CRASHES = 668, WITH_TABLE = 9 };

static unsigned started;          /* pairs */
static pid_t started_pid[2];      /* opener and parser of the first pair */
static void (*parser_runs)(void); /* NULL: parsers obey numbers of files, too */

/* ---- helpers that obey the number of a file -------------------------------------------------------------------- */

/* The tables of this program. */
static int image(void)
{
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const char *why;
	struct unwind_table *t = unwind_table_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &why);

	if (!t || !unwind_table_save(t, fd) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		_exit(1);
	unwind_table_close(t);
	return fd;
}

static void help(int socket)
{
	static struct cfimaker_request r;

	while (recv(socket, &r, sizeof(r), 0) > 0) {
		struct cfimaker_reply reply = { .number = r.number, .answer = CFIMAKER_NONE };

		if (r.file_id.inode == CRASHES)
			_exit(1);
		while (r.file_id.inode == HANGS)
			pause();
		reply.number += r.file_id.inode == LIES;
		fdmessage_send(socket, &reply, sizeof(reply), r.file_id.inode == WITH_TABLE ? image() : -1);
	}
	_exit(0);
}

static pid_t fork_one(int socket, int other)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(other);
		help(socket);
	}
	return pid;
}

static bool fake_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser)
{
	int pair[2], idle[2];

	(void)cfistarter;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, idle) < 0)
		return false;
	*opener = fork_one(pair[1], pair[0]);
	*parser = parser_runs ? fork() : fork_one(idle[1], idle[0]);
	if (*parser == 0)
		parser_runs();
	*socket = pair[0];
	close(pair[1]);
	close(idle[0]);
	close(idle[1]);
	if (started++ == 0) {
		started_pid[0] = *opener;
		started_pid[1] = *parser;
	}
	return true;
}

static void fake_open(struct cfistarter *cfistarter, const char *proc)
{
	*cfistarter = (struct cfistarter){ .proc = proc, .socket = -1 };
}

#define cfistarter_begin fake_begin
#define cfistarter_close(s) ((void)(s))
#define cfistarter_open fake_open
#include "record/unwind/cfihelpers.c"
#include "record/unwind/cfitables.c"

/* ---- lookups --------------------------------------------------------------------------------------------------- */

static struct mapped_file file[FILES_MAX];

/* A process of a tenant that ended since it was looked up. */
static struct process process_of(uint64_t user)
{
	return (struct process){
		.pid = 0x7ffffff0, .start_ticks = 7, .tenant = { TENANT_USER, user }, .tenant_window = 1
	};
}

static enum cfitables_answer look_up(struct cfitables *tables, const struct process *process, unsigned which,
				     uint64_t inode, uint64_t now)
{
	struct mapping m = { .start = 0x1000, .length = 0x100000, .file = &file[which] };
	struct unwind_code code;

	file[which] = (struct mapped_file){
		.file_id.major = 1, .file_id.minor = 2, .file_id.inode = inode, .path = STR("/x")
	};
	return cfitables_find(tables, process, &m, 0x1000, now, &code);
}

static enum cfitables_answer find_by(struct cfitables *tables, uint64_t user, uint64_t inode, uint64_t now)
{
	struct process p = process_of(user);

	return look_up(tables, &p, (unsigned)(inode % FILES_MAX), inode, now);
}

/* Takes answers for a minute at most, until the helpers gave `answers`. The time of the tables stands still. */
static bool answered(struct cfitables *tables, uint64_t answers, uint64_t now)
{
	struct timespec moment = { .tv_nsec = 1000000 };
	struct cfitables_counts c;

	for (unsigned tries = 0; tries < 60000; tries++) {
		cfitables_take(tables, now);
		c = cfitables_count(tables);
		if (c.made + c.none + c.gone >= answers)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* Waits until both helpers of the first pair sleep, for a minute at most: a request wakes them on a busy machine late.
 */
static void wait_until_first_pair_sleeps(void)
{
	struct timespec moment = { .tv_nsec = 1000000 };

	for (unsigned tries = 0;
	     tries < 60000 && (targetfiles_runs("/proc", started_pid[0]) || targetfiles_runs("/proc", started_pid[1]));
	     tries++)
		nanosleep(&moment, NULL);
}

static void test_hang(void)
{
	struct cfitables *t = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	uint64_t now = SECOND_NS;

	started = 0;
	is_u64(cfihelpers_running(t->helpers), 0, "no helper runs until there is a request");
	ok(find_by(t, 1, HANGS, now) == CFITABLES_WAIT, "a file of user 1, whose file system does not answer");
	ok(find_by(t, 2, 5, now) == CFITABLES_WAIT && answered(t, 1, now) && find_by(t, 2, 5, now) == CFITABLES_NONE,
	   "  one of user 2 is answered at once");
	is_u64(started, 2, "  by helpers of its own");
	for (unsigned i = 0; i < 40; i++)
		find_by(t, 1, 1000 + i, now);
	ok(find_by(t, 3, 6, now) == CFITABLES_WAIT && answered(t, 2, now), "however many requests of user 1 there are");
	ok(find_by(t, 1, HANGS, now + SECOND_NS / 20) == CFITABLES_WAIT, "samples of user 1 wait for 0.05 s");
	wait_until_first_pair_sleeps();
	ok(find_by(t, 1, HANGS, now + SECOND_NS / 2) == CFITABLES_LATE,
	   "  but not for 0.5 s, as its helpers are blocked");
	now += 3 * SECOND_NS / 2;
	ok(find_by(t, 1, 4000, now) == CFITABLES_LATE && find_by(t, 2, 4001, now) == CFITABLES_WAIT &&
		   answered(t, 3, now),
	   "user 1 is not waited for any more, user 2 is");
	now += SECOND_NS;
	cfitables_take(t, now);
	ok(cfitables_count(t).helpers.hung == 1 && cfihelpers_running(t->helpers) == 2, "helpers of user 1 are ended");
	ok(find_by(t, 1, 4002, now) == CFITABLES_NONE && cfitables_count(t).helpers.avoided,
	   "  and its files are left alone");
	ok(find_by(t, 2, 4003, now) == CFITABLES_WAIT && answered(t, 4, now), "  those of user 2 are not");
	ok(cfitables_count(t).helpers.hung == 1 && !cfitables_count(t).helpers.off, "  counted");
	now += 11 * SECOND_NS;
	for (unsigned tries = 0; tries < 60000 && cfitables_count(t).helpers.lingering; tries++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		cfitables_tick(t, now);
	}
	ok(find_by(t, 1, 4004, now) == CFITABLES_WAIT && answered(t, 5, now), "user 1 is served again after 10 s");
	cfitables_stop(t);
}

static void test_failures(void)
{
	struct cfitables *t = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t now = SECOND_NS;

	find_by(t, 1, CRASHES, now);
	for (unsigned tries = 0; tries < 60000 && !cfitables_count(t).helpers.crashed; tries++) {
		nanosleep(&moment, NULL);
		cfitables_take(t, now);
	}
	is_u64(cfitables_count(t).helpers.crashed, 1, "helpers of user 1 crash");
	ok(find_by(t, 2, 5, now) == CFITABLES_WAIT && answered(t, 1, now), "  those of user 2 are started meanwhile");
	find_by(t, 3, LIES, now);
	ok(find_by(t, 2, 6, now) == CFITABLES_WAIT && answered(t, 2, now), "user 3's answer what nobody asked");
	ok(find_by(t, 3, LIES, now) != CFITABLES_NONE, "  which is no answer");
	cfitables_stop(t);
}

static void test_trust(void)
{
	struct cfitables *t = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	struct process ended = { .pid = 0x7ffffff0, .start_ticks = 7, .tenant_window = 1 }, host = process_of(1);
	uint64_t now = SECOND_NS;

	if (!t->own_ns) {
		printf("ok %d - trust # SKIP no mount namespace is known\n", ++tap_n);
		cfitables_stop(t);
		return;
	}
	ended.mount_ns = t->own_ns;
	host.tenant = (struct tenant){ TENANT_MOUNT_NS, t->own_ns };
	started = 0;
	find_by(t, 1, WITH_TABLE, now);
	find_by(t, 2, WITH_TABLE, now);
	look_up(t, &host, 0, WITH_TABLE, now);
	look_up(t, &ended, 0, WITH_TABLE, now);
	is_u64(started, 4, "one file of two users, the host, and a process that ended unknown: four pairs of helpers");
	ok(answered(t, 4, now) && cfitables_count(t).tables == 4, "  make a table each");
	ok(t->bytes < 2 * unwind_table_bytes(t->entry[1].shared->table),
	   "  which take memory once, as they are the same");
	ok(find_by(t, 1, WITH_TABLE, now) != CFITABLES_WAIT, "  and are found");
	host.pid = (uint32_t)getpid();
	host.start_ticks = 0;
	if (getuid() != 0)
		ok(look_up(t, &host, 0, 77, now) == CFITABLES_NONE,
		   "a process that is the host's no more does not ask the host's helpers");
	cfitables_tick(t, now + 120 * SECOND_NS);
	ok(cfitables_count(t).tables == 0 && cfitables_count(t).bytes == 0, "  all are let go");
	cfitables_stop(t);
}

static void test_limits(void)
{
	struct cfitables *t = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	struct process host = process_of(1);
	uint64_t now = SECOND_NS;
	unsigned n = 0;

	host.tenant = (struct tenant){ TENANT_MOUNT_NS, t->own_ns };
	started = 0;
	look_up(t, &host, 0, 1, now);
	for (uint64_t user = 1; user < CFIHELPERS_MAX; user++)
		find_by(t, user, 5, now + user);
	ok(answered(t, CFIHELPERS_MAX, now), "the host and 15 users");
	is_u64(cfihelpers_running(t->helpers), CFIHELPERS_MAX, "  have 16 pairs of helpers");
	find_by(t, 1, 6, now + 100);
	find_by(t, 99, 5, now + 101);
	ok(answered(t, CFIHELPERS_MAX + 2, now), "another user has one, too");
	is_u64(cfihelpers_running(t->helpers), CFIHELPERS_MAX, "  there are no more");
	is_u64(started, CFIHELPERS_MAX + 1, "  one was started");
	find_by(t, 1, 7, now + 102);
	is_u64(started, CFIHELPERS_MAX + 1, "  those of user 1 are there: they were used");
	answered(t, CFIHELPERS_MAX + 3, now);
	find_by(t, 2, 7, now + 103);
	is_u64(started, CFIHELPERS_MAX + 2, "  those of user 2 were not used for longest, and ended");
	answered(t, CFIHELPERS_MAX + 4, now);
	for (uint64_t user = 200; user < 200 + CFIHELPERS_MAX - 1; user++)
		n += find_by(t, user, HANGS, now + 200) == CFITABLES_WAIT;
	is_u64(n, CFIHELPERS_MAX - 1, "15 users hang");
	n = started;
	ok(find_by(t, 300, 5, now + 300) != CFITABLES_NONE && started == n,
	   "the next one ends none of their helpers, and waits");
	ok(look_up(t, &host, 0, 2, now + 300) == CFITABLES_WAIT && answered(t, CFIHELPERS_MAX + 5, now),
	   "  the host does not");
	now += 3 * SECOND_NS;
	cfitables_take(t, now);
	ok(find_by(t, 300, 6, now) == CFITABLES_WAIT && answered(t, CFIHELPERS_MAX + 6, now), "  until they are ended");
	cfitables_tick(t, now + 2 * CFIHELPERS_IDLE_NS);
	is_u64(cfihelpers_running(t->helpers), 0, "helpers that are idle end");
	cfitables_stop(t);
}

/* Returns the nice value of the first pair's parser. */
static int nice_of_parser(void)
{
	return getpriority(PRIO_PROCESS, (id_t)started_pid[1]);
}

/* Spins, as a parser that a hostile file took over: it answers nothing and reports no time. */
static void spin(void)
{
	for (;;)
		;
}

static void test_priority(void)
{
	struct cfitables *t = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	uint64_t now = SECOND_NS;

	started = 0;
	parser_runs = spin;
	find_by(t, 1, 5, now);
	parser_runs = NULL;
	if (setpriority(PRIO_PROCESS, (id_t)started_pid[1], URGENCY_SOON) < 0) {
		ok(true, "priority of a parser # SKIP no CAP_SYS_NICE");
	} else {
		cfitables_take(t, now);
		ok(answered(t, 1, now) && nice_of_parser() == URGENCY_SOON, "a parser has raised priority at first");
		for (unsigned tries = 0; tries < 60000 && nice_of_parser() != URGENCY_USUAL; tries++) {
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
			cfitables_tick(t, now);
		}
		ok(nice_of_parser() == URGENCY_USUAL, "  one that spins without a request has the usual one soon");
	}
	cfitables_stop(t);
}

/* The helper process for interpreters: it is a child of this process, replies, and ends with its socket. */
static void test_interphelper(struct cfistarter *s)
{
	struct interp_request request = { .serial = 7, .question = INTERP_THREADS };
	struct interp_reply reply = { 0 };
	int pair[2], status = -1, memory = memfd_create("memory", MFD_CLOEXEC);
	pid_t pid;

	ok(memory >= 0 && ftruncate(memory, sizeof(struct interp_shared)) == 0 &&
		   socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0,
	   "a socket, and memory to share");
	pid = cfistarter_begin_interphelper(s, pair[1], memory);
	close(pair[1]);
	close(memory);
	ok(pid && pid != s->pid && send(pair[0], &request, sizeof(request), 0) == sizeof(request) &&
		   recv(pair[0], &reply, sizeof(reply), 0) == sizeof(reply) && reply.serial == 7 && reply.lost,
	   "a helper for interpreters is started, and replies");
	close(pair[0]);
	ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "  is reaped here, and ends with its socket");
}

/* The real ones, started by the process that does that. */
static void test_starter(void)
{
	struct cfistarter s;
	pid_t opener = 0, parser = 0, starter;
	int socket = -1, status = -1;

#undef cfistarter_open
#undef cfistarter_begin
#undef cfistarter_close
	cfistarter_open(&s, "/proc");
	starter = s.pid;
	ok(cfistarter_begin(&s, &socket, &opener, &parser) && opener != parser, "an opener and a parser are started");
	close(socket);
	ok(waitpid(opener, &status, 0) == opener && waitpid(parser, &status, 0) == parser,
	   "  are reaped here, and end with their socket");
	kill(starter, SIGKILL);
	waitpid(starter, NULL, WNOHANG);
	for (unsigned tries = 0; tries < 3 && !cfistarter_begin(&s, &socket, &opener, &parser); tries++)
		opener = 0;
	ok(opener && s.pid != starter, "the starter, killed, is replaced");
	close(socket);
	waitpid(opener, NULL, 0);
	waitpid(parser, NULL, 0);
	test_interphelper(&s);
	cfistarter_close(&s);
}

int main(void)
{
	test_hang();
	test_failures();
	test_trust();
	test_limits();
	test_priority();
	test_starter();
	return done();
}
