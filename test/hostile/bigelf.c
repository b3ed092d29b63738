/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bigelf.c - the attack on readers of ELF files: headers and sections that cost them far more than they cost the
 * attacker.
 *
 *	bigelf FOLDER
 *		writes one ELF file after the other there, maps its code and runs it, so that profilers read the file
 *	bigelf --steady
 *		the program beside it: a fixed chain of calls (steady_outer, steady_middle, steady_inner)
 *	bigelf --peak COMMAND...
 *		runs a command, then prints one line: its highest resident memory (kB), its CPU time (ms)
 *
 * PJ_SEED chooses order and sizes, PJ_HOSTILE_SECS the duration. Large sections are holes: the files take little
 * disk.
 */
#include "common/base.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { PAGE = 4096, CODE = 1 << 16, DATA = 1 << 17, FUNCTION = 32, SECTIONS_MAX = 65000 };

static uint64_t seed;

static uint64_t vary(uint64_t low, uint64_t high)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return low + (seed >> 33) % (high - low + 1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double duration(void)
{
	const char *text = getenv("PJ_HOSTILE_SECS");

	return text ? strtod(text, NULL) : 20;
}

/* ---- a file in the making ---- */

struct file {
	int fd;
	uint64_t end; /* of what is laid out */
	Elf64_Ehdr header;
	Elf64_Shdr section[64];
	unsigned n;
	char names[1024];
	size_t names_n;
};

static __attribute__((noinline)) void put(const struct file *file, const void *p, size_t n, uint64_t at)
{
	if (pwrite(file->fd, p, n, (off_t)at) != (ssize_t)n)
		exit(1);
}

/* size: as the header claims; n bytes are written, the rest is a hole. Returns the section. */
static Elf64_Shdr *add(struct file *file, const char *name, uint32_t type, uint64_t size, const void *p, size_t n)
{
	Elf64_Shdr *s = &file->section[file->n++];

	*s = (Elf64_Shdr){ .sh_name = (uint32_t)file->names_n,
			   .sh_type = type,
			   .sh_offset = file->end,
			   .sh_addr = file->end,
			   .sh_size = size,
			   .sh_addralign = 8,
			   .sh_flags = SHF_ALLOC };
	file->names_n +=
		(size_t)snprintf(file->names + file->names_n, sizeof(file->names) - file->names_n, "%s", name) + 1;
	if (n)
		put(file, p, n, file->end);
	file->end += (size + 7) & ~UINT64_C(7);
	return s;
}

/* Functions of 32 bytes that count down and return; they keep a frame pointer. */
static void put_code(const struct file *file)
{
	static const unsigned char function[FUNCTION] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9,
							  0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3 };

	for (unsigned at = 0; at < CODE; at += FUNCTION)
		put(file, function, sizeof(function), PAGE + at);
}

static void begin(struct file *file, const char *path)
{
	*file = (struct file){
		.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755), .end = DATA, .n = 1, .names_n = 1
	};
	if (file->fd < 0)
		exit(1);
	put_code(file);
}

static void finish(struct file *file)
{
	Elf64_Phdr segment[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = DATA, .p_memsz = DATA, .p_align = PAGE },
		{ .p_type = PT_NOTE,
		  .p_flags = PF_R,
		  .p_offset = 512,
		  .p_vaddr = 512,
		  .p_filesz = 36,
		  .p_memsz = 36,
		  .p_align = 4 },
	};
	uint32_t note[9] = {
		4, 20, NT_GNU_BUILD_ID, 0x554e47 /* GNU */, (uint32_t)vary(0, UINT32_MAX), (uint32_t)vary(0, UINT32_MAX)
	};
	Elf64_Shdr *names = add(file, ".shstrtab", SHT_STRTAB, sizeof(file->names), file->names, sizeof(file->names));

	put(file, file->names, sizeof(file->names), names->sh_offset);
	file->header =
		(Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(file->header),
			      .e_ehsize = sizeof(file->header),
			      .e_phentsize = sizeof(segment[0]),
			      .e_phnum = 2,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shoff = file->end,
			      .e_shnum = (uint16_t)file->n,
			      .e_shstrndx = (uint16_t)(file->n - 1) };
	put(file, &file->header, sizeof(file->header), 0);
	put(file, segment, sizeof(segment), sizeof(file->header));
	put(file, note, sizeof(note), 512);
	put(file, file->section, file->n * sizeof(file->section[0]), file->end);
}

/* ---- the attacks ---- */

static void sparse_frames(struct file *file)
{
	add(file, ".eh_frame", SHT_PROGBITS, vary(100, 256) << 20, NULL, 0);
	add(file, ".eh_frame_hdr", SHT_PROGBITS, vary(100, 256) << 20, NULL, 0);
	add(file, ".debug_frame", SHT_PROGBITS, vary(100, 256) << 20, NULL, 0);
	add(file, ".plt", SHT_PROGBITS, vary(100, 255) << 20, NULL, 0);
	finish(file);
}

/* A CIE, and FDEs as short as they can be: each costs its reader more than its 13 bytes. */
static void dense_frames(struct file *file)
{
	static const unsigned char cie[] = {
		16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 2, 0, 0, 0
	}; /* pointers of 2 bytes */
	size_t n = (size_t)vary(18, 24) << 20, entry = 13;
	unsigned char *p = calloc(1, n);

	memcpy(p, cie, sizeof(cie));
	for (size_t at = sizeof(cie); at + entry <= n; at += entry) {
		uint32_t head[2] = { 9, (uint32_t)(at + 4) };
		uint16_t code[2] = { (uint16_t)(PAGE + (at * 7919) % CODE), 1 };

		memcpy(p + at, head, sizeof(head));
		memcpy(p + at + 8, code, sizeof(code));
	}
	add(file, ".eh_frame", SHT_PROGBITS, n, p, n)->sh_addr = 0;
	free(p);
	finish(file);
}

/* Each function's FDE has a program of megabytes, which makes a row each second byte; its CIE has an augmentation
 * without end. */
static void long_programs(struct file *file)
{
	size_t n = (size_t)vary(10, 20) << 20, functions = CODE / FUNCTION, table_n = 10 + 8 * functions,
	       name = (size_t)vary(0, 1) * (n / 2);
	unsigned char *p = calloc(1, n), *table = calloc(1, table_n);
	uint32_t cie[2] = { (uint32_t)(name + 28), 0 }, fde[2];
	size_t at = name + 32;

	memcpy(p, cie, sizeof(cie));
	p[8] = 1;
	memset(p + 9, 'z', name + 1);
	memcpy(p + 10 + name, "R\0\1\x78\x10\1\2",
	       8);                              /* zR, alignments 1 and -8, return address, pointers of 2 bytes */
	memcpy(p + 18 + name, "\x0c\7\x08", 3); /* CFA is rsp + 8 */
	fde[0] = (uint32_t)(n - at - 4);
	fde[1] = (uint32_t)(at + 4);
	memcpy(p + at, fde, sizeof(fde));
	memcpy(p + at + 8, (uint16_t[]){ PAGE, CODE - 1 }, 4);
	for (size_t i = at + 13; i + 4 < n; i += 4)
		memcpy(p + i, vary(0, 1) ? "\x16\x03\x01\x30" : "\x0a\x41\x0b\x0a",
		       4);              /* rules for which a row is long; states kept */
	memcpy(table, "\1\3\2\x3b", 4); /* the section's address in 32 bits, the count in 16 */
	memcpy(table + 8, (uint16_t[]){ (uint16_t)functions }, 2);
	for (size_t i = 0; i < functions; i++) { /* all of them lead to the one FDE */
		uint32_t row[2] = { (uint32_t)(PAGE + i * FUNCTION), (uint32_t)at };

		memcpy(table + 10 + 8 * i, row, sizeof(row));
	}
	add(file, ".eh_frame", SHT_PROGBITS, n, p, n)->sh_addr = 0;
	add(file, ".eh_frame_hdr", SHT_PROGBITS, table_n, table, table_n)->sh_addr = 0;
	free(p);
	free(table);
	finish(file);
}

static void compressed(struct file *file)
{
	size_t n = (size_t)vary(100, 400) << 20;
	uLongf packed_n = compressBound(n);
	unsigned char *zeros = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		      *packed = malloc(sizeof(Elf64_Chdr) + packed_n);
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
			    .ch_size = vary(0, 1) ? n : vary(1, 23) << 20,
			    .ch_addralign = 1 };

	compress2(packed + sizeof(head), &packed_n, zeros, n, 1);
	memcpy(packed, &head, sizeof(head));
	for (unsigned i = 0; i < 3; i++)
		add(file,
		    i == 0 ? ".debug_frame" :
		    i == 1 ? ".debug_info" :
			     ".debug_abbrev",
		    SHT_PROGBITS, packed_n + sizeof(head), packed, packed_n + sizeof(head))
			->sh_flags = SHF_COMPRESSED;
	munmap(zeros, n);
	free(packed);
	finish(file);
}

/* Tens of thousands of sections over the same bytes, which all have to be read: notes, names, tables. */
static void many_sections(struct file *file)
{
	static const char *const name[] = { ".note.x", ".rela.dyn", ".eh_frame", ".plt", ".debug_info" };
	uint64_t note = DATA, text = note + (1 << 20), table;
	uint32_t type = vary(0, 2) ? SHT_NOTE : SHT_PROGBITS;
	unsigned n = (unsigned)vary(16000, SECTIONS_MAX), kind = (unsigned)vary(0, countof(name) - 1);
	Elf64_Shdr *s = calloc(n, sizeof(*s));
	char *names = malloc(1 << 20);

	finish(file);
	memset(names, 'n', 1 << 20);
	names[0] = 0;
	memcpy(names + 1, name[kind], strlen(name[kind]) + 1);
	put(file, names, 1 << 20, text);
	table = text + (1 << 20);
	for (unsigned i = 1; i < n; i++)
		s[i] = (Elf64_Shdr){
			.sh_name = vary(0, 1) ? 1 : 64, .sh_type = type, .sh_offset = note, .sh_size = 1 << 20
		};
	s[1] = (Elf64_Shdr){ .sh_name = 1 << 19, .sh_type = SHT_STRTAB, .sh_offset = text, .sh_size = 1 << 20 };
	put(file, s, n * sizeof(*s), table);
	file->header.e_shoff = table;
	file->header.e_shnum = (uint16_t)n;
	file->header.e_shstrndx = 1;
	put(file, &file->header, sizeof(file->header), 0);
	free(s);
	free(names);
}

static void sparse_symbols(struct file *file)
{
	static const char *const table[] = { ".symtab", ".dynsym" }, *const text[] = { ".strtab", ".dynstr" };

	for (unsigned i = 0; i < 2; i++) {
		Elf64_Shdr *s = add(file, table[i], i ? SHT_DYNSYM : SHT_SYMTAB, vary(200, 500) << 20, NULL, 0);

		s->sh_entsize = sizeof(Elf64_Sym);
		s->sh_link = file->n;
		add(file, text[i], SHT_STRTAB, vary(100, 500) << 20, NULL, 0);
	}
	finish(file);
}

/* For those who look for inlined functions. */
static void sparse_debug(struct file *file)
{
	unsigned char unit[11] = { 0xff, 0xff, 0xff, 0x0f, 4, 0, 0, 0, 0, 0, 8 };
	static const unsigned char abbrev[] = { 1, 0x11, 0, 0, 0, 0 };

	add(file, ".debug_info", SHT_PROGBITS, vary(600, 1500) << 20, unit, sizeof(unit))->sh_flags = 0;
	add(file, ".debug_abbrev", SHT_PROGBITS, vary(1, 200) << 20, abbrev, sizeof(abbrev))->sh_flags = 0;
	add(file, ".debug_str", SHT_PROGBITS, vary(1, 300) << 20, NULL, 0)->sh_flags = 0;
	finish(file);
}

/* All the time while others read it: sizes, the number of sections, where that number is found. */
static pid_t flipping;

static void flipped(struct file *file)
{
	Elf64_Ehdr other;
	Elf64_Shdr small, large;
	uint64_t at;

	add(file, ".eh_frame", SHT_PROGBITS, PAGE, NULL, 0);
	finish(file);
	at = file->end + sizeof(Elf64_Shdr);
	if (ftruncate(file->fd, (off_t)8 << 30) < 0)
		exit(1);
	small = large = file->section[1];
	large.sh_size = vary(200, 4000) << 20;
	file->section[0].sh_size = vary(1, 60) << 20; /* sections, where the header counts none */
	put(file, &file->section[0], sizeof(file->section[0]), file->end);
	other = file->header;
	other.e_shnum = 0;
	flipping = fork();
	while (flipping == 0) {
		put(file, vary(0, 1) ? &file->header : &other, sizeof(other), 0);
		put(file, vary(0, 1) ? &small : &large, sizeof(small), at);
	}
}

static void (*const attacks[])(struct file *file) = {
	sparse_frames, dense_frames, long_programs, compressed, many_sections, sparse_symbols, sparse_debug, flipped,
};

/* ---- running ---- */

static void run_code(const struct file *file, double until)
{
	const char *code = mmap(NULL, DATA, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
	void (*function)(uint64_t count);

	if (code == MAP_FAILED)
		exit(1);
	do {
		for (unsigned at = 0; at < CODE; at += FUNCTION) {
			const char *p = code + PAGE + at;

			memcpy(&function, &p, sizeof(function));
			function(20000);
		}
	} while (now() < until);
}

static int attack_all(const char *folder)
{
	enum { ROUNDS = 6 }; /* chance decides who reads which half of a file that changes: it gets as many tries */
	unsigned first = (unsigned)vary(0, countof(attacks) - 1), all = countof(attacks) - 1 + ROUNDS;
	double start = now();

	for (unsigned i = 0; i < all; i++) {
		unsigned which = (first + i) % all;
		struct file f;
		char path[4096];

		snprintf(path, sizeof(path), "%s/big%u.so", folder, which);
		begin(&f, path);
		attacks[which < countof(attacks) ? which : countof(attacks) - 1](&f);
		printf("%s\n", path);
		fflush(stdout);
		run_code(&f, start + duration() * (i + 1) / all);
		if (flipping)
			kill(flipping, SIGKILL);
		flipping = 0;
		close(f.fd);
	}
	return 0;
}

static volatile uint64_t steady_sum;

static __attribute__((noinline)) void steady_inner(void)
{
	for (unsigned i = 0; i < 1000000; i++)
		steady_sum += i;
}

static __attribute__((noinline)) void steady_middle(void)
{
	steady_inner();
	steady_sum++;
}

static __attribute__((noinline)) void steady_outer(void)
{
	steady_middle();
	steady_sum++;
}

static int steady(void)
{
	for (double until = now() + 10 * duration(); now() < until;)
		steady_outer();
	return 0;
}

static int peak(char **command)
{
	struct rusage u;
	pid_t child = fork();
	int status;

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (wait4(child, &status, 0, &u) != child)
		return 1;
	printf("%ld %ld\n", u.ru_maxrss,
	       (long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
		       (long)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *text = getenv("PJ_SEED");

	seed = text ? strtoull(text, NULL, 10) : 1;
	vary(0, 1);
	if (argc == 2 && strcmp(argv[1], "--steady") == 0)
		return steady();
	if (argc > 2 && strcmp(argv[1], "--peak") == 0)
		return peak(argv + 2);
	return argc == 2 ? attack_all(argv[1]) : 2;
}
