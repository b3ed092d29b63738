/*
 * jvm DIR hang: a process that has the memory of a JVM (test/lib/standin.h) and runs in it; on SIGUSR1 the page that
 * says which method that code is of becomes one that nobody fills in (userfaultfd): whoever reads it waits for ever.
 * jvm DIR exec COMMAND...: the same, until SIGUSR1; then it is the command.
 * Prints "runs" when it does, "hangs" when it does, or "SKIP" and why it cannot.
 */
#include "runtimes/hotspot/hotspot.h"
#include "test/lib/standin.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static void skip(const char *what)
{
	printf("SKIP %s: %s\n", what, strerror(errno));
	exit(0);
}

static struct blob method_of(const struct standin *standin)
{
	struct memory_part blob = synth_part(&standin->s);
	struct blob found = { 0 };
	struct hotspot h;

	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	for (size_t i = 0; i < h.code.n; i++)
		if (h.code.blob[i].compiled &&
		    h.code.blob[i].address >= SYNTH_BASE + SYNTH_PAGE) /* where the library begins is to stay */
			found = h.code.blob[i];
	hotspot_close(&h);
	return found;
}

static const char forever[] = "\xeb\xfe"; /* jmp to itself */

static void *run_at(void *code)
{
	void (*f)(void);

	memcpy(&f, &code, sizeof(f));
	f();
	return NULL;
}

static void start(void *code)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_at, code))
		skip("a thread");
}

static void *code_of_nobody(void)
{
	char *p = mmap(NULL, SYNTH_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		skip("memory for code");
	memcpy(p, forever, 2);
	return p;
}

/* The page at an address becomes memory of ours with the same content, which nobody but us could fill in again; we
 * never do. */
static void *own_page(const struct standin *standin, uint64_t address)
{
	uint64_t at = address / SYNTH_PAGE * SYNTH_PAGE;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .range = { at, SYNTH_PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *p = mmap((void *)(uintptr_t)at, SYNTH_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == MAP_FAILED)
		skip("memory");
	memcpy(p, standin->s.byte + (at - SYNTH_BASE), SYNTH_PAGE);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &r) < 0)
		skip("userfaultfd");
	return p;
}

int main(int argc, char **argv)
{
	struct standin j;
	struct blob b;
	sigset_t usr1;
	int sig;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3 || setenv("TMPDIR", argv[1], 1) < 0 || !standin_make(&j, SYNTH_17))
		skip("a file");
	b = method_of(&j);
	if (!b.address)
		skip("no method behind the first page");
	memcpy(j.s.byte + (b.begin + 20 - SYNTH_BASE), forever, 2);
	if (!standin_map(&j))
		skip("code of a file");
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	void *page = strcmp(argv[2], "hang") == 0 ? own_page(&j, b.address) : NULL;
	munmap(j.s.byte, j.s.n); /* one libjvm.so is enough */
	start((void *)(uintptr_t)(b.begin + 20));
	if (page)
		start(code_of_nobody());
	puts("runs");
	sigwait(&usr1, &sig);
	if (!page) {
		pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
		execvp(argv[3], argv + 3);
		skip(argv[3]);
	}
	if (madvise(page, SYNTH_PAGE, MADV_DONTNEED) < 0)
		skip("madvise");
	puts("hangs");
	for (;;)
		pause();
}
