/* load.c - what names.t records, the part in C: aliases, weak and static functions, an indirect one, labels without
 * size. */
#include <stddef.h>

volatile unsigned long sink;

void leaf_mul(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}
void leaf_alias(unsigned long) __attribute__((alias("leaf_mul")));
void _leaf_weak(unsigned long) __attribute__((weak, alias("leaf_mul")));

__attribute__((weak, noinline)) void weak_only(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink ^= i * 7;
}

static __attribute__((noinline)) void hidden_static(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}

static void chosen(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink -= i;
}
static void (*choose(void))(unsigned long)
{
	return chosen;
}
void indirect(unsigned long) __attribute__((ifunc("choose")));

void lib_work(unsigned long n)
{
	leaf_mul(n);
	weak_only(n);
	hidden_static(n);
	indirect(n);
	leaf_alias(n);
}

int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

#if defined(__x86_64__)
__asm__(".text\n.globl no_size\nno_size:\n mov %rdi,%rax\n1: dec %rax\n jnz 1b\n ret\n"
	"label:\n mov %rdi,%rax\n1: dec %rax\n jnz 1b\n ret\n");
#else
void no_size(unsigned long n)
{
	hidden_static(n);
}
#endif
