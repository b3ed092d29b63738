/*
 * jit none|map|dump MS: generated code without frame pointers in the middle of its stacks: main calls outer, which
 * calls the code, which calls inner, which takes MS ms of CPU time. The code is CPython's trampoline
 * (Python/asm_trampoline.S of 3.13): sub $8, %rsp; call *%rdi; add $8, %rsp; ret.
 *
 * map: its name is in /tmp/perf-PID.map. dump: name and unwind table are in jit-PID.dump in the current folder
 * (tools/perf/Documentation/jitdump-specification.txt), as CPython -X perf_jit writes them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODES = 64, STRIDE = 16 };
static const uint8_t code[] = "\x48\x83\xec\x08\xff\xd7\x48\x83\xc4\x08\xc3";
enum { CODE = sizeof(code) - 1, AFTER = (CODE + 7) / 8 * 8 };

/* The section behind the code, at AFTER: a CIE and an FDE; then 20 bytes of .eh_frame_hdr, which perf wants. */
static const uint8_t frames[] = "\x14\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0"
				"\x18\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0\0\0\0\0"
				"\0\0\0\0"
				"\1\x1b\3\x3b\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0";
enum { FRAMES = sizeof(frames) - 1, HEADER = 20 };

static volatile unsigned long sum;
static clock_t until;

__attribute__((noinline)) static void inner(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 200;

	while (clock() < end && clock() < until)
		for (unsigned long i = 0; i < 1000000; i++)
			sum += i * i;
}

/* Keeps a value in rbp over the call, as compilers do, so that frame pointers lead nowhere. */
__attribute__((noinline)) static void outer(void (*trampoline)(void (*)(void)))
{
	void (*callee)(void) = inner;

	__asm__ volatile(
		"push %%rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %%rbp, 0\nmov $12345, %%ebp\n"
		"sub $136, %%rsp\n.cfi_adjust_cfa_offset 136\ncall *%1\n"
		"add $136, %%rsp\n.cfi_adjust_cfa_offset -136\npop %%rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %%rbp\n"
		: "+D"(callee)
		: "b"(trampoline)
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	sum++;
}

static void put(FILE *file, uint64_t value, size_t size)
{
	if (fwrite(&value, size, 1, file) != 1)
		exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Writes the header of a jitdump, and maps a page of it: so perf's recording has its path. */
static FILE *begin_dump(void)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	file = fopen(path, "w+");
	if (!file || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		exit(1);
	put(file, 0x4A695444, 4);
	put(file, 1, 4);
	put(file, 40, 4);
	put(file, 62, 4);
	put(file, 0, 4);
	put(file, (uint64_t)getpid(), 4);
	put(file, now(), 8);
	put(file, 0, 8);
	return file;
}

static void put_code(FILE *file, uint64_t address, unsigned index)
{
	char name[32];
	size_t n = (size_t)snprintf(name, sizeof(name), "trampoline_%u", index) + 1;

	put(file, 4, 4);
	put(file, 16 + 24 + FRAMES, 4);
	put(file, now(), 8);
	put(file, FRAMES, 8);
	put(file, HEADER, 8);
	put(file, 0, 8);
	fwrite(frames, FRAMES, 1, file);
	put(file, 0, 4);
	put(file, 16 + 40 + n + CODE, 4);
	put(file, now(), 8);
	put(file, (uint64_t)getpid(), 4);
	put(file, (uint64_t)getpid(), 4);
	put(file, address, 8);
	put(file, address, 8);
	put(file, CODE, 8);
	put(file, index, 8);
	fwrite(name, n, 1, file);
	fwrite(code, CODE, 1, file);
}

static void describe(const char *how, uint64_t start)
{
	char path[64];
	FILE *file = NULL;

	if (strcmp(how, "dump") == 0)
		file = begin_dump();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (strcmp(how, "map") == 0)
		file = fopen(path, "w");
	for (unsigned i = 0; file && i < CODES; i++)
		if (strcmp(how, "dump") == 0)
			put_code(file, start + i * STRIDE, i);
		else
			fprintf(file, "%lx %x trampoline_%u\n", (unsigned long)start + i * STRIDE, CODE, i);
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	uint8_t *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*trampoline)(void (*)(void));

	if (argc != 3 || start == MAP_FAILED)
		return 2;
	for (unsigned i = 0; i < CODES; i++)
		memcpy(start + i * STRIDE, code, CODE);
	describe(argv[1], (uint64_t)(uintptr_t)start);
	until = clock() + atol(argv[2]) * (CLOCKS_PER_SEC / 1000);
	for (unsigned i = 0; clock() < until; i++) {
		uint8_t *at = start + i % CODES * STRIDE;

		memcpy(&trampoline, &at, sizeof(trampoline));
		outer(trampoline);
	}
	return 0;
}
