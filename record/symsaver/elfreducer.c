/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/elfreducer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_MAX ((uint64_t)4 << 30) /* of places: a larger program would be a hole of that size for who copies it */
#define ALIGN_MAX 4096u
#define BLOCK ((size_t)64 << 10)

const char reducer_too_large[] = "too large";
const char reducer_cannot_write[] = "cannot write";

struct elfreducer {
	struct elfhead head;
	int out;
	bool has_got_stubs; /* .plt.got */
	bool *keep;         /* by section */
	uint64_t *from;     /* by section: where its bytes are in the original */
	uint64_t end;       /* of what is laid out so far */
	uint64_t bytes, max;
	char *block;
};

/* ---- what is kept -------------------------------------------------------------------------------------------------
 */

static bool is_one_of(struct str name, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, list[i]))
			return true;
	return false;
}

/* What plt.c of the fold reads to name stubs; what leads to symbols elsewhere, or holds them packed; what unwinds. */
static bool is_wanted(const struct elfreducer *r, size_t i)
{
	static const struct str names[] = {
		STR(".plt"),           STR(".plt.sec"),  STR(".plt.got"),       STR(".rela.plt"),
		STR(".rel.plt"),       STR(".dynamic"),  STR(".gnu_debuglink"), STR(".gnu_debugaltlink"),
		STR(".gnu_debugdata"), STR(".eh_frame"), STR(".eh_frame_hdr"),  STR(".debug_frame"),
	};

	if (i == r->head.header.e_shstrndx)
		return true;
	switch (r->head.section[i].sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
	case SHT_NOTE:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed: return true;
	case SHT_NULL:
	case SHT_NOBITS: return false;
	default:
		/* stubs without a relocation of their own have one here; else it is long, and of no use */
		if (str_eq(r->head.name[i], STR(".rela.dyn")))
			return r->has_got_stubs;
		return is_one_of(r->head.name[i], names, countof(names));
	}
}

static void elfreducer_choose(struct elfreducer *r)
{
	const struct elfhead *h = &r->head;

	for (size_t i = 1; i < h->sections && !r->has_got_stubs; i++)
		r->has_got_stubs = str_eq(h->name[i], STR(".plt.got"));
	for (size_t i = 1; i < h->sections; i++)
		r->keep[i] = r->keep[i] || is_wanted(r, i);
	for (size_t i = 1; i < h->sections; i++) {
		const Elf64_Shdr *s = &h->section[i];
		size_t strings = s->sh_link;

		if ((s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM) && strings < h->sections)
			r->keep[strings] = true;
	}
	if (h->header.e_shstrndx == SHN_XINDEX && h->section[0].sh_link < h->sections)
		r->keep[h->section[0].sh_link] = true;
	r->keep[0] = false;
	for (size_t i = 1; i < h->sections; i++)
		if (h->section[i].sh_type == SHT_NOBITS)
			r->keep[i] = false;
}

static bool names_code(const struct elfreducer *r)
{
	for (size_t i = 1; i < r->head.sections; i++)
		if (r->keep[i] && r->head.section[i].sh_size &&
		    (r->head.section[i].sh_type == SHT_SYMTAB || r->head.section[i].sh_type == SHT_DYNSYM ||
		     str_eq(r->head.name[i], STR(".gnu_debugdata"))))
			return true;
	return false;
}

/* ---- where it goes --------------------------------------------------------------------------------------------------
 */

static uint64_t elfreducer_align(uint64_t at, uint64_t to)
{
	to = to > ALIGN_MAX ? ALIGN_MAX : to;
	return to & (to - 1) || to < 2 ? at : (at + to - 1) & ~(to - 1);
}

/* Part of the program; stubs are told by their places even where a damaged header denies it. */
static bool elfreducer_stays(const struct elfreducer *r, size_t i)
{
	return r->head.section[i].sh_flags & SHF_ALLOC || str_starts(r->head.name[i], STR(".plt"));
}

static const char *check_sizes(struct elfreducer *r)
{
	const struct elfhead *h = &r->head;

	for (size_t i = 1; i < h->sections; i++) {
		const Elf64_Shdr *s = &h->section[i];

		if (!r->keep[i])
			continue;
		if (s->sh_offset > h->source.size || s->sh_size > h->source.size - s->sh_offset)
			return "truncated";
		if (!elfhead_is_dense(h, s->sh_offset, s->sh_size))
			return "a section that is a hole";
		if (s->sh_size > r->max - r->bytes)
			return reducer_too_large;
		r->bytes += s->sh_size;
	}
	return NULL;
}

/* Changes the section headers from what they were to what they will be. */
static void lay_out(struct elfreducer *r)
{
	struct elfhead *h = &r->head;
	size_t header = h->header.e_ehsize, segments = h->segments * h->header.e_phentsize;

	r->end = header;
	if (h->header.e_phoff + segments > r->end)
		r->end = h->header.e_phoff + segments;
	for (size_t i = 1; i < h->sections; i++) {
		Elf64_Shdr *s = &h->section[i];

		r->from[i] = s->sh_offset;
		if (r->keep[i] && elfreducer_stays(r, i) && s->sh_offset + s->sh_size > r->end)
			r->end = s->sh_offset + s->sh_size;
	}
	for (size_t i = 1; i < h->sections; i++) {
		Elf64_Shdr *s = &h->section[i];

		if (s->sh_type == SHT_NULL && !r->keep[i])
			continue;
		if (!elfreducer_stays(r, i)) {
			s->sh_offset = elfreducer_align(r->end, s->sh_addralign);
			if (r->keep[i])
				r->end = s->sh_offset + s->sh_size;
		}
		if (!r->keep[i])
			s->sh_type = SHT_NOBITS;
	}
	h->header.e_shoff = elfreducer_align(r->end, 8);
}

/* ---- writing
 * ------------------------------------------------------------------------------------------------------------ */

bool elfreducer_put(int fd, const void *p, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = pwrite(fd, (const char *)p + done, n - done, (off_t)(at + done));

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		done += (size_t)w;
	}
	return true;
}

static const char *elfreducer_copy(struct elfreducer *r, uint64_t from, uint64_t to, uint64_t n)
{
	while (n) {
		size_t part = n < BLOCK ? (size_t)n : BLOCK;

		if (elfhead_bytes(&r->head, from, r->block, part) < part)
			return "truncated"; /* it shrinks while it is read */
		if (!elfreducer_put(r->out, r->block, part, to))
			return reducer_cannot_write;
		from += part;
		to += part;
		n -= part;
	}
	return NULL;
}

/* The file's header but for where its sections are said to be, and the table of segments: both as they were. */
static const char *elfreducer_put_headers(struct elfreducer *r)
{
	struct elfhead *h = &r->head;
	size_t size = elfhead_section_size(h), n = h->header.e_ehsize;
	uint32_t narrow = (uint32_t)h->header.e_shoff;
	const char *why = n > BLOCK || n < (h->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) ? "damaged" : NULL;
	char *table;
	bool good;

	if (!why)
		why = elfreducer_copy(r, 0, 0, n);
	if (!why)
		why = elfreducer_copy(r, h->header.e_phoff, h->header.e_phoff, h->segments * h->header.e_phentsize);
	if (why)
		return why;
	table = mem_alloc(size, h->sections + 1);
	for (size_t i = 0; i < h->sections; i++)
		elfhead_put_section(h, &h->section[i], table + i * size);
	good = elfreducer_put(r->out, table, size * h->sections, h->header.e_shoff) &&
	       (h->wide ? elfreducer_put(r->out, &h->header.e_shoff, 8, offsetof(Elf64_Ehdr, e_shoff)) :
			  elfreducer_put(r->out, &narrow, 4, offsetof(Elf32_Ehdr, e_shoff)));
	free(table);
	return good ? NULL : reducer_cannot_write;
}

static const char *elfreducer_write_all(struct elfreducer *r)
{
	const struct elfhead *h = &r->head;
	const char *why = NULL;

	lay_out(r);
	if (r->end > FILE_MAX || (!h->wide && r->end > UINT32_MAX - (1u << 20)))
		return reducer_too_large;
	for (size_t i = 1; i < h->sections && !why; i++)
		if (r->keep[i])
			why = elfreducer_copy(r, r->from[i], h->section[i].sh_offset, h->section[i].sh_size);
	return why ? why :
		     elfreducer_put_headers(r); /* last: a damaged file may have sections that lie over its headers */
}

const char *elfreducer_write(int in, int out, uint64_t max, struct reduced *result)
{
	struct elfreducer r = { .out = out, .max = max };
	struct elfhead_source source;
	const char *why = "not a regular file";

	*result = (struct reduced){ 0 };
	if (elfhead_file(&source, in))
		why = elfhead_read(&r.head, &source, true);
	if (!why) {
		r.keep = mem_alloc(sizeof(*r.keep), r.head.sections + 1);
		r.from = mem_alloc(sizeof(*r.from), r.head.sections + 1);
		r.block = mem_alloc(1, BLOCK);
		result->build_id_n = (uint8_t)elfhead_build_id(&r.head, false, result->build_id);
		if (r.head.sections)
			elfreducer_choose(&r);
		why = check_sizes(&r);
	}
	if (!why && r.head.sections) {
		result->names = names_code(&r);
		why = elfreducer_write_all(&r);
	}
	result->bytes = r.bytes;
	free(r.keep);
	free(r.from);
	free(r.block);
	elfhead_free(&r.head);
	return why;
}
