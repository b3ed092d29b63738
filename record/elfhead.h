/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfhead.h - the headers of an ELF file: segments, sections, its build-id. From a file, or from the memory of a process.
 *
 * Without libelf: a recorder stays small, and what is read here belongs to whoever is profiled. Every number is checked before
 * it is believed, memory is bounded (MOST), and what cannot be used has a reason. Little-endian files of 32 and 64 bits; both
 * come out as 64 bits, and elfhead_put_section writes them as they were.
 */
#ifndef PJ_ELFHEAD_H
#define PJ_ELFHEAD_H

#include "arena.h"

#include <elf.h>

enum { ELFHEAD_MOST_SECTIONS = 16384, ELFHEAD_MOST_SEGMENTS = 1024 };

/* Bytes at a place; fewer than n where they end. */
struct elfhead_source {
	size_t (*read)(const struct elfhead_source *s, uint64_t at, void *p, size_t n);
	int fd;
	uint64_t bias; /* of memory: what is added to addresses */
	uint64_t size; /* of a file, else UINT64_MAX */
};

struct elfhead {
	struct elfhead_source source;
	bool wide;                /* 64 bits */
	Elf64_Ehdr header;
	size_t segments, sections;
	Elf64_Phdr *segment;
	Elf64_Shdr *section;      /* by index; 0 is unused */
	struct str *name;         /* of sections */
	struct arena arena;
};

/* Of a regular file, by pread. fd stays the caller's. */
bool elfhead_file(struct elfhead_source *s, int fd);

/* NULL, or why it cannot be used, a static text. Without sections: they are not looked for (in memory there are none). */
const char *elfhead_read(struct elfhead *h, const struct elfhead_source *s, bool sections);
void elfhead_free(struct elfhead *h); /* also after a failure */

/* Its size, at most 20; 0: there is none. memory: addresses of segments are asked for, not places in a file. */
unsigned elfhead_build_id(const struct elfhead *h, bool memory, uint8_t id[20]);

/* Sizes of header entries, and one section's or symbol's bytes as the file has them. */
size_t elfhead_section_size(const struct elfhead *h);
size_t elfhead_symbol_size(const struct elfhead *h);
void elfhead_put_section(const struct elfhead *h, const Elf64_Shdr *s, void *to);

static inline size_t elfhead_bytes(const struct elfhead *h, uint64_t at, void *p, size_t n)
{
	return h->source.read(&h->source, at, p, n);
}

#endif
