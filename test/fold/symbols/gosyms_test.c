/* Names and inlined calls of Go programs: files that are built here, of either layout, with an address of the code or
 * without it; and files of which any part is damaged. */
/* covers: fold/symbols/gosyms.c fold/symbols/gomodule.c fold/symbols/goinlines.c */
#include "fold/symbols/gosyms.h"

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/goinlines.h"
#include "test/lib/tap.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a file ----------------------------------------------------------------------------------------------------- */

enum { BASE = 0x400000, LENGTH = 0x1200, CODE = 0x400, FUNCTIONS = 3 };

/* Sections, and where they are in the file. C: 16 bytes of C in front of Go's code. */
enum { TEXT = 1, PCLNTAB, DATA, RODATA, RELA, SHSTRTAB, SECTIONS };
enum { AT_PCLNTAB = 0x600, AT_DATA = 0xa00, AT_RELA = 0xc00, AT_RODATA = 0x1100, C = 16 };

/* Parts of .gopclntab, by offset. */
enum { NAMES = 72, UNITS = 152, FILES = 156, VALUES = 160, TABLE = 200, FUNC = 28, FUNC_SIZE = 80, SIZE = TABLE + 400 };

/* Names, by offset in their table. */
enum { MAIN = 0, SUM = 10, EXIT = 24, A = 39, B = 46 };
static const char strings[] = "main.main\0main.Sum[...]\0runtime.goexit\0main.a\0main.b";

struct go {
	bool since_20, since_26;
	bool relocated; /* moduledata by relocations, no address of the code in the header */
	bool searched;  /* the table is in .data.rel.ro, and the section starts before it */
	char bytes[LENGTH];
};

static const struct kind {
	const char *what;
	bool since_20, since_26, relocated, searched;
} kinds[] = {
	{ .what = "Go 1.18" },
	{ .what = "Go 1.20", .since_20 = true },
	{ .what = "Go 1.26", .since_20 = true, .since_26 = true },
	{ .what = "Go 1.18, moduledata by relocations", .relocated = true },
	{ .what = "Go 1.20, moduledata by relocations", .since_20 = true, .relocated = true },
	{ .what = "Go 1.20, the table in .data.rel.ro", .since_20 = true, .relocated = true, .searched = true },
};

static void put_at(struct go *go, size_t at, uint64_t value, size_t size)
{
	memcpy(go->bytes + at, &value, size);
}

/* The table of functions: main.main of 0x40 bytes, main.Sum[...] and runtime.goexit of 0x20. In main.main, main.a is
 * inlined at 8 to 0x18, and main.b in that at 0xc to 0x10. */
static void put_table(struct go *go)
{
	static const unsigned start[] = { 0, 0x40, 0x60, 0x80 }, name[] = { MAIN, SUM, EXIT };
	/* -1 for 8, 0 for 4, 1 for 4, 0 for 8, -1 for 40 bytes */
	static const char values[] = "\0\0\x08\2\4\2\4\1\x08\1\x28\0";
	unsigned offsets = go->since_20 ? 44 : 40;

	memcpy(go->bytes + AT_PCLNTAB + NAMES, strings, sizeof(strings));
	memcpy(go->bytes + AT_PCLNTAB + VALUES, values, sizeof(values));
	for (size_t i = 0; i <= FUNCTIONS; i++)
		put_at(go, AT_PCLNTAB + TABLE + 8 * i, start[i], 4);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		size_t func = AT_PCLNTAB + TABLE + FUNC + FUNC_SIZE * i;

		put_at(go, AT_PCLNTAB + TABLE + 8 * i + 4, FUNC + FUNC_SIZE * i, 4);
		put_at(go, func, start[i], 4);
		put_at(go, func + 4, name[i], 4);
		put_at(go, func + 28, 3, 4);
		put_at(go, func + offsets - 1, 4, 1);
		put_at(go, func + offsets + 8, i == 0, 4);
		memset(go->bytes + func + offsets + 12, 0xff, 12);
		put_at(go, func + offsets + 24, i == 0 ? 8 : UINT32_MAX, 4);
	}
}

/* The offset of go.func.* in the file: read-only data, since Go 1.26 the table. */
static size_t gofunc_of(const struct go *go)
{
	return go->since_26 ? AT_PCLNTAB + TABLE + 300 : AT_RODATA;
}

/* The tree of main.main, at go.func.*+8: main.a, whose position is in main.main, and main.b, in main.a. */
static void put_tree(struct go *go)
{
	size_t at = gofunc_of(go) + 8, size = go->since_20 ? 16 : 20, name = go->since_20 ? 4 : 12;

	put_at(go, at + name, A, 4);
	put_at(go, at + name + 4, 4, 4);
	put_at(go, at + size + name, B, 4);
	put_at(go, at + size + name + 4, 8, 4);
}

/* A word of the module, in place or as a relocation. */
static void put_word(struct go *go, size_t i, uint64_t value)
{
	if (!go->relocated || value < BASE) {
		put_at(go, AT_DATA + 16 + 8 * i, value, 8);
		return;
	}
	put_at(go, AT_RELA + 24 * i, BASE + AT_DATA + 16 + 8 * i, 8);
	put_at(go, AT_RELA + 24 * i + 8, 8, 8);
	put_at(go, AT_RELA + 24 * i + 16, value, 8);
}

static void put_module(struct go *go)
{
	static const unsigned part[] = { NAMES, UNITS, FILES, VALUES, TABLE, TABLE };
	static const unsigned length[] = { UNITS - NAMES,  FILES - UNITS, VALUES - FILES,
					   TABLE - VALUES, SIZE - TABLE,  FUNCTIONS + 1 };
	size_t gofunc = go->since_20 ? 40 : 38;

	put_word(go, 0, BASE + AT_PCLNTAB);
	for (size_t i = 0; i < countof(part); i++) {
		put_word(go, 1 + 3 * i, BASE + AT_PCLNTAB + part[i]);
		put_word(go, 2 + 3 * i, length[i]);
		put_word(go, 3 + 3 * i, length[i]);
	}
	put_word(go, 20, BASE + CODE + C);
	put_word(go, 21, BASE + CODE + C + 0x80);
	put_word(go, 22, BASE + CODE + C);
	put_word(go, 23, BASE + CODE + C + 0x80);
	put_word(go, gofunc - 1, BASE);
	put_word(go, gofunc, BASE + gofunc_of(go));
	if (go->since_26)
		put_word(go, ++gofunc, BASE + AT_PCLNTAB + SIZE);
	put_word(go, gofunc + 1, BASE + AT_RODATA);
	put_word(go, gofunc + 2, 1);
	put_word(go, gofunc + 3, 1);
}

static void put_section(struct go *go, size_t i, uint32_t name, uint32_t type, uint64_t flags, uint64_t at, uint64_t n)
{
	Elf64_Shdr section = { name, type, flags, flags & SHF_ALLOC ? BASE + at : 0, at, n, 0, 0, 8, 0 };

	memcpy(go->bytes + 0x100 + i * sizeof(section), &section, sizeof(section));
}

static void put_headers(struct go *go)
{
	static const char names[] = "\0.text\0.data.rel.ro.gopclntab\0.noptrdata\0.rodata\0.rela.dyn\0.shstrtab\0"
				    ".data.rel.ro\0.go.buildinfo";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_entry = BASE + CODE,
			      .e_phoff = sizeof(header),
			      .e_shoff = 0x100,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = SECTIONS,
			      .e_shstrndx = SHSTRTAB };
	Elf64_Phdr segment = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE, .p_filesz = LENGTH, .p_memsz = LENGTH
	};

	memcpy(go->bytes, &header, sizeof(header));
	memcpy(go->bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(go->bytes + 0x300, names, sizeof(names));
	put_section(go, TEXT, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, 0x100);
	if (go->searched)
		put_section(go, PCLNTAB, 69, SHT_PROGBITS, SHF_ALLOC, AT_PCLNTAB - 64, SIZE + 64);
	else
		put_section(go, PCLNTAB, go->relocated ? 7 : 19, SHT_PROGBITS, SHF_ALLOC, AT_PCLNTAB, SIZE);
	put_section(go, DATA, 30, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, AT_DATA, 0x200);
	put_section(go, RODATA, go->searched ? 82 : 41, SHT_PROGBITS, SHF_ALLOC, AT_RODATA, 0x80);
	put_section(go, RELA, 49, go->relocated ? SHT_RELA : SHT_NOTE, SHF_ALLOC, AT_RELA, AT_RODATA - AT_RELA);
	put_section(go, SHSTRTAB, 59, SHT_STRTAB, 0, 0x300, sizeof(names));
}

static void fill(struct go *go, const struct kind *kind)
{
	static const unsigned part[] = { NAMES, UNITS, FILES, VALUES, TABLE };

	*go = (struct go){ .since_20 = kind->since_20,
			   .since_26 = kind->since_26,
			   .relocated = kind->relocated,
			   .searched = kind->searched };
	put_headers(go);
	put_at(go, AT_PCLNTAB, kind->since_20 ? 0xfffffff1 : 0xfffffff0, 4);
	put_at(go, AT_PCLNTAB + 6, 1, 1);
	put_at(go, AT_PCLNTAB + 7, 8, 1);
	put_at(go, AT_PCLNTAB + 8, FUNCTIONS, 8);
	put_at(go, AT_PCLNTAB + 24, kind->relocated ? 0 : BASE + CODE + C, 8);
	for (size_t i = 0; i < countof(part); i++)
		put_at(go, AT_PCLNTAB + 32 + 8 * i, part[i], 8);
	put_table(go);
	put_tree(go);
	put_module(go);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* Returns a file in memory with the first n bytes. */
static int file_of(const struct go *go, size_t n)
{
	int fd = memfd_create("go", MFD_CLOEXEC);

	if (fd < 0 || write(fd, go->bytes, n) != (ssize_t)n)
		exit(1);
	return fd;
}

/* Returns "NAME+0xOFFSET|OUTER|INNER" of a file offset, as elfsyms finds them, "-" without a name. */
static const char *answer_of(const struct go *go, size_t n, uint64_t at, struct elfsyms_options options)
{
	static char out[400];
	struct symbols_query query = { .address = at };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *elfsyms = elfsyms_open(file_of(go, n), &options, &why);
	int used = snprintf(out, sizeof(out), "-");

	if (!elfsyms)
		return "no file";
	elfsyms_resolve(elfsyms, elfsyms, &query, 1, &names);
	elfsyms_go_inlines(elfsyms, &query, 1, &names);
	if (query.name)
		used = snprintf(out, sizeof(out), "%.*s+0x%x", (int)intern_str(&names, query.name).n,
				intern_str(&names, query.name).p, query.offset);
	for (struct str list = query.inlined ? intern_str(&names, query.inlined) : (struct str){ 0 }; list.n;) {
		struct str call = str_cut(&list, 0);

		used += snprintf(out + used, sizeof(out) - (size_t)used, "|%.*s", (int)call.n, call.p);
	}
	elfsyms_close(elfsyms);
	intern_free(&names);
	return out;
}

/* Checks the answer at an offset of Go's code. */
static void is_answer(const struct go *go, uint64_t offset, const char *want, const char *what)
{
	is_str(str_of(answer_of(go, LENGTH, CODE + C + offset, (struct elfsyms_options){ 0 })), str_of(want), what);
}

/* Asks for offsets around Go's code in one call, of code of C, too. */
static void check_all_at_once(const struct go *go)
{
	struct symbols_query query[0x100] = { 0 };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *elfsyms = elfsyms_open(file_of(go, LENGTH), &(struct elfsyms_options){ 0 }, &why);
	size_t inlined = 0, named;

	for (size_t i = 0; i < countof(query); i++)
		query[i].address = CODE + i;
	named = elfsyms_resolve(elfsyms, elfsyms, query, countof(query), &names);
	is_u64(named, 0x80, "all at once: each address of Go's code has a name, and no other");
	elfsyms_go_inlines(elfsyms, query, countof(query), &names);
	for (size_t i = 0; i < countof(query); i++)
		inlined += query[i].inlined != 0;
	is_u64(inlined, 0x10, "  and those of the inlined call have it");
	elfsyms_close(elfsyms);
	intern_free(&names);
}

static void check_answers(const struct kind *kind)
{
	struct go go;

	fill(&go, kind);
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
	{ AT_PCLNTAB + TABLE + 4, 4, SIZE, "-", "a struct behind the section" },
	{ AT_PCLNTAB + TABLE + 4, 4, UINT32_MAX, "-", "a struct far behind it" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, UNITS - NAMES, "-|main.a|main.b", "a name behind the names" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, UINT32_MAX, "-|main.a|main.b", "a name far behind them" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, MAIN + 2, "-|main.a|main.b", "a name that starts inside of another" },
	{ AT_PCLNTAB + TABLE + FUNC + 4, 4, B + 7, "-|main.a|main.b", "an empty name" },
	{ AT_PCLNTAB + TABLE + FUNC + 28, 4, 2, "main.main+0xc", "fewer tables of pctab" },
	{ AT_PCLNTAB + TABLE + FUNC + 28, 4, UINT32_MAX, "main.main+0xc", "more than the section has" },
	{ AT_PCLNTAB + TABLE + FUNC + 39, 1, 3, "main.main+0xc", "fewer data" },
	{ AT_PCLNTAB + TABLE + FUNC + 48, 4, 0, "main.main+0xc", "no table of inlined calls" },
	{ AT_PCLNTAB + TABLE + FUNC + 48, 4, 0x7fffffff, "main.main+0xc", "a table behind the section" },
	{ AT_PCLNTAB + TABLE + FUNC + 64, 4, UINT32_MAX, "main.main+0xc", "no tree" },
	{ AT_PCLNTAB + TABLE + FUNC + 64, 4, LENGTH, "main.main+0xc", "a tree behind the file" },
	{ AT_PCLNTAB + VALUES + 1, 1, 3, "main.main+0xc", "an index below -1" },
	{ AT_PCLNTAB + VALUES + 2, 1, 0, "main.main+0xc", "a span of no bytes" },
	{ AT_PCLNTAB + VALUES + 2, 1, 0x7f, "main.main+0xc", "a span behind the function" },
	{ AT_PCLNTAB + VALUES + 1, 8, UINT64_MAX, "main.main+0xc", "numbers without end" },
	{ AT_PCLNTAB + VALUES, 8, UINT64_MAX, "main.main+0xc", "changes without end" },
	{ AT_PCLNTAB + VALUES + 5, 1, 0x7e, "main.main+0xc", "an index behind the tree" },
	{ AT_RODATA + 8 + 20 + 12, 4, A + 1, "main.main+0xc", "an inlined call whose name starts inside of another" },
	{ AT_RODATA + 8 + 20 + 12, 4, UINT32_MAX, "main.main+0xc", "one whose name is behind the names" },
	{ AT_RODATA + 8 + 20 + 16, 4, 12, "main.main+0xc", "one that contains itself" },
	{ AT_RODATA + 8 + 16, 4, 12, "main.main+0xc", "two that contain each other" },
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
	struct go go;

	for (size_t i = 0; i < countof(damages); i++) {
		fill(&go, &kinds[0]);
		put_at(&go, damages[i].at, damages[i].value, damages[i].size);
		is_answer(&go, 0xc, damages[i].want, damages[i].what);
	}
}

/* Without the address of the code and without moduledata, .text is the code if _rt0_... starts at the first instruction
 * of the program. */
static void check_without_address(void)
{
	struct go go;

	fill(&go, &kinds[0]);
	put_at(&go, AT_PCLNTAB + 24, 0, 8);
	is_answer(&go, 0xc, "main.main+0xc|main.a|main.b", "the address of the code in moduledata");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, "mai\xc2\xb7main", 9);
	is_answer(&go, 0, "mai.main+0x0", "a middle dot in a name");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, strings, 10);
	put_at(&go, AT_DATA + 16, 0, 8);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("-"),
	       "without moduledata: nothing, if another function is where the program begins");
	memcpy(go.bytes + AT_PCLNTAB + NAMES, "_rt0_main", 10);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("_rt0_main+0x4"),
	       "  .text, if it is Go's");
	put_at(&go, offsetof(Elf64_Ehdr, e_entry), BASE + CODE + 1, 8);
	is_str(str_of(answer_of(&go, LENGTH, CODE + 4, (struct elfsyms_options){ 0 })), STR("-"),
	       "  unless the program begins inside of a function");
}

/* Each byte of the file is changed, and the file is cut at each byte: names are those of the table, or none. */
static void check_any_damage(void)
{
	static const char *const known[] = { "-", "main.main", "main.Sum[...]", "runtime.goexit", "no file" };
	struct go go;
	unsigned unknown = 0;

	for (size_t at = 0; at < (size_t)2 * LENGTH; at++) {
		const char *answer;
		size_t k = 0;

		fill(&go, &kinds[at % countof(kinds)]);
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
	struct go go;
	char path[4096];
	FILE *file;

	for (size_t i = 0; i < countof(kinds); i++) {
		fill(&go, &kinds[i]);
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
	for (size_t i = 0; i < countof(kinds); i++)
		check_answers(&kinds[i]);
	check_damaged();
	check_without_address();
	check_any_damage();
	return done();
}
