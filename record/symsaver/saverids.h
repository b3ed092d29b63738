/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverids.h - build-ids that the symbol saver read, passed to the recorder, which may not open files of other mount
 * namespaces.
 *
 * A ring in shared memory, with one writer, one reader and no lock, like saverring.h in the other direction. A build-id
 * without space in the ring is dropped and found again in the next window. The recorder checks what it reads: the
 * symbol saver's parser may have been taken over. Build-ids stay for the window in which they came and the next one. A
 * file is identified by its file_id.
 */
#ifndef PJ_SAVERIDS_H
#define PJ_SAVERIDS_H

#include "common/formats/pjsection.h"

#include <stdatomic.h>

#define SAVERIDS_RING 1024 /* number of entries of the ring; a power of two */
#define SAVERIDS_MOST 4096 /* maximum number of build-ids that are kept for one window */

struct saverids_ring {
	_Atomic uint64_t head, tail;
	struct pj_build_id entry[SAVERIDS_RING];
};

/* For the symbol saver: adds a build-id to the ring. Returns false if the ring is full. */
bool saverids_put(struct saverids_ring *ring, const struct pj_build_id *id);

struct saverids {
	struct saverids_table {
		/* hash table by file_id, with open addressing; build_id.n is 0 in a free slot */
		struct pj_build_id *slot;
		uint32_t n, cap;
	} now, before;
};

/* For the recorder: moves the build-ids in the ring to the table of this window. If the ring is empty, this costs one
 * comparison. */
void saverids_take(struct saverids *saverids, struct saverids_ring *ring);

/* Returns the build-id of a file from this window or the one before, or NULL. The pointer is valid until another
 * function of this module is called. */
const struct pj_build_id *saverids_find(const struct saverids *saverids, const struct file_id *file_id);

/* Starts a new window. Keeps the build-ids of the window that ends, and forgets all older ones. */
void saverids_window(struct saverids *saverids);
void saverids_free(struct saverids *saverids);

#endif
