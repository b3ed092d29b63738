/* The copy of an interpreter's frames: areas, ends, cycles, missing pages, maxima. */
/* covers: runtimes/threadcopy.c */
#include "runtimes/threadcopy.h"
#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

/* Memory of a process: one range from BASE, of which pages may be missing. */
#define BASE UINT64_C(0x7f0000000000)
enum { BYTES = 2 << 20, ROOT = 0x100, ROOT_BYTES = 64, HOP = 16, FRAME = 64, NEXT = 8 };

struct memory {
	char bytes[BYTES];
	bool missing[BYTES / 4096];
	unsigned reads;
};

static size_t read_memory(void *to, uint64_t address, void *into, size_t n)
{
	struct memory *memory = to;
	size_t got = 0;

	memory->reads++;
	for (; got < n; got++) {
		uint64_t at = address + got - BASE;

		if (at >= BYTES || memory->missing[at / 4096])
			break;
		((char *)into)[got] = memory->bytes[at];
	}
	return got;
}

static const struct threadplan usual = { .root_bytes = ROOT_BYTES,
					 .nhops = 1,
					 .hop = { HOP },
					 .before = 4096,
					 .after = 4096,
					 .frame_bytes = FRAME,
					 .next = NEXT,
					 .mask = ~UINT64_C(7),
					 .frames = 5000 };

static struct memory *memory;
static struct threadcopy *copy;

static void put(uint64_t at, uint64_t value)
{
	memcpy(memory->bytes + at, &value, 8);
}

/* Makes a list of n frames, each `step` bytes above the one before; the innermost is the last. Returns the offset of
 * the innermost. */
static uint64_t make_list(uint32_t n, uint64_t step)
{
	uint64_t at = 0x10000;

	memset(memory, 0, sizeof(*memory));
	for (uint32_t i = 0; i < n; i++, at += step)
		put(at + NEXT, i ? (BASE + at - step) | 1 : 0);
	put(ROOT + HOP, BASE + at - step);
	return at - step;
}

static void follow(const struct threadplan *plan)
{
	copy->root = BASE + ROOT;
	threadcopy_follow(plan, read_memory, memory, THREADCOPY_BYTES, copy);
}

/* Returns the bytes of the copy at an offset, NULL if no area has the n bytes. */
static const char *find(uint64_t at, size_t n)
{
	for (uint32_t i = 0; i < copy->nareas; i++) {
		const struct threadcopy_area *area = copy->area + i;

		if (BASE + at >= area->address && BASE + at + n <= area->address + area->n)
			return copy->bytes + area->offset + (BASE + at - area->address);
	}
	return NULL;
}

static bool all_found(uint32_t n, uint64_t step)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *bytes = find(0x10000 + i * step, FRAME);

		if (!bytes || memcmp(bytes, memory->bytes + 0x10000 + i * step, FRAME) != 0)
			return false;
	}
	return true;
}

static void check_lists(void)
{
	make_list(1, 64);
	follow(&usual);
	ok(copy->end == THREADCOPY_COMPLETE && copy->nareas == 2 && all_found(1, 64),
	   "one frame: the root and one area");
	ok(find(ROOT, ROOT_BYTES) != NULL, "  the root's bytes are the first area");
	make_list(126, 80);
	follow(&usual);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(126, 80), "126 frames: all are copied");
	ok(copy->nareas <= 5, "  in 4 areas at most");
	make_list(5000, 64);
	follow(&usual);
	is_u64(copy->end, THREADCOPY_LIMIT, "5,000 frames: a maximum ends the copy");
	is_u64(memory->reads, THREADCOPY_READS, "  of reads");
	ok(find(0x10000 + 4999 * 64, FRAME) != NULL, "  the innermost frame is copied");
	make_list(4, 64);
	put(ROOT + HOP, 0);
	follow(&usual);
	is_u64(copy->end, THREADCOPY_NO_FRAME, "a thread without a frame");
}

static void check_hops(void)
{
	struct threadplan plan = usual;

	make_list(3, 64);
	put(0x8000 + 24, BASE + 0x9000);
	put(0x9000 + 40, BASE + 0x10000 + 128);
	put(ROOT + HOP, BASE + 0x8000);
	plan.nhops = 3;
	plan.hop[1] = 24;
	plan.hop[2] = 40;
	follow(&plan);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(3, 64), "three hops lead to the innermost frame");
	ok(find(0x8000 + 24, 8) && find(0x9000 + 40, 8), "  their pointers are copied, too");
	put(0x8000 + 24, 0);
	follow(&plan);
	is_u64(copy->end, THREADCOPY_NO_FRAME, "  one of them is 0");
	put(0x8000 + 24, UINT64_MAX - 8);
	follow(&plan);
	is_u64(copy->end, THREADCOPY_FAILED, "  one of them is no address");
}

static void check_overlaps(void)
{
	struct threadplan plan = usual;
	uint64_t total = 0, first, last;

	make_list(500, 64);
	follow(&plan);
	first = UINT64_MAX;
	last = 0;
	for (uint32_t i = 1; i < copy->nareas; i++) {
		total += copy->area[i].n;
		first = copy->area[i].address < first ? copy->area[i].address : first;
		last = copy->area[i].address + copy->area[i].n > last ? copy->area[i].address + copy->area[i].n : last;
	}
	is_u64(total, last - first, "areas of neighbours do not overlap");
	ok(all_found(500, 64), "  and all frames are in them");
	/* frames that overlap each other: each lies 8 bytes above the one before */
	make_list(1000, 16);
	follow(&plan);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(1000, 16), "frames that overlap each other");
}

static void check_cycles(void)
{
	uint64_t top = make_list(10, 64);

	put(0x10000 + NEXT, BASE + top);
	follow(&usual);
	is_u64(copy->end, THREADCOPY_LIMIT, "a cycle of ten frames ends");
	put(top + NEXT, BASE + top);
	follow(&usual);
	is_u64(copy->end, THREADCOPY_LIMIT, "a frame that is its own caller");
	top = make_list(10, 64);
	put(0x10000 + NEXT, BASE + 0x10000 + 3 * 64);
	follow(&usual);
	is_u64(copy->end, THREADCOPY_LIMIT, "a cycle that begins later");
}

static void check_missing(void)
{
	uint64_t top = make_list(2, 0x2000);

	memory->missing[top / 4096 - 1] = true;
	follow(&usual);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(2, 0x2000), "the page before a frame is missing");
	memory->missing[top / 4096 + 1] = true;
	follow(&usual);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(2, 0x2000), "the page after it, too");
	memory->missing[0x10000 / 4096] = true;
	follow(&usual);
	ok(copy->end == THREADCOPY_FAILED && find(top, FRAME), "the caller's page: the frames before it are copied");
	memory->missing[top / 4096] = true;
	follow(&usual);
	is_u64(copy->end, THREADCOPY_FAILED, "the page of the innermost frame");
	memory->missing[0] = true;
	follow(&usual);
	ok(copy->end == THREADCOPY_FAILED && copy->nareas == 0, "the root's page");
	copy->root = UINT64_MAX - 8;
	threadcopy_follow(&usual, read_memory, memory, THREADCOPY_BYTES, copy);
	ok(copy->end == THREADCOPY_FAILED && copy->nareas == 0, "a root that is no address");
	make_list(2, 64);
	put(0x10000 + 64 + NEXT, (UINT64_C(1) << 63) + 8);
	follow(&usual);
	ok(copy->end == THREADCOPY_FAILED && find(0x10000 + 64, FRAME), "a caller that is no address");
}

static void check_maxima(void)
{
	struct threadplan plan = usual;

	make_list(100, 0x2000);
	copy->root = BASE + ROOT;
	threadcopy_follow(&usual, read_memory, memory, 20000, copy);
	ok(copy->end == THREADCOPY_LIMIT && copy->nbytes <= 20000, "the caller's maximum of bytes");
	ok(find(0x10000 + 99 * 0x2000, FRAME) != NULL, "  the innermost frame is copied");
	plan.before = plan.after = 32 << 10;
	make_list(100, 0x4000);
	follow(&plan);
	ok(copy->end == THREADCOPY_LIMIT && copy->nbytes <= THREADCOPY_BYTES, "the maximum of bytes");
	plan = usual;
	plan.frames = 7;
	make_list(100, 64);
	follow(&plan);
	is_u64(copy->end, THREADCOPY_LIMIT, "the plan's maximum of frames");
}

/* Objects of frames, each on a page of its own in front of the frames; the plan's pointer to them is at OBJECT. */
enum { OBJECT = 0, OBJECT_BYTES = 100, OBJECTS = 0x1000 };

static uint32_t objects_found(uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += find(OBJECTS + i * 256, OBJECT_BYTES) != NULL;
	return found;
}

static void check_objects(void)
{
	struct threadplan plan = usual;

	_Static_assert(OBJECT + 8 <= FRAME && (OBJECT + 8 <= NEXT || OBJECT >= NEXT + 8), "fields are disjoint");
	plan.object = OBJECT;
	plan.object_bytes = OBJECT_BYTES;
	ok(threadplan_valid(&plan), "a plan with objects");
	make_list(50, 64);
	for (uint32_t i = 0; i < 50; i++)
		put(0x10000 + i * 64 + OBJECT, BASE + OBJECTS + i * 256);
	follow(&plan);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(50, 64), "objects: all frames are copied");
	is_u64(objects_found(50), THREADCOPY_OBJECTS - 2, "  and objects up to a maximum");
	make_list(50, 64);
	for (uint32_t i = 0; i < 50; i++)
		put(0x10000 + i * 64 + OBJECT, BASE + OBJECTS + i % 2 * 256);
	put(0x10000 + 7 * 64 + OBJECT, 0);
	put(0x10000 + 8 * 64 + OBJECT, UINT64_MAX - 8);
	put(0x10000 + 9 * 64 + OBJECT, BASE + BYTES);
	follow(&plan);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(50, 64) && objects_found(2) == 2 && copy->nareas <= 5,
	   "  each of them once; those that are not there are left out");
	plan.object = FRAME - 7;
	ok(!threadplan_valid(&plan), "a pointer to an object beyond the frame");
}

/* The frames' objects are arrays from ARRAYS on: the frame at `i` has `n` elements of 100 bytes. */
enum { ARRAYS = 0x40000, ARRAY_STEP = 0x40000, LAST = 36 };

static void put_array(uint32_t i, int32_t last)
{
	put(0x10000 + i * 64 + OBJECT, BASE + ARRAYS + (uint64_t)i * ARRAY_STEP);
	memcpy(memory->bytes + 0x10000 + i * 64 + LAST, &last, sizeof(last));
}

static void check_object_arrays(void)
{
	struct threadplan plan = usual;

	_Static_assert(LAST >= OBJECT + 8 && LAST + 4 <= FRAME, "fields are disjoint");
	plan.object = OBJECT;
	plan.object_bytes = 100;
	plan.objects = 1;
	plan.object_last = LAST;
	ok(threadplan_valid(&plan), "a plan with arrays of objects");
	make_list(3, 64);
	put_array(2, 0);
	put_array(1, -1);
	put_array(0, 2000);
	follow(&plan);
	ok(copy->end == THREADCOPY_COMPLETE && all_found(3, 64), "arrays of objects: all frames are copied");
	ok(find(ARRAYS + 2 * ARRAY_STEP, 100) && find(ARRAYS, 100) && find(ARRAYS + 2000 * 100, 100) &&
		   !find(ARRAYS + 2001 * 100, 100) && !find(ARRAYS + ARRAY_STEP, 100),
	   "  and all elements");
	put_array(0, 100000);
	follow(&plan);
	ok(copy->end == THREADCOPY_FAILED && find(ARRAYS + 2 * ARRAY_STEP, 100),
	   "  one that is not there ends the copy");
	put_array(2, 10000);
	follow(&plan);
	ok(copy->end == THREADCOPY_LIMIT && find(ARRAYS + 2 * ARRAY_STEP + 10000 * 100, 100) &&
		   !find(ARRAYS + 2 * ARRAY_STEP, 100),
	   "  of one that is too large, the last elements are copied");
	put_array(2, -2);
	follow(&plan);
	ok(copy->end == THREADCOPY_FAILED, "  a negative number of elements");
	put_array(2, INT32_MAX);
	follow(&plan);
	ok(copy->end == THREADCOPY_FAILED, "  a number that no array has");
	plan.object_last = FRAME - 3;
	ok(!threadplan_valid(&plan), "a number of elements beyond the frame");
	plan.object_last = LAST;
	plan.objects = 2;
	ok(!threadplan_valid(&plan), "arrays of arrays");
	plan.objects = 1;
	plan.object_bytes = 0;
	ok(!threadplan_valid(&plan), "arrays of no elements");
}

/* ---- frames as an array ------------------------------------------------------------------------------------------ */

/* The root leads to OWNER, which has the stack; its frames are at its end, their environments from its start on. */
enum { OWNER = 0x1000, STACK = 0x10000, CELL = 56, LINK = 32, HEAP = 0x180000 };

static const struct threadplan array = { .root_bytes = 8,
					 .nhops = 2,
					 .hop = { 0, 16 },
					 .before = 512,
					 .after = 512,
					 .frame_bytes = CELL,
					 .next = LINK,
					 .mask = ~UINT64_C(0),
					 .frames = 4096,
					 .array = { .bytes = 24, .start = 0, .words = 8, .link_before = 16 } };

/* Makes a stack of `bytes` with n frames, the environments of which are `step` bytes apart: those of the innermost are
 * the highest. */
static uint64_t make_array(uint32_t n, uint64_t bytes, uint64_t step)
{
	uint64_t first = STACK + bytes - (uint64_t)n * CELL;

	memset(memory, 0, sizeof(*memory));
	put(ROOT, BASE + OWNER);
	put(OWNER, BASE + STACK);
	put(OWNER + 8, bytes / 8);
	put(OWNER + 16, BASE + first);
	for (uint32_t i = 0; i < n; i++) {
		put(first + (uint64_t)i * CELL, i + 1);
		put(first + (uint64_t)i * CELL + LINK, BASE + STACK + (n - i) * step);
		put(STACK + (n - i) * step, 0x100000 + i);
	}
	return first;
}

/* Returns the number of frames, from the innermost on, whose bytes and environment are copied. */
static uint32_t array_found(uint64_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = first + (uint64_t)i * CELL, link;
		const char *bytes = find(at, CELL);

		memcpy(&link, memory->bytes + at + LINK, 8);
		if (!bytes || memcmp(bytes, memory->bytes + at, CELL) != 0 || link < BASE + 16)
			return i;
		at = link - 16 - BASE;
		bytes = find(at, 24);
		if (!bytes || memcmp(bytes, memory->bytes + at, 24) != 0)
			return i;
	}
	return n;
}

static void check_arrays(void)
{
	uint64_t first = make_array(1, 0x10000, 40);

	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 1) == 1, "an array of one frame");
	ok(find(OWNER, 24) && copy->nareas <= 4, "  with the numbers of its stack, in 4 areas");
	first = make_array(126, 0x10000, 40);
	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 126) == 126, "126 frames");
	ok(copy->nareas <= 4, "  in 4 areas");
	first = make_array(2500, 0x80000, 100);
	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 2500) == 2500,
	   "2,500 frames: areas end between two frames");
	first = make_array(4096, 0xc0000, 100);
	follow(&array);
	ok(copy->end == THREADCOPY_LIMIT && array_found(first, 4096) > 1000,
	   "the maximum of bytes: the innermost ones");
	first = make_array(30, 0x10000, 40);
	for (uint32_t i = 0; i < 10; i++)
		put(first + (uint64_t)i * CELL + LINK, BASE + HEAP + (uint64_t)i * 0x2000 + 64);
	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 30) == 30, "environments elsewhere");
	memory->missing[HEAP / 4096 - 1] = true;
	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 30) == 30, "  next to a page that is missing");
	memory->missing[(HEAP + 5 * 0x2000) / 4096] = true;
	follow(&array);
	ok(copy->end == THREADCOPY_COMPLETE && array_found(first, 30) == 5, "  and in one: the others are copied");
	put(first + LINK, UINT64_MAX - 63);
	put(first + CELL + LINK, 8);
	follow(&array);
	ok(array_found(first, 30) == 0 && find(first, CELL * 30),
	   "pointers that are no addresses: the frames are copied");
}

static void check_bad_arrays(void)
{
	struct threadplan plan = array;
	uint64_t first = make_array(4, 0x10000, 40);

	put(OWNER + 16, 0);
	follow(&array);
	is_u64(copy->end, THREADCOPY_NO_FRAME, "a stack without a frame");
	put(OWNER + 16, BASE + first + 8);
	follow(&array);
	is_u64(copy->end, THREADCOPY_FAILED, "frames that do not end with the stack");
	put(OWNER + 16, BASE + STACK - CELL);
	follow(&array);
	is_u64(copy->end, THREADCOPY_FAILED, "a frame below the stack");
	put(OWNER + 16, BASE + first);
	put(OWNER + 8, UINT64_MAX / 8);
	follow(&array);
	is_u64(copy->end, THREADCOPY_FAILED, "a stack that is too large");
	put(OWNER + 8, 0x10000 / 8);
	put(OWNER, UINT64_MAX - 7);
	follow(&array);
	is_u64(copy->end, THREADCOPY_FAILED, "a stack that is no address");
	first = make_array(100, 0x10000, 40);
	memory->missing[(first + 50 * CELL) / 4096] = true;
	follow(&array);
	ok(copy->end == THREADCOPY_FAILED && array_found(first, 100) > 0, "a page of the frames is missing");
	first = make_array(100, 0x10000, 40);
	plan.frames = 7;
	follow(&plan);
	ok(copy->end == THREADCOPY_LIMIT && array_found(first, 100) >= 7, "the plan's maximum of frames of an array");
	plan = array;
	ok(threadplan_valid(&plan), "a usable plan of an array");
	plan.array.words = 17;
	ok(!threadplan_valid(&plan), "a size beyond the owner's bytes");
	plan = array;
	plan.hop[1] = 20;
	ok(!threadplan_valid(&plan), "a hop beyond the owner's bytes");
	plan = array;
	plan.array.link_before = 513;
	ok(!threadplan_valid(&plan), "an environment that is larger than its area");
	plan = array;
	plan.object_bytes = OBJECT_BYTES;
	ok(!threadplan_valid(&plan), "an array with objects");
}

static void check_plans(void)
{
	struct threadplan plan = usual;

	ok(threadplan_valid(&plan), "a usable plan");
	plan.nhops = 4;
	ok(!threadplan_valid(&plan), "too many hops");
	plan = usual;
	plan.hop[0] = ROOT_BYTES - 7;
	ok(!threadplan_valid(&plan), "a hop beyond the root's bytes");
	plan = usual;
	plan.next = FRAME - 7;
	ok(!threadplan_valid(&plan), "a caller's pointer beyond the frame");
	plan = usual;
	plan.next = plan.hop[0] = UINT32_MAX - 3;
	ok(!threadplan_valid(&plan), "offsets that overflow");
	plan = usual;
	plan.after = FRAME - 1;
	ok(!threadplan_valid(&plan), "a frame that is longer than its area");
}

int main(void)
{
	memory = mem_alloc(sizeof(*memory), 1);
	copy = mem_alloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	check_lists();
	check_hops();
	check_overlaps();
	check_cycles();
	check_missing();
	check_maxima();
	check_objects();
	check_object_arrays();
	check_plans();
	check_arrays();
	check_bad_arrays();
	free(memory);
	free(copy);
	return done();
}
