/* Unwind tables of jitdumps: which code has one, which share it, and what is beyond the limits. */
/* covers: fold/jit/jitunwind.c */
#include "fold/jit/jitunwind.h"

#include "fold/jit/jitdump.h"
#include "test/fold/jit/jitdump_write.h"
#include "test/lib/tap.h"
#include "unwind/dwarf/unwindtable.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* CPython's section for a trampoline of `size` bytes: CFA rsp+8, from 4 on rsp+16, from 10 on rsp+8. */
static struct str section(unsigned size, char to[64])
{
	static const char bytes[] = "\x14\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0"
				    "\x18\0\0\0\x1c\0\0\0\0\0\0\0\0\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0\0\0\0\0\0\0\0";
	int32_t start = -(int32_t)((size + 7) / 8 * 8 + 32);

	memcpy(to, bytes, sizeof(bytes));
	memcpy(to + 32, &start, sizeof(start));
	memcpy(to + 36, &size, sizeof(size));
	return (struct str){ to, sizeof(bytes) };
}

static struct jitdump *open_text(const struct text *text)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);
	const char *why;

	if (fd < 0 || write(fd, text->p, text->n) != (ssize_t)text->n)
		exit(1);
	return jitdump_open(fd, &why);
}

static const struct cfi_row *row_at(struct jitunwind *jitunwind, const struct jitdump *jitdump, uint64_t address,
				    struct unwind_code *tables)
{
	const struct jit_code *code = jitdump_find(jitdump, address, 0);

	if (!code || !jitunwind_find(jitunwind, code, tables))
		return NULL;
	return unwind_table_row(tables->table, address - tables->bias);
}

static void check_shared(void)
{
	struct text text = { 0 };
	struct jitunwind jitunwind = { 0 };
	struct unwind_code one = { 0 }, two = { 0 };
	struct jitdump *jitdump;
	const struct cfi_row *row;
	char bytes[64], more[64];

	jit_header(&text, 7, 0);
	jit_unwind(&text, 1, section(11, bytes), 20);
	jit_load(&text, 1, 0x1000, 11, 1, "one");
	jit_unwind(&text, 1, section(11, bytes), 20);
	jit_load(&text, 1, 0x2010, 11, 2, "two");
	jit_load(&text, 1, 0x3000, 11, 3, "without");
	jit_unwind(&text, 1, section(32, more), 0);
	jit_load(&text, 1, 0x4000, 32, 4, "longer");
	jit_unwind(&text, 1, STR("no table at all"), 0);
	jit_load(&text, 1, 0x5000, 32, 5, "damaged");
	jit_move(&text, 2, 0x1000, 0x6000, 11, 1);
	jitdump = open_text(&text);

	row = row_at(&jitunwind, jitdump, 0x6005, &one);
	ok(row && row->cfa == 16, "a return address in code that moved: CFA rsp+16");
	row = row_at(&jitunwind, jitdump, 0x2010, &two);
	ok(row && row->cfa == 8, "the first instruction of code with an equal section: CFA rsp+8");
	ok(one.table && one.table == two.table, "  by the same table");
	is_u64(two.bias, 0x2010, "  at its own address");
	ok(!row_at(&jitunwind, jitdump, 0x3000, &two), "code without a section has no table");
	row = row_at(&jitunwind, jitdump, 0x4004, &two);
	ok(row && row->cfa == 16 && two.table != one.table, "code of another size has another table");
	ok(!row_at(&jitunwind, jitdump, 0x5000, &two), "nor has code with a section that is none");
	ok(!row_at(&jitunwind, jitdump, 0x5000, &two), "  at the second lookup, too");
	is_u64(jitunwind.refused, 0, "nothing exceeds a limit");
	jitunwind_free(&jitunwind);
	jitdump_close(jitdump);
	text_free(&text);
}

static void check_limits(void)
{
	struct text text = { 0 };
	struct jitunwind jitunwind = { 0 };
	struct unwind_code tables;
	struct jitdump *jitdump;
	char bytes[64];
	char *large = mem_alloc(1, JITUNWIND_SECTION + 1);
	size_t found = 0;

	jit_header(&text, 7, 0);
	for (unsigned i = 0; i < JITUNWIND_TABLES + 3; i++) {
		jit_unwind(&text, 1, section(16 + 8 * i, bytes), 0);
		jit_load(&text, 1, 0x100000 * (uint64_t)(i + 1), 16 + 8 * i, i, "code");
	}
	memcpy(large, bytes, sizeof(bytes));
	jit_unwind(&text, 1, (struct str){ large, JITUNWIND_SECTION + 1 }, 0);
	jit_load(&text, 1, 0x1000, 16, 1, "large");
	jitdump = open_text(&text);
	ok(!row_at(&jitunwind, jitdump, 0x1000, &tables), "a section that is too large");
	is_u64(jitunwind.refused, 1, "  is counted");
	for (unsigned i = 0; i < JITUNWIND_TABLES + 3; i++)
		found += row_at(&jitunwind, jitdump, 0x100000 * (uint64_t)(i + 1), &tables) != NULL;
	is_u64(found, JITUNWIND_TABLES, "tables up to the limit");
	is_u64(jitunwind.refused, 4, "  further ones are counted");
	ok(row_at(&jitunwind, jitdump, 0x100000, &tables) != NULL, "  and the first ones stay");
	jitunwind_free(&jitunwind);
	jitdump_close(jitdump);
	text_free(&text);
	free(large);
}

int main(void)
{
	check_shared();
	check_limits();
	return done();
}
