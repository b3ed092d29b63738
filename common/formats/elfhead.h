/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfhead.h - the headers of an ELF file, read once: segments, sections with their names, build-id, bytes of sections.
 *
 * The file belongs to the process that is profiled: its author may write to it while it is read. So each header is read
 * once, into memory of ours, and every later decision uses that copy: a limit that was checked still holds when the
 * bytes are read (libelf reads headers again). Every number is checked before it is used, and memory and time are
 * bounded by the limits below, whatever the file claims. Sources are a file, an image in memory, or the memory of a
 * process. Little-endian files of 32 and 64 bits; both come out as 64 bits, and elfhead_put_section writes them as they
 * were.
 */
#ifndef PJ_ELFHEAD_H
#define PJ_ELFHEAD_H

#include "common/arena.h"
#include "common/formats/buildid.h"

#include <elf.h>

enum {
	ELFHEAD_SECTIONS_MAX = 65536, /* linked files have less than 100; kernels some hundreds */
	ELFHEAD_SEGMENTS_MAX = 512,   /* linked files have about 15 */
	ELFHEAD_NAME_MAX = 256,       /* bytes of a section's name; a longer one is no name */
};

/* Bytes at a place; fewer than n where they end. */
struct elfhead_source {
	size_t (*read)(const struct elfhead_source *source, uint64_t at, void *p, size_t n);
	int fd;
	const char *image; /* of a file in memory */
	uint64_t bias;     /* of memory of a process: what is added to addresses */
	uint64_t size;     /* of a file, else UINT64_MAX */
};

struct elfhead {
	struct elfhead_source source;
	bool wide; /* 64 bits */
	Elf64_Ehdr header;
	size_t segments, sections;
	Elf64_Phdr *segment;
	Elf64_Shdr *section; /* by index; 0 is unused */
	struct str *name;    /* of sections */
	struct arena arena;
};

/* Sets *source to a regular file, which is read by pread. Returns false if fd is none. The caller closes fd. */
bool elfhead_file(struct elfhead_source *source, int fd);

/* Returns a source for a file in memory, which must live as long as the headers. */
struct elfhead_source elfhead_image(struct str image);

/* NULL, or why it cannot be used, a static text. Without sections: they are not looked for (in memory there are none).
 */
const char *elfhead_read(struct elfhead *elfhead, const struct elfhead_source *source, bool sections);
void elfhead_free(struct elfhead *elfhead); /* also after a failure */

/* Returns the build-id; n is 0 if there is none. memory: the source has addresses of segments, not offsets in a file.
 */
struct build_id elfhead_build_id(const struct elfhead *elfhead, bool memory);

/* Sizes of header entries, and one section's or symbol's bytes as the file has them. */
size_t elfhead_section_size(const struct elfhead *elfhead);
size_t elfhead_symbol_size(const struct elfhead *elfhead);
void elfhead_put_section(const struct elfhead *elfhead, const Elf64_Shdr *section, void *to);

/* False if bytes [at, at + n) of the file have a hole: linkers leave none in sections, so such a section costs its
 * author nothing and its reader n bytes. File systems without holes have none. */
bool elfhead_is_dense(const struct elfhead *elfhead, uint64_t at, uint64_t n);

/* The bytes of a section, decompressed (zlib), in memory of `arena`; empty if they are more than max, or not in the
 * file, or damaged. */
struct str elfhead_section(const struct elfhead *elfhead, const Elf64_Shdr *section, struct arena *arena, uint64_t max);

/* Decompresses (zlib) packed bytes at a place of the file into exactly n bytes; false if they are damaged, or fewer. */
bool elfhead_inflate(const struct elfhead *elfhead, uint64_t at, uint64_t packed, char *to, uint64_t n);

static inline size_t elfhead_bytes(const struct elfhead *elfhead, uint64_t at, void *p, size_t n)
{
	return elfhead->source.read(&elfhead->source, at, p, n);
}

#endif
