/* SPDX-License-Identifier: Apache-2.0 */
/* buildid.h - the build-id of an ELF file: the bytes of its NT_GNU_BUILD_ID note. */
#ifndef PJ_BUILDID_H
#define PJ_BUILDID_H

#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t n; /* number of bytes; 0 if the file has no build-id */
	uint8_t byte[BUILD_ID_MAX];
};

#endif
