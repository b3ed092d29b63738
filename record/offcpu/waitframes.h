/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitframes.h - copies of the frames of interpreters of threads that are off the CPU: the memory that pjrecord shares
 * with its process pjrecord-wait for them.
 *
 * pjrecord enters the threads of interpreters, with the plan of their process and the root of their state
 * (runtimes/threadcopy.h). pjrecord-wait looks a thread up when it has read its stack, follows the plan, and puts the
 * copy into a ring, from which a thread of pjrecord takes it at once: it is named while the thread sleeps.
 *
 * The tables are written by pjrecord alone, and are read-only in the process (waitframes_enter), so they stay when it
 * is replaced; the ring is replaced then. A process that was taken over may change that, and the tables: pjrecord uses
 * nothing from them but to find places. A process, or a thread, has one of WAITFRAMES_PLACES places, by the low bits of
 * its id: if those of others have all, it has no copies. The taker takes no size from the ring unchecked.
 */
#ifndef PJ_WAITFRAMES_H
#define PJ_WAITFRAMES_H

#include "runtimes/threadcopy.h"

#define WAITFRAMES_RING ((size_t)4 << 20)    /* size of the ring of copies */
#define WAITFRAMES_BYTES ((size_t)128 << 10) /* maximum number of bytes of memory in one copy */
enum { WAITFRAMES_PROCESSES = 4096, WAITFRAMES_THREADS = 131072, WAITFRAMES_PLACES = 8 };

struct waitframes;

/* Maps the memory. Returns NULL on failure. */
struct waitframes *waitframes_new(void);
/* Accepts NULL. */
void waitframes_free(struct waitframes *waitframes);

/* For the main thread of pjrecord; all accept NULL. waitframes_set_process enters a process whose threads follow, in
 * place of an earlier one of that pid and of its threads. A plan that is not valid, or that is of the native stack, is
 * not entered. waitframes_set_thread returns true if the thread is entered, now or already: a process has to be, and a
 * place has to be free. waitframes_renew replaces the ring, as its writer may have ended within a copy. */
void waitframes_set_process(struct waitframes *waitframes, uint32_t pid, const struct threadplan *plan);
bool waitframes_set_thread(struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t root);
void waitframes_remove_thread(struct waitframes *waitframes, uint32_t tid);
void waitframes_remove_process(struct waitframes *waitframes, uint32_t pid);
void waitframes_renew(struct waitframes *waitframes);

/* For the consumer, a thread of pjrecord: a descriptor that is readable while copies wait, until waitframes_take
 * returns false. */
int waitframes_fd(const struct waitframes *waitframes);
/* Takes the oldest copy into *into, which has space for WAITFRAMES_BYTES bytes. Returns false if there is none. */
bool waitframes_take(struct waitframes *waitframes, struct threadcopy *into);

/* For the process that writes, after its fork. waitframes_enter makes the tables read-only; fd: its descriptor of
 * waitframes_fd. Returns false on failure. */
bool waitframes_enter(struct waitframes *waitframes, int fd);
/* Returns a number that changes when threads are entered. */
uint64_t waitframes_changes(const struct waitframes *waitframes);
/* Sets *root and *plan, which is valid, to those of a thread. Returns false if the thread is not entered, or changes at
 * this moment. */
bool waitframes_find(const struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t *root,
		     struct threadplan *plan);
/* Returns space for a copy with WAITFRAMES_BYTES bytes, NULL if the ring is full. waitframes_publish publishes it, once
 * it is complete. */
struct threadcopy *waitframes_begin(struct waitframes *waitframes);
void waitframes_publish(struct waitframes *waitframes, const struct threadcopy *copy);

#endif
