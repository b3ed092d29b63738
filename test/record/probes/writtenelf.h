/* SPDX-License-Identifier: Apache-2.0 */
/* writtenelf.h - writes ELF files with hostile symbol tables, for tests of probes. */
#ifndef PJ_WRITTENELF_H
#define PJ_WRITTENELF_H

#include "common/text.h"

#include <elf.h>
#include <string.h>

enum {
	WRITTEN_CODE = 0x100,
	WRITTEN_SYMBOLS = 0x200,
	WRITTEN_STRINGS = 0x400,
	WRITTEN_SECTIONS = 0x20000,
	WRITTEN_LONG = 0x10000
};

/* Writes an ELF file with one segment of code and a table of `n` symbols. The caller frees the text. */
static inline struct text written_elf(const Elf64_Sym *symbol, size_t n, struct str strings)
{
	struct text image = { 0 };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_shoff = WRITTEN_SECTIONS,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3 };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = WRITTEN_CODE,
			       .p_vaddr = 0x5100,
			       .p_filesz = 0x100,
			       .p_memsz = 0x100 };
	Elf64_Shdr section[3] = { { .sh_type = SHT_NULL },
				  { .sh_type = SHT_SYMTAB,
				    .sh_offset = WRITTEN_SYMBOLS,
				    .sh_size = n * sizeof(*symbol),
				    .sh_link = 2,
				    .sh_entsize = sizeof(*symbol) },
				  { .sh_type = SHT_STRTAB, .sh_offset = WRITTEN_STRINGS, .sh_size = strings.n } };

	text_reserve(&image, WRITTEN_SECTIONS + sizeof(section));
	memset(image.p, 0, WRITTEN_SECTIONS + sizeof(section));
	image.n = WRITTEN_SECTIONS + sizeof(section);
	memcpy(image.p, &header, sizeof(header));
	memcpy(image.p + sizeof(header), &segment, sizeof(segment));
	memcpy(image.p + WRITTEN_SYMBOLS, symbol, n * sizeof(*symbol));
	memcpy(image.p + WRITTEN_STRINGS, strings.p, strings.n);
	memcpy(image.p + WRITTEN_SECTIONS, section, sizeof(section));
	return image;
}

#define FUNCTION(name, bind, kind, value)                                                                    \
	{                                                                                                    \
		.st_name = (name), .st_info = ELF64_ST_INFO(bind, kind), .st_shndx = 1, .st_value = (value), \
		.st_size = 8                                                                                 \
	}

#endif
