/* load.c - what made in.data: code in a file, code made at run time, a child with a name of its own; no library. */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NOINLINE __attribute__((noinline))

static long call(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}

NOINLINE static void spin(void)
{
	for (volatile unsigned i = 0; i < 30000000; i++)
		;
}

NOINLINE static void work(void)
{
	spin();
	__asm__ volatile("");
}

NOINLINE static void child(void)
{
	call(SYS_prctl, PR_SET_NAME, (long)"child 1;x", 0, 0, 0, 0);
	work();
	call(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* push %rbp; mov %rsp,%rbp; mov $100000000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char loop[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0xe1, 0xf5, 0x05, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

NOINLINE static void jit(void)
{
	unsigned char *code = (void *)call(SYS_mmap, 0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	for (size_t i = 0; i < sizeof(loop); i++)
		((volatile unsigned char *)code)[i] = loop[i];
	((void (*)(void))(size_t)code)();
	__asm__ volatile("");
}

void begin(void)
{
	if (call(SYS_fork, 0, 0, 0, 0, 0, 0) == 0)
		child();
	work();
	jit();
	call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n.type _start,@function\n_start: xor %ebp,%ebp\ncall begin\nhlt\n.size _start,.-_start\n");
