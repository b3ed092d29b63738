/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities.h - a process limits itself to the capabilities that it needs, and cannot get others again.
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

/* Get and set the capabilities of this thread. Return false with errno; *capabilities is then 0 after
 * capabilities_get. */
bool capabilities_get(struct capabilities *capabilities);
bool capabilities_set(const struct capabilities *capabilities);

/* Removes all capabilities except `keep` from the bounding set, so that no executed file gives them, and locks
 * SECBIT_NOROOT, so that root gets none by exec. Needs CAP_SETPCAP; without it nothing is removed, and no_new_privs
 * must do the same. */
void capabilities_bound(uint64_t keep);

/* Drops all capabilities except `keep`, from the bounding set too if CAP_SETPCAP is held, and all inheritable and
 * ambient ones, and sets no_new_privs. Returns false if others remain. */
bool capabilities_limit(uint64_t keep);

#endif
