/* SPDX-License-Identifier: Apache-2.0 */
/* ringpoll.h - waits until a ring has records, a helper process responds, the recorded command ends, or a time has
 * passed. */
#ifndef PJ_RINGPOLL_H
#define PJ_RINGPOLL_H

#include "record/perf/rings.h"

/* List of descriptors to wait for. The zero value is valid. The caller sets `known` to false when it adds or removes
 * rings, and also from time to time: the next wait then lists the descriptors again. */
struct ringpoll {
	struct pollfd *poll;
	size_t n;
	/* skipped: result of rings_skipped at the last wait; pause: time in ns for which rings do not wake the recorder
	 * during a storm, 0 if there is no storm */
	uint64_t skipped, pause;
	/* true if `poll` lists the descriptors of all rings as of `generation` (rings_generation) */
	bool known;
	uint64_t generation;
};

/*
 * Waits for at most wait_ms ms. fd is the descriptor on which a helper process responds, or -1. SIGCHLD interrupts the
 * wait.
 *
 * During a storm of mappings (rings_skip) the rings do not wake the recorder; it checks them after a pause. Without
 * pauses, 140,000 records of 1.5 kB per second woke the recorder 1,300 times per second, which took 2 % of a CPU. A
 * pause lasts at most 2 ms, and less if the fullest ring is more than half full after it.
 */
void ringpoll_for(struct ringpoll *ringpoll, const struct rings *rings, int fd, int wait_ms);
/* Frees the list of descriptors and zeroes the struct. */
void ringpoll_free(struct ringpoll *ringpoll);

#endif
