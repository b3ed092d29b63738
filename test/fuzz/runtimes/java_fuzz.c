/* java: a stack through the code of a JVM ends, whatever facts, code, registers and stack say; nothing is read beyond
 * the stack, and the state stays sane. The same by facts that were kept of the code, and by facts that are the code's
 * bytes. Input: registers, 8 pieces of code, 256 bytes of stack, then code. */
/* covers: runtimes/hotspot/javaunwind.c runtimes/hotspot/javaframe.c runtimes/hotspot/blobcodec.c */
#include "runtimes/hotspot/blobcodec.h"

#include "test/fuzz/fuzz.h"

enum {
	REGISTERS = 32,
	BLOBS = 8,
	PART = 16,
	HEAD = REGISTERS + BLOBS * PART,
	STACK = 256,
	STACK_AT = 0x700000,
	CODE_AT = 0x10000
};

struct image {
	char *code;
	size_t n;
};

static bool read_code(void *arg, uint64_t at, void *to, size_t n)
{
	const struct image *i = arg;

	if (at < CODE_AT || at - CODE_AT > i->n || n > i->n - (at - CODE_AT))
		return false;
	memcpy(to, i->code + (at - CODE_AT), n);
	return true;
}

static bool is_code(void *arg, uint64_t at)
{
	(void)arg;
	return at % 64 == 5;
}

/* Pieces follow each other, as the tables promise; the rest is as it comes. */
static size_t take_blobs(const uint8_t *data, struct code_blob *blob)
{
	uint64_t at = CODE_AT;
	size_t n = 0;

	for (unsigned i = 0; i < BLOBS; i++) {
		const uint8_t *d = data + (size_t)i * PART;
		uint32_t frame;

		memcpy(&frame, d + 8, 4);
		at += d[0] % 32;
		blob[n] = (struct code_blob){ .start = at,
					      .end = at + d[1],
					      .kind = d[2] % 10,
					      .offset = { d[3], d[4], d[5] },
					      .frame = d[6] & 1 ? frame : (uint32_t)(d[8] & 31) * 8,
					      .deopt = { at + d[7], at + d[12] } };
		if (d[3] == 255)
			blob[n].offset[0] = BLOB_NEVER;
		if (d[4] == 255)
			blob[n].offset[1] = BLOB_NEVER;
		at += d[1];
		n += d[1] != 0;
	}
	return n;
}

static uint64_t pick(uint8_t what, uint8_t value)
{
	switch (what % 4) {
	case 0: return CODE_AT + value;
	case 1: return STACK_AT + value;
	case 2: return STACK_AT + (uint64_t)value * 8;
	default: return (uint64_t)(int64_t)(int8_t)value;
	}
}

static void start(struct unwind_state *state, const uint8_t *data, const char *stack)
{
	*state = (struct unwind_state){ .stack = { stack, STACK },
					.stack_start = STACK_AT,
					.interrupted = data[0] & 1,
					.native = data[0] >> 1 & 1,
					.effort = 20000 };
	state->ip = CODE_AT + data[1];
	state->sp = state->reg[7] = STACK_AT + data[2];
	state->bp = state->reg[6] = pick(data[3], data[4]);
	state->valid = (data[5] | (uint32_t)data[6] << 8 | 1U << 7) & 0xffff;
	state->reg[0] = pick(data[7], data[8]);
	state->reg[3] = pick(data[9], data[10]);
	state->reg[13] = pick(data[11], data[12]);
}

/* Until it ends; code says which pieces there are. */
static void walk(struct unwind_state state, const struct javaunwind_code *code)
{
	enum unwind_end end;
	unsigned steps = 0;

	do {
		const struct code_blob *p = javaunwind_find(code, &state);
		struct unwind_state before = state;
		struct javaunwind_frame f;

		if (!p)
			break;
		MUST(state.ip - !state.interrupted - p->start < p->end - p->start ||
		     (p->kind == BLOB_THAW && state.ip == p->start));
		end = javaunwind_step(&state, code, p, &f);
		if (end != UNWIND_MORE)
			MUST(state.ip == before.ip && state.sp == before.sp && state.bp == before.bp &&
			     state.valid == before.valid);
		else
			MUST(state.ip != 0 && state.valid >> 7 & 1 && !state.interrupted && state.sp >= before.sp &&
			     state.sp - STACK_AT <= STACK);
		MUST(!f.method || f.exact);
		MUST(steps++ < STACK / 8 + 32);
	} while (end == UNWIND_MORE);
}

/* ---- facts instead of code -------------------------------------------------------------------------------------- */

struct retention {
	const struct code_blob *blob;
	struct str runs[BLOBS];
};

static int saved_how(void *arg, const struct code_blob *blob, uint64_t address)
{
	const struct retention *k = arg;

	return (int)blobcodec_how(k->runs[blob - k->blob], address - blob->start);
}

static bool read_nothing(void *arg, uint64_t at, void *to, size_t n)
{
	(void)arg, (void)at, (void)to, (void)n;
	return false;
}

static enum javaframe query(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t at)
{
	return blob->kind == BLOB_STUB ? javaframe_stub(jvm_code, blob, at) : javaframe_compiled(jvm_code, blob, at);
}

static bool near_pop(const uint8_t *code, uint64_t entry, uint64_t at)
{
	for (uint64_t i = at; at - i < 24 && i >= entry; i--) {
		if (code[i] == 0x5d)
			return true;
		if (i == 0)
			break;
	}
	return false;
}

/* Facts answer as the code does where it leaves a frame, and never say less than whole where the code does not. */
static void same_answers(const struct code_blob *blob, struct javaunwind_code *bytes, struct javaunwind_code *saved,
			 const uint8_t *code, size_t n)
{
	if ((blob->kind != BLOB_COMPILED && blob->kind != BLOB_NATIVE && blob->kind != BLOB_STUB) ||
	    (blob->offset[1] != BLOB_NEVER && blob->offset[1] > n))
		return;
	for (uint64_t at = blob->offset[0]; at < n; at++) {
		enum javaframe want = query(bytes, blob, blob->start + at), got = query(saved, blob, blob->start + at);

		MUST(got == want || (got == JAVAFRAME_COMPLETE && !near_pop(code, blob->offset[0], at)));
	}
}

/* All that is put is taken, and says the same. */
static void keep_facts(const struct javaunwind_code *code, struct image *image, struct retention *retention,
		       struct text *facts)
{
	size_t from[BLOBS];
	struct javaunwind_code saved = { .read = read_nothing, .how = saved_how, .arg = retention };

	for (size_t i = 0; i < code->n; i++) {
		const struct code_blob *p = &code->blob[i];
		bool there = p->start - CODE_AT <= image->n && p->end - p->start <= image->n - (p->start - CODE_AT);

		from[i] = facts->n;
		blobcodec_encode(facts, p, there ? image->code + (p->start - CODE_AT) : NULL,
				 there ? (size_t)(p->end - p->start) : 0);
	}
	for (size_t i = 0; i < code->n; i++) {
		const struct code_blob *p = &code->blob[i];
		struct str s = str_from(text_view(facts), from[i]);
		struct code_blob taken = { .start = p->start, .end = p->end };
		bool good = blobcodec_decode(&s, &taken, &retention->runs[i]);

		if (!good) { /* what deopt says is never checked when it is put */
			MUST(p->kind > BLOB_THAW || p->deopt[0] - p->start > p->end - p->start ||
			     p->deopt[1] - p->start > p->end - p->start);
			retention->runs[i] = (struct str){ 0 };
			continue;
		}
		MUST(taken.kind == p->kind && taken.frame == p->frame / 8 * 8 && taken.offset[0] == p->offset[0] &&
		     taken.offset[1] == p->offset[1]);
		if (p->start - CODE_AT <= image->n && p->end - p->start <= image->n - (p->start - CODE_AT))
			same_answers(p, &(struct javaunwind_code){ .read = read_code, .arg = image }, &saved,
				     (const uint8_t *)image->code + (p->start - CODE_AT), (size_t)(p->end - p->start));
	}
}

/* Facts that are whatever the code's bytes are. */
static void take_hostile(const struct image *image, struct code_blob *blob, struct retention *retention)
{
	struct str s = { image->code, image->n };

	for (size_t i = 0; i < BLOBS; i++) {
		struct code_blob taken = blob[i];

		if (blobcodec_decode(&s, &taken, &retention->runs[i]))
			blob[i] = taken;
		else
			retention->runs[i] = (struct str){ 0 };
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct code_blob blob[BLOBS] = { { 0 } };
	struct retention saved = { .blob = blob };
	struct text facts = { 0 };
	struct unwind_state s;
	struct image image;
	struct javaunwind_code code;
	char *stack;

	if (n < HEAD + STACK)
		return 0;
	image = (struct image){ fuzz_copy(data + HEAD + STACK, n - HEAD - STACK), n - HEAD - STACK };
	stack = fuzz_copy(data + HEAD, STACK);
	code = (struct javaunwind_code){ blob,
					 take_blobs(data + REGISTERS, blob),
					 CODE_AT + data[13],
					 CODE_AT + data[14],
					 read_code,
					 is_code,
					 &image,
					 NULL };
	start(&s, data, stack);
	walk(s, &code);
	keep_facts(&code, &image, &saved, &facts);
	code.read = read_nothing;
	code.how = saved_how;
	code.arg = &saved;
	walk(s, &code);
	take_hostile(&image, blob, &saved);
	walk(s, &code);
	text_free(&facts);
	free(stack);
	free(image.code);
	return 0;
}
