/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frametimes.h - code blobs of a JVM at one point in time, through which stacks are unwound.
 *
 * A code timeline records for each blob the time in which it certainly existed and the time in which it may have
 * existed. Between two successive borders of these times nothing changes. For each interval between two borders, a set
 * of blobs that do not overlap is selected once. Of overlapping blobs, one that certainly existed is preferred to one
 * that may have existed, then a later one to an earlier one. Recordings are read in order of time, so one selection
 * serves until the next scan that found a change.
 *
 *     ft = frametimes_new();
 *     frametimes_add(ft, &blob, runs, &life);           for each blob
 *     code = frametimes_at(ft, time);                   for each stack
 */
#ifndef PJ_FRAMETIMES_H
#define PJ_FRAMETIMES_H

#include "runtimes/hotspot/javaunwind.h"
#include "common/str.h"

struct frametimes;

/* Lifetime of a blob, in ns of CLOCK_MONOTONIC. The blob certainly existed in [from, until], and did not exist outside
 * of [may_from, may_until]. until is UINT64_MAX for a blob that never disappeared. */
struct frametimes_life {
	uint64_t may_from, from, until, may_until;
};

/* Returns an empty set of blobs; the caller frees it with frametimes_free(), which accepts NULL. */
struct frametimes *frametimes_new(void);
void frametimes_free(struct frametimes *frametimes);

/* Sets two return addresses that the unwinder needs (struct javaunwind_code): in the call stub (call_stub) and in
 * enterSpecial (continuation); 0: none. */
void frametimes_returns(struct frametimes *frametimes, uint64_t call_stub, uint64_t continuation);

/* Adds a copy of `blob`; an empty blob is ignored. runs: frame states of the blob (blobcodec.h); these bytes belong to
 * the caller and must stay valid until frametimes_free(). */
void frametimes_add(struct frametimes *frametimes, const struct code_blob *blob, struct str runs,
		    const struct frametimes_life *life);

/* Returns the blobs that existed at `time` (ns; 0: the blobs that never disappeared), sorted and disjoint; NULL if no
 * blob existed. The result is valid until the next call. The members how, read, is_code and arg of the result are not
 * set: the caller sets them in a copy, with a `how` that calls frametimes_how(). */
const struct javaunwind_code *frametimes_at(struct frametimes *frametimes, uint64_t time);

/* Returns the frame state (enum javaframe) at an address in a blob, for javaunwind_code.how. `blob` must be an element
 * of the last result of frametimes_at(). */
int frametimes_how(const struct frametimes *frametimes, const struct code_blob *blob, uint64_t address);

#endif
