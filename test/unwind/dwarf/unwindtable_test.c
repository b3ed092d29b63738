/* When a table has no space for further rows, it stays full, so that its owner loads it again. */
/* covers: unwind/dwarf/unwindtable.c */
#include "unwind/dwarf/unwindtable.c"

#include "test/lib/tap.h"

#include <fcntl.h>

/* Looks up the first address of FDE i, counted from the end. */
static bool has_row(const struct unwind_table *table, size_t i)
{
	const struct section_fdes *frames = &table->frames[0];

	return unwind_table_row(table, table->base + frames->ref[frames->n - 1 - i].start) != NULL;
}

int main(void)
{
	const char *why;
	struct unwind_table *table = unwind_table_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &why);
	struct recent *recent = table ? table->recent : NULL;

	ok(table && table->frames[0].n > 100, "the tables of this program");
	if (!table)
		return done();
	ok(has_row(table, 0) && !unwind_table_is_full(table), "there is space");
	recent->memory_max = 1;
	ok(!has_row(table, 1) && unwind_table_is_full(table), "beyond the limit of the table it is full");
	/* A section for which its own, lower limit holds: that of a small .debug_frame beside a large .eh_frame. */
	recent->memory_max = SIZE_MAX;
	atomic_store(&recent->memory, SIZE_MAX / 2);
	ok(!has_row(table, 2) && unwind_table_is_full(table), "a section beyond its own limit does not change that");
	atomic_store(&recent->full, false);
	ok(!has_row(table, 3) && !unwind_table_is_full(table), "  nor does it make a table full");
	unwind_table_close(table);
	return done();
}
