/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities.h - a process keeps the capabilities that it needs, and has no way back to others.
 *
 * By system calls. Capabilities belong to threads: to be called before there are others.
 */
#ifndef PJ_CAPABILITIES_H
#define PJ_CAPABILITIES_H

#include "common/base.h"

#define CAPABILITY_BIT(cap) (UINT64_C(1) << (cap))

struct capabilities {
	uint64_t effective, permitted, inheritable;
};

/* False and all 0: errno. */
bool capabilities_get(struct capabilities *capabilities);
bool capabilities_set(const struct capabilities *capabilities);

/* Takes all but `keep` out of the bounding set, so that no executed file brings them, and root gets none by executing.
 * Needs CAP_SETPCAP; without it no_new_privs does the same. */
void capabilities_bound(uint64_t keep);

/* Keeps those of `keep` that are permitted: no others in the bounding set, no inheritable and no ambient ones,
 * no_new_privs. False: some are left that should not be. */
bool capabilities_limit(uint64_t keep);

#endif
