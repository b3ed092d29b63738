/* runtimes_test - who makes code, from texts and from processes of our own. */
/* covers: record/runtimes.c */
#include "record/runtimes.h"

#include "common/diag.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct runtime of(const char *maps)
{
	struct runtime r = { 0 };

	runtime_maps(&r, str_of(maps));
	return r;
}

static void texts(void)
{
	struct runtime r;

	r = of("7f0000000000-7f0000100000 r-xp 00000000 08:01 123 /usr/lib/jvm/java-17/lib/server/libjvm.so\n"
	       "7f0001000000-7f0001040000 rwxp 00000000 00:00 0 \n");
	ok(r.jvm && r.code == 0x40000 && !r.map, "a JVM");
	r = of("7f0000000000-7f0000100000 r-xp 00000000 08:01 123 /usr/lib/jvm/java-17/lib/server/libjvm.so (deleted)\n");
	ok(r.jvm, "one whose files were replaced by an upgrade");
	r = of("7f0000000000-7f0000100000 r--p 00000000 08:01 123 /usr/lib/libjvm.so\n7f0000100000-7f0000200000 r-xp 0 08:01 9 /x/notlibjvm.so\n");
	ok(!r.jvm, "not one that only reads the file, or another file");
	r = of("7f0001000000-7f0001040000 rwxp 00000000 00:00 0 [anon:v8]\n7f0002000000-7f0002040000 r-xs 00000000 00:01 7 /memfd:doublemapper "
	       "(deleted)\n7f0003000000-7f0003040000 r-xp 0 00:01 8 /memfd:program (deleted)\n"
	       "7f0004000000-7f0004001000 r-xp 00000000 00:00 0 [vdso]\n7f0005000000-7f0005040000 rw-p 0 00:00 0\n");
	ok(r.code == 0x80000 && !r.map,
	   "memory without a file, by any name, but no program in a memfd, and not the vdso");
	r = of("7f0001000000-7f0001040000 r-xp 00000000 08:01 5 /home/x/.debug/jit/jit-123.dump\n");
	ok(r.map && r.code == 0, "a jitdump");
	r = of("\n\n x\n-\nffff rwxp\n7f00-7e00 rwxp 0 0:0 0\n");
	ok(!r.jvm && !r.map && !r.code, "what is no line");
	r = of("55d000000000-55d000100000 r-xp 00000000 08:01 5 /usr/bin/node\n7f0001000000-7f0001040000 rwxp 0 0:0 0\n");
	ok(r.node && !r.jvm && r.code == 0x40000, "node, by its file");
	r = of("7f0000000000-7f0000100000 r-xp 0 08:01 5 /usr/lib/x86_64-linux-gnu/libnode.so.108 (deleted)\n");
	ok(r.node, "  or its library");
	r = of("7f0000000000-7f0000100000 r-xp 0 08:01 5 /opt/node/lib/other.so\n");
	ok(!r.node, "  not by its folder");
	ok(strstr(runtime_advice("node"), "--perf-basic-prof") && !runtime_advice("x"), "advice");
}

static pid_t jit_with_name(const char *name, size_t bytes)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		if (mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			    MAP_FAILED ||
		    write(ready[1], "", 1) != 1)
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

struct found {
	pid_t pid;
	struct runtime r;
	bool there;
};

static void look_for(void *arg, const struct runtime *runtime)
{
	struct found *f = arg;

	if (runtime->pid == f->pid) {
		f->r = *runtime;
		f->there = true;
	}
}

static struct found find(pid_t pid)
{
	struct found f = { .pid = pid };
	struct runtimes_count n = runtimes_each(look_for, &f);

	if (!n.processes)
		printf("# no processes\n");
	return f;
}

int main(void)
{
	pid_t large, small;
	struct found f;
	char path[64];
	int fd;

	diag_tool("pjtest");
	texts();
	large = jit_with_name("my (jit)", 256 * 1024);
	small = jit_with_name("small", 4096);
	f = find(large);
	ok(f.there && strcmp(f.r.comm, "my (jit)") == 0 && f.r.code >= 256 * 1024 && !f.r.map && !f.r.jvm,
	   "a process that makes code");
	ok(!find(small).there, "a trampoline is none");
	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)f.r.inner_pid);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ok(fd >= 0 && find(large).r.map, "and its map");
	close(fd);
	unlink(path);
	kill(large, SIGKILL);
	kill(small, SIGKILL);
	waitpid(large, NULL, 0);
	waitpid(small, NULL, 0);
	return done();
}
