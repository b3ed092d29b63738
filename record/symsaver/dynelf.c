/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/dynelf.h"

#include "common/text.h"
#include "common/files/fullio.h"

#include <stdlib.h>
#include <unistd.h>

/* TABLES_MAX: maximum bytes of the symbol and string tables, which are in memory while they are written; larger tables
 * are refused. SYMBOLS_MAX, BUCKETS_MAX: maximum numbers of symbols and of buckets of the GNU hash table; a table with
 * more is ignored. */
#define TABLES_MAX ((uint64_t)16 << 20)
#define SYMBOLS_MAX (512u << 10)
#define BUCKETS_MAX (512u << 10)
/* maximum number of entries of the dynamic section that are read; further ones are ignored */
#define DYNAMIC_MAX 512
/* maximum number of sections made from segments, the empty section 0 included; further segments are ignored, because
 * each symbol is looked up in all sections */
#define LOADS_MAX 64

struct program {
	struct elfhead head;
	/* the ELF file as source of bytes; file.read is NULL if the program is read from memory (head.source) */
	struct elfhead_source file;
	uint64_t low, high;   /* lowest linked address of all loaded segments, and end of the highest one */
	uint64_t bias, first; /* bias: load bias. first: linked address of the first byte of the program's file. */
	/* Linked addresses of tables, from the dynamic section: symbols, strings, hash, GNU hash; 0: absent.
	 * string_size: size of the string table in bytes. */
	uint64_t symbols, strings, string_size, hash, gnu_hash;
};

/* ---- bytes of the program at an address ------------------------------------------------------------------------- */

static size_t dynelf_read_memory(const struct elfhead_source *source, uint64_t at, void *p, size_t n)
{
	at += source->bias;
	if (at > INT64_MAX || n > INT64_MAX - at)
		return 0;
	return fullio_pread(source->fd, p, n, at);
}

/* Reads into `to` up to n bytes of the program at a linked address. Returns the number of bytes read. */
static size_t dynelf_bytes_at(const struct program *program, uint64_t address, void *to, size_t n)
{
	const Elf64_Phdr *segment;
	uint64_t left;

	if (!program->file.read)
		return elfhead_bytes(&program->head, address, to, n);
	segment = elfhead_segment(&program->head, address);
	if (!segment)
		return 0;
	left = segment->p_filesz - (address - segment->p_vaddr);
	return program->file.read(&program->file, address - segment->p_vaddr + segment->p_offset, to,
				  n < left ? n : (size_t)left);
}

/* ---- dynamic section -------------------------------------------------------------------------------------------- */

static const char *find_span(struct program *program)
{
	program->low = UINT64_MAX;
	for (size_t i = 0; i < program->head.segments; i++) {
		const Elf64_Phdr *segment = &program->head.segment[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_memsz > UINT64_MAX - segment->p_vaddr)
			return "damaged";
		program->low = segment->p_vaddr < program->low ? segment->p_vaddr : program->low;
		program->high = segment->p_vaddr + segment->p_memsz > program->high ?
					segment->p_vaddr + segment->p_memsz :
					program->high;
	}
	return program->low < program->high ? NULL : "it has no loaded segment";
}

/* Returns the linked address for an address in the dynamic section. In memory, glibc has added the load bias to the
 * address; musl has not. */
static uint64_t as_linked(const struct program *program, uint64_t address)
{
	if (address - program->bias >= program->low && address - program->bias < program->high)
		return address - program->bias;
	return address;
}

static void note_entry(struct program *program, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB: program->symbols = as_linked(program, value); break;
	case DT_STRTAB: program->strings = as_linked(program, value); break;
	case DT_STRSZ: program->string_size = value; break;
	case DT_HASH: program->hash = as_linked(program, value); break;
	case DT_GNU_HASH: program->gnu_hash = as_linked(program, value); break;
	default: break;
	}
}

static void read_dynamic(struct program *program)
{
	const struct elfhead *elfhead = &program->head;
	size_t size = elfhead->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (size_t i = 0; i < elfhead->segments; i++) {
		if (elfhead->segment[i].p_type != PT_DYNAMIC)
			continue;
		for (unsigned n = 0; n < DYNAMIC_MAX; n++) {
			Elf64_Dyn d = { 0 };
			Elf32_Dyn narrow;

			if (dynelf_bytes_at(program, elfhead->segment[i].p_vaddr + n * size,
					    elfhead->wide ? (void *)&d : (void *)&narrow, size) < size)
				return;
			if (!elfhead->wide)
				d = (Elf64_Dyn){ narrow.d_tag, { narrow.d_un.d_val } };
			if (d.d_tag == DT_NULL)
				return;
			note_entry(program, d.d_tag, d.d_un.d_val);
		}
	}
}

static uint32_t dynelf_word_at(const struct program *program, uint64_t address)
{
	uint32_t value = 0;

	return dynelf_bytes_at(program, address, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

/* Returns the number of symbols according to the GNU hash table. The table does not store the number, but its last
 * chain ends with the last symbol. Returns 0 if the table is malformed. */
static uint32_t count_gnu(const struct program *program)
{
	uint32_t buckets = dynelf_word_at(program, program->gnu_hash),
		 first = dynelf_word_at(program, program->gnu_hash + 4),
		 blooms = dynelf_word_at(program, program->gnu_hash + 8);
	uint64_t at = program->gnu_hash + 16 + (uint64_t)blooms * (program->head.wide ? 8 : 4),
		 chains = at + (uint64_t)buckets * 4;
	uint32_t last = 0, *bucket;

	if (buckets == 0 || buckets > BUCKETS_MAX)
		return 0;
	bucket = mem_alloc(sizeof(*bucket), buckets);
	if (dynelf_bytes_at(program, at, bucket, buckets * sizeof(*bucket)) == buckets * sizeof(*bucket))
		for (uint32_t i = 0; i < buckets; i++)
			last = bucket[i] > last ? bucket[i] : last;
	free(bucket);
	if (last < first)
		return first;
	while (last < SYMBOLS_MAX && !(dynelf_word_at(program, chains + (uint64_t)(last - first) * 4) & 1))
		last++;
	return last + 1;
}

static uint32_t count_symbols(const struct program *program)
{
	uint32_t n = 0;

	if (!program->symbols || !program->strings)
		return 0;
	if (program->hash)
		n = dynelf_word_at(program, program->hash + 4);
	if (!n && program->gnu_hash)
		n = count_gnu(program);
	return n < SYMBOLS_MAX ? n : 0;
}

/* ---- writing of the ELF file ------------------------------------------------------------------------------------ */

/* The ELF file that is being written. p: the program that it describes. bytes: the file's content so far. section: the
 * n section headers that will follow. names: content of .shstrtab. */
struct new_elf {
	const struct program *p;
	struct text bytes, names;
	Elf64_Shdr *section;
	size_t n;
};

static size_t add_section(struct new_elf *elf, const char *name, Elf64_Shdr s)
{
	s.sh_name = (uint32_t)elf->names.n;
	text_bytes(&elf->names, name, strlen(name) + 1);
	elf->section[elf->n] = s;
	return elf->n++;
}

static uint64_t add_bytes(struct new_elf *elf, const void *p, size_t n)
{
	uint64_t at;

	while (elf->bytes.n % 8)
		text_char(&elf->bytes, 0);
	at = elf->bytes.n;
	text_bytes(&elf->bytes, p, n);
	return at;
}

/* Returns the index in elf->section of the section that stands for the segment with this linked address; SHN_ABS if no
 * segment contains the address. */
static uint16_t section_of(const struct new_elf *elf, uint64_t address)
{
	for (size_t i = 1; i < elf->n; i++) {
		const Elf64_Shdr *section = &elf->section[i];

		if (section->sh_type == SHT_NOBITS && address >= section->sh_addr &&
		    address - section->sh_addr < section->sh_size)
			return (uint16_t)i;
	}
	return SHN_ABS;
}

static void add_segments(struct new_elf *elf)
{
	const struct elfhead *elfhead = &elf->p->head;

	for (size_t i = 0; i < elfhead->segments && elf->n < LOADS_MAX; i++) {
		const Elf64_Phdr *segment = &elfhead->segment[i];

		if (segment->p_type == PT_LOAD)
			add_section(elf, segment->p_flags & PF_X ? ".text" : ".data",
				    (Elf64_Shdr){ .sh_type = SHT_NOBITS,
						  .sh_addr = segment->p_vaddr,
						  .sh_offset = segment->p_offset,
						  .sh_size = segment->p_memsz,
						  .sh_flags = SHF_ALLOC | (segment->p_flags & PF_X ? SHF_EXECINSTR : 0),
						  .sh_addralign = 1 });
	}
}

/* Sets st_shndx of n symbols in `table` to the section of their segment: the original st_shndx refers to sections that
 * the new file does not have. */
static void mend_symbols(const struct new_elf *elf, char *table, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (elf->p->head.wide) {
			Elf64_Sym symbol;

			memcpy(&symbol, table + i * sizeof(symbol), sizeof(symbol));
			if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS)
				symbol.st_shndx = section_of(elf, symbol.st_value);
			memcpy(table + i * sizeof(symbol), &symbol, sizeof(symbol));
		} else {
			Elf32_Sym s;

			memcpy(&s, table + i * sizeof(s), sizeof(s));
			if (s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS)
				s.st_shndx = section_of(elf, s.st_value);
			memcpy(table + i * sizeof(s), &s, sizeof(s));
		}
	}
}

static const char *add_symbols(struct new_elf *elf, uint32_t n, uint64_t max)
{
	const struct program *program = elf->p;
	size_t size = elfhead_symbol_size(&program->head), symbols = n * size;
	char *bytes;
	uint64_t at;

	if (program->string_size > max || symbols > max - program->string_size)
		return reducer_too_large;
	bytes = mem_alloc(1, symbols > program->string_size ? symbols : (size_t)program->string_size);
	if (dynelf_bytes_at(program, program->symbols, bytes, symbols) < symbols) {
		free(bytes);
		return "truncated";
	}
	mend_symbols(elf, bytes, n);
	at = add_bytes(elf, bytes, symbols);
	add_section(elf, ".dynsym",
		    (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = program->symbols,
				  .sh_offset = at,
				  .sh_size = symbols,
				  .sh_link = (uint32_t)elf->n + 1,
				  .sh_info = 1,
				  .sh_addralign = 8,
				  .sh_entsize = size });
	symbols = dynelf_bytes_at(program, program->strings, bytes, (size_t)program->string_size);
	at = add_bytes(elf, bytes, symbols);
	add_section(elf, ".dynstr",
		    (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = program->strings,
				  .sh_offset = at,
				  .sh_size = symbols,
				  .sh_addralign = 1 });
	free(bytes);
	return NULL;
}

static void dynelf_add_build_id(struct new_elf *elf, const struct reduced *reduced)
{
	uint32_t note[3] = { 4, reduced->build_id.n, NT_GNU_BUILD_ID };
	uint64_t at;

	if (!reduced->build_id.n)
		return;
	at = add_bytes(elf, note, sizeof(note));
	text_bytes(&elf->bytes, "GNU", 4);
	text_bytes(&elf->bytes, reduced->build_id.byte, (reduced->build_id.n + 3u) & ~3u);
	add_section(
		elf, ".note.gnu.build-id",
		(Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = at, .sh_size = elf->bytes.n - at, .sh_addralign = 4 });
}

/* Appends to the new file the ELF header and the program headers of the original, which are read from its file or from
 * memory. Program headers other than PT_LOAD become PT_NULL. Returns false if the headers cannot be read. */
static bool add_headers(struct new_elf *elf)
{
	const struct elfhead *elfhead = &elf->p->head;
	size_t header = elfhead->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
	       segments = elfhead->segments * elfhead->header.e_phentsize;
	uint64_t at = elf->p->first;
	char *p = mem_alloc(1, header + segments);
	bool good = dynelf_bytes_at(elf->p, at, p, header) == header &&
		    dynelf_bytes_at(elf->p, at + elfhead->header.e_phoff, p + header, segments) == segments;

	/* The segments of a file need not contain its ELF and program headers, so these are read at their file
	 * offsets. */
	if (elf->p->file.read)
		good = elf->p->file.read(&elf->p->file, 0, p, header) == header &&
		       elf->p->file.read(&elf->p->file, elfhead->header.e_phoff, p + header, segments) == segments;
	/* Program headers other than PT_LOAD become PT_NULL, because the new file lacks the bytes to which they refer.
	 */
	for (size_t i = 0; i < elfhead->segments; i++)
		if (elfhead->segment[i].p_type != PT_LOAD)
			memset(p + header + i * elfhead->header.e_phentsize, 0, sizeof(uint32_t)); /* PT_NULL */
	text_bytes(&elf->bytes, p, header + segments);
	free(p);
	return good;
}

static void end_headers(struct new_elf *elf, uint64_t sections, uint16_t names)
{
	const struct elfhead *elfhead = &elf->p->head;
	char *p = elf->bytes.p;

	if (elfhead->wide) {
		Elf64_Ehdr header;

		memcpy(&header, p, sizeof(header));
		header.e_phoff = sizeof(header);
		header.e_shoff = sections;
		header.e_shnum = (uint16_t)elf->n;
		header.e_shentsize = sizeof(Elf64_Shdr);
		header.e_shstrndx = names;
		memcpy(p, &header, sizeof(header));
	} else {
		Elf32_Ehdr e;

		memcpy(&e, p, sizeof(e));
		e.e_phoff = sizeof(e);
		e.e_shoff = (uint32_t)sections;
		e.e_shnum = (uint16_t)elf->n;
		e.e_shentsize = sizeof(Elf32_Shdr);
		e.e_shstrndx = names;
		memcpy(p, &e, sizeof(e));
	}
}

static const char *dynelf_make(struct new_elf *elf, uint32_t nsymbols, uint64_t max, const struct reduced *reduced)
{
	const struct elfhead *elfhead = &elf->p->head;
	uint64_t at;
	size_t names;
	const char *why;

	if (!add_headers(elf))
		return "truncated";
	add_section(elf, "", (Elf64_Shdr){ 0 });
	add_segments(elf);
	dynelf_add_build_id(elf, reduced);
	why = nsymbols ? add_symbols(elf, nsymbols, max) : NULL;
	if (why)
		return why;
	names = add_section(elf, ".shstrtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_addralign = 1 });
	elf->section[names].sh_size = elf->names.n;
	elf->section[names].sh_offset = add_bytes(elf, elf->names.p, elf->names.n);
	at = add_bytes(elf, NULL, 0);
	for (size_t i = 0; i < elf->n; i++) {
		char entry[sizeof(Elf64_Shdr)];

		elfhead_put_section(elfhead, &elf->section[i], entry);
		text_bytes(&elf->bytes, entry, elfhead_section_size(elfhead));
	}
	end_headers(elf, at, (uint16_t)names);
	return NULL;
}

static const char *write_program(struct program *program, int out, uint64_t max, struct reduced *reduced)
{
	struct new_elf elf = { .p = program };
	const char *why = find_span(program);
	uint32_t n;

	max = max < TABLES_MAX ? max : TABLES_MAX;
	if (why)
		return why;
	read_dynamic(program);
	n = count_symbols(program);
	reduced->names = n > 1;
	elf.section = mem_alloc(sizeof(*elf.section), program->head.segments + 8);
	why = dynelf_make(&elf, n, max, reduced);
	reduced->bytes = elf.bytes.n;
	if (!why && !elfreducer_put(out, elf.bytes.p, elf.bytes.n, 0))
		why = reducer_cannot_write;
	text_free(&elf.bytes);
	text_free(&elf.names);
	free(elf.section);
	return why;
}

/* ---- dynelf_from_memory and dynelf_from_file -------------------------------------------------------------------- */

const char *dynelf_from_memory(int mem, uint64_t base, int out, uint64_t max, struct reduced *reduced)
{
	struct program program = { 0 };
	struct elfhead_source source = { .read = dynelf_read_memory, .fd = mem, .bias = base, .size = UINT64_MAX };
	const char *why;

	*reduced = (struct reduced){ 0 };
	why = elfhead_read(&program.head, &source, false);
	/* The load bias is the difference between the virtual address of the file's first byte and p_vaddr of the first
	 * PT_LOAD segment with file offset 0. */
	for (size_t i = 0; i < program.head.segments && !why; i++) {
		const Elf64_Phdr *seg = &program.head.segment[i];

		if (seg->p_type == PT_LOAD && seg->p_offset == 0) {
			program.head.source.bias = program.bias = base - seg->p_vaddr;
			program.first = seg->p_vaddr;
			break;
		}
	}
	if (!why) {
		reduced->build_id = elfhead_build_id(&program.head, true);
		why = write_program(&program, out, max, reduced);
	}
	elfhead_free(&program.head);
	return why;
}

const char *dynelf_from_file(int in, int out, uint64_t max, struct reduced *reduced)
{
	struct program program = { 0 };
	const char *why = "not a regular file";

	*reduced = (struct reduced){ 0 };
	if (elfhead_file(&program.file, in))
		why = elfhead_read(&program.head, &program.file, false);
	if (!why) {
		reduced->build_id = elfhead_build_id(&program.head, false);
		why = write_program(&program, out, max, reduced);
	}
	elfhead_free(&program.head);
	return why;
}
