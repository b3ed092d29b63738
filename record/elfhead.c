/* SPDX-License-Identifier: Apache-2.0 */
#include "elfhead.h"

#include "whole.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX (1u << 20)
#define NOTES_MAX (64u << 10)

static size_t read_file(const struct elfhead_source *s, uint64_t at, void *p, size_t n)
{
	if (at >= s->size)
		return 0;
	if (n > s->size - at)
		n = (size_t)(s->size - at);
	return whole_pread(s->fd, p, n, at);
}

bool elfhead_file(struct elfhead_source *s, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*s = (struct elfhead_source){ .read = read_file, .fd = fd, .size = (uint64_t)st.st_size };
	return true;
}

/* ---- both classes as one ----------------------------------------------------------------------------------------- */

static Elf64_Ehdr wide_header(const Elf32_Ehdr *h)
{
	Elf64_Ehdr w = { .e_type = h->e_type, .e_machine = h->e_machine, .e_version = h->e_version, .e_entry = h->e_entry,
			 .e_phoff = h->e_phoff, .e_shoff = h->e_shoff, .e_flags = h->e_flags, .e_ehsize = h->e_ehsize,
			 .e_phentsize = h->e_phentsize, .e_phnum = h->e_phnum, .e_shentsize = h->e_shentsize,
			 .e_shnum = h->e_shnum, .e_shstrndx = h->e_shstrndx };

	memcpy(w.e_ident, h->e_ident, EI_NIDENT);
	return w;
}

static Elf64_Phdr segment_at(const struct elfhead *h, const char *p)
{
	Elf64_Phdr w;
	Elf32_Phdr n;

	if (h->wide) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&n, p, sizeof(n));
	return (Elf64_Phdr){ n.p_type, n.p_flags, n.p_offset, n.p_vaddr, n.p_paddr, n.p_filesz, n.p_memsz, n.p_align };
}

static Elf64_Shdr section_at(const struct elfhead *h, const char *p)
{
	Elf64_Shdr w;
	Elf32_Shdr n;

	if (h->wide) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&n, p, sizeof(n));
	return (Elf64_Shdr){ n.sh_name, n.sh_type, n.sh_flags, n.sh_addr, n.sh_offset, n.sh_size, n.sh_link, n.sh_info,
			     n.sh_addralign, n.sh_entsize };
}

void elfhead_put_section(const struct elfhead *h, const Elf64_Shdr *s, void *to)
{
	Elf32_Shdr n = { s->sh_name, s->sh_type, (uint32_t)s->sh_flags, (uint32_t)s->sh_addr, (uint32_t)s->sh_offset,
			 (uint32_t)s->sh_size, s->sh_link, s->sh_info, (uint32_t)s->sh_addralign, (uint32_t)s->sh_entsize };

	if (h->wide)
		memcpy(to, s, sizeof(*s));
	else
		memcpy(to, &n, sizeof(n));
}

size_t elfhead_section_size(const struct elfhead *h)
{
	return h->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

size_t elfhead_symbol_size(const struct elfhead *h)
{
	return h->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static const char *read_header(struct elfhead *h)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} u = { 0 };
	size_t n = elfhead_bytes(h, 0, &u, sizeof(u));

	if (n < SELFMAG || memcmp(u.ident, ELFMAG, SELFMAG) != 0)
		return "not an ELF file";
	if (u.ident[EI_CLASS] != ELFCLASS64 && u.ident[EI_CLASS] != ELFCLASS32)
		return "an ELF file of an unknown class";
	if (u.ident[EI_DATA] != ELFDATA2LSB)
		return "an ELF file of another byte order";
	if (u.ident[EI_VERSION] != EV_CURRENT)
		return "an ELF file of an unknown version";
	h->wide = u.ident[EI_CLASS] == ELFCLASS64;
	if (n < (h->wide ? sizeof(u.h64) : sizeof(u.h32)))
		return "truncated";
	h->header = h->wide ? u.h64 : wide_header(&u.h32);
	return NULL;
}

/* A table of n entries in the file, as the arena's bytes; NULL where it does not lie in it. */
static char *read_table(struct elfhead *h, uint64_t at, size_t n, size_t size)
{
	char *p = arena_alloc(&h->arena, size, n + 1);

	if (at > h->source.size || n * size > h->source.size - at)
		return NULL;
	return elfhead_bytes(h, at, p, n * size) == n * size ? p : NULL;
}

/* Where there are many, section 0 has the numbers. */
static const char *read_sections(struct elfhead *h)
{
	size_t size = elfhead_section_size(h);
	uint64_t n = h->header.e_shnum, names = h->header.e_shstrndx;
	struct str text = { 0 };
	Elf64_Shdr first;
	char *table;

	if (h->header.e_shoff == 0)
		return NULL;
	table = read_table(h, h->header.e_shoff, 1, size);
	if (!table || h->header.e_shentsize != size)
		return "truncated";
	first = section_at(h, table);
	n = n ? n : first.sh_size;
	names = names == SHN_XINDEX ? first.sh_link : names;
	if (n > ELFHEAD_MOST_SECTIONS)
		return "too many sections";
	table = read_table(h, h->header.e_shoff, (size_t)n, size);
	if (!table)
		return "truncated";
	h->sections = (size_t)n;
	h->section = arena_new(&h->arena, Elf64_Shdr, n + 1);
	h->name = arena_new(&h->arena, struct str, n + 1);
	for (size_t i = 0; i < n; i++)
		h->section[i] = section_at(h, table + i * size);
	if (names < n && names && h->section[names].sh_type != SHT_NOBITS && h->section[names].sh_size <= NAMES_MAX) {
		text.n = (size_t)h->section[names].sh_size;
		text.p = read_table(h, h->section[names].sh_offset, text.n, 1);
	}
	for (size_t i = 0; text.p && i < n; i++)
		if (h->section[i].sh_name < text.n) /* there is a NUL behind the table */
			h->name[i] = str_of(text.p + h->section[i].sh_name);
	return NULL;
}

static const char *read_segments(struct elfhead *h)
{
	size_t size = h->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), n = h->header.e_phnum;
	char *table;

	if (n > ELFHEAD_MOST_SEGMENTS)
		return "too many segments";
	if (n == 0)
		return NULL;
	table = h->header.e_phentsize == size ? read_table(h, h->header.e_phoff, n, size) : NULL;
	if (!table)
		return "truncated";
	h->segments = n;
	h->segment = arena_new(&h->arena, Elf64_Phdr, n);
	for (size_t i = 0; i < n; i++)
		h->segment[i] = segment_at(h, table + i * size);
	return NULL;
}

const char *elfhead_read(struct elfhead *h, const struct elfhead_source *s, bool sections)
{
	const char *why;

	*h = (struct elfhead){ .source = *s };
	why = read_header(h);
	if (!why)
		why = read_segments(h);
	if (!why && sections)
		why = read_sections(h);
	return why;
}

void elfhead_free(struct elfhead *h)
{
	arena_free(&h->arena);
}

/* ---- build-id --------------------------------------------------------------------------------------------------------- */

static unsigned id_in_notes(struct str notes, uint8_t id[20])
{
	Elf64_Nhdr n; /* the same in both classes */

	while (notes.n >= sizeof(n)) {
		uint64_t name, desc, next;

		memcpy(&n, notes.p, sizeof(n));
		name = ((uint64_t)n.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)n.n_descsz + 3) & ~UINT64_C(3);
		next = sizeof(n) + name + desc;
		if (sizeof(n) + name + n.n_descsz > notes.n)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(notes.p + sizeof(n), "GNU", 4) == 0 && n.n_descsz) {
			unsigned size = n.n_descsz < 20 ? n.n_descsz : 20;

			memcpy(id, notes.p + sizeof(n) + name, size);
			return size;
		}
		notes = str_from(notes, next < notes.n ? (size_t)next : notes.n);
	}
	return 0;
}

unsigned elfhead_build_id(const struct elfhead *h, bool memory, uint8_t id[20])
{
	char *notes = mem_alloc(1, NOTES_MAX);
	unsigned n = 0;

	memset(id, 0, 20);
	for (size_t i = 0; i < h->segments && !n; i++) {
		const Elf64_Phdr *p = &h->segment[i];
		size_t size = p->p_filesz < NOTES_MAX ? (size_t)p->p_filesz : NOTES_MAX;

		if (p->p_type == PT_NOTE)
			n = id_in_notes((struct str){ notes, elfhead_bytes(h, memory ? p->p_vaddr : p->p_offset, notes, size) }, id);
	}
	/* the program may have none that is loaded */
	for (size_t i = 1; i < h->sections && !n; i++) {
		const Elf64_Shdr *s = &h->section[i];
		size_t size = s->sh_size < NOTES_MAX ? (size_t)s->sh_size : NOTES_MAX;

		if (s->sh_type == SHT_NOTE)
			n = id_in_notes((struct str){ notes, elfhead_bytes(h, s->sh_offset, notes, size) }, id);
	}
	free(notes);
	return n;
}
