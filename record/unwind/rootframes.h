/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootframes.h - the outermost frames of threads, as whole stacks had them: where frame pointers end short of them.
 *
 * libc's code around main and around the function of a thread keeps no frame pointer, so a walk by those ends there,
 * one or two frames before the root. Each is called from one place only. What a whole stack of the process had outside
 * of a return address in libc's is outside of it in all others; should two of them differ, nothing is said. Of no other
 * code: the function of a thread may be called by main, too. Programs that contain their libc are left as they are.
 */
#ifndef PJ_ROOTFRAMES_H
#define PJ_ROOTFRAMES_H

#include "record/processes/processes.h"

enum { ROOTFRAMES_FRAMES = 2, ROOTFRAMES_SLOTS = 1024, ROOTFRAMES_WAYS = 8 };

/* A cache of sets of STARTS_WAYS entries, newest first; all zero is empty. */
struct rootframes {
	struct root_frames {
		uint64_t inner;                    /* a return address; 0: none */
		uint64_t outer[ROOTFRAMES_FRAMES]; /* what it has outside; 0: nothing more */
		uint32_t pid;
		bool unsure;
	} slot[ROOTFRAMES_SLOTS];
};

/* ips[0..n): a whole stack, leaf first; marks may be in it. */
void rootframes_learn(struct rootframes *rootframes, const struct process *process, const uint64_t *ips, size_t n);

/* What is outside of a return address; NULL: not known. */
const struct root_frames *rootframes_find(const struct rootframes *rootframes, uint32_t pid, uint64_t inner);

#endif
