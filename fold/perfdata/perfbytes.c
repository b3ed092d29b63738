/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfbytes.h"

#include "common/arena.h"

#include <stdlib.h>

uint64_t bytes_end(const struct bytes *b)
{
	const struct bytes_block *last = bytes_last(b);

	return last ? last->start + last->n : 0;
}

static struct bytes_block *perfbytes_add_block(struct bytes *b, uint64_t start)
{
	struct bytes_block *k;

	if (b->head + b->n == b->cap && b->head > b->cap / 2) {
		memmove(b->block, b->block + b->head, b->n * sizeof(*b->block));
		b->head = 0;
	}
	if (b->head + b->n == b->cap) {
		b->cap = b->cap ? b->cap * 2 : 16;
		b->block = mem_grow(b->block, sizeof(*b->block), b->cap);
	}
	k = &b->block[b->head + b->n++];
	*k = (struct bytes_block){ .start = start, .cap = b->n == 1 && b->first == 0 ? BYTES_FIRST : BYTES_BLOCK };
	if (k->cap == BYTES_FIRST)
		k->p = mem_grow(NULL, 1, BYTES_FIRST);
	else
		k->p = b->nspare ? b->spare[--b->nspare] : mem_huge(BYTES_BLOCK);
	return k;
}

/* The block to put at least `least` bytes into so that they stand in one piece with what is there from `keep` on. */
static struct bytes_block *block_with_space(struct bytes *b, uint64_t keep, size_t least)
{
	struct bytes_block *last = bytes_last(b), *fresh;
	uint64_t end = bytes_end(b);
	const char *tail;
	size_t n;

	if (last && keep <= end && last->cap - last->n >= least)
		return last;
	n = keep < end ? (size_t)(end - keep) : 0;
	tail = n ? last->p + (last->n - n) : NULL;
	fresh = perfbytes_add_block(b, keep); /* may move the table, not the bytes */
	if (n)
		memcpy(fresh->p, tail, n);
	fresh->n = n;
	return fresh;
}

struct str bytes_read(struct bytes *b, uint64_t at, size_t want)
{
	struct str s = bytes_there(b, at);

	while (s.n < want && b->more && !b->eof) {
		struct bytes_block *k = block_with_space(b, at, want - s.n);
		uint64_t end = k->start + k->n;
		size_t space = k->cap - k->n, got;

		if (space > BYTES_PART)
			space = BYTES_PART;
		if (end >= b->end)
			space = 0;
		else if (space > b->end - end)
			space = (size_t)(b->end - end);
		got = space ? b->more(b->from, k->p + k->n, space, end) : 0;
		k->n += got;
		b->eof = got == 0;
		s = bytes_there(b, at);
	}
	return s;
}

char *bytes_space(struct bytes *b, uint64_t keep, size_t *space)
{
	struct bytes_block *k = block_with_space(b, keep, BYTES_FIRST / 4);

	*space = k->cap - k->n < BYTES_PART ? k->cap - k->n : BYTES_PART;
	return k->p + k->n;
}

void bytes_made(struct bytes *b, size_t n)
{
	bytes_last(b)->n += n;
}

void bytes_reuse(struct bytes *b)
{
	while (b->n > 1 && b->block[b->head].users == 0) {
		char *p = b->block[b->head].p;

		if (b->block[b->head].cap == BYTES_BLOCK && b->nspare < countof(b->spare))
			b->spare[b->nspare++] = p;
		else
			free(p);
		b->head++;
		b->first++;
		b->n--;
	}
}

size_t bytes_memory(const struct bytes *b)
{
	return b->n * BYTES_BLOCK;
}

void bytes_free(struct bytes *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->block[b->head + i].p);
	while (b->nspare)
		free(b->spare[--b->nspare]);
	free(b->block);
	*b = (struct bytes){ 0 };
}
