/* SPDX-License-Identifier: Apache-2.0 */
#include "elffile.h"

#include "whole.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_SECTIONS 100000 /* libelf takes 300 bytes for each; linked files have less than 100 */
#define MOST_SEGMENTS 4096
#define NAMES_MAX     (16u << 20)

size_t elffile_read(const struct elffile *f, uint64_t offset, void *p, size_t n)
{
	if (offset >= f->size)
		return 0;
	if (n > f->size - offset)
		n = (size_t)(f->size - offset);
	if (f->fd < 0) {
		memcpy(p, f->image.p + offset, n);
		return n;
	}
	return whole_pread(f->fd, p, n, offset);
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* How many sections and segments the header tells; they may be kept in section 0 when there are many. */
struct counts {
	uint64_t sections, segments, table, table_bytes;
};

static const char *count(const struct elffile *f, const Elf64_Ehdr *h64, const Elf32_Ehdr *h32, struct counts *c)
{
	Elf64_Shdr s64 = { 0 };
	Elf32_Shdr s32 = { 0 };
	uint64_t first_size = 0, first_info = 0;

	c->table = f->wide ? h64->e_shoff : h32->e_shoff;
	c->sections = f->wide ? h64->e_shnum : h32->e_shnum;
	c->segments = f->wide ? h64->e_phnum : h32->e_phnum;
	if (c->table) {
		if (f->wide ? elffile_read(f, c->table, &s64, sizeof(s64)) < sizeof(s64) :
			      elffile_read(f, c->table, &s32, sizeof(s32)) < sizeof(s32))
			return "truncated";
		first_size = f->wide ? s64.sh_size : s32.sh_size;
		first_info = f->wide ? s64.sh_info : s32.sh_info;
	}
	if (c->sections == 0)
		c->sections = first_size;
	if (c->segments == PN_XNUM)
		c->segments = first_info;
	c->table_bytes = f->wide ? sizeof(s64) : sizeof(s32);
	return NULL;
}

/* What libelf must not see. */
static const char *refuse(struct elffile *f)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} h = { 0 };
	size_t n = elffile_read(f, 0, &h, sizeof(h));
	struct counts c;
	const char *why;

	if (n < SELFMAG || memcmp(h.ident, ELFMAG, SELFMAG) != 0)
		return "not an ELF file";
	if (n < sizeof(h.h32))
		return "truncated";
	if (h.ident[EI_CLASS] != ELFCLASS64 && h.ident[EI_CLASS] != ELFCLASS32)
		return "an ELF file of an unknown class";
	if (h.ident[EI_DATA] != ELFDATA2LSB)
		return "an ELF file of another byte order";
	if (h.ident[EI_VERSION] != EV_CURRENT)
		return "an ELF file of an unknown version";
	f->wide = h.ident[EI_CLASS] == ELFCLASS64;
	if (f->wide && n < sizeof(h.h64))
		return "truncated";
	if ((f->wide ? h.h64.e_shnum && h.h64.e_shentsize != sizeof(Elf64_Shdr) : h.h32.e_shnum && h.h32.e_shentsize != sizeof(Elf32_Shdr)) ||
	    (f->wide ? h.h64.e_phnum && h.h64.e_phentsize != sizeof(Elf64_Phdr) : h.h32.e_phnum && h.h32.e_phentsize != sizeof(Elf32_Phdr)))
		return "an ELF file with headers of an unknown size";
	why = count(f, &h.h64, &h.h32, &c);
	if (why)
		return why;
	if (c.sections > MOST_SECTIONS)
		return "an ELF file with too many sections";
	if (c.segments > MOST_SEGMENTS)
		return "an ELF file with too many segments";
	if (c.sections * c.table_bytes > f->size - c.table)
		return "truncated";
	return NULL;
}

static void read_segments(struct elffile *f)
{
	size_t n = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(f->elf, &n) < 0 || n > MOST_SEGMENTS)
		return;
	f->segment = arena_new(&f->arena, struct elf_segment, n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_memsz || p.p_filesz))
			f->segment[f->segments++] = (struct elf_segment){ p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz, p.p_flags };
}

static struct str name_at(struct str names, uint64_t at)
{
	const char *end;

	if (at >= names.n)
		return (struct str){ 0 };
	end = memchr(names.p + at, 0, names.n - at);
	return end ? (struct str){ names.p + at, (size_t)(end - names.p) - at } : (struct str){ 0 };
}

static void read_sections(struct elffile *f)
{
	size_t n = 0, names_at = 0;
	uint32_t *name;
	struct str names = { 0 };

	if (elf_getshdrnum(f->elf, &n) < 0 || n > MOST_SECTIONS)
		return;
	f->section = arena_new(&f->arena, struct elf_section, n);
	name = mem_alloc(sizeof(*name), n + 1);
	for (f->sections = 0; f->sections < n; f->sections++) {
		Elf_Scn *scn = elf_getscn(f->elf, f->sections);
		GElf_Shdr s;

		if (!scn || !gelf_getshdr(scn, &s))
			break;
		name[f->sections] = s.sh_name;
		f->section[f->sections] = (struct elf_section){ .type = s.sh_type, .link = s.sh_link, .flags = s.sh_flags,
			.addr = s.sh_addr, .offset = s.sh_offset, .size = s.sh_size, .entsize = s.sh_entsize, .align = s.sh_addralign };
	}
	if (elf_getshdrstrndx(f->elf, &names_at) == 0 && names_at > 0 && names_at < f->sections)
		names = elffile_bytes(f, &f->section[names_at], NAMES_MAX);
	for (size_t i = 1; i < f->sections; i++)
		f->section[i].name = name_at(names, name[i]);
	free(name);
}

static const char *read_headers(struct elffile *f)
{
	GElf_Ehdr h;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &h))
		return "not an ELF file";
	f->type = h.e_type;
	f->machine = h.e_machine;
	read_segments(f);
	read_sections(f);
	return NULL;
}

const char *elffile_open(struct elffile *f, int fd)
{
	struct stat st;
	const char *why;

	*f = (struct elffile){ .fd = fd };
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return "not a regular file";
	f->size = (uint64_t)st.st_size;
	why = refuse(f);
	if (why)
		return why;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	return read_headers(f);
}

const char *elffile_open_image(struct elffile *f, struct str image)
{
	const char *why;

	*f = (struct elffile){ .fd = -1, .image = image, .size = image.n };
	why = refuse(f);
	if (why)
		return why;
	elf_version(EV_CURRENT);
	/* libelf wants a pointer to what it may change, but changes nothing in what is only read */
	f->elf = elf_memory((char *)(uintptr_t)image.p, image.n);
	return read_headers(f);
}

void elffile_close(struct elffile *f)
{
	if (f->elf)
		elf_end(f->elf);
	arena_free(&f->arena);
	*f = (struct elffile){ .fd = -1 };
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

const struct elf_section *elffile_section(const struct elffile *f, struct str name)
{
	for (size_t i = 1; i < f->sections; i++)
		if (str_eq(f->section[i].name, name))
			return &f->section[i];
	return NULL;
}

static struct str packed_bytes(struct elffile *f, const struct elf_section *s, size_t max)
{
	Elf_Scn *scn = elf_getscn(f->elf, (size_t)(s - f->section));
	GElf_Chdr c;
	Elf_Data *data;

	/* the second time it is unpacked already, and has no such header any more */
	if (!scn || (gelf_getchdr(scn, &c) && (c.ch_type != ELFCOMPRESS_ZLIB || c.ch_size > max || elf_compress(scn, 0, 0) < 0)))
		return (struct str){ 0 };
	data = elf_rawdata(scn, NULL);
	return data && data->d_buf ? (struct str){ data->d_buf, data->d_size } : (struct str){ 0 };
}

struct str elffile_bytes(struct elffile *f, const struct elf_section *s, size_t max)
{
	char *p;

	if (!s || s->type == SHT_NOBITS || s->size == 0 || s->size > max || s->offset > f->size || s->size > f->size - s->offset)
		return (struct str){ 0 };
	if (s->flags & SHF_COMPRESSED)
		return packed_bytes(f, s, max);
	if (f->fd < 0)
		return str_head(str_from(f->image, s->offset), s->size);
	p = arena_alloc(&f->arena, 1, s->size);
	return (struct str){ p, elffile_read(f, s->offset, p, s->size) };
}

bool elffile_offset(const struct elffile *f, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < f->segments; i++) {
		const struct elf_segment *p = &f->segment[i];

		if (vaddr >= p->vaddr && vaddr - p->vaddr < (p->memsz > p->filesz ? p->memsz : p->filesz)) {
			*offset = vaddr - p->vaddr + p->offset;
			return true;
		}
	}
	return false;
}

bool elffile_address(const struct elffile *f, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < f->segments; i++) {
		const struct elf_segment *p = &f->segment[i];

		if (offset >= p->offset && offset - p->offset < p->filesz) {
			*vaddr = offset - p->offset + p->vaddr;
			return true;
		}
	}
	return false;
}
