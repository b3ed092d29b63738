/* SPDX-License-Identifier: Apache-2.0 */
#include "record/jit/jitcopy.h"

#include "common/clocks.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)    /* and the longest line */
#define CHUNK ((uint64_t)256 << 10) /* complete records are copied in such parts */
#define PAGE 4096u
#define LATE_MAX 20
#define MB ((uint64_t)1 << 20)

const struct jitcopy_limits jitcopy_limits = {
	.map = 32 * MB, .dump = 256 * MB, .total = 1024 * MB, .step = 8 * MB, .record = 16 * MB, .ns = SECOND_NS / 5
};

/* ---- bytes
 * ------------------------------------------------------------------------------------------------------------ */

static uint64_t jitcopy_size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static int open_copy(const struct jitcopy *c, int folder, int flags)
{
	int fd = openat(folder, c->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0640);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool jitcopy_is_late(const struct jitcopy *c)
{
	return clock_now() > c->deadline;
}

/* Bytes of a hole at `at`, at most n. File systems that do not show holes have none. */
static uint64_t hole_at(int fd, uint64_t at, uint64_t n)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? n : 0;
	return (uint64_t)data <= at ? 0 : (uint64_t)data - at < n ? (uint64_t)data - at : n;
}

static bool jitcopy_is_zero(const char *p, size_t n)
{
	return n && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Writes the pages of a block that are not all zeros. False: no room. */
static bool write_pages(int to, const char *block, size_t n, uint64_t at, uint64_t *written)
{
	size_t start = 0, page;

	for (size_t i = 0;; i += page) {
		page = PAGE - (at + i) % PAGE < n - i ? PAGE - (at + i) % PAGE : n - i;
		if (page && !jitcopy_is_zero(block + i, page))
			continue;
		if (i > start && pwrite(to, block + start, i - start, (off_t)(at + start)) != (ssize_t)(i - start))
			return false;
		*written += i - start;
		start = i + page;
		if (i == n)
			return true;
	}
}

/* The next part of n bytes at c->at + done, from the file to the copy. Returns its size; 0 if the file ends or answers
 * too slowly, or with *full set if the copy cannot be written. */
static uint64_t copy_part(struct jitcopy *c, int to, uint64_t n, uint64_t done, uint64_t before,
			  struct jitcopy_cost *cost, bool *full)
{
	char block[BLOCK];
	size_t part = n - done < BLOCK ? (size_t)(n - done) : BLOCK;
	uint64_t hole = hole_at(c->fd, c->at + done, n - done);

	if (hole) {
		c->ntail = 0;
		return hole;
	}
	if (jitcopy_is_late(c))
		return 0;
	if (fullio_pread(c->fd, block, part, c->at + done) < part)
		return 0;
	cost->read += part;
	*full = !write_pages(to, block, part, before + done, &cost->written);
	if (*full)
		return 0;
	c->ntail = part < sizeof(c->tail) ? (unsigned)part : sizeof(c->tail);
	memcpy(c->tail, block + part - c->ntail, c->ntail);
	return part;
}

/* The next n bytes of the file to the end of the copy, all of them or none. */
static enum jitcopy_why jitcopy_append(struct jitcopy *c, int folder, uint64_t n, struct jitcopy_cost *cost)
{
	int to = open_copy(c, folder, c->length ? 0 : O_CREAT);
	uint64_t before = to >= 0 ? jitcopy_size_of(to) : 0, done = 0, part = 1;
	bool full = to < 0;

	if (c->length && ((to < 0 && errno == ENOENT) || (to >= 0 && before != c->length))) {
		if (to >= 0)
			close(to);
		return JITCOPY_EVICTED;
	}
	while (!full && part && done < n) {
		part = copy_part(c, to, n, done, before, cost, &full);
		done += part;
	}
	if (to >= 0 && ftruncate(to, (off_t)(done < n ? before : before + n)) < 0) /* the reader skips what is cut */
		full = true;
	if (to >= 0)
		close(to);
	if (done == n && !full) {
		c->at += n;
		c->length = before + n;
		c->written += n;
		c->late = 0;
	}
	return full ? JITCOPY_DISK : JITCOPY_OK;
}

/* ---- what is whole
 * ------------------------------------------------------------------------------------------------------ */

/* Asks for the end of complete records; RECORDS_LATER and `at` if there is no answer for now. */
static enum jitcopy_records jitcopy_find_records(const struct jitcopy_limits *l, int fd,
						 const struct jitcopy_span *span, uint64_t *end)
{
	enum jitcopy_records records = l->records ? l->records(l->to, fd, span, end) : RECORDS_LATER;

	if (records == RECORDS_LATER || *end < span->at || *end > span->size)
		*end = span->at;
	return records;
}

/* Bytes from at to behind the last newline of a block; 0: no complete line. No number in it is read: that it begins as
 * an address does is enough to tell a map from another file. */
static bool complete_lines(struct jitcopy *c, uint64_t at, uint64_t *end)
{
	char block[BLOCK];
	struct str s = { block, fullio_pread(c->fd, block, BLOCK, at) };
	ptrdiff_t last = str_rfind(s, '\n');

	*end = at + (uint64_t)(last + 1);
	if (last < 0)
		return s.n < BLOCK;
	return byte_is_hex(block[0]);
}

/* ---- beginning
 * ------------------------------------------------------------------------------------------------------------ */

/* Have both files the same bytes from `at` to `end`? */
static bool jitcopy_same_bytes(int a, int b, uint64_t at, uint64_t end, struct jitcopy_cost *cost)
{
	char block[2][BLOCK / 2];

	while (at < end) {
		size_t part = end - at < sizeof(block[0]) ? (size_t)(end - at) : sizeof(block[0]);
		uint64_t hole = hole_at(a, at, end - at), other = hole ? hole_at(b, at, hole) : 0;

		if (other) {
			at += other;
			continue;
		}
		cost->read += part;
		if (fullio_pread(a, block[0], part, at) < part || fullio_pread(b, block[1], part, at) < part ||
		    memcmp(block[0], block[1], part) != 0)
			return false;
		at += part;
	}
	return true;
}

/* The copy becomes what was before. */
static void put_aside(struct jitcopy *c, int folder)
{
	char old[JITCOPY_NAME + 4];

	snprintf(old, sizeof(old), "%s.1", c->name);
	if (c->kind == JITCOPY_DUMP || renameat(folder, c->name, folder, old) < 0)
		unlinkat(folder, c->name, 0);
	c->length = c->earlier = 0;
}

/* There is a copy of an earlier run: it is compared with the file, a part in each call. */
static void jitcopy_resume(struct jitcopy *c, int folder)
{
	int copy = open_copy(c, folder, 0);
	uint64_t end = copy >= 0 ? jitcopy_size_of(copy) : 0;
	char last = '\n';

	c->earlier = c->length = end;
	if (end && c->kind == JITCOPY_MAP && fullio_pread(copy, &last, 1, end - 1) == 1 && last != '\n')
		put_aside(c, folder);
	else if (copy >= 0 && !end)
		put_aside(c, folder);
	if (copy >= 0)
		close(copy);
}

/* Compares a further part. What is not the same becomes what was before, and the file is copied from its start. False:
 * later. */
static bool compare_earlier(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t size,
			    struct jitcopy_cost *cost)
{
	int copy = open_copy(c, folder, 0);
	uint64_t end = c->earlier - c->at < CHUNK ? c->earlier : c->at + CHUNK;
	bool good = copy >= 0 && jitcopy_size_of(copy) == c->earlier, later = false;

	if (good && c->kind == JITCOPY_DUMP) {
		struct jitcopy_span span = { c->at, c->earlier, CHUNK, l->record };
		int reader = openat(folder, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		enum jitcopy_records records =
			reader >= 0 ? jitcopy_find_records(l, reader, &span, &end) : RECORDS_LATER;

		if (reader >= 0)
			close(reader);
		later = records == RECORDS_LATER;
		good = records == RECORDS_OK;
	}
	good = good && end <= size && jitcopy_same_bytes(copy, c->fd, c->at, end, cost);
	if (good && end > c->at && end < c->earlier) {
		c->at = end;
	} else if (good && end > 0 &&
		   ftruncate(copy, (off_t)end) == 0) { /* the recorder may have been killed while it wrote a record */
		c->at = c->length = end;
		c->earlier = 0;
		c->ntail = end < sizeof(c->tail) ? (unsigned)end : sizeof(c->tail);
		fullio_pread(copy, c->tail, c->ntail, end - c->ntail);
	} else if (!jitcopy_is_late(c) && !later) {
		put_aside(c, folder);
		c->at = 0;
	}
	if (copy >= 0)
		close(copy);
	return !later;
}

static void jitcopy_take(struct jitcopy *c, int fd)
{
	struct stat st = { 0 };

	fstat(fd, &st);
	c->fd = fd;
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	c->at = 0;
	c->ntail = 0;
}

void jitcopy_open(struct jitcopy *c, enum jitcopy_kind kind, int fd, int folder, const char *name)
{
	*c = (struct jitcopy){ .kind = kind, .fd = -1 };
	snprintf(c->name, sizeof(c->name), "%s", name);
	if (fd < 0)
		return;
	jitcopy_take(c, fd);
	jitcopy_resume(c, folder);
}

void jitcopy_close(struct jitcopy *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void jitcopy_follow(struct jitcopy *c, int fd, int folder, const struct jitcopy_limits *l)
{
	struct jitcopy_cost cost;
	struct stat st;

	if (fd < 0)
		return;
	if (c->fd < 0) {
		jitcopy_take(c, fd);
		jitcopy_resume(c, folder);
		return;
	}
	if (fstat(fd, &st) < 0 || (st.st_dev == c->dev && st.st_ino == c->ino)) {
		close(fd);
		return;
	}
	jitcopy_go_on(c, folder, l, &cost);
	close(c->fd);
	put_aside(c, folder);
	jitcopy_take(c, fd);
}

/* ---- going on
 * ---------------------------------------------------------------------------------------------------------------- */

/* Emptied, or written again from the start: what was before our place is not there any more. */
static bool is_replaced(const struct jitcopy *c, uint64_t size)
{
	char now[sizeof(c->tail)];

	return size < c->at || (c->ntail && (fullio_pread(c->fd, now, c->ntail, c->at - c->ntail) < c->ntail ||
					     memcmp(now, c->tail, c->ntail) != 0));
}

/* A map that is longer than its copy may be: its end is what matters. */
static void pass_over(struct jitcopy *c, uint64_t size, uint64_t max)
{
	char block[BLOCK];
	struct str s;
	ptrdiff_t line;

	if (size - c->at <= max)
		return;
	s = (struct str){ block, fullio_pread(c->fd, block, BLOCK, size - max) };
	line = str_find(s, '\n');
	c->at = size - max + (line >= 0 ? (uint64_t)line + 1 : s.n);
	c->ntail = 0;
}

static enum jitcopy_why copy_lines(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t size,
				   struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	uint64_t until, end;

	if (c->length > 0 && is_replaced(c, size)) {
		put_aside(c, folder);
		c->at = 0;
		c->ntail = 0;
	}
	if (c->length == 0)
		pass_over(c, size, l->map);
	until = c->at + l->step;
	while (why == JITCOPY_OK && c->at < size && c->at < until && !jitcopy_is_late(c)) {
		uint64_t before = c->at;

		if (!complete_lines(c, c->at, &end))
			return JITCOPY_NO_TEXT;
		if (end == c->at)
			break;
		if (c->written + (end - c->at) > l->total)
			return JITCOPY_LARGE;
		if (c->length + (end - c->at) > l->map)
			put_aside(c, folder);
		why = jitcopy_append(c, folder, end - c->at, cost);
		if (why == JITCOPY_EVICTED) { /* newer lines follow in a new copy */
			c->length = 0;
			why = JITCOPY_OK;
			continue;
		}
		if (c->at == before)
			break;
	}
	return why;
}

static enum jitcopy_why copy_records(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t size,
				     struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	uint64_t until = c->at + l->step, end;

	if (size < c->at)
		return JITCOPY_NO_TEXT;
	while (why == JITCOPY_OK && c->at < until && !jitcopy_is_late(c)) {
		uint64_t before = c->at;
		enum jitcopy_records records =
			jitcopy_find_records(l, c->fd, &(struct jitcopy_span){ c->at, size, CHUNK, l->record }, &end);

		if (records == RECORDS_BAD)
			return JITCOPY_NO_TEXT;
		if (end == c->at)
			return records == RECORDS_LARGE ? JITCOPY_LARGE : JITCOPY_OK;
		if (end > l->dump || c->written + (end - c->at) > l->total)
			return JITCOPY_LARGE;
		why = jitcopy_append(c, folder, end - c->at, cost);
		if (c->at == before)
			break;
	}
	return why;
}

enum jitcopy_why jitcopy_go_on(struct jitcopy *c, int folder, const struct jitcopy_limits *l, struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	struct stat st;
	uint64_t size, before = c->at;

	*cost = (struct jitcopy_cost){ 0 };
	if (c->fd < 0 || c->ended || fstat(c->fd, &st) < 0)
		return JITCOPY_OK;
	c->deadline = clock_now() + l->ns;
	size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	while (c->earlier && cost->read < l->step && !jitcopy_is_late(c) && compare_earlier(c, folder, l, size, cost))
		;
	if (!c->earlier && (size != c->at || memcmp(&st.st_mtim, &c->mtime, sizeof(c->mtime)) != 0))
		why = c->kind == JITCOPY_MAP ? copy_lines(c, folder, l, size, cost) :
					       copy_records(c, folder, l, size, cost);
	if (why == JITCOPY_OK && jitcopy_is_late(c) && c->at == before && ++c->late == LATE_MAX)
		why = JITCOPY_LARGE;
	c->mtime = st.st_mtim;
	c->ended = why != JITCOPY_OK && why != JITCOPY_DISK;
	return why;
}

bool jitcopy_is_after(const struct jitcopy *c)
{
	return c->fd >= 0 && !c->ended && jitcopy_size_of(c->fd) > c->at;
}
