/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/unwindelf.h"

#include "common/formats/elfhead.h"
#include "common/formats/gotable.h"
#include "unwind/dwarf/gopclntab.h"

/* Limits in bytes. PLT_CODE_MAX, INIT_MAX: code read from a PLT, and from .init or .fini. GO_MAX: .gopclntab; terraform
 * has 26 MB. GO_FRAMES_MAX: the FDEs made from it; terraform has 5.4 MB. */
enum { PLT_CODE_MAX = 64, INIT_MAX = 4096, GO_MAX = 32 << 20, GO_FRAMES_MAX = 16 << 20 };

struct reader {
	struct elfhead head;
	struct unwind_elf *e;
	uint64_t left; /* budget: bytes of sections that may still be read */
};

/* ---- sections of the file ---------------------------------------------------------------------------------------- */

/* Reads a section into the arena and charges its bytes to the budget. Returns an empty string if the section is
 * unreadable, or larger than `max` bytes or the budget. */
static struct str take_section(struct reader *reader, const Elf64_Shdr *section, uint64_t max)
{
	struct str bytes =
		elfhead_section(&reader->head, section, &reader->e->arena, max < reader->left ? max : reader->left);

	reader->left -= bytes.n;
	return bytes;
}

/* Reads up to `max` bytes from the start of a section into buf and returns them. */
static struct str first_bytes(struct reader *reader, const Elf64_Shdr *section, char *buf, size_t max)
{
	size_t n = section->sh_size < max ? (size_t)section->sh_size : max;

	return (struct str){ buf, elfhead_bytes(&reader->head, section->sh_offset, buf, n) };
}

/* Returns true if a PLT of aarch64 starts with the entry that calls the dynamic linker: stp x16, x30, [sp, #-16]!, or
 * bti c and then stp. The PLT of a static program has no such entry. */
static bool is_lazy_link(struct reader *reader, const Elf64_Shdr *section)
{
	static const struct str push = STR("\xf0\x7b\xbf\xa9");
	char buf[PLT_CODE_MAX];
	struct str code = first_bytes(reader, section, buf, sizeof(buf));

	return str_starts(code, push) || (code.n > 4 && str_starts(str_from(code, 4), push));
}

static void note_plt(struct reader *reader, const Elf64_Shdr *section, bool lazy)
{
	struct unwind_elf *elf = reader->e;

	if (elf->nplts == UNWIND_PLTS_MAX)
		return;
	lazy = lazy && (!elf->processor->link || is_lazy_link(reader, section));
	elf->plt[elf->nplts++] =
		(struct unwind_plt){ .start = section->sh_addr, .size = section->sh_size, .lazy = lazy };
}

/* Adds .init or .fini to elf->plt if its code is the expected one: it starts as in crti.o (endbr64 since CET, then sub
 * rsp, 8) and ends as in crtn.o (add rsp, 8; ret). */
static void note_init(struct reader *reader, const Elf64_Shdr *section)
{
	static const struct str endbr = STR("\xf3\x0f\x1e\xfa"), enter = STR("\x48\x83\xec\x08"),
				leave = STR("\x48\x83\xc4\x08\xc3");
	struct unwind_elf *elf = reader->e;
	char buf[INIT_MAX];
	struct str code;
	size_t at;

	if (elf->nplts == UNWIND_PLTS_MAX || elf->processor->link || section->sh_size > INIT_MAX)
		return;
	code = first_bytes(reader, section, buf, sizeof(buf));
	at = str_starts(code, endbr) ? endbr.n : 0;
	if (str_starts(str_from(code, at), enter) && str_ends(code, leave))
		elf->plt[elf->nplts++] = (struct unwind_plt){ .start = section->sh_addr,
							      .size = section->sh_size,
							      .pushed = (uint8_t)(at + enter.n) };
}

/* Reads a section of call frame information into *cfi. Of several sections with one name, reads the first that has
 * bytes. */
static void read_frames(struct reader *reader, const Elf64_Shdr *section, struct cfi *cfi)
{
	if (cfi->bytes.n)
		return;
	cfi->bytes = take_section(reader, section, UINT64_MAX);
	cfi->address = section->sh_addr;
	if (!cfi->bytes.n && section->sh_size > reader->left)
		reader->e->large = true;
}

static void unwindelf_read_sections(struct reader *reader)
{
	struct unwind_elf *elf = reader->e;

	for (size_t i = 1; i < reader->head.sections; i++) {
		const Elf64_Shdr *section = &reader->head.section[i];
		struct str name = reader->head.name[i];

		/* Skips sections without bytes (SHT_NOBITS): a separate debug file has only the headers of most
		 * sections of the mapped file. */
		if (name.n == 0 || section->sh_type == SHT_NOBITS)
			continue;
		if (str_eq(name, STR(".eh_frame")))
			read_frames(reader, section, &elf->eh_frame);
		else if (str_eq(name, STR(".eh_frame_hdr")))
			read_frames(reader, section, &elf->header);
		else if (str_eq(name, STR(".debug_frame")))
			read_frames(reader, section, &elf->debug_frame);
		else if (str_starts(name, STR(".plt")))
			note_plt(reader, section, str_eq(name, STR(".plt")));
		else if (str_eq(name, STR(".init")) || str_eq(name, STR(".fini")))
			note_init(reader, section);
	}
}

/* Returns true if the file has a section with the name of Go's table of functions. */
static bool unwindelf_is_go(const struct reader *reader)
{
	for (size_t i = 1; i < reader->head.sections; i++)
		if (reader->head.section[i].sh_type != SHT_NOBITS && str_ends(reader->head.name[i], STR(".gopclntab")))
			return true;
	return false;
}

/* Appends a .debug_frame with a CIE and at most `max` bytes of FDEs, made from the .gopclntab of a Go program
 * (gopclntab.h). Appends nothing if there is no usable table. */
static void unwindelf_make_go(struct reader *reader, size_t max, struct text *out)
{
	struct arena arena = { 0 };
	struct gotable gotable;
	Elf64_Shdr bytes = { .sh_type = SHT_PROGBITS };

	if (!gotable_open(&gotable, &reader->head))
		return;
	bytes.sh_offset = gotable.at;
	bytes.sh_size = gotable.size;
	gopclntab_frames(elfhead_section(&reader->head, &bytes, &arena, GO_MAX), gotable.text, max, out);
	arena_free(&arena);
}

/* Replaces the .debug_frame of a Go program by one made from its .gopclntab. x86-64 only. */
static void unwindelf_read_go(struct reader *reader)
{
	struct unwind_elf *elf = reader->e;
	struct text frames = { 0 };
	/* budget without the .debug_frame of the file, which is replaced */
	uint64_t left = reader->left + elf->debug_frame.bytes.n;

	if (elf->processor->link)
		return;
	unwindelf_make_go(reader, left < GO_FRAMES_MAX ? (size_t)left : GO_FRAMES_MAX, &frames);
	elf->go = frames.n == 0 && unwindelf_is_go(reader);
	elf->go_frames = frames.n != 0;
	if (frames.n) {
		elf->debug_frame = (struct cfi){ .bytes = arena_copy(&elf->arena, text_view(&frames)), .debug = true };
		/* the CIE comes on top of the limit */
		reader->left = left > frames.n ? left - frames.n : 0;
	}
	text_free(&frames);
}

/* ---- segments of the file ---------------------------------------------------------------------------------------- */

static struct str unwindelf_take_bytes(struct reader *reader, uint64_t offset, uint64_t n)
{
	Elf64_Shdr s = { .sh_type = SHT_PROGBITS, .sh_offset = offset, .sh_size = n };
	struct str bytes = take_section(reader, &s, UINT64_MAX);

	if (!bytes.n && n > reader->left)
		reader->e->large = true;
	return bytes;
}

/* Returns the bytes of the file from an ELF virtual address to the end of the segment that contains it. */
static struct str unwindelf_bytes_at(struct reader *reader, uint64_t address)
{
	const Elf64_Phdr *segment = elfhead_segment(&reader->head, address);

	if (!segment)
		return (struct str){ 0 };
	return unwindelf_take_bytes(reader, segment->p_offset + (address - segment->p_vaddr),
				    segment->p_filesz - (address - segment->p_vaddr));
}

/* Reads .eh_frame of a file without section headers. Segment p, PT_GNU_EH_FRAME, is .eh_frame_hdr, which has the
 * address of .eh_frame. */
static void read_frames_by_segment(struct reader *reader, const Elf64_Phdr *p)
{
	struct unwind_elf *elf = reader->e;
	struct dwarf_bytes bytes;
	uint64_t at;

	elf->header.address = p->p_vaddr;
	elf->header.bytes = unwindelf_take_bytes(reader, p->p_offset, p->p_filesz);
	bytes = dwarf_bytes_of(elf->header.bytes);
	dwarf_take(&bytes, 1);
	at = dwarf_uint(&bytes, 1);
	dwarf_take(&bytes, 2);
	at = cfi_pointer(&bytes, (uint8_t)at, p->p_vaddr + 4, p->p_vaddr);
	if (!bytes.bad)
		elf->eh_frame = (struct cfi){ .bytes = unwindelf_bytes_at(reader, at), .address = at };
}

static void read_program(struct reader *reader)
{
	struct unwind_elf *elf = reader->e;

	elf->base = UINT64_MAX;
	elf->load = arena_new(&elf->arena, struct unwind_load, reader->head.segments);
	for (size_t i = 0; i < reader->head.segments; i++) {
		const Elf64_Phdr *p = &reader->head.segment[i];

		if (p->p_type == PT_LOAD)
			elf->load[elf->nloads++] =
				(struct unwind_load){ p->p_offset, p->p_filesz, p->p_vaddr, p->p_flags & PF_X ? 1 : 0 };
		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_vaddr + p->p_memsz >= p->p_vaddr) {
			elf->base = p->p_vaddr < elf->base ? p->p_vaddr : elf->base;
			elf->end = p->p_vaddr + p->p_memsz > elf->end ? p->p_vaddr + p->p_memsz : elf->end;
		}
		if (p->p_type == PT_GNU_EH_FRAME && !elf->eh_frame.bytes.n && !elf->debug_frame.bytes.n)
			read_frames_by_segment(reader, p);
	}
	if (elf->end > elf->base && elf->end - elf->base > UINT32_MAX)
		elf->end = elf->base + UINT32_MAX;
}

/* ---- reading a whole file ---------------------------------------------------------------------------------------- */

/* Reads the ELF headers. If the section headers are unusable (cut off, too many), reads only the program headers, by
 * which .eh_frame can be found, too. Returns NULL on success, or the reason of the failure. */
static const char *unwindelf_read_head(struct reader *reader, int fd)
{
	struct elfhead_source source;
	const char *why;

	if (!elfhead_file(&source, fd))
		return "not a regular file";
	why = elfhead_read(&reader->head, &source, true);
	if (why && reader->head.segments) {
		elfhead_free(&reader->head);
		why = elfhead_read(&reader->head, &source, false);
	}
	if (why)
		return why;
	reader->e->entry = reader->head.header.e_entry;
	reader->e->processor = reader->head.wide ? processor_of_elf(reader->head.header.e_machine) : NULL;
	return reader->e->processor ? NULL : "not for x86-64 or aarch64, 64 bits";
}

const char *unwind_elf_read(struct unwind_elf *elf, int fd)
{
	struct reader reader = { .e = elf, .left = UNWIND_TABLE_MAX };
	const char *why;

	*elf = (struct unwind_elf){ .debug_frame.debug = true };
	why = unwindelf_read_head(&reader, fd);
	if (!why) {
		unwindelf_read_sections(&reader);
		unwindelf_read_go(&reader);
		read_program(&reader);
	}
	elfhead_free(&reader.head);
	return why;
}

void unwind_elf_free(struct unwind_elf *elf)
{
	arena_free(&elf->arena);
}
