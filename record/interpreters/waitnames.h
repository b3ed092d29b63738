/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitnames.h - keeps the names of the interpreted frames of threads that are off the CPU, until the threads run again.
 *
 * The stack of a thread that is off the CPU is merged once. But each window during the wait gets a part of the wait's
 * time, and needs the names in its own table (framenames.h). So the names are kept here until the thread runs again.
 * Memory is limited, and one tenant gets at most half of it.
 */
#ifndef PJ_WAITNAMES_H
#define PJ_WAITNAMES_H

#include "record/interpreters/framenames.h"

#define WAITNAMES_BYTES ((size_t)8 << 20)

/* A frame of a wait. shown: address that stands for the frame in the callchain of the wait; frame.text points to the
 * wait's copy of the names and files. */
struct waitnames_frame {
	struct framenames_frame frame;
	uint64_t shown;
};

/* Frames of a thread that is off the CPU. */
struct waitnames_wait {
	uint32_t pid, tid;
	struct tenant tenant;
	const struct waitnames_frame *frame;
	size_t n;
};

struct waitnames;

struct waitnames *waitnames_new(void);
/* Frees all waits. Accepts NULL. */
void waitnames_free(struct waitnames *waitnames);

/* Stores a copy of the names of a wait; replaces the names of an earlier wait of the thread. Returns false if there is
 * no space. */
bool waitnames_keep(struct waitnames *waitnames, const struct waitnames_wait *wait);

/* Returns the wait of a thread; NULL if it has none. The result is valid until the next call that stores or forgets
 * waits. */
const struct waitnames_wait *waitnames_find(const struct waitnames *waitnames, uint32_t tid);

/* If a thread has a wait, adds the frames of the wait to the names of this window. ips[0..nips) is the wait's
 * callchain: replaces addresses that stand for another frame in this window. */
void waitnames_rename(const struct waitnames *waitnames, struct framenames *names, uint32_t tid, uint64_t *ips,
		      uint64_t nips);

/* Removes the wait of a thread, if it has one. */
void waitnames_forget(struct waitnames *waitnames, uint32_t tid);

/* Removes the waits of all threads. */
void waitnames_forget_all(struct waitnames *waitnames);

#endif
