/* SPDX-License-Identifier: Apache-2.0 */
/* buildid.h - the build-id of an ELF file: the bytes of its NT_GNU_BUILD_ID note. */
#ifndef PJ_BUILDID_H
#define PJ_BUILDID_H

#include "common/str.h"

#include <string.h>

/* Largest number of bytes of a build-id: GNU ld and lld write 20 (SHA-1) or fewer. Longer ones are cut, as perf
 * does. */
#define BUILD_ID_MAX 20

/* A build-id. This struct is stored in windows, so its layout is fixed. */
struct build_id {
	uint8_t n;                  /* number of bytes of the build-id; 0 if the file has none */
	uint8_t byte[BUILD_ID_MAX]; /* the build-id; the remaining bytes are 0 */
};

static inline bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && memcmp(a->byte, b->byte, a->n) == 0;
}

/* Returns the first build-id (NT_GNU_BUILD_ID note) in the contents of a PT_NOTE segment or SHT_NOTE section. Its n is
 * 0 if there is none, or if a note in front of it is damaged. */
struct build_id buildid_in_notes(struct str notes);

#endif
