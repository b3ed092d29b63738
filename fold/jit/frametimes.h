/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frametimes.h - through which pieces of a JVM's code stacks are walked, at one moment.
 *
 * A timeline tells of pieces when they certainly were there, and when they may have been. Between two of all these
 * times nothing changes: for such a stretch the pieces are put in order once, certain ones first, later ones first, and
 * what lies in a piece that is there already is left out. Recordings are read in order of time, so a stretch serves
 * until the next scan that saw something new.
 */
#ifndef PJ_FRAMETIMES_H
#define PJ_FRAMETIMES_H

#include "runtimes/hotspot/javaunwind.h"
#include "common/str.h"

struct frametimes;

/* When a piece was there: certainly in [from, until], not outside of [may_from, may_until]. */
struct frametimes_life {
	uint64_t may_from, from, until, may_until;
};

struct frametimes *frametimes_new(void);
void frametimes_free(struct frametimes *frametimes);

/* Of the JVM, as java_code has them. */
void frametimes_returns(struct frametimes *frametimes, uint64_t call_stub, uint64_t continuation);

/* runs: as blobcodec.h has them, the caller's. */
void frametimes_add(struct frametimes *frametimes, const struct code_blob *blob, struct str runs,
		    const struct frametimes_life *life);

/* At a time (0: the newest); valid until the next call. how is set; is_code, read and arg are for the caller to set in
 * its copy: how gets frametimes as its arg. NULL: nothing is known. */
const struct javaunwind_code *frametimes_at(struct frametimes *frametimes, uint64_t time);

/* java_code.how, of a piece of the last frametimes_at. */
int frametimes_how(const struct frametimes *frametimes, const struct code_blob *blob, uint64_t address);

#endif
