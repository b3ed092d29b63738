/* goimage.h - makes ELF files as of Go programs, so small that tests can damage each byte. Kinds: with the address of
 * the code in the header of .gopclntab, or only in moduledata; with .gopclntab as a section, or in .data.rel.ro. */
#ifndef PJ_TEST_GOIMAGE_H
#define PJ_TEST_GOIMAGE_H

#include "common/text.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BASE = 0x400000, LENGTH = 0x1200, CODE = 0x400, FUNCTIONS = 3 };

/* Numbers of the sections, and their offsets in the file. C: number of bytes of C code in front of Go's code. */
enum { TEXT = 1, PCLNTAB, DATA, RODATA, RELA, SHSTRTAB, SECTIONS };
enum { AT_PCLNTAB = 0x600, AT_DATA = 0xa00, AT_RELA = 0xc00, AT_RODATA = 0x1100, C = 16 };

/* Offsets of the parts of .gopclntab; FUNC is relative to TABLE. FUNC_SIZE: bytes of a _func; SIZE: bytes of all. */
enum { NAMES = 72, UNITS = 152, FILES = 156, VALUES = 160, TABLE = 200, FUNC = 28, FUNC_SIZE = 80, SIZE = TABLE + 400 };

/* Offset in pctab of the table with the frame sizes of main.main. */
enum { FRAME = 16 };

/* Offsets of the names in `strings`. */
enum { MAIN = 0, SUM = 10, EXIT = 24, A = 39, B = 46 };
static const char strings[] = "main.main\0main.Sum[...]\0runtime.goexit\0main.a\0main.b";

struct goimage {
	bool since_20, since_26;
	bool relocated; /* relocations fill moduledata, and the header has no address of the code */
	bool searched;  /* .gopclntab is within the section .data.rel.ro, which starts 64 bytes before it */
	char bytes[LENGTH];
};

static const struct goimage_kind {
	const char *what;
	bool since_20, since_26, relocated, searched;
} goimage_kinds[] = {
	{ .what = "Go 1.18" },
	{ .what = "Go 1.20", .since_20 = true },
	{ .what = "Go 1.26", .since_20 = true, .since_26 = true },
	{ .what = "Go 1.18, moduledata by relocations", .relocated = true },
	{ .what = "Go 1.20, moduledata by relocations", .since_20 = true, .relocated = true },
	{ .what = "Go 1.20, the table in .data.rel.ro", .since_20 = true, .relocated = true, .searched = true },
};

static void goimage_put(struct goimage *go, size_t at, uint64_t value, size_t size)
{
	memcpy(go->bytes + at, &value, size);
}

/* Writes the table of functions: main.main of 0x40 bytes, main.Sum[...] and runtime.goexit of 0x20. In main.main,
 * main.a is inlined at offsets 8 to 0x18, and main.b in main.a at 0xc to 0x10. The frame of main.main, of 24 bytes,
 * begins at offset 4; the other functions have no frame. */
static void goimage_put_table(struct goimage *go)
{
	static const unsigned start[] = { 0, 0x40, 0x60, 0x80 }, name[] = { MAIN, SUM, EXIT };
	/* index in the inline tree: -1 for 8 bytes of code, 0 for 4, 1 for 4, 0 for 8, -1 for 40 */
	static const char values[] = "\0\0\x08\2\4\2\4\1\x08\1\x28\0";
	static const char frame[] = "\2\4\x30\x3c\0"; /* frame size: 0 for 4 bytes of code, 24 for 60 */
	unsigned offsets = go->since_20 ? 44 : 40;

	memcpy(go->bytes + AT_PCLNTAB + NAMES, strings, sizeof(strings));
	memcpy(go->bytes + AT_PCLNTAB + VALUES, values, sizeof(values));
	memcpy(go->bytes + AT_PCLNTAB + VALUES + FRAME, frame, sizeof(frame));
	for (size_t i = 0; i <= FUNCTIONS; i++)
		goimage_put(go, AT_PCLNTAB + TABLE + 8 * i, start[i], 4);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		size_t func = AT_PCLNTAB + TABLE + FUNC + FUNC_SIZE * i;

		goimage_put(go, AT_PCLNTAB + TABLE + 8 * i + 4, FUNC + FUNC_SIZE * i, 4);
		goimage_put(go, func, start[i], 4);
		goimage_put(go, func + 4, name[i], 4);
		goimage_put(go, func + 16, i == 0 ? FRAME : 0, 4);
		goimage_put(go, func + 28, 3, 4);
		goimage_put(go, func + offsets - 1, 4, 1);
		goimage_put(go, func + offsets + 8, i == 0, 4);
		memset(go->bytes + func + offsets + 12, 0xff, 12);
		goimage_put(go, func + offsets + 24, i == 0 ? 8 : UINT32_MAX, 4);
	}
}

/* Returns the offset of go.func.* in the file: in .rodata; since Go 1.26 in .gopclntab. */
static size_t goimage_gofunc(const struct goimage *go)
{
	return go->since_26 ? AT_PCLNTAB + TABLE + 300 : AT_RODATA;
}

/* Writes the inline tree of main.main, at go.func.*+8: main.a, called by main.main, and main.b, called by main.a. */
static void goimage_put_tree(struct goimage *go)
{
	size_t at = goimage_gofunc(go) + 8, size = go->since_20 ? 16 : 20, name = go->since_20 ? 4 : 12;

	goimage_put(go, at + name, A, 4);
	goimage_put(go, at + name + 4, 4, 4);
	goimage_put(go, at + size + name, B, 4);
	goimage_put(go, at + size + name + 4, 8, 4);
}

/* Writes word i of moduledata; an address as a relocation if go->relocated is true. */
static void goimage_put_word(struct goimage *go, size_t i, uint64_t value)
{
	if (!go->relocated || value < BASE) {
		goimage_put(go, AT_DATA + 16 + 8 * i, value, 8);
		return;
	}
	goimage_put(go, AT_RELA + 24 * i, BASE + AT_DATA + 16 + 8 * i, 8);
	goimage_put(go, AT_RELA + 24 * i + 8, 8, 8);
	goimage_put(go, AT_RELA + 24 * i + 16, value, 8);
}

static void goimage_put_module(struct goimage *go)
{
	static const unsigned part[] = { NAMES, UNITS, FILES, VALUES, TABLE, TABLE };
	static const unsigned length[] = { UNITS - NAMES,  FILES - UNITS, VALUES - FILES,
					   TABLE - VALUES, SIZE - TABLE,  FUNCTIONS + 1 };
	size_t gofunc = go->since_20 ? 40 : 38;

	goimage_put_word(go, 0, BASE + AT_PCLNTAB);
	for (size_t i = 0; i < countof(part); i++) {
		goimage_put_word(go, 1 + 3 * i, BASE + AT_PCLNTAB + part[i]);
		goimage_put_word(go, 2 + 3 * i, length[i]);
		goimage_put_word(go, 3 + 3 * i, length[i]);
	}
	goimage_put_word(go, 20, BASE + CODE + C);
	goimage_put_word(go, 21, BASE + CODE + C + 0x80);
	goimage_put_word(go, 22, BASE + CODE + C);
	goimage_put_word(go, 23, BASE + CODE + C + 0x80);
	goimage_put_word(go, gofunc - 1, BASE);
	goimage_put_word(go, gofunc, BASE + goimage_gofunc(go));
	if (go->since_26)
		goimage_put_word(go, ++gofunc, BASE + AT_PCLNTAB + SIZE);
	goimage_put_word(go, gofunc + 1, BASE + AT_RODATA);
	goimage_put_word(go, gofunc + 2, 1);
	goimage_put_word(go, gofunc + 3, 1);
}

static void goimage_put_section(struct goimage *go, size_t i, uint32_t name, uint32_t type, uint64_t flags, uint64_t at,
				uint64_t n)
{
	Elf64_Shdr section = { name, type, flags, flags & SHF_ALLOC ? BASE + at : 0, at, n, 0, 0, 8, 0 };

	memcpy(go->bytes + 0x100 + i * sizeof(section), &section, sizeof(section));
}

static void goimage_put_headers(struct goimage *go)
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
	goimage_put_section(go, TEXT, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, 0x100);
	if (go->searched)
		goimage_put_section(go, PCLNTAB, 69, SHT_PROGBITS, SHF_ALLOC, AT_PCLNTAB - 64, SIZE + 64);
	else
		goimage_put_section(go, PCLNTAB, go->relocated ? 7 : 19, SHT_PROGBITS, SHF_ALLOC, AT_PCLNTAB, SIZE);
	goimage_put_section(go, DATA, 30, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, AT_DATA, 0x200);
	goimage_put_section(go, RODATA, go->searched ? 82 : 41, SHT_PROGBITS, SHF_ALLOC, AT_RODATA, 0x80);
	goimage_put_section(go, RELA, 49, go->relocated ? SHT_RELA : SHT_NOTE, SHF_ALLOC, AT_RELA, AT_RODATA - AT_RELA);
	goimage_put_section(go, SHSTRTAB, 59, SHT_STRTAB, 0, 0x300, sizeof(names));
}

static inline void goimage_fill(struct goimage *go, const struct goimage_kind *kind)
{
	static const unsigned part[] = { NAMES, UNITS, FILES, VALUES, TABLE };

	*go = (struct goimage){ .since_20 = kind->since_20,
				.since_26 = kind->since_26,
				.relocated = kind->relocated,
				.searched = kind->searched };
	goimage_put_headers(go);
	goimage_put(go, AT_PCLNTAB, kind->since_20 ? 0xfffffff1 : 0xfffffff0, 4);
	goimage_put(go, AT_PCLNTAB + 6, 1, 1);
	goimage_put(go, AT_PCLNTAB + 7, 8, 1);
	goimage_put(go, AT_PCLNTAB + 8, FUNCTIONS, 8);
	goimage_put(go, AT_PCLNTAB + 24, kind->relocated ? 0 : BASE + CODE + C, 8);
	for (size_t i = 0; i < countof(part); i++)
		goimage_put(go, AT_PCLNTAB + 32 + 8 * i, part[i], 8);
	goimage_put_table(go);
	goimage_put_tree(go);
	goimage_put_module(go);
}

/* Returns the descriptor of a file in memory with the first n bytes of *go. */
static inline int goimage_file(const struct goimage *go, size_t n)
{
	int fd = memfd_create("go", MFD_CLOEXEC);

	if (fd < 0 || write(fd, go->bytes, n) != (ssize_t)n)
		exit(1);
	return fd;
}

#endif
