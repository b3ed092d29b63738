/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootframes.h - caches the root frames of complete stacks, for stacks whose frame pointers end before the root.
 *
 * libc's code around main and around the function of a thread has no frame pointer, so frame-pointer unwinding ends
 * there, one or two frames before the root. Each of these functions has one caller. So the frames outside of a return
 * address in libc, taken from a complete stack of the process, are the same in all its stacks. If two complete stacks
 * differ, the cache gives no answer. It holds no addresses outside of libc: the function of a thread may be called by
 * main, too. Statically linked programs are not extended.
 */
#ifndef PJ_ROOTFRAMES_H
#define PJ_ROOTFRAMES_H

#include "record/processes/processes.h"

enum { ROOTFRAMES_FRAMES = 2, ROOTFRAMES_SLOTS = 1024, ROOTFRAMES_WAYS = 8 };

/* Set-associative cache: sets of ROOTFRAMES_WAYS entries, newest first. A zeroed struct is empty. It owns no memory
 * besides the struct. */
struct rootframes {
	struct root_frames {
		/* Return address in libc; with pid, the key of the entry. 0: the slot is free. */
		uint64_t inner;
		/* The frames outside of that address, innermost first; 0: none. */
		uint64_t outer[ROOTFRAMES_FRAMES];
		uint32_t pid;
		/* true: complete stacks have different root frames after this address */
		bool unsure;
	} slot[ROOTFRAMES_SLOTS];
};

/* Adds the root frames of a complete stack of process, ips[0..n), leaf first. ips may contain context markers. */
void rootframes_learn(struct rootframes *rootframes, const struct process *process, const uint64_t *ips, size_t n);

/* Returns the root frames outside of a return address of a process; NULL if they are unknown or unsure. The result is
 * valid until the next rootframes_learn. */
const struct root_frames *rootframes_find(const struct rootframes *rootframes, uint32_t pid, uint64_t inner);

#endif
