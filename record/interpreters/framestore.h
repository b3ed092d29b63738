/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framestore.h - store of the interpreted frames of samples, from their evaluation until the main thread reads the
 * sample.
 *
 * The helper evaluates a copy of frames within some ms of the sample, a deferred copy within some 60 ms. The main
 * thread reads the sample from its ring up to 600 ms later. Until then, the store holds the list of frames, by thread
 * and time of the sample. A list that the main thread does not remove is dropped FRAMESTORE_NS after its copy was made.
 * If all lists together are larger than FRAMESTORE_BYTES, the oldest ones of the tenant with the largest lists are
 * dropped, so a tenant with deep stacks and long names does not take those of others. All functions are thread-safe.
 */
#ifndef PJ_FRAMESTORE_H
#define PJ_FRAMESTORE_H

#include "record/interpreters/interphelper.h"
#include "common/process/tenant.h"

#define FRAMESTORE_NS UINT64_C(3000000000)
#define FRAMESTORE_BYTES ((size_t)32 << 20)

/* List of the interpreted frames of one sample. */
struct framelist {
	/* previous and next list of the queue in order of insertion, and index of the queue; set by the store */
	struct framelist *older, *newer;
	uint32_t queue;
	struct framelist *chain;
	uint32_t pid, tid;
	uint64_t time; /* time of the sample in ns */
	uint32_t language;
	enum interpreter_end end;
	/* For a thread that was off the CPU: root of the copy, time in ns after the copy's last read, and
	 * interp_copy.named_by. All 0 for other threads. */
	uint64_t root, read_by, named_by;
	uint64_t stack_low, stack_high; /* bounds of the native stack, as in struct interpreter_list */
	uint32_t n, bytes;
	char *text;                  /* names and files of the frames, `bytes` bytes */
	struct interp_frame frame[]; /* the n interpreted frames, innermost first */
};

/* Returns a list with space for n frames and `bytes` bytes of text, which the caller fills; NULL if memory is not
 * available. The caller frees it with free, or passes it to framestore_put. */
struct framelist *framelist_new(uint32_t n, uint32_t bytes);

struct framestore;

struct framestore *framestore_new(void);
/* Frees the store and its lists. Accepts NULL. */
void framestore_free(struct framestore *store);

/* Adds a list of a process of `tenant`. The store owns it from then on. */
void framestore_put(struct framestore *store, struct framelist *list, struct tenant tenant);

/* Returns true if the store has a list for the sample of thread tid at `time` (ns), and if the copy and all names of
 * this list were read before `until` (ns). */
bool framestore_has(struct framestore *store, uint32_t tid, uint64_t time, uint64_t until);

/* Removes and returns the list for the sample of thread tid at `time` (ns); NULL if there is none. The caller frees the
 * list. */
struct framelist *framestore_take(struct framestore *store, uint32_t tid, uint64_t time);

#endif
