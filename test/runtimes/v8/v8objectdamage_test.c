/* Damaged objects of a small heap: each stack is read within its budget, and names are text. */
/* covers: runtimes/v8/v8deopt.c runtimes/v8/v8numbers.c runtimes/v8/v8frames.c runtimes/v8/v8code.c
 * runtimes/v8/v8heap.c runtimes/v8/v8function.c */
#include "test/lib/v8objects.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* Returns a value for a damaged word: what breaks arithmetic, another object, or another word of the heap. */
static uint64_t damaged(uint64_t before)
{
	static const uint64_t edge[] = { 0,
					 1,
					 UINT64_MAX,
					 UINT64_C(1) << 63,
					 UINT64_C(0x7fffffff) << 32,
					 UINT64_C(0xffffffff) << 32,
					 HEAP + sizeof(heap) - 7,
					 PC };

	switch (next_random() % 6) {
	case 0: return edge[next_random() % countof(edge)];
	case 1: return before ^ UINT64_C(1) << next_random() % 64;
	case 2: return HEAP + 8 * (next_random() % used) + 1;
	case 3: return before + 8 * (next_random() % 33) - 128;
	case 4: return next_random() >> next_random() % 64;
	default: return heap[next_random() % used];
	}
}

/* Reads all functions of the stack; adds 1 to *bad for each that is out of place. Returns their number. */
static uint32_t read_functions(unsigned *bad)
{
	uint32_t n = 0, proven = find();

	for (uint32_t i = 0; i < proven; i++) {
		struct v8_function found;

		*bad += frames.frame[i].fp < STACK || frames.frame[i].fp >= STACK + sizeof(stack_words);
		if (!v8_function(&v8, frames.frame[i].shared, &found))
			continue;
		n++;
		*bad += !found.name[0] || !memchr(found.name, 0, sizeof(found.name)) ||
			!memchr(found.file, 0, sizeof(found.file)) || (found.line && !found.file[0]) ||
			(found.line && found.line_later);
	}
	return n;
}

/* Damages one to four words of the heap, the code or the stack, reads, and repairs them. */
static void check_damage(void (*make)(void), uint32_t all, const char *what)
{
	unsigned bad = 0, less = 0;

	make();
	is_u64(read_functions(&bad), all, what);
	for (unsigned round = 0; round < 20000; round++) {
		uint64_t *word[4], before[4];
		size_t n = 1 + next_random() % 4;

		for (size_t i = 0; i < n; i++) {
			word[i] = next_random() % 4 ? &heap[next_random() % used] :
						      &stack_words[next_random() % countof(stack_words)];
			if (next_random() % 16 == 0)
				word[i] = &code_space[(START - 24 - CODE) / 8];
			before[i] = *word[i];
			*word[i] = damaged(before[i]);
		}
		memset(v8.known, 0, sizeof(v8.known));
		less += read_functions(&bad) < all;
		while (n-- > 0)
			*word[n] = before[n];
	}
	ok(less > 1000, "  damage removes functions");
	is_u64(bad, 0, "  no frame outside of the stack, no name that is no text");
}

int main(void)
{
	check_damage(make_frame, 1, "a damaged heap: an interpreted function");
	check_damage(make_optimized, 2, "a damaged heap: optimized code");
	check_damage(make_maglev, 2, "a damaged heap: code of Maglev");
	memory_close(&memory);
	return done();
}
