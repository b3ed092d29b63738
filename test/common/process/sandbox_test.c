/* sandbox_test - the rights of a process after sandbox_enter, read from /proc/self/status and tried one by one. */
/* covers: common/process/sandbox.c */
/* std: sanitizers need more system calls than a sandbox permits */
#include "common/process/sandbox.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#if defined(PJ_ASAN) || defined(PJ_COVERAGE)
#define NARROW 0 /* the list is wider for sanitizers and gcov */
#else
#define NARROW 1
#endif
#ifdef PJ_COVERAGE
#define FILE_LIMIT 0 /* gcov writes files */
#else
#define FILE_LIMIT 1
#endif

static struct child c;

static const struct sandbox all = { .groups = SANDBOX_MESSAGES | SANDBOX_OUTPUT | SANDBOX_DEADLINE,
				    .address_space = UINT64_C(256) << 20,
				    .file_bytes = 1 << 20,
				    .files = 32,
				    .uid = 65534 };

/* ---- one attempt each, in a child ------------------------------------------------------------------------------- */

static void show_status(void *arg)
{
	static char buf[8192];
	int fd = open("/proc/self/status", O_RDONLY); /* the kernel makes the text when it is read */
	ssize_t n;

	(void)arg;
	printf("missing %s\n", sandbox_missing(sandbox_enter(&all) & ~(unsigned)SANDBOX_LANDLOCK) ? "some" : "none");
	n = pread(fd, buf, sizeof(buf), 0);
	printf("%.*s", n > 0 ? (int)n : 0, buf);
}

static void open_file(void *arg)
{
	(void)arg;
	sandbox_enter(&all);
	printf("%s",
	       syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) < 0 && errno == EPERM ? "refused" : "opened");
}

enum { BLOCKS = 512, BLOCK = 60000 }; /* below malloc's threshold for mmap, together more than its threshold to trim */

static void use_much(void)
{
	static char *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		block[i] = memset(malloc(BLOCK), 1, BLOCK);
	for (int i = BLOCKS; i-- > 0;)
		free(block[i]);
}

/* A process of which a thread, whose heap is not the main one, forked the helper. */
static void *fork_from_thread(void *arg)
{
	void *volatile first = malloc(1); /* makes the thread's heap; volatile, or gcc leaves it out */
	int status = -1;
	pid_t pid;

	free(first);
	pid = fork();
	if (pid == 0) {
		sandbox_enter(&all);
		use_much();
		_exit(7);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	*(int *)arg = status;
	return NULL;
}

static void shrink_heap_of_thread(void *arg)
{
	pthread_t thread;
	int status = -1;

	(void)arg;
	if (pthread_create(&thread, NULL, fork_from_thread, &status) == 0)
		pthread_join(thread, NULL);
	printf("%s", WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "shrunk" : "ended");
}

static void make_socket(void *arg)
{
	(void)arg;
	sandbox_enter(&all);
	socket(AF_INET, SOCK_STREAM, 0);
}

static void run_program(void *arg)
{
	static char *const argv[] = { (char *)(uintptr_t) "true", NULL };

	(void)arg;
	sandbox_enter(&all);
	syscall(SYS_execve, "/bin/true", argv, argv + 1);
}

static void shorten_file(void *arg)
{
	sandbox_enter(arg);
	syscall(SYS_ftruncate, -1, 0);
}

static void map_code(void *arg)
{
	void *p;

	(void)arg;
	sandbox_enter(&all);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%s", p == MAP_FAILED && errno == EACCES ? "refused" : "mapped");
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf(" %s", p == MAP_FAILED ? "refused" : "mapped");
}

static void take_memory(void *arg)
{
	(void)arg;
	sandbox_enter(&all);
	printf("%s", mmap(NULL, (size_t)512 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ?
			     "refused" :
			     "given");
}

static void write_much(void *arg)
{
	int fd;

	(void)arg;
	signal(SIGXFSZ, SIG_IGN);
	fd = (int)syscall(SYS_memfd_create, "x", 0);
	sandbox_enter(&all);
	printf("%d %d", ftruncate(fd, 1 << 20), ftruncate(fd, (1 << 20) + 1));
}

static void spin(void *arg)
{
	(void)arg;
	sandbox_enter(&all);
	sandbox_deadline(20);
	for (volatile int i = 1; i;)
		;
}

static void spin_without(void *arg)
{
	(void)arg;
	sandbox_enter(&all);
	sandbox_deadline(20);
	sandbox_deadline(0);
	for (volatile int i = 0; i < 100000000; i++)
		;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void sort_many(void *arg)
{
	int value[4096];

	(void)arg;
	for (int i = 0; i < (int)countof(value); i++)
		value[i] = i * 7919 % (int)countof(value);
	sandbox_enter(&all);
	qsort(value, countof(value), sizeof(*value), compare_ints);
	printf("%d %d", value[0], value[countof(value) - 1]);
}

/* ---- openers and filters ---------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/pj-sandbox-test.XXXXXX";

static void remove_folder(void *arg)
{
	(void)arg;
	execlp("rm", "rm", "-rf", folder, (char *)NULL);
}

static void *nothing(void *arg)
{
	return arg;
}

/* What neither of them may do. */
static void reach_out(void)
{
	static char *const argv[] = { (char *)(uintptr_t) "true", NULL };

	printf(" elsewhere %d", open("/tmp/pj-sandbox-test-elsewhere", O_WRONLY | O_CREAT, 0600) >= 0);
	printf(" socket %d", socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM);
	printf(" program %d", execv("/bin/true", argv) == 0 || errno != EPERM);
	printf(" signal %d", kill(getppid(), 0) == 0 || errno != EPERM);
	printf(" namespace %d", syscall(SYS_unshare, CLONE_NEWUSER) == 0 || errno != EPERM);
	printf(" clone %d", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EPERM);
	printf(" fork %d", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EPERM);
}

static void opener(void *arg)
{
	const char *writable[] = { folder, "/nonexistent/folder", NULL };
	unsigned missing = sandbox_enter(&(struct sandbox){ .groups = SANDBOX_OPENER, .writable = writable });
	char path[64];

	(void)arg;
	printf("%s", sandbox_missing(missing) ? sandbox_missing(missing) : "");
	printf(" read %d", open("/etc/passwd", O_RDONLY) >= 0);
	snprintf(path, sizeof(path), "%s/file", folder);
	printf(" write %d", open(path, O_WRONLY | O_CREAT, 0600) >= 0);
	reach_out();
}

/* Opens below the root folder of another process, which Landlock denies. */
static void opener_in_roots(void *arg)
{
	char path[64];
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)getppid());
	sandbox_enter(&(struct sandbox){ .groups = SANDBOX_ROOTS | SANDBOX_FORK, .keep_capabilities = true });
	if (!arg)
		sandbox_narrow(SANDBOX_ROOTS);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	printf(" read %d", open("/etc/passwd", O_RDONLY) >= 0);
	printf(" root %d", root >= 0 && syscall(SYS_openat2, root, "/etc/passwd", &how, sizeof(how)) >= 0);
	printf(" write %d", open("/etc/passwd", O_WRONLY) >= 0 || open("/etc/passwd", O_RDWR) >= 0);
	printf(" memory %d", memfd_create("m", MFD_CLOEXEC) >= 0);
	if (arg) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		printf(" child %d namespace %d", child > 0 && waitpid(child, NULL, 0) == child,
		       syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0);
		return;
	}
	reach_out();
}

static void filter(void *arg)
{
	pid_t parent = getppid(), own = getpid();
	unsigned missing =
		sandbox_enter(&(struct sandbox){ .groups = SANDBOX_FILTER | SANDBOX_MESSAGES | SANDBOX_THREADS });
	pthread_t thread;

	(void)arg;
	printf("%s", sandbox_missing(missing) ? sandbox_missing(missing) : "");
	printf(" read %d", open("/etc/passwd", O_RDONLY) >= 0);
	printf(" thread %d", pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
	printf(" own signal %d", syscall(SYS_tgkill, own, own, 0) == 0);
	printf(" another's %d", syscall(SYS_tgkill, parent, parent, 0) == 0);
	reach_out();
}

static void runs(void (*f)(void *), const char *want, const char *name)
{
	child_run(&c, f, NULL);
	if (str_starts(c.out, STR("Landlock")))
		printf("ok %d - %s # SKIP this kernel has no Landlock\n", ++tap_n, name);
	else
		is_str(c.out, str_of(want), name);
}

#define NOTHING_ELSE " elsewhere 0 socket 0 program 0 signal 0 namespace 0 clone 0 fork 0"

static void filters(void)
{
	if (!NARROW || !mkdtemp(folder))
		return;
	runs(opener, " read 1 write 1" NOTHING_ELSE, "an opener reads, writes where it may, and reaches nothing else");
	runs(opener_in_roots, " read 1 root 1 write 0 memory 1" NOTHING_ELSE,
	     "an opener below roots of other processes reads alone");
	child_run(&c, opener_in_roots, folder);
	is_str(c.out, str_of(" read 1 root 1 write 0 memory 1 child 1 namespace 0"),
	       "  and the process that forks it forks, too");
	runs(filter, " read 0 thread 1 own signal 1 another's 0" NOTHING_ELSE,
	     "a filter starts threads, and opens and reaches nothing");
	unlink("/tmp/pj-sandbox-test-elsewhere");
	child_run(&c, remove_folder, NULL);
}

/* ---- missing layers --------------------------------------------------------------------------------------------- */

struct denied {
	uint32_t call, argument; /* argument: its first one */
	bool any;                /* whatever its argument */
};

/* Enters the sandbox where a system call does not exist. */
static void enter_without(void *arg)
{
	const struct denied *d = arg;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, d->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, d->argument, 0, d->any ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { countof(filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return;
	sandbox_enter(&all);
	printf("%u", sandbox_reported());
}

static void missing_layers(void)
{
	struct denied landlock = { .call = 444, .any = true },
		      seccomp = { .call = SYS_prctl, .argument = PR_SET_SECCOMP };
	unsigned here;

	sandbox_watch();
	child_run(&c, enter_without, &seccomp);
	here = sandbox_reported();
	ok(here & SANDBOX_SECCOMP && !(here & ~(unsigned)(SANDBOX_SECCOMP | SANDBOX_LANDLOCK)),
	   "without seccomp: the parent learns of it");
	is_str(c.out, str_of("0"), "  and the helper cannot reach the report afterwards");
	if (!NARROW)
		return;
	child_run(&c, enter_without, &landlock);
	is_u64(sandbox_reported(), SANDBOX_SECCOMP | SANDBOX_LANDLOCK,
	       "without Landlock: the parent learns of it, too");
	is_str(str_of(sandbox_missing(SANDBOX_LANDLOCK)), str_of("Landlock"), "  by name");
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static bool has_line(const char *line)
{
	struct str s = c.out;

	while (s.n)
		if (str_eq(str_cut(&s, '\n'), str_of(line)))
			return true;
	return false;
}

static void killed(void (*f)(void *), void *arg, const char *name)
{
	if (!NARROW) {
		printf("ok %d - %s # SKIP sanitizers and gcov need more system calls\n", ++tap_n, name);
		return;
	}
	child_run(&c, f, arg);
	is_u64((uint64_t)c.status, 128 + SIGSYS, name);
}

int main(void)
{
	struct sandbox least = { .groups = 0 };

	ok(sandbox_calls(0) <= 20 && sandbox_calls(all.groups) <= 26 &&
		   sandbox_calls(SANDBOX_MESSAGES | SANDBOX_OUTPUT | SANDBOX_DEADLINE) <= 26,
	   "a helper process may make 26 system calls at most");
	ok(sandbox_calls(SANDBOX_ROOTS) <= 26 && sandbox_calls(SANDBOX_ROOTS | SANDBOX_FORK) <= 35,
	   "an opener below roots 26, the process that forks it 35");
	ok(sandbox_calls(SANDBOX_FILTER | SANDBOX_MESSAGES | SANDBOX_THREADS) <= 26, "so may a filter");
	child_run(&c, show_status, NULL);
	ok(has_line("missing none"), "each layer is put in place (a kernel without Landlock excepted)");
	ok(has_line("CapEff:\t0000000000000000") && has_line("CapPrm:\t0000000000000000") &&
		   has_line("CapInh:\t0000000000000000"),
	   "no capability is left");
	ok(has_line("NoNewPrivs:\t1"), "new privileges are forbidden");
	ok(has_line("Seccomp:\t2"), "a seccomp filter is in force");
	if (geteuid() == 0)
		ok(has_line("Uid:\t65534\t65534\t65534\t65534") && has_line("Groups:\t "),
		   "root becomes another user, without groups");
	if (NARROW) {
		child_run(&c, open_file, NULL);
		is_str(c.out, str_of("refused"), "no file can be opened");
	}
	child_run(&c, shrink_heap_of_thread, NULL);
	is_str(c.out, str_of("shrunk"), "malloc may shrink the heap of a thread that forked the process");
	killed(make_socket, NULL, "a socket ends the process");
	killed(run_program, NULL, "so does another program");
	killed(shorten_file, &least, "so does a call of a group that was not requested");
	if (NARROW) {
		child_run(&c, map_code, NULL);
		is_str(c.out, str_of("refused mapped"), "memory is never executable");
		child_run(&c, take_memory, NULL);
		is_str(c.out, str_of("refused"), "the address space is limited");
	}
	child_run(&c, sort_many, NULL);
	is_str(c.out, str_of("0 4095"), "a first qsort makes no system call that is forbidden");
	if (FILE_LIMIT) {
		child_run(&c, write_much, NULL);
		is_str(c.out, str_of("0 -1"), "files are limited");
	}
	child_run(&c, spin, NULL);
	is_u64((uint64_t)c.status, 128 + SIGPROF, "a deadline of CPU time ends the process");
	child_run(&c, spin_without, NULL);
	is_u64((uint64_t)c.status, 0, "a deadline that is taken away does not");
	filters();
	missing_layers();
	return done();
}
