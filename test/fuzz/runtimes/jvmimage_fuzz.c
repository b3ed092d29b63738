/* jvmimage: what is read of the memory of a JVM is a map or a reason, whatever the memory holds; maps ascend, inlined
 * calls are a tree, pieces of code do not overlap. Input: where libjvm.so begins, then pages, each with its number, how
 * many bytes, and these; zeros behind (test/lib/synth.h makes such images; test/jmap/seeds writes them). A page with
 * the highest bit of its size set has a count of 4 bytes behind the size: it is repeated that often, so that a small
 * input can have tables of gigabytes, as a hostile JVM can. */
/* covers: runtimes/hotspot/hotspot.c runtimes/memory/readbudget.c runtimes/memory/memory.c */
/* covers: runtimes/memory/loadedfile.c runtimes/hotspot/vmstructs.c runtimes/hotspot/vmlayout.c */
/* covers: runtimes/hotspot/codecache.c runtimes/hotspot/methods.c runtimes/hotspot/scopes.c */
/* covers: runtimes/hotspot/codelets.c runtimes/hotspot/stubs.c runtimes/hotspot/blobframes.c */
/* largest: 65536 */
#include "jmap/perfmap/codemap.h"
#include "runtimes/hotspot/blobframes.h"
#include "runtimes/hotspot/stubs.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

enum {
	PAGE = 4096,
	PAGES_MAX = 256,
	REPEATED = 0x8000,
	CHUNK = 512 /* pages */,
	REPEATED_MAX = 768 << 20 /* bytes of one input */
};

/* About twice what reading a large real JVM takes, and less than what the attacks of test/jmap/seeds took before they
 * were bounded. */
const struct fuzz_budget fuzz_budget = {
	.steps = 50000000, .steps_per_byte = 2000, .heap = 64 << 20, .heap_per_byte = 1024
};

/* What pjmap and pjrecord allow a JVM at first; filled before each kind of reading, as each is one look of theirs. */
static struct readbudget allowance;

static void allow(struct hotspot *hotspot)
{
	allowance = (struct readbudget){ .steps = 512 << 10, .bytes = 32 << 20 };
	hotspot->memory.budget = &allowance;
}

struct image {
	struct memory_part blob[PAGES_MAX];
	size_t n;
	uint64_t base;
	size_t repeated; /* bytes */
};

/* The page again and again, in memory that needs little: one chunk of such pages, mapped as often as needed. NULL: too
 * much of it. */
static char *repeat(struct image *i, const char *page, size_t pages)
{
	size_t bytes = pages * PAGE, chunk = (pages < CHUNK ? pages : (size_t)CHUNK) * PAGE;
	char *at, *one;
	int fd;

	if (pages > REPEATED_MAX / PAGE || bytes > REPEATED_MAX - i->repeated)
		return NULL;
	fd = memfd_create("pages", MFD_CLOEXEC);
	at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(fd >= 0 && ftruncate(fd, (off_t)chunk) == 0 && at != MAP_FAILED);
	for (size_t from = 0; from < bytes; from += chunk)
		MUST(mmap(at + from, bytes - from < chunk ? bytes - from : chunk, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
			  0) == at + from);
	one = mmap(NULL, chunk, PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(one != MAP_FAILED);
	for (size_t from = 0; from < chunk; from += PAGE)
		memcpy(one + from, page, PAGE);
	munmap(one, chunk);
	close(fd);
	i->repeated += bytes;
	return at;
}

static void add_page(struct image *i, uint64_t number, const uint8_t *data, size_t n, size_t count)
{
	char *page = mem_alloc(1, PAGE);

	memcpy(page, data, n);
	if (count > 1) {
		char *pages = repeat(i, page, count);

		free(page);
		page = pages;
	}
	if (page)
		i->blob[i->n++] = (struct memory_part){ number * PAGE, count * PAGE, page };
}

static void release(struct image *i)
{
	while (i->n) {
		struct memory_part *p = &i->blob[--i->n];

		if (p->n == PAGE)
			free((void *)(uintptr_t)p->bytes);
		else
			munmap((void *)(uintptr_t)p->bytes, p->n);
	}
}

/* Pages that do not ascend are left out. */
static void unpack(struct image *i, const uint8_t *data, size_t n)
{
	uint64_t next = 1;

	memcpy(&i->base, data, 8);
	for (size_t at = 8; n - at >= 14 && i->n < PAGES_MAX;) {
		uint64_t number;
		uint32_t count = 1;
		uint16_t size;
		size_t have;

		memcpy(&number, data + at, 8);
		memcpy(&size, data + at + 8, 2);
		at += 10;
		if (size & REPEATED) {
			memcpy(&count, data + at, 4);
			at += 4;
		}
		have = size & (REPEATED - 1);
		have = have < PAGE ? have : PAGE;
		have = have < n - at ? have : n - at;
		if (number >= next && count > 0 && number < INT64_MAX / PAGE - UINT32_MAX) {
			add_page(i, number, data + at, have, count);
			next = number + count;
		}
		at += have;
	}
}

static uint32_t number_of(void *arg, uint64_t method)
{
	struct hotspot *h = arg;
	struct method_name name;
	struct text t = { 0 };
	bool known = methods_read(&h->memory, &h->layout, method, &t, &name);

	MUST(!known || (name.class_name.n && name.method.n));
	text_free(&t);
	return known ? 1 + (uint32_t)(method >> 3 & 0xffff) : 0;
}

static void map_code(struct hotspot *hotspot, enum method_style style)
{
	struct codemap c;
	struct text t = { 0 };
	struct hotspot_reason r;

	allow(hotspot);
	r = codemap_make(&c, hotspot, style);
	MUST(!r.code || (c.n == 0 && r.why[0]));
	for (size_t i = 0; i < c.n; i++)
		MUST(c.entry[i].begin <= c.entry[i].end && (i == 0 || c.entry[i - 1].end <= c.entry[i].begin));
	for (size_t i = 0; i < c.n; i++) {
		struct str name = { c.names.p + c.entry[i].name, c.entry[i].name_n };

		t.n = 0;
		methods_respell(&t, name, METHOD_HOTSPOT);
		MUST(str_eq(text_view(&t), name));
		methods_respell(&t, name, i % 2 ? METHOD_JAVA : METHOD_FLAMEGRAPH);
	}
	t.n = 0;
	codemap_print(&c, style == METHOD_HOTSPOT, &t);
	for (struct str rest = text_view(&t); rest.n;) {
		struct str line = str_cut(&rest, '\n');

		MUST(line.n > 4);
		for (size_t i = 0; i < line.n; i++)
			MUST((unsigned char)line.p[i] >= 0x20 && line.p[i] != 0x7f);
	}
	text_free(&t);
	codemap_free(&c);
}

static void read_scopes(struct hotspot *hotspot)
{
	struct scopes s = { 0 };

	for (size_t i = 0; i < hotspot->code.n; i++) {
		const struct blob *b = &hotspot->code.blob[i];
		uint32_t last = 0;

		if (!b->compiled ||
		    !scopes_read(&s, &hotspot->memory, &hotspot->layout, &hotspot->packing, b, number_of, hotspot))
			continue;
		for (uint32_t k = 1; k < s.n; k++)
			MUST(s.node[k].parent < k && s.node[k].method);
		for (uint32_t k = 0; k < s.nruns; last = s.run[k++].end)
			MUST(s.run[k].end >= last && s.run[k].end <= b->end - b->begin && s.run[k].node < s.n);
	}
	scopes_free(&s);
}

/* Reads the name of the class that has a method, as pjrecord reads that of an allocated object. */
static void name_class(struct hotspot *hotspot, uint64_t method, struct text *text)
{
	const struct vmlayout *l = &hotspot->layout;
	size_t before = text->n;
	uint64_t at;

	if (!vmlayout_read(&hotspot->memory, method, l->const_method, &at) ||
	    !vmlayout_read(&hotspot->memory, at, l->constants, &at) ||
	    !vmlayout_read(&hotspot->memory, at, l->pool_holder, &at))
		return;
	MUST(hotspot_class(hotspot, at, text) || text->n == before);
}

/* One by one, as those are read that nobody expected. */
static void name_all(struct hotspot *hotspot)
{
	struct text t = { 0 };

	for (size_t i = 0; i < hotspot->code.n; i++) {
		size_t before = t.n;
		bool known = hotspot_name(hotspot, &hotspot->code.blob[i], METHOD_FLAMEGRAPH, &t);

		MUST(known == (t.n > before));
		name_class(hotspot, hotspot->code.blob[i].method, &t);
	}
	text_free(&t);
}

/* Found, or what is known looked at again: within blocks, disjoint, with names. */
static void read_stubs(struct hotspot *hotspot)
{
	struct stubs s = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		bool found = stubs_read(&s, hotspot, &hotspot->code);

		MUST(found == (s.n > 0));
		for (size_t i = 0; i < s.n; i++)
			MUST(s.one[i].begin < s.one[i].end && stubs_name(&s, &s.one[i]).n &&
			     (i == 0 || s.one[i - 1].end <= s.one[i].begin));
	}
	stubs_free(&s);
}

static void check_blobs(const struct javaunwind_code *jvm_code)
{
	for (size_t i = 0; i < jvm_code->n; i++)
		MUST(jvm_code->blob[i].start < jvm_code->blob[i].end &&
		     (i == 0 || jvm_code->blob[i - 1].end <= jvm_code->blob[i].start));
}

/* The same twice: what did not change is taken over. */
static void read_frames(struct hotspot *hotspot)
{
	struct blobframes f;
	const char *why = blobframes_open(&f, hotspot);
	size_t first = 0;

	for (unsigned round = 0; round < 2 && !why; round++) {
		why = blobframes_take(&f, hotspot);
		MUST(round == 0 || allowance.over || f.code.n == first);
		first = f.code.n;
		check_blobs(&f.code);
	}
	blobframes_free(&f);
}

/* As pjrecord asks: the one block around an address, and its names. */
static void find_one(struct blobframes *frames, struct hotspot *hotspot, uint64_t address)
{
	enum codecache_where where;
	struct text name = { 0 };
	struct blob b;
	const char *why = blobframes_at(frames, hotspot, address, &where, &b);

	check_blobs(&frames->code);
	MUST(!why || frames->code.n == 0);
	if (!why && where == CODECACHE_BLOB) {
		MUST(address >= b.begin && address < b.end && frames->code.n > 0 && (!b.compiled || b.method));
		MUST(frames->code.blob[0].start >= b.begin && frames->code.blob[frames->code.n - 1].end <= b.end);
		hotspot_expect(hotspot, &b.method, b.compiled, true);
		MUST(hotspot_name(hotspot, &b, METHOD_HOTSPOT, &name) == (name.n > 0));
		MUST(codecache_keep_same(&hotspot->memory, &hotspot->layout, &b, 1) == 1 || allowance.over);
	} else {
		MUST(frames->code.n == 0);
	}
	text_free(&name);
}

/* In, at and behind the ends of all blocks of a scan. */
static void find_each(struct hotspot *hotspot)
{
	struct blobframes f;
	const char *why = blobframes_open(&f, hotspot);

	for (size_t i = 0; i < hotspot->code.n && i < 64 && !why; i++) {
		uint64_t begin = hotspot->code.blob[i].begin, end = hotspot->code.blob[i].end,
			 at[] = { begin - 1, begin, begin + (end - begin) / 2, end - 1, end };

		for (size_t k = 0; k < countof(at); k++)
			find_one(&f, hotspot, at[k]);
	}
	blobframes_free(&f);
}

/* As pjrecord asks of a JVM that it did not scan: at both ends of each page. */
static void find_pages(struct hotspot *hotspot, const struct image *image)
{
	struct blobframes f;
	const char *why = blobframes_open(&f, hotspot);

	for (size_t i = 0; i < image->n && !why; i++) {
		const struct memory_part *p = &image->blob[i];

		find_one(&f, hotspot, p->address);
		find_one(&f, hotspot, p->address + p->n - 1);
	}
	blobframes_free(&f);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct image i = { .n = 0 };
	struct hotspot h;
	struct hotspot_reason r;

	if (n < 8)
		return 0;
	unpack(&i, data, n);
	r = hotspot_open_image(&h, i.blob, i.n, i.base);
	MUST(!r.code || r.why[0]);
	for (const char *c = h.command; *c; c++)
		MUST((unsigned char)*c >= 0x20);
	if (!r.code) {
		allow(&h);
		find_pages(&h, &i);
		map_code(&h, METHOD_HOTSPOT);
		map_code(&h, METHOD_JAVA);
		map_code(&h, METHOD_FLAMEGRAPH);
		allow(&h);
		r = hotspot_scan(&h);
	}
	if (!r.code) {
		size_t all = h.code.n;

		allow(&h);
		name_all(&h);
		allow(&h);
		read_scopes(&h);
		allow(&h);
		read_frames(&h);
		allow(&h);
		find_each(&h);
		allow(&h);
		read_stubs(&h);
		allow(&h);
		MUST(codecache_keep_same(&h.memory, &h.layout, h.code.blob, h.code.n) == all ||
		     allowance.over); /* an image stays as it is */
	}
	hotspot_close(&h);
	release(&i);
	return 0;
}

/* ---- libFuzzer only: pages are records; what a JVM has in them are numbers and pointers ------------------------- */

static size_t page_head(const uint8_t *page)
{
	return page[9] & REPEATED >> 8 ? 14 : 10;
}

static bool pages_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = 8;
	*end = n;
	return true;
}

static size_t page_size(const uint8_t *page, size_t left)
{
	uint16_t size;

	if (left < 14)
		return 0;
	memcpy(&size, page + 8, 2);
	size &= REPEATED - 1;
	return page_head(page) + (size < PAGE ? size : (size_t)PAGE);
}

/* An aligned word of one page becomes the address of something in another, or is what an aligned word elsewhere is. */
static void put_pointer(uint8_t *data, const size_t *at, size_t count, uint64_t *state)
{
	size_t i = mutate_lot(state, count), k = mutate_lot(state, count), head = page_head(data + at[i]),
	       size = at[i + 1] - at[i] - head;
	size_t other_head = page_head(data + at[k]), other = at[k + 1] - at[k] - other_head;
	uint64_t value;

	if (size < 16 || other < 16)
		return;
	memcpy(&value, data + at[k], 8);
	value = value * PAGE + mutate_lot(state, other / 8) * 8;
	if (mutate_lot(state, 2))
		memcpy(&value, data + at[k] + other_head + mutate_lot(state, other / 8) * 8, 8);
	memcpy(data + at[i] + head + mutate_lot(state, size / 8) * 8, &value, 8);
}

/* A page is there often, or often no more. */
static size_t repeat_page(uint8_t *data, size_t n, size_t max, size_t at, uint64_t *state)
{
	uint32_t count = (uint32_t)1 << mutate_lot(state, 19);

	if (!(data[at + 9] & REPEATED >> 8)) {
		if (n + 4 > max)
			return n;
		n = mutate_resize(data, n, at + 10, 0, 4);
		data[at + 9] |= REPEATED >> 8;
	}
	memcpy(data + at + 10, &count, 4);
	return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { pages_range, page_size, NULL, NULL, 10 };
	size_t at[MUTATE_RECORDS + 1], count;
	uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;

	if (n < 64 || (mutate_lot(&state, 10) == 0 && LLVMFuzzerMutate))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, n, max) : n;
	for (uint64_t times = 1 + mutate_lot(&state, 4); times; times--) {
		count = mutate_list(&f, data, 8, n, at);
		if (count == 0)
			return n;
		switch (mutate_lot(&state, 16)) {
		case 0: n = repeat_page(data, n, max, at[mutate_lot(&state, count)], &state); break;
		case 1:
		case 2:
		case 3:
		case 4: put_pointer(data, at, count, &state); break;
		default: {
			size_t i = mutate_lot(&state, count);

			mutate_number(data, n, at[i] + (mutate_lot(&state, 50) ? page_head(data + at[i]) : 0),
				      at[i + 1], &state);
			break;
		}
		}
	}
	return n;
}
