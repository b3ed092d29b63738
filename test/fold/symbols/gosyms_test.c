/* Names and inlined calls of Go programs: files that are built here, of either layout, with an address of the code or
 * without it; and files of which any part is damaged. */
/* covers: common/formats/gotable.c common/formats/gomodule.c fold/symbols/gosyms.c fold/symbols/goinlines.c */
#include "fold/symbols/gosyms.h"

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/goinlines.h"
#include "test/lib/goimage.h"
#include "test/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* Returns "NAME+0xOFFSET|OUTER|INNER!REASON" of a file offset, as elfsyms finds them, "-" without a name. */
static const char *answer_of(const struct goimage *go, size_t n, uint64_t at, struct elfsyms_options options)
{
	static char out[400];
	struct symbols_query query = { .address = at };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *elfsyms = elfsyms_open(goimage_file(go, n), &options, &why);
	int used = snprintf(out, sizeof(out), "-");

	if (!elfsyms)
		return "no file";
	elfsyms_resolve(elfsyms, elfsyms, &query, 1, &names);
	why = NULL;
	elfsyms_go_inlines(elfsyms, &query, 1, &names, &why);
	if (query.name)
		used = snprintf(out, sizeof(out), "%.*s+0x%x", (int)intern_str(&names, query.name).n,
				intern_str(&names, query.name).p, query.offset);
	for (struct str list = query.inlined ? intern_str(&names, query.inlined) : (struct str){ 0 }; list.n;) {
		struct str call = str_cut(&list, 0);

		used += snprintf(out + used, sizeof(out) - (size_t)used, "|%.*s", (int)call.n, call.p);
	}
	if (why)
		snprintf(out + used, sizeof(out) - (size_t)used, "!%s", why);
	elfsyms_close(elfsyms);
	intern_free(&names);
	return out;
}

/* Checks the answer at an offset of Go's code. */
static void is_answer(const struct goimage *go, uint64_t offset, const char *want, const char *what)
{
	is_str(str_of(answer_of(go, LENGTH, CODE + C + offset, (struct elfsyms_options){ 0 })), str_of(want), what);
}

/* Asks for offsets around Go's code in one call, of code of C, too. */
static void check_all_at_once(const struct goimage *go)
{
	struct symbols_query query[0x100] = { 0 };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *elfsyms = elfsyms_open(goimage_file(go, LENGTH), &(struct elfsyms_options){ 0 }, &why);
	size_t inlined = 0, named;

	for (size_t i = 0; i < countof(query); i++)
		query[i].address = CODE + i;
	named = elfsyms_resolve(elfsyms, elfsyms, query, countof(query), &names);
	is_u64(named, 0x80, "all at once: each address of Go's code has a name, and no other");
	elfsyms_go_inlines(elfsyms, query, countof(query), &names, &why);
	for (size_t i = 0; i < countof(query); i++)
		inlined += query[i].inlined != 0;
	is_u64(inlined, 0x10, "  and those of the inlined call have it");
	elfsyms_close(elfsyms);
	intern_free(&names);
}

static void check_answers(const struct goimage_kind *kind)
{
	struct goimage go;

	goimage_fill(&go, kind);
	printf("# %s\n", kind->what);
	is_answer(&go, (uint64_t)-1, "-", "C before Go's code");
	is_answer(&go, 0, "main.main+0x0", "the first instruction of a function");
	is_answer(&go, 7, "main.main+0x7", "the last before an inlined call");
	is_answer(&go, 8, "main.main+0x8|main.a", "an inlined call");
	is_answer(&go, 0xc, "main.main+0xc|main.a|main.b", "an inlined call in an inlined call");
	is_answer(&go, 0xf, "main.main+0xf|main.a|main.b", "  to its end");
	is_answer(&go, 0x10, "main.main+0x10|main.a", "  and after it");
	is_answer(&go, 0x18, "main.main+0x18", "after the inlined call");
	is_answer(&go, 0x3f, "main.main+0x3f", "the last instruction");
	is_answer(&go, 0x40, "main.Sum[...]+0x0", "the next function");
	is_answer(&go, 0x7f, "runtime.goexit+0x1f", "the last function");
	is_answer(&go, 0x80, "-", "C after Go's code");
	is_str(str_of(answer_of(&go, LENGTH, CODE + C, (struct elfsyms_options){ .as_perf = true })), STR("-"),
	       "perf does not use the table");
	check_all_at_once(&go);
}

/* ---- other and damaged files ------------------------------------------------------------------------------------ */

#define DAMAGED "!table of inlined calls is damaged, or beyond a limit"

/* A value written to a place in the file, and the answer at main.main+0xc after that. */
static const struct damage {
	size_t at, size;
	uint64_t value;
	const char *want, *what;
} damages[] = {
	{ AT_PCLNTAB, 4, 0xfffffffa, "-", "the layout of Go 1.16" },
	{ AT_PCLNTAB, 4, 0xfffffffb, "-", "the layout of Go 1.2" },
	{ AT_PCLNTAB + 4, 1, 1, "-", "bytes that must be zero" },
	{ AT_PCLNTAB + 6, 1, 0, "-", "instructions of no size" },
	{ AT_PCLNTAB + 6, 1, 8, "-", "instructions of 8 bytes" },
	{ AT_PCLNTAB + 7, 1, 4, "-", "pointers of 4 bytes" },
	{ AT_PCLNTAB + 8, 8, 0, "-", "no functions" },
	{ AT_PCLNTAB + 8, 8, 50, "-", "more functions than the section has space for" },
	{ AT_PCLNTAB + 8, 8, UINT64_MAX, "-", "far more functions" },
	{ AT_PCLNTAB + 8, 8, 2, "main.main+0xc", "another number of functions than in moduledata" },
	{ AT_PCLNTAB + 24, 8, BASE + CODE + C - 4, "main.main+0x10", "another address than in moduledata" },
	{ AT_PCLNTAB + 32, 8, 8, "-", "names in the header" },
	{ AT_PCLNTAB + 32, 8, VALUES, "-", "names behind their end" },
	{ AT_PCLNTAB + 40, 8, NAMES + 4, "-", "names that end too early" },
	{ AT_PCLNTAB + 56, 8, TABLE + 1, "-", "pctab behind the table of functions" },
	{ AT_PCLNTAB + 64, 8, SIZE, "-", "a table of functions behind the section" },
	{ AT_PCLNTAB + TABLE, 4, 0x20, "-", "a function that starts later" },
	{ AT_PCLNTAB + TABLE + 4, 4, SIZE, "-" DAMAGED, "a struct behind the section" },
	{ AT_PCLNTAB + TABLE + 4, 4, UINT32_MAX, "-" DAMAGED, "a struct far behind it" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, UNITS - NAMES, "-|main.a|main.b", "a name behind the names" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, UINT32_MAX, "-|main.a|main.b", "a name far behind them" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, MAIN + 2, "-|main.a|main.b", "a name that starts inside of another" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, B + 7, "-|main.a|main.b", "an empty name" },
	{ AT_PCLNTAB + TABLE + FUNC + 28, 4, 2, "main.main+0xc", "fewer tables of pctab" },
	{ AT_PCLNTAB + TABLE + FUNC + 28, 4, UINT32_MAX, "main.main+0xc" DAMAGED, "more than the section has" },
	{ AT_PCLNTAB + TABLE + FUNC + 39, 1, 3, "main.main+0xc", "fewer data" },
	{ AT_PCLNTAB + TABLE + FUNC + 48, 4, 0, "main.main+0xc", "no table of inlined calls" },
	{ AT_PCLNTAB + TABLE + FUNC + 48, 4, 0x7fffffff, "main.main+0xc" DAMAGED, "a table behind the section" },
	{ AT_PCLNTAB + TABLE + FUNC + 64, 4, UINT32_MAX, "main.main+0xc", "no tree" },
	{ AT_PCLNTAB + TABLE + FUNC + 64, 4, LENGTH, "main.main+0xc" DAMAGED, "a tree behind the file" },
	{ AT_PCLNTAB + VALUES + 1, 1, 3, "main.main+0xc" DAMAGED, "an index below -1" },
	{ AT_PCLNTAB + VALUES + 2, 1, 0, "main.main+0xc" DAMAGED, "a span of no bytes" },
	{ AT_PCLNTAB + VALUES + 2, 1, 0x7f, "main.main+0xc" DAMAGED, "a span behind the function" },
	{ AT_PCLNTAB + VALUES + 1, 8, UINT64_MAX, "main.main+0xc" DAMAGED, "numbers without end" },
	{ AT_PCLNTAB + VALUES, 8, UINT64_MAX, "main.main+0xc" DAMAGED, "changes without end" },
	{ AT_PCLNTAB + VALUES + 5, 1, 0x7e, "main.main+0xc" DAMAGED, "an index behind the tree" },
	{ AT_RODATA + 8 + 20 + 12, 4, A + 1, "main.main+0xc" DAMAGED,
	  "an inlined call whose name starts inside of another" },
	{ AT_RODATA + 8 + 20 + 12, 4, UINT32_MAX, "main.main+0xc" DAMAGED, "one whose name is behind the names" },
	{ AT_RODATA + 8 + 20 + 16, 4, 12, "main.main+0xc" DAMAGED, "one that contains itself" },
	{ AT_RODATA + 8 + 16, 4, 12, "main.main+0xc" DAMAGED, "two that contain each other" },
	{ AT_RODATA + 8 + 20 + 16, 4, 0x3f, "main.main+0xc|main.b", "one that is called from the function" },
	{ AT_RODATA + 8 + 20 + 16, 4, UINT32_MAX, "main.main+0xc|main.b", "  or from no place in it" },
	{ AT_DATA + 16, 8, 0, "main.main+0xc", "no moduledata" },
	{ AT_DATA + 16 + 8 * 2, 8, UNITS, "main.main+0xc", "moduledata with another length of names" },
	{ AT_DATA + 16 + 8 * 13, 8, BASE, "main.main+0xc", "  with another place of the table" },
	{ AT_DATA + 16 + 8 * 20, 8, BASE, "main.main+0xc", "  with another first function" },
	{ AT_DATA + 16 + 8 * 22, 8, BASE, "main.main+0xc", "  with another address of the code" },
	{ AT_DATA + 16 + 8 * 23, 8, 0, "main.main+0xc", "  with another end of the code" },
	{ AT_DATA + 16 + 8 * 38, 8, BASE + LENGTH, "main.main+0xc", "  with go.func.* behind the file" },
	{ AT_DATA + 16 + 8 * 40, 8, 0, "main.main+0xc", "  without sections of code" },
	{ AT_DATA + 8, 8, BASE + AT_PCLNTAB, "main.main+0xc|main.a|main.b", "an equal word before moduledata" },
};

static void check_damaged(void)
{
	struct goimage go;

	for (size_t i = 0; i < countof(damages); i++) {
		goimage_fill(&go, &goimage_kinds[0]);
		goimage_put(&go, damages[i].at, damages[i].value, damages[i].size);
		is_answer(&go, 0xc, damages[i].want, damages[i].what);
	}
}

/* Without the address of the code and without moduledata, .text is the code if _rt0_... starts at the first instruction
 * of the program. */
static void check_without_address(void)
{
	struct goimage go;

	goimage_fill(&go, &goimage_kinds[0]);
	goimage_put(&go, AT_PCLNTAB + 24, 0, 8);
	is_answer(&go, 0xc, "main.main+0xc|main.a|main.b", "the address of the code in moduledata");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, "mai\xc2\xb7main", 9);
	is_answer(&go, 0, "mai.main+0x0", "a middle dot in a name");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, strings, 10);
	goimage_put(&go, AT_DATA + 16, 0, 8);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("-"),
	       "without moduledata: nothing, if another function is where the program begins");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, "_rt0_main", 10);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("_rt0_main+0x4"),
	       "  .text, if it is Go's");
	goimage_put(&go, offsetof(Elf64_Ehdr, e_entry), BASE + CODE + 1, 8);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("-"),
	       "  unless the program begins inside of a function");
}

/* Each byte of the file is changed, and the file is cut at each byte: names are those of the table, or none. */
static void check_any_damage(void)
{
	static const char *const known[] = { "-", "main.main", "main.Sum[...]", "runtime.goexit", "no file" };
	struct goimage go;
	unsigned unknown = 0;

	for (size_t at = 0; at < (size_t)2 * LENGTH; at++) {
		const char *answer;
		size_t k = 0;

		goimage_fill(&go, &goimage_kinds[at % countof(goimage_kinds)]);
		if (at < LENGTH)
			go.bytes[at] ^= (char)(0x55 + at % 7);
		answer = answer_of(&go, at < LENGTH ? LENGTH : at - LENGTH, CODE + C + 0xc,
				   (struct elfsyms_options){ 0 });
		while (k < countof(known) && !str_starts(str_of(answer), str_of(known[k])))
			k++;
		if (k == countof(known) && (at < AT_PCLNTAB + NAMES || at >= AT_PCLNTAB + UNITS)) {
			printf("# changed at %zu: %s\n", at, answer);
			unknown++;
		}
	}
	is_u64(unknown, 0, "changed or cut at each byte: names of the table, or none");
}

/* Writes the files into a folder, as a corpus for test/fuzz/fold/gosyms_fuzz.c. */
static int write_files(const char *folder)
{
	struct goimage go;
	char path[4096];
	FILE *file;

	for (size_t i = 0; i < countof(goimage_kinds); i++) {
		goimage_fill(&go, &goimage_kinds[i]);
		snprintf(path, sizeof(path), "%s/kind-%zu", folder, i);
		file = fopen(path, "w");
		if (!file || fwrite(go.bytes, 1, LENGTH, file) != LENGTH || fclose(file) != 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return write_files(argv[1]);
	for (size_t i = 0; i < countof(goimage_kinds); i++)
		check_answers(&goimage_kinds[i]);
	check_damaged();
	check_without_address();
	check_any_damage();
	return done();
}
