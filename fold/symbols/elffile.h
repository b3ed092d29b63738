/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elffile.h - reads segments, sections and bytes of an ELF file.
 *
 * The headers are read once and checked (elfhead.h). Files are read by pread, never mapped: truncating a mapped file
 * ends its reader with SIGBUS. Large tables are read in parts, by elffile_read; other sections share a budget of bytes.
 * Little-endian files of 32 and 64 bits.
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
	uint64_t left; /* budget for sections that is left, in bytes */
	uint16_t type, machine;
	bool wide; /* the file is of class ELFCLASS64 */
	size_t segments, sections;
	struct elf_segment *segment;
	struct elf_section *section; /* section headers, by section index; [0] is unused */
	struct arena arena;
};

/* Opens a file or an image. Returns NULL, or the reason of a failure as a static text. fd and image are not
 * copied: the caller keeps them valid until elffile_close(). */
const char *elffile_open(struct elffile *elffile, int fd);
const char *elffile_open_image(struct elffile *elffile, struct str image);
/* Frees the memory of elffile. Call it also if opening has failed. */
void elffile_close(struct elffile *elffile);

/* Returns the first section of this name, or NULL. */
const struct elf_section *elffile_section(const struct elffile *elffile, struct str name);

/* Reads bytes at an offset. Returns their number, less than n at the end of the file. */
size_t elffile_read(const struct elffile *elffile, uint64_t offset, void *p, size_t n);

/* Returns a complete section, decompressed, of at most max bytes; empty on failure. Valid as long as elffile. One
 * elffile must not be used by two threads at a time. */
struct str elffile_bytes(struct elffile *elffile, const struct elf_section *section, size_t max);

/* Returns the file offset of an address; false if no segment contains it. */
bool elffile_offset(const struct elffile *elffile, uint64_t vaddr, uint64_t *offset);

/* Returns the address of a file offset; false if no segment contains it. */
bool elffile_address(const struct elffile *elffile, uint64_t offset, uint64_t *vaddr);

#endif
