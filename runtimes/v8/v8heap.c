/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8heap.h"

#define LENGTH 12u
/* offset of the characters of a sequential string; of the first part (ConsString), parent (SlicedString) or actual
 * string (ThinString) */
#define CHARACTERS 16u
/* SECOND: offset of the second part of a ConsString, of the start index of a SlicedString, of the character address of
 * an external string. LENGTH_MAX: maximum length of a string in characters; a longer one is invalid. */
#define SECOND 24u
#define LENGTH_MAX ((uint32_t)1 << 30)
#define CHUNK 128u /* number of characters per read */
#define ENCODING 8u
#define UNCACHED 16u /* type bit of an external string that does not store the address of its characters */

enum { SEQUENTIAL, CONS, EXTERNAL, SLICED, THIN = 5 };

bool v8heap_word(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *word)
{
	return v8heap_is_object(object) && memory_pointer(v8->memory, object - 1 + offset, word);
}

bool v8heap_object(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *field)
{
	return v8heap_word(v8, object, offset, field) && v8heap_is_object(*field);
}

static bool map_type(struct v8 *v8, uint64_t map, uint32_t *type)
{
	uint64_t number;

	if (!memory_u64(v8->memory, map - 1 + v8->layout.map.type, 2, &number))
		return false;
	*type = (uint32_t)number;
	return true;
}

bool v8heap_type(struct v8 *v8, uint64_t object, uint32_t *type)
{
	uint64_t map, meta;
	uint32_t of_map;

	return v8heap_object(v8, object, 0, &map) && v8heap_object(v8, map, 0, &meta) && map_type(v8, meta, &of_map) &&
	       of_map == v8->layout.type.map && map_type(v8, map, type);
}

bool v8heap_is(struct v8 *v8, uint64_t object, uint32_t type)
{
	uint32_t is;

	return v8heap_type(v8, object, &is) && is == type;
}

/* ---- characters of strings --------------------------------------------------------------------------------------- */

static bool string_type(struct v8 *v8, uint64_t object, uint32_t *type)
{
	return v8heap_type(v8, object, type) && *type < v8->layout.type.nonstring;
}

static bool string_length(struct v8 *v8, uint64_t object, uint32_t *length)
{
	uint64_t number;

	if (!memory_u64(v8->memory, object - 1 + LENGTH, 4, &number) || number > LENGTH_MAX)
		return false;
	*length = (uint32_t)number;
	return true;
}

bool v8heap_length(struct v8 *v8, uint64_t object, uint32_t *length)
{
	uint32_t type;

	return string_type(v8, object, &type) && string_length(v8, object, length);
}

/* Sets *flat to the characters [from, from + length) of a sequential or external string. Returns false if these
 * characters are not within the string or not accessible. */
static bool direct(struct v8 *v8, uint64_t object, uint32_t type, uint32_t from, uint32_t length, struct v8_flat *flat)
{
	uint32_t all;
	uint64_t address = object - 1 + CHARACTERS;

	if (!string_length(v8, object, &all) || from > all || length > all - from)
		return false;
	if ((type & 7) == EXTERNAL &&
	    (type & UNCACHED || !v8heap_word(v8, object, SECOND, &address) || address >= UINT64_C(1) << 47))
		return false;
	flat->width = type & ENCODING ? 1 : 2;
	flat->length = length;
	flat->address = address + (uint64_t)from * flat->width;
	return true;
}

/* Follows ThinStrings, SlicedStrings and flattened ConsStrings from *object to a string that has characters, or to a
 * ConsString of two parts. The requested text is characters [*from, *from + *length) of *object, on entry and on
 * return. Returns false if a string is invalid or the limit V8HEAP_STRINGS is reached. */
static bool settle(struct v8 *v8, uint64_t *object, uint32_t *type, uint32_t *from, const uint32_t *length,
		   uint32_t *strings)
{
	for (; *strings < V8HEAP_STRINGS; ++*strings) {
		uint64_t next, word;
		uint32_t offset = 0, all, second;

		if (!string_type(v8, *object, type) || !string_length(v8, *object, &all) || *from > all ||
		    *length > all - *from)
			return false;
		switch (*type & 7) {
		case SEQUENTIAL:
		case EXTERNAL: return true;
		case THIN: break;
		case SLICED:
			if (!v8heap_word(v8, *object, SECOND, &word) || !v8heap_smi(word, &offset) ||
			    offset > LENGTH_MAX)
				return false;
			break;
		case CONS:
			if (!v8heap_object(v8, *object, SECOND, &word) || !v8heap_length(v8, word, &second))
				return false;
			if (second)
				return true;
			break;
		default: return false;
		}
		if (!v8heap_object(v8, *object, CHARACTERS, &next))
			return false;
		*from += offset; /* *from and offset are at most LENGTH_MAX, so the sum does not overflow */
		if (*from > LENGTH_MAX)
			return false;
		*object = next;
	}
	return false;
}

bool v8heap_flat(struct v8 *v8, uint64_t object, struct v8_flat *flat)
{
	uint32_t type, from = 0, length, strings = 0;

	return v8heap_length(v8, object, &length) && settle(v8, &object, &type, &from, &length, &strings) &&
	       (type & 7) != CONS && direct(v8, object, type, from, length, flat);
}

/* ---- text in UTF-8 ----------------------------------------------------------------------------------------------- */

struct utf8 {
	char *to;
	size_t n, cap;
	uint32_t high; /* high surrogate that waits for its low surrogate; 0: none */
	bool cut;
};

static void utf8_bytes(struct utf8 *text, const char *bytes, size_t n)
{
	if (text->cut || n >= text->cap - text->n) {
		text->cut = true;
		return;
	}
	memcpy(text->to + text->n, bytes, n);
	text->n += n;
}

static void put_point(struct utf8 *text, uint32_t point)
{
	char bytes[4];
	size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; point >>= 6)
		bytes[i] = (char)(0x80 | (point & 63));
	bytes[0] = (char)(first[n] | point);
	utf8_bytes(text, bytes, n);
}

/* Appends a UTF-16 code unit. */
static void put_unit(struct utf8 *text, uint32_t unit)
{
	bool low = unit >= 0xdc00 && unit < 0xe000;

	if (text->high && low) {
		put_point(text, 0x10000 + ((text->high - 0xd800) << 10) + (unit - 0xdc00));
		text->high = 0;
		return;
	}
	if (text->high)
		put_point(text, 0xfffd);
	text->high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (!text->high)
		put_point(text, unit == 0 || low ? 0xfffd : unit);
}

static bool put_flat(struct v8 *v8, const struct v8_flat *flat, struct utf8 *text)
{
	unsigned char bytes[2 * CHUNK];
	uint32_t part;

	for (uint32_t at = 0; at < flat->length && !text->cut; at += part) {
		part = flat->length - at < CHUNK ? flat->length - at : CHUNK;
		if (!memory_read(v8->memory, flat->address + (uint64_t)at * flat->width, bytes, part * flat->width))
			return false;
		for (uint32_t i = 0; i < part; i++)
			put_unit(text, flat->width == 1 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8);
	}
	return true;
}

static void end_text(struct utf8 *text)
{
	if (text->high)
		put_point(text, 0xfffd);
	if (text->cut) {
		size_t n = text->n < text->cap - 4 ? text->n : text->cap - 4;

		while (n && ((unsigned char)text->to[n] & 0xc0) == 0x80 && n < text->n)
			n--;
		memcpy(text->to + n, "...", 3);
		text->n = n + 3;
	}
	text->to[text->n] = 0;
}

bool v8heap_string(struct v8 *v8, uint64_t object, char *to, size_t cap)
{
	struct utf8 text = { .to = to, .cap = cap };
	uint64_t waiting[V8HEAP_STRINGS];
	uint32_t n = 0, strings = 0;

	waiting[n++] = object;
	to[0] = 0;
	while (n && !text.cut) {
		uint64_t at = waiting[--n], first, second;
		uint32_t type, from = 0, length;
		struct v8_flat flat;

		if (!v8heap_length(v8, at, &length) || !settle(v8, &at, &type, &from, &length, &strings))
			return false;
		if ((type & 7) == CONS) {
			/* V8 flattens a ConsString before it slices it, so a slice of an unflattened one is invalid */
			if (from || ++strings >= V8HEAP_STRINGS || n + 2 > V8HEAP_STRINGS ||
			    !v8heap_object(v8, at, CHARACTERS, &first) || !v8heap_object(v8, at, SECOND, &second))
				return false;
			waiting[n++] = second;
			waiting[n++] = first;
		} else if (!direct(v8, at, type, from, length, &flat) || !put_flat(v8, &flat, &text)) {
			return false;
		}
	}
	end_text(&text);
	return true;
}
