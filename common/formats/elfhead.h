/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfhead.h - reads the headers of an ELF file once: segments, sections with their names, build-id, bytes of sections.
 *
 * The file belongs to the target process, which may write to it while it is read. So each header is read once, into
 * memory of this process, and every later decision uses that copy: a limit that was checked still holds when the bytes
 * are read (libelf reads headers again). Every number is checked before use, and the limits below bound memory and time
 * for any contents of the file. The source is a file, an image in memory, or the memory of a process. Files are
 * little-endian, of 32 or 64 bits. Headers of both are stored in the 64-bit structs; elfhead_put_section writes them in
 * the form of the file.
 */
#ifndef PJ_ELFHEAD_H
#define PJ_ELFHEAD_H

#include "common/arena.h"
#include "common/formats/buildid.h"

#include <elf.h>
#include <string.h>

enum {
	/* limit for section headers, beyond which a file is refused; linked files have fewer than 100, kernels some
	 * hundreds */
	ELFHEAD_SECTIONS_MAX = 65536,
	/* limit for program headers, beyond which a file is refused; linked files have about 15 */
	ELFHEAD_SEGMENTS_MAX = 512,
	/* limit for the name of a section in bytes, with its NUL; a longer name is treated as empty */
	ELFHEAD_NAME_MAX = 256,
};

/* Source of the bytes of an ELF file. read() copies n bytes at offset (for process memory: address) `at` to p. It
 * returns the number of copied bytes, less than n if the source ends before. */
struct elfhead_source {
	size_t (*read)(const struct elfhead_source *source, uint64_t at, void *p, size_t n);
	int fd;
	const char *image; /* contents of the file for elfhead_image; NULL for other sources */
	uint64_t bias;     /* number that read() adds to addresses, for process memory */
	uint64_t size;     /* size of the file or image in bytes; UINT64_MAX for process memory */
};

struct elfhead {
	struct elfhead_source source;
	bool wide; /* true for a 64-bit file, false for a 32-bit file */
	Elf64_Ehdr header;
	size_t segments, sections;
	Elf64_Phdr *segment;
	Elf64_Shdr *section; /* section headers by index; section 0 is the null section */
	/* Names of sections by index; empty if a section has none. */
	struct str *name;
	struct arena arena;
};

/* Initializes *source to read the regular file fd with pread(). Returns false if fd is no regular file. The caller
 * closes fd. */
bool elfhead_file(struct elfhead_source *source, int fd);

/* Returns a source that reads an ELF file in memory. The image must exist as long as the struct elfhead. */
struct elfhead_source elfhead_image(struct str image);

/* Reads the headers of source. Returns NULL on success, or the reason why the file cannot be used, a static text. If
 * `sections` is false, does not read section headers, which process memory does not contain. */
const char *elfhead_read(struct elfhead *elfhead, const struct elfhead_source *source, bool sections);
void elfhead_free(struct elfhead *elfhead); /* frees the headers; must be called after a failed elfhead_read, too */

/* Returns the loaded segment whose bytes in the file include this address; NULL if there is none. */
const Elf64_Phdr *elfhead_segment(const struct elfhead *elfhead, uint64_t address);

/* Returns the build-id of the file; its n is 0 if there is none. memory: true if the source reads by address, false if
 * by file offset. */
struct build_id elfhead_build_id(const struct elfhead *elfhead, bool memory);

/* elfhead_section_size and elfhead_symbol_size return the size in bytes of a section header and of a symbol in this
 * file. elfhead_put_section writes a section header to `to` in the form of the file (32 or 64 bits). */
size_t elfhead_section_size(const struct elfhead *elfhead);
size_t elfhead_symbol_size(const struct elfhead *elfhead);
void elfhead_put_section(const struct elfhead *elfhead, const Elf64_Shdr *section, void *to);

/* Returns the symbol at p, in the symbol table of a 64-bit file (wide) or of a 32-bit file. p need not be aligned. */
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

/* Returns false if bytes [at, at + n) of the file contain a hole. Linkers leave no holes in sections; a section with a
 * hole would cost its author no disk space, but its reader n bytes of memory. Always returns true if n is below 1 MiB,
 * for images and process memory, and on file systems without holes. */
bool elfhead_is_dense(const struct elfhead *elfhead, uint64_t at, uint64_t n);

/* Returns the bytes of a section; decompresses zlib, no other method. The bytes are in memory of `arena`, or part of
 * the image of elfhead_image. Returns an empty str if the section has more than max bytes, contains a hole or is not
 * within the file, or if decompression fails. Returns fewer bytes if the file becomes shorter during the read. */
struct str elfhead_section(const struct elfhead *elfhead, const Elf64_Shdr *section, struct arena *arena, uint64_t max);

/* Decompresses `packed` bytes (zlib) at file offset `at` into exactly n bytes at `to`. Returns false if the data are
 * damaged or give fewer than n bytes. */
bool elfhead_inflate(const struct elfhead *elfhead, uint64_t at, uint64_t packed, char *to, uint64_t n);

static inline size_t elfhead_bytes(const struct elfhead *elfhead, uint64_t at, void *p, size_t n)
{
	return elfhead->source.read(&elfhead->source, at, p, n);
}

#endif
