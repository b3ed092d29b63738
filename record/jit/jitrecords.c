/* SPDX-License-Identifier: Apache-2.0 */
#include "record/jit/jitrecords.h"

#include "common/formats/perfrecord.h"
#include "common/files/fullio.h"

#define BLOCK ((size_t)64 << 10)
#define DUMP_MAGIC 0x4A695444u
#define DUMP_HEADER 40
#define DUMP_HEADER_MAX 4096
#define DUMP_RECORD 16

/* A file that is read in blocks; buf holds n bytes of the file from offset `at` on. */
struct blocks {
	int fd;
	uint64_t at; /* offset in the file of the first byte of buf */
	size_t n;
	char buf[BLOCK];
};

/* Returns a pointer to the n bytes of the file at an offset, valid until the next call; NULL if the file ends before
 * offset + n. */
static const char *jitrecords_bytes_at(struct blocks *blocks, uint64_t at, size_t n)
{
	if (at < blocks->at || at + n > blocks->at + blocks->n) {
		blocks->n = fullio_pread(blocks->fd, blocks->buf, BLOCK, at);
		blocks->at = at;
	}
	return at + n <= blocks->at + blocks->n ? blocks->buf + (at - blocks->at) : NULL;
}

enum jitcopy_records jitrecords_end(int fd, const struct jitcopy_span *span, uint64_t *end)
{
	struct blocks blocks = { .fd = fd };
	const char *p;
	uint32_t n;

	*end = span->at;
	if (span->at == 0) {
		if (!(p = jitrecords_bytes_at(&blocks, 0, DUMP_RECORD)))
			return RECORDS_OK;
		n = load32(p + 8);
		if (load32(p) != DUMP_MAGIC || n < DUMP_HEADER || n > DUMP_HEADER_MAX)
			return RECORDS_BAD;
		if (n > span->size)
			return RECORDS_OK;
		*end = n;
	}
	while (*end - span->at < span->max && span->size - *end >= DUMP_RECORD &&
	       (p = jitrecords_bytes_at(&blocks, *end, DUMP_RECORD))) {
		n = load32(p + 4);
		if (n < DUMP_RECORD)
			return RECORDS_BAD;
		if (n > span->record_max)
			return RECORDS_LARGE;
		if (n > span->size - *end)
			break;
		*end += n;
	}
	return RECORDS_OK;
}
