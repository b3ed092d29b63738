/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadlist.h - the list of threads that --thread-dump shows, with their names, read from text.
 *
 * Each line has PID, TID and name of a thread, separated by a blank or tab. The name is the rest of the line, and may
 * be empty. The memory needed is proportional to the text.
 */
#ifndef PJ_THREADLIST_H
#define PJ_THREADLIST_H

#include "common/arena.h"

struct listed_thread {
	uint32_t pid, tid;
	struct str name; /* name of the thread; its text is in threadlist.names */
};

/* A list of threads; a struct of zeros is empty. */
struct threadlist {
	struct listed_thread *thread;
	size_t n;
	struct arena names;
};

/* Adds the thread of a line. Returns false if the line is malformed. */
bool threadlist_line(struct threadlist *threadlist, struct str line);

/* Sorts the list in the order of threadstacks_order, and removes duplicates. Call it once, after the last line. */
void threadlist_sort(struct threadlist *threadlist);

void threadlist_free(struct threadlist *threadlist);

#endif
