/* SPDX-License-Identifier: Apache-2.0 */
/* buildid.h - the build-id of an ELF file: the bytes of its NT_GNU_BUILD_ID note. */
#ifndef PJ_BUILDID_H
#define PJ_BUILDID_H

#include "common/str.h"

#include <string.h>

/* Bytes: GNU ld and lld write 20 (SHA-1) or fewer; longer ones are cut, as perf does. */
#define BUILD_ID_MAX 20

/* Stored in windows, so its layout is fixed. */
struct build_id {
	uint8_t n;                  /* number of bytes; 0 if the file has no build-id */
	uint8_t byte[BUILD_ID_MAX]; /* bytes after the first n are 0 */
};

static inline bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && memcmp(a->byte, b->byte, a->n) == 0;
}

/* Returns the build-id among the notes of a PT_NOTE segment or SHT_NOTE section; n is 0 if they have none, or are
 * damaged before it. */
struct build_id buildid_in_notes(struct str notes);

#endif
