/* java: a stack through the code of a JVM ends, whatever facts, code, registers and stack say; nothing is read beyond the stack, and
 * the state stays sane. Input: registers, 16 pieces of code, 256 bytes of stack, then code. */
/* covers: unwind/java.c unwind/javaframe.c */
#include "unwind/java.h"

#include "fuzz.h"

enum { REGISTERS = 32, PIECES = 8, PIECE = 16, HEAD = REGISTERS + PIECES * PIECE, STACK = 256, STACK_AT = 0x700000, CODE_AT = 0x10000 };

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
static size_t take_pieces(const uint8_t *data, struct java_piece *p)
{
	uint64_t at = CODE_AT;
	size_t n = 0;

	for (unsigned i = 0; i < PIECES; i++) {
		const uint8_t *d = data + (size_t)i * PIECE;
		uint32_t frame;

		memcpy(&frame, d + 8, 4);
		at += d[0] % 32;
		p[n] = (struct java_piece){ .start = at, .end = at + d[1], .kind = d[2] % 10, .entry = d[3], .complete = d[4], .orig_pc = d[5],
					    .frame = d[6] & 1 ? frame : (uint32_t)(d[8] & 31) * 8, .deopt = { at + d[7], at + d[12] } };
		if (d[3] == 255)
			p[n].entry = JAVA_NEVER;
		if (d[4] == 255)
			p[n].complete = JAVA_NEVER;
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

static void start(struct unwind_state *s, const uint8_t *data, const char *stack)
{
	*s = (struct unwind_state){ .stack = { stack, STACK }, .stack_start = STACK_AT, .interrupted = data[0] & 1, .effort = 20000 };
	s->ip = CODE_AT + data[1];
	s->sp = s->reg[7] = STACK_AT + data[2];
	s->bp = s->reg[6] = pick(data[3], data[4]);
	s->valid = (data[5] | (uint32_t)data[6] << 8 | 1U << 7) & 0xffff;
	s->reg[0] = pick(data[7], data[8]);
	s->reg[3] = pick(data[9], data[10]);
	s->reg[13] = pick(data[11], data[12]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct java_piece piece[PIECES];
	struct unwind_state s;
	struct image image;
	struct java_code code;
	char *stack;
	enum unwind_end end;
	unsigned steps = 0;

	if (n < HEAD + STACK)
		return 0;
	image = (struct image){ fuzz_copy(data + HEAD + STACK, n - HEAD - STACK), n - HEAD - STACK };
	stack = fuzz_copy(data + HEAD, STACK);
	code = (struct java_code){ piece, take_pieces(data + REGISTERS, piece), CODE_AT + data[13], CODE_AT + data[14], read_code, is_code, &image, NULL };
	start(&s, data, stack);
	do {
		const struct java_piece *p = java_find(&code, &s);
		struct unwind_state before = s;
		struct java_frame f;

		if (!p)
			break;
		MUST(s.ip - !s.interrupted - p->start < p->end - p->start || (p->kind == JAVA_THAW && s.ip == p->start));
		end = java_step(&s, &code, p, &f);
		if (end != UNWIND_MORE)
			MUST(s.ip == before.ip && s.sp == before.sp && s.bp == before.bp && s.valid == before.valid);
		else
			MUST(s.ip != 0 && s.valid >> 7 & 1 && !s.interrupted && s.sp >= before.sp && s.sp - STACK_AT <= STACK);
		MUST(!f.method || f.exact);
		MUST(steps++ < STACK / 8 + 32);
	} while (end == UNWIND_MORE);
	free(stack);
	free(image.code);
	return 0;
}
