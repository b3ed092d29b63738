/* seeds DIR: writes the seeds of test/fuzz/runtimes/jvmimage_fuzz.c: a JVM of each kind, and JVMs whose small tables
 * would cost hours or gigabytes. */
#include "common/diag.h"
#include "test/lib/synth.h"

/* Pages of an attack: below those of libjvm, repeated as often as it says. */
struct page {
	uint64_t address;
	uint32_t times;
	unsigned char byte[SYNTH_PAGE];
};

struct pages {
	struct page *page;
	size_t n;
};

#define CODE_AT UINT64_C(0x600000000000)
#define MAP_AT UINT64_C(0x610000000000)
#define TABLES_AT UINT64_C(0x620000000000)

/* The next page, of zeros; pages are added in ascending order of their addresses. */
static unsigned char *add_page(struct pages *pages, uint64_t address, uint64_t times)
{
	pages->page = mem_grow(pages->page, sizeof(*pages->page), pages->n + 1);
	pages->page[pages->n] = (struct page){ .address = address, .times = (uint32_t)times };
	return pages->page[pages->n++].byte;
}

static void write_file(const char *dir, const char *name, const struct text *text)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(text->p, 1, text->n, f) != text->n || fclose(f) != 0)
		die_errno("cannot write '%s'", path);
}

/* The JVM behind its pages; both are freed. */
static void write_seed(const char *dir, const char *name, struct synth *synth, struct pages *pages)
{
	struct text own = { 0 }, t = { 0 };

	synth_pack(synth, &own);
	text_bytes(&t, own.p, 8);
	for (size_t i = 0; i < pages->n; i++) {
		uint64_t number = pages->page[i].address / SYNTH_PAGE;
		uint16_t n = SYNTH_PAGE, size;

		while (n && pages->page[i].byte[n - 1] == 0)
			n--;
		size = n | 0x8000;
		text_bytes(&t, &number, 8);
		text_bytes(&t, &size, 2);
		text_bytes(&t, &pages->page[i].times, 4);
		text_bytes(&t, pages->page[i].byte, n);
	}
	text_bytes(&t, own.p + 8, own.n - 8);
	write_file(dir, name, &t);
	text_free(&own);
	text_free(&t);
	synth_free(synth);
	free(pages->page);
	*pages = (struct pages){ 0 };
}

static uint64_t pointer_at(const struct synth *synth, uint64_t address)
{
	uint64_t value;

	memcpy(&value, synth->byte + (address - SYNTH_BASE), 8);
	return value;
}

/* Its only CodeHeap gets other memory, and a segment map at MAP_AT. */
static void move_heap(struct synth *synth, uint64_t low, uint64_t high, uint64_t segments, unsigned shift)
{
	uint64_t array = pointer_at(synth, synth->at[synth_field(synth, "CodeCache", "_heaps")]);
	uint64_t heap = pointer_at(
		synth, pointer_at(synth, array + synth->at[synth_field(synth, "GrowableArray<int>", "_data")]));
	uint64_t memory = heap + synth->at[synth_field(synth, "CodeHeap", "_memory")],
		 map = heap + synth->at[synth_field(synth, "CodeHeap", "_segmap")];

	synth_set(synth, memory, "VirtualSpace", "_low", low);
	synth_set(synth, memory, "VirtualSpace", "_high", high);
	synth_set(synth, map, "VirtualSpace", "_low", MAP_AT);
	synth_set(synth, map, "VirtualSpace", "_high", MAP_AT + segments);
	synth_set(synth, heap, "CodeHeap", "_log2_segment_size", shift);
}

/* Sets a field in a page that stands for address. */
static void set(const struct synth *synth, unsigned char *page, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(synth, type, name);

	if (i >= 0)
		memcpy(page + synth->at[i], &value, synth_fields[i].width);
}

/* A segment map of 512 MB without a block: who looks for the begin of a block from its end reads all of it. */
static void attack_segmap(const char *dir)
{
	const uint64_t all = (uint64_t)4 << 30, segments = all >> 3;
	struct pages p = { 0 };
	struct synth s;

	synth_make(&s, SYNTH_17, 5, -1);
	move_heap(&s, CODE_AT, CODE_AT + all, segments, 3);
	add_page(&p, CODE_AT, 1);
	for (uint64_t i = 16; i > 0; i--)
		add_page(&p, CODE_AT + all - i * SYNTH_PAGE, 1);
	memset(add_page(&p, MAP_AT, segments / SYNTH_PAGE), 1, SYNTH_PAGE);
	write_seed(dir, "attack-segmap", &s, &p);
}

/* Blocks of stubs, 4 MB each, in which a stub begins every 5 bytes. */
static void attack_stubs(const char *dir)
{
	enum { BLOCKS = 8, BLOCK = 4 << 20, SHIFT = 12 };
	struct pages p = { 0 };
	struct synth s;
	unsigned char *page;

	synth_make(&s, SYNTH_25, 4, -1);
	move_heap(&s, CODE_AT, CODE_AT + BLOCKS * BLOCK, BLOCKS * BLOCK >> SHIFT, SHIFT);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t header = synth_size(&s, "block");

		page = add_page(&p, CODE_AT + i * BLOCK, 1);
		set(&s, page, "HeapBlock::Header", "_length", BLOCK >> SHIFT);
		set(&s, page, "HeapBlock::Header", "_used", 1);
		set(&s, page + header, "CodeBlob", "_name",
		    pointer_at(&s, SYNTH_BASE + s.segments[1] * SYNTH_SEGMENT + s.heap - SYNTH_BASE + header +
					   s.at[synth_field(&s, "CodeBlob", "_name")]));
		set(&s, page + header, "CodeBlob", "_kind", 2);
		set(&s, page + header, "CodeBlob", "_size", BLOCK - header);
		set(&s, page + header, "CodeBlob", "_code_offset", SYNTH_PAGE - header);
		set(&s, page + header, "CodeBlob", "_data_offset", BLOCK - header);
		page = add_page(&p, CODE_AT + i * BLOCK + SYNTH_PAGE, BLOCK / SYNTH_PAGE - 1);
		for (size_t at = 0; at + 5 <= SYNTH_PAGE; at += 5)
			memcpy(page + at, "\xc3\x55\x48\x8b\xec", 5);
	}
	page = add_page(&p, MAP_AT, BLOCKS * (BLOCK >> SHIFT) / SYNTH_PAGE);
	for (size_t at = 0; at < SYNTH_PAGE; at++)
		page[at] = at % (BLOCK >> SHIFT) != 0;
	write_seed(dir, "attack-stubs", &s, &p);
}

/* 1 M compiled methods, one in each 512 bytes, all of the same small page. */
static void attack_blobs(const char *dir)
{
	enum { BLOCK = 512, PAGES = 131072, SHIFT = 9 };
	struct pages p = { 0 };
	struct synth s;
	unsigned char *page;
	uint64_t header, real;

	synth_make(&s, SYNTH_25, 7, -1);
	header = synth_size(&s, "block");
	real = s.heap + s.segments[s.nsegments - 4] * SYNTH_SEGMENT; /* a compiled method that is one */
	move_heap(&s, CODE_AT, CODE_AT + (uint64_t)PAGES * SYNTH_PAGE, (uint64_t)PAGES * SYNTH_PAGE >> SHIFT, SHIFT);
	page = add_page(&p, CODE_AT, PAGES);
	for (size_t at = 0; at < SYNTH_PAGE; at += BLOCK) {
		memcpy(page + at, s.byte + (real - SYNTH_BASE), header + synth_size(&s, "blob"));
		set(&s, page + at, "HeapBlock::Header", "_length", 1);
		set(&s, page + at + header, "nmethod", "_compile_id", at + 1);
	}
	add_page(&p, MAP_AT, ((uint64_t)PAGES * SYNTH_PAGE >> SHIFT) / SYNTH_PAGE);
	write_seed(dir, "attack-blobs", &s, &p);
}

/* UNSIGNED5 of JDK 20 and later: no byte is 0. */
static size_t put_number(unsigned char *at, size_t n, uint32_t value)
{
	for (; value >= 191; value = (value - 191) >> 6)
		at[n++] = (unsigned char)(1 + 191 + ((value - 191) & 63));
	at[n++] = (unsigned char)(1 + value);
	return n;
}

/* 16 chains of 250 inlined calls, which 1 M PcDescs refer to: 4,000 nodes are looked up 250 times for each of them. */
static void attack_scopes(const char *dir)
{
	enum { CHAINS = 16, DEPTH = 250, SCOPE_PAGES = 8, PC_PAGES = 2040, CODE_OFFSET = 12 };
	struct pages p = { 0 };
	struct synth s;
	uint32_t innermost[CHAINS];
	uint64_t blob, each, seed = 6;
	size_t n = 1;
	unsigned char *page, scopes[SCOPE_PAGES * SYNTH_PAGE] = { 0 };

	do
		synth_make(&s, SYNTH_25, seed++, -1);
	while (SYNTH_PAGE % synth_size(&s, "pc"));
	each = synth_size(&s, "pc");
	n = put_number(scopes, n, 0); /* the method itself */
	n = put_number(scopes, n, 1);
	for (uint32_t i = 0; i < CHAINS; i++) {
		uint32_t sender = 1;

		for (uint32_t depth = 0; depth < DEPTH; depth++) {
			innermost[i] = (uint32_t)n;
			n = put_number(scopes, n, sender);
			n = put_number(scopes, n, depth < 4 ? 2 + (i >> depth & 1) : 2);
			sender = innermost[i];
		}
	}
	page = add_page(&p, TABLES_AT, PC_PAGES);
	for (size_t at = 0; at < SYNTH_PAGE; at += each) {
		set(&s, page + at, "PcDesc", "_pc_offset", CODE_OFFSET);
		set(&s, page + at, "PcDesc", "_scope_decode_offset", innermost[at / each % CHAINS]);
	}
	for (uint64_t i = 0; i < SCOPE_PAGES; i++)
		memcpy(add_page(&p, TABLES_AT + (PC_PAGES + i) * SYNTH_PAGE, 1), scopes + i * SYNTH_PAGE, SYNTH_PAGE);
	blob = s.heap + s.segments[s.nsegments - 4] * SYNTH_SEGMENT + synth_size(&s, "block");
	synth_set(&s, blob, "nmethod", "_immutable_data", TABLES_AT);
	synth_set(&s, blob, "nmethod", "_immutable_data_size", (PC_PAGES + SCOPE_PAGES) * SYNTH_PAGE);
	synth_set(&s, blob, "nmethod", "_scopes_data_offset", PC_PAGES * SYNTH_PAGE);
	write_seed(dir, "attack-scopes", &s, &p);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned jdk;
	} plain[] = { { "jdk8", SYNTH_8 }, { "jdk17", SYNTH_17 }, { "jdk21", SYNTH_21 }, { "jdk25", SYNTH_25 } };

	diag_tool("seeds");
	if (argc != 2)
		die_usage("seeds DIR");
	for (unsigned i = 0; i < 4; i++) {
		struct pages none = { 0 };
		struct synth s;

		synth_make(&s, plain[i].jdk, plain[i].jdk, -1);
		write_seed(argv[1], plain[i].name, &s, &none);
	}
	attack_segmap(argv[1]);
	attack_stubs(argv[1]);
	attack_blobs(argv[1]);
	attack_scopes(argv[1]);
	return 0;
}
