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
	uint32_t stack_bytes; /* bytes of a stack copy; 0: frame pointers */
	bool exactly;         /* only this size or none */
	uint64_t rate;        /* samples with a copy for each second and CPU; 0: none */
	size_t ring_bytes;    /* size of a ring for samples if the user chose it, otherwise 0 */
};

/* State: the present choice and the reason for it. */
struct fallback {
	struct fallback_options o;
	uint32_t bytes; /* bytes of a stack copy at present; 0: frame pointers */
	/* The first reason against the requested size: unsupported processor, ring too small, refused by the kernel. */
	enum fallback_by { FALLBACK_NONE, FALLBACK_PROCESSOR, FALLBACK_RING_SIZE, FALLBACK_REFUSED } by;
	struct sources_failure why; /* for FALLBACK_REFUSED: the first refusal */
};

/* Starts with the requested size. Skips sizes that cannot work if options->choose is set. */
void fallback_begin(struct fallback *fallback, const struct fallback_options *options);

/* Call this after the kernel refused fallback->bytes, with the reason. Returns true if fallback->bytes is smaller
 * now and another attempt makes sense. */
bool fallback_next(struct fallback *fallback, const struct sources_failure *why);

/* Return sizes of a ring for samples in bytes, powers of two: fallback_ring holds the copies of a second, within
 * limits; fallback_ring_least holds just enough of them. Return 0 without stack copies. */
size_t fallback_ring(const struct fallback *fallback);
size_t fallback_ring_least(const struct fallback *fallback);

/* Appends one line with the reason of the fallback and advice. Appends nothing if the requested size is used. */
void fallback_text(struct text *text, const struct fallback *fallback);

#endif
