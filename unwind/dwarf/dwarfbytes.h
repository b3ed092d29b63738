/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfbytes.h - numbers out of DWARF bytes that may be anything: nothing is read past the end, the first lack is
 * remembered.
 *
 * After `bad` is set every number is 0 and nothing advances, so that callers check once, at the end of a piece.
 */
#ifndef PJ_DWARFBYTES_H
#define PJ_DWARFBYTES_H

#include "common/str.h"

struct dwarf_bytes {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct dwarf_bytes dwarf_bytes_of(struct str string)
{
	const uint8_t *p = (const uint8_t *)string.p;

	return (struct dwarf_bytes){ .p = p, .end = string.n ? p + string.n : p };
}

static inline size_t dwarf_left(const struct dwarf_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->p);
}

/* n bytes passed over; NULL when there are fewer. */
static inline const uint8_t *dwarf_take(struct dwarf_bytes *bytes, uint64_t n)
{
	const uint8_t *p = bytes->p;

	if (bytes->bad || n > dwarf_left(bytes)) {
		bytes->bad = true;
		return NULL;
	}
	bytes->p += n;
	return p;
}

/* Little-endian, of 1 to 8 bytes. */
static inline uint64_t dwarf_uint(struct dwarf_bytes *bytes, unsigned size)
{
	const uint8_t *p = dwarf_take(bytes, size);
	uint64_t value = 0;

	if (p)
		memcpy(&value, p, size);
	return value;
}

static inline uint64_t dwarf_sint(struct dwarf_bytes *bytes, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(dwarf_uint(bytes, size) << unused) >> unused);
}

/* Assemblers pad a LEB128 to the length of the largest one that they might need; a longer one is damaged, and would
 * cost its reader time for each of its bytes each time that it is read. */
enum { DWARF_LEB_MAX = 64 };

/* Bits that do not fit are dropped. */
static inline uint64_t dwarf_leb(struct dwarf_bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (unsigned n = 0; n < DWARF_LEB_MAX && !bytes->bad && bytes->p < bytes->end; n++) {
		uint8_t byte = *bytes->p++;

		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		shift = shift < 64 ? shift + 7 : shift;
		if (byte & 128)
			continue;
		if (is_signed && byte & 64 && shift < 64)
			value |= UINT64_MAX << shift;
		return value;
	}
	bytes->bad = true;
	return 0;
}

static inline uint64_t dwarf_uleb(struct dwarf_bytes *bytes)
{
	return dwarf_leb(bytes, false);
}

static inline int64_t dwarf_sleb(struct dwarf_bytes *bytes)
{
	return (int64_t)dwarf_leb(bytes, true);
}

#endif
