/* SPDX-License-Identifier: Apache-2.0 */
#include "record/jit/jitcopy.h"

#include "common/clocks.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of bytes that are read at once; also the maximum length of a line in a map. */
#define BLOCK ((size_t)64 << 10)
#define CHUNK ((uint64_t)256 << 10) /* Number of bytes of complete records that are copied at once. */
#define PAGE 4096u
#define LATE_MAX 20
#define MB ((uint64_t)1 << 20)

const struct jitcopy_limits jitcopy_limits = {
	.map = 32 * MB, .dump = 256 * MB, .total = 1024 * MB, .step = 8 * MB, .record = 16 * MB, .ns = SECOND_NS / 5
};

/* ---- holes and writing of bytes ----------------------------------------------------------------------------- */

static uint64_t jitcopy_size_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static int open_copy(const struct jitcopy *jitcopy, int folder, int flags)
{
	int fd = openat(folder, jitcopy->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0640);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool jitcopy_is_late(const struct jitcopy *jitcopy)
{
	return clock_now() > jitcopy->deadline;
}

/* Returns the number of bytes from offset `at` to the end of the hole at `at`, at most n; 0 if `at` is not in a hole,
 * or if the file system does not report holes. */
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

/* Writes the n bytes of a block to the file `to` at offset `at`. Pages of zeros are not written and become holes. Adds
 * the number of written bytes to *written. Returns false if the disk is full. */
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

/* Copies bytes of the file from jitcopy->at + done on, at most up to jitcopy->at + n, to offset before + done of the
 * copy. Returns the number of copied bytes; 0 if the file ends there, if the deadline has passed, or if the copy cannot
 * be written (then *full is true). */
static uint64_t copy_part(struct jitcopy *jitcopy, int to, uint64_t n, uint64_t done, uint64_t before,
			  struct jitcopy_cost *cost, bool *full)
{
	char block[BLOCK];
	size_t part = n - done < BLOCK ? (size_t)(n - done) : BLOCK;
	uint64_t hole = hole_at(jitcopy->fd, jitcopy->at + done, n - done);

	if (hole) {
		jitcopy->ntail = 0;
		return hole;
	}
	if (jitcopy_is_late(jitcopy))
		return 0;
	if (fullio_pread(jitcopy->fd, block, part, jitcopy->at + done) < part)
		return 0;
	cost->read += part;
	*full = !write_pages(to, block, part, before + done, &cost->written);
	if (*full)
		return 0;
	jitcopy->ntail = part < sizeof(jitcopy->last_bytes) ? (unsigned)part : sizeof(jitcopy->last_bytes);
	memcpy(jitcopy->last_bytes, block + part - jitcopy->ntail, jitcopy->ntail);
	return part;
}

/* Appends the next n bytes of the file to the copy: all n bytes, or none if the file is too short or the deadline
 * passes. Returns JITCOPY_OK in both cases; JITCOPY_DISK if the copy cannot be written, JITCOPY_EVICTED if it was
 * removed or truncated. */
static enum jitcopy_why jitcopy_append(struct jitcopy *jitcopy, int folder, uint64_t n, struct jitcopy_cost *cost)
{
	int to = open_copy(jitcopy, folder, jitcopy->length ? 0 : O_CREAT);
	uint64_t before = to >= 0 ? jitcopy_size_of(to) : 0, done = 0, part = 1;
	bool full = to < 0;

	if (jitcopy->length && ((to < 0 && errno == ENOENT) || (to >= 0 && before != jitcopy->length))) {
		if (to >= 0)
			close(to);
		return JITCOPY_EVICTED;
	}
	while (!full && part && done < n) {
		part = copy_part(jitcopy, to, n, done, before, cost, &full);
		done += part;
	}
	/* removes an incomplete part, so that readers do not see it */
	if (to >= 0 && ftruncate(to, (off_t)(done < n ? before : before + n)) < 0)
		full = true;
	if (to >= 0)
		close(to);
	if (done == n && !full) {
		jitcopy->at += n;
		jitcopy->length = before + n;
		jitcopy->written += n;
		jitcopy->late = 0;
	}
	return full ? JITCOPY_DISK : JITCOPY_OK;
}

/* ---- complete lines and records ----------------------------------------------------------------------------- */

/* Sets *end to the end of the complete records in the span. If the end is unknown yet, returns RECORDS_LATER and sets
 * *end to the start of the span. */
static enum jitcopy_records jitcopy_find_records(const struct jitcopy_limits *limits, int fd,
						 const struct jitcopy_span *span, uint64_t *end)
{
	enum jitcopy_records records = limits->records ? limits->records(limits->to, fd, span, end) : RECORDS_LATER;

	if (records == RECORDS_LATER || *end < span->at || *end > span->size)
		*end = span->at;
	return records;
}

/* Sets *end to the end of the last complete line in the block at offset `at`; to `at` if the block has none. Returns
 * false if the file is not a map: a block must start with a hexadecimal digit, as an address does, and have a line end.
 * No number is parsed. */
static bool complete_lines(struct jitcopy *jitcopy, uint64_t at, uint64_t *end)
{
	char block[BLOCK];
	struct str string = { block, fullio_pread(jitcopy->fd, block, BLOCK, at) };
	ptrdiff_t last = str_rfind(string, '\n');

	*end = at + (uint64_t)(last + 1);
	if (last < 0)
		return string.n < BLOCK;
	return byte_is_hex(block[0]);
}

/* ---- start of a copy, or continuation of an earlier one ----------------------------------------------------- */

/* Returns true if files a and b have the same bytes from offset `at` to `end`; false if they differ or one of the files
 * is not readable. Adds the number of compared bytes to cost->read. */
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

/* Ends the current copy, so that a new one can start: renames the copy of a map to NAME.1, and deletes the copy of a
 * jitdump. */
static void put_aside(struct jitcopy *jitcopy, int folder)
{
	char old[JITCOPY_NAME + 4];

	snprintf(old, sizeof(old), "%s.1", jitcopy->name);
	if (jitcopy->kind == JITCOPY_DUMP || renameat(folder, jitcopy->name, folder, old) < 0)
		unlinkat(folder, jitcopy->name, 0);
	jitcopy->length = jitcopy->earlier = 0;
}

/* Prepares to compare the copy of an earlier run with the file; compare_earlier then compares them part by part. If the
 * copy is empty or ends within a line, ends it at once (put_aside). */
static void jitcopy_resume(struct jitcopy *jitcopy, int folder)
{
	int copy = open_copy(jitcopy, folder, 0);
	uint64_t end = copy >= 0 ? jitcopy_size_of(copy) : 0;
	char last = '\n';

	jitcopy->earlier = jitcopy->length = end;
	if (end && jitcopy->kind == JITCOPY_MAP && fullio_pread(copy, &last, 1, end - 1) == 1 && last != '\n')
		put_aside(jitcopy, folder);
	else if (copy >= 0 && !end)
		put_aside(jitcopy, folder);
	if (copy >= 0)
		close(copy);
}

/* Compares the next part of an earlier run's copy with the file. If they differ, ends that copy (put_aside), and starts
 * to copy the file from its start. Returns false if the end of the records is unknown yet: then a later call must try
 * again. */
static bool compare_earlier(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits, uint64_t size,
			    struct jitcopy_cost *cost)
{
	int copy = open_copy(jitcopy, folder, 0);
	uint64_t end = jitcopy->earlier - jitcopy->at < CHUNK ? jitcopy->earlier : jitcopy->at + CHUNK;
	bool good = copy >= 0 && jitcopy_size_of(copy) == jitcopy->earlier, later = false;

	if (good && jitcopy->kind == JITCOPY_DUMP) {
		struct jitcopy_span span = { jitcopy->at, jitcopy->earlier, CHUNK, limits->record };
		int reader = openat(folder, jitcopy->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		enum jitcopy_records records =
			reader >= 0 ? jitcopy_find_records(limits, reader, &span, &end) : RECORDS_LATER;

		if (reader >= 0)
			close(reader);
		later = records == RECORDS_LATER;
		good = records == RECORDS_OK;
	}
	good = good && end <= size && jitcopy_same_bytes(copy, jitcopy->fd, jitcopy->at, end, cost);
	if (good && end > jitcopy->at && end < jitcopy->earlier) {
		jitcopy->at = end;
		/* removes bytes after the complete records: the earlier recorder may have been killed while it wrote a
		 * record */
	} else if (good && end > 0 && ftruncate(copy, (off_t)end) == 0) {
		jitcopy->at = jitcopy->length = end;
		jitcopy->earlier = 0;
		jitcopy->ntail = end < sizeof(jitcopy->last_bytes) ? (unsigned)end : sizeof(jitcopy->last_bytes);
		fullio_pread(copy, jitcopy->last_bytes, jitcopy->ntail, end - jitcopy->ntail);
	} else if (!jitcopy_is_late(jitcopy) && !later) {
		put_aside(jitcopy, folder);
		jitcopy->at = 0;
	}
	if (copy >= 0)
		close(copy);
	return !later;
}

static void jitcopy_take(struct jitcopy *jitcopy, int fd)
{
	struct stat status = { 0 };

	fstat(fd, &status);
	jitcopy->fd = fd;
	jitcopy->dev = status.st_dev;
	jitcopy->ino = status.st_ino;
	jitcopy->at = 0;
	jitcopy->ntail = 0;
}

void jitcopy_open(struct jitcopy *jitcopy, enum jitcopy_kind kind, int fd, int folder, const char *name)
{
	*jitcopy = (struct jitcopy){ .kind = kind, .fd = -1 };
	snprintf(jitcopy->name, sizeof(jitcopy->name), "%s", name);
	if (fd < 0)
		return;
	jitcopy_take(jitcopy, fd);
	jitcopy_resume(jitcopy, folder);
}

void jitcopy_close(struct jitcopy *jitcopy)
{
	if (jitcopy->fd >= 0)
		close(jitcopy->fd);
	jitcopy->fd = -1;
}

void jitcopy_follow(struct jitcopy *jitcopy, int fd, int folder, const struct jitcopy_limits *limits)
{
	struct jitcopy_cost cost;
	struct stat status;

	if (fd < 0)
		return;
	if (jitcopy->fd < 0) {
		jitcopy_take(jitcopy, fd);
		jitcopy_resume(jitcopy, folder);
		return;
	}
	if (fstat(fd, &status) < 0 || (status.st_dev == jitcopy->dev && status.st_ino == jitcopy->ino)) {
		close(fd);
		return;
	}
	jitcopy_go_on(jitcopy, folder, limits, &cost);
	close(jitcopy->fd);
	put_aside(jitcopy, folder);
	jitcopy_take(jitcopy, fd);
}

/* ---- continuation of a copy --------------------------------------------------------------------------------- */

/* Returns true if the file has been truncated or rewritten since the last call: its last bytes before `at` have changed
 * or cannot be read. Returns false if these bytes are the same. */
static bool is_replaced(const struct jitcopy *jitcopy, uint64_t size)
{
	char now[sizeof(jitcopy->last_bytes)];

	return size < jitcopy->at || (jitcopy->ntail && (fullio_pread(jitcopy->fd, now, jitcopy->ntail,
								      jitcopy->at - jitcopy->ntail) < jitcopy->ntail ||
							 memcmp(now, jitcopy->last_bytes, jitcopy->ntail) != 0));
}

/* If more than max bytes of a map are still to be copied, skips the oldest of these bytes: max is the limit of the
 * copy, and the latest lines matter most. */
static void pass_over(struct jitcopy *jitcopy, uint64_t size, uint64_t max)
{
	char block[BLOCK];
	struct str string;
	ptrdiff_t line;

	if (size - jitcopy->at <= max)
		return;
	string = (struct str){ block, fullio_pread(jitcopy->fd, block, BLOCK, size - max) };
	line = str_find(string, '\n');
	jitcopy->at = size - max + (line >= 0 ? (uint64_t)line + 1 : string.n);
	jitcopy->ntail = 0;
}

static enum jitcopy_why copy_lines(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
				   uint64_t size, struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	uint64_t until, end;

	if (jitcopy->length > 0 && is_replaced(jitcopy, size)) {
		put_aside(jitcopy, folder);
		jitcopy->at = 0;
		jitcopy->ntail = 0;
	}
	if (jitcopy->length == 0)
		pass_over(jitcopy, size, limits->map);
	until = jitcopy->at + limits->step;
	while (why == JITCOPY_OK && jitcopy->at < size && jitcopy->at < until && !jitcopy_is_late(jitcopy)) {
		uint64_t before = jitcopy->at;

		if (!complete_lines(jitcopy, jitcopy->at, &end))
			return JITCOPY_NO_TEXT;
		if (end == jitcopy->at)
			break;
		if (jitcopy->written + (end - jitcopy->at) > limits->total)
			return JITCOPY_LARGE;
		if (jitcopy->length + (end - jitcopy->at) > limits->map)
			put_aside(jitcopy, folder);
		why = jitcopy_append(jitcopy, folder, end - jitcopy->at, cost);
		/* retention removed the copy: new lines are appended to a new copy */
		if (why == JITCOPY_EVICTED) {
			jitcopy->length = 0;
			why = JITCOPY_OK;
			continue;
		}
		if (jitcopy->at == before)
			break;
	}
	return why;
}

static enum jitcopy_why copy_records(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
				     uint64_t size, struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	uint64_t until = jitcopy->at + limits->step, end;

	if (size < jitcopy->at)
		return JITCOPY_NO_TEXT;
	while (why == JITCOPY_OK && jitcopy->at < until && !jitcopy_is_late(jitcopy)) {
		uint64_t before = jitcopy->at;
		enum jitcopy_records records = jitcopy_find_records(
			limits, jitcopy->fd, &(struct jitcopy_span){ jitcopy->at, size, CHUNK, limits->record }, &end);

		if (records == RECORDS_BAD)
			return JITCOPY_NO_TEXT;
		if (end == jitcopy->at)
			return records == RECORDS_LARGE ? JITCOPY_LARGE : JITCOPY_OK;
		if (end > limits->dump || jitcopy->written + (end - jitcopy->at) > limits->total)
			return JITCOPY_LARGE;
		why = jitcopy_append(jitcopy, folder, end - jitcopy->at, cost);
		if (jitcopy->at == before)
			break;
	}
	return why;
}

enum jitcopy_why jitcopy_go_on(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
			       struct jitcopy_cost *cost)
{
	enum jitcopy_why why = JITCOPY_OK;
	struct stat status;
	uint64_t size, before = jitcopy->at;

	*cost = (struct jitcopy_cost){ 0 };
	if (jitcopy->fd < 0 || jitcopy->ended || fstat(jitcopy->fd, &status) < 0)
		return JITCOPY_OK;
	jitcopy->deadline = clock_now() + limits->ns;
	size = status.st_size > 0 ? (uint64_t)status.st_size : 0;
	while (jitcopy->earlier && cost->read < limits->step && !jitcopy_is_late(jitcopy) &&
	       compare_earlier(jitcopy, folder, limits, size, cost))
		;
	if (!jitcopy->earlier &&
	    (size != jitcopy->at || memcmp(&status.st_mtim, &jitcopy->mtime, sizeof(jitcopy->mtime)) != 0))
		why = jitcopy->kind == JITCOPY_MAP ? copy_lines(jitcopy, folder, limits, size, cost) :
						     copy_records(jitcopy, folder, limits, size, cost);
	if (why == JITCOPY_OK && jitcopy_is_late(jitcopy) && jitcopy->at == before && ++jitcopy->late == LATE_MAX)
		why = JITCOPY_LARGE;
	jitcopy->mtime = status.st_mtim;
	jitcopy->ended = why != JITCOPY_OK && why != JITCOPY_DISK;
	return why;
}

bool jitcopy_is_after(const struct jitcopy *jitcopy)
{
	return jitcopy->fd >= 0 && !jitcopy->ended && jitcopy_size_of(jitcopy->fd) > jitcopy->at;
}
