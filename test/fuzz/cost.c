/* cost - counts what an input costs, and ends the run with a message when that is more than the target's budget. */
#include "test/fuzz/cost.h"

#include "common/str.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define PJ_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PJ_TSAN
#endif
#endif

/* Sanitizers and counters of coverage make code several times slower. */
enum { CPU_SECONDS = 10, CPU_SECONDS_PER_64KB = 2 };

#pragma weak fuzz_budget
static const struct fuzz_budget usual = {
	.steps = 10000000,
	.steps_per_byte = 2000,
	.heap = 16 << 20,
	.heap_per_byte = 1024,
};

/* Counted since the input began; signed, as memory that an input before it left is freed during this one. */
static uint64_t steps, steps_max;
static int64_t heap, heap_max;
static bool counting;

static struct {
	uint64_t steps, heap, cpu_us;
} highest;

/* Without malloc, as it runs within it: what was exceeded, and by an input of which size. */
static size_t input_n;

static void over(const char *what, uint64_t limit)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "budget: an input of %zu bytes: more than %ju %s\n", input_n,
			 (uintmax_t)limit, what);

	counting = false;
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		abort();
	abort();
}

void __wrap___sanitizer_cov_trace_pc(void);
void __wrap___sanitizer_cov_trace_pc(void)
{
	if (counting && __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) > steps_max)
		over("steps", steps_max);
}

static void count_allocated(size_t n)
{
	int64_t now = __atomic_add_fetch(&heap, (int64_t)n, __ATOMIC_RELAXED);

	if (now > 0 && (uint64_t)now > highest.heap)
		highest.heap = (uint64_t)now;
	if (now > heap_max)
		over("bytes of heap", (uint64_t)heap_max);
}

static void count_freed(size_t n)
{
	__atomic_sub_fetch(&heap, (int64_t)n, __ATOMIC_RELAXED);
}

/* ---- allocations ------------------------------------------------------------------------------------------------ */

#if defined(PJ_ASAN)

int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
					      void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static void on_malloc(const volatile void *p, size_t n)
{
	(void)p;
	if (counting)
		count_allocated(n);
}

static void on_free(const volatile void *p)
{
	if (counting && p)
		count_freed(__sanitizer_get_allocated_size(p));
}

static void count_heap(void)
{
	static bool installed;

	if (!installed && !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
		abort();
	installed = true;
}

#elif defined(__GLIBC__) && !defined(PJ_TSAN)

/* The functions of this name in the C library are called through these, by libelf and libdw, too. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* PJ_FUZZ_SHORT=N: no memory for allocations of N bytes or more. */
static size_t too_large = SIZE_MAX;

static bool refused(size_t n)
{
	if (!counting || n < too_large)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *p)
{
	if (counting && p)
		count_allocated(malloc_usable_size(p));
	return p;
}

void *malloc(size_t n)
{
	return refused(n) ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
	return refused(size && n > SIZE_MAX / size ? SIZE_MAX : n * size) ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
	size_t before = counting && p ? malloc_usable_size(p) : 0;
	void *to = refused(n) ? NULL : __libc_realloc(p, n);

	if (to || n == 0)
		count_freed(before);
	return counted(to);
}

void *memalign(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n));
}

void *aligned_alloc(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n));
}

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = counted(__libc_memalign(align, n));
	return *p ? 0 : 12; /* ENOMEM */
}

void free(void *p)
{
	if (counting && p)
		count_freed(malloc_usable_size(p));
	__libc_free(p);
}

static void count_heap(void)
{
	const char *size = getenv("PJ_FUZZ_SHORT");

	if (size)
		too_large = strtoul(size, NULL, 10);
}

#else

static void count_heap(void)
{
	(void)count_allocated;
	(void)count_freed;
}

#endif

/* ---- one input -------------------------------------------------------------------------------------------------- */

static unsigned cpu_seconds;

static void on_prof(int signal)
{
	(void)signal;
	over("seconds of CPU time", cpu_seconds);
}

/* Of CPU time from now on; 0 stops it. Returns the us that were left. */
static uint64_t set_timer(unsigned seconds)
{
	struct itimerval t = { .it_value.tv_sec = seconds }, before;

	setitimer(ITIMER_PROF, &t, &before);
	return (uint64_t)before.it_value.tv_sec * 1000000 + (uint64_t)before.it_value.tv_usec;
}

static void print_costs(void)
{
	fprintf(stdout, "# highest cost of an input: %ju steps, %ju kB of heap, %ju ms of CPU time\n",
		(uintmax_t)highest.steps, (uintmax_t)(highest.heap >> 10), (uintmax_t)(highest.cpu_us / 1000));
}

/* PJ_FUZZ_CPU: libFuzzer ends once the process has used so many seconds of CPU time, or got SIGHUP. Its exit runs no
 * atexit. */
static uint64_t run_us;
static volatile sig_atomic_t run_ended;

static void on_hangup(int signal)
{
	(void)signal;
	run_ended = 1;
}

static void end_run_in_time(void)
{
	struct timespec t = { 0 };

	if (!run_us || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
		return;
	if (run_ended || (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 >= run_us) {
		run_us = 0;
		print_costs();
		fflush(stdout);
		raise(SIGUSR1);
	}
}

static void begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	count_heap();
	signal(SIGPROF, on_prof);
	if (getenv("PJ_FUZZ_CPU")) {
		run_us = strtoul(getenv("PJ_FUZZ_CPU"), NULL, 10) * 1000000;
		signal(SIGHUP, on_hangup);
	} else if (getenv("PJ_FUZZ_COST")) {
		atexit(print_costs);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct fuzz_budget *b = &fuzz_budget ? &fuzz_budget : &usual;
	uint64_t left, limit; /* us */

	begin();
	input_n = n;
	steps = 0;
	heap = 0;
	steps_max = b->steps + n * b->steps_per_byte;
	heap_max = (int64_t)(b->heap + n * b->heap_per_byte);
	cpu_seconds = CPU_SECONDS + (unsigned)(n >> 16) * CPU_SECONDS_PER_64KB;
	set_timer(cpu_seconds);
	counting = true;
	fuzz_one(data, n);
	counting = false;
	left = set_timer(0);
	limit = cpu_seconds * UINT64_C(1000000);
	if (steps > highest.steps)
		highest.steps = steps;
	if (left < limit &&
	    limit - left > highest.cpu_us) /* what is left is rounded up: it may be more than the limit */
		highest.cpu_us = limit - left;
	end_run_in_time();
	return 0;
}
