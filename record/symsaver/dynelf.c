/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/dynelf.h"

#include "common/text.h"
#include "common/files/fullio.h"

#include <stdlib.h>
#include <unistd.h>

#define TABLES_MAX ((uint64_t)16 << 20) /* they are in memory while they are written */
#define SYMBOLS_MAX (512u << 10)
#define BUCKETS_MAX (512u << 10)
#define DYNAMIC_MAX 512 /* entries */
#define LOADS_MAX 64    /* segments that become sections: each symbol is looked for in all of them */

struct program {
	struct elfhead head;
	struct elfhead_source file; /* of a file, where head.source is its image in memory */
	uint64_t low, high;         /* addresses of all segments, as linked */
	uint64_t bias, first;       /* of memory; and where the file's first byte is, as linked */
	uint64_t symbols, strings, string_size, hash, gnu_hash; /* as linked; 0: there is none */
};

/* ---- sources: what an address holds -------------------------------------------------------------------------------
 */

static size_t dynelf_read_memory(const struct elfhead_source *s, uint64_t at, void *p, size_t n)
{
	at += s->bias;
	if (at > INT64_MAX || n > INT64_MAX - at)
		return 0;
	return fullio_pread(s->fd, p, n, at);
}

/* n bytes at an address as linked. */
static size_t dynelf_bytes_at(const struct program *p, uint64_t address, void *to, size_t n)
{
	if (!p->file.read)
		return elfhead_bytes(&p->head, address, to, n);
	for (size_t i = 0; i < p->head.segments; i++) {
		const Elf64_Phdr *s = &p->head.segment[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz) {
			uint64_t left = s->p_filesz - (address - s->p_vaddr);

			return p->file.read(&p->file, address - s->p_vaddr + s->p_offset, to,
					    n < left ? n : (size_t)left);
		}
	}
	return 0;
}

/* ---- the dynamic section --------------------------------------------------------------------------------------------
 */

static const char *find_span(struct program *p)
{
	p->low = UINT64_MAX;
	for (size_t i = 0; i < p->head.segments; i++) {
		const Elf64_Phdr *s = &p->head.segment[i];

		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_memsz > UINT64_MAX - s->p_vaddr)
			return "damaged";
		p->low = s->p_vaddr < p->low ? s->p_vaddr : p->low;
		p->high = s->p_vaddr + s->p_memsz > p->high ? s->p_vaddr + s->p_memsz : p->high;
	}
	return p->low < p->high ? NULL : "nothing is loaded of it";
}

/* glibc replaces addresses in the dynamic section by where they are in memory, musl does not. */
static uint64_t as_linked(const struct program *p, uint64_t address)
{
	if (address - p->bias >= p->low && address - p->bias < p->high)
		return address - p->bias;
	return address;
}

static void note_entry(struct program *p, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB: p->symbols = as_linked(p, value); break;
	case DT_STRTAB: p->strings = as_linked(p, value); break;
	case DT_STRSZ: p->string_size = value; break;
	case DT_HASH: p->hash = as_linked(p, value); break;
	case DT_GNU_HASH: p->gnu_hash = as_linked(p, value); break;
	default: break;
	}
}

static void read_dynamic(struct program *p)
{
	const struct elfhead *h = &p->head;
	size_t size = h->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (size_t i = 0; i < h->segments; i++) {
		if (h->segment[i].p_type != PT_DYNAMIC)
			continue;
		for (unsigned n = 0; n < DYNAMIC_MAX; n++) {
			Elf64_Dyn d = { 0 };
			Elf32_Dyn narrow;

			if (dynelf_bytes_at(p, h->segment[i].p_vaddr + n * size, h->wide ? (void *)&d : (void *)&narrow,
					    size) < size)
				return;
			if (!h->wide)
				d = (Elf64_Dyn){ narrow.d_tag, { narrow.d_un.d_val } };
			if (d.d_tag == DT_NULL)
				return;
			note_entry(p, d.d_tag, d.d_un.d_val);
		}
	}
}

static uint32_t dynelf_word_at(const struct program *p, uint64_t address)
{
	uint32_t v = 0;

	return dynelf_bytes_at(p, address, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

/* The hash table of GNU does not tell how many symbols there are: its last chain ends with the last one. */
static uint32_t count_gnu(const struct program *p)
{
	uint32_t buckets = dynelf_word_at(p, p->gnu_hash), first = dynelf_word_at(p, p->gnu_hash + 4),
		 blooms = dynelf_word_at(p, p->gnu_hash + 8);
	uint64_t at = p->gnu_hash + 16 + (uint64_t)blooms * (p->head.wide ? 8 : 4), chains = at + (uint64_t)buckets * 4;
	uint32_t last = 0, *bucket;

	if (buckets == 0 || buckets > BUCKETS_MAX)
		return 0;
	bucket = mem_alloc(sizeof(*bucket), buckets);
	if (dynelf_bytes_at(p, at, bucket, buckets * sizeof(*bucket)) == buckets * sizeof(*bucket))
		for (uint32_t i = 0; i < buckets; i++)
			last = bucket[i] > last ? bucket[i] : last;
	free(bucket);
	if (last < first)
		return first;
	while (last < SYMBOLS_MAX && !(dynelf_word_at(p, chains + (uint64_t)(last - first) * 4) & 1))
		last++;
	return last + 1;
}

static uint32_t count_symbols(const struct program *p)
{
	uint32_t n = 0;

	if (!p->symbols || !p->strings)
		return 0;
	if (p->hash)
		n = dynelf_word_at(p, p->hash + 4);
	if (!n && p->gnu_hash)
		n = count_gnu(p);
	return n < SYMBOLS_MAX ? n : 0;
}

/* ---- writing
 * ---------------------------------------------------------------------------------------------------------- */

/* A file in the making: bytes, and section headers that follow them. */
struct cfi_helper {
	const struct program *p;
	struct text bytes, names;
	Elf64_Shdr *section;
	size_t n;
};

static size_t add_section(struct cfi_helper *m, const char *name, Elf64_Shdr s)
{
	s.sh_name = (uint32_t)m->names.n;
	text_bytes(&m->names, name, strlen(name) + 1);
	m->section[m->n] = s;
	return m->n++;
}

static uint64_t add_bytes(struct cfi_helper *m, const void *p, size_t n)
{
	uint64_t at;

	while (m->bytes.n % 8)
		text_char(&m->bytes, 0);
	at = m->bytes.n;
	text_bytes(&m->bytes, p, n);
	return at;
}

/* The section of the segment that holds an address; 0: none does. */
static uint16_t section_of(const struct cfi_helper *m, uint64_t address)
{
	for (size_t i = 1; i < m->n; i++) {
		const Elf64_Shdr *s = &m->section[i];

		if (s->sh_type == SHT_NOBITS && address >= s->sh_addr && address - s->sh_addr < s->sh_size)
			return (uint16_t)i;
	}
	return SHN_ABS;
}

static void add_segments(struct cfi_helper *m)
{
	const struct elfhead *h = &m->p->head;

	for (size_t i = 0; i < h->segments && m->n < LOADS_MAX; i++) {
		const Elf64_Phdr *s = &h->segment[i];

		if (s->p_type == PT_LOAD)
			add_section(m, s->p_flags & PF_X ? ".text" : ".data",
				    (Elf64_Shdr){ .sh_type = SHT_NOBITS,
						  .sh_addr = s->p_vaddr,
						  .sh_offset = s->p_offset,
						  .sh_size = s->p_memsz,
						  .sh_flags = SHF_ALLOC | (s->p_flags & PF_X ? SHF_EXECINSTR : 0),
						  .sh_addralign = 1 });
	}
}

/* Symbols name sections that are not there any more; each gets that of its segment. */
static void mend_symbols(const struct cfi_helper *m, char *table, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (m->p->head.wide) {
			Elf64_Sym s;

			memcpy(&s, table + i * sizeof(s), sizeof(s));
			if (s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS)
				s.st_shndx = section_of(m, s.st_value);
			memcpy(table + i * sizeof(s), &s, sizeof(s));
		} else {
			Elf32_Sym s;

			memcpy(&s, table + i * sizeof(s), sizeof(s));
			if (s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS)
				s.st_shndx = section_of(m, s.st_value);
			memcpy(table + i * sizeof(s), &s, sizeof(s));
		}
	}
}

static const char *add_symbols(struct cfi_helper *m, uint32_t n, uint64_t max)
{
	const struct program *p = m->p;
	size_t size = elfhead_symbol_size(&p->head), symbols = n * size;
	char *bytes;
	uint64_t at;

	if (p->string_size > max || symbols > max - p->string_size)
		return reducer_too_large;
	bytes = mem_alloc(1, symbols > p->string_size ? symbols : (size_t)p->string_size);
	if (dynelf_bytes_at(p, p->symbols, bytes, symbols) < symbols) {
		free(bytes);
		return "truncated";
	}
	mend_symbols(m, bytes, n);
	at = add_bytes(m, bytes, symbols);
	add_section(m, ".dynsym",
		    (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = p->symbols,
				  .sh_offset = at,
				  .sh_size = symbols,
				  .sh_link = (uint32_t)m->n + 1,
				  .sh_info = 1,
				  .sh_addralign = 8,
				  .sh_entsize = size });
	symbols = dynelf_bytes_at(p, p->strings, bytes, (size_t)p->string_size);
	at = add_bytes(m, bytes, symbols);
	add_section(m, ".dynstr",
		    (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = p->strings,
				  .sh_offset = at,
				  .sh_size = symbols,
				  .sh_addralign = 1 });
	free(bytes);
	return NULL;
}

static void dynelf_add_build_id(struct cfi_helper *m, const struct reduced *r)
{
	uint32_t note[3] = { 4, r->build_id_n, NT_GNU_BUILD_ID };
	uint64_t at;

	if (!r->build_id_n)
		return;
	at = add_bytes(m, note, sizeof(note));
	text_bytes(&m->bytes, "GNU", 4);
	text_bytes(&m->bytes, r->build_id, (r->build_id_n + 3u) & ~3u);
	add_section(
		m, ".note.gnu.build-id",
		(Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = at, .sh_size = m->bytes.n - at, .sh_addralign = 4 });
}

/* The file's own header and segments, as they are in memory. */
static bool add_headers(struct cfi_helper *m)
{
	const struct elfhead *h = &m->p->head;
	size_t header = h->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
	       segments = h->segments * h->header.e_phentsize;
	uint64_t at = m->p->first;
	char *p = mem_alloc(1, header + segments);
	bool good = dynelf_bytes_at(m->p, at, p, header) == header &&
		    dynelf_bytes_at(m->p, at + h->header.e_phoff, p + header, segments) == segments;

	if (m->p->file.read) /* there they need not be loaded */
		good = m->p->file.read(&m->p->file, 0, p, header) == header &&
		       m->p->file.read(&m->p->file, h->header.e_phoff, p + header, segments) == segments;
	for (size_t i = 0; i < h->segments;
	     i++) /* what they lead to is not there, but for what is loaded, which sections tell */
		if (h->segment[i].p_type != PT_LOAD)
			memset(p + header + i * h->header.e_phentsize, 0, sizeof(uint32_t)); /* PT_NULL */
	text_bytes(&m->bytes, p, header + segments);
	free(p);
	return good;
}

static void end_headers(struct cfi_helper *m, uint64_t sections, uint16_t names)
{
	const struct elfhead *h = &m->p->head;
	char *p = m->bytes.p;

	if (h->wide) {
		Elf64_Ehdr e;

		memcpy(&e, p, sizeof(e));
		e.e_phoff = sizeof(e);
		e.e_shoff = sections;
		e.e_shnum = (uint16_t)m->n;
		e.e_shentsize = sizeof(Elf64_Shdr);
		e.e_shstrndx = names;
		memcpy(p, &e, sizeof(e));
	} else {
		Elf32_Ehdr e;

		memcpy(&e, p, sizeof(e));
		e.e_phoff = sizeof(e);
		e.e_shoff = (uint32_t)sections;
		e.e_shnum = (uint16_t)m->n;
		e.e_shentsize = sizeof(Elf32_Shdr);
		e.e_shstrndx = names;
		memcpy(p, &e, sizeof(e));
	}
}

static const char *dynelf_make(struct cfi_helper *m, uint32_t nsymbols, uint64_t max, const struct reduced *r)
{
	const struct elfhead *h = &m->p->head;
	uint64_t at;
	size_t names;
	const char *why;

	if (!add_headers(m))
		return "truncated";
	add_section(m, "", (Elf64_Shdr){ 0 });
	add_segments(m);
	dynelf_add_build_id(m, r);
	why = nsymbols ? add_symbols(m, nsymbols, max) : NULL;
	if (why)
		return why;
	names = add_section(m, ".shstrtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_addralign = 1 });
	m->section[names].sh_size = m->names.n;
	m->section[names].sh_offset = add_bytes(m, m->names.p, m->names.n);
	at = add_bytes(m, NULL, 0);
	for (size_t i = 0; i < m->n; i++) {
		char entry[sizeof(Elf64_Shdr)];

		elfhead_put_section(h, &m->section[i], entry);
		text_bytes(&m->bytes, entry, elfhead_section_size(h));
	}
	end_headers(m, at, (uint16_t)names);
	return NULL;
}

static const char *write_program(struct program *p, int out, uint64_t max, struct reduced *r)
{
	struct cfi_helper m = { .p = p };
	const char *why = find_span(p);
	uint32_t n;

	max = max < TABLES_MAX ? max : TABLES_MAX;
	if (why)
		return why;
	read_dynamic(p);
	n = count_symbols(p);
	r->names = n > 1;
	m.section = mem_alloc(sizeof(*m.section), p->head.segments + 8);
	why = dynelf_make(&m, n, max, r);
	r->bytes = m.bytes.n;
	if (!why && !elfreducer_put(out, m.bytes.p, m.bytes.n, 0))
		why = reducer_cannot_write;
	text_free(&m.bytes);
	text_free(&m.names);
	free(m.section);
	return why;
}

/* ---- from memory, from a file
 * ----------------------------------------------------------------------------------------- */

const char *dynelf_from_memory(int mem, uint64_t base, int out, uint64_t max, struct reduced *r)
{
	struct program p = { 0 };
	struct elfhead_source s = { .read = dynelf_read_memory, .fd = mem, .bias = base, .size = UINT64_MAX };
	const char *why;

	*r = (struct reduced){ 0 };
	why = elfhead_read(&p.head, &s, false);
	/* the first byte of the file is where the first segment begins that holds it */
	for (size_t i = 0; i < p.head.segments && !why; i++) {
		const Elf64_Phdr *seg = &p.head.segment[i];

		if (seg->p_type == PT_LOAD && seg->p_offset == 0) {
			p.head.source.bias = p.bias = base - seg->p_vaddr;
			p.first = seg->p_vaddr;
			break;
		}
	}
	if (!why) {
		r->build_id_n = (uint8_t)elfhead_build_id(&p.head, true, r->build_id);
		why = write_program(&p, out, max, r);
	}
	elfhead_free(&p.head);
	return why;
}

const char *dynelf_from_file(int in, int out, uint64_t max, struct reduced *r)
{
	struct program p = { 0 };
	const char *why = "not a regular file";

	*r = (struct reduced){ 0 };
	if (elfhead_file(&p.file, in))
		why = elfhead_read(&p.head, &p.file, false);
	if (!why) {
		r->build_id_n = (uint8_t)elfhead_build_id(&p.head, false, r->build_id);
		why = write_program(&p, out, max, r);
	}
	elfhead_free(&p.head);
	return why;
}
