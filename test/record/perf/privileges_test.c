/* privileges_test - what is left after privileges_drop, seen from /proc/self/status and by trying. */
/* covers: record/perf/privileges.c */
#include "record/perf/privileges.h"

#include "test/lib/child.h"
#include "common/diag.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct child c;
static char secret[] = "/tmp/pj-privileges-test.XXXXXX";

static uint64_t five(void)
{
	return UINT64_C(1) << PRIV_PERFMON | UINT64_C(1) << PRIV_IPC_LOCK | UINT64_C(1) << PRIV_SYSLOG |
	       UINT64_C(1) << PRIV_SYS_PTRACE | UINT64_C(1) << PRIV_DAC_READ_SEARCH;
}

static uint64_t at_start; /* capabilities of this process */

/* The capabilities that are to be left: root keeps one more, if it had it. */
static uint64_t kept(void)
{
	return five() | (geteuid() == 0 ? at_start & UINT64_C(1) << PRIV_SYS_RESOURCE : 0);
}

/* The hexadecimal or decimal first value of a line of /proc/self/status. */
static uint64_t status(const char *name, bool hex)
{
	char buf[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf));
	struct str s = { buf, n > 0 ? (size_t)n : 0 };
	uint64_t value = UINT64_MAX;

	close(fd);
	while (s.n) {
		struct str line = str_cut(&s, '\n');
		struct str key = str_cut(&line, ':');

		line = str_trim(line);
		line = str_cut(&line, '\t');
		if (str_eq(key, str_of(name)) && !(hex ? str_hex(line, &value) : str_u64(line, &value)))
			value = UINT64_MAX;
	}
	return value;
}

/* As the recorder does it: become, then say what is left. */
static void dropped(void *who)
{
	uid_t uid = *(uid_t *)who;
	struct text t = { 0 };
	char maps[64], byte;
	int fd;

	privileges_drop(uid, uid);
	privileges_text(&t);
	printf("%.*s\n", (int)t.n, t.p);
	text_free(&t);
	printf("eff %d prm %d inh %d amb %d bnd %d nnp %d\n", status("CapEff", true) == kept(),
	       status("CapPrm", true) == kept(), status("CapInh", true) == 0, status("CapAmb", true) == 0,
	       (status("CapBnd", true) & ~kept()) == 0, status("NoNewPrivs", false) == 1);
	printf("uid %d %d %d\n", uid == (uid_t)-1 || (getuid() == uid && geteuid() == uid && getgid() == uid),
	       uid != (uid_t)-1 && syscall(SYS_setuid, 0) == 0, getgroups(0, NULL) > 1);
	fd = open(secret, O_RDONLY);
	printf("reads %d", fd >= 0);
	close(fd);
	snprintf(maps, sizeof(maps), "/proc/%ld/maps", (long)getppid());
	printf(" maps %d", (fd = open(maps, O_RDONLY)) >= 0 && read(fd, &byte, 1) == 1);
	close(fd);
	printf(" chown %d perfmon %d\n", chown(secret, 1, 1) == 0,
	       privileges_has(PRIV_PERFMON) && !privileges_has(PRIV_SYS_ADMIN));
}

static void drops_without_perfmon(void *arg)
{
	struct {
		uint32_t version;
		int pid;
		uint32_t d[6];
	} caps = { .version = 0x20080522 };

	(void)arg;
	caps.d[0] = caps.d[1] = 1u << PRIV_SYS_ADMIN | 1u << PRIV_SYS_PTRACE | 1u << PRIV_SETUID;
	if (syscall(SYS_capset, &caps, caps.d) < 0)
		_exit(9);
	privileges_drop((uid_t)-1, (gid_t)-1);
	printf("%d\n", status("CapEff", true) == (UINT64_C(1) << PRIV_SYS_ADMIN | UINT64_C(1) << PRIV_SYS_PTRACE));
}

static void drops_twice(void *arg)
{
	privileges_drop(65534, 65534);
	privileges_drop((uid_t)-1, (gid_t)-1);
	if (status("CapEff", true) == five())
		privileges_drop(0, 0);
	(void)arg;
}

static void as_nobody(void *arg)
{
	(void)arg;
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		_exit(9);
	privileges_drop((uid_t)-1, (gid_t)-1);
	printf("eff %d nnp %d\n", status("CapEff", true) == 0, status("NoNewPrivs", false) == 1);
}

static void *waits(void *arg)
{
	char byte;

	while (read(*(int *)arg, &byte, 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static void with_threads(void *arg)
{
	pthread_t thread;
	int fd[2];

	(void)arg;
	if (pipe(fd) < 0 || pthread_create(&thread, NULL, waits, &fd[0]) != 0)
		_exit(9);
	privileges_drop((uid_t)-1, (gid_t)-1);
}

static void queries_for(void *name)
{
	uid_t uid = 7;
	gid_t gid = 7;

	privileges_user(name, &uid, &gid);
	printf("%lu %lu\n", (unsigned long)uid, (unsigned long)gid);
}

static void users(void)
{
	char root[] = "root", zero[] = "0", number[] = "123456", nobody[] = "no such user", empty[] = "";

	child_run(&c, queries_for, root);
	is_str(c.out, STR("0 0\n"), "a user by name");
	child_run(&c, queries_for, zero);
	is_str(c.out, STR("0 0\n"), "by number");
	child_run(&c, queries_for, number);
	is_str(c.out, STR("123456 123456\n"), "by a number without a name");
	child_run(&c, queries_for, nobody);
	ok(c.status == 2 && str_find_str(c.err, STR("no user 'no such user'")) > 0, "one that is not there");
	child_run(&c, queries_for, empty);
	ok(c.status == 2, "an empty name");
}

static void has_realtime(void *arg)
{
	if (arg)
		as_nobody(NULL);
	printf("%s\n", strerror(privileges_realtime()));
}

static void opens_memory(void *arg)
{
	(void)arg;
	printf("%d\n", privileges_memory());
}

/* Processes of a user that are not dumpable are closed to that user, unless SYS_PTRACE is there. */
static void opens_closed_memory(void *arg)
{
	as_nobody(arg);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	opens_memory(arg);
}

int main(void)
{
	uid_t nobody = 65534, stay = (uid_t)-1;
	int fd;

	diag_tool("pjtest");
	at_start = status("CapEff", true);
	users();
	child_run(&c, with_threads, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("before threads start")) > 0, "not with threads");
	if (getuid() != 0 || status("CapEff", true) == UINT64_MAX || (status("CapEff", true) & five()) != five() ||
	    !(status("CapEff", true) & 1u << PRIV_SETUID) || !(status("CapEff", true) & 1u << 8)) {
		printf("ok %d - as root # SKIP needs root with all capabilities\n", ++tap_n);
		return done();
	}
	child_run(&c, has_realtime, &nobody);
	ok(str_ends(c.out, STR("Operation not permitted\n")), "a user without rights has no real-time priority");
	child_run(&c, opens_memory, NULL);
	is_str(c.out, STR("0\n"), "root may open the memory of another process of root");
	child_run(&c, opens_closed_memory, NULL);
	ok(str_ends(c.out, STR("13\n")), "a user not that of a process that is not dumpable: EACCES");
	fd = mkstemp(secret);
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return 1;
	child_run(&c, dropped, &nobody);
	is_str(c.out,
	       STR("perfmon, ipc_lock, syslog, sys_ptrace, dac_read_search\neff 1 prm 1 inh 1 amb 1 bnd 1 nnp 1\nuid 1 0 0\n"
		   "reads 1 maps 1 chown 0 perfmon 1\n"),
	       "root becomes nobody with five capabilities, and cannot go back");
	child_run(&c, dropped, &stay);
	ok(str_find_str(c.out, STR("eff 1 prm 1 inh 1 amb 1 bnd 1 nnp 1")) > 0 &&
		   str_find_str(c.out, STR("reads 1 maps 1 chown 0 perfmon 1")) > 0,
	   "root that stays root has no more");
	child_run(&c, drops_without_perfmon, NULL);
	is_str(c.out, STR("1\n"), "SYS_ADMIN stays where PERFMON was not given");
	child_run(&c, drops_twice, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("only root can become another user")) > 0,
	   "who dropped cannot become root");
	child_run(&c, as_nobody, NULL);
	is_str(c.out, STR("eff 1 nnp 1\n"), "without any privileges: nothing to keep");
	unlink(secret);
	return done();
}
