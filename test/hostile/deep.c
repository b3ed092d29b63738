/*
 * deep - threads whose stacks are as deep as a copy of a stack can hold: one frame in each 8 bytes.
 *
 *	deep THREADS
 *
 * Each thread recurses through a function that pushes nothing but return addresses, and burns CPU at the bottom: so
 * each of its samples has 3,072 frames (24 kB), fifty times as many bytes as those of other programs. PJ_SEED varies
 * depth and time at the bottom. Ends after PJ_HOSTILE_SECS + 10 seconds, or with its parent.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 4000u

void deep_call(uint64_t depth, uint64_t spins);

__asm__(".text\n"
	".globl deep_call\n"
	".type deep_call, @function\n"
	"deep_call:\n"
	"	.cfi_startproc\n"
	"	sub $1, %rdi\n"
	"	jz 1f\n"
	"	call deep_call\n"
	"	ret\n"
	"1:	sub $1, %rsi\n"
	"	jnz 1b\n"
	"	mov $1, %rsi\n"
	"	mov $1, %rdi\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size deep_call, . - deep_call\n");

static void *run(void *arg)
{
	uint64_t state = (uint64_t)(uintptr_t)arg * 0x9E3779B97F4A7C15u + 1;

	for (;;) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		deep_call(DEPTH + (state >> 33) % 20000, 1000000 + (state >> 40) % 100000000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED"), *secs = getenv("PJ_HOSTILE_SECS");
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	uintptr_t base = seed ? (uintptr_t)strtoull(seed, NULL, 10) * 1000 : 0;

	alarm((secs ? (unsigned)atoi(secs) : 20) + 10);
	for (unsigned i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)(base + i)))
			return 1;
	}
	pause();
}
