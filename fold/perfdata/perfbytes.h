/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfbytes.h - buffer for a stream of bytes; its user can hold single records of the stream for later use.
 *
 * The bytes of the stream are stored in blocks. bytes_at() returns the bytes of a record contiguously, in one block. A
 * block is reused when it is not the last one, and no record in it or in a block before it is held. So the memory
 * depends on the held records, not on the length of the stream, and held records need no copy.
 *
 * If the owner sets `more`, `from` and `end`, bytes_at() reads the stream; without `more` the owner appends the bytes:
 *     s = bytes_at(&bytes, at, size);            read until size bytes are there
 *     held = bytes_hold(&bytes, at);             hold the record
 *     ... bytes_held(&bytes, held) ...           later, after any number of bytes_at()
 *     bytes_drop(&bytes, held); bytes_tidy(&bytes);
 *
 *     to = bytes_space(&bytes, keep, &space);    append without `more`
 *     bytes_made(&bytes, n);
 */
#ifndef PJ_PERFBYTES_H
#define PJ_PERFBYTES_H

#include "common/str.h"

/* Size in bytes of the first block; small recordings need no other block. */
#define BYTES_FIRST ((size_t)256 * 1024)
/* Size in bytes of all blocks but the first; they use huge pages. */
#define BYTES_BLOCK ((size_t)2 << 20)
/* Maximum number of bytes of one read; a larger request needs several reads. Bytes of a read of this size are still in
 * the CPU's cache when they are parsed. */
#define BYTES_PART ((size_t)256 * 1024)

/* One block of the stream. The buffer at p has `cap` bytes, of which the first n are used. */
struct bytes_block {
	/* Offset in the stream of the first byte of the block. */
	uint64_t start;
	size_t n, cap;
	/* Number of held records in the block. */
	uint32_t users;
	char *p;
};

/* Reads up to n bytes of the stream from offset `at` into `to`. Returns the number of bytes, 0 at the end of the
 * stream. `at` never decreases from one call to the next. */
typedef size_t bytes_more(void *from, char *to, size_t n, uint64_t at);

/* The stream; a struct of zeros is empty and has no source. */
struct bytes {
	/* Source of the bytes, called with `from`. NULL if only bytes_space() and bytes_made() append. */
	bytes_more *more;
	/* First argument of `more`. */
	void *from;
	/* Offset in the stream at which reading stops. */
	uint64_t end;
	/* True after the end of the stream: `more` returned 0, or `end` was reached. */
	bool eof;
	/* Table of blocks with `cap` elements; the blocks in use are block[head, head + n). */
	struct bytes_block *block;
	size_t head, n, cap;
	/* Number of blocks of the stream that were released before block[head]; block numbers are never reused. */
	uint64_t first;
	/* nspare free blocks of BYTES_BLOCK bytes each, which are reused before new blocks are allocated. */
	char *spare[4];
	size_t nspare;
};

/* Returns the last block, NULL if there is none. */
static inline struct bytes_block *bytes_last(const struct bytes *bytes)
{
	return bytes->n ? &bytes->block[bytes->head + bytes->n - 1] : NULL;
}

/* Returns the bytes of the last block from offset `at` to its end; empty if `at` is not in the last block. */
static inline struct str bytes_there(const struct bytes *bytes, uint64_t at)
{
	const struct bytes_block *last = bytes_last(bytes);

	if (!last || at < last->start || at >= last->start + last->n)
		return (struct str){ 0 };
	return (struct str){ last->p + (at - last->start), (size_t)(last->start + last->n - at) };
}

/* Slow path of bytes_at(): reads until `want` bytes from offset `at` on are buffered or the stream ends. Returns the
 * buffered bytes. */
struct str bytes_read(struct bytes *bytes, uint64_t at, size_t want);

/* Returns the buffered bytes from offset `at` of the stream: at least `want` bytes, or fewer if the stream ends before.
 * `want` may be at most BYTES_FIRST / 2. `at` must not be less than in the previous call. The result is valid until the
 * next call. */
static inline struct str bytes_at(struct bytes *bytes, uint64_t at, size_t want)
{
	struct str string = bytes_there(bytes, at);

	return string.n >= want ? string : bytes_read(bytes, at, want);
}

/* Returns memory for the next bytes of the stream, and sets *space to the size of this memory in bytes. The bytes from
 * offset `keep` on will be in the same block as the new bytes. The caller writes into the memory, and then calls
 * bytes_made() with the number of bytes. */
char *bytes_space(struct bytes *bytes, uint64_t keep, size_t *space);

/* Appends to the stream the first n bytes of the memory that bytes_space() returned, after the caller has written
 * them. */
void bytes_made(struct bytes *bytes, size_t n);

/* Returns the number of bytes of the stream that were read or appended so far: this is also the offset of the end of
 * these bytes. */
uint64_t bytes_end(const struct bytes *bytes);

/* Holds the record at offset `at` of the stream until bytes_drop(). The record must be in the last block. Returns its
 * handle, a number below 2^62: block number times BYTES_BLOCK, plus the offset in the block. */
static inline uint64_t bytes_hold(struct bytes *bytes, uint64_t at)
{
	struct bytes_block *last = bytes_last(bytes);

	last->users++;
	return (bytes->first + bytes->n - 1) * BYTES_BLOCK + (at - last->start);
}

/* Returns the block of a held record. The pointer is valid until the next bytes_at() or bytes_space(), which may move
 * the table of blocks. */
static inline struct bytes_block *bytes_block(const struct bytes *bytes, uint64_t held)
{
	return &bytes->block[bytes->head + (size_t)(held / BYTES_BLOCK - bytes->first)];
}

/* Returns the bytes of a held record; they are valid until bytes_drop() and bytes_tidy(). Unlike results of bytes_at(),
 * they do not move when more bytes are read. */
static inline const char *bytes_held(const struct bytes *bytes, uint64_t held)
{
	return bytes_block(bytes, held)->p + held % BYTES_BLOCK;
}

/* Returns the offset of a held record in the stream. */
static inline uint64_t bytes_place(const struct bytes *bytes, uint64_t held)
{
	return bytes_block(bytes, held)->start + held % BYTES_BLOCK;
}

/* Releases a held record. Its memory is reused at the earliest in bytes_tidy(). */
static inline void bytes_drop(struct bytes *bytes, uint64_t held)
{
	bytes_block(bytes, held)->users--;
}

/* Slow path of bytes_tidy(): moves the blocks before the first block with held records to the spare blocks, or frees
 * them. The last block stays. */
void bytes_reuse(struct bytes *bytes);

/* Releases the blocks before the first block with held records, so that new bytes can use their memory. The last block
 * stays. */
static inline void bytes_tidy(struct bytes *bytes)
{
	if (bytes->n > 1 && bytes->block[bytes->head].users == 0)
		bytes_reuse(bytes);
}

/* Returns an upper bound of the size of the blocks in use, in bytes. */
size_t bytes_memory(const struct bytes *bytes);

/* Frees all blocks, held records included. */
void bytes_free(struct bytes *bytes);

#endif
