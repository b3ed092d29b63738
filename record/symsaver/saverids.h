/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverids.h - passes build-ids from the symbol saver to the recorder. The symbol saver reads them, because the
 * recorder may not open files of other mount namespaces.
 *
 * The build-ids are in a lock-free ring in shared memory, with one writer and one reader; saverring.h is the ring in
 * the other direction. A build-id that does not fit into the ring is dropped; the symbol saver sends it again in the
 * next window. The recorder checks each build-id that it reads, because a hostile file may have taken over the symbol
 * saver's parser. A build-id is stored for the window in which it arrived and the next one. The file_id identifies the
 * file.
 */
#ifndef PJ_SAVERIDS_H
#define PJ_SAVERIDS_H

#include "common/formats/pjsection.h"

#include <stdatomic.h>

#define SAVERIDS_RING 1024 /* number of entries of the ring; a power of two */
/* maximum number of build-ids that are stored for one window; further ones are ignored */
#define SAVERIDS_MOST 4096

struct saverids_ring {
	/* numbers of entries written and read since the start */
	_Atomic uint64_t head, tail;
	struct pj_build_id entry[SAVERIDS_RING];
};

/* For the symbol saver: adds a build-id to the ring. Returns false if the ring is full; the build-id is then
 * dropped. */
bool saverids_put(struct saverids_ring *ring, const struct pj_build_id *id);

struct saverids {
	struct saverids_table {
		/* hash table with open addressing; key: file_id; build_id.n is 0 in a free slot */
		struct pj_build_id *slot;
		uint32_t n, cap;
		/* now: build-ids that arrived in this window; before: those of the previous window */
	} now, before;
};

/* For the recorder: moves the build-ids in the ring to the table of this window. Ignores invalid ones. Costs one
 * comparison if the ring is empty. */
void saverids_take(struct saverids *saverids, struct saverids_ring *ring);

/* Returns the build-id of the file with this file_id, if it arrived in this or the previous window; NULL otherwise. The
 * pointer is valid until the next call of another function of this module. */
const struct pj_build_id *saverids_find(const struct saverids *saverids, const struct file_id *file_id);

/* Starts a new window. The build-ids of the window that ends become those of the previous window; older ones are
 * deleted. */
void saverids_window(struct saverids *saverids);
void saverids_free(struct saverids *saverids);

#endif
