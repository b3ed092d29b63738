/*
 * cost.h - what one input may cost a parser: steps, memory, CPU time. An input over the budget is a failure, as a crash
 * is.
 *
 * Steps are basic blocks of our code, counted in the libFuzzer build (-fsanitize-coverage=trace-pc): the same input
 * takes the same steps on every machine. Memory is what the input has allocated and not yet freed, at its peak: bytes
 * in all builds but SAN=thread. CPU time is the process's (ITIMER_PROF), with a bound so wide that only code that does
 * not end reaches it: it also covers libelf, libdw and the like. Allowed is a fixed part and one for each byte of the
 * input, so that a small input cannot cost much.
 *
 * PJ_FUZZ_CPU=N ends libFuzzer after N seconds of CPU time, and prints the highest costs.
 * PJ_FUZZ_COST=1 prints the highest costs at exit. PJ_FUZZ_SHORT=N lets allocations of N bytes or more fail (builds
 * without sanitizers).
 */
#ifndef PJ_FUZZ_COST_H
#define PJ_FUZZ_COST_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_budget {
	uint64_t steps, steps_per_byte;
	uint64_t heap, heap_per_byte; /* bytes */
};

/* The default is in cost.c. A target that needs another one defines it as fuzz_budget. */
extern const struct fuzz_budget fuzz_budget;

/* The target itself: one input. */
int fuzz_one(const uint8_t *data, size_t n);

/* The same within the budget: libFuzzer and replay.c call this. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
