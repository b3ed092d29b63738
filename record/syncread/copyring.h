/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copyring.h - two single-producer, single-consumer rings of one reader thread: its copies of frames, and a note about
 * each copy.
 *
 * The reader thread writes both rings and never waits: if a ring is full, it makes no copy. The consumer reads the
 * copies; the owner of the certificate reads the notes. A page of the rings uses memory only once a copy or note was
 * stored in it.
 */
#ifndef PJ_COPYRING_H
#define PJ_COPYRING_H

#include "record/syncread/certificate.h"
#include "runtimes/threadcopy.h"

#define COPYRING_BYTES ((size_t)4 << 20) /* size of the ring of copies, in bytes */
#define COPYRING_NOTES 4096u             /* capacity of the ring of notes; a power of two */

struct copyring {
	char *bytes;
	uint64_t head, tail; /* bytes written, and bytes consumed, since the start */
	/* position in bytes up to which the consumer must skip, because the writer restarted the empty ring there */
	uint64_t base;
	/* Used by the writer only: position of the copy that copyring_begin returned, and the new base, which
	 * copyring_end publishes. */
	uint64_t begun, next_base;
	struct certificate_copy *note;
	uint64_t notes_head, notes_tail;
};

/* Maps the memory of both rings. Returns false with errno on failure. */
bool copyring_init(struct copyring *copyring);
void copyring_free(struct copyring *copyring);

/* Called by the writer. copyring_begin returns space for a copy with THREADCOPY_BYTES bytes of target memory, or NULL
 * if the ring of copies or the ring of notes is full. copyring_end publishes the copy, whose nbytes the caller has set,
 * and its note. */
struct threadcopy *copyring_begin(struct copyring *copyring);
void copyring_end(struct copyring *copyring, const struct threadcopy *copy, const struct certificate_copy *note);
/* Returns true if copies that wait for the consumer use at least an eighth of the ring, so that new copies of deferred
 * processes, too, wake the consumer. */
bool copyring_is_filling(const struct copyring *copyring);

/* Called by the consumer. Returns the oldest copy, valid until copyring_drop, or NULL if no copy waits. */
const struct threadcopy *copyring_oldest(struct copyring *copyring);
void copyring_drop(struct copyring *copyring);

/* Called by the owner of the certificate. Moves the oldest note to *note. Returns false if no note waits. */
bool copyring_note(struct copyring *copyring, struct certificate_copy *note);

#endif
