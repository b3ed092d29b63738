/* unwind: a stack ends, whatever tables, expressions and stack say; the state stays sane. Input: registers, 256 bytes
 * of stack, then, by the first byte, .eh_frame at 0x10000, a whole ELF file, .debug_frame, or an expression. What its
 * table's image says is what the table says; or, with the highest bit, the input is an image. As .eh_frame, the bytes
 * are code with trampolines, too. */
/* covers: unwind/dwarf/cfiunwind.c unwind/dwarf/unwindtable.c unwind/dwarf/unwindelf.c unwind/dwarf/cfi.c */
/* covers: unwind/dwarf/cfiexpr.c unwind/dwarf/dwarfbytes.h unwind/trampolines.c */
#include "unwind/dwarf/cfiexpr.h"
#include "unwind/dwarf/cfiunwind.h"
#include "unwind/dwarf/unwindtable.h"
#include "unwind/trampolines.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

#include <sys/mman.h>

enum { HEAD = 32, STACK = 256, STACK_AT = 0x700000, EH_FRAME_AT = 0x10000 };
enum { EH_FRAME, ELF_FILE, DEBUG_FRAME, EXPRESSION };

/* The trampolines of any code: each FDE is within the code, and its rows find the return address. */
static void find_trampolines(struct str code)
{
	struct text frames = { 0 };
	struct cfi c = { 0 };
	struct cfi_entry e;
	size_t next;

	trampolines_frames(code, EH_FRAME_AT, &frames);
	MUST(frames.n <= 4 * code.n + 32);
	c.bytes = text_view(&frames);
	for (size_t at = 0; at < frames.n; at = next) {
		bool is_fde = cfi_entry_at(&c, at, &e, &next) == CFI_FDE;
		struct cfi_rows *rows = is_fde ? cfi_rows_of(&c, &e, EH_FRAME_AT) : NULL;

		MUST(is_fde == (at > 0) && is_fde == (rows != NULL));
		MUST(!is_fde || (e.start >= EH_FRAME_AT && e.start + e.length <= EH_FRAME_AT + code.n && rows->n == 3));
		cfi_rows_free(rows);
	}
	text_free(&frames);
}

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

			MUST(r->start < r->end && r->end <= rows->end &&
			     (i == 0 || r->start == rows->row[i - 1].end || r[-1].end <= r->start));
			MUST(cfi_row_at(rows, r->start) == r && cfi_row_at(rows, r->end - 1) == r);
		}
		cfi_rows_free(rows);
	}
}

static void walk(const struct unwind_table *table, const uint8_t *head, const char *stack)
{
	enum { PERF_BP = 6, PERF_SP, PERF_IP };
	struct unwind_state s;
	uint64_t seed, regs[64];
	unsigned steps = 0;
	enum unwind_end end;
	uint32_t mask;

	memcpy(&seed, head + 8, 8);
	memcpy(&mask, head + 24, 4);
	for (unsigned i = 0; i < countof(regs); i++)
		regs[i] = seed >> i % 4 * 16 & 0xff ? STACK_AT + (seed >> i % 4 * 16 & 0x1ff) : seed;
	/* as perf has them when all lower ones are there */
	regs[PERF_BP] = STACK_AT + head[3] * 2U;
	regs[PERF_SP] = STACK_AT + head[2];
	memcpy(&regs[PERF_IP], head + 16, 8);
	if (!unwind_start(&s, mask, regs, 2 + (head[1] >> 7), (struct str){ stack, STACK }))
		return;
	s.stack_start = STACK_AT;
	s.interrupted = head[1] & 1;
	do {
		struct unwind_state before = s;

		end = unwind_step(&s, (struct unwind_code){ table, 0 }, steps == 0 && head[1] & 2);
		if (end != UNWIND_MORE)
			MUST(s.ip == before.ip && s.sp == before.sp && s.bp == before.bp && s.valid == before.valid);
		else
			MUST(s.ip != 0 && s.valid >> 7 & 1 &&
			     (s.interrupted || s.sp >= before.sp + !before.interrupted));
		MUST(steps++ < 17 * (STACK + 2));
	} while (end == UNWIND_MORE);
}

static void evaluate(struct str expression, const char *stack)
{
	uint32_t effort = 1 << 20;
	struct cfi_place p = { .valid = 0xffff, .stack = { stack, STACK }, .stack_start = STACK_AT, .effort = &effort };
	uint64_t first, again, cfa = STACK_AT + 64;

	for (unsigned i = 0; i < 16; i++)
		p.reg[i] = STACK_AT + 8 * i;
	(void)cfi_evaluate(expression, &p, NULL, &first);
	if (cfi_evaluate(expression, &p, &cfa, &first))
		MUST(cfi_evaluate(expression, &p, &cfa, &again) && first == again);
}

/* How a walk ends. */
static enum unwind_end end_of(const struct unwind_table *table, const uint8_t *head, const char *stack)
{
	struct unwind_state s;
	uint64_t regs[9] = { 0 };
	enum unwind_end end;

	memcpy(&regs[8], head + 16, 8);
	regs[6] = regs[7] = STACK_AT;
	if (!unwind_start(&s, 0x1c0, regs + 6, 2, (struct str){ stack, STACK }))
		return UNWIND_MORE;
	do
		end = unwind_step(&s, (struct unwind_code){ table, 0 }, s.interrupted);
	while (end == UNWIND_MORE);
	return end;
}

static struct unwind_table *image_of(const struct unwind_table *table)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct unwind_table *image;
	const char *why;

	MUST(fd >= 0 && unwind_table_save(table, fd));
	image = unwind_table_load(fd, &why);
	MUST(image && unwind_table_bytes(image) >= sizeof(void *));
	return image;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct unwind_table *t = NULL;
	const char *why = NULL;
	char path[32];
	struct str rest;
	uint64_t bias;

	if (n < HEAD + STACK)
		return 0;
	rest = (struct str){ (const char *)data + HEAD + STACK, n - HEAD - STACK };
	switch (data[0] % 4) {
	case EH_FRAME:
		find_trampolines(rest);
		t = unwind_table_memory(rest, EH_FRAME_AT, &why);
		break;
	case ELF_FILE:
		if (data[0] & 0x80)
			t = unwind_table_load(fuzz_file(rest.p, rest.n, path), &why);
		else
			t = unwind_table_open(fuzz_file(rest.p, rest.n, path), &why);
		break;
	case DEBUG_FRAME: parse(rest, true); return 0;
	default: evaluate(rest, (const char *)data + HEAD); return 0;
	}
	MUST(!t == !!why);
	parse(rest, false);
	if (t)
		(void)unwind_table_bias(t, STACK_AT, data[4], &bias);
	walk(t, data, (const char *)data + HEAD);
	if (t) {
		struct unwind_table *image = image_of(t);

		MUST(end_of(t, data, (const char *)data + HEAD) == end_of(image, data, (const char *)data + HEAD));
		unwind_table_close(image);
	}
	unwind_table_close(t);
	return 0;
}

/* ---- libFuzzer only: entries of call frame information ---------------------------------------------------------- */

static bool entries_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = HEAD + STACK;
	*end = n;
	return n > HEAD + STACK + 8;
}

static size_t entry_size(const uint8_t *entry, size_t left)
{
	uint32_t length;

	if (left < 8)
		return 0;
	memcpy(&length, entry, 4);
	return length < 4 || length > left - 4 ? 0 : 4 + (size_t)length;
}

static void entry_set_size(uint8_t *entry, size_t size)
{
	uint32_t length = (uint32_t)(size - 4);

	memcpy(entry, &length, 4);
}

/* An instruction that CFI has, in place of a byte in the later half of an entry, where its program is. */
static void put_instruction(uint8_t *data, size_t n, uint64_t *state)
{
	static const uint8_t more[] = { 0x40, 0x41, 0x80, 0x86, 0x87, 0x90, 0xc6, 0xd0 }; /* advance, offset, restore */
	size_t at[MUTATE_RECORDS + 1], start, end, count, i, half;
	static const struct mutate_format f = { entries_range, entry_size, entry_set_size, NULL, 8 };

	if (!entries_range(data, n, &start, &end) || (count = mutate_list(&f, data, start, end, at)) == 0)
		return;
	i = mutate_lot(state, count);
	half = (at[i + 1] - at[i]) / 2;
	data[at[i] + half + mutate_lot(state, at[i + 1] - at[i] - half)] =
		(uint8_t)(mutate_lot(state, 2) ? mutate_lot(state, 0x30) : more[mutate_lot(state, countof(more))]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { entries_range, entry_size, entry_set_size, NULL, 8 };
	uint64_t state = seed;

	if (n > HEAD + STACK + 16 && mutate_lot(&state, 3) == 0) {
		put_instruction(data, n, &state);
		return n;
	}
	return mutate(&f, data, n, max, seed);
}
