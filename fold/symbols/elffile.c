/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/elffile.h"

#define BYTES_MAX      \
	((uint64_t)512 \
	 << 20) /* of all sections that are asked for: tables of symbols are read in parts, and do not count */

size_t elffile_read(const struct elffile *f, uint64_t offset, void *p, size_t n)
{
	return elfhead_bytes(&f->head, offset, p, n);
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

static void note_segments(struct elffile *f)
{
	f->segment = arena_new(&f->arena, struct elf_segment, f->head.segments);
	for (size_t i = 0; i < f->head.segments; i++) {
		const Elf64_Phdr *p = &f->head.segment[i];

		if (p->p_type == PT_LOAD && (p->p_memsz || p->p_filesz))
			f->segment[f->segments++] =
				(struct elf_segment){ p->p_vaddr, p->p_offset, p->p_filesz, p->p_memsz, p->p_flags };
	}
}

static void note_sections(struct elffile *f)
{
	f->sections = f->head.sections;
	f->section = arena_new(&f->arena, struct elf_section, f->sections);
	for (size_t i = 0; i < f->sections; i++) {
		const Elf64_Shdr *s = &f->head.section[i];

		f->section[i] = (struct elf_section){ .name = f->head.name[i],
						      .type = s->sh_type,
						      .link = s->sh_link,
						      .flags = s->sh_flags,
						      .addr = s->sh_addr,
						      .offset = s->sh_offset,
						      .size = s->sh_size,
						      .entsize = s->sh_entsize,
						      .align = s->sh_addralign };
	}
}

static const char *open_source(struct elffile *f, const struct elfhead_source *source)
{
	const char *why = elfhead_read(&f->head, source, true);

	f->left = BYTES_MAX;
	if (why)
		return why;
	f->size = source->size;
	f->wide = f->head.wide;
	f->type = f->head.header.e_type;
	f->machine = f->head.header.e_machine;
	note_segments(f);
	note_sections(f);
	return NULL;
}

const char *elffile_open(struct elffile *f, int fd)
{
	struct elfhead_source source;

	*f = (struct elffile){ .fd = fd };
	return elfhead_file(&source, fd) ? open_source(f, &source) : "not a regular file";
}

const char *elffile_open_image(struct elffile *f, struct str image)
{
	struct elfhead_source source = elfhead_image(image);

	*f = (struct elffile){ .fd = -1 };
	return open_source(f, &source);
}

void elffile_close(struct elffile *f)
{
	elfhead_free(&f->head);
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

struct str elffile_bytes(struct elffile *f, const struct elf_section *s, size_t max)
{
	struct str bytes;

	if (!s)
		return (struct str){ 0 };
	bytes = elfhead_section(&f->head, &f->head.section[s - f->section], &f->arena, max < f->left ? max : f->left);
	f->left -= bytes.n;
	return bytes;
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
