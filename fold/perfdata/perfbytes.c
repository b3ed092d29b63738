/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfbytes.h"

#include "common/arena.h"

#include <stdlib.h>

uint64_t bytes_end(const struct bytes *bytes)
{
	const struct bytes_block *last = bytes_last(bytes);

	return last ? last->start + last->n : 0;
}

/* Appends a block that starts at offset `start` of the stream. Reuses a spare block if there is one. */
static struct bytes_block *perfbytes_add_block(struct bytes *bytes, uint64_t start)
{
	struct bytes_block *block;

	if (bytes->head + bytes->n == bytes->cap && bytes->head > bytes->cap / 2) {
		memmove(bytes->block, bytes->block + bytes->head, bytes->n * sizeof(*bytes->block));
		bytes->head = 0;
	}
	if (bytes->head + bytes->n == bytes->cap) {
		bytes->cap = bytes->cap ? bytes->cap * 2 : 16;
		bytes->block = mem_grow(bytes->block, sizeof(*bytes->block), bytes->cap);
	}
	block = &bytes->block[bytes->head + bytes->n++];
	*block = (struct bytes_block){ .start = start,
				       .cap = bytes->n == 1 && bytes->first == 0 ? BYTES_FIRST : BYTES_BLOCK };
	if (block->cap == BYTES_FIRST)
		block->p = mem_grow(NULL, 1, BYTES_FIRST);
	else
		block->p = bytes->nspare ? bytes->spare[--bytes->nspare] : mem_huge(BYTES_BLOCK);
	return block;
}

/* Returns a block with at least `least` free bytes whose used bytes contain the stream from `keep` to its end. If the
 * last block has too little space, adds a block that starts with a copy of the bytes from `keep` on. */
static struct bytes_block *block_with_space(struct bytes *bytes, uint64_t keep, size_t least)
{
	struct bytes_block *last = bytes_last(bytes), *fresh;
	uint64_t end = bytes_end(bytes);
	const char *remainder;
	size_t n;

	if (last && keep <= end && last->cap - last->n >= least)
		return last;
	n = keep < end ? (size_t)(end - keep) : 0;
	remainder = n ? last->p + (last->n - n) : NULL;
	/* moves the table of blocks, so `last` is invalid from here on; the bytes of the blocks stay where they are */
	fresh = perfbytes_add_block(bytes, keep);
	if (n)
		memcpy(fresh->p, remainder, n);
	fresh->n = n;
	return fresh;
}

struct str bytes_read(struct bytes *bytes, uint64_t at, size_t want)
{
	struct str string = bytes_there(bytes, at);

	while (string.n < want && bytes->more && !bytes->eof) {
		struct bytes_block *block = block_with_space(bytes, at, want - string.n);
		uint64_t end = block->start + block->n;
		size_t space = block->cap - block->n, got;

		if (space > BYTES_PART)
			space = BYTES_PART;
		if (end >= bytes->end)
			space = 0;
		else if (space > bytes->end - end)
			space = (size_t)(bytes->end - end);
		got = space ? bytes->more(bytes->from, block->p + block->n, space, end) : 0;
		block->n += got;
		bytes->eof = got == 0;
		string = bytes_there(bytes, at);
	}
	return string;
}

char *bytes_space(struct bytes *bytes, uint64_t keep, size_t *space)
{
	struct bytes_block *block = block_with_space(bytes, keep, BYTES_FIRST / 4);

	*space = block->cap - block->n < BYTES_PART ? block->cap - block->n : BYTES_PART;
	return block->p + block->n;
}

void bytes_made(struct bytes *bytes, size_t n)
{
	bytes_last(bytes)->n += n;
}

void bytes_reuse(struct bytes *bytes)
{
	while (bytes->n > 1 && bytes->block[bytes->head].users == 0) {
		char *p = bytes->block[bytes->head].p;

		if (bytes->block[bytes->head].cap == BYTES_BLOCK && bytes->nspare < countof(bytes->spare))
			bytes->spare[bytes->nspare++] = p;
		else
			free(p);
		bytes->head++;
		bytes->first++;
		bytes->n--;
	}
}

size_t bytes_memory(const struct bytes *bytes)
{
	return bytes->n * BYTES_BLOCK;
}

void bytes_free(struct bytes *bytes)
{
	for (size_t i = 0; i < bytes->n; i++)
		free(bytes->block[bytes->head + i].p);
	while (bytes->nspare)
		free(bytes->spare[--bytes->nspare]);
	free(bytes->block);
	*bytes = (struct bytes){ 0 };
}
