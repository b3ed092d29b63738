/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/gosyms.h"

#include "fold/symbols/elfsyms.h"

#include <stdlib.h>

#define LONGEST (16u << 10) /* maximum length of a name in bytes; a longer name is not read */
/* Limit for the bytes of all names that are read: SPEND_SOME plus SPEND_TIMES times the size of the section, at most
 * SPEND_MAX. A name beyond the limit is left out. */
#define SPEND_SOME (1u << 20)
#define SPEND_TIMES 8
#define SPEND_MAX (128u << 20)

/* ---- table of functions ----------------------------------------------------------------------------------------- */

/* Makes sure that function i is in finder->block: if not, reads the functions from i on into the block. Returns false
 * if they cannot be read. */
static bool gosyms_load(struct gosyms_finder *finder, uint64_t i)
{
	const struct gosyms *gosyms = finder->gosyms;
	uint64_t left = gosyms->gotable.functions - i;
	size_t size;

	if (i - finder->first < finder->n)
		return true;
	finder->first = i;
	finder->n = left < GOSYMS_BLOCK ? left : GOSYMS_BLOCK;
	size = (2 * (size_t)finder->n + 1) * sizeof(*finder->block);
	if (gotable_read(&gosyms->gotable, gosyms->gotable.table + GOTABLE_ENTRY * i, finder->block, size) == size)
		return true;
	finder->n = 0;
	return false;
}

bool gosyms_find(struct gosyms_finder *finder, uint64_t address, struct gosyms_function *function)
{
	uint64_t offset = address - finder->gosyms->gotable.text;

	if (address < finder->gosyms->gotable.text)
		return false;
	for (; finder->next < finder->gosyms->gotable.functions; finder->next++) {
		const uint32_t *entry;

		if (!gosyms_load(finder, finder->next))
			return false;
		entry = &finder->block[2 * (finder->next - finder->first)];
		if (entry[2] <= offset)
			continue;
		*function = (struct gosyms_function){ finder->gosyms->gotable.text + entry[0],
						      finder->gosyms->gotable.text + entry[2],
						      finder->gosyms->gotable.table + entry[1] };
		return entry[0] <= offset;
	}
	return false;
}

/* ---- names of functions ----------------------------------------------------------------------------------------- */

bool gosyms_open(struct gosyms *gosyms, const struct elffile *elffile)
{
	*gosyms = (struct gosyms){ .left = SPEND_MAX };
	if (!gotable_open(&gosyms->gotable, &elffile->head))
		return false;
	if (gosyms->gotable.size < (SPEND_MAX - SPEND_SOME) / SPEND_TIMES)
		gosyms->left = SPEND_SOME + SPEND_TIMES * gosyms->gotable.size;
	return true;
}

bool gosyms_name(struct gosyms *gosyms, uint64_t offset, struct text *out)
{
	uint64_t at = gosyms->gotable.names + offset;
	size_t before = out->n, step = 256;

	if (at >= gosyms->gotable.units || (offset && gotable_number(&gosyms->gotable, at - 1, 1)))
		return false;
	while (at < gosyms->gotable.units && out->n - before < LONGEST) {
		size_t want = gosyms->gotable.units - at < step ? (size_t)(gosyms->gotable.units - at) : step, got;
		const char *end;

		text_reserve(out, want);
		got = gotable_read(&gosyms->gotable, at, out->p + out->n, want);
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

/* Returns the id of the name of the function whose struct _func is at offset `place` of the section; 0 if the name
 * cannot be read. */
static uint32_t gosyms_name_of(struct gosyms *gosyms, struct symtab_search *search, uint64_t place)
{
	struct text *text = &search->text;

	text->n = 0;
	if (!gosyms_name(gosyms, gotable_number(&gosyms->gotable, place + GOTABLE_NAME, 4), text))
		return 0;
	gosyms_plain_dots(text); /* Go's names are not mangled: only their dots are replaced */
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
