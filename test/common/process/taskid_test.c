/* Which program a process runs, and whether its memory may be shown: texts of /proc, and children that exec, share
 * their memory, change their user. The child is this program, run again with the name of what it is to do. */
/* covers: common/process/taskid.c */
#include "runtimes/memory/memory.h"
#include "common/process/taskid.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT UINT64_C(0x7e5500000000) /* where a child has its number */

enum { OLD = 1111, NEW = 2222 };

static void texts(void)
{
	struct taskid id;
	struct taskid_user user;
	bool zombie;
	struct str stat = STR(
		"7 (a) Z 1 2) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21 22 4096 24 140737488 26 27\n");

	ok(taskid_parse(stat, &id, &zombie) && !zombie && id.start == 4711 && id.start_code == 4096 &&
		   id.start_stack == 140737488,
	   "stat: start time, code and stack, whatever the name is");
	ok(taskid_parse(STR("7 (x) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21 22 0 24 0 26 27"), &id,
			&zombie) &&
		   zombie,
	   "a zombie");
	ok(!taskid_parse(STR("7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"), &id, &zombie),
	   "stat that is cut");
	ok(!taskid_parse(STR("7 x S"), &id, &zombie) && !taskid_parse(STR(""), &id, &zombie), "no stat");
	ok(taskid_state(stat) == 'S' && taskid_state(STR("7 (x) R")) == 'R', "state: whatever the name is");
	ok(!taskid_state(STR("7 (x) ")) && !taskid_state(STR("7 (x)R ")) && !taskid_state(STR("7 R")) &&
		   !taskid_state(STR("")),
	   "state: none");
	ok(taskid_parse_user(STR("Name:\tx\nUid:\t5\t5\t5\t9\nGid:\t6\t6\t6\t6\n"), &user) && user.uid == 5 &&
		   user.gid == 6,
	   "status: user and group");
	ok(!taskid_parse_user(STR("Uid:\t5\t0\t0\t0\nGid:\t6\t6\t6\t6\n"), &user),
	   "a set-uid program acts for another user");
	ok(!taskid_parse_user(STR("Uid:\t5\t5\t0\t5\nGid:\t6\t6\t6\t6\n"), &user), "  also while it does not");
	ok(!taskid_parse_user(STR("Uid:\t5\t5\t5\t5\nGid:\t6\t7\t7\t7\n"), &user), "a set-gid program");
	ok(!taskid_parse_user(STR("Uid:\t5\t5\t5\t5\n"), &user), "status that is cut");
}

/* ---- children -------------------------------------------------------------------------------------------------- */

static bool put(uint64_t value)
{
	uint64_t *at = mmap((void *)(uintptr_t)AT, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at != (void *)(uintptr_t)AT)
		return false;
	*at = value;
	return true;
}

static void ready(void)
{
	if (write(STDOUT_FILENO, "r", 1) != 1)
		_exit(1);
}

static NORETURN int share(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void be_other_program(int signal)
{
	char *const argv[] = { "taskid_test", "other", NULL };

	(void)signal;
	execve("/proc/self/exe", argv, environ);
	_exit(1);
}

/* SIGUSR1: exec. */
static int run_child(const char *what)
{
	static char stack[16384] __attribute__((aligned(16)));
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!put(strcmp(what, "other") == 0 ? NEW : OLD))
		return 1;
	signal(SIGUSR1, be_other_program);
	if (strcmp(what, "shared") == 0 && clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		return 1;
	if (strcmp(what, "closed") == 0)
		prctl(PR_SET_DUMPABLE, 0);
	if ((strcmp(what, "nobody") == 0 || strcmp(what, "open") == 0) &&
	    (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
		return 1;
	if (strcmp(what, "halfway") == 0 && setresuid(65534, 65534, 0) < 0)
		return 1;
	if (strcmp(what, "open") == 0)
		prctl(PR_SET_DUMPABLE, 1);
	ready();
	while (read(STDIN_FILENO, &byte, 1) < 0) /* its end: the test's */
		;
	return 0;
}

struct child {
	pid_t pid;
	int process, in, out;
};

static bool await(struct child *child)
{
	char byte;

	return read(child->out, &byte, 1) == 1;
}

static struct child start(const char *what)
{
	struct child c = { .process = -1 };
	int in[2], out[2];
	char path[32];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		exit(1);
	c.pid = fork();
	if (c.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "taskid_test", what, (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	c.in = in[1];
	c.out = out[0];
	snprintf(path, sizeof(path), "/proc/%d", (int)c.pid);
	if (await(&c))
		c.process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return c;
}

static void end(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->in);
	close(child->out);
	close(child->process);
}

static uint64_t gathered(struct memory *memory)
{
	struct memory_want want = { AT, 8, 0 };
	uint64_t value = 0;

	return memory_gather(memory, &want, 1, &value) ? value : 0;
}

/* The other program has its own number at the same address. */
static void exec_is_noticed(const char *what, uint64_t then)
{
	struct child c = start(what);
	struct memory m;
	struct taskid id;
	struct taskid_user user;
	int fd;

	printf("# %s\n", what);
	ok(c.process >= 0 && taskid_read(c.process, &id) && memory_open(&m, c.process, &id) == TASKID_SAME,
	   "its memory is opened");
	m.probe = AT;
	ok(gathered(&m) == OLD && taskid_is(c.process, &id), "  and read");
	kill(c.pid, SIGUSR1);
	ok(await(&c), "it execs");
	ok(!taskid_is(c.process, &id), "  which is noticed");
	is_u64(gathered(&m), then, "  and nothing of the new program is read");
	ok(taskid_check(c.process, &id, &user) == TASKID_GONE &&
		   taskid_open_memory(c.process, &id, &user, &fd) == TASKID_GONE && fd < 0,
	   "  nor opened with what is known of the old one");
	memory_close(&m);
	ok(taskid_read(c.process, &id) && memory_open(&m, c.process, &id) == TASKID_SAME && (m.probe = AT) &&
		   gathered(&m) == NEW,
	   "  but asked for anew it is");
	end(&c);
	ok(!taskid_is(c.process, &id) && !taskid_read(c.process, &id), "it ended");
	memory_close(&m);
}

/* In a PID namespace of its own, where PIDs are given as the test says: another process gets the PID of one that was
 * opened. */
static void reuse_in_namespace(void)
{
	struct child c, next;
	struct taskid id;
	struct memory m;
	FILE *last;

	if (mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(2);
	c = start("alone");
	if (c.process < 0 || !taskid_read(c.process, &id) || memory_open(&m, c.process, &id) != TASKID_SAME)
		_exit(2);
	m.probe = AT;
	if (gathered(&m) != OLD)
		_exit(2);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	last = fopen("/proc/sys/kernel/ns_last_pid", "w"); /* of this namespace */
	if (!last || fprintf(last, "%d", (int)c.pid - 1) < 0 || fclose(last) != 0)
		_exit(2);
	next = start("other");
	if (next.pid != c.pid)
		_exit(2);
	_exit(gathered(&m) == 0 && !taskid_is(c.process, &id) && !taskid_is(next.process, &id) ? 0 : 1);
}

static void pid_is_reused(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(2);
		pid_t init = fork();
		if (init == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			reuse_in_namespace();
		}
		_exit(init > 0 && waitpid(init, &status, 0) == init && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		printf("ok %d # SKIP no PID namespace here\n", ++tap_n);
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "nothing is read of a process that got the PID");
}

static enum taskid_answer opened(const char *what, enum taskid_reader reader)
{
	struct child c = start(what);
	struct taskid_user user = { 0, 0 };
	enum taskid_answer answer;
	struct taskid id;
	int fd = -1;

	if (c.process < 0 || !taskid_read(c.process, &id))
		exit(1);
	answer = taskid_open_memory_for(reader, c.process, &id, &user, &fd);
	ok((fd >= 0) == (answer == TASKID_SAME), "a descriptor only if it may be read");
	if (answer == TASKID_SAME && strcmp(what, "open") == 0)
		ok(user.uid == 65534 && user.gid == 65534, "  of that user");
	if (fd >= 0)
		close(fd);
	end(&c);
	return answer;
}

/* Returns the reader that a process with these ids, 3 of the user and 3 of the group, is. */
static enum taskid_reader reader_of(const uid_t user[3], const gid_t group[3])
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(setresgid(group[0], group[1], group[2]) == 0 && setresuid(user[0], user[1], user[2]) == 0 ?
			      (int)taskid_reader() :
			      99);
	waitpid(child, &status, 0);
	return (enum taskid_reader)WEXITSTATUS(status);
}

static void readers(void)
{
	static const uid_t root[] = { 0, 0, 0 }, set_uid[] = { 65534, 0, 0 }, other[] = { 65534, 65534, 65534 };
	static const gid_t group[] = { 0, 0, 0 };

	ok(reader_of(root, group) == TASKID_FOR_ROOT, "root reads for root");
	ok(reader_of(set_uid, group) == TASKID_FOR_USER, "  a set-uid program for its user");
	ok(reader_of(other, other) == TASKID_FOR_USER, "  and a user for itself");
	for (size_t i = 0; i < 3; i++) {
		gid_t one[] = { 0, 0, 0 };

		one[i] = 65534;
		ok(reader_of(root, one) == TASKID_FOR_USER, "  root with another group for that, too");
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_child(argv[1]);
	signal(SIGPIPE, SIG_IGN);
	texts();
	exec_is_noticed("alone", 0);
	exec_is_noticed("shared", OLD); /* another task keeps the old memory */
	if (geteuid() == 0) {
		pid_is_reused();
		ok(opened("nobody", TASKID_FOR_USER) == TASKID_PRIVATE,
		   "who changed the user since exec is not dumpable");
		ok(opened("nobody", TASKID_FOR_ROOT) == TASKID_SAME, "  and only for root to read");
		ok(opened("open", TASKID_FOR_USER) == TASKID_SAME, "  but may say that it is");
		ok(opened("halfway", TASKID_FOR_ROOT) == TASKID_PRIVATE, "who acts for two users is not read for root");
		readers();
	} else {
		ok(opened("closed", TASKID_FOR_ROOT) == TASKID_DENIED, "who is not dumpable is for root alone");
	}
	return done();
}
