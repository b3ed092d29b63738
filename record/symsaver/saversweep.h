/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saversweep.h - removes files of DIR/symbols and DIR/jit: first files that no window needs, then files of tenants
 * over their share.
 *
 * All tenants share one limit of bytes on disk. Below the limit each tenant may use any part of it, so a single tenant
 * may use all. Beyond the limit only tenants that hold more than a common level lose files, the least recently needed
 * ones first, until a tenth of the limit is free again. Files of the host (of root and the kernel) may use half of the
 * limit before they are removed. So forged build-ids and floods of jitdumps evict only files of their own tenant. The
 * bytes of a file with links of several tenants are divided among these tenants. The folder of a file identifies its
 * tenant, so a sweep needs no stored table.
 */
#ifndef PJ_SAVERSWEEP_H
#define PJ_SAVERSWEEP_H

#include "record/symsaver/saverdir.h"

struct saversweep {
	uint64_t bytes; /* bytes that were freed by removing files that no window needs */
	/* removed: number of removed files that no window needs. forced: number of files that were removed because of
	 * max_bytes, although a window may need them. */
	uint64_t removed, forced;
};

/* Removes files that are older than the oldest window in DIR/out and DIR/recording, and older than min_age_s seconds.
 * If the remaining files exceed max_bytes (0: no limit), removes the least recently needed files of tenants over their
 * share, and adds their number to the tenant's count in saverdir->budget. Sets saverdir->bytes to the bytes that
 * remain. Returns the numbers of the removed files. */
struct saversweep saversweep_run(struct saverdir *saverdir, uint64_t max_bytes, uint64_t min_age_s);

/* Removes files in symbols/ and jit/ that are older than the oldest window of DIR, without a minimum age. dir:
 * descriptor of DIR. Returns the number of freed bytes. */
uint64_t saversweep_unneeded(int dir);

#endif
