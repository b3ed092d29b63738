/* SPDX-License-Identifier: Apache-2.0 */
/* The walker's rules, with unwinders that are scripts: each step takes the next row. */
/* covers: unwind/walk.c unwind/runtime.h */
#include "test/lib/tap.h"
#include "unwind/runtime.h"
#include "unwind/walk.h"

/* One frame of a scripted stack. */
struct row {
	uint64_t ip;
	enum unwind_end end;     /* of the step out of it */
	bool native;             /* unwinder_frame_pointer's, otherwise the runtime's */
	bool late, gone, mapped; /* as `find` reports it */
	bool omitted, method, no_fde;
	bool unproven, v8; /* left by a frame pointer that may be none; V8's own code */
};

struct script {
	const struct row *row, *retry; /* retry: with assume_leaf; NULL: the same */
	size_t n, at, finds, walks, pending_at;
	bool walked_leaf;
};

static struct script script;

static const struct row *rows(const struct unwind_state *state)
{
	return state->assume_leaf && script.retry ? script.retry : script.row;
}

static enum unwind_end script_step(struct unwind_state *state, const struct walk_code *code, bool leaf,
				   struct walk_frame *frame)
{
	const struct row *row = code->blob;

	script.walked_leaf |= leaf != (row == rows(state));
	state->no_fde |= row->no_fde;
	state->unproven |= row->unproven;
	frame->omitted = row->omitted;
	frame->method = row->method;
	if (row->end == UNWIND_MORE) {
		state->ip = row[1].ip;
		state->interrupted = false;
	}
	return row->end;
}

static const struct unwinder scripted = { "script", script_step };

static const void *script_find(const void *view, const struct unwind_state *state)
{
	return view && state->ip ? (const struct row *)view + script.at : NULL;
}

static const struct runtime runtime = { .name = "script", .find = script_find, .unwinder = &scripted };

static bool find(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code)
{
	const struct row *row;

	(void)owner;
	if (walk->leaf) {
		script.at = 0;
		script.walks++;
	}
	if (script.pending_at && script.at + 1 == script.pending_at)
		return false;
	row = rows(state) + script.at;
	if (!runtime_find(&runtime, rows(state), state, code))
		return false;
	code->late = row->late;
	code->gone = row->gone;
	code->mapped = row->mapped;
	code->v8 = row->v8;
	if (row->native) {
		code->unwinder = &unwinder_frame_pointer;
		code->blob = NULL;
	}
	script.at++;
	script.finds++;
	return true;
}

static struct walk walk = { .find = find, .max = 100, .retry_leaf = true };

static bool run(const struct row *row, const struct row *retry)
{
	struct unwind_state state = { .ip = row->ip, .interrupted = true };

	script = (struct script){ .row = row, .retry = retry };
	return walk_stack(&walk, &state);
}

static void test_frames(void)
{
	static const struct row stack[] = {
		{ .ip = 0x1000 }, { .ip = 0x2000, .method = true },     { .ip = 0x3000, .omitted = true },
		{ .ip = 0x4000 }, { .ip = 0x5000, .end = UNWIND_ROOT },
	};

	ok(run(stack, NULL) && walk.end == UNWIND_ROOT && walk.n == 4, "the omitted frame is dropped");
	ok(walk.frame[0].address == 0x1000 && walk.frame[0].exact && !walk.frame[1].exact,
	   "the leaf's address is exact, a return address is not");
	is_u64(walk_frame_lookup(&walk.frame[0]), 0x1000, "the leaf is looked up at its address");
	is_u64(walk_frame_lookup(&walk.frame[2]), 0x3fff, "a caller at its call");
	ok(walk.frame[1].method && !walk.frame[0].method, "a frame that the runtime names");
	ok(walk.runtime && !walk.frame_pointers && !walk.late, "all code was the runtime's");
	ok(!script.walked_leaf && script.walks == 1, "only the first step is the leaf's, and one walk is enough");
}

static void test_ends(void)
{
	static const struct row deep[] = { { .ip = 1 << 12 }, { .ip = 2 << 12 }, { .ip = 3 << 12 }, { .ip = 4 << 12 } };
	static const struct row gone[] = { { .ip = 0x1000 }, { .ip = 0x2000, .gone = true }, { .ip = 0x3000 } };
	static const struct row marker[] = { { .ip = 0x1000 }, { .ip = UINT64_MAX - 511, .end = UNWIND_ROOT } };
	static const struct row late[] = { { .ip = 0x1000, .late = true }, { .ip = 0x2000, .end = UNWIND_STACK_CUT } };

	walk.max = 3;
	ok(run(deep, NULL) && walk.end == UNWIND_MORE && walk.n == 3, "a stack is truncated at max frames");
	walk.max = 100;
	ok(run(gone, NULL) && walk.end == UNWIND_NO_CODE && walk.n == 2, "the stack ends at code that is gone");
	ok(run(marker, NULL) && walk.end == UNWIND_NO_CODE && walk.n == 1,
	   "a caller whose address readers take for a context marker is none");
	ok(run(late, NULL) && walk.late && walk.end == UNWIND_STACK_CUT, "late data are reported");
}

static void test_register(void)
{
	static const struct row stack[] = { { .ip = 0x1000 }, { .ip = 0x2000, .end = UNWIND_ROOT } };
	struct unwind_state state = { .ip = 0x1000, .interrupted = true, .reg = { [14] = 77 }, .valid = 1u << 14 };

	walk.slot = 14;
	script = (struct script){ .row = stack };
	ok(walk_stack(&walk, &state) && walk.frame[0].value == 77, "a frame has the value of the register");
	ok(run(stack, NULL) && walk.frame[0].value == 0, "  and 0 if it is unknown");
	walk.slot = 0;
}

static void test_retry(void)
{
	static const struct row assembly[] = { { .ip = 0x1000, .no_fde = true, .end = UNWIND_NO_CODE } };
	static const struct row good[] = { { .ip = 0x1000, .no_fde = true }, { .ip = 0x2000, .end = UNWIND_ROOT } };
	static const struct row cut[] = { { .ip = 0x1000, .no_fde = true }, { .ip = 0x2000, .end = UNWIND_STACK_CUT } };

	ok(run(assembly, good) && walk.end == UNWIND_ROOT && walk.n == 2, "a retry that reaches the root is believed");
	is_u64(script.walks, 2, "  after two walks");
	ok(run(assembly, cut) && walk.end == UNWIND_NO_CODE && walk.n == 1, "one that does not is not");
	is_u64(script.walks, 3, "  and the first result is made again");
	walk.retry_leaf = false;
	ok(run(assembly, good) && walk.n == 1 && script.walks == 1, "no retry where the owner wants none");
	walk.retry_leaf = true;
}

/* A root behind frame pointers that may be none is no proof. */
static void test_unknown(void)
{
	static const struct row stack[] = { { .ip = 0x1000, .unproven = true }, { .ip = 0x2000, .end = UNWIND_ROOT } };
	static const struct row last[] = { { .ip = 0x1000 }, { .ip = 0x2000, .unproven = true, .end = UNWIND_ROOT } };
	static const struct row cut[] = { { .ip = 0x1000, .unproven = true },
					  { .ip = 0x2000, .end = UNWIND_STACK_CUT } };
	static const struct row node[] = { { .ip = 0x1000, .unproven = true },
					   { .ip = 0x2000, .v8 = true, .end = UNWIND_ROOT } };
	static const struct row assembly[] = { { .ip = 0x1000, .no_fde = true, .unproven = true },
					       { .ip = 0x3000, .end = UNWIND_ROOT } };
	static const struct row leaf[] = { { .ip = 0x1000, .no_fde = true }, { .ip = 0x2000, .end = UNWIND_ROOT } };

	ok(run(stack, NULL) && walk.end == UNWIND_UNKNOWN && walk.n == 2, "a root behind them: unknown");
	ok(run(last, NULL) && walk.end == UNWIND_UNKNOWN, "a root that they end at: unknown");
	ok(run(cut, NULL) && walk.end == UNWIND_STACK_CUT, "a truncated stack stays truncated");
	ok(run(node, NULL) && walk.end == UNWIND_ROOT && walk.v8, "V8 keeps frame pointers: complete");
	ok(run(stack, NULL) && walk.end == UNWIND_UNKNOWN && !walk.v8, "  and the next walk begins anew");
	ok(run(assembly, leaf) && walk.end == UNWIND_ROOT && walk.frame[1].address == 0x2000,
	   "assembly that is a leaf by the tables of all its callers: complete");
	ok(walk_is_v8(STR("/usr/bin/node")) && walk_is_v8(STR("/usr/lib/libnode.so.108")) && walk_is_v8(STR("chrome")),
	   "files with V8");
	ok(!walk_is_v8(STR("/usr/bin/nodeenv")) && !walk_is_v8(STR("/node/php")) && !walk_is_v8(STR("")) &&
		   !walk_is_v8(STR("/usr/lib/libnode.sock")),
	   "  and others");
}

static void test_pending(void)
{
	static const struct row stack[] = { { .ip = 0x1000 }, { .ip = 0x2000, .end = UNWIND_ROOT } };
	struct unwind_state state = { .ip = 0x1000, .interrupted = true };

	script = (struct script){ .row = stack, .pending_at = 2 };
	ok(!walk_stack(&walk, &state), "a walk waits for its owner");
	ok(run(stack, NULL) && walk.n == 2 && walk.end == UNWIND_ROOT, "  and begins again");
}

static struct pj_unwinding counted(const struct row *row, bool copied)
{
	struct pj_unwinding counts = { 0 };

	run(row, NULL);
	walk_count(&walk, copied, &counts);
	return counts;
}

static void test_counts(void)
{
	static const struct row complete[] = { { .ip = 0x1000, .end = UNWIND_ROOT } };
	static const struct row unknown[] = { { .ip = 0x1000, .unproven = true, .end = UNWIND_ROOT } };
	static const struct row cut[] = { { .ip = 0x1000, .end = UNWIND_STACK_CUT } };
	static const struct row no_caller[] = { { .ip = 0x1000, .mapped = true, .end = UNWIND_NO_CODE } };
	static const struct row loop[] = { { .ip = 0x1000, .end = UNWIND_LOOP } };
	static const struct row native[] = { { .ip = 0x1000, .mapped = true, .native = true } };
	static const struct row late[] = {
		{ .ip = 0x1000, .mapped = true, .native = true, .late = true, .end = UNWIND_NO_CODE }
	};
	static const struct row unmapped[] = { { .ip = 0x1000, .native = true } };
	struct pj_unwinding counts = counted(complete, true);

	ok(counts.stacks == 1 && counts.complete == 1 && counts.java_complete == 1 && counts.fp == 0, "complete");
	counts = counted(unknown, true);
	ok(counts.stacks == 1 && counts.unknown == 1 && counts.complete + counts.broken + counts.fp_complete == 0,
	   "of unknown completeness");
	counts = counted(cut, true);
	ok(counts.cut == 1 && counts.complete + counts.broken == 0, "truncated");
	counts = counted(cut, false);
	ok(counts.broken == 1 && counts.no_stack == 1, "without a copy: broken");
	counts = counted(late, false);
	ok(counts.no_stack == 1 && counts.late == 1 && counts.broken_late == 0, "  and not because of late tables");
	counts = counted(late, true);
	ok(counts.no_table == 1 && counts.late == 1 && counts.broken_late == 1, "broken before the tables were loaded");
	counts = counted(no_caller, true);
	ok(counts.broken == 1 && counts.no_caller == 1, "no caller in a runtime's code");
	counts = counted(loop, true);
	ok(counts.broken == 1 && counts.astray == 1, "a caller below its callee");
	counts = counted(native, true);
	ok(counts.fp == 1 && counts.no_table == 1, "code without tables");
	counts = counted(unmapped, true);
	ok(counts.fp == 1 && counts.unmapped == 1, "no code");
}

int main(void)
{
	test_frames();
	test_ends();
	test_register();
	test_retry();
	test_unknown();
	test_pending();
	test_counts();
	walk_release(&walk);
	return done();
}
