/* Interpreted frames between native ones: one to one where the walk reached a root, from the innermost where the copy
 * was truncated, and not at all where the numbers differ. Stacks are texts, innermost first: E is an activation of the
 * eval function, I a function that only it calls, T a trampoline, other capitals are native code; small letters are
 * interpreted frames, ' ends a segment, ^ marks a language whose frames begin and end before their activation, ! that
 * the innermost frame has not begun, $ that the native frames have all activations. F changes the native stack. C
 * continues its caller's segment. With @, a register of each activation has its frame: the small letter behind E. */
/* covers: record/interpreters/onestack.c */
#include "record/interpreters/onestack.h"
#include "test/lib/tap.h"

#include <stdio.h>

#define EVAL 0x100000u
#define INNER 0x101000u
#define SWITCH 0x102000u
#define CATCH 0x103000u
#define CODE 0x200000u
#define BYTECODE 0x300000u
#define STACK 0x400000u

static struct onestack merged;
static struct walk_frame native[64];
static struct onestack_frame frame[64];

static bool is_t(const void *owner, const struct walk_frame *at)
{
	return owner == &merged && at->address == CODE + 'T';
}

static uint64_t address_of(char letter)
{
	switch (letter) {
	case 'E': return EVAL + 1;
	case 'I': return INNER + 1;
	case 'F': return SWITCH + 1;
	case 'C': return CATCH + 1;
	default: return CODE + (uint64_t)letter;
	}
}

/* Sets the lists of a test, and returns the merged stack as text; "-" if they do not match. */
static const char *merge(const char *stack, enum unwind_end end, const char *interpreted, bool complete, bool sure,
			 size_t max)
{
	static const struct onestack_range eval[] = { { 0, 1, ONESTACK_EVAL },
						      { EVAL, EVAL + 0x1000, ONESTACK_EVAL },
						      { INNER, INNER + 0x1000, ONESTACK_INNER },
						      { SWITCH, SWITCH + 0x1000, ONESTACK_SWITCH },
						      { CATCH, CATCH + 0x1000, ONESTACK_CATCH } };
	static char text[128];
	struct onestack_lists lists = { .native = native,
					.end = end,
					.eval = eval,
					.nevals = countof(eval),
					.frame = frame,
					.complete = complete,
					.leaf_sure = sure,
					.is_trampoline = is_t,
					.owner = &merged };
	size_t i;

	for (; *stack; stack++) {
		if (*stack >= 'a')
			native[lists.nnative - 1].value = STACK + (uint64_t)*stack;
		else
			native[lists.nnative++] = (struct walk_frame){ .address = address_of(*stack),
								       .exact = lists.nnative == 0,
								       .generated = *stack == 'J' ? WALK_HOSTED :
										    *stack == 'Y' ? WALK_CALLED :
												    0 };
	}
	for (; *interpreted; interpreted++) {
		if (*interpreted == '^')
			lists.frames_lead = true;
		else if (*interpreted == '$')
			lists.has_activations = true;
		else if (*interpreted == '@')
			lists.has_register = lists.frames_lead = true;
		else if (*interpreted == '!')
			lists.entering = lists.frames_lead = true;
		else if (*interpreted == '\'')
			frame[lists.n - 1].entry = true;
		else
			frame[lists.n++] = (struct onestack_frame){ .address = BYTECODE + (uint64_t)*interpreted,
								    .frame = STACK + (uint64_t)*interpreted };
	}
	if (!onestack_merge(&merged, &lists, max))
		return "-";
	for (i = 0; i < merged.n; i++) {
		uint64_t address = merged.frame[i].address;

		text[i] = (char)(address >= BYTECODE ? address - BYTECODE :
				 address >= CODE     ? address - CODE :
				 address >= CATCH    ? 'C' :
				 address >= SWITCH   ? 'F' :
				 address >= INNER    ? 'I' :
						       'E');
		if (address >= BYTECODE && !merged.frame[i].exact)
			return "an interpreted frame is no return address";
	}
	text[i] = 0;
	return text;
}

static void is(const char *got, const char *want, const char *what)
{
	is_str(str_of(got), str_of(want), what);
}

static void complete_stacks(void)
{
	is(merge("EMS", UNWIND_ROOT, "ab'", true, false, 99), "abMS", "one activation, two frames");
	is(merge("XEMS", UNWIND_ROOT, "ab'", true, false, 99), "XabMS", "a native leaf");
	is(merge("ELEMS", UNWIND_ROOT, "ab'cd'", true, false, 99), "abLcdMS", "a callback");
	is(merge("ELEMS", UNWIND_ROOT, "ab'", true, false, 99), "ELabMS", "the innermost activation has no frame yet");
	is(merge("XELEMS", UNWIND_ROOT, "ab'", true, false, 99), "-", "another one than the leaf always has");
	is(merge("ELEMS", UNWIND_ROOT, "", true, false, 99), "-", "two activations without frames do not match");
	is(merge("EMS", UNWIND_ROOT, "a'b'", true, false, 99), "-", "nor more segments than activations");
	is(merge("EMS", UNWIND_ROOT, "ab", true, false, 99), "-", "nor a list that ends within an activation");
	is(merge("EMS", UNWIND_ROOT, "ab'", false, false, 99), "-", "nor a truncated list");
	is(merge("MS", UNWIND_ROOT, "", true, false, 99), "MS", "a thread outside of the interpreter");
	ok(merged.end == UNWIND_ROOT, "  is complete");
}

static void truncated_stacks(void)
{
	is(merge("XEL", UNWIND_STACK_CUT, "ab'cd'e'", true, false, 99), "XabLcde", "a truncated stack");
	ok(merged.end == UNWIND_ROOT, "  has all interpreted frames");
	is(merge("XEL", UNWIND_STACK_CUT, "ab'cd", false, false, 99), "XabLcd", "a truncated list, too");
	ok(merged.end == UNWIND_STACK_CUT, "  remains truncated");
	is(merge("EL", UNWIND_STACK_CUT, "ab'c'", true, false, 99), "-", "truncated, the leaf may have no frame yet");
	is(merge("EL", UNWIND_STACK_CUT, "ab'c'", true, true, 99), "abLc", "  but it is known to have one");
	is(merge("XEEEL", UNWIND_STACK_CUT, "ab'c'", true, true, 99), "-", "more activations than segments");
	is(merge("XEL", UNWIND_NO_CODE, "ab'c'", true, true, 99), "-", "a broken walk with segments left");
	is(merge("XEL", UNWIND_NO_CODE, "ab'", true, true, 99), "XabL", "a broken walk with none left");
	ok(merged.end == UNWIND_NO_CODE, "  remains broken");
	is(merge("EL", UNWIND_NO_CODE, "ab'", true, false, 99), "-",
	   "a broken walk, the leaf may have no frame yet, and a caller may be missed");
	is(merge("EL", UNWIND_NO_CODE, "ab'", true, true, 99), "abL", "  but it is known to have one");
	is(merge("XELEMS", UNWIND_ROOT, "ab'cd'", true, false, 5), "XabLc", "the limit of frames");
	ok(merged.end == UNWIND_MORE, "  truncates");
}

static void functions_of_activations(void)
{
	is(merge("XETLETTS", UNWIND_ROOT, "ab'cd'", true, false, 99), "XabLcdTS",
	   "a trampoline that calls it is left out");
	is(merge("ETETS", UNWIND_ROOT, "ab'", true, false, 99), "ETabS", "  with its activation");
	is(merge("XTET", UNWIND_STACK_CUT, "ab'", true, false, 99), "XTab", "  and none that it calls");
	is(merge("IEMIEMS", UNWIND_ROOT, "ab'cd'", true, false, 99), "abMcdMS",
	   "a function that only it calls is part of it");
	is(merge("EMIEMS", UNWIND_ROOT, "ab'cd'", true, false, 99), "abMcdMS", "  and may be absent");
	is(merge("IEMIEMS", UNWIND_ROOT, "ab'", true, false, 99), "IEMabMS", "  as the leaf, it may have no frame");
	is(merge("IMIEMS", UNWIND_ROOT, "ab'", true, false, 99), "IMabMS", "  called by another one, it is native");
	is(merge("IEL", UNWIND_STACK_CUT, "ab'c'", true, false, 99), "-", "  truncated, it may have no frame");
	is(merge("IEL", UNWIND_STACK_CUT, "ab'c'", true, true, 99), "abLc", "  but it is known to have one");
}

static void segments_not_begun(void)
{
	is(merge("XIEMS", UNWIND_ROOT, "!a'bc'", true, false, 99), "XbcMS", "a segment that has not begun is left out");
	is(merge("EXIEMS", UNWIND_ROOT, "!a'bc'", true, false, 99), "aXbcMS", "  but not if its activation is there");
	is(merge("XIEMS", UNWIND_ROOT, "!a'b'c'", true, false, 99), "-", "  nor two segments");
	is(merge("XIEL", UNWIND_STACK_CUT, "!a'bc'", true, false, 99), "-", "  truncated, it does not match");
	is(merge("XIEL", UNWIND_NO_CODE, "!a'bc'", true, false, 99), "-", "  nor after a broken walk");
}

static void leading_frames(void)
{
	is(merge("XEL", UNWIND_STACK_CUT, "^ab'cd'e'", true, false, 99), "-",
	   "truncated: frames that lead do not match");
	is(merge("IEYXIE", UNWIND_STACK_CUT, "^cm'q'", true, true, 99), "-",
	   "  as the frame of the leaf may have ended");
	is(merge("VYXIEWIE", UNWIND_STACK_CUT, "^b'cm'q'z'", true, false, 99), "-", "  or the innermost one not begun");
	is(merge("XIEL", UNWIND_STACK_CUT, "^$ab'", true, false, 99), "XabL", "  unless no activation is missing");
	ok(merged.end == UNWIND_ROOT, "  and all interpreted frames are shown");
	is(merge("XIEL", UNWIND_STACK_CUT, "^$ab'c'", true, false, 99), "-", "  and the numbers are equal");
	is(merge("XIEL", UNWIND_STACK_CUT, "$!a'bc'", true, false, 99), "XbcL",
	   "  but for a segment that has not begun");
	is(merge("IEYIEL", UNWIND_STACK_CUT, "^$c'", true, true, 99), "-", "  or one that has ended");
	is(merge("XIEL", UNWIND_MORE, "^ab'c'", true, true, 99), "-", "  and so with too many frames");
	is(merge("ENEUES", UNWIND_ROOT, "^d'um'", true, true, 99), "-",
	   "a leaf with a frame stays not native: the activation in the middle has none");
	is(merge("ENEUES", UNWIND_ROOT, "^d'um'", true, false, 99), "-", "  also if the leaf is just being entered");
	is(merge("ELEMS", UNWIND_ROOT, "^ab'cd'", true, true, 99), "abLcdMS", "  equal numbers match");
}

static void changed_native_stacks(void)
{
	is(merge("FLEMS", UNWIND_ROOT, "ab'", true, false, 99), "-", "a thread that changes its native stack");
	is(merge("XFLEMS", UNWIND_ROOT, "ab'", true, false, 99), "-", "  by a function that it calls");
}

static void registers_of_frames(void)
{
	is(merge("XEaNExUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "XaNEUusS",
	   "an activation whose frame has ended stays native, as a register shows");
	is(merge("XEaNEsUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "-", "  but not one with the frame of another");
	is(merge("XEaNEUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "-", "  nor one with an unknown frame");
	is(merge("XExNEyUEzS", UNWIND_ROOT, "@a'us'", true, false, 99), "-", "  and all segments have an activation");
	is(merge("NExUEsS", UNWIND_ROOT, "@!a'us'", true, false, 99), "-",
	   "  also if the innermost segment has not begun");
	is(merge("NEsS", UNWIND_ROOT, "@!a'us'", true, false, 99), "NusS", "  which is left out");
	is(merge("EsS", UNWIND_ROOT, "@!s'", true, false, 99), "sS", "a frame that runs its first instruction");
	is(merge("EbNEsS", UNWIND_ROOT, "@ab'us'", true, false, 99), "abNusS", "a frame calls another one natively");
	is(merge("XEaUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "XaUusS", "equal numbers match by order");
	is(merge("XEUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "XaUusS", "  also without a value");
	is(merge("ExUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "aUusS", "  and with any at the leaf");
	is(merge("ExUEsS", UNWIND_ROOT, "@us'", true, false, 99), "EUusS", "  which may have no frame yet");
	is(merge("XEuUEsS", UNWIND_ROOT, "@a'us'", true, false, 99), "-", "  but not the frame of another segment");
	is(merge("XEaUExS", UNWIND_ROOT, "@a'us'", true, false, 99), "-", "  nor one that is in none");
	is(merge("ExUEaVEsS", UNWIND_ROOT, "@us'vw'", true, false, 99), "-", "  nor one behind a leaf without a frame");
}

static void truncated_stacks_with_registers(void)
{
	is(merge("XEaUEsL", UNWIND_STACK_CUT, "@a'us'cd'", true, false, 99), "XaUusLcd",
	   "truncated, each activation has its segment");
	ok(merged.end == UNWIND_ROOT, "  and all interpreted frames are shown");
	is(merge("XEaUExL", UNWIND_STACK_CUT, "@a'us'cd'", true, false, 99), "-", "  and none has no segment");
	is(merge("XEaUEcL", UNWIND_STACK_CUT, "@a'us'cd'", true, false, 99), "-", "  nor is one left out");
	is(merge("XEsUEaL", UNWIND_STACK_CUT, "@a'us'cd'", true, false, 99), "-", "  nor in another order");
	is(merge("XEaUEsL", UNWIND_STACK_CUT, "@a'us'c", false, false, 99), "-", "  and the list has its end");
	is(merge("XEaUEs", UNWIND_NO_CODE, "@a'us'", true, false, 99), "XaUus", "a broken walk, with all segments");
	is(merge("XEaUEx", UNWIND_NO_CODE, "@a'us'", true, false, 99), "-", "  equal numbers show nothing there");
	is(merge("XEaU", UNWIND_NO_CODE, "@a'us'", true, false, 99), "-", "  nor without one");
	is(merge("XU", UNWIND_NO_CODE, "@", true, false, 99), "XU", "  or without any");
	is(merge("FEaUEsL", UNWIND_STACK_CUT, "@a'us'cd'", true, false, 99), "-", "  and no native stack is changed");
}

static void continuing_activations(void)
{
	is(merge("XECEMS", UNWIND_ROOT, "^ab'", true, false, 99), "XabMS", "an activation that continues another one");
	is(merge("ECCECELECES", UNWIND_ROOT, "^ab'c'", true, false, 99), "abLcS", "  and that again, in two segments");
	is(merge("CEMECES", UNWIND_ROOT, "^a'b'", true, false, 99), "CaMbS",
	   "  its code is native where it runs no segment");
	is(merge("ECMES", UNWIND_ROOT, "^a'b'", true, false, 99), "aCMbS", "  or is called by other code");
	is(merge("ECCCCCES", UNWIND_ROOT, "^a'b'", true, false, 99), "aCCCCCbS", "  or is too often on the stack");
	is(merge("ECES", UNWIND_ROOT, "^a'b'", true, false, 99), "-", "  it has no segment of its own");
	is(merge("EC", UNWIND_ROOT, "^a'", true, false, 99), "aC", "  nothing follows it");
}

static void compiled_code(void)
{
	static const struct onestack_range range[] = { { 1, 9, ONESTACK_EVAL },
						       { 100, 200, ONESTACK_COMPILED },
						       { 5, 6, ONESTACK_HOST },
						       { 300, 310, ONESTACK_CALLER },
						       { 400, 410, ONESTACK_CALLER } };
	static const struct onestack_range called[] = { { 1, 9, ONESTACK_EVAL },
							{ 10, 19, ONESTACK_INNER },
							{ 0, 0, ONESTACK_CALLED } };
	struct onestack_range many[HOSTFRAME_CALLERS_MAX + 1];
	struct hostframe hostframe;

	is(merge("JMS", UNWIND_ROOT, "ab'", true, false, 99), "abMS", "generated code is an activation");
	is(merge("XJaMEbS", UNWIND_ROOT, "@a'b'", true, false, 99), "XaMbS",
	   "  beside the eval function, by the register");
	is(merge("XJcMEbS", UNWIND_ROOT, "@a'b'", true, false, 99), "-", "  and with a frame that is not in the list");
	is(merge("XYEMYIES", UNWIND_ROOT, "^a'b'", true, false, 99), "XaMbS",
	   "generated code that the eval function or its inner function called");
	is(merge("YXES", UNWIND_ROOT, "^a'", true, false, 99), "YXaS", "  and other code");
	onestack_hostframe(&hostframe, range, countof(range));
	ok(hostframe.kind == HOSTFRAME_SHARED && hostframe.start == 100 && hostframe.end == 200 &&
		   hostframe.host == 5 && hostframe.ncallers == 2 && hostframe.caller[1].start == 400 &&
		   hostframe.caller[1].end == 410,
	   "the ranges of generated code");
	onestack_hostframe(&hostframe, range, 1);
	ok(hostframe.kind == HOSTFRAME_NONE && hostframe.ncallers == 0, "  there is none");
	onestack_hostframe(&hostframe, called, countof(called));
	ok(hostframe.kind == HOSTFRAME_OWN && hostframe.ncallers == 2 && hostframe.caller[1].start == 10,
	   "  the eval function calls it");
	for (size_t i = 0; i < countof(many); i++)
		many[i] = range[3];
	onestack_hostframe(&hostframe, many, countof(many));
	is_u64(hostframe.ncallers, HOSTFRAME_CALLERS_MAX, "  too many callers");
}

int main(void)
{
	compiled_code();
	complete_stacks();
	truncated_stacks();
	functions_of_activations();
	segments_not_begun();
	leading_frames();
	changed_native_stacks();
	registers_of_frames();
	truncated_stacks_with_registers();
	continuing_activations();
	onestack_free(&merged);
	return done();
}
