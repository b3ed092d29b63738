/* SPDX-License-Identifier: Apache-2.0 */
#include "jitcopy.h"

#include "perfrecord.h"
#include "whole.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10) /* and the longest line */
#define DUMP_MAGIC 0x4A695444u
#define DUMP_HEADER 40
#define DUMP_HEADER_MAX 4096
#define DUMP_RECORD 16

const struct jitcopy_limits jitcopy_limits = {
	.map = (uint64_t)32 << 20, .dump = (uint64_t)256 << 20, .total = (uint64_t)1 << 30, .step = (uint64_t)8 << 20
};

/* ---- bytes ------------------------------------------------------------------------------------------------------------ */

static uint64_t size_of(int fd)
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

/* n bytes from where c is go behind the copy; all of them or none. */
static bool append(struct jitcopy *c, int folder, uint64_t n)
{
	int to = open_copy(c, folder, O_CREAT);
	uint64_t before = to >= 0 ? size_of(to) : 0, done = 0;
	char block[BLOCK];
	bool good = to >= 0;

	while (good && done < n) {
		size_t part = n - done < BLOCK ? (size_t)(n - done) : BLOCK;

		good = whole_pread(c->fd, block, part, c->at + done) == part && pwrite(to, block, part, (off_t)(before + done)) == (ssize_t)part;
		if (good) {
			done += part;
			c->ntail = part < sizeof(c->tail) ? (unsigned)part : sizeof(c->tail);
			memcpy(c->tail, block + part - c->ntail, c->ntail);
		}
	}
	if (!good && to >= 0 && ftruncate(to, (off_t)before) < 0)
		good = false; /* the reader skips what is cut */
	if (to >= 0)
		close(to);
	if (!good)
		return false;
	c->at += n;
	c->written += n;
	c->length = before + n;
	return true;
}

/* ---- what is whole ------------------------------------------------------------------------------------------------------ */

/* Bytes of a dump from at (0 or where a record begins) to the end of its last whole record, at most max; false: it is none. */
static bool whole_records(int fd, uint64_t at, uint64_t size, uint64_t max, uint64_t *end)
{
	char p[DUMP_RECORD];
	uint32_t n;

	*end = at;
	if (at == 0) {
		if (whole_pread(fd, p, sizeof(p), 0) < sizeof(p))
			return true;
		n = load32(p + 8);
		if (load32(p) != DUMP_MAGIC || n < DUMP_HEADER || n > DUMP_HEADER_MAX)
			return false;
		if (n > size)
			return true;
		*end = n;
	}
	while (*end - at < max && size - *end >= DUMP_RECORD && whole_pread(fd, p, sizeof(p), *end) == sizeof(p)) {
		n = load32(p + 4);
		if (n < DUMP_RECORD)
			return false;
		if (n > size - *end)
			break;
		*end += n;
	}
	return true;
}

static bool is_map_line(struct str s)
{
	struct str address = str_cut(&s, ' ');
	uint64_t value;

	if (str_starts(address, STR("0x")))
		address = str_from(address, 2);
	return str_hex(address, &value) && s.n;
}

/* Bytes from at to behind the last newline of a block; 0: no whole line. */
static bool whole_lines(struct jitcopy *c, uint64_t at, uint64_t *end)
{
	char block[BLOCK];
	struct str s = { block, whole_pread(c->fd, block, BLOCK, at) };
	ptrdiff_t last = str_rfind(s, '\n');

	*end = at + (uint64_t)(last + 1);
	if (last < 0)
		return s.n < BLOCK;
	return is_map_line(str_cut(&s, '\n'));
}

/* ---- beginning ------------------------------------------------------------------------------------------------------------ */

static bool same_bytes(int a, int b, uint64_t n)
{
	char block[2][BLOCK / 2];

	for (uint64_t at = 0; at < n;) {
		size_t part = n - at < sizeof(block[0]) ? (size_t)(n - at) : sizeof(block[0]);

		if (whole_pread(a, block[0], part, at) < part || whole_pread(b, block[1], part, at) < part || memcmp(block[0], block[1], part) != 0)
			return false;
		at += part;
	}
	return true;
}

/* The copy becomes what was before. */
static void put_aside(struct jitcopy *c, int folder)
{
	char old[80];

	snprintf(old, sizeof(old), "%s.1", c->name);
	if (c->kind == JITCOPY_DUMP || renameat(folder, c->name, folder, old) < 0)
		unlinkat(folder, c->name, 0);
	c->length = 0;
}

/* Where the copy of an earlier run ends: there, or at the beginning. */
static void resume(struct jitcopy *c, int folder)
{
	int copy = open_copy(c, folder, 0);
	uint64_t end = copy >= 0 ? size_of(copy) : 0;
	bool good = end > 0;

	if (good && c->kind == JITCOPY_DUMP)
		good = whole_records(copy, 0, end, UINT64_MAX, &end);
	if (good && c->kind == JITCOPY_MAP) {
		char last = 0;

		good = whole_pread(copy, &last, 1, end - 1) == 1 && last == '\n';
	}
	if (good && end <= size_of(c->fd) && same_bytes(copy, c->fd, end) && ftruncate(copy, (off_t)end) == 0) {
		c->at = c->length = end;
		c->ntail = end < sizeof(c->tail) ? (unsigned)end : sizeof(c->tail);
		whole_pread(copy, c->tail, c->ntail, end - c->ntail);
	} else if (copy >= 0) {
		put_aside(c, folder);
	}
	if (copy >= 0)
		close(copy);
}

static void take(struct jitcopy *c, int fd)
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
	take(c, fd);
	resume(c, folder);
}

void jitcopy_close(struct jitcopy *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void jitcopy_follow(struct jitcopy *c, int fd, int folder, const struct jitcopy_limits *l)
{
	struct stat st;
	uint64_t bytes;

	if (fd < 0)
		return;
	if (c->fd < 0) {
		take(c, fd);
		resume(c, folder);
		return;
	}
	if (fstat(fd, &st) < 0 || (st.st_dev == c->dev && st.st_ino == c->ino)) {
		close(fd);
		return;
	}
	jitcopy_go_on(c, folder, l, &bytes);
	close(c->fd);
	put_aside(c, folder);
	take(c, fd);
}

/* ---- going on ---------------------------------------------------------------------------------------------------------------- */

/* Emptied, or written again from the start: what was before our place is not there any more. */
static bool is_replaced(const struct jitcopy *c, uint64_t size)
{
	char now[sizeof(c->tail)];

	return size < c->at || (c->ntail && (whole_pread(c->fd, now, c->ntail, c->at - c->ntail) < c->ntail ||
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
	s = (struct str){ block, whole_pread(c->fd, block, BLOCK, size - max) };
	line = str_find(s, '\n');
	c->at = size - max + (line >= 0 ? (uint64_t)line + 1 : s.n);
	c->ntail = 0;
}

static enum jitcopy_why copy_lines(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t size)
{
	uint64_t until, end;

	if (c->length > 0 && is_replaced(c, size)) {
		put_aside(c, folder);
		c->at = 0;
		c->ntail = 0;
	}
	if (c->length == 0)
		pass_over(c, size, l->map);
	until = c->at + l->step;
	while (c->at < size && c->at < until) {
		if (!whole_lines(c, c->at, &end))
			return JITCOPY_NO_TEXT;
		if (end == c->at)
			break;
		if (c->written + (end - c->at) > l->total)
			return JITCOPY_LARGE;
		if (c->length + (end - c->at) > l->map)
			put_aside(c, folder);
		if (!append(c, folder, end - c->at))
			return JITCOPY_DISK;
	}
	return JITCOPY_OK;
}

static enum jitcopy_why copy_records(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t size)
{
	uint64_t end;

	if (size < c->at || !whole_records(c->fd, c->at, size, l->step, &end))
		return JITCOPY_NO_TEXT;
	if (end == c->at)
		return JITCOPY_OK;
	if (c->length + (end - c->at) > l->dump || c->written + (end - c->at) > l->total)
		return JITCOPY_LARGE;
	return append(c, folder, end - c->at) ? JITCOPY_OK : JITCOPY_DISK;
}

enum jitcopy_why jitcopy_go_on(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t *bytes)
{
	uint64_t before = c->written, size;
	enum jitcopy_why why = JITCOPY_OK;
	struct stat st;

	*bytes = 0;
	if (c->fd < 0 || c->ended || fstat(c->fd, &st) < 0)
		return JITCOPY_OK;
	size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	if (size != c->at || memcmp(&st.st_mtim, &c->mtime, sizeof(c->mtime)) != 0)
		why = c->kind == JITCOPY_MAP ? copy_lines(c, folder, l, size) : copy_records(c, folder, l, size);
	c->mtime = st.st_mtim;
	*bytes = c->written - before;
	c->ended = why != JITCOPY_OK && why != JITCOPY_DISK;
	return why;
}
