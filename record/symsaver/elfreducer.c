/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/elfreducer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* FILE_MAX: maximum size of a reduced file in bytes; a larger one is refused, because a kept section at a large file
 * offset would make the file a hole of that size. ALIGN_MAX: maximum alignment of a moved section in bytes. BLOCK:
 * bytes that are copied at once. */
#define FILE_MAX ((uint64_t)4 << 30)
#define ALIGN_MAX 4096u
#define BLOCK ((size_t)64 << 10)

const char reducer_too_large[] = "too large";
const char reducer_cannot_write[] = "cannot write";

struct elfreducer {
	struct elfhead head;
	int out;
	bool has_got_stubs; /* true: the file has a section .plt.got */
	bool has_symtab;    /* true: the file has a section .symtab */
	bool *keep;         /* by index of the section: true if the section stays in the reduced file */
	uint64_t *from;     /* by index of the section: file offset of its bytes in the original file */
	uint64_t end;       /* file offset after the last section that has an offset in the reduced file so far */
	/* sum of the sizes of the kept sections so far, and its limit, in bytes */
	uint64_t bytes, max;
	char *block;
};

/* ---- selection of the kept sections ----------------------------------------------------------------------------- */

static bool is_one_of(struct str name, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, list[i]))
			return true;
	return false;
}

/* Returns true for .gopclntab, and for .go.module (Go 1.26), which has the addresses of .gopclntab and of the code. */
static bool elfreducer_is_go(struct str name)
{
	return str_ends(name, STR(".gopclntab")) || str_eq(name, STR(".go.module"));
}

/* Returns true if section i must be kept. Kept sections are: symbols, notes, the sections from which plt.c names stubs,
 * sections that lead to symbols elsewhere or contain compressed symbols, unwind tables. If the file has no .symtab,
 * Go's table of functions is kept, too. String tables of symbols are selected later. */
static bool is_wanted(const struct elfreducer *elfreducer, size_t i)
{
	static const struct str names[] = {
		STR(".plt"),           STR(".plt.sec"),  STR(".plt.got"),       STR(".rela.plt"),
		STR(".rel.plt"),       STR(".dynamic"),  STR(".gnu_debuglink"), STR(".gnu_debugaltlink"),
		STR(".gnu_debugdata"), STR(".eh_frame"), STR(".eh_frame_hdr"),  STR(".debug_frame"),
	};

	if (i == elfreducer->head.header.e_shstrndx)
		return true;
	switch (elfreducer->head.section[i].sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
	case SHT_NOTE:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed: return true;
	case SHT_NULL:
	case SHT_NOBITS: return false;
	default:
		/* .rela.dyn is long. It is needed only for the relocations of stubs in .plt.got. */
		if (str_eq(elfreducer->head.name[i], STR(".rela.dyn")))
			return elfreducer->has_got_stubs;
		if (elfreducer_is_go(elfreducer->head.name[i]))
			return !elfreducer->has_symtab;
		return is_one_of(elfreducer->head.name[i], names, countof(names));
	}
}

static void elfreducer_choose(struct elfreducer *elfreducer)
{
	const struct elfhead *elfhead = &elfreducer->head;

	for (size_t i = 1; i < elfhead->sections; i++) {
		elfreducer->has_got_stubs |= str_eq(elfhead->name[i], STR(".plt.got"));
		elfreducer->has_symtab |= elfhead->section[i].sh_type == SHT_SYMTAB;
	}
	for (size_t i = 1; i < elfhead->sections; i++)
		elfreducer->keep[i] = elfreducer->keep[i] || is_wanted(elfreducer, i);
	for (size_t i = 1; i < elfhead->sections; i++) {
		const Elf64_Shdr *section = &elfhead->section[i];
		size_t strings = section->sh_link;

		if ((section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM) && strings < elfhead->sections)
			elfreducer->keep[strings] = true;
	}
	if (elfhead->header.e_shstrndx == SHN_XINDEX && elfhead->section[0].sh_link < elfhead->sections)
		elfreducer->keep[elfhead->section[0].sh_link] = true;
	elfreducer->keep[0] = false;
	for (size_t i = 1; i < elfhead->sections; i++)
		if (elfhead->section[i].sh_type == SHT_NOBITS)
			elfreducer->keep[i] = false;
}

static bool names_code(const struct elfreducer *elfreducer)
{
	for (size_t i = 1; i < elfreducer->head.sections; i++)
		if (elfreducer->keep[i] && elfreducer->head.section[i].sh_size &&
		    (elfreducer->head.section[i].sh_type == SHT_SYMTAB ||
		     elfreducer->head.section[i].sh_type == SHT_DYNSYM ||
		     str_eq(elfreducer->head.name[i], STR(".gnu_debugdata")) ||
		     elfreducer_is_go(elfreducer->head.name[i])))
			return true;
	return false;
}

/* ---- file offsets in the reduced file --------------------------------------------------------------------------- */

static uint64_t elfreducer_align(uint64_t at, uint64_t to)
{
	to = to > ALIGN_MAX ? ALIGN_MAX : to;
	return to & (to - 1) || to < 2 ? at : (at + to - 1) & ~(to - 1);
}

/* Returns true if section i keeps its file offset because it is part of the program. PLT sections keep it even if a
 * damaged header lacks SHF_ALLOC, because stubs are named by their offsets. */
static bool elfreducer_stays(const struct elfreducer *elfreducer, size_t i)
{
	return elfreducer->head.section[i].sh_flags & SHF_ALLOC || str_starts(elfreducer->head.name[i], STR(".plt"));
}

/* If section i is Go's table of functions, drops it if it takes more than half of the remaining limit, or if the file
 * lacks some of its bytes. Other symbols stay. Returns true if it dropped the section. */
static bool drop_large_go(struct elfreducer *elfreducer, size_t i)
{
	const struct elfhead *elfhead = &elfreducer->head;
	const Elf64_Shdr *section = &elfhead->section[i];

	if (!elfreducer_is_go(elfhead->name[i]) || (section->sh_offset <= elfhead->source.size &&
						    section->sh_size <= elfhead->source.size - section->sh_offset &&
						    section->sh_size <= (elfreducer->max - elfreducer->bytes) / 2 &&
						    elfhead_is_dense(elfhead, section->sh_offset, section->sh_size)))
		return false;
	elfreducer->keep[i] = false;
	return true;
}

static const char *check_sizes(struct elfreducer *elfreducer)
{
	const struct elfhead *elfhead = &elfreducer->head;

	for (size_t i = 1; i < elfhead->sections; i++) {
		const Elf64_Shdr *section = &elfhead->section[i];

		if (!elfreducer->keep[i] || drop_large_go(elfreducer, i))
			continue;
		if (section->sh_offset > elfhead->source.size ||
		    section->sh_size > elfhead->source.size - section->sh_offset)
			return "truncated";
		if (!elfhead_is_dense(elfhead, section->sh_offset, section->sh_size))
			return "a section in a hole of the file";
		if (section->sh_size > elfreducer->max - elfreducer->bytes)
			return reducer_too_large;
		elfreducer->bytes += section->sh_size;
	}
	return NULL;
}

/* Computes the offsets of all sections in the reduced file, and changes the section headers accordingly. Sections that
 * are not kept become NOBITS. */
static void lay_out(struct elfreducer *elfreducer)
{
	struct elfhead *elfhead = &elfreducer->head;
	size_t header = elfhead->header.e_ehsize, segments = elfhead->segments * elfhead->header.e_phentsize;

	elfreducer->end = header;
	if (elfhead->header.e_phoff + segments > elfreducer->end)
		elfreducer->end = elfhead->header.e_phoff + segments;
	for (size_t i = 1; i < elfhead->sections; i++) {
		Elf64_Shdr *section = &elfhead->section[i];

		elfreducer->from[i] = section->sh_offset;
		if (elfreducer->keep[i] && elfreducer_stays(elfreducer, i) &&
		    section->sh_offset + section->sh_size > elfreducer->end)
			elfreducer->end = section->sh_offset + section->sh_size;
	}
	for (size_t i = 1; i < elfhead->sections; i++) {
		Elf64_Shdr *s = &elfhead->section[i];

		if (s->sh_type == SHT_NULL && !elfreducer->keep[i])
			continue;
		if (!elfreducer_stays(elfreducer, i)) {
			s->sh_offset = elfreducer_align(elfreducer->end, s->sh_addralign);
			if (elfreducer->keep[i])
				elfreducer->end = s->sh_offset + s->sh_size;
		}
		if (!elfreducer->keep[i])
			s->sh_type = SHT_NOBITS;
	}
	elfhead->header.e_shoff = elfreducer_align(elfreducer->end, 8);
}

/* ---- writing of the reduced file -------------------------------------------------------------------------------- */

bool elfreducer_put(int fd, const void *p, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = pwrite(fd, (const char *)p + done, n - done, (off_t)(at + done));

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		done += (size_t)w;
	}
	return true;
}

static const char *elfreducer_copy(struct elfreducer *elfreducer, uint64_t from, uint64_t to, uint64_t n)
{
	while (n) {
		size_t part = n < BLOCK ? (size_t)n : BLOCK;

		if (elfhead_bytes(&elfreducer->head, from, elfreducer->block, part) < part)
			return "truncated"; /* another process has truncated the file meanwhile */
		if (!elfreducer_put(elfreducer->out, elfreducer->block, part, to))
			return reducer_cannot_write;
		from += part;
		to += part;
		n -= part;
	}
	return NULL;
}

/* Writes the ELF header with the new offset of the section headers, the unchanged program headers, and the changed
 * section headers. Returns NULL on success, otherwise the reason. */
static const char *elfreducer_put_headers(struct elfreducer *elfreducer)
{
	struct elfhead *elfhead = &elfreducer->head;
	size_t size = elfhead_section_size(elfhead), n = elfhead->header.e_ehsize;
	uint32_t narrow = (uint32_t)elfhead->header.e_shoff;
	const char *why = n > BLOCK || n < (elfhead->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) ? "damaged" : NULL;
	char *table;
	bool good;

	if (!why)
		why = elfreducer_copy(elfreducer, 0, 0, n);
	if (!why)
		why = elfreducer_copy(elfreducer, elfhead->header.e_phoff, elfhead->header.e_phoff,
				      elfhead->segments * elfhead->header.e_phentsize);
	if (why)
		return why;
	table = mem_alloc(size, elfhead->sections + 1);
	for (size_t i = 0; i < elfhead->sections; i++)
		elfhead_put_section(elfhead, &elfhead->section[i], table + i * size);
	good = elfreducer_put(elfreducer->out, table, size * elfhead->sections, elfhead->header.e_shoff) &&
	       (elfhead->wide ?
			elfreducer_put(elfreducer->out, &elfhead->header.e_shoff, 8, offsetof(Elf64_Ehdr, e_shoff)) :
			elfreducer_put(elfreducer->out, &narrow, 4, offsetof(Elf32_Ehdr, e_shoff)));
	free(table);
	return good ? NULL : reducer_cannot_write;
}

static const char *elfreducer_write_all(struct elfreducer *elfreducer)
{
	const struct elfhead *elfhead = &elfreducer->head;
	const char *why = NULL;

	lay_out(elfreducer);
	if (elfreducer->end > FILE_MAX || (!elfhead->wide && elfreducer->end > UINT32_MAX - (1u << 20)))
		return reducer_too_large;
	for (size_t i = 1; i < elfhead->sections && !why; i++)
		if (elfreducer->keep[i])
			why = elfreducer_copy(elfreducer, elfreducer->from[i], elfhead->section[i].sh_offset,
					      elfhead->section[i].sh_size);
	/* The headers are written last, because sections of a damaged file may overlap them. */
	return why ? why : elfreducer_put_headers(elfreducer);
}

const char *elfreducer_write(int in, int out, uint64_t max, struct reduced *result)
{
	struct elfreducer elfreducer = { .out = out, .max = max };
	struct elfhead_source source;
	const char *why = "not a regular file";

	*result = (struct reduced){ 0 };
	if (elfhead_file(&source, in))
		why = elfhead_read(&elfreducer.head, &source, true);
	if (!why) {
		elfreducer.keep = mem_alloc(sizeof(*elfreducer.keep), elfreducer.head.sections + 1);
		elfreducer.from = mem_alloc(sizeof(*elfreducer.from), elfreducer.head.sections + 1);
		elfreducer.block = mem_alloc(1, BLOCK);
		result->build_id = elfhead_build_id(&elfreducer.head, false);
		if (elfreducer.head.sections)
			elfreducer_choose(&elfreducer);
		why = check_sizes(&elfreducer);
	}
	if (!why && elfreducer.head.sections) {
		result->names = names_code(&elfreducer);
		why = elfreducer_write_all(&elfreducer);
	}
	result->bytes = elfreducer.bytes;
	free(elfreducer.keep);
	free(elfreducer.from);
	free(elfreducer.block);
	elfhead_free(&elfreducer.head);
	return why;
}
