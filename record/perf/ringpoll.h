/* SPDX-License-Identifier: Apache-2.0 */
/* ringpoll.h - waits until a ring has records, a helper responds, the command ends or a time has passed. */
#ifndef PJ_RINGPOLL_H
#define PJ_RINGPOLL_H

#include "record/perf/rings.h"

/* List of descriptors to wait for. The zero value is valid. The caller clears `known` when it adds or removes rings,
 * and also now and then. */
struct ringpoll {
	struct pollfd *poll;
	size_t n;
	/* skipped: rings_skipped at the last wait; pause: ns for which rings do not wake the recorder during a storm, 0
	 * outside */
	uint64_t skipped, pause;
	/* true if `poll` lists the descriptors of all rings at that generation (rings_generation) */
	bool known;
	uint64_t generation;
};

/*
 * Waits for at most wait_ms. fd is the descriptor on which a helper responds, or -1. SIGCHLD interrupts the wait.
 *
 * During a storm of mappings (rings_skip) the rings do not wake the recorder; it checks them after a pause. 140,000
 * records of 1.5 kB a second woke it 1,300 times a second, which took 2 % of a CPU. A pause lasts at most 2 ms, and
 * less if the fullest ring is more than half full after it.
 */
void ringpoll_for(struct ringpoll *ringpoll, const struct rings *rings, int fd, int wait_ms);
/* Frees the list of descriptors and zeroes the struct. */
void ringpoll_free(struct ringpoll *ringpoll);

#endif
