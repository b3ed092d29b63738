/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitframes.h - copies of interpreted frames of threads that are off the CPU: the memory that pjrecord shares with its
 * helper process pjrecord-wait for them.
 *
 * pjrecord enters the threads of interpreters in a table, each with the plan of its process and the root of the plan
 * (runtimes/threadcopy.h). After pjrecord-wait has read the stack of a thread, it looks the thread up, follows the plan
 * and writes the copy into a ring. A thread of pjrecord takes the copy at once and names its frames while the target
 * thread sleeps.
 *
 * Only pjrecord writes the tables of processes and threads; they are read-only in pjrecord-wait (waitframes_enter). So
 * the tables remain when pjrecord replaces pjrecord-wait, and only the ring is replaced. A pjrecord-wait that an
 * attacker controls may make the tables writable and change them, so pjrecord uses their contents only to find entries.
 * The low bits of the id of a process or thread select WAITFRAMES_PLACES entries, of which it may use one. If other
 * processes or threads use all of them, its frames are not copied. pjrecord checks each size that it reads from the
 * ring.
 */
#ifndef PJ_WAITFRAMES_H
#define PJ_WAITFRAMES_H

#include "runtimes/threadcopy.h"

#define WAITFRAMES_RING ((size_t)4 << 20) /* size of the ring of copies in bytes */
/* maximum number of bytes of target memory in one copy; larger lists of frames are truncated */
#define WAITFRAMES_BYTES ((size_t)128 << 10)
enum { WAITFRAMES_PROCESSES = 4096, WAITFRAMES_THREADS = 131072, WAITFRAMES_PLACES = 8 };

struct waitframes;

/* Maps the shared memory of the tables and the ring. Returns NULL on failure. The caller frees the result with
 * waitframes_free. */
struct waitframes *waitframes_new(void);
/* Frees the memory. Accepts NULL. */
void waitframes_free(struct waitframes *waitframes);

/* Functions for the main thread of pjrecord; all accept NULL.
 * waitframes_set_process enters a process before its threads. It replaces an earlier process with that pid, and thereby
 * removes the threads of that process. A plan that is invalid, or that describes the native stack, is not entered.
 * waitframes_set_thread enters a thread with the root of its plan. It returns true if the thread is in the table, now
 * or already. It returns false if the thread's process is not in the table or no entry is free.
 * waitframes_renew replaces the ring, because its writer may have ended within a copy. */
void waitframes_set_process(struct waitframes *waitframes, uint32_t pid, const struct threadplan *plan);
bool waitframes_set_thread(struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t root);
void waitframes_remove_thread(struct waitframes *waitframes, uint32_t tid);
void waitframes_remove_process(struct waitframes *waitframes, uint32_t pid);
void waitframes_renew(struct waitframes *waitframes);

/* Returns an eventfd for the thread of pjrecord that takes the copies; -1 if waitframes is NULL. It is readable from
 * the publication of a copy until waitframes_take returns false. */
int waitframes_fd(const struct waitframes *waitframes);
/* Moves the oldest copy out of the ring to *into, which has space for WAITFRAMES_BYTES bytes. Returns false if there is
 * no copy. */
bool waitframes_take(struct waitframes *waitframes, struct threadcopy *into);

/* Makes the tables read-only in pjrecord-wait, after its fork. fd: pjrecord-wait's descriptor of waitframes_fd. Returns
 * false on failure. */
bool waitframes_enter(struct waitframes *waitframes, int fd);
/* Returns a number that changes when pjrecord enters a thread in the table. */
uint64_t waitframes_changes(const struct waitframes *waitframes);
/* Sets *root and *plan to the root and the plan of a thread. Returns false if the thread is not in the table, its plan
 * is invalid, or pjrecord changes its entry at this moment; then *root and *plan must not be used. */
bool waitframes_find(const struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t *root,
		     struct threadplan *plan);
/* waitframes_begin returns space for a copy with at most WAITFRAMES_BYTES bytes; NULL if the ring is full.
 * waitframes_publish adds that copy to the ring once it is complete. */
struct threadcopy *waitframes_begin(struct waitframes *waitframes);
void waitframes_publish(struct waitframes *waitframes, const struct threadcopy *copy);

#endif
