/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities.h - limits a process to the capabilities that it needs, so that it cannot get others again.
 *
 * Uses system calls directly, without libcap. Capabilities belong to threads, so these functions must be called before
 * other threads start.
 */
#ifndef PJ_CAPABILITIES_H
#define PJ_CAPABILITIES_H

#include "common/base.h"

#define CAPABILITY_BIT(cap) (UINT64_C(1) << (cap))

struct capabilities {
	uint64_t effective, permitted, inheritable;
};

/* capabilities_get and capabilities_set read and set the capabilities of this thread. They return false with errno on
 * failure; capabilities_get then sets *capabilities to 0. */
bool capabilities_get(struct capabilities *capabilities);
bool capabilities_set(const struct capabilities *capabilities);

/* Removes all capabilities except `keep` from the bounding set, so that no executed file grants them, and locks
 * SECBIT_NOROOT, so that exec grants root none. Needs CAP_SETPCAP; without it, nothing is removed, and the caller must
 * set no_new_privs instead. */
void capabilities_bound(uint64_t keep);

/* Drops all capabilities of this thread except `keep`, and all inheritable and ambient capabilities. If the thread has
 * CAP_SETPCAP, also limits its bounding set to `keep` (capabilities_bound). Sets no_new_privs. Returns false on
 * failure: the thread may then still have other capabilities. */
bool capabilities_limit(uint64_t keep);

#endif
