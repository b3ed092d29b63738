/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/cpython/pylines.h"

#define LINE_MAX_VALUE INT32_MAX
#define UNIT 2 /* size of a code unit in bytes */

/* Kinds of entries in a location table; 0 to 9 are short forms. */
enum location_kind { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

static int table_byte(const struct pylines_source *source)
{
	return source->next(source->arg);
}

static uint32_t as_line(int64_t line)
{
	return line > 0 && line <= LINE_MAX_VALUE ? (uint32_t)line : 0;
}

/* Returns the line of the instruction at `offset`, by a co_lnotab: pairs of bytecode bytes (unsigned) and line
 * difference (signed). A difference applies from the end of its bytes on. Returns 0 if the line is implausible. */
static uint32_t find_lnotab(const struct pylines_source *source, int64_t line, int64_t offset)
{
	for (int64_t at = 0;;) {
		int bytes = table_byte(source), lines = bytes < 0 ? -1 : table_byte(source);

		if (lines < 0)
			return as_line(line);
		at += bytes;
		if (at > offset)
			return as_line(line);
		line += (int8_t)lines;
		if (line < -LINE_MAX_VALUE || line > LINE_MAX_VALUE)
			return 0;
	}
}

/* Returns the line of the instruction at `offset`, by a co_linetable: pairs of bytecode bytes (unsigned) and line
 * difference (signed; -128: no line). A difference applies to its bytes. Returns 0 if the instruction has no line, or
 * the table ends before it. */
static uint32_t find_linetable(const struct pylines_source *source, int64_t line, int64_t offset)
{
	for (int64_t at = 0;;) {
		int bytes = table_byte(source), lines = bytes < 0 ? -1 : table_byte(source);
		bool none = lines == 128;

		if (lines < 0)
			return 0;
		if (!none)
			line += (int8_t)lines;
		if (line < -LINE_MAX_VALUE || line > LINE_MAX_VALUE)
			return 0;
		at += bytes;
		if (at > offset)
			return none ? 0 : as_line(line);
	}
}

/* Reads a variable-length number: 6 bits in each byte, lowest first; bit 6 is set if another byte follows. Returns
 * false if the number is malformed. */
static bool location_varint(const struct pylines_source *source, uint32_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 30; shift += 6) {
		int byte = table_byte(source);

		if (byte < 0 || byte & 0x80)
			return false;
		*value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			return true;
	}
	return false;
}

/* Skips n bytes, which have the columns of an entry. Returns false at the end of the table. */
static bool location_bytes(const struct pylines_source *source, unsigned n)
{
	while (n && table_byte(source) >= 0)
		n--;
	return n == 0;
}

static bool location_lines(const struct pylines_source *source, int64_t *lines)
{
	uint32_t value;

	if (!location_varint(source, &value))
		return false;
	*lines = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return true;
}

/* Reads the rest of an entry of the given kind. Sets *lines to its line difference. Returns false if the entry is
 * malformed. */
static bool location_entry(const struct pylines_source *source, unsigned kind, int64_t *lines)
{
	uint32_t ignored;

	*lines = 0;
	if (kind < LOCATION_ONE_LINE)
		return location_bytes(source, 1);
	if (kind < LOCATION_NO_COLUMNS) {
		*lines = (int64_t)kind - LOCATION_ONE_LINE;
		return location_bytes(source, 2);
	}
	if (kind == LOCATION_NO_COLUMNS)
		return location_lines(source, lines);
	if (kind == LOCATION_LONG)
		return location_lines(source, lines) && location_varint(source, &ignored) &&
		       location_varint(source, &ignored) && location_varint(source, &ignored);
	return true;
}

static uint32_t find_location(const struct pylines_source *source, int64_t line, int64_t offset)
{
	for (int64_t at = 0;;) {
		int head = table_byte(source);
		unsigned kind = (unsigned)head >> 3 & 15;
		int64_t lines;

		if (head < 0 || !(head & 0x80) || !location_entry(source, kind, &lines))
			return 0;
		line += lines;
		if (line < -LINE_MAX_VALUE || line > LINE_MAX_VALUE)
			return 0;
		at += ((head & 7) + 1) * UNIT;
		if (at > offset)
			return kind == LOCATION_NONE ? 0 : as_line(line);
	}
}

uint32_t pylines_find(const struct pylines_source *source, uint32_t version, int32_t firstline, int64_t offset)
{
	if (offset < 0)
		return as_line(firstline);
	if (version < 10)
		return find_lnotab(source, firstline, offset);
	return version == 10 ? find_linetable(source, firstline, offset) : find_location(source, firstline, offset);
}
