/* samples - runs until SIGPROF came N times, and writes what it met to FILE: the registers that were interrupted, the
 * stack, and the callers that libgcc finds from there. Of x86-64 and aarch64, also under qemu; another host unwinds the
 * samples (unwindstats.c).
 *
 * Text for files: "object BIAS START END OFFSET PATH" each segment of code; "sample", "reg HEX..." in perf's order,
 * "stack START BYTES" and hex digits, "want HEX..." from the interrupted instruction outwards. */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#define KEEP __attribute__((noinline))

enum { FRAMES = 200, COPY = 16384, MAXIMUM = 400 };

extern void *__libc_stack_end;

struct sample {
	unsigned long reg[33], want[FRAMES], start;
	unsigned nregs, nwant;
	size_t ncopied;
	unsigned char stack[COPY];
};

static struct sample sample[MAXIMUM];
static volatile sig_atomic_t n, wanted;

static _Unwind_Reason_Code note(struct _Unwind_Context *Context, void *to)
{
	struct sample *s = to;

	if (s->nwant == FRAMES)
		return _URC_NORMAL_STOP;
	s->want[s->nwant] = _Unwind_GetIP(Context);
	s->nwant += s->want[s->nwant] != 0;
	return _URC_NO_REASON;
}

#ifdef __aarch64__
static unsigned long registers(struct sample *s, const ucontext_t *u)
{
	for (unsigned i = 0; i < 31; i++)
		s->reg[i] = u->uc_mcontext.regs[i];
	s->reg[31] = u->uc_mcontext.sp;
	s->reg[32] = u->uc_mcontext.pc;
	s->nregs = 33;
	s->start = s->reg[31];
	return s->reg[32];
}
#else
static unsigned long registers(struct sample *s, const ucontext_t *u)
{
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	for (s->nregs = 0; s->nregs < sizeof(order) / sizeof(*order); s->nregs++)
		s->reg[s->nregs] = (unsigned long)u->uc_mcontext.gregs[order[s->nregs]];
	s->start = s->reg[7];
	return s->reg[8];
}
#endif

static void at_tick(int sig, siginfo_t *info, void *context)
{
	struct sample *s = &sample[n];
	unsigned long ip, end = (unsigned long)__libc_stack_end + 64;
	unsigned i = 0;

	(void)sig;
	(void)info;
	if (n == wanted)
		return;
	memset(s, 0, sizeof(*s));
	ip = registers(s, context);
	_Unwind_Backtrace(note, s);
	while (i < s->nwant && s->want[i] != ip)
		i++;
	if (i == s->nwant || s->start > end)
		return; /* libgcc did not get there */
	memmove(s->want, s->want + i, (s->nwant - i) * sizeof(*s->want));
	s->nwant -= i;
	s->ncopied = (end - s->start < COPY ? end - s->start : COPY) & ~7UL;
	memcpy(s->stack, (const void *)s->start, s->ncopied);
	n++;
}

/* ---- work ---- */

static volatile unsigned sink;

static KEEP unsigned spin(unsigned v)
{
	for (unsigned i = 0; i < 2000; i++)
		sink += v ^ i;
	return sink;
}

static KEEP unsigned leaf(unsigned v)
{
	return v * 2654435761u >> 3 ^ v;
}

static int compare(const void *a, const void *b)
{
	return (int)(leaf(*(const unsigned *)a) % 1000) - (int)(leaf(*(const unsigned *)b) % 1000);
}

static KEEP void sorts(void)
{
	unsigned v[200];

	for (unsigned i = 0; i < 200; i++)
		v[i] = i * 40503u;
	qsort(v, 200, sizeof(*v), compare);
	sink += v[7];
}

/* More values than there are registers that a callee keeps. */
static KEEP unsigned many(unsigned d)
{
	unsigned a = sink, b = a * 3, c = b ^ 5, e = c + 7, f = e * 9, g = f ^ a, h = g + b, i = h * c, j = i ^ e,
		 k = j + f, l = k * g;

	if (d)
		a += many(d - 1);
	spin(a);
	return a + b + c + e + f + g + h + i + j + k + l;
}

static KEEP unsigned variable(unsigned size)
{
	char *p = __builtin_alloca(size);

	memset(p, (int)size, size);
	return spin((unsigned char)p[size / 2]) + sink;
}

static KEEP unsigned large(unsigned v)
{
	char p[5000];

	snprintf(p, sizeof(p), "%u %u %x %s", v, sink, v, "some text to be formatted");
	return spin((unsigned)p[3]) + sink;
}

/* ---- the file ---- */

static int put_object(struct dl_phdr_info *d, size_t size, void *to)
{
	(void)size;
	for (int i = 0; i < d->dlpi_phnum; i++)
		if (d->dlpi_phdr[i].p_type == PT_LOAD && d->dlpi_phdr[i].p_flags & PF_X)
			fprintf(to, "object %lx %lx %lx %lx %s\n", (unsigned long)d->dlpi_addr,
				(unsigned long)(d->dlpi_addr + d->dlpi_phdr[i].p_vaddr),
				(unsigned long)(d->dlpi_addr + d->dlpi_phdr[i].p_vaddr + d->dlpi_phdr[i].p_memsz),
				(unsigned long)d->dlpi_phdr[i].p_offset, d->dlpi_name[0] ? d->dlpi_name : "-");
	return 0;
}

static int write_samples(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return 1;
	dl_iterate_phdr(put_object, f);
	for (int i = 0; i < n; i++) {
		const struct sample *s = &sample[i];

		fprintf(f, "sample\nreg");
		for (unsigned k = 0; k < s->nregs; k++)
			fprintf(f, " %lx", s->reg[k]);
		fprintf(f, "\nstack %lx %zu\n", s->start, s->ncopied);
		for (size_t k = 0; k < s->ncopied; k++)
			fprintf(f, "%02x", s->stack[k]);
		fprintf(f, "\nwant");
		for (unsigned k = 0; k < s->nwant; k++)
			fprintf(f, " %lx", s->want[k]);
		fprintf(f, "\n");
	}
	return fclose(f) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_sigaction = at_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };

	if (argc != 3)
		return 2;
	wanted = atoi(argv[2]) < MAXIMUM ? atoi(argv[2]) : MAXIMUM;
	_Unwind_Backtrace(note, &sample[0]); /* libgcc is loaded when it is needed first: not in a handler */
	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	for (unsigned i = 1; n < wanted; i = i < 3000 ? 3 * i : 1) {
		sorts();
		sink += many(i % 20);
		sink += variable(i) + large(i);
	}
	every = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_PROF, &every, NULL);
	return write_samples(argv[1]);
}
