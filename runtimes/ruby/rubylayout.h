/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubylayout.h - offsets in Ruby's structures: those that all supported versions share, and a table of the others.
 *
 * The offsets are taken from vm_core.h, method.h, iseq.h, symbol.c, internal/class.h and include/ruby of each version.
 */
#ifndef PJ_RUBYLAYOUT_H
#define PJ_RUBYLAYOUT_H

#include "runtimes/ruby/ruby.h"

enum {
	THREAD_NEXT = 0, /* offset of the link to the next thread in the list of threads */
	THREAD_PREVIOUS = 8,
	EC_STACK = 0,
	EC_WORDS = 8,
	EC_FRAME = 16,
	EC_TAG = 24,
	EC_THREAD = 48,
	EC_BYTES = 176, /* number of bytes of an execution context that are copied */
	MACHINE_START = 0,
	MACHINE_SIZE = 16,
	FRAME_PC = 0,
	FRAME_ISEQ = 16,
	FRAME_EP = 32,
	ISEQ_BODY = 16,
	BODY_TYPE = 0,
	BODY_WORDS = 4,
	BODY_CODE = 8,
	BODY_PATH = 64,
	BODY_BASE_LABEL = 72,
	BODY_LABEL = 80,
	BODY_BYTES = 192,
	METHOD_DEFINITION = 16,
	METHOD_OWNER = 32,
	METHOD_BYTES = 40,
	DEFINITION_ISEQ = 8,
	DEFINITION_ID = 32,
	DEFINITION_BYTES = 40,
	OBJECT_FLAGS = 0,
	OBJECT_CLASS = 8
};

/* Flags of objects: types, flag bits, and kinds of internal objects (imemo). */
#define OBJECT_TYPE_MASK UINT64_C(0x1f)
#define OBJECT_TYPE_CLASS 0x02u
#define OBJECT_TYPE_MODULE 0x03u
#define OBJECT_TYPE_STRING 0x05u
#define OBJECT_TYPE_ARRAY 0x07u
#define OBJECT_TYPE_DATA 0x0cu
#define OBJECT_TYPE_IMEMO 0x1au
#define OBJECT_USER0 (UINT64_C(1) << 12)
#define OBJECT_USER1 (UINT64_C(1) << 13)
#define IMEMO_SVAR 2u
#define IMEMO_METHOD 6u
#define IMEMO_ISEQ 7u

/* EP_BYTES_BEFORE: number of bytes before ep that belong to the environment (method entry, parent). Other constants:
 * bits of the flags at ep. */
#define EP_BYTES_BEFORE 16u
#define EP_LOCAL UINT64_C(2)
#define EP_FINISH UINT64_C(0x20)
#define EP_CFRAME UINT64_C(0x80)
#define EP_KIND_MASK UINT64_C(0x7fff0001)

/* RUBYLAYOUTS: number of rows in the table of layouts. RUBYLAYOUT_FIRST: first version that is supported (100 * major +
 * minor). */
#define RUBYLAYOUTS 3u
#define RUBYLAYOUT_FIRST 301u

/* Sets *layout to row i of the table, i < RUBYLAYOUTS. Pure. */
void rubylayout_get(uint32_t i, struct ruby_layout *layout);

/* Sets *layout to the row of a version (100 * major + minor). Returns false if the table has none. Pure. */
bool rubylayout_of_version(uint32_t version, struct ruby_layout *layout);

static inline bool rubylayout_is_address(uint64_t value)
{
	return value % 8 == 0 && value >= 4096 && value < (UINT64_C(1) << 47);
}

static inline uint64_t rubylayout_word(const char *bytes, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

#endif
