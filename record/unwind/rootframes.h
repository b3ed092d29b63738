/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootframes.h - caches the root frames of complete stacks, for stacks whose frame pointers end before the root.
 *
 * libc's code around main, and around the function of a thread, has no frame pointer. So frame-pointer unwinding ends
 * there, one or two frames before the root. Each of these libc functions has only one caller. Hence the frames outside
 * of a libc return address are the same in all stacks of a process, and one complete stack shows them. If two complete
 * stacks differ there, the cache returns nothing for that address. The cache has only return addresses in libc as keys:
 * a thread's function may be called by main, too, and then has other callers. Stacks of statically linked programs are
 * not extended.
 */
#ifndef PJ_ROOTFRAMES_H
#define PJ_ROOTFRAMES_H

#include "record/processes/processes.h"

enum { ROOTFRAMES_FRAMES = 2, ROOTFRAMES_SLOTS = 1024, ROOTFRAMES_WAYS = 8 };

/* Set-associative cache: ROOTFRAMES_SLOTS entries in sets of ROOTFRAMES_WAYS, each set with its newest entry first. A
 * zeroed struct is empty. The struct owns no other memory. */
struct rootframes {
	struct root_frames {
		/* Key of the entry, together with pid: return address in libc (virtual address in the process); 0: the
		 * slot is free. */
		uint64_t inner;
		/* Return addresses of the frames outside of `inner`, innermost first; 0: no frame. */
		uint64_t outer[ROOTFRAMES_FRAMES];
		uint32_t pid;
		/* true: two complete stacks had different frames outside of `inner`, so the entry is not used */
		bool unsure;
	} slot[ROOTFRAMES_SLOTS];
};

/* Adds the root frames of a complete stack of a process to the cache. ips[0..n): its callchain, leaf frame first, with
 * or without context markers. Adds nothing for code that is not called by libc. */
void rootframes_learn(struct rootframes *rootframes, const struct process *process, const uint64_t *ips, size_t n);

/* Returns the root frames outside of the return address `inner` of a process; NULL if the cache has none, or complete
 * stacks differed. The result is valid until the next rootframes_learn. */
const struct root_frames *rootframes_find(const struct rootframes *rootframes, uint32_t pid, uint64_t inner);

#endif
