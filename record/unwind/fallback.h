/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback.h - chooses smaller stack copies, or frame pointers, if the requested ones are impossible.
 *
 * Stack copies need rings that hold the copies until the recorder runs, and a kernel that makes them. A recording
 * starts with the requested size. If the kernel refuses it, fallback_next chooses the next attempt. Only --unwind=auto
 * allows such a choice. Pure but for the processor of this host.
 *
 * fallback_begin(&fallback, &options);
 * while (!open_events(fallback.bytes, &why))
 * 	if (!fallback_next(&fallback, &why))
 * 		die;
 */
#ifndef PJ_FALLBACK_H
#define PJ_FALLBACK_H

#include "record/perf/sources.h"
#include "common/text.h"

struct fallback_options {
	bool choose;          /* true: less than the requested size is allowed (--unwind=auto) */
	uint32_t stack_bytes; /* requested size of a stack copy in bytes; 0: frame pointers */
	bool exactly;         /* true: only the requested size or frame pointers are acceptable */
	uint64_t rate;     /* expected number of samples with a stack copy per second and CPU; 0: no event has copies */
	size_t ring_bytes; /* size of a ring for samples in bytes, if the user chose it; 0: not chosen */
};

/* The current choice and the reason for it. */
struct fallback {
	struct fallback_options o;
	uint32_t bytes; /* current size of a stack copy in bytes; 0: frame pointers */
	/* The first reason against the requested size: unsupported processor, ring too small, refused by the kernel. */
	enum fallback_by { FALLBACK_NONE, FALLBACK_PROCESSOR, FALLBACK_RING_SIZE, FALLBACK_REFUSED } by;
	struct sources_failure why; /* for FALLBACK_REFUSED: what the kernel refused first */
};

/* Starts with the requested size. With options->choose, skips sizes of which no ring can hold enough copies. */
void fallback_begin(struct fallback *fallback, const struct fallback_options *options);

/* Chooses the next attempt after the kernel refused fallback->bytes for the reason *why. Returns true if
 * fallback->bytes is smaller now; false if there is no other choice. */
bool fallback_next(struct fallback *fallback, const struct sources_failure *why);

/* Return sizes of a ring for samples in bytes, powers of two: fallback_ring that for the copies of a second, within
 * limits; fallback_ring_least the smallest usable one. Return 0 without stack copies. */
size_t fallback_ring(const struct fallback *fallback);
size_t fallback_ring_least(const struct fallback *fallback);

/* Appends one line with the reason for which stacks are unwound with less than requested, and advice. Appends nothing
 * if the requested size is used. */
void fallback_text(struct text *text, const struct fallback *fallback);

#endif
