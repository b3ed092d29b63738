/*
 * fusehang - a FUSE server that serves one program, runs it, and then stops answering.
 *
 * usage: fusehang FOLDER STAGE: root mounts a FUSE file system at FOLDER (of this mount namespace, allow_other),
 * becomes uid 65534, runs FOLDER/SEED/prog (a copy of this file) and prints "ready PID". From then on the server stops
 * answering at STAGE: "lookup" (any path below FOLDER blocks), "getattr", "open" or "read"; what comes before that in
 * an open is answered. The mounted program uses CPU. PJ_SEED varies names and the size of the file. Ends when its
 * standard input ends.
 */
#include "common/base.h"
#include "fuse.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT_INODE = 1, FOLDER_INODE, PROGRAM_INODE };

static char *image;
static size_t image_bytes;
static char folder_name[32];
static bool stopped; /* the program runs: `stage` is not answered any more */
static unsigned stage;

static struct fuse_attr attr_of(uint64_t inode)
{
	bool program = inode == PROGRAM_INODE;

	return (struct fuse_attr){ .ino = inode,
				   .size = program ? image_bytes : 0,
				   .blocks = image_bytes / 512,
				   .nlink = 1,
				   .mode = program ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .uid = 65534,
				   .gid = 65534 };
}

/* Entries and attributes expire at once, so that each path walk asks the server; before the stage that is not answered
 * they do not. */
static void on_lookup(int fd, const struct fuse_in_header *header, const char *name)
{
	uint64_t inode = header->nodeid == ROOT_INODE && strcmp(name, folder_name) == 0 ? FOLDER_INODE :
			 header->nodeid == FOLDER_INODE && strcmp(name, "prog") == 0    ? PROGRAM_INODE :
											  0;
	struct fuse_entry_out entry = { .nodeid = inode, .attr = attr_of(inode) };

	fuse_answer(fd, header, inode ? 0 : -2, &entry, inode ? sizeof(entry) : 0);
}

static void on_read(int fd, const struct fuse_in_header *header, const struct fuse_read_in *r)
{
	size_t from = r->offset < image_bytes ? (size_t)r->offset : image_bytes, n = image_bytes - from;

	fuse_answer(fd, header, 0, image + from, n < r->size ? n : r->size);
}

static void on_request(int fd, const struct fuse_in_header *header, const void *body)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096, .max_readahead = 65536 };
	struct fuse_attr_out attr = { .attr = attr_of(header->nodeid) };
	struct fuse_open_out opened = { .open_flags = 0 };

	if (stopped && header->opcode == stage)
		return;
	switch (header->opcode) {
	case FUSE_INIT: fuse_answer(fd, header, 0, &init, sizeof(init)); break;
	case FUSE_LOOKUP: on_lookup(fd, header, body); break;
	case FUSE_GETATTR: fuse_answer(fd, header, 0, &attr, sizeof(attr)); break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: fuse_answer(fd, header, 0, &opened, sizeof(opened)); break;
	case FUSE_READ: on_read(fd, header, body); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
	case FUSE_DESTROY: fuse_answer(fd, header, 0, NULL, 0); break;
	default: fuse_answer(fd, header, -38, NULL, 0);
	}
}

static void serve(int fd, int program)
{
	static char buf[1 << 17] __attribute__((aligned(8)));
	struct pollfd p[3] = { { .fd = fd, .events = POLLIN },
			       { .fd = program, .events = POLLIN },
			       { .fd = 0, .events = POLLIN } };
	char byte;

	while (poll(p, 3, -1) >= 0) {
		if (p[2].revents && read(0, &byte, 1) <= 0)
			return;
		if (p[1].revents) { /* the program runs */
			stopped = true;
			p[1].fd = -1;
		}
		if (p[0].revents) {
			ssize_t n = read(fd, buf, sizeof(buf));

			if (n < (ssize_t)sizeof(struct fuse_in_header))
				return;
			on_request(fd, (struct fuse_in_header *)(void *)buf, buf + sizeof(struct fuse_in_header));
		}
	}
}

static void burn(int ready)
{
	/* as a JIT has it: then pjrecord --check looks for a map in /tmp */
	if (mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (volatile uint64_t i = 0;; i++) {
		if (i == 50000000 && write(ready, "x", 1) < 0) /* all pages that are needed are there */
			return;
	}
}

static void load_image(unsigned seed)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		exit(1);
	image_bytes = (size_t)st.st_size + seed % 100000;
	image = calloc(1, image_bytes);
	if (!image || read(fd, image, (size_t)st.st_size) != st.st_size)
		exit(1);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned seed = (unsigned)strtoul(getenv("PJ_SEED") ? getenv("PJ_SEED") : "1", NULL, 10);
	char options[128], path[4096];
	int fd, ready[2];
	pid_t pid;

	if (argc == 2 && strcmp(argv[1], "burn") == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		burn(9);
		return 0;
	}
	if (argc != 3)
		return 2;
	stage = strcmp(argv[2], "lookup") == 0  ? FUSE_LOOKUP :
		strcmp(argv[2], "getattr") == 0 ? FUSE_GETATTR :
		strcmp(argv[2], "open") == 0    ? FUSE_OPEN :
						  FUSE_READ;
	snprintf(folder_name, sizeof(folder_name), "f%u", seed);
	load_image(seed);
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=65534,group_id=65534,allow_other,default_permissions", fd);
	if (fd < 0 || mount("fusehang", argv[1], "fuse.fusehang", MS_NODEV | MS_NOSUID, options) < 0) {
		perror("fusehang: mount");
		return 3;
	}
	if (pipe(ready) < 0 || setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/%s/prog", argv[1], folder_name);
	pid = fork();
	if (pid == 0) {
		close(0);
		dup2(ready[1], 9);
		execl(path, "prog", "burn", (char *)NULL);
		_exit(127);
	}
	serve(fd, ready[0]);
	kill(pid, SIGKILL);
	return 0;
}
