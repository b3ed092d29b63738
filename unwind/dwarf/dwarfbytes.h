/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfbytes.h - reads numbers from hostile DWARF bytes, never beyond the end of the bytes.
 *
 * A read beyond the end returns 0 and sets `bad`, and so do all later reads. So the caller checks `bad` once, after a
 * group of reads. Numbers are little-endian. All functions are pure.
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

/* A cursor in bytes that the caller owns. A copy of it can read ahead. */
struct dwarf_bytes {
	/* p: next byte to read; end: end of the bytes */
	const uint8_t *p, *end;
	/* true after a failed read: too few bytes, or a LEB128 number of more than DWARF_LEB_MAX bytes */
	bool bad;
};

/* Returns a cursor at the first byte of `string`, whose bytes must outlive the cursor. */
static inline struct dwarf_bytes dwarf_bytes_of(struct str string)
{
	const uint8_t *p = (const uint8_t *)string.p;

	return (struct dwarf_bytes){ .p = p, .end = string.n ? p + string.n : p };
}

/* Returns the number of unread bytes, even if `bad` is set. */
static inline size_t dwarf_left(const struct dwarf_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->p);
}

/* Skips n bytes and returns a pointer to the first of them. Returns NULL and sets `bad` without skipping if fewer bytes
 * are left. n may have any value, because it comes from the bytes. */
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

/* Reads an unsigned number of `size` bytes, 1 to 8, at any alignment. Returns 0 and sets `bad` if fewer bytes are
 * left. */
static inline uint64_t dwarf_uint(struct dwarf_bytes *bytes, unsigned size)
{
	const uint8_t *p = dwarf_take(bytes, size);
	uint64_t value = 0;

	if (p)
		memcpy(&value, p, size);
	return value;
}

/* Reads a signed number of `size` bytes, 1 to 8, and sign-extends it to 64 bits. The result is unsigned, so that the
 * caller can add it to addresses modulo 2^64. Returns 0 and sets `bad` if fewer bytes are left. */
static inline uint64_t dwarf_sint(struct dwarf_bytes *bytes, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(dwarf_uint(bytes, size) << unused) >> unused);
}

/* maximum length of a LEB128 number in bytes: assemblers pad a number to the length of its largest possible value, but
 * each further byte would cost time */
enum { DWARF_LEB_MAX = 64 };

/* Reads a LEB128 number, sign-extended if is_signed. Drops the bits from 64 on. Returns 0 and sets `bad` if the number
 * does not end within DWARF_LEB_MAX bytes. */
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

/* Reads an unsigned LEB128 number, such as a length, an offset or a register number. */
static inline uint64_t dwarf_uleb(struct dwarf_bytes *bytes)
{
	return dwarf_leb(bytes, false);
}

/* Reads a signed LEB128 number, such as a factored offset or the operand of DW_OP_consts. */
static inline int64_t dwarf_sleb(struct dwarf_bytes *bytes)
{
	return (int64_t)dwarf_leb(bytes, true);
}

#endif
