/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadlist.h - a list of threads with their names, from text: which threads --thread-dump shows.
 *
 * Each line has the PID, the TID and the name of a thread, which a blank or tab separates. The name is the rest of the
 * line, and may be empty. Memory follows the text.
 */
#ifndef PJ_THREADLIST_H
#define PJ_THREADLIST_H

#include "common/arena.h"

struct listed_thread {
	uint32_t pid, tid;
	struct str name; /* in the arena of the list */
};

/* All zero is empty. */
struct threadlist {
	struct listed_thread *thread;
	size_t n;
	struct arena names;
};

/* Adds the thread of a line. Returns false if the line is malformed. */
bool threadlist_line(struct threadlist *threadlist, struct str line);

/* Sorts the list in the order of threadstacks_order, and removes repetitions. Call it once, after the last line. */
void threadlist_sort(struct threadlist *threadlist);

void threadlist_free(struct threadlist *threadlist);

#endif
