/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfbytes.h - reads numbers from DWARF bytes of any content, never beyond their end.
 *
 * The first read beyond the end sets `bad`. All later reads return 0 and do not advance, so the caller checks `bad`
 * once, after a group of reads. All functions are pure; numbers are little-endian.
 *
 * struct dwarf_bytes bytes = dwarf_bytes_of(section);
 * uint64_t version = dwarf_uint(&bytes, 2);
 * int64_t align = dwarf_sleb(&bytes);
 * if (bytes.bad)
 * 	return false;
 */
#ifndef PJ_DWARFBYTES_H
#define PJ_DWARFBYTES_H

#include "common/str.h"

/* A cursor over bytes that the caller owns. The cursor may be copied to read ahead. */
struct dwarf_bytes {
	/* the next byte, and the end of the bytes */
	const uint8_t *p, *end;
	/* true after a failed read: too few bytes, or a LEB128 number of more than DWARF_LEB_MAX bytes */
	bool bad;
};

/* Returns a cursor at the first byte of string, whose bytes remain the caller's. */
static inline struct dwarf_bytes dwarf_bytes_of(struct str string)
{
	const uint8_t *p = (const uint8_t *)string.p;

	return (struct dwarf_bytes){ .p = p, .end = string.n ? p + string.n : p };
}

/* Returns the number of bytes that are left, also after a failed read. */
static inline size_t dwarf_left(const struct dwarf_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->p);
}

/* Skips n bytes and returns a pointer to the first of them.
 * Returns NULL if fewer bytes are left; then the cursor does not advance and `bad` is set.
 * n may have any value, as it comes from the bytes. */
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

/* Reads an unsigned number of `size` bytes, 1 to 8, without alignment.
 * Returns 0 and sets `bad` if fewer bytes are left. */
static inline uint64_t dwarf_uint(struct dwarf_bytes *bytes, unsigned size)
{
	const uint8_t *p = dwarf_take(bytes, size);
	uint64_t value = 0;

	if (p)
		memcpy(&value, p, size);
	return value;
}

/* Reads a signed number of `size` bytes, 1 to 8, and extends its sign to 64 bits.
 * The result is unsigned, so that the caller can add it to addresses modulo 2^64.
 * Returns 0 and sets `bad` if fewer bytes are left. */
static inline uint64_t dwarf_sint(struct dwarf_bytes *bytes, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(dwarf_uint(bytes, size) << unused) >> unused);
}

/* Limit for the bytes of a LEB128 number.
 * Assemblers pad a LEB128 to the length of the largest value that it might get.
 * A longer one is malformed, and each read of it would cost time for each of its bytes. */
enum { DWARF_LEB_MAX = 64 };

/* Reads a LEB128 number, with sign extension if is_signed.
 * Bits from 64 on are dropped.
 * Returns 0 and sets `bad` if the number does not end within DWARF_LEB_MAX bytes. */
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

/* Reads an unsigned LEB128 number: lengths, offsets, register numbers. */
static inline uint64_t dwarf_uleb(struct dwarf_bytes *bytes)
{
	return dwarf_leb(bytes, false);
}

/* Reads a signed LEB128 number: factored offsets, operands of DW_OP_consts. */
static inline int64_t dwarf_sleb(struct dwarf_bytes *bytes)
{
	return (int64_t)dwarf_leb(bytes, true);
}

#endif
