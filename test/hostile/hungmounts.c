/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hungmounts.c - the attack on helper processes: FUSE file systems that serve a program until it runs, and then do
 * not answer.
 *
 *	hungmounts FOLDER MOUNTS SECONDS FUSE
 *
 * In a mount namespace of its own (as another user than root: in a user namespace of its own, too) it mounts file
 * systems below FOLDER, maps code of a file of each, and runs it as uid 65534. A process that looks a file up, reads
 * its attributes, opens or reads it (PJ_SEED chooses, for each mount) waits until the servers end, after SECONDS.
 * FUSE: the device, /dev/fuse or a copy of it.
 */
#include "common/base.h"
#include "fuse.h"

#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
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
#include <time.h>
#include <unistd.h>

enum { ROOT_INODE = 1, FILE_INODE = 2, PAGE = 4096, FILE_SIZE = 1 << 20, ATTACKER = 65534 };

static unsigned char image[FILE_SIZE]; /* an ELF file: a segment of code, and call frame information far behind it */
static unsigned hung;                  /* request that is not answered any more; 0: all are */

/* ---- the file ---- */

static void make_image(void)
{
	static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9,
					      0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3 };
	static const char names[] = "\0.eh_frame\0.shstrtab";
	Elf64_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shoff = FILE_SIZE - PAGE,
			 .e_shnum = 3,
			 .e_shstrndx = 2 };
	Elf64_Phdr p = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 2 * PAGE, .p_memsz = 2 * PAGE, .p_align = PAGE
	};
	Elf64_Shdr s[3] = { { 0 },
			    { .sh_name = 1,
			      .sh_type = SHT_PROGBITS,
			      .sh_offset = FILE_SIZE / 2,
			      .sh_size = PAGE,
			      .sh_addralign = 8 },
			    { .sh_name = 11,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = FILE_SIZE / 4,
			      .sh_size = sizeof(names),
			      .sh_addralign = 1 } };

	memcpy(image, &h, sizeof(h));
	memcpy(image + sizeof(h), &p, sizeof(p));
	memcpy(image + PAGE, spin, sizeof(spin));
	memcpy(image + FILE_SIZE / 4, names, sizeof(names));
	memcpy(image + FILE_SIZE - PAGE, s, sizeof(s));
}

/* ---- the server ---- */

static struct fuse_attr attributes(uint64_t inode)
{
	bool file = inode == FILE_INODE;

	return (struct fuse_attr){ .ino = inode,
				   .size = file ? FILE_SIZE : 0,
				   .nlink = 1,
				   .mode = file ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .uid = ATTACKER,
				   .gid = ATTACKER };
}

/* Entries and attributes expire at once, so that each look-up comes here. */
static void serve_request(int fd, const struct fuse_in_header *header, const void *body)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = PAGE, .max_readahead = 0 };
	struct fuse_attr_out attr = { .attr = attributes(header->nodeid) };
	struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_entry_out entry = { .nodeid = FILE_INODE, .attr = attributes(FILE_INODE) };
	const struct fuse_read_in *r = body;
	uint64_t at = header->opcode == FUSE_READ && r->offset < FILE_SIZE ? r->offset : FILE_SIZE;

	if (hung && header->opcode == hung)
		return;
	if (header->opcode == FUSE_INIT)
		fuse_answer(fd, header, 0, &init, sizeof(init));
	else if (header->opcode == FUSE_LOOKUP)
		fuse_answer(fd, header, strcmp(body, "prog") == 0 ? 0 : -2, &entry,
			    strcmp(body, "prog") == 0 ? sizeof(entry) : 0);
	else if (header->opcode == FUSE_GETATTR)
		fuse_answer(fd, header, 0, &attr, sizeof(attr));
	else if (header->opcode == FUSE_OPEN || header->opcode == FUSE_OPENDIR)
		fuse_answer(fd, header, 0, &opened, sizeof(opened));
	else if (header->opcode == FUSE_READ)
		fuse_answer(fd, header, 0, image + at, r->size < FILE_SIZE - at ? r->size : FILE_SIZE - at);
	else if (header->opcode == FUSE_RELEASE || header->opcode == FUSE_FLUSH || header->opcode == FUSE_ACCESS)
		fuse_answer(fd, header, 0, NULL, 0);
	else if (header->opcode != FUSE_FORGET && header->opcode != FUSE_BATCH_FORGET &&
		 header->opcode != FUSE_INTERRUPT)
		fuse_answer(fd, header, -38, NULL, 0);
}

static void serve(int fd, int mapped, unsigned request)
{
	static char buf[1 << 17] __attribute__((aligned(8)));
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = mapped, .events = POLLIN } };

	while (poll(p, 2, -1) >= 0) {
		if (p[1].revents) { /* its code is mapped */
			hung = request;
			p[1].fd = -1;
		}
		if (!p[0].revents)
			continue;
		if (read(fd, buf, sizeof(buf)) < (ssize_t)sizeof(struct fuse_in_header))
			return;
		serve_request(fd, (struct fuse_in_header *)(void *)buf, buf + sizeof(struct fuse_in_header));
	}
}

/* ---- the program ---- */

static void run_code(const char *path, int mapped, unsigned seconds)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *code = fd < 0 ? MAP_FAILED :
				    mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_POPULATE, fd, 0),
		   *at = code + PAGE;
	void (*spin)(uint64_t count);
	struct timespec pause = { .tv_nsec = 20000000 };
	time_t until = time(NULL) + seconds;

	if (code == MAP_FAILED)
		_exit(1);
	memcpy(&spin, &at, sizeof(spin));
	spin(1000);
	printf("running %s\n", path);
	fflush(stdout);
	if (write(mapped, "x", 1) != 1)
		_exit(1);
	while (time(NULL) < until) {
		spin(3000000);
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static void enter_namespaces(void)
{
	char map[64];
	bool root = geteuid() == 0;

	snprintf(map, sizeof(map), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	if (unshare(root ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		perror("unshare");
		exit(3);
	}
	if (!root) {
		write_text("/proc/self/setgroups", "deny");
		write_text("/proc/self/uid_map", map);
		write_text("/proc/self/gid_map", map);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		exit(3);
}

static void become_attacker(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(ATTACKER, ATTACKER, ATTACKER) < 0 ||
			       setresuid(ATTACKER, ATTACKER, ATTACKER) < 0))
		exit(3);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void start_mount(const char *folder, const char *device, unsigned request, unsigned seconds)
{
	int fd = open(device, O_RDWR | O_CLOEXEC), mapped[2];
	char options[128], path[4200];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u,allow_other", fd,
		 (unsigned)geteuid(), (unsigned)getegid());
	if (fd < 0 || mkdir(folder, 0755) < 0 || mount("hung", folder, "fuse", MS_NODEV | MS_NOSUID, options) < 0 ||
	    pipe(mapped) < 0) {
		perror(folder);
		exit(3);
	}
	if (fork() == 0) {
		become_attacker();
		close(mapped[1]);
		serve(fd, mapped[0], request);
		_exit(0);
	}
	close(fd);
	if (fork() == 0) {
		become_attacker();
		snprintf(path, sizeof(path), "%s/prog", folder);
		run_code(path, mapped[1], seconds);
	}
	close(mapped[0]);
	close(mapped[1]);
}

int main(int argc, char **argv)
{
	static const unsigned requests[] = { FUSE_LOOKUP, FUSE_GETATTR, FUSE_OPEN, FUSE_READ };
	unsigned seed = (unsigned)strtoul(getenv("PJ_SEED") ? getenv("PJ_SEED") : "1", NULL, 10), mounts, seconds;

	if (argc != 5)
		return 2;
	mounts = (unsigned)strtoul(argv[2], NULL, 10);
	seconds = (unsigned)strtoul(argv[3], NULL, 10);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make_image();
	enter_namespaces();
	for (unsigned i = 0; i < mounts; i++) {
		char folder[4096];

		snprintf(folder, sizeof(folder), "%s/mount%u", argv[1], i);
		start_mount(folder, argv[4], requests[(seed + i) % countof(requests)], seconds);
	}
	sleep(seconds);
	return 0; /* the servers die with us, and with them all that waits */
}
