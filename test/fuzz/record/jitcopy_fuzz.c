/* jitcopy: a copy of what a JIT writes ends at a line or record and never is longer than its limits, whatever the file
 * holds and however it grows, shrinks or is replaced, and whatever becomes of the copy. Input: kind and steps, then
 * parts; each is what the file has at one time. */
/* covers: record/jit/jitcopy.c record/jit/jitrecords.c */
#include "record/jit/jitrecords.h"
#include "common/formats/perfrecord.h"

#include "test/fuzz/fuzz.h"

#include <sys/stat.h>

static enum jitcopy_records find_records(void *unused, int fd, const struct jitcopy_span *span, uint64_t *end)
{
	(void)unused;
	return jitrecords_end(fd, span, end);
}

static struct jitcopy_limits limits = {
	.map = 600, .dump = 2000, .total = 6000, .step = 1500, .record = 1000, .ns = 1000000000, .records = find_records
};

static uint64_t bytes_of(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* Records of a dump, from its head to its end. */
static bool is_dump(struct str string)
{
	if (string.n < 40 || load32(string.p) != 0x4A695444 || load32(string.p + 8) > string.n)
		return false;
	string = str_from(string, load32(string.p + 8));
	while (string.n >= 16 && load32(string.p + 4) >= 16 && load32(string.p + 4) <= string.n)
		string = str_from(string, load32(string.p + 4));
	return string.n == 0;
}

static void check_copy(int folder, enum jitcopy_kind kind)
{
	static char copy[8192];
	int fd = openat(folder, "copy", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, copy, sizeof(copy)) : 0;

	if (fd >= 0)
		close(fd);
	MUST(n <= (ssize_t)(kind == JITCOPY_MAP ?
				    limits.total :
				    limits.dump)); /* maps: the block that is read may be larger than limits.map */
	if (n > 0 && kind == JITCOPY_MAP)
		MUST(copy[n - 1] == '\n');
	if (n > 0 && kind == JITCOPY_DUMP)
		MUST(is_dump((struct str){ copy, (size_t)n }));
}

static int next_file(struct str part)
{
	char path[32];
	int fd = fuzz_file(part.p, part.n, path), reader = open(path, O_RDONLY | O_CLOEXEC);

	MUST(reader >= 0);
	close(fd);
	return reader;
}

/* The file that is copied is written anew through another descriptor. */
static void rewrite_file(const struct jitcopy *jitcopy, struct str part, bool empty_first)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", jitcopy->fd);
	fd = open(path, O_WRONLY | O_CLOEXEC | (empty_first ? O_TRUNC : O_APPEND));
	MUST(fd >= 0 && (part.n == 0 || write(fd, part.p, part.n) == (ssize_t)part.n));
	close(fd);
}

enum { COPY_REMOVED, COPY_LONGER, COPY_BLOCKED, FILE_WITH_HOLE, FILE_SLOW, DISTURBANCES = 16 };

/* What else happens before a step: a sweep removes the copy, another process writes to it, it cannot be opened, the
 * file gets a hole, or its file system is slow. */
static void disturb(const struct jitcopy *jitcopy, int folder, unsigned how)
{
	char path[32];
	int fd;

	limits.ns = how == FILE_SLOW ? 0 : 1000000000;
	if (how == COPY_REMOVED || how == COPY_BLOCKED)
		unlinkat(folder, "copy", 0);
	if (how == COPY_BLOCKED)
		mkdirat(folder, "copy", 0700);
	if (how == COPY_LONGER && (fd = openat(folder, "copy", O_WRONLY | O_APPEND | O_CLOEXEC)) >= 0) {
		MUST(write(fd, "x", 1) == 1);
		close(fd);
	}
	if (how != FILE_WITH_HOLE || jitcopy->fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", jitcopy->fd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	MUST(fd >= 0 && ftruncate(fd, 8192) == 0);
	close(fd);
}

/* changed: another process has changed the copy, in this step or before */
static void check_step(const struct jitcopy *jitcopy, int folder, enum jitcopy_why why, const struct jitcopy_cost *cost,
		       bool changed)
{
	unlinkat(folder, "copy", AT_REMOVEDIR);
	MUST(why == JITCOPY_OK || why == JITCOPY_LARGE || why == JITCOPY_NO_TEXT ||
	     (changed && (why == JITCOPY_EVICTED || why == JITCOPY_DISK)));
	MUST(jitcopy->written <= limits.total && (why == JITCOPY_OK || why == JITCOPY_DISK || jitcopy->ended));
	MUST(changed || jitcopy->length == bytes_of(folder, "copy"));
	MUST(cost->read <= limits.step + limits.record + ((uint64_t)64 << 10) && cost->written <= cost->read);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	enum jitcopy_kind kind = n && data[0] & 1 ? JITCOPY_DUMP : JITCOPY_MAP;
	int folder = fuzz_folder();
	struct jitcopy c;
	struct jitcopy_cost cost;
	unsigned disturbance;
	bool changed = false, longer = false;
	unsigned how = n > 1 ? data[1] : 0;

	if (n < 2)
		return 0;
	rest = str_from(rest, 2);
	jitcopy_open(&c, kind, how & 1 ? -1 : next_file(fuzz_part(&rest)), folder, "copy");
	for (how >>= 1; rest.n; how = how * 5 + 1) {
		struct str part = fuzz_part(&rest);
		enum jitcopy_why why;

		if (c.fd < 0 || how % 4 == 0) {
			jitcopy_follow(&c, next_file(part), folder, &limits);
		} else if (how % 4 == 1) { /* another run goes on with the copy */
			int fd = dup(c.fd);

			jitcopy_close(&c);
			jitcopy_open(&c, kind, fd, folder, "copy");
		} else {
			rewrite_file(&c, part, how % 4 == 2);
		}
		disturbance = how >> 4 & (DISTURBANCES - 1);
		disturb(&c, folder, disturbance);
		changed |= disturbance <= COPY_BLOCKED;
		longer |= disturbance == COPY_LONGER;
		why = jitcopy_go_on(&c, folder, &limits, &cost);
		check_step(&c, folder, why, &cost, changed);
		if (!longer)
			check_copy(folder, kind);
	}
	jitcopy_close(&c);
	unlinkat(folder, "copy", 0);
	unlinkat(folder, "copy.1", 0);
	return 0;
}
