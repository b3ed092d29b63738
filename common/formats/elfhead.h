/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfhead.h - the headers of an ELF file, read once: segments, sections with their names, build-id, bytes of sections.
 *
 * The file belongs to the process that is profiled: its author may write to it while it is read. So each header is read
 * once, into memory of ours, and every later decision uses that copy: a limit that was checked still holds when the
 * bytes are read (libelf reads headers again). Every number is checked before it is used, and memory and time are
 * bounded by the limits below, whatever the file claims. Sources are a file, an image in memory, or the memory of a
 * process. Files are little-endian, of 32 or 64 bits. Headers of both are stored in the 64-bit structs;
 * elfhead_put_section writes them in the file's own form.
 */
#ifndef PJ_ELFHEAD_H
#define PJ_ELFHEAD_H

#include "common/arena.h"
#include "common/formats/buildid.h"

#include <elf.h>
#include <string.h>

enum {
	/* limit for section headers; linked files have less than 100, kernels some hundreds */
	ELFHEAD_SECTIONS_MAX = 65536,
	ELFHEAD_SEGMENTS_MAX = 512, /* limit for program headers; linked files have about 15 */
	ELFHEAD_NAME_MAX = 256,     /* bytes of a section's name with its NUL; a longer name is left empty */
};

/* Where the bytes of an ELF file come from. read() copies n bytes at offset (or address) `at` to p; it returns their
 * number, less than n if the source ends before. */
struct elfhead_source {
	size_t (*read)(const struct elfhead_source *source, uint64_t at, void *p, size_t n);
	int fd;
	const char *image; /* the file's contents for elfhead_image, else NULL */
	uint64_t bias;     /* for a source of process memory: number that read() adds to addresses */
	uint64_t size;     /* size of the file or image in bytes; UINT64_MAX for process memory */
};

struct elfhead {
	struct elfhead_source source;
	bool wide; /* true: a 64-bit file, false: a 32-bit file */
	Elf64_Ehdr header;
	size_t segments, sections;
	Elf64_Phdr *segment;
	Elf64_Shdr *section; /* by index; index 0 is no real section */
	/* Name of each section, by index; empty if it has none. */
	struct str *name;
	struct arena arena;
};

/* Makes *source read the regular file fd with pread. Returns false if fd is not a regular file. The caller closes
 * fd. */
bool elfhead_file(struct elfhead_source *source, int fd);

/* Returns a source that reads a file in memory. The image must live as long as the headers. */
struct elfhead_source elfhead_image(struct str image);

/* Reads the headers of source. Returns NULL, or a static text: why the file cannot be used. sections false: leaves out
 * the section headers, which do not exist in a process's memory. */
const char *elfhead_read(struct elfhead *elfhead, const struct elfhead_source *source, bool sections);
void elfhead_free(struct elfhead *elfhead); /* frees the headers; needed after a failed elfhead_read, too */

/* Returns the loaded segment whose bytes in the file have this address; NULL if there is none. */
const Elf64_Phdr *elfhead_segment(const struct elfhead *elfhead, uint64_t address);

/* Returns the build-id of the file; its n is 0 if there is none. memory: true if the source takes addresses, false if
 * it takes offsets in the file. */
struct build_id elfhead_build_id(const struct elfhead *elfhead, bool memory);

/* elfhead_section_size and elfhead_symbol_size return the bytes of a section header and of a symbol in this file.
 * elfhead_put_section writes a section header to `to` in the file's own form (32 or 64 bits). */
size_t elfhead_section_size(const struct elfhead *elfhead);
size_t elfhead_symbol_size(const struct elfhead *elfhead);
void elfhead_put_section(const struct elfhead *elfhead, const Elf64_Shdr *section, void *to);

/* Returns the symbol at p of a table of a 64-bit file (wide), or of a 32-bit file. p need not be aligned. */
static inline Elf64_Sym elfhead_symbol(const char *p, bool wide)
{
	Elf64_Sym symbol;
	Elf32_Sym narrow;

	if (wide) {
		memcpy(&symbol, p, sizeof(symbol));
		return symbol;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return (Elf64_Sym){ narrow.st_name,  narrow.st_info,  narrow.st_other,
			    narrow.st_shndx, narrow.st_value, narrow.st_size };
}

/* Returns false if bytes [at, at + n) of the file have a hole. Linkers leave no holes in sections: such a section takes
 * nothing of its author's disk, but n bytes of its reader's memory. Returns true for less than 1 MiB, for memory, and
 * if the file system has no holes. */
bool elfhead_is_dense(const struct elfhead *elfhead, uint64_t at, uint64_t n);

/* Returns the bytes of a section, decompressed (zlib): in memory of `arena`, or a part of the image of elfhead_image.
 * Returns an empty str if they are more than max, have a hole or are not within the file, or if decompression fails;
 * fewer bytes if the file is shortened meanwhile. */
struct str elfhead_section(const struct elfhead *elfhead, const Elf64_Shdr *section, struct arena *arena, uint64_t max);

/* Decompresses `packed` bytes (zlib) at offset `at` of the file into exactly n bytes. Returns false if they are damaged
 * or give fewer bytes. */
bool elfhead_inflate(const struct elfhead *elfhead, uint64_t at, uint64_t packed, char *to, uint64_t n);

static inline size_t elfhead_bytes(const struct elfhead *elfhead, uint64_t at, void *p, size_t n)
{
	return elfhead->source.read(&elfhead->source, at, p, n);
}

#endif
