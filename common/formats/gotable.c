/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/gotable.h"

#include <stdlib.h>

#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

/* START: bytes at the start of the header (magic, 2 zero bytes, quantum, size of a pointer). HEADER: bytes of the
 * complete header, that is, START bytes and 8 numbers of 8 bytes. */
enum { START = 8, HEADER = 72 };

/* Search for the table in a section. SEARCH_BLOCK: bytes that are read at a time; SEARCH_STEP: alignment of the table
 * in bytes; PROOFS_MAX: limit for the number of tables whose moduledata is searched; CANDIDATES_MAX: limit for the
 * number of tables whose header is read. */
enum { SEARCH_BLOCK = 1 << 16, SEARCH_STEP = 32, PROOFS_MAX = 4, CANDIDATES_MAX = 1024 };
/* limit for the bytes of the section that are searched; the rest is ignored */
#define SEARCH_MAX ((uint64_t)128 << 20)

/* limit for the number of functions, beyond which a table is refused; terraform has 0.1 million */
#define FUNCTIONS_MAX (16u << 20)

/* ---- bytes of the table ------------------------------------------------------------------------------------------ */

size_t gotable_read(const struct gotable *gotable, uint64_t offset, void *p, size_t n)
{
	uint64_t left = offset < gotable->size ? gotable->size - offset : 0;

	return elfhead_bytes(gotable->head, gotable->at + offset, p, n < left ? n : (size_t)left);
}

uint64_t gotable_number(const struct gotable *gotable, uint64_t offset, unsigned size)
{
	uint64_t value = 0;

	return gotable_read(gotable, offset, &value, size) == size ? value : UINT64_MAX;
}

bool gotable_offset(const struct gotable *gotable, uint64_t address, uint64_t *offset)
{
	const Elf64_Phdr *segment = elfhead_segment(gotable->head, address);

	if (segment)
		*offset = address - segment->p_vaddr + segment->p_offset;
	return segment != NULL;
}

/* ---- header of the table ----------------------------------------------------------------------------------------- */

/* Returns true if the START bytes at p can be the start of a table: magic, two zeros, quantum, size of a pointer. */
static bool gotable_is_start(const char *p)
{
	uint32_t magic;

	memcpy(&magic, p, sizeof(magic));
	return (magic == MAGIC_18 || magic == MAGIC_20) && !p[4] && !p[5] && p[6] > 0 && p[6] <= 4 && p[7] == 8;
}

/* Reads the header of the table. Returns false if it has another layout, or if its parts are not within the section or
 * not in order. */
static bool gotable_read_header(struct gotable *gotable)
{
	uint64_t number[8]; /* number of functions, number of files, address of the code, offsets of the five parts */
	char start[START];
	uint32_t magic;

	if (gotable_read(gotable, 0, start, sizeof(start)) < sizeof(start) || !gotable_is_start(start) ||
	    gotable_read(gotable, sizeof(start), number, sizeof(number)) < sizeof(number))
		return false;
	memcpy(&magic, start, sizeof(magic));
	gotable->since_20 = magic == MAGIC_20;
	gotable->quantum = (unsigned char)start[6];
	gotable->functions = number[0];
	gotable->text = number[2];
	gotable->names = number[3];
	gotable->units = number[4];
	gotable->files = number[5];
	gotable->values = number[6];
	gotable->table = number[7];
	return gotable->names >= HEADER && gotable->names <= gotable->units && gotable->units <= gotable->files &&
	       gotable->files <= gotable->values && gotable->values <= gotable->table &&
	       gotable->table < gotable->size && gotable->functions && gotable->functions <= FUNCTIONS_MAX &&
	       gotable->functions < (gotable->size - gotable->table) / GOTABLE_ENTRY;
}

/* Sets *gotable to a table that begins at an offset of a section. Returns false if no table of a known layout begins
 * there. */
static bool gotable_take(struct gotable *gotable, const Elf64_Shdr *section, uint64_t offset)
{
	*gotable = (struct gotable){ .head = gotable->head,
				     .at = section->sh_offset + offset,
				     .size = section->sh_size - offset,
				     .address = section->sh_addr + offset };
	return gotable_read_header(gotable);
}

/* ---- address of the code ----------------------------------------------------------------------------------------- */

/* Returns true if function i is an entry point of Go programs, such as _rt0_amd64_linux. */
static bool gotable_is_entry(const struct gotable *gotable, uint64_t i)
{
	static const struct str start = STR("_rt0_");
	uint64_t place = gotable_number(gotable, gotable->table + GOTABLE_ENTRY * i + 4, 4),
		 name = gotable_number(gotable, gotable->table + place + GOTABLE_NAME, 4);
	char bytes[8];

	return gotable_read(gotable, gotable->names + name, bytes, start.n) == start.n &&
	       memcmp(bytes, start.p, start.n) == 0;
}

/* Sets gotable->text to the address of .text if this is plausible: if the function that then starts at the entry point
 * of the program is called _rt0_*. Returns false otherwise. */
static bool gotable_guess_text(struct gotable *gotable, const Elf64_Shdr *text)
{
	uint64_t low = 0, high = gotable->functions, entry;

	if (!text || gotable->head->header.e_entry < text->sh_addr)
		return false;
	entry = gotable->head->header.e_entry - text->sh_addr;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (gotable_number(gotable, gotable->table + GOTABLE_ENTRY * middle, 4) < entry)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == gotable->functions || gotable_number(gotable, gotable->table + GOTABLE_ENTRY * low, 4) != entry ||
	    !gotable_is_entry(gotable, low))
		return false;
	gotable->text = text->sh_addr;
	return true;
}

/* ---- search for the table ---------------------------------------------------------------------------------------- */

/* Searches a section for a table that moduledata confirms. */
static bool gotable_search(struct gotable *gotable, const Elf64_Shdr *section)
{
	char *block = mem_alloc(1, SEARCH_BLOCK);
	unsigned proofs = 0, candidates = 0;
	bool found = false;

	for (uint64_t at = 0; at < section->sh_size && at < SEARCH_MAX && !found; at += SEARCH_BLOCK) {
		uint64_t left = section->sh_size - at;
		size_t got = elfhead_bytes(gotable->head, section->sh_offset + at, block,
					   left < SEARCH_BLOCK ? (size_t)left : SEARCH_BLOCK);

		for (size_t i = 0; i + START <= got && !found && proofs < PROOFS_MAX; i += SEARCH_STEP)
			found = gotable_is_start(block + i) && ++candidates <= CANDIDATES_MAX &&
				gotable_take(gotable, section, at + i) && ++proofs && gotable_find_module(gotable);
	}
	free(block);
	return found;
}

/* Returns the first section with this name; NULL if there is none. */
static const Elf64_Shdr *gotable_section(const struct elfhead *elfhead, struct str name)
{
	for (size_t i = 1; i < elfhead->sections; i++)
		if (str_eq(elfhead->name[i], name))
			return &elfhead->section[i];
	return NULL;
}

/* Returns true if the file contains all bytes of a section, uncompressed and without a hole. */
static bool gotable_is_usable(const struct elfhead *elfhead, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS && !(section->sh_flags & SHF_COMPRESSED) &&
	       section->sh_offset <= elfhead->source.size &&
	       section->sh_size <= elfhead->source.size - section->sh_offset &&
	       elfhead_is_dense(elfhead, section->sh_offset, section->sh_size);
}

bool gotable_open(struct gotable *gotable, const struct elfhead *elfhead)
{
	const Elf64_Shdr *relocated = NULL;

	*gotable = (struct gotable){ .head = elfhead };
	for (size_t i = 1; i < elfhead->sections && elfhead->wide; i++) {
		const Elf64_Shdr *section = &elfhead->section[i];
		/* the name is .data.rel.ro.gopclntab in position-independent programs that the linker of Go links */
		bool named = str_ends(elfhead->name[i], STR(".gopclntab"));

		if ((!named && !str_eq(elfhead->name[i], STR(".data.rel.ro"))) || !gotable_is_usable(elfhead, section))
			continue;
		if (named)
			return gotable_take(gotable, section, 0) &&
			       (gotable->text || gotable_guess_text(gotable, gotable_section(elfhead, STR(".text"))) ||
				gotable_find_module(gotable));
		relocated = section;
	}
	return relocated && gotable_section(elfhead, STR(".go.buildinfo")) && gotable_search(gotable, relocated);
}
