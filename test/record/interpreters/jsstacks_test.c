/* Proposed frames are used for native frames with both their frame pointer and their instruction pointer. */
/* covers: record/interpreters/jsstacks.c record/interpreters/jsinterpreter.c */
#include "record/interpreters/jsstacks.h"
#include "test/lib/tap.h"

static struct walk_frame native[8];
static struct interp_frame frame[8];
static struct jsstacks stacks = { native, 0, frame, 0 };

static void add_native(uint64_t bp, uint64_t ip)
{
	native[stacks.nnative++] = (struct walk_frame){ .address = ip, .bp = bp, .exact = stacks.nnative == 1 };
}

static struct interp_frame *add_frame(uint64_t fp, uint64_t pc, uint64_t address)
{
	frame[stacks.n] =
		(struct interp_frame){ .frame = fp, .pc = pc, .address = address, .named = INTERPRETER_NAMED };
	return &frame[stacks.n++];
}

/* Checks that native frame i has the proposals [first, end). */
static void has(size_t i, size_t first, size_t end, const char *what)
{
	struct jsstacks_functions got = jsstacks_at(&stacks, i);

	ok(got.end - got.first == end - first && (first == end || got.first == first), what);
}

static void leaf_has(size_t first, size_t end, const char *what)
{
	struct jsstacks_functions got = jsstacks_after_leaf(&stacks);

	ok(got.end - got.first == end - first && (first == end || got.first == first), what);
}

int main(void)
{
	add_native(0x100, 0x9000); /* a leaf of libc, which keeps its caller's frame pointer */
	add_native(0x100, 0x5000);
	add_native(0x200, 0x6000);
	add_native(0x300, 0x7000);
	add_frame(0x100, 0x5000, 0x10)->tier = INTERPRETER_INLINED;
	add_frame(0x100, 0x5000, 0x20);
	add_frame(0x100, 0x9000, 0x30);
	add_frame(0x200, 0x6008, 0x40);
	add_frame(0x300, 0x7000, 0x50);
	has(0, 0, 0, "a callee with its caller's frame pointer has no function");
	has(1, 0, 2, "a frame has its inlined function, and its own");
	has(2, 0, 0, "a frame at another instruction has none");
	has(3, 4, 5, "the outermost frame has one");
	native[3].method = true;
	has(3, 4, 4, "a frame that another runtime names has none");
	native[3].method = false;
	frame[1].named = INTERPRETER_UNNAMED;
	has(1, 0, 0, "without a name of the function, its inlined one is not shown either");
	ok(jsstacks_at(&stacks, 1).unnamed, "  and it is one without a name");
	frame[1].named = INTERPRETER_INTERNAL;
	has(1, 0, 0, "a function of V8 stays native");
	ok(!jsstacks_at(&stacks, 1).unnamed, "  and has its name there");
	ok(!jsstacks_at(&stacks, 2).unnamed, "a frame without a proposal is none of an unnamed function");
	frame[1].named = INTERPRETER_NAMED;
	frame[4].address = 0x51;
	has(3, 4, 4, "nor is a function with an odd address");
	frame[4].address = 0;
	has(3, 4, 4, "  or with none");

	leaf_has(0, 0, "a leaf has no caller that the walk missed");
	stacks.n = stacks.nnative = 0;
	add_native(0x100, 0x9000); /* a builtin without a frame */
	add_native(0x200, 0x6000);
	add_frame(0x100, 0x5000, 0x10);
	add_frame(0x100, 0x5010, 0x20)->entry = 1;
	add_frame(0x200, 0x6000, 0x30);
	leaf_has(1, 2, "a leaf without a frame has the caller that its frame pointer is of");
	native[1].bp = 0x100;
	leaf_has(1, 1, "  unless the walk has it");
	stacks.nnative = 0;
	leaf_has(0, 0, "a stack without frames");
	return done();
}
