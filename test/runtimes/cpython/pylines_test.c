/* Tables of lines of each format: written by hand after CPython's descriptions, cut at each byte, and too large. */
/* covers: runtimes/cpython/pylines.c */
#include "runtimes/cpython/pylines.h"
#include "test/lib/tap.h"

struct table {
	struct str bytes;
	size_t at;
};

static int next(void *arg)
{
	struct table *table = arg;

	return table->at < table->bytes.n ? (unsigned char)table->bytes.p[table->at++] : -1;
}

static uint32_t find(struct str bytes, uint32_t version, int32_t firstline, int64_t offset)
{
	struct table table = { bytes, 0 };
	struct pylines_source source = { next, &table };

	return pylines_find(&source, version, firstline, offset);
}

static void lnotab(void)
{
	/* lnotab_notes.txt: (6, 1) (44, 5) (0, 127) (0, 73) (10, -10) */
	struct str table = STR("\x06\x01\x2c\x05\x00\x7f\x00\x49\x0a\xf6");

	ok(find(table, 9, 1, -1) == 1 && find(table, 9, 1, 0) == 1 && find(table, 9, 1, 5) == 1,
	   "3.9: before the first pair");
	ok(find(table, 9, 1, 6) == 2 && find(table, 8, 1, 49) == 2 && find(table, 8, 1, 50) == 207, "  pairs add up");
	ok(find(table, 9, 1, 60) == 197 && find(table, 9, 1, 1000) == 197, "  a line back, and the rest of the code");
	ok(find(STR(""), 9, 7, 20) == 7, "  an empty table");
}

static void linetable(void)
{
	/* 2 bytes of line +1, 4 without a line, 6 of line +0 */
	struct str table = STR("\x02\x01\x04\x80\x06\x00");

	ok(find(table, 10, 10, 0) == 11 && find(table, 10, 10, 1) == 11, "3.10: the first pair");
	ok(find(table, 10, 10, 2) == 0 && find(table, 10, 10, 5) == 0, "  an instruction without a line");
	ok(find(table, 10, 10, 6) == 11 && find(table, 10, 10, 11) == 11, "  the line after it");
	ok(find(table, 10, 10, 12) == 0, "  beyond the table");
	ok(find(table, 10, 10, -1) == 10, "  before the first instruction");
}

static void locations(void)
{
	/* short form 0, 1 unit; one line +2, 3 units; none, 1 unit; no columns -3 (svarint 7), 1 unit; long +40
	 * (svarint 80: 16 | 64, 1), 8 units, three varints; short form 5. */
	struct str table = STR("\x80\x00"
			       "\xe2\x01\x02"
			       "\xf8"
			       "\xe8\x07"
			       "\xf7\x50\x01\x00\x41\x02\x03"
			       "\xa8\x00");

	ok(find(table, 11, 100, 0) == 100 && find(table, 11, 100, 1) == 100, "3.11: a short entry");
	ok(find(table, 13, 100, 2) == 102 && find(table, 13, 100, 7) == 102, "  one line, three units");
	ok(find(table, 13, 100, 8) == 0, "  no location");
	ok(find(table, 13, 100, 10) == 99, "  lines back");
	ok(find(table, 13, 100, 12) == 139 && find(table, 13, 100, 27) == 139, "  a long entry");
	ok(find(table, 13, 100, 28) == 139 && find(table, 13, 100, 30) == 0, "  the last entry, and beyond");
	for (size_t n = 0; n < table.n; n++)
		if (find(str_head(table, n), 13, 100, 28) != 0)
			ok(false, "a table that is cut has no line");
	ok(find(STR("\x00\x00"), 13, 100, 0) == 0, "  an entry without its mark");
	ok(find(STR("\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f"), 13, 100, 0) == 0, "  a number without end");
	ok(find(STR("\xe8\x7e\x7f\x7f\x7f\x1f\x80"), 13, INT32_MAX, 0) == 0, "  a line beyond 2^31");
	ok(find(STR("\xe8\x7f\x7f\x7f\x7f\x1f\x80"), 13, 1, 0) == 0, "  a line below 0");
}

int main(void)
{
	lnotab();
	linetable();
	locations();
	return done();
}
