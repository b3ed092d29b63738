/* Call frame information from .gopclntab: the rows of functions, and sections that are no table or damaged. */
/* covers: unwind/dwarf/gopclntab.c */
#include "unwind/dwarf/gopclntab.h"

#include "test/lib/tap.h"
#include "unwind/dwarf/cfi.h"

#include <stdlib.h>

enum { TEXT = 0x401000, MAX = 1 << 20, ROOT = 1 };

/* Where parts of the section are: pctab, the table of functions, the structs _func behind it. */
enum { VALUES = 72, TABLE = 128, FUNCTIONS = 4, FUNCS = 8 * FUNCTIONS + 8 };

static void put_at(char *bytes, size_t at, uint64_t value, size_t size)
{
	memcpy(bytes + at, &value, size);
}

/* Fills in a section as Go 1.18 writes it. Its functions: 0x40 bytes with a frame of 24 bytes and padding of 16 bytes;
 * a leaf of 0x20 bytes; one without values; one with values that end too late. Returns its size. */
static size_t fill(char bytes[512])
{
	static const char values[] = "\0"
				     "\2\4\x30\x28\x2f\4\0" /* 0 for 4, 24 for 40, 0 for 4 bytes */
				     "\2\x20\0"             /* 0 for 32 */
				     "\2\x21\0";            /* 0 for 33 */
	static const unsigned place[] = { 1, 8, 0, 11 }, start[] = { 0, 0x40, 0x60, 0x80, 0xa0 };

	memset(bytes, 0, 512);
	put_at(bytes, 0, 0xfffffff0, 4);
	put_at(bytes, 6, 1, 1);
	put_at(bytes, 7, 8, 1);
	put_at(bytes, 8, FUNCTIONS, 8);
	put_at(bytes, 56, VALUES, 8);
	put_at(bytes, 64, TABLE, 8);
	memcpy(bytes + VALUES, values, sizeof(values));
	for (size_t i = 0; i <= FUNCTIONS; i++)
		put_at(bytes, TABLE + 8 * i, start[i], 4);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		put_at(bytes, TABLE + 8 * i + 4, FUNCS + 44 * i, 4);
		put_at(bytes, TABLE + FUNCS + 44 * i, start[i], 4);
		put_at(bytes, TABLE + FUNCS + 44 * i + 16, place[i], 4);
	}
	return TABLE + FUNCS + 44 * FUNCTIONS;
}

/* Returns the offset of the CFA from rsp at an address by the section that gopclntab_frames makes; 0: it has no row;
 * ROOT: a root frame. */
static int cfa_at(const struct text *frames, uint64_t address)
{
	struct cfi cfi = { .bytes = text_view(frames), .debug = true };
	struct cfi_entry entry;
	int cfa = 0;
	size_t next;

	for (size_t at = 0; at < frames->n; at = next) {
		struct cfi_rows *rows;
		const struct cfi_row *row;

		if (cfi_entry_at(&cfi, at, &entry, &next) != CFI_FDE || address - entry.start >= entry.length)
			continue;
		rows = cfi_rows_of(&cfi, &entry, TEXT);
		row = rows ? cfi_row_at(rows, (uint32_t)(address - TEXT)) : NULL;
		cfa = row ? row->flags & CFI_ROW_ROOT ? ROOT : row->cfa : 0;
		cfi_rows_free(rows);
	}
	return cfa;
}

static int cfa_of(const char *bytes, size_t n, uint64_t address)
{
	struct text frames = { 0 };
	int cfa;

	gopclntab_frames((struct str){ bytes, n }, TEXT, MAX, &frames);
	cfa = cfa_at(&frames, address);
	text_free(&frames);
	return cfa;
}

static void check_rows(void)
{
	char bytes[512];
	size_t n = fill(bytes);

	is_u64((uint64_t)cfa_of(bytes, n, TEXT), 8, "at the first instruction: rsp+8");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 3), 8, "  up to the end of the prologue");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), 32, "in the body: rsp+8 and the frame");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 0x2c), 8, "after the epilogue");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 0x5f), 8, "a leaf without frame");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 0x60), 0, "a function without values has no row");
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 0x80), 0, "nor has one whose values end behind it");
	put_at(bytes, TABLE + FUNCS + 37, 1, 1);
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), 32, "TOPFRAME alone: a caller, as of runtime.sigtramp");
	put_at(bytes, TABLE + FUNCS + 37, 3, 1);
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), ROOT, "  and SPWRITE: the start of the program");
	put_at(bytes, TABLE + FUNCS + 37, 2, 1);
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), 0, "SPWRITE: a change to another stack has no row");
	put_at(bytes, 32, TABLE - 16, 8);
	memcpy(bytes + TABLE - 16, "runtime.clone", 14);
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), ROOT, "  except for runtime.clone, the start of a thread");
	put_at(bytes, TABLE + FUNCS + 37, 0, 1);
	put_at(bytes, 0, 0xfffffff1, 4);
	is_u64((uint64_t)cfa_of(bytes, n, TEXT + 4), 32, "the layout of Go 1.20");
}

static void check_refused(const char *bytes, size_t n, const char *what)
{
	struct text frames = { 0 };

	gopclntab_frames((struct str){ bytes, n }, TEXT, MAX, &frames);
	ok(frames.n == 0, what);
	text_free(&frames);
}

static void check_damaged(void)
{
	static const struct {
		size_t at, size;
		uint64_t value;
		const char *what;
	} damage[] = { { 0, 4, 0xfffffffb, "the layout of Go 1.2" },
		       { 7, 1, 4, "pointers of 4 bytes" },
		       { 8, 8, UINT64_MAX, "more functions than the section has space for" },
		       { 56, 8, TABLE, "pctab behind the table of functions" },
		       { 64, 8, 512, "a table of functions behind the section" } };
	struct text frames = { 0 };
	char bytes[512];
	size_t n = fill(bytes);

	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		fill(bytes);
		put_at(bytes, damage[i].at, damage[i].value, damage[i].size);
		check_refused(bytes, n, damage[i].what);
	}
	check_refused(bytes, 0, "no section");
	for (size_t cut = 1; cut < n; cut++) {
		char *copy = malloc(cut);

		fill(bytes);
		memcpy(copy, bytes, cut);
		frames.n = 0;
		gopclntab_frames((struct str){ copy, cut }, TEXT, MAX, &frames);
		free(copy);
	}
	ok(true, "cut at each byte");
	fill(bytes);
	frames.n = 0;
	gopclntab_frames((struct str){ bytes, n }, TEXT, 40, &frames);
	ok(frames.n == 0, "nothing of a section with more rows than the limit");
	text_free(&frames);
}

int main(void)
{
	check_rows();
	check_damaged();
	return done();
}
