/*
 * standin.h - a process with the memory of a HotSpot JVM (synth.h), which it does not run: for tests of code that reads
 * running JVMs.
 *
 * The memory is a file named libjvm.so, which the test and its child processes map shared: a write of the test changes
 * the memory of the child, too.
 */
#ifndef PJ_STANDIN_H
#define PJ_STANDIN_H

#include "test/lib/synth.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct standin {
	struct synth s; /* its bytes are the mapping of the file */
	char dir[64], path[96];
	pid_t pid;
};

/* Creates the file, without a process. Returns false on failure. */
static inline bool standin_make(struct standin *standin, unsigned jdk)
{
	const char *tmp = getenv("TMPDIR");
	unsigned char *memory;
	int fd;

	*standin = (struct standin){ .pid = 0 };
	synth_make(&standin->s, jdk, 1, -1);
	snprintf(standin->dir, sizeof(standin->dir), "%.40s/pj-jvm.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(standin->dir))
		return false;
	snprintf(standin->path, sizeof(standin->path), "%s/libjvm.so", standin->dir);
	fd = open(standin->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)standin->s.n) < 0)
		return false;
	memory = mmap(NULL, standin->s.n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return false;
	madvise(memory, standin->s.n, MADV_DONTFORK); /* children have only the mapping of standin_map */
	memcpy(memory, standin->s.byte, standin->s.n);
	synth_free(&standin->s);
	standin->s.byte = memory;
	return true;
}

/* Maps the file into this process at the address for which it was made, executable, as code is. */
static inline bool standin_map(const struct standin *standin)
{
	int fd = open(standin->path, O_RDONLY | O_CLOEXEC);
	void *want = (void *)(uintptr_t)SYNTH_BASE;
	void *got = mmap(want, standin->s.n, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	close(fd);
	return got == want;
}

/* Starts a child process that maps the file, and waits until it is ended. */
static inline bool standin_start(struct standin *standin)
{
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return false;
	standin->pid = fork();
	if (standin->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (standin_map(standin) && write(ready[1], "r", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	bool good = standin->pid > 0 && read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return good;
}

static inline void standin_kill(struct standin *standin)
{
	if (standin->pid > 0) {
		kill(standin->pid, SIGKILL);
		waitpid(standin->pid, NULL, 0);
	}
	standin->pid = 0;
}

static inline void standin_end(struct standin *standin)
{
	standin_kill(standin);
	munmap(standin->s.byte, standin->s.n);
	unlink(standin->path);
	rmdir(standin->dir);
}

#endif
