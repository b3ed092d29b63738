/* Go's table in ELF files: rows of call frame information for Go's code, wherever the table is and however the address
 * of the code is known; no rows if nothing proves them. */
/* covers: unwind/dwarf/unwindelf.c unwind/dwarf/unwindtable.c common/formats/gotable.c common/formats/gomodule.c */
#include "unwind/dwarf/unwindelf.h"

#include "test/lib/goimage.h"
#include "test/lib/tap.h"
#include "unwind/dwarf/unwindtable.h"

#include <stdio.h>
#include <sys/mman.h>

enum { START = CODE + C, SEARCHED = countof(goimage_kinds) - 1 };

/* Offset of the table in its section, in files where it is searched. */
enum { BEFORE = 64 };

/* Returns the offset of the CFA from rsp at an offset of Go's code, in the first n bytes of a file; 0: no row; -1: no
 * table. */
static int cfa_in(const struct goimage *go, size_t n, uint64_t offset)
{
	const char *why;
	struct unwind_table *table = unwind_table_open(goimage_file(go, n), &why);
	const struct cfi_row *row = table ? unwind_table_go_row(table, BASE + START + offset) : NULL;
	int cfa = table ? row ? row->cfa : 0 : -1;

	unwind_table_close(table);
	return cfa;
}

static void is_cfa(const struct goimage *go, uint64_t offset, int want, const char *what)
{
	int got = cfa_in(go, LENGTH, offset);

	if (got != want)
		printf("# got %d, want %d\n", got, want);
	ok(got == want, what);
}

static void check_kind(const struct goimage_kind *kind)
{
	struct unwind_elf elf;
	struct goimage go;
	int fd;

	goimage_fill(&go, kind);
	printf("# %s\n", kind->what);
	is_cfa(&go, 0, 8, "the first instruction: rsp+8");
	is_cfa(&go, 4, 32, "the body: rsp+8 and the frame");
	is_cfa(&go, 0x3f, 32, "  to its end");
	is_cfa(&go, 0x40, 0, "a function without values has no row");
	is_cfa(&go, (uint64_t)-1, 0, "nor has code of C");
	fd = goimage_file(&go, LENGTH);
	ok(!unwind_elf_read(&elf, fd) && elf.go_frames && !elf.go, "the file has FDEs of Go");
	unwind_elf_free(&elf);
	close(fd);
}

/* Returns true if the code at an offset of Go's code changes to another stack, by the table or by its image. */
static bool changes_stack(const struct unwind_table *table, uint64_t offset)
{
	const char *why;
	int fd = memfd_create("image", 0);
	struct unwind_table *loaded;
	bool by_image, by_table = unwind_table_changes_stack(table, BASE + START + offset);

	ok(unwind_table_save(table, fd), "saved");
	loaded = unwind_table_load(fd, &why);
	by_image = loaded && unwind_table_changes_stack(loaded, BASE + START + offset);
	ok(loaded && by_image == by_table, "the image equals the table");
	unwind_table_close(loaded);
	return by_table;
}

/* main.Sum of 0x20 bytes at 0x40 has the flag of a function that changes to another stack, and runtime.goexit behind it
 * has a frame. */
static void check_other_stack(void)
{
	enum { SP_WRITE = 2, FLAG = 41, FRAME_SHORT = 24 };
	static const char values[] = "\2\4\x30\x1c\0"; /* 0 for 4, 24 for 28 bytes */
	struct unwind_table *table;
	struct goimage go;
	const char *why;

	printf("# functions that change to another stack\n");
	goimage_fill(&go, &goimage_kinds[1]);
	memcpy(go.bytes + AT_PCLNTAB + VALUES + FRAME_SHORT, values, sizeof(values));
	for (size_t i = 1; i < FUNCTIONS; i++)
		goimage_put(&go, AT_PCLNTAB + TABLE + FUNC + FUNC_SIZE * i + 16, FRAME_SHORT, 4);
	goimage_put(&go, AT_PCLNTAB + TABLE + FUNC + FUNC_SIZE + FLAG, SP_WRITE, 1);
	table = unwind_table_open(goimage_file(&go, LENGTH), &why);
	if (!ok(table, "a table"))
		return;
	ok(!changes_stack(table, 0x3f), "the function before it does not");
	ok(changes_stack(table, 0x40) && changes_stack(table, 0x5f), "it does, to its end");
	ok(!changes_stack(table, 0x60), "the function behind it does not");
	ok(!changes_stack(table, (uint64_t)-1) && !changes_stack(table, 0x9f), "nor does code of C on both sides");
	unwind_table_close(table);
}

/* A value written to a place in the file whose table is searched, and the answer in the body of main.main. */
static const struct damage {
	size_t at, size;
	uint64_t value;
	int want;
	const char *what;
} damages[] = {
	{ AT_PCLNTAB, 4, 0xfffffffa, -1, "the layout of Go 1.16" },
	{ AT_PCLNTAB + 8, 8, 2, -1, "another number of functions than in moduledata" },
	{ AT_PCLNTAB + 24, 8, BASE, -1, "another address of the code" },
	{ AT_PCLNTAB + 24, 8, BASE + CODE + C, 32, "the same address" },
	{ AT_PCLNTAB + 64, 8, TABLE + 8, -1, "another place of the table of functions" },
	{ AT_RELA, 8, BASE, -1, "moduledata without the address of the table" },
	{ AT_RELA + 24 * 13 + 16, 8, BASE, -1, "  with another place of the table of functions" },
	{ AT_RELA + 24 * 22 + 16, 8, BASE, -1, "  with another address of the code" },
	{ AT_DATA + 16 + 8 * 14, 8, SIZE, -1, "  with a table that ends behind the section" },
	{ 0x300 + 83, 1, 'x', -1, "a program without .go.buildinfo" },
	{ AT_PCLNTAB - 64, 8, 0x0801000000000000 | 0xfffffff1, 32, "an equal start without a header in front of it" },
};

static void check_damages(void)
{
	struct goimage go;

	for (size_t i = 0; i < countof(damages); i++) {
		goimage_fill(&go, &goimage_kinds[SEARCHED]);
		goimage_put(&go, damages[i].at, damages[i].value, damages[i].size);
		is_cfa(&go, 4, damages[i].want, damages[i].what);
	}
	/* a second table, which no moduledata has */
	goimage_fill(&go, &goimage_kinds[SEARCHED]);
	memcpy(go.bytes + AT_PCLNTAB - BEFORE, go.bytes + AT_PCLNTAB, BEFORE);
	is_cfa(&go, 4, 32, "two headers: that with moduledata");
}

/* With a section of this name, but a table that cannot be used, frame pointers lead to callers. */
static void check_unknown(void)
{
	struct unwind_elf elf;
	struct goimage go;
	int fd;

	goimage_fill(&go, &goimage_kinds[0]);
	goimage_put(&go, AT_PCLNTAB, 0xfffffffa, 4);
	fd = goimage_file(&go, LENGTH);
	ok(!unwind_elf_read(&elf, fd) && !elf.go_frames && elf.go, "an unknown layout: Go's code keeps frame pointers");
	unwind_elf_free(&elf);
	close(fd);
}

/* Each byte outside of the table is changed, and the file is cut at each byte: the row is the right one, or there is
 * none. */
static void check_any_damage(void)
{
	struct goimage go;
	unsigned wrong = 0, right = 0;

	for (size_t at = 0; at < (size_t)2 * LENGTH; at++) {
		int cfa;

		if (at >= AT_PCLNTAB && at < AT_PCLNTAB + SIZE)
			continue;
		goimage_fill(&go, &goimage_kinds[SEARCHED]);
		if (at < LENGTH)
			go.bytes[at] ^= (char)(0x55 + at % 7);
		cfa = cfa_in(&go, at < LENGTH ? LENGTH : at - LENGTH, 4);
		right += cfa == 32;
		wrong += cfa != 32 && cfa > 0;
		if (cfa != 32 && cfa > 0)
			printf("# changed at %zu: %d\n", at, cfa);
	}
	is_u64(wrong, 0, "changed or cut at each byte: the right row, or none");
	ok(right > LENGTH / 2, "  and most bytes do not matter");
}

int main(void)
{
	for (size_t i = 0; i < countof(goimage_kinds); i++)
		check_kind(&goimage_kinds[i]);
	check_damages();
	check_other_stack();
	check_unknown();
	check_any_damage();
	return done();
}
