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

/* ---- lines, the last one first --------------------------------------------------------------------------------- */

/* Read backwards the first line that holds an address is the one that counts, and nothing has to be remembered of the
 * others. The file may grow or shrink meanwhile: what was there at first is asked for, what is gone is passed over. */
struct back {
	int fd;
	off_t at;   /* where in the file buf begins */
	off_t from; /* where reading ends */
	char *buf;  /* CHUNK + LINE_LIMIT bytes, the first n are still to come */
	size_t n;
	bool overlong; /* the line whose begin is sought is too long already */
	bool done;
};

static const char too_long[] = "line is longer than 64 kB";

/* The bytes before those that are there, which move up. */
static void perfmap_fetch(struct back *b)
{
	size_t want = b->at - b->from < (off_t)CHUNK ? (size_t)(b->at - b->from) : CHUNK, got;

	memmove(b->buf + want, b->buf, b->n);
	b->at -= (off_t)want;
	got = fullio_pread(b->fd, b->buf, want, (uint64_t)b->at);
	if (got < want)
		b->n = 0; /* it shrank: what was behind belongs to nothing any more */
	b->n += got;
}

/* False when all were delivered. *line is empty for one that is too long, with *why. */
static bool back_line(struct back *b, struct str *line, const char **why)
{
	const char *newline;

	*why = NULL;
	if (b->done)
		return false;
	while (!(newline = b->n ? memrchr(b->buf, '\n', b->n) : NULL) && b->at > b->from) {
		if (b->n > LINE_LIMIT || b->overlong) {
			b->overlong = true;
			b->n = 0;
		}
		perfmap_fetch(b);
	}
	b->done = !newline;
	*line = newline ? (struct str){ newline + 1, (size_t)(b->buf + b->n - newline - 1) } :
			  (struct str){ b->buf, b->n };
	b->n = newline ? (size_t)(newline - b->buf) : 0;
	if (b->overlong || line->n > LINE_LIMIT) {
		*line = (struct str){ 0 };
		*why = too_long;
		b->overlong = false;
	}
	return true;
}

/* ---- a line ---------------------------------------------------------------------------------------------------- */

struct entry {
	uint64_t start, size;
	struct str name;
};

/* A hex number with or without 0x, and the blanks around it. The value of a digit by its byte: this is most of the
 * work. */
static bool take_hex(struct str *s, uint64_t *value)
{
	static const uint8_t digit[256] = {
		['0'] = 16, 17, 18, 19, 20, 21,         22, 23, 24, 25, ['A'] = 26,
		27,         28, 29, 30, 31, ['a'] = 26, 27, 28, 29, 30, 31,
	};
	const char *p, *end = s->p + s->n, *first;
	uint64_t v = 0;

	for (p = s->p; p < end && byte_is_blank(*p); p++)
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
	*s = (struct str){ p, (size_t)(end - p) };
	return true;
}

/* NULL, or why line is none of a perf map. A writer that truncated its file and went on leaves NULs in front. */
static const char *perfmap_parse(struct str line, struct entry *e)
{
	while (line.n && line.p[0] == 0)
		line = str_from(line, 1);
	if (!take_hex(&line, &e->start))
		return "no start address";
	if (!take_hex(&line, &e->size))
		return "no size";
	e->name = str_trim_left(line);
	if (e->name.n == 0 || e->name.p[0] == 0)
		return "no name";
	if (e->size > UINT64_MAX - e->start)
		return "ends behind the last address";
	return NULL;
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

/* Where in the sorted queries an address belongs, at once: the first query of each slice of their range. And of each
 * query the next one that has no answer: lines that cover all of them cost no more than others. */
struct finder {
	struct symbols_query *q;
	size_t n;
	uint64_t base, last;
	unsigned shift;
	uint32_t nslots, *slot; /* nslots + 1 */
	uint32_t *open;         /* n + 1; the last points at itself */
};

static void finder_init(struct finder *f, struct symbols_query *q, size_t n)
{
	uint32_t i = 0;

	*f = (struct finder){ .q = q, .n = n, .base = q[0].address, .last = q[n - 1].address };
	while ((f->last - f->base) >> f->shift >= SLOTS_MAX ||
	       (f->shift < 63 && (f->last - f->base) >> f->shift >= 16 * n + 16))
		f->shift++;
	f->nslots = (uint32_t)((f->last - f->base) >> f->shift) + 1;
	f->slot = mem_alloc(sizeof(*f->slot), (size_t)f->nslots + 1);
	for (uint32_t s = 0; s <= f->nslots; s++) {
		while (i < n && (q[i].address - f->base) >> f->shift < s)
			i++;
		f->slot[s] = i;
	}
	f->open = mem_alloc(sizeof(*f->open), n + 1);
	for (i = 0; i <= n; i++)
		f->open[i] = i < n && q[i].name ? i + 1 : i;
}

static void finder_free(struct finder *f)
{
	free(f->slot);
	free(f->open);
}

/* The first query at or behind address. */
static uint32_t perfmap_first_at(const struct finder *f, uint64_t address)
{
	uint32_t lo, hi, s;

	if (address <= f->base)
		return 0;
	if (address > f->last)
		return (uint32_t)f->n;
	s = (uint32_t)((address - f->base) >> f->shift);
	lo = f->slot[s];
	hi = f->slot[s + 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->q[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t first_open(const struct finder *f, uint32_t i)
{
	while (f->open[i] != i) {
		f->open[i] = f->open[f->open[i]];
		i = f->open[i];
	}
	return i;
}

/* Most lines hold no address that was asked for: nothing but slots is looked at then. */
static bool is_missed(const struct finder *f, uint64_t start, uint64_t last)
{
	if (last < f->base || start > f->last)
		return true;
	start = start > f->base ? start - f->base : 0;
	last = (last < f->last ? last : f->last) - f->base;
	return f->slot[start >> f->shift] == f->slot[(last >> f->shift) + 1];
}

/* As perf, where a name is a C string. */
static struct str without_nul(struct str name)
{
	ptrdiff_t nul = str_find(name, 0);

	return str_trim_right(nul < 0 ? name : str_head(name, (size_t)nul));
}

/* Gives the name to what has none yet in the range. Without size it is that of its start alone, as with perf. */
static size_t perfmap_answer(struct finder *f, const struct entry *e, struct intern *names)
{
	uint64_t span = e->size ? e->size : 1;
	uint32_t i, name = 0;
	size_t answered = 0;

	if (is_missed(f, e->start, e->start + (span - 1)))
		return 0;
	for (i = first_open(f, perfmap_first_at(f, e->start)); i < f->n && f->q[i].address - e->start < span;
	     i = first_open(f, i)) {
		uint64_t offset = f->q[i].address - e->start;

		name = name ? name : intern(names, without_nul(e->name));
		f->q[i].name = name;
		f->q[i].offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
		f->open[i] = i + 1;
		answered++;
	}
	return answered;
}

/* Lines are counted from the end while they are read. */
static void perfmap_count_bad(struct perfmap_tally *t, const char *why)
{
	t->bad++;
	t->why = why;
	t->first_bad = t->lines;
}

ptrdiff_t perfmap_resolve(int fd, struct symbols_query *q, size_t n, struct intern *names, struct perfmap_tally *t)
{
	struct finder f;
	struct entry e;
	struct back b = { .fd = fd };
	size_t answered = 0;
	struct stat st;
	struct str line;
	const char *why;
	bool first = true;

	*t = (struct perfmap_tally){ 0 };
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	if (n == 0 || n >= UINT32_MAX)
		return 0;
	b.at = st.st_size;
	b.from = st.st_size > FILE_LIMIT ? st.st_size - FILE_LIMIT : 0; /* the newest part */
	t->cut = b.from > 0;
	b.buf = mem_alloc(1, CHUNK + LINE_LIMIT);
	finder_init(&f, q, n);
	while (back_line(&b, &line, &why)) {
		bool nothing = line.n == 0 && !why && first; /* behind the last newline */

		first = false;
		if (nothing || (b.done && t->cut))
			continue;
		t->lines++;
		if (!why && str_is_blank(line))
			continue;
		why = why ? why : perfmap_parse(line, &e);
		if (why)
			perfmap_count_bad(t, why);
		else
			answered += perfmap_answer(&f, &e, names);
	}
	/* the number from the end becomes that from the start */
	t->first_bad = t->first_bad && !t->cut ? t->lines - t->first_bad + 1 : 0;
	finder_free(&f);
	free(b.buf);
	return (ptrdiff_t)answered;
}
