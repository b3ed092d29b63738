/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfbytes.h - a stream of bytes of which single records are kept until their turn comes.
 *
 * Bytes lie in blocks; no record that was asked for as a whole crosses the border of one. A block is used again when
 * nothing in it is held and it is not the last. So memory follows what is held, not the length of the stream, and what
 * is held needs no copy.
 */
#ifndef PJ_PERFBYTES_H
#define PJ_PERFBYTES_H

#include "common/str.h"

#define BYTES_FIRST ((size_t)256 * 1024) /* the first block: small recordings need no more */
#define BYTES_BLOCK ((size_t)2 << 20)    /* those behind it: huge pages */
#define BYTES_PART \
	((size_t)256 * 1024) /* that are read at once, so that they are in the cache when they are looked at */

struct bytes_block {
	uint64_t start; /* in the stream, of its first byte */
	size_t n, cap;
	uint32_t users;
	char *p;
};

/* Up to n bytes of the stream from offset `at` on; 0 at the end. at only grows. */
typedef size_t bytes_more(void *from, char *to, size_t n, uint64_t at);

struct bytes {
	bytes_more *more; /* NULL: only bytes_room and bytes_made add */
	void *from;
	uint64_t end; /* nothing is read from here on */
	bool eof;
	struct bytes_block *block;
	size_t head, n, cap; /* blocks in use: head .. head+n-1 */
	uint64_t first;      /* number of the one at head, of all that ever were */
	char *spare[4];
	size_t nspare;
};

static inline struct bytes_block *bytes_last(const struct bytes *bytes)
{
	return bytes->n ? &bytes->block[bytes->head + bytes->n - 1] : NULL;
}

/* What is in the last block from `at` on. */
static inline struct str bytes_there(const struct bytes *bytes, uint64_t at)
{
	const struct bytes_block *last = bytes_last(bytes);

	if (!last || at < last->start || at >= last->start + last->n)
		return (struct str){ 0 };
	return (struct str){ last->p + (at - last->start), (size_t)(last->start + last->n - at) };
}

/* As bytes_at, where the last block has less. */
struct str bytes_read(struct bytes *bytes, uint64_t at, size_t want);

/* What is there from `at` on, at least `want` bytes (no more than BYTES_FIRST / 2) unless the stream ends before. at is
 * not before that of the call before. Valid until the next call. */
static inline struct str bytes_at(struct bytes *bytes, uint64_t at, size_t want)
{
	struct str string = bytes_there(bytes, at);

	return string.n >= want ? string : bytes_read(bytes, at, want);
}

/* Room to put bytes into, behind the end; what is there from `keep` on stays in one piece with it. Then: so many were
 * put. */
char *bytes_space(struct bytes *bytes, uint64_t keep, size_t *space);
void bytes_made(struct bytes *bytes, size_t n);
uint64_t bytes_end(const struct bytes *bytes); /* of what was read or put so far */

/* Keeps what lies at `at`, in the last block, and says how to find it: a number below 2^62. */
static inline uint64_t bytes_hold(struct bytes *bytes, uint64_t at)
{
	struct bytes_block *last = bytes_last(bytes);

	last->users++;
	return (bytes->first + bytes->n - 1) * BYTES_BLOCK + (at - last->start);
}

/* Of what is held: its bytes (until bytes_drop and bytes_tidy), and its place in the stream. */
static inline struct bytes_block *bytes_block(const struct bytes *bytes, uint64_t held)
{
	return &bytes->block[bytes->head + (size_t)(held / BYTES_BLOCK - bytes->first)];
}

static inline const char *bytes_held(const struct bytes *bytes, uint64_t held)
{
	return bytes_block(bytes, held)->p + held % BYTES_BLOCK;
}

static inline uint64_t bytes_place(const struct bytes *bytes, uint64_t held)
{
	return bytes_block(bytes, held)->start + held % BYTES_BLOCK;
}

static inline void bytes_drop(struct bytes *bytes, uint64_t held)
{
	bytes_block(bytes, held)->users--;
}

void bytes_reuse(struct bytes *bytes);

/* Blocks without use may be used again. */
static inline void bytes_tidy(struct bytes *bytes)
{
	if (bytes->n > 1 && bytes->block[bytes->head].users == 0)
		bytes_reuse(bytes);
}

size_t bytes_memory(const struct bytes *bytes);

void bytes_free(struct bytes *bytes);

#endif
