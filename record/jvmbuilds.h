/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmbuilds.h - what the builds of HotSpot that were met say of themselves, so that only the first JVM of each is asked.
 *
 * To read all that a libjvm.so tells of its layout takes 2.3 ms, and it is the same in each process, but for where the library begins.
 * It is the same library when its first page is, which has its build-id and how large its parts are. A process may change its own copy,
 * so nothing is taken from one user's to another's.
 */
#ifndef PJ_JVMBUILDS_H
#define PJ_JVMBUILDS_H

#include "frames.h"

struct jvmbuilds;

struct jvmbuilds *jvmbuilds_new(void);
void jvmbuilds_free(struct jvmbuilds *b);

/* h has memory alone, in which libjvm.so begins at base. When its build is known, h and f are filled in, as by hotspot_read_layout and
 * frames_open, as far as looking at code and naming methods needs it. */
bool jvmbuilds_take(struct jvmbuilds *b, uid_t uid, uint64_t base, struct hotspot *h, struct frames *f);

/* They were filled in. */
void jvmbuilds_keep(struct jvmbuilds *b, uid_t uid, uint64_t base, struct hotspot *h, const struct frames *f);

#endif
