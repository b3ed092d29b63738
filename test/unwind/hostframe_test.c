/* The step out of generated code that runs in the frame of a host: by the host's rule, with each constant by which the
 * code may have moved the stack pointer, and only to a function that calls the host. */
/* covers: unwind/hostframe.c */
#include "unwind/hostframe.h"

#include "test/lib/tap.h"

#include <string.h>

/* The host is a function of 256 bytes at HOST whose frame has 64 bytes: CFA = rsp + 64, return address at CFA - 8. */
#define HOST 0x20000u
#define GENERATED 0x700000u
#define CALLER 0x30000u
#define SP 0x7ff000u

static const unsigned char frames[] = { 20, 0,    0,  0, 0,    0,    0, 0,  1,    'z', 'R', 0,
					1,  0x78, 16, 1, 0x1b, 0x0c, 7, 64, 0x90, 1,   0,   0, /* CIE */
					20, 0,    0,  0, 28,   0,    0, 0,  0,    0,   0,   0,
					0,  1,    0,  0, 0,    0,    0, 0,  0,    0,   0,   0, /* FDE */
					0,  0,    0,  0 };
#define FDE_START 32u /* offset of the FDE's start of code, relative to itself */

static uint64_t words[64];

/* Steps from generated code with the return address at word `at` above the stack pointer. */
static enum unwind_end step_from(unsigned at, uint64_t caller, size_t nwords, struct unwind_state *state)
{
	enum { SP_BIT = 1 << 7, IP_BIT = 1 << 8 }; /* numbers of registers in perf */
	const struct hostframe hostframe = { .kind = HOSTFRAME_SHARED,
					     .start = GENERATED,
					     .end = GENERATED + 0x1000,
					     .host = HOST + 8,
					     .ncallers = 1,
					     .caller = { { CALLER, CALLER + 0x100 } } };
	struct walk_code code = { .unwinder = &unwinder_host_frame, .blob = &hostframe };
	struct walk_frame frame = { 0 };
	unsigned char section[sizeof(frames)];
	int32_t distance = (int32_t)(HOST - FDE_START);
	uint64_t regs[2] = { SP, GENERATED + 16 };
	enum unwind_end end;
	const char *why;

	memcpy(section, frames, sizeof(frames));
	memcpy(section + FDE_START, &distance, sizeof(distance));
	memset(words, 0x11, sizeof(words));
	words[at] = caller;
	code.tables.table = unwind_table_memory((struct str){ (const char *)section, sizeof(section) }, 0, &why);
	if (!code.tables.table ||
	    !unwind_start(state, SP_BIT | IP_BIT, regs, 2, (struct str){ (const char *)words, 8 * nwords }))
		return UNWIND_LOOP;
	end = unwinder_host_frame.step(state, &code, true, &frame);
	unwind_table_close((struct unwind_table *)(uintptr_t)code.tables.table);
	return end;
}

static void test_steps(void)
{
	static const unsigned moves[] = { 0, 8, 16, 256 };
	struct unwind_state state;

	for (size_t i = 0; i < countof(moves); i++) {
		char what[80];

		snprintf(what, sizeof(what), "the code has moved the stack pointer by %u bytes", moves[i]);
		ok(step_from((64 + moves[i]) / 8 - 1, CALLER + 5, 64, &state) == UNWIND_MORE &&
			   state.ip == CALLER + 5 && state.sp == SP + 64 + moves[i] && !state.interrupted,
		   what);
	}
	ok(step_from(7, CALLER + 0x100, 64, &state) == UNWIND_MORE, "a call at the end of the caller");
}

static void test_ends(void)
{
	struct unwind_state state;

	ok(step_from(7, CALLER, 64, &state) == UNWIND_NO_CODE && state.ip == GENERATED + 16 && state.sp == SP,
	   "another function does not call the host, and the registers are preserved");
	ok(step_from(9 + 3, CALLER + 5, 64, &state) == UNWIND_NO_CODE, "the stack is not searched");
	ok(step_from(60, CALLER + 5, 4, &state) == UNWIND_STACK_CUT, "the frame is longer than the copy");
}

/* Steps out of code with a frame of its own, with `saved` registers from the stack pointer on. */
static bool steps_own(unsigned move, unsigned saved, bool leaf, uint64_t caller)
{
	enum { BX_BIT = 1 << 1, SP_BIT = 1 << 7, IP_BIT = 1 << 8, R12_BIT = 1 << 20, R13_BIT = 1 << 21 };
	const struct hostframe hostframe = { .kind = HOSTFRAME_OWN,
					     .ncallers = 1,
					     .caller = { { CALLER, CALLER + 0x100 } } };
	const struct walk_code code = { .unwinder = &unwinder_host_frame, .blob = &hostframe };
	/* rbx, sp, ip, r12, r13 */
	uint64_t regs[5] = { 3, SP, GENERATED + 16, 12, 13 };
	struct walk_frame frame = { 0 };
	struct unwind_state state;

	memset(words, 0x11, sizeof(words));
	for (unsigned i = 0; i < saved; i++) {
		static const uint64_t value[] = { 3, 12, 13 };

		words[move / 8 + i] = value[3 - saved + i];
		regs[(const unsigned[]){ 0, 3, 4 }[3 - saved + i]] = 77;
	}
	words[move / 8 + saved] = caller;
	return unwind_start(&state, BX_BIT | SP_BIT | IP_BIT | R12_BIT | R13_BIT, regs, 2,
			    (struct str){ (const char *)words, sizeof(words) }) &&
	       unwinder_host_frame.step(&state, &code, leaf, &frame) == UNWIND_MORE && state.ip == caller &&
	       state.sp == SP + move + 8 * (saved + 1) && state.reg[3] == 3 && state.reg[12] == 12 &&
	       state.reg[13] == 13 && frame.generated == WALK_CALLED && !state.interrupted;
}

static void test_own(void)
{
	ok(steps_own(0, 3, false, CALLER + 5), "a frame of its own, with the registers that it saved");
	ok(steps_own(16, 3, false, CALLER + 5) && steps_own(48, 3, true, CALLER + 5), "  and more on the stack");
	ok(steps_own(0, 2, true, CALLER + 5) && steps_own(0, 1, true, CALLER + 5) && steps_own(0, 0, true, CALLER + 5),
	   "  interrupted while it saves or restores them");
	ok(!steps_own(0, 2, false, CALLER + 5) && !steps_own(32, 3, false, CALLER + 5) &&
		   !steps_own(0, 3, false, CALLER),
	   "  otherwise there is no caller");
}

static void test_range(void)
{
	const struct hostframe none = { 0 }, one = { .kind = HOSTFRAME_SHARED, .start = 16, .end = 32 };
	const struct hostframe any = { .kind = HOSTFRAME_OWN };

	ok(!hostframe_holds(&none, 0, true) && hostframe_holds(&one, 16, false) && hostframe_holds(&one, 31, false) &&
		   !hostframe_holds(&one, 32, true) && !hostframe_holds(&one, 15, true),
	   "the range of the generated code");
	ok(hostframe_holds(&any, 15, true) && !hostframe_holds(&any, 15, false), "any memory without a file");
}

int main(void)
{
	test_steps();
	test_ends();
	test_own();
	test_range();
	return done();
}
