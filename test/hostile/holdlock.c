/*
 * holdlock - a process whose mappings cannot be read: one of its threads waits for ever while it holds the lock of the
 * address space.
 *
 * In a user and mount namespace of its own it serves a FUSE file system. Thread A touches a page of a file there; the
 * server never answers the read, so the page stays locked. Thread B maps the same file, opened for direct I/O, over
 * code of this program (MAP_FIXED): the kernel takes the lock of the address space for writing, then waits for that
 * page. From then on readers of /proc/PID/maps, cmdline, environ, mem and map_files wait; SIGKILL alone ends them.
 * Prints "ready PID" and uses CPU. PJ_SEED varies sizes and addresses.
 *
 * A second process shares the address space (CLONE_VM). It maps a file named libjvm.so, runs for a moment in code that
 * no file has, as that of a JIT, and calls exec(), which waits for the same lock while it holds another one: of this
 * process, even opening maps and mem waits. Prints "exec PID".
 *
 * usage: holdlock FUSE FOLDER LIBRARY [N [fresh]]: N such pairs, 1 as a rule. FUSE: the device, /dev/fuse or a copy of
 * it. FOLDER is empty, LIBRARY is a file named libjvm.so. Ends when its standard input ends.
 *
 * fresh: thread B maps the file at an unused address, and there is no second process. Then no mapping is locked, and
 * since Linux 6.17 maps can be read, while all that need the lock of the address space wait, as map_files and cmdline.
 */
#include "attack.h"
#include "common/base.h"
#include "fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_INODE = 2 };

static unsigned seed, opens;
static bool fresh; /* see usage */
static size_t file_bytes;
static unsigned *reads; /* shared by all processes: reads that are not answered */

/* ---- the server ------------------------------------------------------------------------------------------------- */

static struct fuse_attr attr_of(uint64_t inode)
{
	return (struct fuse_attr){ .ino = inode,
				   .size = inode == FUSE_ROOT_ID ? 0 : file_bytes,
				   .nlink = 1,
				   .mode = inode == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755 };
}

/* The first of each two opens of a file goes through the page cache, the second does not. */
static void on_request(int fd, const struct fuse_in_header *header)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096, .max_readahead = 65536 };
	struct fuse_entry_out entry = { .nodeid = FILE_INODE + opens / 2, .entry_valid = 3600, .attr_valid = 3600 };
	struct fuse_attr_out attr = { .attr = attr_of(header->nodeid), .attr_valid = 3600 };
	struct fuse_open_out opened = { .open_flags = header->opcode == FUSE_OPEN && opens % 2 ? FOPEN_DIRECT_IO : 0 };

	switch (header->opcode) {
	case FUSE_INIT: fuse_answer(fd, header, 0, &init, sizeof(init)); break;
	case FUSE_LOOKUP:
		entry.attr = attr_of(entry.nodeid);
		fuse_answer(fd, header, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR: fuse_answer(fd, header, 0, &attr, sizeof(attr)); break;
	case FUSE_OPEN:
		opens++;
		fuse_answer(fd, header, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ: /* never answered */ __atomic_add_fetch(reads, 1, __ATOMIC_RELEASE); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	case FUSE_OPENDIR:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
		fuse_answer(fd, header, 0, &opened, header->opcode == FUSE_OPENDIR ? sizeof(opened) : 0);
		break;
	default: fuse_answer(fd, header, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd)
{
	static char buf[1 << 17] __attribute__((aligned(8)));
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
	char byte;

	while (poll(p, 2, -1) >= 0) {
		if (p[1].revents && read(0, &byte, 1) <= 0)
			return;
		if (p[0].revents && read(fd, buf, sizeof(buf)) >= (ssize_t)sizeof(struct fuse_in_header))
			on_request(fd, (struct fuse_in_header *)(void *)buf);
	}
}

/* ---- the process ------------------------------------------------------------------------------------------------ */

struct both {
	char *cached; /* the file, through the page cache */
	int direct;   /* the file, opened for direct I/O */
	char *over;   /* memory that it is mapped over; NULL: none */
	const char *library;
	bool held; /* thread B is about to take the lock */
};

static void *touch(void *arg)
{
	const struct both *b = arg;

	return (void *)(uintptr_t) * (volatile char *)b->cached;
}

static void *map_over(void *arg)
{
	struct both *b = arg;

	__atomic_store_n(&b->held, true, __ATOMIC_RELEASE);
	return mmap(b->over, PAGE, PROT_READ, MAP_PRIVATE | (b->over ? MAP_FIXED : 0), b->direct, 0);
}

/* Runs in a process that shares the address space of `hold`. */
static int exec_in_vain(void *arg)
{
	const struct both *b = arg;
	char *code = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int library = open(b->library, O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (code == MAP_FAILED || mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, library, 0) == MAP_FAILED)
		_exit(1);
	memcpy(code + 64 * (seed % 1000), "\xb9\x00\x00\x00\x08\xff\xc9\x75\xfc\xc3",
	       10); /* mov $0x8000000,%ecx; 1: dec %ecx; jnz 1b; ret */
	((void (*)(void))(uintptr_t)(code + 64 * (seed % 1000)))();
	while (!__atomic_load_n(&b->held, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(200000);
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

static void hold(const char *path, const char *library, unsigned number)
{
	static struct both b;
	size_t pages = 2 + seed % 30;
	int cached = open(path, O_RDONLY);
	static char stack[1 << 16] __attribute__((aligned(16)));
	pthread_t a, c;

	b.library = library;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	b.direct = open(path, O_RDONLY);
	b.cached = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, cached, 0);
	b.over = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (cached < 0 || b.direct < 0 || b.cached == MAP_FAILED || b.over == MAP_FAILED)
		_exit(1);
	b.over = fresh ? NULL : b.over + seed % pages * PAGE;
	if (!fresh)
		printf("exec %d\n", clone(exec_in_vain, stack + sizeof(stack), CLONE_VM | SIGCHLD, &b));
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	pthread_create(&a, NULL, touch, &b);
	while (__atomic_load_n(reads, __ATOMIC_ACQUIRE) <= number)
		usleep(1000);
	usleep(20000 + seed % 7 * 30000);
	pthread_create(&c, NULL, map_over, &b);
	for (volatile uint64_t i = 0;; i++)
		continue;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
	char options[128], path[4096];
	int fd;

	if (argc < 4)
		return 2;
	fresh = argc > 5;
	seed = (unsigned)strtoul(getenv("PJ_SEED") ? getenv("PJ_SEED") : "1", NULL, 10);
	reads = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	file_bytes = (1 + seed % 64) * PAGE;
	enter_user_namespace(0, 0);
	fd = open(argv[1], O_RDWR | O_CLOEXEC | O_NONBLOCK);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("holdlock", argv[2], "fuse.holdlock", MS_NODEV | MS_NOSUID, options) < 0) {
		perror("holdlock: mount");
		return 3;
	}
	for (unsigned i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/file%u", argv[2], i);
		if (fork() == 0) {
			while (__atomic_load_n(reads, __ATOMIC_ACQUIRE) <
			       i) /* one after the other: the server counts opens */
				usleep(1000);
			close(0);
			close(fd);
			hold(path, argv[3], i);
		}
	}
	serve(fd);
	kill(0, SIGKILL);
	return 0;
}
