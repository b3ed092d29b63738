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
	uint64_t bytes;           /* freed bytes of files that no window needs */
	uint64_t removed, forced; /* files that no window needs; files that a window needs, removed over max_bytes */
};

/* Removes files older than the oldest window in DIR/out and DIR/recording and older than min_age_s; then, beyond
 * max_bytes (0: no limit), the least recently needed ones, counted by tenant in saverdir->budget. */
struct saversweep saversweep_run(struct saverdir *saverdir, uint64_t max_bytes, uint64_t min_age_s);

/* Removes files older than the oldest window of DIR, whatever their age. Returns the freed bytes. `dir`: a descriptor
 * of DIR. */
uint64_t saversweep_unneeded(int dir);

#endif
