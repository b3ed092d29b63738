/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/gosyms.h"

#include "fold/symbols/elfsyms.h"

#include <stdlib.h>

#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

/* Size of the header: magic, 2 zero bytes, quantum, size of a pointer, 8 numbers of 8 bytes. Size of an entry of the
 * table of functions. */
enum { START = 8, HEADER = 72, ENTRY = 8 };

/* Offset of the name in struct _func. */
enum { NAME = 4 };

/* Search for the table in a section: bytes read at a time, alignment of the table, limit for tables whose moduledata is
 * searched. */
enum { SEARCH_BLOCK = 1 << 16, SEARCH_STEP = 32, PROOFS_MAX = 4, CANDIDATES_MAX = 1024 };
#define SEARCH_MAX ((uint64_t)128 << 20) /* limit for the bytes of the section */

#define FUNCTIONS_MAX (16u << 20) /* limit for the functions of a table; terraform has 0.1 million */
#define LONGEST (16u << 10)       /* limit for one name in bytes */
#define SPEND_SOME (1u << 20)     /* limit for all names read, in bytes: this constant part, */
#define SPEND_TIMES 8             /* plus this factor times the size of the section, */
#define SPEND_MAX (128u << 20)    /* but at most this in all */

/* ---- the section ------------------------------------------------------------------------------------------------ */

size_t gosyms_read(const struct gosyms *gosyms, uint64_t offset, void *p, size_t n)
{
	uint64_t left = offset < gosyms->size ? gosyms->size - offset : 0;

	return elffile_read(gosyms->file, gosyms->at + offset, p, n < left ? n : (size_t)left);
}

uint64_t gosyms_number(const struct gosyms *gosyms, uint64_t offset, unsigned size)
{
	uint64_t value = 0;

	return gosyms_read(gosyms, offset, &value, size) == size ? value : UINT64_MAX;
}

/* Returns true if the START bytes at p can begin a table: magic, two zeros, quantum, size of a pointer. */
static bool gosyms_is_start(const char *p)
{
	uint32_t magic;

	memcpy(&magic, p, sizeof(magic));
	return (magic == MAGIC_18 || magic == MAGIC_20) && !p[4] && !p[5] && p[6] > 0 && p[6] <= 4 && p[7] == 8;
}

/* Reads the header. Returns false if it has another layout, or if its parts are not in the section and in order. */
static bool gosyms_read_header(struct gosyms *gosyms)
{
	uint64_t number[8]; /* functions, files, address of the code, offsets of the five parts */
	char start[START];
	uint32_t magic;

	if (gosyms_read(gosyms, 0, start, sizeof(start)) < sizeof(start) || !gosyms_is_start(start) ||
	    gosyms_read(gosyms, sizeof(start), number, sizeof(number)) < sizeof(number))
		return false;
	memcpy(&magic, start, sizeof(magic));
	gosyms->since_20 = magic == MAGIC_20;
	gosyms->quantum = (unsigned char)start[6];
	gosyms->functions = number[0];
	gosyms->text = number[2];
	gosyms->names = number[3];
	gosyms->units = number[4];
	gosyms->files = number[5];
	gosyms->values = number[6];
	gosyms->table = number[7];
	return gosyms->names >= HEADER && gosyms->names <= gosyms->units && gosyms->units <= gosyms->files &&
	       gosyms->files <= gosyms->values && gosyms->values <= gosyms->table && gosyms->table < gosyms->size &&
	       gosyms->functions && gosyms->functions <= FUNCTIONS_MAX &&
	       gosyms->functions < (gosyms->size - gosyms->table) / ENTRY;
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

/* Makes the block contain function i. Returns false if it cannot be read. */
static bool gosyms_load(struct gosyms_finder *finder, uint64_t i)
{
	const struct gosyms *gosyms = finder->gosyms;
	uint64_t left = gosyms->functions - i;
	size_t size;

	if (i - finder->first < finder->n)
		return true;
	finder->first = i;
	finder->n = left < GOSYMS_BLOCK ? left : GOSYMS_BLOCK;
	size = (2 * (size_t)finder->n + 1) * sizeof(*finder->block);
	if (gosyms_read(gosyms, gosyms->table + ENTRY * i, finder->block, size) == size)
		return true;
	finder->n = 0;
	return false;
}

bool gosyms_find(struct gosyms_finder *finder, uint64_t address, struct gosyms_function *function)
{
	uint64_t offset = address - finder->gosyms->text;

	if (address < finder->gosyms->text)
		return false;
	for (; finder->next < finder->gosyms->functions; finder->next++) {
		const uint32_t *entry;

		if (!gosyms_load(finder, finder->next))
			return false;
		entry = &finder->block[2 * (finder->next - finder->first)];
		if (entry[2] <= offset)
			continue;
		*function = (struct gosyms_function){ finder->gosyms->text + entry[0], finder->gosyms->text + entry[2],
						      finder->gosyms->table + entry[1] };
		return entry[0] <= offset;
	}
	return false;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Returns true if a function is one at which programs of Go begin, as _rt0_amd64_linux. */
static bool gosyms_is_entry(struct gosyms *gosyms, const struct gosyms_function *function)
{
	struct text name = { 0 };
	bool entry = gosyms_name(gosyms, gosyms_number(gosyms, function->place + NAME, 4), &name) &&
		     str_starts(text_view(&name), STR("_rt0_"));

	text_free(&name);
	return entry;
}

/* Takes .text for the code, if the function of the table that starts at the first instruction of the program is one at
 * which programs of Go begin. */
static bool gosyms_guess_text(struct gosyms *gosyms)
{
	const struct elf_section *section = elffile_section(gosyms->file, STR(".text"));
	uint64_t entry = gosyms->file->head.header.e_entry;
	struct gosyms_finder *finder = mem_alloc(sizeof(*finder), 1);
	struct gosyms_function function;
	bool found = false;

	if (section) {
		gosyms->text = section->addr;
		finder->gosyms = gosyms;
		found = gosyms_find(finder, entry, &function) && function.start == entry &&
			gosyms_is_entry(gosyms, &function);
	}
	free(finder);
	return found;
}

/* Takes the bytes of a section from an offset for the table. Returns false if no table of a known layout begins there.
 */
static bool gosyms_take(struct gosyms *gosyms, const struct elf_section *section, uint64_t offset)
{
	*gosyms = (struct gosyms){ .file = gosyms->file,
				   .at = section->offset + offset,
				   .size = section->size - offset,
				   .address = section->addr + offset,
				   .left = SPEND_SOME + SPEND_TIMES * section->size };
	if (gosyms->left > SPEND_MAX)
		gosyms->left = SPEND_MAX;
	return gosyms_read_header(gosyms);
}

/* Searches a section for a table that moduledata proves. */
static bool gosyms_search(struct gosyms *gosyms, const struct elf_section *section)
{
	char *block = mem_alloc(1, SEARCH_BLOCK);
	unsigned proofs = 0, candidates = 0;
	bool found = false;

	for (uint64_t at = 0; at < section->size && at < SEARCH_MAX && !found; at += SEARCH_BLOCK) {
		uint64_t left = section->size - at;
		size_t got = elffile_read(gosyms->file, section->offset + at, block,
					  left < SEARCH_BLOCK ? (size_t)left : SEARCH_BLOCK);

		for (size_t i = 0; i + START <= got && !found && proofs < PROOFS_MAX; i += SEARCH_STEP)
			found = gosyms_is_start(block + i) && ++candidates <= CANDIDATES_MAX &&
				gosyms_take(gosyms, section, at + i) && ++proofs && gosyms_find_module(gosyms);
	}
	free(block);
	return found;
}

/* Returns true if the file has all bytes of a section, uncompressed and not in a hole. */
static bool gosyms_usable(const struct elffile *elffile, const struct elf_section *section)
{
	return section->type == SHT_PROGBITS && !(section->flags & SHF_COMPRESSED) &&
	       section->offset <= elffile->size && section->size <= elffile->size - section->offset &&
	       elfhead_is_dense(&elffile->head, section->offset, section->size);
}

bool gosyms_open(struct gosyms *gosyms, const struct elffile *elffile)
{
	const struct elf_section *relocated = NULL;

	*gosyms = (struct gosyms){ .file = elffile };
	for (size_t i = 1; i < elffile->sections && elffile->wide; i++) {
		const struct elf_section *section = &elffile->section[i];

		if (!gosyms_usable(elffile, section))
			continue;
		/* .data.rel.ro.gopclntab in programs of variable address that Go links */
		if (str_ends(section->name, STR(".gopclntab")))
			return gosyms_take(gosyms, section, 0) &&
			       (gosyms->text || gosyms_find_module(gosyms) || gosyms_guess_text(gosyms));
		if (str_eq(section->name, STR(".data.rel.ro")))
			relocated = section;
	}
	return relocated && elffile_section(elffile, STR(".go.buildinfo")) && gosyms_search(gosyms, relocated);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

bool gosyms_name(struct gosyms *gosyms, uint64_t offset, struct text *out)
{
	uint64_t at = gosyms->names + offset;
	size_t before = out->n, step = 256;

	if (at >= gosyms->units || (offset && gosyms_number(gosyms, at - 1, 1)))
		return false;
	while (at < gosyms->units && out->n - before < LONGEST) {
		size_t want = gosyms->units - at < step ? (size_t)(gosyms->units - at) : step, got;
		const char *end;

		text_reserve(out, want);
		got = gosyms_read(gosyms, at, out->p + out->n, want);
		end = got ? memchr(out->p + out->n, 0, got) : NULL;
		at += got;
		out->n = end ? (size_t)(end - out->p) : out->n + got;
		if (end && out->n > before && out->n - before <= gosyms->left) {
			gosyms->left -= out->n - before;
			return true;
		}
		if (end || got < want)
			break;
		step = 4096;
	}
	out->n = before;
	return false;
}

/* Replaces each middle dot (U+00B7) by '.', as Go's linker does for .symtab. */
static void gosyms_plain_dots(struct text *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		bool dot = i + 1 < text->n && text->p[i] == '\xc2' && text->p[i + 1] == '\xb7';

		text->p[n++] = dot ? '.' : text->p[i];
		i += dot;
	}
	text->n = n;
}

/* Returns the id of the name of a function; 0: it has none. */
static uint32_t gosyms_name_of(struct gosyms *gosyms, struct symtab_search *search, uint64_t place)
{
	struct text *text = &search->text;

	text->n = 0;
	if (!gosyms_name(gosyms, gosyms_number(gosyms, place + NAME, 4), text))
		return 0;
	gosyms_plain_dots(text); /* Go's names are not mangled */
	return intern(search->names, text_view(text));
}

static int gosyms_compare(const void *left, const void *right)
{
	const struct gosyms_place *place = left, *other = right;

	return (place->address > other->address) - (place->address < other->address);
}

struct gosyms_place *gosyms_places(const struct elffile *runtime, const uint64_t *at, size_t *n)
{
	struct gosyms_place *place = mem_alloc(sizeof(*place), *n + 1);
	size_t found = 0;

	for (size_t i = 0; i < *n; i++)
		if (elffile_address(runtime, at[i], &place[found].address))
			place[found++].index = i;
	qsort(place, found, sizeof(*place), gosyms_compare);
	*n = found;
	return place;
}

void gosyms_resolve(struct gosyms *gosyms, struct symtab_search *search, const uint64_t *at, size_t n,
		    struct symtab_answer *answer)
{
	struct gosyms_place *place = gosyms_places(search->runtime, at, &n);
	struct gosyms_finder *finder = mem_alloc(sizeof(*finder), 1);
	struct gosyms_function function, last = { 0 };
	uint32_t name = 0;

	finder->gosyms = gosyms;
	for (size_t i = 0; i < n; i++) {
		uint64_t offset;

		if (!gosyms_find(finder, place[i].address, &function))
			continue;
		if (function.place != last.place)
			name = gosyms_name_of(gosyms, search, function.place);
		last = function;
		offset = place[i].address - function.start;
		if (name && offset <= at[place[i].index])
			answer[place[i].index] =
				(struct symtab_answer){ .start = at[place[i].index] - offset, .name = name };
	}
	free(finder);
	free(place);
}
