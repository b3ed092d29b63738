/* What reading a hostile JVM costs: segment maps without an end, blocks of stubs with entries everywhere. All of it is
 * in an image of memory (synth.h), and the costs are counted in steps (readbudget.h) and pieces. */
/* covers: runtimes/hotspot/blobframes.c runtimes/hotspot/codecache.c runtimes/memory/readbudget.c */
#include "runtimes/hotspot/blobframes.h"
#include "test/lib/synth.h"
#include "test/lib/tap.h"

enum {
	MB = 1 << 20,
	SHIFT = 7,
	HEAP = 64 * MB,
	SEGMENTS = HEAP >> SHIFT,
	BLOCK = 4 * MB,
	NAME_AT = 2048,
	CODE_AT = 4096
};

#define HEAP_AT (SYNTH_BASE + (uint64_t)1024 * MB)
#define MAP_AT (HEAP_AT + (uint64_t)1024 * MB)

struct fake {
	struct synth s;
	unsigned char *heap, *map;
	struct memory_part blob[3];
	struct hotspot h;
	struct blobframes f;
	struct readbudget budget;
};

static uint64_t number_at(const struct synth *synth, uint64_t address)
{
	uint64_t value;

	memcpy(&value, synth->byte + (address - SYNTH_BASE), 8);
	return value;
}

static void set_heap(struct fake *fake, uint64_t block, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(&fake->s, type, name);

	if (i >= 0)
		memcpy(fake->heap + block + fake->s.at[i], &value, synth_fields[i].width);
}

/* A block of BLOCK bytes called so, at the start of the heap. */
static void put_block(struct fake *fake, const char *name)
{
	uint64_t blob = synth_size(&fake->s, "block");

	set_heap(fake, 0, "HeapBlock::Header", "_length", BLOCK >> SHIFT);
	set_heap(fake, 0, "HeapBlock::Header", "_used", 1);
	set_heap(fake, blob, "CodeBlob", "_name", HEAP_AT + NAME_AT);
	set_heap(fake, blob, "CodeBlob", "_size", BLOCK - blob);
	set_heap(fake, blob, "CodeBlob", "_code_begin", HEAP_AT + CODE_AT);
	set_heap(fake, blob, "CodeBlob", "_code_end", HEAP_AT + BLOCK);
	memcpy(fake->heap + NAME_AT, name, strlen(name) + 1);
}

static void set_up(struct fake *fake)
{
	uint64_t list, heap, memory, map;

	synth_make(&fake->s, SYNTH_17, 1, -1);
	fake->heap = mem_alloc(1, HEAP);
	fake->map = mem_alloc(1, SEGMENTS);
	list = number_at(&fake->s, fake->s.at[synth_field(&fake->s, "CodeCache", "_heaps")]);
	heap = number_at(&fake->s,
			 number_at(&fake->s, list + fake->s.at[synth_field(&fake->s, "GrowableArray<int>", "_data")]));
	memory = heap + fake->s.at[synth_field(&fake->s, "CodeHeap", "_memory")];
	map = heap + fake->s.at[synth_field(&fake->s, "CodeHeap", "_segmap")];
	synth_set(&fake->s, memory, "VirtualSpace", "_low", HEAP_AT);
	synth_set(&fake->s, memory, "VirtualSpace", "_high", HEAP_AT + HEAP);
	synth_set(&fake->s, map, "VirtualSpace", "_low", MAP_AT);
	synth_set(&fake->s, map, "VirtualSpace", "_high", MAP_AT + SEGMENTS);
	synth_set(&fake->s, heap, "CodeHeap", "_log2_segment_size", SHIFT);
	put_block(fake, "Interpreter");
	fake->blob[0] = synth_part(&fake->s);
	fake->blob[1] = (struct memory_part){ HEAP_AT, HEAP, (const char *)fake->heap };
	fake->blob[2] = (struct memory_part){ MAP_AT, SEGMENTS, (const char *)fake->map };
	hotspot_open_image(&fake->h, fake->blob, 3, SYNTH_BASE);
	blobframes_open(&fake->f, &fake->h);
	fake->h.memory.budget = &fake->budget;
}

static void tear_down(struct fake *fake)
{
	blobframes_free(&fake->f);
	hotspot_close(&fake->h);
	synth_free(&fake->s);
	free(fake->heap);
	free(fake->map);
}

/* Where the block of an address is, and how many steps that took. */
static enum codecache_where look_up(struct fake *fake, uint64_t address, uint64_t *steps)
{
	const uint64_t all = UINT64_C(1) << 40;
	enum codecache_where where;
	struct blob b;

	fake->budget = (struct readbudget){ .steps = all, .bytes = all };
	memory_forget(&fake->h.memory);
	blobframes_at(&fake->f, &fake->h, address, &where, &b);
	*steps = all - fake->budget.steps;
	return where;
}

/* As HotSpot marks a block. */
static void mark(struct fake *fake, size_t segments)
{
	for (size_t i = 0; i < segments; i++)
		fake->map[i] = (unsigned char)(i ? (i - 1) % 254 + 1 : 0);
}

static void segment_maps(struct fake *fake)
{
	enum codecache_where where;
	uint64_t steps;

	put_block(fake, "MethodHandles adapters");
	mark(fake, BLOCK >> SHIFT);
	ok(look_up(fake, HEAP_AT + BLOCK - 1, &steps) == CODECACHE_BLOB && fake->f.code.n == 1,
	   "the last byte of a block of 4 MB leads to its start");
	ok(steps < 4000, "  in some thousand steps");
	memset(fake->map, 1, SEGMENTS);
	where = look_up(fake, HEAP_AT + HEAP - 1, &steps);
	ok(where == CODECACHE_FREE && steps < 4000,
	   "a segment map without an end is left after a bounded number of hops");
	memset(fake->map, 254, SEGMENTS);
	where = look_up(fake, HEAP_AT + HEAP - 1, &steps);
	ok(where == CODECACHE_FREE && steps < 4000, "  also if each hop is far");
	mark(fake, BLOCK >> SHIFT);
	fake->map[100] = 255;
	ok(look_up(fake, HEAP_AT + (100 << SHIFT), &steps) == CODECACHE_FREE,
	   "a segment that is not used has no block");
	fake->map[1] = 2;
	ok(look_up(fake, HEAP_AT + (1 << SHIFT), &steps) == CODECACHE_FREE,
	   "nor has one whose distance leads out of the map");
}

static void stubs(struct fake *fake)
{
	uint64_t steps;

	put_block(fake, "StubRoutines (2)");
	mark(fake, BLOCK >> SHIFT);
	for (size_t at = CODE_AT; at + 5 <= BLOCK; at += 5)
		memcpy(fake->heap + at, "\xc3\x55\x48\x8b\xec", 5);
	ok(look_up(fake, HEAP_AT + MB, &steps) == CODECACHE_FREE && fake->f.code.n == 0,
	   "a block with an entry every five bytes has no pieces");
	ok(fake->f.cap <= 8192, "  and takes no memory");
	fake->budget = (struct readbudget){ .steps = UINT64_C(1) << 40, .bytes = UINT64_C(1) << 40 };
	ok(!hotspot_scan(&fake->h).code && !blobframes_take(&fake->f, &fake->h) && fake->f.code.n <= 1 &&
		   fake->f.cap <= 8192,
	   "  nor when all code is read at once");
	memset(fake->heap + CODE_AT, 0x90, BLOCK - CODE_AT);
	memcpy(fake->heap + CODE_AT + 64, "\xc3\x55\x48\x8b\xec", 5);
	set_heap(fake, synth_size(&fake->s, "block"), "CodeBlob", "_code_end", HEAP_AT + CODE_AT + 300000);
	ok(look_up(fake, HEAP_AT + CODE_AT + 100, &steps) == CODECACHE_BLOB && fake->f.code.n == 2,
	   "one of a usual size has those that it has");
}

int main(void)
{
	struct fake x = { 0 };

	set_up(&x);
	segment_maps(&x);
	stubs(&x);
	tear_down(&x);
	return done();
}
