/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saversweep.h - removes files of DIR/symbols and DIR/jit: those that no window needs, then those of tenants over their
 * share.
 *
 * All tenants share one limit of bytes on disk. Below the limit each may use any part of it, so a host with one tenant
 * uses all. Beyond the limit only tenants that hold more than a common level lose files, the least recently needed
 * first, until all fit with a tenth to spare. Files of the host (of root and the kernel) have half of the limit before
 * they are removed. So forged build-ids and floods of jitdumps evict files of their own tenant only. A file with links
 * of several tenants counts for each with its part. The folder of a file identifies its tenant, so a sweep needs no
 * stored table.
 */
#ifndef PJ_SAVERSWEEP_H
#define PJ_SAVERSWEEP_H

#include "record/symsaver/saverdir.h"

struct saversweep {
	uint64_t bytes; /* freed bytes, of files that no window needs */
	/* removed: number of files that no window needs; forced: number of files that a window needs, removed because
	 * of max_bytes */
	uint64_t removed, forced;
};

/* Removes files that are older than the oldest window in DIR/out and DIR/recording and older than min_age_s seconds. If
 * more than max_bytes (0: no limit) then remain, removes the least recently needed files of tenants over their share,
 * and counts them by tenant in saverdir->budget. */
struct saversweep saversweep_run(struct saverdir *saverdir, uint64_t max_bytes, uint64_t min_age_s);

/* Removes files that are older than the oldest window of DIR, without a minimum age. Returns the number of freed bytes.
 * dir is a descriptor of DIR. */
uint64_t saversweep_unneeded(int dir);

#endif
