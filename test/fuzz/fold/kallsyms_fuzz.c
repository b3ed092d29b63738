/* kallsyms, and the cache made of it: whatever the text, both say the same; whatever the cache file, it does no harm.
 * Input: text; behind a byte 0xff, which ends it, what happens to the cache file: a byte of enum damage, then again and
 * again two bytes of place and one that is written there. */
/* covers: fold/kernel/kallsyms.c fold/kernel/kallcache.c */
#include "fold/kernel/kallcache.h"
#include "fold/kernel/kallsyms.h"

#include "test/fuzz/fuzz.h"
#include "common/hash.h"

#include <dirent.h>
#include <sys/stat.h>

#define BASE 0xffffffff81000000ull
#define QUERIES 64

enum input_errors {
	BELOW_HOME = 1,
	RIGHT_SUMS = 2,
	HIDDEN = 4,
	WIDE_FILE = 8,
	WIDE_FOLDER = 16,
	TWO_NAMES = 32,
	CUT = 64,
	OLD_BOOT = 128
};

static void query_all(struct kallsyms *kallsyms, size_t n)
{
	static struct intern names;
	struct symbols_query q[QUERIES];
	uint32_t modules[QUERIES];

	intern_free(&names);
	for (size_t i = 0; i < QUERIES; i++)
		q[i] = (struct symbols_query){ .address = i < 8 ? i * 0x100 : BASE + (i - 8) * 0x40 };
	MUST(kallsyms_resolve(kallsyms, 0, q, QUERIES, &names, modules) <= QUERIES);
	for (size_t i = 0; i < QUERIES; i++) {
		MUST(q[i].name <= names.n && modules[i] <= names.n);
		MUST(!q[i].name || intern_str(&names, q[i].name).n <= n);
	}
	MUST(kallsyms_resolve(kallsyms, 0x1000, q, QUERIES, &names, NULL) <= QUERIES);
	(void)kallsyms_address(kallsyms, STR("_text"));
}

/* ---- the bytes of a cache ------------------------------------------------------------------------------------ */

static void query_cache(int fd)
{
	struct kallcache *c = kallcache_of(fd, STR("key"));
	struct str name;
	uint64_t start;

	if (!c)
		return;
	for (uint64_t address = BASE - 0x40; address < BASE + 0x1000; address += 0x40)
		if (kallcache_find(c, address, &name, &start) == KALLCACHE_FOUND)
			MUST(start <= address && name.n <= UINT16_MAX);
	(void)kallcache_address(c, STR("_text"), &start);
	kallcache_close(c);
}

/* A table of whatever data is: four bytes of distance and a name, again and again. What is packed is found. */
static void pack(const uint8_t *data, size_t n)
{
	struct ksyms k = { 0 };
	struct text file = { 0 };
	struct kallcache *c;
	char path[32];
	uint64_t start = 1ull << 63; /* far from the end of all addresses */

	k.sym = malloc(sizeof(*k.sym) * (n + 1));
	MUST(k.sym);
	text_char(&k.names, 0);
	for (size_t i = 0; i + 5 < n; i += 5u + data[i + 4]) {
		uint32_t more;
		size_t len = data[i + 4] < n - i - 5 ? data[i + 4] : n - i - 5;

		memcpy(&more, data + i, 4);
		start += more >> (more & 31);
		k.sym[k.n++] = (struct ksym){ start, (uint32_t)k.names.n, 0 };
		text_bytes(&k.names, data + i + 5, len);
		text_char(&k.names, 0);
	}
	kallcache_pack(&k, STR("key"), &file);
	c = kallcache_of(fuzz_file(file.p, file.n, path), STR("key"));
	MUST((c != NULL) == (k.n > 0));
	for (size_t i = 0; i < k.n; i++) {
		struct str name;
		uint64_t at;

		MUST(kallcache_find(c, k.sym[i].start, &name, &at) == KALLCACHE_FOUND && at == k.sym[i].start);
		if (i + 1 == k.n || k.sym[i + 1].start != at)
			MUST(str_eq(name, str_of(k.names.p + k.sym[i].name)));
	}
	kallcache_close(c);
	text_free(&file);
	ksyms_free(&k);
}

/* ---- its file ------------------------------------------------------------------------------------------------ */

static char folder[32];                  /* in memory, where there is such a place */
static char base[64], pj[80], file[400]; /* base: the folder of pj; file: the cache below it */

static bool find_file(void)
{
	DIR *d = opendir(pj);
	struct dirent *e;

	file[0] = 0;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			snprintf(file, sizeof(file), "%s/%s", pj, e->d_name);
	if (d)
		closedir(d);
	return file[0];
}

static void set_folder(bool below_home)
{
	char home[64];

	snprintf(home, sizeof(home), "%s/home", folder);
	mkdir(home, 0700);
	snprintf(base, sizeof(base), below_home ? "%s/home/.cache" : "%s/xdg", folder);
	snprintf(pj, sizeof(pj), "%s/pj", base);
	setenv("HOME", home, 1);
	if (below_home)
		unsetenv("XDG_CACHE_HOME");
	else
		setenv("XDG_CACHE_HOME", base, 1);
	chmod(base, 0700);
	while (find_file() && unlink(file) == 0)
		;
}

static void remove_folders(void)
{
	char home[64];

	for (int i = 0; i < 2; i++) {
		set_folder(i);
		rmdir(pj);
		rmdir(base);
	}
	snprintf(home, sizeof(home), "%s/home", folder);
	rmdir(home);
	rmdir(folder);
}

/* Sums of what is there now, so that it is believed. Places are those of struct head and struct block in kallcache.c.
 */
static void right_sums(unsigned char *p, size_t n)
{
	enum { SUM = 8, END = 16, BLOCKS = 24, HEAD = 96, BLOCK = 32 };
	uint32_t blocks, size;
	uint64_t at, sum;

	if (n < HEAD)
		return;
	memcpy(&blocks, p + BLOCKS, 4);
	if (blocks > (n - HEAD) / BLOCK)
		return;
	for (unsigned char *b = p + HEAD; b < p + HEAD + blocks * BLOCK; b += BLOCK) {
		memcpy(&at, b + 16, 8);
		memcpy(&size, b + 24, 4);
		if (at > n || size > n - at)
			continue;
		sum = hash_sum(p + at, size);
		memcpy(b + 8, &sum, 8);
	}
	sum = hash_sum(p + END, HEAD - END) ^ hash_sum(p + HEAD, blocks * BLOCK);
	memcpy(p + SUM, &sum, 8);
}

static void errors(unsigned how, const uint8_t *patch, size_t n)
{
	static unsigned char bytes[1 << 16];
	int fd = find_file() ? open(file, O_RDWR) : -1;
	ssize_t size = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
	char other[420];

	for (; n >= 3; n -= 3, patch += 3)
		if ((patch[0] | patch[1] << 8) < size)
			bytes[patch[0] | patch[1] << 8] = patch[2];
	if (how & RIGHT_SUMS)
		right_sums(bytes, (size_t)size);
	if (fd >= 0)
		MUST(pwrite(fd, bytes, (size_t)size, 0) == size);
	if (how & CUT && fd >= 0)
		MUST(ftruncate(fd, size / 2) == 0);
	if (how & WIDE_FILE && fd >= 0)
		MUST(fchmod(fd, 0644) == 0);
	if (fd >= 0)
		close(fd);
	snprintf(other, sizeof(other), "%s2", file);
	if (how & TWO_NAMES && fd >= 0)
		MUST(link(file, other) == 0);
	snprintf(other, sizeof(other), "%s/kallsyms-old", pj);
	if (how & OLD_BOOT)
		close(open(other, O_WRONLY | O_CREAT, 0600));
	if (how & WIDE_FOLDER)
		chmod(base, 0777);
}

/* Few questions are answered by the cache, of many some are for what is behind it. same: the answers must be those of
 * plain. */
static void compare(struct kallsyms *cached, struct kallsyms *plain, bool same)
{
	static struct intern names;
	struct symbols_query q[QUERIES], p[QUERIES];
	uint32_t module[QUERIES];

	MUST(!same || kallsyms_address(cached, STR("_text")) == kallsyms_address(plain, STR("_text")));
	for (size_t n = 4; n <= QUERIES; n *= 4) {
		int64_t relocate = n == 16 ? 0x40 : 0;

		intern_free(&names);
		for (size_t i = 0; i < n; i++)
			q[i] = p[i] = (struct symbols_query){ .address = i ? BASE + i * 0x40 : 0 };
		kallsyms_resolve(cached, relocate, q, n, &names, module);
		for (size_t i = 0; i < n; i++) {
			MUST(q[i].name <= names.n && module[i] <= names.n);
			MUST(!q[i].name || intern_str(&names, q[i].name).n <= UINT16_MAX);
		}
		if (!same)
			continue;
		kallsyms_resolve(plain, relocate, p, n, &names, NULL);
		for (size_t i = 1; i < n; i++)
			MUST(p[i].name == q[i].name && (!p[i].name || p[i].offset == q[i].offset));
	}
}

/* Is all of it of a kernel of 64 bits, without modules? Where modules lie between the core kernel's symbols, or
 * addresses of 32 bits beside others, as in no kernel, the cache cannot know what the text says. */
static bool is_plain(const uint8_t *text, size_t n)
{
	struct str rest = { (const char *)text, n };

	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		if (str_find(line, '\t') >= 0 || str_find(line, ' ') != 16)
			return false;
	}
	return true;
}

/* text: its path; of that file fd. more bytes behind the text say what happens to the cache. */
static void query_file(const char *text, int fd, bool same, const uint8_t *after, size_t more)
{
	static const char hidden[] = "0000000000000000 T x\n";
	unsigned how = more ? after[0] : 0;
	struct kallsyms_options plain_options = { .live = text }, o = { .cache = true, .live = text };
	const char *why = NULL;
	struct kallsyms *cached, *plain = kallsyms_open(&plain_options, &why);

	if (!plain)
		return;
	set_folder(how & BELOW_HOME);
	kallsyms_close(kallsyms_open(&o, &why));
	if (more)
		errors(how, after + 1, more - 1);
	cached = kallsyms_open(&o, &why);
	MUST(cached);
	if (how & HIDDEN) { /* from now on */
		MUST(ftruncate(fd, 0) == 0 && pwrite(fd, hidden, sizeof(hidden) - 1, 0) == sizeof(hidden) - 1);
		same = false;
	}
	compare(cached, plain, same && !(how & RIGHT_SUMS));
	kallsyms_close(cached);
	kallsyms_close(plain);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static bool ready;
	const uint8_t *end = memchr(n ? data : (const uint8_t *)"", 0xff, n);
	size_t text = end ? (size_t)(end - data) : n;
	char path[32];
	struct kallsyms_options o = { .file = path };
	const char *why = NULL;
	int fd = fuzz_file(data, text, path);
	struct kallsyms *k = kallsyms_open(&o, &why);

	if (!ready) {
		snprintf(folder, sizeof(folder), "%s/pj-fuzz-XXXXXX",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		MUST(mkdtemp(folder));
		atexit(remove_folders);
		ready = true;
	}
	MUST(k || why);
	if (k)
		query_all(k, n);
	kallsyms_close(k);
	query_file(path, fd, is_plain(data, text), data + text + (end != NULL), n - text - (end != NULL));
	close(fd);
	query_cache(fuzz_file(data, n, path));
	pack(data, n);
	return 0;
}
