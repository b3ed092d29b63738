/* SPDX-License-Identifier: Apache-2.0 */
/* buildid.h - the build-id of an ELF file: the bytes of its NT_GNU_BUILD_ID note. */
#ifndef PJ_BUILDID_H
#define PJ_BUILDID_H

#include "common/str.h"

#include <string.h>

/* Largest number of bytes of a build-id. GNU ld and lld write 20 (SHA-1) or fewer; longer ones are cut off, as in
 * perf. */
#define BUILD_ID_MAX 20

/* A build-id. Windows contain this struct, so its layout must not change. */
struct build_id {
	uint8_t n;                  /* number of bytes of the build-id; 0: the file has no build-id */
	uint8_t byte[BUILD_ID_MAX]; /* bytes of the build-id, followed by zeros */
};

static inline bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && memcmp(a->byte, b->byte, a->n) == 0;
}

/* Returns the first build-id (NT_GNU_BUILD_ID note) in `notes`, the contents of a PT_NOTE segment or SHT_NOTE section.
 * n of the result is 0 if there is none, or if a note before it is damaged. */
struct build_id buildid_in_notes(struct str notes);

#endif
