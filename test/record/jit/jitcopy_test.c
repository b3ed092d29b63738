/* jitcopy_test - copies of files that grow, are replaced, emptied, planted. */
/* covers: record/jit/jitcopy.c record/jit/jitrecords.c */
#include "record/jit/jitrecords.h"

#include "test/lib/tap.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-jitcopy-test.XXXXXX";
static int to; /* dir/copies */
static enum jitcopy_records find_records(void *unused, int fd, const struct jitcopy_span *span, uint64_t *end)
{
	(void)unused;
	return jitrecords_end(fd, span, end);
}

static const struct jitcopy_limits small = { .map = 1000,
					     .dump = 4000,
					     .total = 100000,
					     .step = 1 << 20,
					     .record = 3000,
					     .ns = 10000000000,
					     .records = find_records };

static const char *at(const char *name)
{
	static char path[2][128];
	static unsigned i;

	snprintf(path[++i % 2], sizeof(path[0]), "%s/%s", dir, name);
	return path[i % 2];
}

static void put(const char *name, int flags, const void *p, size_t n)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | flags, 0644);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void put_text(const char *name, int flags, const char *string)
{
	put(name, flags, string, strlen(string));
}

static struct str copy_of(const char *name)
{
	static char buf[2][1 << 20];
	static unsigned i;
	int fd = openat(to, name, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, buf[++i % 2], sizeof(buf[0])) : 0;

	if (fd >= 0)
		close(fd);
	return (struct str){ buf[i % 2], n > 0 ? (size_t)n : 0 };
}

static int opened(const char *name)
{
	return open(at(name), O_RDONLY);
}

static enum jitcopy_why go_on(struct jitcopy *jitcopy, const struct jitcopy_limits *limits)
{
	struct jitcopy_cost cost;

	return jitcopy_go_on(jitcopy, to, limits, &cost);
}

/* ---- maps ------------------------------------------------------------------------------------------------------- */

static void growth(void)
{
	struct jitcopy_cost cost;
	struct jitcopy c;

	put_text("map", O_TRUNC, "1000 10 a\n2000 10 b\n30");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "1.map");
	ok(jitcopy_go_on(&c, to, &small, &cost) == JITCOPY_OK && cost.read == 20, "two lines");
	is_str(copy_of("1.map"), STR("1000 10 a\n2000 10 b\n"), "and not the beginning of the third");
	go_on(&c, &small);
	is_u64(copy_of("1.map").n, 20, "nothing new, nothing copied");
	put_text("map", O_APPEND, "00 10 c c\n4");
	go_on(&c, &small);
	is_str(copy_of("1.map"), STR("1000 10 a\n2000 10 b\n3000 10 c c\n"), "the third");
	unlink(at("map"));
	put_text("map", O_TRUNC, "other");
	go_on(&c, &small);
	is_u64(copy_of("1.map").n, 32, "its name is gone, the file is held");
	jitcopy_close(&c);
}

static void replacement(void)
{
	struct jitcopy c;
	int fd;

	put_text("map", O_TRUNC, "1000 10 a\n2000 10 b\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "2.map");
	go_on(&c, &small);
	jitcopy_follow(&c, opened("map"), to, &small);
	go_on(&c, &small);
	is_u64(copy_of("2.map").n, 20, "the same file again");
	fd = open(at("map"), O_WRONLY | O_APPEND);
	put_text("new", O_TRUNC, "5000 10 n\n");
	rename(at("new"), at("map"));
	ok(write(fd, "2500 10 late\n", 13) == 13, "the old one grows once more");
	close(fd);
	jitcopy_follow(&c, opened("map"), to, &small);
	go_on(&c, &small);
	is_str(copy_of("2.map"), STR("5000 10 n\n"), "another file took its place");
	is_str(copy_of("2.map.1"), STR("1000 10 a\n2000 10 b\n2500 10 late\n"), "what was before is aside, whole");
	put_text("map", O_TRUNC, "6000 10 x\n");
	go_on(&c, &small);
	is_str(copy_of("2.map"), STR("6000 10 x\n"), "written again, of the same length");
	is_str(copy_of("2.map.1"), STR("5000 10 n\n"), "what was before is aside");
	put_text("map", O_TRUNC, "");
	go_on(&c, &small);
	put_text("map", O_APPEND, "7000 10 y\n7100 10 z\n");
	go_on(&c, &small);
	is_str(copy_of("2.map"), STR("7000 10 y\n7100 10 z\n"), "emptied, and written again");
	jitcopy_close(&c);
}

static void resumption(void)
{
	struct jitcopy c;

	put_text("map", O_TRUNC, "1000 10 a\n2000 10 b\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "3.map");
	go_on(&c, &small);
	jitcopy_close(&c);
	put_text("map", O_APPEND, "3000 10 c\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "3.map");
	go_on(&c, &small);
	is_u64(c.written, 10, "a recorder that was started again goes on");
	is_str(copy_of("3.map"), STR("1000 10 a\n2000 10 b\n3000 10 c\n"), "where the copy ends");
	jitcopy_close(&c);
	put_text("map", O_TRUNC, "1000 10 A\n2000 10 b\n3000 10 c\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "3.map");
	go_on(&c, &small);
	is_str(copy_of("3.map"), STR("1000 10 A\n2000 10 b\n3000 10 c\n"),
	       "a file that begins otherwise is another one");
	is_str(copy_of("3.map.1"), STR("1000 10 a\n2000 10 b\n3000 10 c\n"), "what was before is aside");
	jitcopy_close(&c);
}

static struct text lines(unsigned from, unsigned n)
{
	struct text t = { 0 };

	for (unsigned i = from; i < from + n; i++)
		text_printf(&t, "%06x000 10 f%06u\n", i, i); /* 21 bytes */
	return t;
}

static void length(void)
{
	struct jitcopy c;
	struct text t = lines(0, 100);
	struct str now, before;

	put("map", O_TRUNC, t.p, t.n);
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "4.map");
	go_on(&c, &small);
	now = copy_of("4.map");
	ok(now.n <= small.map && now.n > small.map - 42 && str_ends(now, STR("f000099\n")),
	   "of a map that is too long, the end");
	is_u64(now.n % 21, 0, "from the start of a line");
	text_free(&t);
	for (unsigned i = 100; i < 1000; i += 10) {
		t = lines(i, 10);
		put("map", O_APPEND, t.p, t.n);
		text_free(&t);
		go_on(&c, &small);
	}
	now = copy_of("4.map");
	before = copy_of("4.map.1");
	ok(now.n <= small.map && before.n <= small.map && str_ends(now, STR("f000999\n")),
	   "one that grows for ever takes two such parts");
	ok(str_eq(str_head(now, 6), STR("0003d4")) == str_ends(before, STR("f000979\n")), "one follows the other");
	jitcopy_close(&c);
}

static void refusals(void)
{
	struct jitcopy c;
	char *big = malloc(1 << 20);
	const struct jitcopy_limits little = { .map = 1000,
					       .dump = 4000,
					       .total = 50,
					       .step = 1 << 20,
					       .record = 3000,
					       .ns = 10000000000,
					       .records = find_records };
	int fd;

	memset(big, 'a', 1 << 20);
	put("map", O_TRUNC, big, 1 << 20);
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "5.map");
	ok(go_on(&c, &jitcopy_limits) == JITCOPY_NO_TEXT && c.ended, "a line without end");
	jitcopy_close(&c);
	put_text("map", O_TRUNC, "root:x:0:0:\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "6.map");
	ok(go_on(&c, &small) == JITCOPY_NO_TEXT, "lines of something else");
	jitcopy_close(&c);
	fd = open(at("map"), O_RDWR | O_TRUNC);
	ok(fd >= 0 && ftruncate(fd, (off_t)1 << 40) == 0, "a hole of a TB");
	jitcopy_open(&c, JITCOPY_MAP, fd, to, "7.map");
	ok(go_on(&c, &jitcopy_limits) == JITCOPY_NO_TEXT, "is no map");
	jitcopy_close(&c);
	is_u64(copy_of("5.map").n + copy_of("6.map").n + copy_of("7.map").n, 0, "nothing was written");
	put_text("map", O_TRUNC, "1000 10 a\n2000 10 b\n");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "8.map");
	ok(go_on(&c, &little) == JITCOPY_OK, "within what a process may write");
	put_text("map", O_APPEND, "1000 10 a\n2000 10 b\n1000 10 a\n2000 10 b\n");
	ok(go_on(&c, &little) == JITCOPY_LARGE && c.ended, "beyond");
	jitcopy_close(&c);
	ok(symlinkat("/tmp/pj-never", to, "9.map") == 0, "the name of the copy is a link");
	jitcopy_open(&c, JITCOPY_MAP, opened("map"), to, "9.map");
	ok(go_on(&c, &small) == JITCOPY_DISK && access("/tmp/pj-never", F_OK) != 0, "which is not followed");
	jitcopy_close(&c);
	free(big);
}

/* ---- dumps ------------------------------------------------------------------------------------------------------ */

static void put_record(struct text *text, uint32_t id, uint32_t size)
{
	uint32_t head[2] = { id, size };
	uint64_t time = 1;

	text_bytes(text, head, sizeof(head));
	text_bytes(text, &time, sizeof(time));
	for (uint32_t i = sizeof(head) + sizeof(time); i < size; i++)
		text_char(text, (char)i);
}

static void dumps(void)
{
	uint32_t header[10] = { 0x4A695444, 1, sizeof(header) };
	struct text t = { 0 };
	struct jitcopy c;
	size_t one, two;

	text_bytes(&t, header, sizeof(header));
	put_record(&t, 0, 100);
	one = t.n;
	put_record(&t, 0, 1000);
	two = t.n;
	put_record(&t, 3, 16);

	put("dump", O_TRUNC, t.p, 20);
	jitcopy_open(&c, JITCOPY_DUMP, opened("dump"), to, "1.dump");
	ok(go_on(&c, &small) == JITCOPY_OK && copy_of("1.dump").n == 0, "half a header");
	put("dump", O_APPEND, t.p + 20, one - 20 + 50);
	ok(go_on(&c, &small) == JITCOPY_OK, "a header, a record, and a part of one");
	is_u64(copy_of("1.dump").n, one, "what is whole");
	put("dump", O_APPEND, t.p + one + 50, two - one - 50);
	go_on(&c, &small);
	is_u64(copy_of("1.dump").n, two, "the rest of it");
	jitcopy_close(&c);
	put("dump", O_APPEND, t.p + two, t.n - two);
	put("copies/1.dump", O_APPEND, t.p + two, 5); /* it was killed while it wrote */
	jitcopy_open(&c, JITCOPY_DUMP, opened("dump"), to, "1.dump");
	go_on(&c, &small);
	is_u64(c.written, 16, "a recorder that was started again goes on behind what is whole");
	is_str(copy_of("1.dump"), text_view(&t), "byte for byte");
	for (int i = 0; i < 3; i++)
		put("dump", O_APPEND, t.p + one, two - one);
	ok(go_on(&c, &small) == JITCOPY_LARGE, "a dump that is too long");
	is_str(copy_of("1.dump"), text_view(&t), "stays as it is");
	jitcopy_close(&c);

	put("dump", O_TRUNC, "1000 10 no dump\n00000000000000000000000000000000000000000", 57);
	jitcopy_open(&c, JITCOPY_DUMP, opened("dump"), to, "2.dump");
	ok(go_on(&c, &small) == JITCOPY_NO_TEXT, "no dump");
	jitcopy_close(&c);
	header[2] = 0;
	put("dump", O_TRUNC, header, sizeof(header));
	jitcopy_open(&c, JITCOPY_DUMP, opened("dump"), to, "3.dump");
	ok(go_on(&c, &small) == JITCOPY_NO_TEXT, "a header without size");
	jitcopy_close(&c);
	header[2] = sizeof(header);
	t.n = 0;
	text_bytes(&t, header, sizeof(header));
	put_record(&t, 0, 0);
	put("dump", O_TRUNC, t.p, t.n);
	jitcopy_open(&c, JITCOPY_DUMP, opened("dump"), to, "4.dump");
	ok(go_on(&c, &small) == JITCOPY_NO_TEXT && copy_of("4.dump").n == 0, "a record without size");
	jitcopy_close(&c);
	text_free(&t);
}

/* Bytes of a copy on the disk. */
static uint64_t disk_bytes(const char *name)
{
	struct stat st;

	return fstatat(to, name, &st, 0) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* A dump of n records of the same size, each a header and a hole. */
static int open_sparse(const char *name, unsigned n, uint32_t size)
{
	uint32_t header[10] = { 0x4A695444, 1, sizeof(header) };
	int fd = open(at(name), O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, header, sizeof(header)) < 0)
		abort();
	for (uint64_t i = 0, place = sizeof(header); i < n; i++, place += size) {
		uint32_t head[4] = { 3, size, 1, 0 };

		if (pwrite(fd, head, sizeof(head), (off_t)place) < 0 || ftruncate(fd, (off_t)(place + size)) < 0)
			abort();
	}
	return fd;
}

static void floods(void)
{
	const uint32_t mb = 1 << 20;
	struct jitcopy_limits l = jitcopy_limits;
	static char tiny[64 << 10];
	struct jitcopy_cost cost;
	struct jitcopy c;
	uint64_t read = 0;
	unsigned calls = 0;
	int fd;

	l.ns = 10000000000;
	l.records = find_records;
	jitcopy_open(&c, JITCOPY_DUMP, open_sparse("holes", 10, 12 * mb), to, "f1.dump");
	while (jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_OK && calls++ < 100 && jitcopy_is_after(&c))
		read += cost.read;
	is_u64(c.at, 40 + 120 * (uint64_t)mb, "a dump of 120 MB, nearly all of it holes");
	ok(disk_bytes("f1.dump") <= mb && read <= 2 * mb, "takes less than 1 MB of the disk");
	jitcopy_close(&c);
	jitcopy_open(&c, JITCOPY_DUMP, open_sparse("holes", 1, 250 * mb), to, "f2.dump");
	ok(jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_LARGE && c.ended, "a record of 250 MB ends its copy");
	ok(disk_bytes("f2.dump") < mb, "which has nothing of it");
	jitcopy_close(&c);

	for (size_t i = 0; i + 16 <= sizeof(tiny); i += 16) {
		tiny[i] = 3;
		tiny[i + 4] = 16;
	}
	fd = open_sparse("tiny", 0, 0);
	for (unsigned i = 0; i < 512; i++)
		if (pwrite(fd, tiny, sizeof(tiny), (off_t)(40 + i * sizeof(tiny))) < 0)
			abort();
	jitcopy_open(&c, JITCOPY_DUMP, fd, to, "f3.dump");
	ok(jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_OK && c.at >= l.step && c.at <= l.step + 2 * mb,
	   "2 million records: one step of 8 MB");
	ok(jitcopy_is_after(&c), "the rest comes later");
	ok(ftruncate(fd, 40 + 16) == 0 && jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_NO_TEXT && c.ended,
	   "truncated meanwhile: it ends");
	jitcopy_close(&c);

	jitcopy_open(&c, JITCOPY_DUMP, open_sparse("holes", 1, 100), to, "f4.dump");
	go_on(&c, &l);
	fd = open(at("holes"), O_RDWR | O_APPEND);
	ok(unlinkat(to, "f4.dump", 0) == 0 && write(fd, tiny, 160) == 160, "the copy is evicted");
	ok(jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_EVICTED && c.ended && disk_bytes("f4.dump") == 0,
	   "and is not begun in the middle");
	close(fd);
	jitcopy_close(&c);

	fd = open_sparse("holes", 100, 2 * mb);
	jitcopy_open(&c, JITCOPY_DUMP, fd, to, "f5.dump");
	l.ns = 0;
	for (calls = 0; calls < 19; calls++)
		if (jitcopy_go_on(&c, to, &l, &cost) != JITCOPY_OK)
			break;
	is_u64(calls, 19, "a file that answers too slowly is tried again");
	ok(jitcopy_go_on(&c, to, &l, &cost) == JITCOPY_LARGE && c.ended && c.at == 0, "but not for ever");
	jitcopy_close(&c);
}

int main(void)
{
	char command[128];

	if (!mkdtemp(dir) || mkdir(at("copies"), 0755) || (to = open(at("copies"), O_RDONLY | O_DIRECTORY)) < 0)
		return 1;
	growth();
	replacement();
	resumption();
	length();
	refusals();
	dumps();
	floods();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok(system(command) == 0, "clean");
	return done();
}
