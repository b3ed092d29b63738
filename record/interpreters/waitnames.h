/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitnames.h - the names of the interpreted frames of threads that are off the CPU, for as long as they are.
 *
 * The stack of a thread that is off the CPU is merged once, but each window that the wait lasts to has a part of it,
 * and names of its own (framenames.h). So the names stay here until the thread runs again. Memory is bounded, and one
 * tenant takes at most half of it.
 */
#ifndef PJ_WAITNAMES_H
#define PJ_WAITNAMES_H

#include "record/interpreters/framenames.h"

#define WAITNAMES_BYTES ((size_t)8 << 20)

/* A frame with its address in the callchain of the wait; `frame.text` is within the wait's text. */
struct waitnames_frame {
	struct framenames_frame frame;
	uint64_t shown;
};

/* A thread that is off the CPU. */
struct waitnames_wait {
	uint32_t pid, tid;
	struct tenant tenant;
	const struct waitnames_frame *frame;
	size_t n;
};

struct waitnames;

struct waitnames *waitnames_new(void);
/* Accepts NULL. */
void waitnames_free(struct waitnames *waitnames);

/* Keeps a copy of the names of a wait, in place of those of an earlier one of the thread. Returns false if there is no
 * space for them. */
bool waitnames_keep(struct waitnames *waitnames, const struct waitnames_wait *wait);

/* Returns the wait of a thread, NULL if it has none; valid until the next call of another function. */
const struct waitnames_wait *waitnames_find(const struct waitnames *waitnames, uint32_t tid);

/* Notes the frames of a thread's wait, if it has one, in the names of this window. ips[0..nips) is its callchain:
 * addresses that stand for another frame in this window are replaced. */
void waitnames_rename(const struct waitnames *waitnames, struct framenames *names, uint32_t tid, uint64_t *ips,
		      uint64_t nips);

/* Forgets the wait of a thread, if it has one. */
void waitnames_forget(struct waitnames *waitnames, uint32_t tid);

/* Forgets the waits of all threads. */
void waitnames_forget_all(struct waitnames *waitnames);

#endif
