/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copyring.h - the copies and notes of one reader thread: two rings, each with one writer and one taker.
 *
 * The reader thread writes, without any wait; a ring that is full refuses. Copies are for the consumer, notes for the
 * owner of the certificate. Memory is used only as far as copies were stored.
 */
#ifndef PJ_COPYRING_H
#define PJ_COPYRING_H

#include "record/syncread/certificate.h"
#include "runtimes/threadcopy.h"

#define COPYRING_BYTES ((size_t)4 << 20) /* size of the ring of copies */
#define COPYRING_NOTES 4096u             /* number of notes in the ring of notes; a power of two */

struct copyring {
	char *bytes;
	uint64_t head, tail; /* ends of what was written and of what was taken, in bytes since the start */
	uint64_t base;       /* the writer skipped what lies between the tail and here, when no copy waited */
	/* for the writer: where the copy of copyring_begin is, and the base when it is published */
	uint64_t begun, next_base;
	struct certificate_copy *note;
	uint64_t notes_head, notes_tail;
};

/* Maps the memory. Returns false with errno on failure. */
bool copyring_init(struct copyring *copyring);
void copyring_free(struct copyring *copyring);

/* For the writer. copyring_begin returns space for a copy of THREADCOPY_BYTES bytes of memory, or NULL if a ring is
 * full. copyring_end publishes the copy, of which nbytes is set, and the note. */
struct threadcopy *copyring_begin(struct copyring *copyring);
void copyring_end(struct copyring *copyring, const struct threadcopy *copy, const struct certificate_copy *note);
/* Returns true if copies that wait use an eighth of the ring or more. */
bool copyring_is_filling(const struct copyring *copyring);

/* For the consumer: returns the oldest copy, NULL if there is none. It is valid until copyring_drop. */
const struct threadcopy *copyring_oldest(struct copyring *copyring);
void copyring_drop(struct copyring *copyring);

/* For the owner of the certificate: takes the oldest note. Returns false if there is none. */
bool copyring_note(struct copyring *copyring, struct certificate_copy *note);

#endif
