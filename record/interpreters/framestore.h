/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framestore.h - the interpreted frames of samples, until the main thread takes the samples from their rings.
 *
 * A copy of frames is evaluated within some ms of the sample, a deferred one within some 60 ms; the main thread comes
 * to the sample up to 600 ms later.
 * The store keeps each list by thread and time of the sample. Lists that are not taken are dropped FRAMESTORE_NS
 * after their copy, and the oldest ones if all are larger than FRAMESTORE_BYTES. Several threads may use it.
 */
#ifndef PJ_FRAMESTORE_H
#define PJ_FRAMESTORE_H

#include "record/interpreters/interphelper.h"

#define FRAMESTORE_NS UINT64_C(3000000000)
#define FRAMESTORE_BYTES ((size_t)32 << 20)

/* Interpreted frames of one sample. */
struct framelist {
	struct framelist *older, *newer; /* of the store */
	struct framelist *chain;
	uint32_t pid, tid;
	uint64_t time; /* of the sample, in ns */
	uint32_t language;
	enum interpreter_end end;
	/* Of a thread that was off the CPU: the root of the copy, the time after its last read, and
	 * interp_copy.named_by. Otherwise 0. */
	uint64_t root, read_by, named_by;
	uint64_t stack_low, stack_high; /* of struct interpreter_list */
	uint32_t n, bytes;
	char *text;                  /* `bytes` bytes: what the frames refer to */
	struct interp_frame frame[]; /* n frames, innermost first */
};

/* Returns a list with space for n frames and `bytes` bytes of text, both of which the caller sets; NULL if memory is
 * not available. The caller frees it with free, or gives it to framestore_put. */
struct framelist *framelist_new(uint32_t n, uint32_t bytes);

struct framestore;

struct framestore *framestore_new(void);
/* Frees the store and its lists. Accepts NULL. */
void framestore_free(struct framestore *store);

/* Adds a list, which becomes the store's. */
void framestore_put(struct framestore *store, struct framelist *list);

/* Returns true if there is a list of thread tid at `time`, copied and named before `until`. */
bool framestore_has(struct framestore *store, uint32_t tid, uint64_t time, uint64_t until);

/* Removes the list of the sample of thread tid at `time`, and returns it; NULL if there is none. The caller frees it.
 */
struct framelist *framestore_take(struct framestore *store, uint32_t tid, uint64_t time);

#endif
