/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elffile.h - the parts of an ELF file: segments, sections, bytes.
 *
 * The headers are read once and checked (elfhead.h); files are read (pread), never mapped: a mapped file that shrinks
 * ends its reader with SIGBUS. Large tables are read in parts, through elffile_read; other sections share a budget of
 * bytes. Little-endian files of 32 and 64 bits.
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
	int fd; /* or -1: an image in memory */
	struct elfhead head;
	uint64_t size; /* of the file, when it was opened */
	uint64_t left; /* bytes of sections that may still be asked for */
	uint16_t type, machine;
	bool wide; /* 64 bits */
	size_t segments, sections;
	struct elf_segment *segment;
	struct elf_section *section; /* by index; 0 is unused */
	struct arena arena;
};

/* NULL, or why it cannot be used. fd and image stay the caller's; image must live as long as elffile. */
const char *elffile_open(struct elffile *elffile, int fd);
const char *elffile_open_image(struct elffile *elffile, struct str image);
void elffile_close(struct elffile *elffile); /* also after a failed open */

const struct elf_section *elffile_section(const struct elffile *elffile, struct str name); /* the first, or NULL */

/* Bytes of the file; fewer than n where it ends. */
size_t elffile_read(const struct elffile *elffile, uint64_t offset, void *p, size_t n);

/* A complete section, decompressed, of at most max bytes; empty if it cannot be had. Lives as long as elffile. Not
 * thread-safe for one elffile. */
struct str elffile_bytes(struct elffile *elffile, const struct elf_section *section, size_t max);

/* The place in the file of an address; false when no segment holds it. */
bool elffile_offset(const struct elffile *elffile, uint64_t vaddr, uint64_t *offset);

/* The address of a place in the file; false when no segment has it. */
bool elffile_address(const struct elffile *elffile, uint64_t offset, uint64_t *vaddr);

#endif
