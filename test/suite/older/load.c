/* A load for make.sh: outer calls inner, which calls code that only perf-PID.map names. No library, so that little is kept of it. */
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
}

#define JIT ((unsigned char *)0x10000000)

__attribute__((noinline)) void older_inner(unsigned turns)
{
	((void (*)(unsigned))JIT)(turns);
	for (volatile unsigned i = 0; i < turns; i++)
		continue;
}

__attribute__((noinline)) void older_outer(unsigned turns)
{
	older_inner(turns);
	__asm__ volatile("");
}

void older_main(void)
{
	/* push rbp; mov rbp, rsp; 1: dec edi; jnz 1b; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3 };

	call(9, (long)JIT, 4096, 7, 0x32, -1, 0); /* mmap */
	for (unsigned i = 0; i < sizeof(code); i++)
		JIT[i] = code[i];
	for (unsigned i = 0; i < 3000; i++)
		older_outer(1000000);
	call(231, 0, 0, 0, 0, 0, 0); /* exit_group */
}

__asm__(".globl _start\n_start:\n\t.cfi_startproc\n\t.cfi_undefined rip\n\txor %ebp, %ebp\n\tcall older_main\n\thlt\n\t.cfi_endproc\n");
