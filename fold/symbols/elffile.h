/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elffile.h - reads segments, sections and bytes of an ELF file.
 *
 * The headers are read once and checked (elfhead.h). Files are read by pread, never mapped: truncating a mapped file
 * ends its reader with SIGBUS. Large tables are read in parts, by elffile_read; other sections share a budget of bytes.
 * Supported are little-endian files of 32 and 64 bits.
 */
#ifndef PJ_ELFFILE_H
#define PJ_ELFFILE_H

#include "common/arena.h"
#include "common/formats/elfhead.h"

/* A program header of type PT_LOAD. */
struct elf_segment {
	uint64_t vaddr, offset, filesz, memsz;
	uint32_t flags;
};

struct elf_section {
	struct str name;
	uint32_t type, link;
	uint64_t flags, addr, offset, size, entsize, align;
};

struct elffile {
	int fd; /* descriptor of the file; -1: the file is an image in memory */
	struct elfhead head;
	uint64_t size; /* size of the file in bytes, when it was opened */
	uint64_t left; /* remaining number of bytes that elffile_bytes may read */
	uint16_t type, machine;
	bool wide; /* true if the file is of class ELFCLASS64 */
	size_t segments, sections;
	struct elf_segment *segment;
	struct elf_section *section; /* section headers, by section index; [0] is unused */
	struct arena arena;
};

/* Opens an ELF file. Returns NULL, or a static text with the reason of a failure. fd must stay valid until
 * elffile_close. */
const char *elffile_open(struct elffile *elffile, int fd);
/* Opens an image of an ELF file in memory. Returns NULL, or a static text with the reason of a failure. The image must
 * stay valid until elffile_close. */
const char *elffile_open_image(struct elffile *elffile, struct str image);
/* Frees the memory of elffile. Call it also if opening has failed. */
void elffile_close(struct elffile *elffile);

/* Returns the first section of this name, or NULL. */
const struct elf_section *elffile_section(const struct elffile *elffile, struct str name);

/* Reads n bytes at an offset. Returns the number of bytes read: less than n at the end of the file. */
size_t elffile_read(const struct elffile *elffile, uint64_t offset, void *p, size_t n);

/* Returns the decompressed contents of a section; empty on failure, or if the contents exceed `max` bytes or the
 * remaining budget of the file. The result is valid until elffile_close. Two threads must not use one elffile at a
 * time. */
struct str elffile_bytes(struct elffile *elffile, const struct elf_section *section, size_t max);

/* Sets *offset to the file offset of a virtual address. Returns false if no segment contains the address. */
bool elffile_offset(const struct elffile *elffile, uint64_t vaddr, uint64_t *offset);

/* Sets *vaddr to the virtual address of a file offset. Returns false if no segment contains the offset. */
bool elffile_address(const struct elffile *elffile, uint64_t offset, uint64_t *vaddr);

#endif
