/* Control frames as code of YJIT leaves them: the innermost method has no pc, frames of C functions have any. Written
 * copies of version 3.3. */
/* covers: runtimes/ruby/rubyframes.c */
#include "runtimes/ruby/rubylayout.h"
#include "test/lib/tap.h"

#include <stdlib.h>
#include <string.h>

enum { BASE = 0x10000, EC = BASE + 64, STACK = BASE + 256, WORDS = 64, END = STACK + 8 * WORDS, BYTES = END - BASE };
enum { METHOD = 0x11110003, C_FUNCTION = 0x55550083, DUMMY = 0x79990081 };
enum { FRAMES = 3, ISEQ = 0x20000, ENTRY = 0x30000, PC = 0x40000 };

struct written {
	uint64_t pc, iseq, flags;
};

static struct ruby_layout layout;
static struct ruby_stack stack;
static struct threadcopy *copy;

static void put(uint64_t address, uint64_t value)
{
	memcpy(copy->bytes + (address - BASE), &value, sizeof(value));
}

/* Writes FRAMES frames, the innermost first, and finds them. */
static enum ruby_end frames_of(const struct written frame[FRAMES])
{
	memset(copy, 0, sizeof(*copy) + BYTES);
	copy->root = BASE;
	copy->nareas = 1;
	copy->nbytes = BYTES;
	copy->area[0] = (struct threadcopy_area){ BASE, BYTES, 0 };
	put(BASE, EC);
	put(EC + EC_STACK, STACK);
	put(EC + EC_WORDS, WORDS);
	put(EC + EC_FRAME, END - FRAMES * layout.frame_bytes);
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t at = END - (FRAMES - i) * layout.frame_bytes, ep = STACK + 24 * i + 16;

		put(at + FRAME_PC, frame[i].pc);
		put(at + FRAME_ISEQ, frame[i].iseq);
		put(at + FRAME_EP, ep);
		put(ep - 16, ENTRY);
		put(ep, frame[i].flags);
	}
	return ruby_frames(&layout, copy, &stack);
}

int main(void)
{
	static const struct written dummy = { 0, 0, DUMMY };

	copy = calloc(1, sizeof(*copy) + BYTES);
	ok(rubylayout_of_version(303, &layout), "the layout of 3.3");
	ok(frames_of((struct written[]){ { PC, ISEQ, METHOD }, { PC + 8, ISEQ + 8, METHOD }, dummy }) ==
			   RUBY_COMPLETE &&
		   stack.n == 2 && stack.frame[0].innermost && !stack.frame[1].innermost && stack.frame[1].pc == PC + 8,
	   "two methods");
	ok(frames_of((struct written[]){ { 0, ISEQ, METHOD }, { PC, ISEQ, METHOD }, dummy }) == RUBY_IMPOSSIBLE,
	   "without YJIT, the innermost method has a pc");
	ok(frames_of((struct written[]){ { PC, 0, C_FUNCTION }, { PC, ISEQ, METHOD }, dummy }) == RUBY_IMPOSSIBLE,
	   "  and a C function has none");
	layout.yjit = true;
	ok(frames_of((struct written[]){ { 0, ISEQ, METHOD }, { PC, ISEQ, METHOD }, dummy }) == RUBY_COMPLETE &&
		   stack.n == 2 && stack.frame[0].code == ISEQ,
	   "with YJIT, the innermost one has no pc");
	ok(frames_of((struct written[]){ { 3, ISEQ, METHOD }, { PC, ISEQ, METHOD }, dummy }) == RUBY_COMPLETE &&
		   stack.n == 2,
	   "  or any number");
	ok(frames_of((struct written[]){ { PC, ISEQ, METHOD }, { 0, ISEQ, METHOD }, dummy }) == RUBY_IMPOSSIBLE,
	   "  but its caller has one");
	ok(frames_of((struct written[]){ { 3, 0, C_FUNCTION }, { PC, ISEQ, METHOD }, dummy }) == RUBY_COMPLETE &&
		   stack.n == 2 && stack.frame[0].kind == RUBY_CFUNCTION && stack.frame[0].code == ENTRY &&
		   stack.frame[0].pc == 0,
	   "a C function with any pc");
	ok(frames_of((struct written[]){ { 0, ISEQ, C_FUNCTION }, { PC, ISEQ, METHOD }, dummy }) == RUBY_IMPOSSIBLE,
	   "  but without an iseq");
	free(copy);
	return done();
}
