/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/perfmap.h"

#include "common/arena.h"
#include "common/files/fullio.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT ((off_t)1 << 30)
#define LINE_LIMIT ((size_t)64 * 1024)
#define CHUNK ((size_t)128 * 1024)
#define SLOTS_MAX (1u << 18)

/* ---- lines from the end of the file ------------------------------------------------------------------------------ */

/* Reader that returns the lines of a file from its end to its start. In this order, the first returned line that
 * contains an address is the valid line for the address, so further lines with the address are not stored. The file may
 * grow or shrink while it is read: bytes after its initial size are not read, and missing bytes are skipped. */
struct back {
	int fd;
	/* Offset in the file of the first byte in `buf`. */
	off_t at;
	/* File offset at which the reader stops: the lowest offset to read. */
	off_t from;
	/* Buffer of CHUNK + LINE_LIMIT bytes. Its first n bytes were read from the file and are not yet returned. */
	char *buf;
	size_t n;
	/* True if the current line, whose start has not been read yet, is longer than LINE_LIMIT; its bytes are
	 * dropped. */
	bool overlong;
	bool done;
};

static const char too_long[] = "line is longer than 64 kB";

/* Reads up to CHUNK bytes of the file that precede the bytes in `buf`, and puts them at the start of `buf`. */
static void perfmap_fetch(struct back *back)
{
	size_t want = back->at - back->from < (off_t)CHUNK ? (size_t)(back->at - back->from) : CHUNK, got;

	memmove(back->buf + want, back->buf, back->n);
	back->at -= (off_t)want;
	got = fullio_pread(back->fd, back->buf, want, (uint64_t)back->at);
	if (got < want)
		/* The file was truncated while it was read: drop the bytes after the gap, which do not form a line. */
		back->n = 0;
	back->n += got;
}

/* Sets *line to the line that precedes the last returned line in the file. Returns false if the last returned line was
 * the first one of the file. For a line longer than LINE_LIMIT, *line is empty and *why is the error; otherwise *why is
 * NULL. */
static bool back_line(struct back *back, struct str *line, const char **why)
{
	const char *newline;

	*why = NULL;
	if (back->done)
		return false;
	while (!(newline = back->n ? memrchr(back->buf, '\n', back->n) : NULL) && back->at > back->from) {
		if (back->n > LINE_LIMIT || back->overlong) {
			back->overlong = true;
			back->n = 0;
		}
		perfmap_fetch(back);
	}
	back->done = !newline;
	*line = newline ? (struct str){ newline + 1, (size_t)(back->buf + back->n - newline - 1) } :
			  (struct str){ back->buf, back->n };
	back->n = newline ? (size_t)(newline - back->buf) : 0;
	if (back->overlong || line->n > LINE_LIMIT) {
		*line = (struct str){ 0 };
		*why = too_long;
		back->overlong = false;
	}
	return true;
}

/* ---- parser of a line -------------------------------------------------------------------------------------------- */

struct entry {
	uint64_t start, size;
	struct str name;
};

/* Cuts blanks and a hex number, with or without 0x, off *string, and sets *value to the number. Returns false unless a
 * blank follows the number. Uses a table with the value of each digit plus 16, because reading a map spends most of its
 * time here. */
static bool take_hex(struct str *string, uint64_t *value)
{
	static const uint8_t digit[256] = {
		['0'] = 16, 17, 18, 19, 20, 21,         22, 23, 24, 25, ['A'] = 26,
		27,         28, 29, 30, 31, ['a'] = 26, 27, 28, 29, 30, 31,
	};
	const char *p, *end = string->p + string->n, *first;
	uint64_t v = 0;

	for (p = string->p; p < end && byte_is_blank(*p); p++)
		;
	if (end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x')
		p += 2;
	for (first = p; p < end && digit[(unsigned char)*p]; p++) {
		if (v >> 60)
			return false;
		v = v << 4 | (digit[(unsigned char)*p] & 15);
	}
	if (p == first || p == end || !byte_is_blank(*p))
		return false;
	*value = v;
	*string = (struct str){ p, (size_t)(end - p) };
	return true;
}

/* Parses a line. Returns NULL, or the error. Skips NULs at the start of the line: they appear if a process truncates
 * its map and continues to write at the old offset. */
static const char *perfmap_parse(struct str line, struct entry *entry)
{
	while (line.n && line.p[0] == 0)
		line = str_from(line, 1);
	if (!take_hex(&line, &entry->start))
		return "line without a start address";
	if (!take_hex(&line, &entry->size))
		return "no size";
	entry->name = str_trim_left(line);
	if (entry->name.n == 0 || entry->name.p[0] == 0)
		return "no name";
	if (entry->size > UINT64_MAX - entry->start)
		return "ends after the last address";
	return NULL;
}

/* ---- lookup of queries ----------------------------------------------------------------------------------------- */

/* Index of the queries, which are sorted by address. `slot` divides their address range into equal parts, so that a
 * search needs few steps. `open` leads from each query to the next query without a name (a union-find structure), so
 * that a line that covers all queries takes no longer than another line. */
struct finder {
	struct symbols_query *q;
	size_t n;
	uint64_t base, last;
	unsigned shift;
	/* Part i of the address range has the queries [slot[i], slot[i + 1]); slot has nslots + 1 elements. */
	uint32_t nslots, *slot;
	/* n + 1 elements. open[i] == i: query i has no name; otherwise open[i] is a later query. Element n is the end
	 * of the list. */
	uint32_t *open;
};

/* Builds the index of n queries, with at most SLOTS_MAX slots. */
static void finder_init(struct finder *finder, struct symbols_query *query, size_t n)
{
	uint32_t i = 0;

	*finder = (struct finder){ .q = query, .n = n, .base = query[0].address, .last = query[n - 1].address };
	while ((finder->last - finder->base) >> finder->shift >= SLOTS_MAX ||
	       (finder->shift < 63 && (finder->last - finder->base) >> finder->shift >= 16 * n + 16))
		finder->shift++;
	finder->nslots = (uint32_t)((finder->last - finder->base) >> finder->shift) + 1;
	finder->slot = mem_alloc(sizeof(*finder->slot), (size_t)finder->nslots + 1);
	for (uint32_t s = 0; s <= finder->nslots; s++) {
		while (i < n && (query[i].address - finder->base) >> finder->shift < s)
			i++;
		finder->slot[s] = i;
	}
	finder->open = mem_alloc(sizeof(*finder->open), n + 1);
	for (i = 0; i <= n; i++)
		finder->open[i] = i < n && query[i].name ? i + 1 : i;
}

static void finder_free(struct finder *finder)
{
	free(finder->slot);
	free(finder->open);
}

/* Returns the index of the first query at or after `address`; n if there is none. */
static uint32_t perfmap_first_at(const struct finder *finder, uint64_t address)
{
	uint32_t low, high, s;

	if (address <= finder->base)
		return 0;
	if (address > finder->last)
		return (uint32_t)finder->n;
	s = (uint32_t)((address - finder->base) >> finder->shift);
	low = finder->slot[s];
	high = finder->slot[s + 1];
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (finder->q[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns the index of the first query from i on that has no name; n if there is none. */
static uint32_t first_open(const struct finder *finder, uint32_t i)
{
	while (finder->open[i] != i) {
		finder->open[i] = finder->open[finder->open[i]];
		i = finder->open[i];
	}
	return i;
}

/* Returns true if the slots that overlap [start, last] contain no query, so that no search is needed, as for most
 * lines. Returns false if a query may be in [start, last]. */
static bool is_missed(const struct finder *finder, uint64_t start, uint64_t last)
{
	if (last < finder->base || start > finder->last)
		return true;
	start = start > finder->base ? start - finder->base : 0;
	last = (last < finder->last ? last : finder->last) - finder->base;
	return finder->slot[start >> finder->shift] == finder->slot[(last >> finder->shift) + 1];
}

/* Returns the name up to its first NUL, without blanks at its end: perf treats a name as a C string. */
static struct str without_nul(struct str name)
{
	ptrdiff_t nul = str_find(name, 0);

	return str_trim_right(nul < 0 ? name : str_head(name, (size_t)nul));
}

/* Names all queries in the range of `entry` that have no name yet. As in perf, an entry of size 0 names only its start
 * address. Returns the number of queries named. */
static size_t perfmap_answer(struct finder *finder, const struct entry *entry, struct intern *names)
{
	uint64_t span = entry->size ? entry->size : 1;
	uint32_t i, name = 0;
	size_t answered = 0;

	if (is_missed(finder, entry->start, entry->start + (span - 1)))
		return 0;
	for (i = first_open(finder, perfmap_first_at(finder, entry->start));
	     i < finder->n && finder->q[i].address - entry->start < span; i = first_open(finder, i)) {
		uint64_t offset = finder->q[i].address - entry->start;

		name = name ? name : intern(names, without_nul(entry->name));
		finder->q[i].name = name;
		finder->q[i].offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
		finder->open[i] = i + 1;
		answered++;
	}
	return answered;
}

/* Adds an invalid line with the error `why` to *tally. Stores the line's number, counted from the end of the file; the
 * last call is for the invalid line nearest to the start of the file. */
static void perfmap_count_bad(struct perfmap_tally *tally, const char *why)
{
	tally->bad++;
	tally->why = why;
	tally->first_bad = tally->lines;
}

ptrdiff_t perfmap_resolve(int fd, struct symbols_query *query, size_t n, struct intern *names,
			  struct perfmap_tally *tally)
{
	struct finder finder;
	struct entry entry;
	struct back back = { .fd = fd };
	size_t answered = 0;
	struct stat status;
	struct str line;
	const char *why;
	bool first = true;

	*tally = (struct perfmap_tally){ 0 };
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	if (n == 0 || n >= UINT32_MAX)
		return 0;
	back.at = status.st_size;
	/* Read only the end of a file larger than FILE_LIMIT: it has the latest lines. */
	back.from = status.st_size > FILE_LIMIT ? status.st_size - FILE_LIMIT : 0;
	tally->cut = back.from > 0;
	back.buf = mem_alloc(1, CHUNK + LINE_LIMIT);
	finder_init(&finder, query, n);
	while (back_line(&back, &line, &why)) {
		/* The empty string after the last newline of the file is not a line. */
		bool nothing = line.n == 0 && !why && first;

		first = false;
		if (nothing || (back.done && tally->cut))
			continue;
		tally->lines++;
		if (!why && str_is_blank(line))
			continue;
		why = why ? why : perfmap_parse(line, &entry);
		if (why)
			perfmap_count_bad(tally, why);
		else
			answered += perfmap_answer(&finder, &entry, names);
	}
	/* first_bad is the line's number counted from the end of the file: convert it to the number counted from the
	 * start. */
	tally->first_bad = tally->first_bad && !tally->cut ? tally->lines - tally->first_bad + 1 : 0;
	finder_free(&finder);
	free(back.buf);
	return (ptrdiff_t)answered;
}
