/* Names in ELF files: rules one by one, on files that are built here; and files of which any part is wrong. */
/* covers: fold/symbols/elfsyms.c fold/symbols/symtab.c fold/symbols/demangle.c fold/symbols/elffile.c */
#include "fold/symbols/elfsyms.h"

#include "common/formats/buildid.h"
#include "common/arena.h"
#include "test/lib/tap.h"
#include "common/text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a file ----------------------------------------------------------------------------------------------------- */

enum { TEXT = 1, SYMTAB, STRTAB, SHSTRTAB, NOTE, SECTIONS };

#define BASE 0x400000 /* address of the first byte of the file */
#define CODE 0x1000   /* place of .text */
#define LENGTH 0x4000

struct row {
	const char *name;
	uint64_t at, size; /* place */
	unsigned bind, type;
};

static size_t put(struct text *text, const void *p, size_t n)
{
	size_t at;

	while (text->n % 8)
		text_char(text, 0);
	at = text->n;
	text_bytes(text, p, n);
	return at;
}

static struct text build(const struct row *row, size_t n)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id";
	static const uint32_t note[] = { 4, 4, NT_GNU_BUILD_ID, 0x00554e47, 0x04030201 };
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = SECTIONS,
			 .e_shstrndx = SHSTRTAB };
	Elf64_Phdr p = { .p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_vaddr = BASE,
			 .p_filesz = CODE + LENGTH,
			 .p_memsz = CODE + LENGTH };
	Elf64_Shdr s[SECTIONS] = { 0 };
	Elf64_Sym sym = { 0 };
	struct text out = { 0 }, strings = { 0 }, table = { 0 };

	text_char(&strings, 0);
	text_bytes(&table, &sym, sizeof(sym));
	for (size_t i = 0; i < n; i++) {
		sym = (Elf64_Sym){ (uint32_t)strings.n, (uint8_t)ELF64_ST_INFO(row[i].bind, row[i].type),
				   STV_DEFAULT,         TEXT,
				   BASE + row[i].at,    row[i].size };
		text_bytes(&table, &sym, sizeof(sym));
		text_bytes(&strings, row[i].name, strlen(row[i].name) + 1);
	}
	put(&out, &h, sizeof(h));
	put(&out, &p, sizeof(p));
	s[TEXT] = (Elf64_Shdr){ 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, BASE + CODE, CODE, LENGTH, 0, 0, 16, 0 };
	s[SYMTAB] =
		(Elf64_Shdr){ 7, SHT_SYMTAB, 0, 0, put(&out, table.p, table.n), table.n, STRTAB, 1, 8, sizeof(sym) };
	s[STRTAB] = (Elf64_Shdr){ 15, SHT_STRTAB, 0, 0, put(&out, strings.p, strings.n), strings.n, 0, 0, 1, 0 };
	s[SHSTRTAB] = (Elf64_Shdr){ 23, SHT_STRTAB, 0, 0, put(&out, names, sizeof(names)), sizeof(names), 0, 0, 1, 0 };
	s[NOTE] = (Elf64_Shdr){ 33, SHT_NOTE, SHF_ALLOC, 0, put(&out, note, sizeof(note)), sizeof(note), 0, 0, 4, 0 };
	h.e_shoff = put(&out, s, sizeof(s));
	memcpy(out.p, &h, sizeof(h));
	text_free(&strings);
	text_free(&table);
	return out;
}

static int file_of(struct str bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)
		exit(1);
	return fd;
}

/* "name+0xoff" at a place, or "-". */
static const char *name_at(int fd, uint64_t place, struct elfsyms_options options)
{
	static char out[300];
	struct symbols_query q = { .address = place };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *e = elfsyms_open(dup(fd), &options, &why);

	snprintf(out, sizeof(out), "-");
	if (!e)
		return why;
	elfsyms_resolve(e, e, &q, 1, &names);
	if (q.name)
		snprintf(out, sizeof(out), "%.*s+0x%x", (int)intern_str(&names, q.name).n, intern_str(&names, q.name).p,
			 q.offset);
	elfsyms_close(e);
	intern_free(&names);
	return out;
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

#define G STB_GLOBAL
#define W STB_WEAK
#define L STB_LOCAL
#define F STT_FUNC
#define N STT_NOTYPE

static const struct row rows[] = {
	{ "plain", 0x1000, 0x10, G, F },
	{ "weak_one", 0x1100, 0x10, W, F },
	{ "strong", 0x1100, 0x10, G, F },
	{ "local_of_them", 0x1200, 0x10, L, F },
	{ "global", 0x1200, 0x10, G, F },
	{ "__underscored", 0x1300, 0x10, G, F },
	{ "none", 0x1300, 0x10, G, F },
	{ "short", 0x1400, 0x10, G, F },
	{ "longer_name", 0x1400, 0x10, G, F },
	{ "first", 0x1500, 0x10, G, F },
	{ "later", 0x1500, 0x10, G, F },
	{ "unsized", 0x1600, 0, G, F },
	{ "sized", 0x1600, 0x10, L, F },
	{ "sized2", 0x1700, 0x10, L, F },
	{ "unsized_last", 0x1700, 0, G, F },
	{ "after", 0x1800, 0x10, G, F },
	/* demangled names are compared: f has no underscore, and ns::g is shorter than its mangled form */
	{ "_Z1fv", 0x1900, 0x10, G, F },
	{ "_ff", 0x1900, 0x10, G, F },
	{ "_ZN2ns1gEv", 0x1a00, 0x10, G, F },
	{ "a_longer", 0x1a00, 0x10, G, F },
	{ "outer", 0x1b00, 0x100, G, F },
	{ "inner", 0x1b40, 0x10, G, F },
	/* the weak one is large, but loses; what it alone would cover is not covered */
	{ "weak_large", 0x1d00, 0x100, W, F },
	{ "small", 0x1d00, 0x10, G, F },
	{ "label", 0x1f00, 0, G, N },
	{ "object", 0x1f80, 0x10, G, STT_OBJECT },
	{ "tls", 0x1fa0, 0x10, G, STT_TLS },
	{ "indirect", 0x2000, 0x10, G, STT_GNU_IFUNC },
	{ "last", 0x3010, 0, G, F },
};

static const struct {
	const char *what;
	uint64_t at;
	const char *want;
} cases[] = {
	{ "before all", 0xfff, "-" },
	{ "first byte", 0x1000, "plain+0x0" },
	{ "last byte", 0x100f, "plain+0xf" },
	{ "behind", 0x1010, "-" },
	{ "weak loses", 0x1104, "strong+0x4" },
	{ "local loses", 0x1204, "global+0x4" },
	{ "underscores lose", 0x1304, "none+0x4" },
	{ "longer wins", 0x1404, "longer_name+0x4" },
	{ "else the first", 0x1504, "first+0x4" },
	{ "without size loses", 0x1604, "sized+0x4" },
	{ "without size, last of its place: reaches to the next", 0x17f0, "unsized_last+0xf0" },
	{ "demangled names have no underscores", 0x1904, "f+0x4" },
	{ "demangled names are measured", 0x1a04, "a_longer+0x4" },
	{ "outer, before inner", 0x1b3f, "outer+0x3f" },
	{ "inner", 0x1b41, "inner+0x1" },
	{ "outer, behind inner", 0x1b60, "outer+0x60" },
	{ "an alias that lost covers nothing", 0x1d80, "-" },
	{ "label", 0x1f10, "label+0x10" },
	{ "object", 0x1f85, "object+0x5" },
	{ "no object of threads", 0x1fa5, "-" },
	{ "indirect function", 0x2004, "indirect+0x4" },
	{ "the last one has its page and one more", 0x4fff, "last+0x1fef" },
	{ "no further", 0x5000, "-" },
};

static void is_text(const char *got, const char *want, const char *what)
{
	is_str(str_of(got), str_of(want), what);
}

static void rules(void)
{
	struct text t = build(rows, countof(rows));
	struct symbols_query q[countof(cases)] = { 0 };
	struct intern names = { 0 };
	int fd = file_of(text_view(&t));
	const char *why = NULL;
	struct elfsyms *e = elfsyms_open(dup(fd), &(struct elfsyms_options){ 0 }, &why);

	for (size_t i = 0; i < countof(cases); i++)
		is_text(name_at(fd, cases[i].at, (struct elfsyms_options){ 0 }), cases[i].want, cases[i].what);
	is_text(name_at(fd, 0x1904, (struct elfsyms_options){ .mangled = true }), "_Z1fv+0x4", "mangled, on request");
	for (size_t i = 0; i < countof(cases); i++)
		q[i].address = cases[i].at;
	elfsyms_resolve(e, e, q, countof(cases), &names);
	for (size_t i = 0; i < countof(cases); i++) {
		char got[100] = "-";

		if (q[i].name)
			snprintf(got, sizeof(got), "%.*s+0x%x", (int)intern_str(&names, q[i].name).n,
				 intern_str(&names, q[i].name).p, q[i].offset);
		is_text(got, cases[i].want, "all at once");
	}
	ok(elfsyms_build_id(e).n == 4 && elfsyms_build_id(e).byte[3] == 4, "build-id");
	ok(elfsyms_has_symtab(e) && !elfsyms_has_dynsym(e), "tables");
	elfsyms_close(e);
	intern_free(&names);
	close(fd);
	text_free(&t);
}

/* ---- hostile ---------------------------------------------------------------------------------------------------- */

static void survive(struct str bytes)
{
	struct symbols_query q[64] = { 0 };
	struct intern names = { 0 };
	const char *why;
	struct elfsyms *e = elfsyms_open(file_of(bytes), &(struct elfsyms_options){ 0 }, &why);

	for (size_t i = 0; i < countof(q); i++)
		q[i].address = 0xff0 + i * 0x40;
	if (e) {
		elfsyms_resolve(e, e, q, countof(q), &names);
		elfsyms_close(e);
	}
	intern_free(&names);
}

static void truncated(void)
{
	struct text t = build(rows, countof(rows));

	for (size_t n = 0; n < t.n; n += 64)
		survive(str_head(text_view(&t), n));
	ok(true, "cut at every 64th byte");
	text_free(&t);
}

/* Every field of every header, with values that point anywhere. */
static void pointing_anywhere(void)
{
	static const uint64_t value[] = { 0,          1,          0xff,           0xffff,    0x7fffffff,
					  0xffffffff, 1ull << 40, UINT64_MAX - 7, UINT64_MAX };
	struct text t = build(rows, countof(rows));
	size_t headers = SECTIONS * sizeof(Elf64_Shdr);

	for (size_t at = 16; at < t.n; at += 4) {
		if (at >= sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 96 && at < t.n - headers)
			continue;
		for (size_t v = 0; v < countof(value); v++) {
			struct text copy = { 0 };

			text_str(&copy, text_view(&t));
			memcpy(copy.p + at, &value[v], at + 8 <= t.n && v > 5 ? 8 : 4);
			survive(text_view(&copy));
			text_free(&copy);
		}
	}
	ok(true, "any field of any header");
	text_free(&t);
}

/* 100 GB that are not there. */
static void sparse(void)
{
	struct text t = build(rows, countof(rows));
	int fd = file_of(text_view(&t));
	Elf64_Ehdr h;
	Elf64_Shdr s;

	memcpy(&h, t.p, sizeof(h));
	if (ftruncate(fd, 100ll << 30) == 0) {
		pread(fd, &s, sizeof(s), (off_t)(h.e_shoff + SYMTAB * sizeof(s)));
		s.sh_offset = 1ull << 30;
		s.sh_size = 99ull << 30;
		pwrite(fd, &s, sizeof(s), (off_t)(h.e_shoff + SYMTAB * sizeof(s)));
		h.e_shnum = 0;
		is_text(name_at(fd, 0x1000, (struct elfsyms_options){ .mangled = true }), "-",
			"a symbol table of 99 GB");
		s = (Elf64_Shdr){ .sh_size = 1u << 30 };
		pwrite(fd, &s, sizeof(s), (off_t)h.e_shoff);
		pwrite(fd, &h, sizeof(h), 0);
		is_text(name_at(fd, 0x1000, (struct elfsyms_options){ 0 }), "an ELF file with too many sections",
			"a billion sections");
	}
	close(fd);
	text_free(&t);
}

static void overlapping(void)
{
	size_t n = 30000;
	struct row *row = mem_alloc(sizeof(*row), n);
	struct symbols_query *q = mem_alloc(sizeof(*q), 10000);
	struct intern names = { 0 };
	const char *why;
	struct text t;
	struct elfsyms *e;

	for (size_t i = 0; i < n; i++)
		row[i] = (struct row){ "x", 0x1000 + (n - i) % 4096, 1u << 20, G, F };
	for (size_t i = 0; i < 10000; i++)
		q[i].address = 0x3000 + i;
	t = build(row, n);
	e = elfsyms_open(file_of(text_view(&t)), &(struct elfsyms_options){ 0 }, &why);
	ok(elfsyms_resolve(e, e, q, 10000, &names) == 10000, "all symbols contain all places: an end, and an answer");
	elfsyms_close(e);
	intern_free(&names);
	text_free(&t);
	free(q);
	free(row);
}

static void others(void)
{
	const char *why = NULL;
	struct elfsyms_options o = { 0 };

	ok(!elfsyms_open(file_of(STR("")), &o, &why) && !strcmp(why, "not an ELF file"), "empty");
	ok(!elfsyms_open(file_of(STR("#!/bin/sh\n")), &o, &why) && !strcmp(why, "not an ELF file"), "script");
	ok(!elfsyms_open(file_of(STR("\177ELF\2\1\1")), &o, &why) && !strcmp(why, "truncated"), "begins like one");
	ok(!elfsyms_open(file_of(STR("\177ELF\2\2\1.............................................................")), &o,
			 &why) &&
		   !strcmp(why, "an ELF file of another byte order"),
	   "another byte order");
	ok(!elfsyms_open(open("/dev/zero", O_RDONLY), &o, &why) && !strcmp(why, "not a regular file"), "device");
	ok(!elfsyms_open(open("/", O_RDONLY), &o, &why) && !strcmp(why, "not a regular file"), "folder");
}

/* A file that shrinks while it is open: no signal, no name. */
static void shrinks(void)
{
	struct text t = build(rows, countof(rows));
	struct symbols_query q = { .address = 0x1000 };
	struct intern names = { 0 };
	int fd = file_of(text_view(&t));
	const char *why;
	struct elfsyms *e = elfsyms_open(dup(fd), &(struct elfsyms_options){ 0 }, &why);

	ok(e && ftruncate(fd, 100) == 0 && elfsyms_resolve(e, e, &q, 1, &names) == 0, "shrinks while it is open");
	elfsyms_close(e);
	close(fd);
	intern_free(&names);
	text_free(&t);
}

/* ---- notes, names ----------------------------------------------------------------------------------------------- */

static void notes(void)
{
	static const uint32_t two[] = { 4, 8, 1, 0x00554e47, 1, 2, 4, 20, 3, 0x00554e47, 7, 8, 9, 10, 11 };
	struct str all = { (const char *)two, sizeof(two) };

	ok(buildid_in_notes(all).n == 20 && buildid_in_notes(all).byte[4] == 8, "the second note");
	for (size_t n = 0; n < all.n; n++)
		if (buildid_in_notes(str_head(all, n)).n)
			ok(false, "a cut note is none");
	ok(buildid_in_notes((struct str){ "\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU", 16 }).n == 0, "huge sizes");
}

static void demangling(void)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{ "_ZN2ns3BoxIdE4workEi", "ns::Box<double>::work" },
		{ "_ZN3FooC1Ev", "Foo::Foo" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
		{ "_ZN1fEv.isra.0", "f" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
		{ "_RNvC3foo3bar", "foo::bar" },
		{ "_D8demangle4testFiZv", "demangle.test(int)" },
		{ "camlStdlib__List__map_12", "Stdlib.List.map_12" },
		{ "camlA__$2b$5e_3", "A.+^_3" },
		{ "main", NULL },
		{ "_start", NULL },
		{ "_Z", NULL },
		{ "", NULL },
		{ "camel", NULL },
	};
	struct text bomb = { 0 }, out = { 0 };

	for (size_t i = 0; i < countof(names); i++) {
		out.n = 0;
		if (elfsyms_demangle(&out, str_of(names[i].from))) {
			text_char(&out, '\0');
			is_text(out.p, names[i].to ? names[i].to : "(left as it is)", names[i].from);
		} else {
			ok(!names[i].to && out.n == 0, names[i].from);
		}
	}
	/* every template argument is the one before, twice */
	text_add(
		&bomb,
		"_Z1fI1AS_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_E"
		"S_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_EEvv");
	out.n = 0;
	ok(!elfsyms_demangle(&out, text_view(&bomb)) && out.n == 0,
	   "a name that stands for gigabytes is left as it is");
	bomb.n = 0;
	text_add(&bomb, "_Z");
	for (int i = 0; i < 8000; i++)
		text_char(&bomb, 'P');
	ok(!elfsyms_demangle(&out, text_view(&bomb)) && out.n == 0, "8000 pointers");
	text_free(&bomb);
	text_free(&out);
}

int main(void)
{
	rules();
	truncated();
	pointing_anywhere();
	sparse();
	overlapping();
	others();
	shrinks();
	notes();
	demangling();
	return done();
}
