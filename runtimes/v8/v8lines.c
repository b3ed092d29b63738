/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8lines.h"

#include "common/hash.h"

#include <string.h>

#define LINES_MAX (1u << 28)
#define CHUNK 4096u /* number of source bytes per read */
/* The cache key of a position consists of the address, length and character width of the source, the position, and up
 * to BEFORE bytes of source text before the position. */
#define BEFORE 32u
#define LOOKUP_COST 128u /* number of characters that one cache lookup takes from the stack's limit */

/* Sets *line to the line of a position, by binary search in a FixedArray of the positions of line ends. Returns
 * false if the array is invalid. */
static bool line_by_ends(struct v8 *v8, uint64_t ends, uint32_t position, uint32_t *line)
{
	uint32_t low = 0, high, value;
	uint64_t word;

	if (!v8heap_is(v8, ends, v8->layout.type.fixed_array) || !v8heap_word(v8, ends, 8, &word) ||
	    !v8heap_smi(word, &high) || high == 0 || high > LINES_MAX)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!memory_pointer(v8->memory, ends - 1 + 16 + 8 * (uint64_t)middle, &word) ||
		    !v8heap_smi(word, &value))
			return false;
		if (value < position)
			low = middle + 1;
		else
			high = middle;
	}
	*line = low + 1;
	return true;
}

/* ---- counting of line ends --------------------------------------------------------------------------------------- */

static uint32_t source_character(const unsigned char *bytes, uint32_t i, uint32_t width)
{
	return width == 1 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

/* Returns the number of line ends in n characters: LF, CR without LF and, with 2-byte characters, U+2028 and U+2029.
 * *cr: on entry, the character before is CR; on return, the last character is CR and not counted yet. */
static uint32_t count_lines(const unsigned char *bytes, uint32_t n, uint32_t width, bool *cr)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t unit = source_character(bytes, i, width);

		lines += *cr && unit != '\n';
		lines += unit == '\n' || unit == 0x2028 || unit == 0x2029;
		*cr = unit == '\r';
	}
	return lines;
}

/* A position in a source, for the line cache: `known` is its cache entry and `key` its hash; the entry is valid if
 * known->key equals key. */
struct place {
	struct v8_lines *known;
	uint64_t key;
	bool cr; /* true if the character before the position is CR */
};

/* Takes n characters from the limit of the stack. Returns false if fewer are left. */
static bool take(struct v8 *v8, uint32_t n)
{
	if (n > v8->characters)
		return false;
	v8->characters -= n;
	return true;
}

/* Finds the cache entry of a position. Returns false if the stack has no characters left, or the source is not
 * readable. */
static bool place_at(struct v8 *v8, const struct v8_flat *flat, uint32_t position, struct place *place)
{
	struct {
		uint64_t address;
		uint32_t length, width, position, n;
		unsigned char before[BEFORE];
	} identity = { flat->address, flat->length, flat->width, position, BEFORE / flat->width, { 0 } };

	if (identity.n > position)
		identity.n = position;
	if (!take(v8, LOOKUP_COST) ||
	    !memory_read(v8->memory, flat->address + (uint64_t)(position - identity.n) * flat->width, identity.before,
			 identity.n * flat->width))
		return false;
	place->cr = identity.n && source_character(identity.before, identity.n - 1, flat->width) == '\r';
	place->key = hash_bytes(&identity, sizeof(identity)) | 1;
	place->known = &v8->lines[(place->key >> 1) % V8_LINES];
	return true;
}

/* Adds the number of line ends in characters [at, end) to *lines. Returns false if the stack has too few characters
 * left, or the source is not readable. */
static bool count_part(struct v8 *v8, const struct v8_flat *flat, uint32_t at, uint32_t end, bool *cr, uint32_t *lines)
{
	unsigned char bytes[CHUNK];
	uint32_t part;

	if (!take(v8, end - at))
		return false;
	for (; at < end; at += part) {
		part = end - at < CHUNK / flat->width ? end - at : CHUNK / flat->width;
		if (!budget_steps(v8->memory->budget, 1 + part / 64) ||
		    !memory_bulk(v8->memory, flat->address + (uint64_t)at * flat->width, bytes, part * flat->width))
			return false;
		*lines += count_lines(bytes, part, flat->width, cr);
	}
	return true;
}

/* Sets *at to the last position up to `position` whose line is known: `position` itself, a multiple of V8LINES_BLOCK,
 * or 0. Sets *lines to the number of line ends before *at. Sets *cr to true if the character before *at is CR. Returns
 * false if the stack has no characters left, or the source is not readable. */
static bool find_known(struct v8 *v8, const struct v8_flat *flat, uint32_t position, uint32_t *at, uint32_t *lines,
		       bool *cr)
{
	struct place place;

	for (*at = position; *at > 0; *at = (*at - 1) / V8LINES_BLOCK * V8LINES_BLOCK) {
		if (!place_at(v8, flat, *at, &place))
			return false;
		if (place.known->key == place.key) {
			*lines = place.known->n;
			*cr = place.cr;
			return true;
		}
	}
	*lines = 0;
	*cr = false;
	return true;
}

/* Sets *line to the line of a position, by the line ends of the source before it. Returns false if that takes more
 * characters than the stack has left, or the source is not readable. */
static bool line_by_source(struct v8 *v8, const struct v8_flat *flat, uint32_t position, uint32_t *line)
{
	uint32_t at, lines, next;
	struct place place;
	bool cr;

	if (!find_known(v8, flat, position, &at, &lines, &cr))
		return false;
	for (; at < position; at = next) {
		next = (at / V8LINES_BLOCK + 1) * V8LINES_BLOCK;
		if (next > position)
			next = position;
		if (!count_part(v8, flat, at, next, &cr, &lines) || !place_at(v8, flat, next, &place))
			return false;
		*place.known = (struct v8_lines){ place.key, lines };
	}
	*line = lines + cr + 1;
	return true;
}

/* ---- lines of a script ------------------------------------------------------------------------------------------- */

bool v8lines_at(struct v8 *v8, uint64_t script, uint32_t position, uint32_t *line)
{
	uint64_t word;
	uint32_t number = 0, offset = 0;
	struct v8_flat flat;

	*line = 0;
	if (v8heap_word(v8, script, v8->layout.script.line_offset, &word) &&
	    (!v8heap_smi(word, &offset) || offset >= LINES_MAX))
		return true;
	if (!(v8heap_object(v8, script, v8->layout.script.line_ends, &word) &&
	      line_by_ends(v8, word, position, &number))) {
		if (!v8heap_object(v8, script, v8->layout.script.source, &word) || !v8heap_flat(v8, word, &flat) ||
		    position > flat.length || flat.length >= V8LINES_SOURCE)
			return true;
		if (!line_by_source(v8, &flat, position, &number))
			return false;
	}
	*line = number + offset;
	return true;
}
