/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverids.h - build-ids that the keeper found: from it to the recorder, who may not open files of other mount
 * namespaces.
 *
 * A ring in shared memory, one writer, one reader, no lock, as saverring.h in the other direction; what does not fit is
 * not told, and will be found again in the next window. The recorder believes nothing of it but what it can check:
 * whoever parses hostile files may be theirs. It keeps them for the window in which they came and the one after: until
 * then whoever needs one has asked. A file is named by the numbers in its mapping, all four compared.
 */
#ifndef PJ_SAVERIDS_H
#define PJ_SAVERIDS_H

#include "common/formats/pjsection.h"

#include <stdatomic.h>

#define SAVERIDS_RING 1024 /* a power of two */
#define SAVERIDS_MOST 4096 /* that are kept of one window */

struct saverids_ring {
	_Atomic uint64_t head, tail;
	struct pj_build_id entry[SAVERIDS_RING];
};

/* By the keeper. False: there is no room. */
bool saverids_put(struct saverids_ring *ring, const struct pj_build_id *id);

struct saverids {
	struct saverids_table {
		struct pj_build_id *slot; /* open addressing; size 0: free */
		uint32_t n, cap;
	} now, before;
};

/* By the recorder: takes what is in the ring. Costs one comparison when there is nothing. */
void saverids_take(struct saverids *saverids, struct saverids_ring *ring);

/* That of the file with these numbers; NULL: it is not known. Valid until the next call of another function. */
const struct pj_build_id *saverids_find(const struct saverids *saverids, const struct file_id *file_id);

void saverids_window(struct saverids *saverids); /* a border */
void saverids_free(struct saverids *saverids);

#endif
