/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/elffile.h"

#define BYTES_MAX      \
	((uint64_t)512 \
	 << 20) /* limit in bytes for all sections that elffile_bytes reads of a file; sections beyond are empty */

size_t elffile_read(const struct elffile *elffile, uint64_t offset, void *p, size_t n)
{
	return elfhead_bytes(&elffile->head, offset, p, n);
}

/* ---- opening of files and images ------------------------------------------------------------------------------ */

static void note_segments(struct elffile *elffile)
{
	elffile->segment = arena_new(&elffile->arena, struct elf_segment, elffile->head.segments);
	for (size_t i = 0; i < elffile->head.segments; i++) {
		const Elf64_Phdr *p = &elffile->head.segment[i];

		if (p->p_type == PT_LOAD && (p->p_memsz || p->p_filesz))
			elffile->segment[elffile->segments++] =
				(struct elf_segment){ p->p_vaddr, p->p_offset, p->p_filesz, p->p_memsz, p->p_flags };
	}
}

static void note_sections(struct elffile *elffile)
{
	elffile->sections = elffile->head.sections;
	elffile->section = arena_new(&elffile->arena, struct elf_section, elffile->sections);
	for (size_t i = 0; i < elffile->sections; i++) {
		const Elf64_Shdr *section = &elffile->head.section[i];

		elffile->section[i] = (struct elf_section){ .name = elffile->head.name[i],
							    .type = section->sh_type,
							    .link = section->sh_link,
							    .flags = section->sh_flags,
							    .addr = section->sh_addr,
							    .offset = section->sh_offset,
							    .size = section->sh_size,
							    .entsize = section->sh_entsize,
							    .align = section->sh_addralign };
	}
}

static const char *open_source(struct elffile *elffile, const struct elfhead_source *source)
{
	const char *why = elfhead_read(&elffile->head, source, true);

	elffile->left = BYTES_MAX;
	if (why)
		return why;
	elffile->size = source->size;
	elffile->wide = elffile->head.wide;
	elffile->type = elffile->head.header.e_type;
	elffile->machine = elffile->head.header.e_machine;
	note_segments(elffile);
	note_sections(elffile);
	return NULL;
}

const char *elffile_open(struct elffile *elffile, int fd)
{
	struct elfhead_source source;

	*elffile = (struct elffile){ .fd = fd };
	return elfhead_file(&source, fd) ? open_source(elffile, &source) : "not a regular file";
}

const char *elffile_open_image(struct elffile *elffile, struct str image)
{
	struct elfhead_source source = elfhead_image(image);

	*elffile = (struct elffile){ .fd = -1 };
	return open_source(elffile, &source);
}

void elffile_close(struct elffile *elffile)
{
	elfhead_free(&elffile->head);
	arena_free(&elffile->arena);
	*elffile = (struct elffile){ .fd = -1 };
}

/* ---- sections and addresses --------------------------------------------------------------------------------- */

const struct elf_section *elffile_section(const struct elffile *elffile, struct str name)
{
	for (size_t i = 1; i < elffile->sections; i++)
		if (str_eq(elffile->section[i].name, name))
			return &elffile->section[i];
	return NULL;
}

struct str elffile_bytes(struct elffile *elffile, const struct elf_section *section, size_t max)
{
	struct str bytes;

	if (!section)
		return (struct str){ 0 };
	bytes = elfhead_section(&elffile->head, &elffile->head.section[section - elffile->section], &elffile->arena,
				max < elffile->left ? max : elffile->left);
	elffile->left -= bytes.n;
	return bytes;
}

bool elffile_offset(const struct elffile *elffile, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < elffile->segments; i++) {
		const struct elf_segment *segment = &elffile->segment[i];

		if (vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < (segment->memsz > segment->filesz ? segment->memsz : segment->filesz)) {
			*offset = vaddr - segment->vaddr + segment->offset;
			return true;
		}
	}
	return false;
}

bool elffile_address(const struct elffile *elffile, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < elffile->segments; i++) {
		const struct elf_segment *segment = &elffile->segment[i];

		if (offset >= segment->offset && offset - segment->offset < segment->filesz) {
			*vaddr = offset - segment->offset + segment->vaddr;
			return true;
		}
	}
	return false;
}
