/* unwind: a stack ends, whatever tables, expressions and stack say; the state stays sane. Input: registers, 256 bytes of stack,
 * then .eh_frame at 0x10000 (or .debug_frame, or a whole ELF file, by the first byte). */
#include "fold/cfi.h"
#include "fold/unwind.h"
#include "fold/unwindtable.h"

#include "fuzz.h"

enum { HEAD = 32, STACK = 256, STACK_AT = 0x700000, EH_FRAME_AT = 0x10000 };

/* Entries and rows of any section. */
static void parse(struct str bytes, bool debug)
{
	struct cfi c = { .bytes = bytes, .address = EH_FRAME_AT, .debug = debug };
	struct cfi_entry e;
	size_t next;

	for (size_t at = 0; at < bytes.n; at = next) {
		bool is_fde = cfi_entry_at(&c, at, &e, &next) == CFI_FDE;
		struct cfi_rows *rows = is_fde ? cfi_rows_of(&c, &e, e.start) : NULL;

		MUST(next > at && next <= bytes.n);
		for (uint32_t i = 0; rows && i < rows->n; i++) {
			const struct cfi_row *r = &rows->row[i];

			MUST(r->start < r->end && r->end <= rows->end && (i == 0 || r->start == rows->row[i - 1].end || r[-1].end <= r->start));
			MUST(cfi_row_at(rows, r->start) == r && cfi_row_at(rows, r->end - 1) == r);
		}
		cfi_rows_free(rows);
	}
}

static void walk(const struct unwind_table *t, const uint8_t *head, const char *stack)
{
	struct unwind_state s = { .stack = { stack, STACK }, .stack_start = STACK_AT, .interrupted = head[1] & 1 };
	unsigned steps = 0;
	uint64_t seed;
	enum unwind_end end;

	memcpy(&seed, head + 8, 8);
	memcpy(&s.ip, head + 16, 8);
	memcpy(&s.valid, head + 24, 4);
	s.sp = STACK_AT + head[2];
	s.bp = STACK_AT + head[3] * 2U;
	for (unsigned i = 0; i < 16; i++)
		s.reg[i] = seed >> i % 4 * 16 & 0xff ? STACK_AT + (seed >> i % 4 * 16 & 0x1ff) : seed;
	do {
		struct unwind_state before = s;

		end = unwind_step(&s, (struct unwind_code){ t, 0 }, steps == 0 && head[1] & 2);
		if (end != UNWIND_MORE)
			MUST(s.ip == before.ip && s.sp == before.sp && s.bp == before.bp && s.valid == before.valid);
		else
			MUST(s.ip != 0 && s.valid >> 7 & 1 && (s.interrupted || s.sp > before.sp));
		MUST(steps++ < 17 * (STACK + 2));
	} while (end == UNWIND_MORE);
	(void)t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct unwind_table *t = NULL;
	const char *why = NULL;
	char path[32];
	struct str rest;

	if (n < HEAD + STACK)
		return 0;
	rest = (struct str){ (const char *)data + HEAD + STACK, n - HEAD - STACK };
	switch (data[0] % 3) {
	case 0:
		t = unwind_table_memory(rest, EH_FRAME_AT, &why);
		break;
	case 1:
		t = unwind_table_open(fuzz_file(rest.p, rest.n, path), &why);
		break;
	default:
		break;
	}
	MUST(data[0] % 3 == 2 || !t == !!why);
	parse(rest, data[0] % 3 == 2);
	walk(t, data, (const char *)data + HEAD);
	unwind_table_close(t);
	return 0;
}
