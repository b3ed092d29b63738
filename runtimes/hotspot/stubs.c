/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/stubs.h"

#include "common/arena.h"

#include <stdlib.h>

enum { WORDS = 6, NEXT = 0, GROUP, NAME, BEGIN, BEGIN_8 };
enum { STUBS_MAX = 4096, LEAST_STUBS = 8, BLOCKS_MAX = 16, NAME_LENGTH_MAX = 128, EFFORT_MAX = 8 * STUBS_MAX };
#define DATA_MAX ((uint64_t)8 << 20)
#define POINTERS_MAX (64u << 10)
#define CODE_MAX ((uint64_t)1 << 20) /* limit for the size of one stub in bytes */
/* Lowest address of a program that is linked to a fixed address; the program's heap has higher addresses. */
#define LOWEST UINT64_C(0x400000)
#define NEITHER_FROM (UINT64_C(1) << 32)
#define NEITHER_TO (UINT64_C(1) << 38)
#define HIGHEST (UINT64_C(1) << 47)

static const struct str group = STR("StubRoutines");

struct block {
	uint64_t begin, end;
};

struct finder {
	struct hotspot *h;
	struct block block[BLOCKS_MAX];
	size_t nblocks;
	uint32_t effort; /* number of StubCodeDescs that this search may still read, in all candidate lists together */
};

bool stubs_is_block(struct str name)
{
	return str_starts(name, STR("StubRoutines ("));
}

static void stubs_find_blocks(struct finder *finder, const struct codecache *code)
{
	char name[NAME_LENGTH_MAX];

	for (size_t i = 0; i < code->n && finder->nblocks < BLOCKS_MAX; i++) {
		const struct blob *blob = &code->blob[i];

		if (!blob->compiled && memory_string(&finder->h->memory, blob->name, name, sizeof(name)) &&
		    stubs_is_block(str_of(name)))
			finder->block[finder->nblocks++] = (struct block){ blob->begin, blob->end };
	}
}

static bool is_pointer(uint64_t value)
{
	return value >= LOWEST && value < HIGHEST;
}

/* Returns true if word[] may be a complete StubCodeDesc. `at` is the index of its word `begin`: BEGIN, or BEGIN_8 in
 * JDK 8. */
static bool is_desc(const uint64_t word[WORDS], unsigned at)
{
	return (word[NEXT] == 0 || (is_pointer(word[NEXT]) && word[NEXT] % 8 == 0)) && is_pointer(word[GROUP]) &&
	       is_pointer(word[NAME]) && is_pointer(word[at]) && word[at + 1] > word[at] &&
	       word[at + 1] - word[at] <= CODE_MAX;
}

static bool in_block(const struct finder *finder, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < finder->nblocks; i++)
		if (begin >= finder->block[i].begin && end <= finder->block[i].end)
			return true;
	return false;
}

static bool stubs_read_name(struct finder *finder, uint64_t address, char name[NAME_LENGTH_MAX])
{
	if (!memory_string(&finder->h->memory, address, name, NAME_LENGTH_MAX) || name[0] == 0)
		return false;
	for (const char *c = name; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return false;
	return true;
}

static int stubs_by_begin(const void *a, const void *b)
{
	const struct stub *stub = a, *y = b;

	return (stub->begin > y->begin) - (stub->begin < y->begin);
}

static void stubs_drop(struct stubs *stubs)
{
	free(stubs->one);
	stubs->one = NULL;
	stubs->n = 0;
	stubs->names.n = 0;
}

/* Adds the stub of the StubCodeDesc in word[]; `at` as in is_desc. Returns false if the StubCodeDesc is invalid. */
static bool stubs_take(struct stubs *stubs, struct finder *finder, const uint64_t word[WORDS], unsigned at)
{
	char name[NAME_LENGTH_MAX], of[NAME_LENGTH_MAX];
	size_t from = stubs->names.n;

	if (!is_desc(word, at) || !stubs_read_name(finder, word[GROUP], of) ||
	    !stubs_read_name(finder, word[NAME], name))
		return false;
	if (!str_eq(str_of(of), group))
		/* A stub of another group has a code blob of its own: its StubCodeDesc is valid, but the stub is not
		 * added. */
		return true;
	if (!in_block(finder, word[at], word[at + 1]))
		return false;
	text_str(&stubs->names, group);
	text_add(&stubs->names, ": ");
	text_add(&stubs->names, name);
	stubs->one = mem_more(stubs->one, sizeof(*stubs->one), stubs->n);
	stubs->one[stubs->n++] = (struct stub){ word[at], word[at + 1], from, stubs->names.n - from };
	return true;
}

/* Reads the list of StubCodeDescs whose first entry is at address `first`; `at` as in is_desc. Returns false, with
 * empty stubs, if it is not a valid list. */
static bool stubs_walk(struct stubs *stubs, struct finder *finder, uint64_t first, unsigned at)
{
	uint64_t next = first, word[WORDS] = { 0 };
	bool good = true;

	stubs_drop(stubs);
	for (unsigned steps = 0; next && good; steps++) {
		good = steps < STUBS_MAX && finder->effort &&
		       memory_read(&finder->h->memory, next, word, sizeof(word)) && stubs_take(stubs, finder, word, at);
		finder->effort -= finder->effort > 0;
		next = word[NEXT];
	}
	good = good && stubs->n >= LEAST_STUBS;
	if (good)
		qsort(stubs->one, stubs->n, sizeof(*stubs->one), stubs_by_begin);
	for (size_t i = 1; good && i < stubs->n; i++)
		good = stubs->one[i].begin >= stubs->one[i - 1].end;
	if (!good)
		stubs_drop(stubs);
	return good;
}

static bool walk_either(struct stubs *stubs, struct finder *finder, uint64_t first)
{
	return stubs_walk(stubs, finder, first, BEGIN) || stubs_walk(stubs, finder, first, BEGIN_8);
}

/* Returns true if value may point to memory of malloc: it points out of the library. Values from 4 GB to 256 GB do not
 * count: malloc has no memory there, as the heap of a program at a fixed address is lower, and all other memory is
 * higher. Such a value points into the Java heap or is a pair of 32-bit numbers. */
static bool is_outward(const struct loadedfile *libjvm, uint64_t value)
{
	return is_pointer(value) && value % 8 == 0 &&
	       (value < libjvm->base || value >= libjvm->data + libjvm->data_n) &&
	       (value < NEITHER_FROM || value >= NEITHER_TO);
}

/* Finds the words of data[0..nwords), a copy of the library's data, that point out of the library. Fills *want with
 * requests for their targets, and overwrites the start of data with the addresses of these words. Returns their
 * number; 0 also if there are too many. */
static size_t find_outward(struct finder *finder, uint64_t *data, size_t nwords, struct memory_want **want)
{
	const struct loadedfile *libjvm = &finder->h->libjvm;
	size_t n = 0, count = 0;

	for (size_t i = 0; i < nwords; i++)
		count += is_outward(libjvm, data[i]);
	if (count > POINTERS_MAX || !readbudget_bytes(finder->h->memory.budget, count * (sizeof(**want) + WORDS * 8)))
		/* No libjvm.so has so many pointers. */
		return 0;
	*want = mem_try_alloc(sizeof(**want), count + 1);
	for (size_t i = 0; *want && i < nwords; i++)
		if (is_outward(libjvm, data[i])) {
			(*want)[n] = (struct memory_want){ data[i], WORDS * 8, (uint32_t)(n * WORDS * 8) };
			/* n <= i, so this overwrites only words that the loop has examined already. */
			data[n++] = libjvm->data + i * 8;
		}
	return n;
}

/* Reads the targets of all pointers out of the library in libjvm.so's data, with one memory_gather, and tries each
 * target that looks like a StubCodeDesc as the start of the list. Returns true if a list is accepted. */
static bool stubs_search(struct stubs *stubs, struct finder *finder)
{
	const struct loadedfile *libjvm = &finder->h->libjvm;
	size_t n = 0, nwords = (size_t)(libjvm->data_n < DATA_MAX ? libjvm->data_n / 8 : 0);
	uint64_t *data = readbudget_bytes(finder->h->memory.budget, nwords * 8) ? mem_try_alloc(8, nwords + 1) : NULL,
		 *words = NULL;
	struct memory_want *want = NULL;
	bool found = false;

	if (data && nwords && memory_bulk(&finder->h->memory, libjvm->data, data, nwords * 8))
		n = find_outward(finder, data, nwords, &want);
	if (n)
		words = mem_try_alloc(WORDS * 8, n);
	if (!words || !memory_gather(&finder->h->memory, want, n, words))
		n = 0;
	for (size_t i = 0; i < n && !found; i++) {
		/* memory_gather has sorted want by address; `at` gives the original index. */
		size_t was = want[i].at / (WORDS * 8);
		const uint64_t *word = words + was * WORDS;

		if (!is_desc(word, BEGIN) && !is_desc(word, BEGIN_8))
			continue;
		found = walk_either(stubs, finder, want[i].address);
		stubs->head = found ? data[was] : 0;
		stubs->first = found ? want[i].address : 0;
	}
	readbudget_return(finder->h->memory.budget, nwords * 8 + n * (sizeof(*want) + WORDS * 8));
	free(data);
	free(want);
	free(words);
	return found;
}

bool stubs_read(struct stubs *stubs, struct hotspot *hotspot, const struct codecache *code)
{
	struct finder finder = { .h = hotspot, .effort = EFFORT_MAX };
	uint64_t first;

	if (stubs->head && memory_pointer(&hotspot->memory, stubs->head, &first)) {
		if (first == stubs->first)
			return true;
		stubs_find_blocks(&finder, code);
		stubs->first = walk_either(stubs, &finder, first) ? first : 0;
		return stubs->first != 0;
	}
	stubs_find_blocks(&finder, code);
	return finder.nblocks && stubs_search(stubs, &finder);
}

void stubs_free(struct stubs *stubs)
{
	free(stubs->one);
	text_free(&stubs->names);
	*stubs = (struct stubs){ 0 };
}
