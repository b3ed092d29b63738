/* Frames in copies that are written here: entries, generators, cycles, missing areas, impossible links. */
/* covers: runtimes/cpython/pyframes.c runtimes/cpython/pylayout.c */
#include "runtimes/cpython/pylayout.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define ROOT UINT64_C(0x10000)
#define FRAMES UINT64_C(0x20000)
#define CODE UINT64_C(0x7f0000001000)
enum { FRAME_BYTES = 128, SPACE = 64 << 10 };

static struct threadcopy *copy;
static struct cpython_stack stack;
static struct cpython_layout layout;

static char *frame_bytes(unsigned i)
{
	return copy->bytes + 256 + i * FRAME_BYTES;
}

static uint64_t frame_address(unsigned i)
{
	return FRAMES + i * FRAME_BYTES;
}

static void put(char *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}

/* Makes a copy of n frames of a version; frame 0 is the innermost. */
static void make(uint32_t version, unsigned n)
{
	pylayout_of_version(version, &layout);
	memset(copy, 0, sizeof(*copy) + SPACE);
	copy->root = ROOT;
	copy->nareas = 2;
	copy->nbytes = 256 + n * FRAME_BYTES;
	copy->area[0] = (struct threadcopy_area){ ROOT, 256, 0 };
	copy->area[1] = (struct threadcopy_area){ FRAMES, n * FRAME_BYTES, 256 };
	if (layout.thread.cframe == CPYTHON_NO_FIELD) {
		put(copy->bytes + layout.thread.frame, frame_address(0));
	} else {
		/* The _PyCFrame lies in the root's bytes. */
		put(copy->bytes + layout.thread.frame, ROOT + 128);
		put(copy->bytes + 128 + layout.thread.cframe, frame_address(0));
	}
	for (unsigned i = 0; i < n; i++) {
		put(frame_bytes(i) + layout.frame.code, CODE + i * 512);
		put(frame_bytes(i) + layout.frame.globals, CODE);
		put(frame_bytes(i) + layout.frame.previous, i + 1 < n ? frame_address(i + 1) : 0);
	}
}

/* The code of a frame is identified by the fields in the copy that never change. */
static void copied_code(void)
{
	uint64_t before;

	make(11, 1);
	cpython_frames(&layout, copy, &stack);
	is_u64(stack.frame[0].copied, 0, "code that is not in the copy is not identified");
	copy->area[2] = (struct threadcopy_area){ CODE, layout.code.lines + 8, copy->nbytes };
	copy->nbytes += copy->area[2].n;
	copy->nareas = 3;
	cpython_frames(&layout, copy, &stack);
	before = stack.frame[0].copied;
	ok(before != 0, "code in the copy is");
	copy->bytes[copy->area[2].offset] ^= 1;
	cpython_frames(&layout, copy, &stack);
	is_u64(stack.frame[0].copied, before, "  its reference count may change");
	copy->bytes[copy->area[2].offset + layout.code.lines] ^= 1;
	cpython_frames(&layout, copy, &stack);
	ok(stack.frame[0].copied && stack.frame[0].copied != before, "  with another table of lines it is another one");
}

static void links(void)
{
	make(11, 5);
	frame_bytes(1)[layout.frame.is_entry] = 1;
	frame_bytes(3)[layout.frame.owner] = 1;
	frame_bytes(4)[layout.frame.is_entry] = 1;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_COMPLETE && stack.n == 5 &&
		   stack.frame[2].code == CODE + 1024,
	   "five frames of 3.11");
	ok(!stack.frame[0].entry && stack.frame[1].entry && !stack.frame[3].entry && stack.frame[4].entry &&
		   stack.frame[3].owner == CPYTHON_OWNED_BY_GENERATOR,
	   "  two entries and a generator");
	make(12, 6);
	frame_bytes(2)[layout.frame.owner] = 3;
	frame_bytes(5)[layout.frame.owner] = 3;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_COMPLETE && stack.n == 4 && stack.frame[1].entry &&
		   !stack.frame[2].entry && stack.frame[3].entry,
	   "3.12: frames of entries mark the function before");
	make(12, 1);
	frame_bytes(0)[layout.frame.owner] = 3;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_NO_FRAME, "  an entry alone is no function");
	make(9, 3);
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_COMPLETE && stack.n == 3 && stack.frame[0].entry &&
		   stack.frame[2].entry,
	   "3.9: each frame is an entry");
	memcpy(frame_bytes(1) + layout.frame.instruction, &(int32_t){ -1 }, 4);
	memcpy(frame_bytes(2) + layout.frame.instruction, &(int32_t){ 14 }, 4);
	cpython_frames(&layout, copy, &stack);
	ok((int64_t)stack.frame[1].instruction == -1 && stack.frame[2].instruction == 14, "  offsets of instructions");
	make(10, 1);
	memcpy(frame_bytes(0) + layout.frame.instruction, &(int32_t){ 14 }, 4);
	cpython_frames(&layout, copy, &stack);
	ok(stack.frame[0].instruction == 28, "  3.10 counts units of two bytes");
	make(12, 2);
	layout.version = 14;
	layout.frame.tag = 7;
	put(frame_bytes(0) + layout.frame.code, CODE | 1);
	frame_bytes(1)[layout.frame.owner] = 4;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_COMPLETE && stack.frame[0].code == CODE,
	   "3.14: a tagged code");
}

static void hostile(void)
{
	make(11, 5);
	put(copy->bytes + layout.thread.frame, 0);
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_NO_FRAME, "a thread without a frame");
	make(11, 5);
	put(frame_bytes(4) + layout.frame.previous, frame_address(2));
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE && stack.n < 20, "a cycle");
	make(11, 1);
	put(frame_bytes(0) + layout.frame.previous, frame_address(0));
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "a frame that calls itself");
	make(11, 5);
	put(frame_bytes(1) + layout.frame.previous, frame_address(2) + 4);
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "an address that is not aligned");
	make(11, 5);
	put(frame_bytes(1) + layout.frame.previous, UINT64_C(0xffff800000000000));
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "an address of the kernel");
	make(11, 5);
	put(frame_bytes(3) + layout.frame.previous, FRAMES + SPACE);
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_TRUNCATED && stack.n == 4, "a frame that was not copied");
	make(11, 5);
	copy->area[1].n -= 64;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_TRUNCATED && stack.n == 4,
	   "a frame that was copied in part");
	make(11, 5);
	copy->area[1].offset = copy->nbytes - 64;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_TRUNCATED, "an area beyond the copy");
	make(11, 5);
	copy->nareas = UINT32_MAX;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_COMPLETE, "more areas than a copy has");
	make(11, 5);
	frame_bytes(2)[layout.frame.owner] = 9;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "an owner that does not exist");
	make(11, 5);
	frame_bytes(2)[layout.frame.is_entry] = 2;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "an entry that is neither true nor false");
	make(12, 3);
	put(frame_bytes(2) + layout.frame.code, 0);
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_IMPOSSIBLE, "a frame without code");
	make(12, 500);
	for (unsigned i = 0; i < 500; i++)
		frame_bytes(i)[layout.frame.owner] = 3;
	ok(cpython_frames(&layout, copy, &stack) == CPYTHON_NO_FRAME, "entries alone");
}

static void plans(void)
{
	struct threadplan plan;

	for (uint32_t version = 8; version <= 12; version++) {
		pylayout_of_version(version, &layout);
		cpython_plan(&layout, &plan);
		if (!threadplan_valid(&plan) || plan.nhops != (version < 11 ? 1 : 2))
			ok(false, "a plan is valid");
	}
	ok(!pylayout_of_version(7, &layout) && !pylayout_of_version(13, &layout), "versions without a row");
}

/* _Py_DebugOffsets of 3.13: words that are checked. */
static void debug_offsets(void)
{
	static char bytes[PYLAYOUT_DEBUG_BYTES];
	struct pylayout_debug debug;

	ok(!pylayout_has_debug(bytes, &debug), "no _Py_DebugOffsets");
	memcpy(bytes, "xdebugpy", 8);
	put(bytes + 8, 0x030d05f0);
	ok(pylayout_has_debug(bytes, &debug) && debug.hexversion == 0x030d05f0 && !debug.free_threaded, "its head");
	ok(!pylayout_of_debug(bytes, 13, &layout) && !pylayout_of_debug(bytes, 16, &layout), "  words that contradict");
	for (unsigned at = 24; at < sizeof(bytes); at += 8)
		put(bytes + at, 16);
	put(bytes + 360, 8);
	put(bytes + 544, 32);
	put(bytes + 560, 40);
	ok(!pylayout_of_debug(bytes, 13, &layout), "  a frame that is too small");
	put(bytes + 224, 80);
	put(bytes + 344, 200);
	ok(pylayout_of_debug(bytes, 13, &layout) && layout.frame.bytes == 80 && layout.code.bytecode == 200,
	   "  a layout");
	put(bytes + 264, 80);
	ok(!pylayout_of_debug(bytes, 13, &layout), "  an owner beyond the frame");
	put(bytes + 264, UINT64_C(1) << 63);
	ok(!pylayout_of_debug(bytes, 13, &layout), "  an offset that is no offset");
}

int main(void)
{
	copy = malloc(sizeof(*copy) + SPACE);
	links();
	copied_code();
	hostile();
	plans();
	debug_offsets();
	free(copy);
	return done();
}
