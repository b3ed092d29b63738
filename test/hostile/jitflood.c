/*
 * jitflood - fills the files that pjrecord saves for pjfold.
 *
 *	jitflood sparse PROCESSES
 *		jitdumps with records that are holes, of 1 to 250 MB each
 *	jitflood tiny PROCESSES
 *		jitdumps of a million records of 16 bytes
 *	jitflood grow PROCESSES
 *		jitdumps that grow as fast as they are written, up to 48 MB, and are truncated and renamed meanwhile
 *	jitflood many PROCESSES
 *		processes that live for a moment, each with a jitdump and a map
 *	jitflood ids PROCESSES
 *		programs of 1 MB of symbols each, run for a moment, each with a build-id of its own
 *
 * The dumps are those of processes in a mount namespace of their own: pjrecord copies no others by default. All
 * files are deleted as soon as their process ended. PJ_SEED varies sizes, order and pauses. Ends after
 * PJ_HOSTILE_SECS + 10 seconds, or with its parent.
 */
#include "attack.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
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

#define MB ((uint64_t)1 << 20)
#define SYMBOLS 20000u
#define NAME 28u /* bytes of one, with its end */

static void pause_ms(uint64_t ms)
{
	struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- jitdumps ---------------------------------------------------------------------------------------------------- */

/* In code that no file has, so that there are samples of it. */
static void burn(uint64_t ms)
{
	static void (*code)(void);
	struct timespec now, end;

	if (!code) {
		unsigned char *page =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		/* mov $1000000,%ecx; dec %ecx; jnz; ret */
		memcpy(page, "\xb9\x40\x42\x0f\x00\xff\xc9\x75\xfc\xc3", 10);
		memcpy(&code, &page, sizeof(code));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	do {
		code();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((uint64_t)(now.tv_sec - end.tv_sec) * 1000 + (uint64_t)(now.tv_nsec / 1000000) -
			 (uint64_t)(end.tv_nsec / 1000000) <
		 ms);
}

static int begin_dump(char path[64])
{
	uint32_t header[10] = { 0x4A695444, 1, sizeof(header), EM_X86_64, 0, (uint32_t)getpid() };
	int fd;

	snprintf(path, 64, "jit-%d.dump", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, header, sizeof(header)) < 0 || ftruncate(fd, 4096) < 0 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	if (ftruncate(fd, sizeof(header)) < 0)
		exit(1);
	return fd;
}

/* A record that claims `size` bytes, of which it has what the file has there. */
static void put_record(int fd, uint64_t at, uint32_t size)
{
	uint32_t head[4] = { 0, size, 1, 0 };

	if (pwrite(fd, head, size < sizeof(head) ? size : sizeof(head), (off_t)at) < 0)
		exit(1);
}

static void sparse(int fd)
{
	for (uint64_t at = 40, size; at < 250 * MB; at += size) {
		size = random_u64() % 3 ? MB + random_u64() % (12 * MB) : 250 * MB;
		put_record(fd, at, (uint32_t)size);
		if (ftruncate(fd, (off_t)(at + size)) < 0)
			exit(1);
	}
}

static void tiny(int fd)
{
	static uint32_t block[65536][4];

	for (size_t i = 0; i < 65536; i++)
		block[i][0] = 3, block[i][1] = 16;
	for (unsigned i = 0; i < 16 + random_u64() % 4; i++)
		if (pwrite(fd, block, sizeof(block), (off_t)(40 + i * sizeof(block))) < 0)
			exit(1);
}

static void grow(int fd, const char *path)
{
	static char block[1 << 16];
	uint64_t at = 40;
	char other[80];

	snprintf(other, sizeof(other), "%s.moved", path);
	memset(block, 1, sizeof(block));
	while (at < 48 * MB) {
		uint32_t size = 64 + (uint32_t)(random_u64() % (sizeof(block) - 64));

		if (pwrite(fd, block, size, (off_t)at) < 0)
			exit(1);
		put_record(fd, at, size);
		at += size;
		if (random_u64() % 256 == 0)
			burn(1);
		if (random_u64() % 4096 == 0 && rename(path, other) < 0 && rename(other, path) < 0)
			perror(path);
	}
	burn(1000);
	if (random_u64() % 2 && ftruncate(fd, (off_t)(random_u64() % at)) < 0)
		exit(1);
	unlink(other);
}

static void dump(const char *kind)
{
	char path[64], map[64];
	int fd = begin_dump(path);

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	if (strcmp(kind, "sparse") == 0) {
		sparse(fd);
	} else if (strcmp(kind, "tiny") == 0) {
		tiny(fd);
	} else if (strcmp(kind, "many") == 0) {
		int of_map = open(map, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

		put_record(fd, 40, 16);
		if (of_map >= 0 && write(of_map, "1000 10 a\n", 10) == 10)
			close(of_map);
	}
	if (strcmp(kind, "grow") == 0)
		grow(fd, path);
	else if (strcmp(kind, "many") == 0)
		burn(20 + random_u64() % 40);
	else
		burn(1000 + random_u64() % 2000);
	unlink(path);
	unlink(map);
}

/* ---- build-ids --------------------------------------------------------------------------------------------------- */

/* A program that loops, with many symbols and a build-id of its own; it ends by RLIMIT_CPU or by us. */
static void write_program(const char *path)
{
	static struct {
		Elf64_Ehdr h;
		Elf64_Phdr p[2];
		Elf64_Shdr s[4];
		uint32_t note[4];
		unsigned char id[20], code[4];
		char section_names[28];
		Elf64_Sym symbol[SYMBOLS];
		char name[SYMBOLS * NAME];
	} f;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

#define AT(field) ((uint64_t)((char *)&f.field - (char *)&f))
	memset(&f, 0, sizeof(f));
	f.h = (Elf64_Ehdr){ .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = 1,
			    .e_entry = 0x400000 + AT(code),
			    .e_phoff = AT(p),
			    .e_shoff = AT(s),
			    .e_ehsize = sizeof(f.h),
			    .e_phentsize = sizeof(f.p[0]),
			    .e_phnum = 2,
			    .e_shentsize = sizeof(f.s[0]),
			    .e_shnum = 4,
			    .e_shstrndx = 3 };
	memcpy(f.h.e_ident, "\177ELF\2\1\1", 7);
	f.p[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0, 0x400000, 0x400000, sizeof(f), sizeof(f), 4096 };
	f.p[1] = (Elf64_Phdr){ PT_NOTE, PF_R, AT(note), 0x400000 + AT(note), 0x400000 + AT(note), 36, 36, 4 };
	memcpy(f.note, (uint32_t[]){ 4, 20, 3, 0x554e47 }, sizeof(f.note));
	for (size_t i = 0; i < sizeof(f.id); i++)
		f.id[i] = (unsigned char)random_u64();
	memcpy(f.code, "\xeb\xfe", 2); /* jmp . */
	memcpy(f.section_names, "\0.symtab\0.strtab\0.shstrtab", 27);
	f.s[1] = (Elf64_Shdr){ 1, SHT_SYMTAB, 0, 0, AT(symbol), sizeof(f.symbol), 2, 1, 8, sizeof(f.symbol[0]) };
	f.s[2] = (Elf64_Shdr){ 9, SHT_STRTAB, 0, 0, AT(name), sizeof(f.name), 0, 0, 1, 0 };
	f.s[3] = (Elf64_Shdr){ 17, SHT_STRTAB, 0, 0, AT(section_names), sizeof(f.section_names), 0, 0, 1, 0 };
	for (unsigned i = 1; i < SYMBOLS; i++) {
		f.symbol[i] =
			(Elf64_Sym){ i * NAME, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x400000 + AT(code) + i, 1 };
		snprintf(f.name + i * NAME, NAME, "evict_%05u_%012llx", i,
			 (unsigned long long)random_u64() & 0xffffffffffff);
	}
	if (fd < 0 || write(fd, &f, sizeof(f)) != (ssize_t)sizeof(f)) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void run_program(void)
{
	char path[64];
	pid_t child;

	snprintf(path, sizeof(path), "id-%d-%llx", (int)getpid(), (unsigned long long)random_u64() & 0xffffffffffff);
	write_program(path);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, (char *)NULL);
		_exit(1);
	}
	pause_ms(60 + random_u64() % 60);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
}

/* ---- main -------------------------------------------------------------------------------------------------------- */

static void flood(const char *kind, unsigned number)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	random_state += number * 0x9e3779b97f4a7c15;
	for (unsigned i = 0; i < 3; i++)
		random_u64();
	for (;;) {
		uint64_t seed = random_u64();
		pid_t child;

		if (strcmp(kind, "ids") == 0) {
			run_program();
			continue;
		}
		child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			random_state = seed;
			dump(kind);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED"), *secs = getenv("PJ_HOSTILE_SECS");
	unsigned processes = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (processes == 0 || processes > 16)
		return 2;
	random_state = 0x2545f4914f6cdd1d ^ (seed ? strtoull(seed, NULL, 10) * 0x9e3779b97f4a7c15 : 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(argv[1], "ids") != 0)
		enter_user_namespace(geteuid(), getegid());
	for (unsigned i = 0; i < processes; i++)
		if (fork() == 0)
			flood(argv[1], i);
	sleep((secs ? (unsigned)atoi(secs) : 20) + 10);
	return 0;
}
