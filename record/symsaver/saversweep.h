/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saversweep.h - decides which files of DIR/symbols and DIR/jit go: those that no window needs, then those of tenants
 * over their share.
 *
 * All tenants share one limit of bytes on the disk. While there is room, each may use it, so a tenant that is the host
 * alone has all of it. Beyond the limit the shares are made equal from above: only tenants that hold more than a common
 * level lose files, those needed longest ago first, until all fit, with a tenth to spare. The files of the host (of
 * root, the kernel's) have half of the limit before they lose any. So forged build-ids and floods of jitdumps evict
 * files of their own tenant only. A file with links of several tenants counts for each of them with its part. Whose a
 * file is follows from its folder, so a sweep needs no table of an earlier run.
 */
#ifndef PJ_SAVERSWEEP_H
#define PJ_SAVERSWEEP_H

#include "record/symsaver/saverdir.h"

struct saversweep {
	uint64_t bytes;           /* freed, of files that no window needs */
	uint64_t removed, forced; /* files that no window needs any more; that one needs, but max_bytes was exceeded */
};

/* Removes what is older than the oldest window in DIR/out and DIR/recording and older than min_age_s, and then, beyond
 * max_bytes (0: no limit), what was needed longest ago. Counts the latter by tenant in saverdir->budget. */
struct saversweep saversweep_run(struct saverdir *saverdir, uint64_t max_bytes, uint64_t min_age_s);

/* Removes what is older than the oldest window of DIR, however young. Returns the bytes on disk that this freed. `dir`:
 * its descriptor. */
uint64_t saversweep_unneeded(int dir);

#endif
