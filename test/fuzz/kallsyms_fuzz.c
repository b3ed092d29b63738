/* kallsyms, and the cache made of it: whatever the text, both say the same; whatever the cache file, it does no harm. */
#include "fold/kallcache.h"
#include "fold/kallsyms.h"

#include "fuzz.h"

#define BASE 0xffffffff81000000ull
#define QUERIES 64

static void ask_all(struct kallsyms *k, size_t n)
{
	static struct intern names;
	struct symbols_query q[QUERIES];
	uint32_t modules[QUERIES];

	intern_free(&names);
	for (size_t i = 0; i < QUERIES; i++)
		q[i] = (struct symbols_query){ .address = i < 8 ? i * 0x100 : BASE + (i - 8) * 0x40 };
	MUST(kallsyms_resolve(k, 0, q, QUERIES, &names, modules) <= QUERIES);
	for (size_t i = 0; i < QUERIES; i++) {
		MUST(q[i].name <= names.n && modules[i] <= names.n);
		MUST(!q[i].name || intern_str(&names, q[i].name).n <= n);
	}
	MUST(kallsyms_resolve(k, 0x1000, q, QUERIES, &names, NULL) <= QUERIES);
	(void)kallsyms_address(k, STR("_text"));
}

static void ask_cache(int fd)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char path[32];
	struct kallsyms_options o = { .file = path };
	const char *why = NULL;
	int fd = fuzz_file(data, n, path);
	struct kallsyms *k = kallsyms_open(&o, &why);

	MUST(k || why);
	if (k)
		ask_all(k, n);
	kallsyms_close(k);
	ask_cache(fd);
	pack(data, n);
	return 0;
}
