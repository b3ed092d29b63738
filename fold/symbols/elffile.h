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

struct elf_segment { /* PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	uint32_t flags;
};

struct elf_section {
	struct str name;
	uint32_t type, link;
	uint64_t flags, addr, offset, size, entsize, align;
};

struct elffile {
	int fd; /* descriptor; -1: an image in memory */
	struct elfhead head;
	uint64_t size; /* of the file at its opening */
	uint64_t left; /* rest of the budget for bytes of sections */
	uint16_t type, machine;
	bool wide; /* 64 bits */
	size_t segments, sections;
	struct elf_segment *segment;
	struct elf_section *section; /* by index; 0 is unused */
	struct arena arena;
};

/* Opens a file or an image. Returns NULL, or the reason of a failure as a static text. fd and image stay the caller's
 * and must live as long as elffile. */
const char *elffile_open(struct elffile *elffile, int fd);
const char *elffile_open_image(struct elffile *elffile, struct str image);
void elffile_close(struct elffile *elffile); /* also after a failed open */

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
