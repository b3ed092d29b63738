/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/stubs.h"

#include "common/arena.h"

#include <stdlib.h>

enum { WORDS = 6, NEXT = 0, GROUP, NAME, BEGIN, BEGIN_8 };
enum { STUBS_MAX = 4096, LEAST_STUBS = 8, BLOCKS_MAX = 16, NAME_LENGTH_MAX = 128, EFFORT_MAX = 8 * STUBS_MAX };
#define DATA_MAX ((uint64_t)8 << 20)
#define POINTERS_MAX (64u << 10)
#define CODE_MAX ((uint64_t)1 << 20) /* of one stub */
#define LOWEST UINT64_C(0x400000)    /* where a program is that was not made to be moved, and so its heap above */
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
	uint32_t effort; /* descriptors that may still be read, of all lists */
};

bool stubs_is_block(struct str name)
{
	return str_starts(name, STR("StubRoutines ("));
}

static void stubs_find_blocks(struct finder *f, const struct codecache *code)
{
	char name[NAME_LENGTH_MAX];

	for (size_t i = 0; i < code->n && f->nblocks < BLOCKS_MAX; i++) {
		const struct blob *b = &code->blob[i];

		if (!b->compiled && memory_string(&f->h->memory, b->name, name, sizeof(name)) &&
		    stubs_is_block(str_of(name)))
			f->block[f->nblocks++] = (struct block){ b->begin, b->end };
	}
}

static bool is_pointer(uint64_t v)
{
	return v >= LOWEST && v < HIGHEST;
}

/* Might these words be a StubCodeDesc that is complete? at: number of the word that is its begin. */
static bool is_desc(const uint64_t word[WORDS], unsigned at)
{
	return (word[NEXT] == 0 || (is_pointer(word[NEXT]) && word[NEXT] % 8 == 0)) && is_pointer(word[GROUP]) &&
	       is_pointer(word[NAME]) && is_pointer(word[at]) && word[at + 1] > word[at] &&
	       word[at + 1] - word[at] <= CODE_MAX;
}

static bool in_block(const struct finder *f, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < f->nblocks; i++)
		if (begin >= f->block[i].begin && end <= f->block[i].end)
			return true;
	return false;
}

static bool stubs_read_name(struct finder *f, uint64_t address, char name[NAME_LENGTH_MAX])
{
	if (!memory_string(&f->h->memory, address, name, NAME_LENGTH_MAX) || name[0] == 0)
		return false;
	for (const char *c = name; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return false;
	return true;
}

static int stubs_by_begin(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void stubs_drop(struct stubs *s)
{
	free(s->one);
	s->one = NULL;
	s->n = 0;
	s->names.n = 0;
}

/* A StubCodeDesc, whole. False: it makes no sense. */
static bool stubs_take(struct stubs *s, struct finder *f, const uint64_t word[WORDS], unsigned at)
{
	char name[NAME_LENGTH_MAX], of[NAME_LENGTH_MAX];
	size_t from = s->names.n;

	if (!is_desc(word, at) || !stubs_read_name(f, word[GROUP], of) || !stubs_read_name(f, word[NAME], name))
		return false;
	if (!str_eq(str_of(of), group))
		return true; /* in a blob of its own */
	if (!in_block(f, word[at], word[at + 1]))
		return false;
	text_str(&s->names, group);
	text_add(&s->names, ": ");
	text_add(&s->names, name);
	s->one = mem_more(s->one, sizeof(*s->one), s->n);
	s->one[s->n++] = (struct stub){ word[at], word[at + 1], from, s->names.n - from };
	return true;
}

/* The list that begins at first; false, and s is empty: it is none. */
static bool stubs_walk(struct stubs *s, struct finder *f, uint64_t first, unsigned at)
{
	uint64_t next = first, word[WORDS] = { 0 };
	bool good = true;

	stubs_drop(s);
	for (unsigned steps = 0; next && good; steps++) {
		good = steps < STUBS_MAX && f->effort && memory_read(&f->h->memory, next, word, sizeof(word)) &&
		       stubs_take(s, f, word, at);
		f->effort -= f->effort > 0;
		next = word[NEXT];
	}
	good = good && s->n >= LEAST_STUBS;
	if (good)
		qsort(s->one, s->n, sizeof(*s->one), stubs_by_begin);
	for (size_t i = 1; good && i < s->n; i++)
		good = s->one[i].begin >= s->one[i - 1].end;
	if (!good)
		stubs_drop(s);
	return good;
}

static bool walk_either(struct stubs *s, struct finder *f, uint64_t first)
{
	return stubs_walk(s, f, first, BEGIN) || stubs_walk(s, f, first, BEGIN_8);
}

/* Might v point to what malloc gave? Most pointers go into the library itself; and between the heap of a program that
 * was not made to be moved and all other memory there is nothing but Java's, and pairs of numbers. */
static bool is_outward(const struct libjvm *l, uint64_t v)
{
	return is_pointer(v) && v % 8 == 0 && (v < l->base || v >= l->data + l->data_n) &&
	       (v < NEITHER_FROM || v >= NEITHER_TO);
}

/* The words of the library's data that point outward: to each what they point to, and where the word stood, in data.
 * Returns how many. */
static size_t find_outward(struct finder *f, uint64_t *data, size_t nwords, struct memory_want **want)
{
	const struct libjvm *l = &f->h->libjvm;
	size_t n = 0, count = 0;

	for (size_t i = 0; i < nwords; i++)
		count += is_outward(l, data[i]);
	if (count > POINTERS_MAX || !readbudget_bytes(f->h->memory.budget, count * (sizeof(**want) + WORDS * 8)))
		return 0; /* no libjvm.so has so many */
	*want = mem_try_alloc(sizeof(**want), count + 1);
	for (size_t i = 0; *want && i < nwords; i++)
		if (is_outward(l, data[i])) {
			(*want)[n] = (struct memory_want){ data[i], WORDS * 8, (uint32_t)(n * WORDS * 8) };
			data[n++] = l->data + i * 8; /* no further than i: where it stood */
		}
	return n;
}

/* Looks at what all pointers in libjvm.so's data point to, at once; few of it looks like a StubCodeDesc. */
static bool stubs_search(struct stubs *s, struct finder *f)
{
	const struct libjvm *l = &f->h->libjvm;
	size_t n = 0, nwords = (size_t)(l->data_n < DATA_MAX ? l->data_n / 8 : 0);
	uint64_t *data = readbudget_bytes(f->h->memory.budget, nwords * 8) ? mem_try_alloc(8, nwords + 1) : NULL,
		 *words = NULL;
	struct memory_want *want = NULL;
	bool found = false;

	if (data && nwords && memory_bulk(&f->h->memory, l->data, data, nwords * 8))
		n = find_outward(f, data, nwords, &want);
	if (n)
		words = mem_try_alloc(WORDS * 8, n);
	if (!words || !memory_gather(&f->h->memory, want, n, words))
		n = 0;
	for (size_t i = 0; i < n && !found; i++) { /* want is sorted; its place tells which one it was */
		size_t was = want[i].at / (WORDS * 8);
		const uint64_t *word = words + was * WORDS;

		if (!is_desc(word, BEGIN) && !is_desc(word, BEGIN_8))
			continue;
		found = walk_either(s, f, want[i].address);
		s->head = found ? data[was] : 0;
		s->first = found ? want[i].address : 0;
	}
	readbudget_return(f->h->memory.budget, nwords * 8 + n * (sizeof(*want) + WORDS * 8));
	free(data);
	free(want);
	free(words);
	return found;
}

bool stubs_read(struct stubs *s, struct hotspot *h, const struct codecache *code)
{
	struct finder f = { .h = h, .effort = EFFORT_MAX };
	uint64_t first;

	if (s->head && memory_pointer(&h->memory, s->head, &first)) {
		if (first == s->first)
			return true;
		stubs_find_blocks(&f, code);
		s->first = walk_either(s, &f, first) ? first : 0;
		return s->first != 0;
	}
	stubs_find_blocks(&f, code);
	return f.nblocks && stubs_search(s, &f);
}

void stubs_free(struct stubs *s)
{
	free(s->one);
	text_free(&s->names);
	*s = (struct stubs){ 0 };
}
