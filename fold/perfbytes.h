/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfbytes.h - a stream of bytes of which single records are kept until their turn comes.
 *
 * Bytes lie in blocks; no record that was asked for as a whole crosses the border of one. A block is used again when nothing in it is
 * held and it is not the last. So memory follows what is held, not the length of the stream, and what is held needs
 * no copy.
 */
#ifndef PJ_PERFBYTES_H
#define PJ_PERFBYTES_H

#include "str.h"

#define BYTES_BLOCK ((size_t)256 * 1024)

struct bytes_block {
	uint64_t start; /* in the stream, of its first byte */
	size_t n;
	uint32_t users;
	char *p;
};

/* Up to n bytes of the stream from offset `at` on; 0 at the end. at only grows. */
typedef size_t bytes_more(void *from, char *to, size_t n, uint64_t at);

struct bytes {
	bytes_more *more; /* NULL: only bytes_room and bytes_made add */
	void *from;
	uint64_t end;     /* nothing is read from here on */
	bool eof;
	struct bytes_block *block;
	size_t head, n, cap; /* blocks in use: head .. head+n-1 */
	char *spare[8];
	size_t nspare;
};

/* What is there from `at` on, at least `want` bytes (no more than BYTES_BLOCK / 2) unless the stream ends before. at is
 * not before that of the call before. Valid until the next call. */
struct str bytes_at(struct bytes *b, uint64_t at, size_t want);

/* Room to put bytes into, behind the end; what is there from `keep` on stays in one piece with it. Then: so many were put. */
char *bytes_room(struct bytes *b, uint64_t keep, size_t *room);
void bytes_made(struct bytes *b, size_t n);
uint64_t bytes_end(const struct bytes *b); /* of what was read or put so far */

void bytes_hold(struct bytes *b, uint64_t at);              /* of the last block */
const char *bytes_held(const struct bytes *b, uint64_t at); /* as long as it is held, and until bytes_tidy */
void bytes_drop(struct bytes *b, uint64_t at);
void bytes_tidy(struct bytes *b);                           /* blocks without use may be used again */
size_t bytes_memory(const struct bytes *b);

void bytes_free(struct bytes *b);

#endif
