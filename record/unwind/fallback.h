/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback.h - chooses smaller stack copies, or frame-pointer unwinding, if the requested stack copies are impossible.
 *
 * Stack copies need a kernel that makes them, and rings that hold them until the recorder reads them. A recording first
 * tries the requested size. If the kernel refuses it, fallback_next chooses the size for the next attempt. Only
 * --unwind=auto allows that. Pure, except that it reads the type of this host's processor.
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
	/* true: smaller stack copies or frame-pointer unwinding are allowed (--unwind=auto); false: the requested size
	 * is required */
	bool choose;
	uint32_t stack_bytes; /* requested size of a stack copy in bytes; 0: frame-pointer unwinding */
	/* true: with `choose`, only frame-pointer unwinding is allowed instead of the requested size */
	bool exactly;
	/* expected number of samples with a stack copy per second and CPU; 0: no event has stack copies */
	uint64_t rate;
	size_t ring_bytes; /* size of a ring for samples in bytes, as the user chose it; 0: not chosen */
};

/* The chosen size of stack copies, and the reason why it is not the requested one. */
struct fallback {
	struct fallback_options o;
	uint32_t bytes; /* chosen size of a stack copy in bytes; 0: frame-pointer unwinding */
	/* First reason why the requested size is impossible: unsupported processor, ring too small, or refused by the
	 * kernel. FALLBACK_NONE: the requested size is chosen. */
	enum fallback_by { FALLBACK_NONE, FALLBACK_PROCESSOR, FALLBACK_RING_SIZE, FALLBACK_REFUSED } by;
	struct sources_failure why; /* for FALLBACK_REFUSED: the first refusal of the kernel */
};

/* Chooses the requested size; 0 if no event has stack copies, or the processor is not supported. With options->choose,
 * skips sizes for which no ring can hold enough copies. */
void fallback_begin(struct fallback *fallback, const struct fallback_options *options);

/* Chooses the size for the next attempt after the kernel refused fallback->bytes for the reason *why. Returns true if
 * fallback->bytes is smaller now; false if no smaller size is allowed. */
bool fallback_next(struct fallback *fallback, const struct sources_failure *why);

/* Return the size of a ring for samples in bytes, a power of two; 0 without stack copies. fallback_ring: size for the
 * copies of one second, limited to RING_LEAST to RING_STACKS. fallback_ring_least: smallest usable size. */
size_t fallback_ring(const struct fallback *fallback);
size_t fallback_ring_least(const struct fallback *fallback);

/* Appends one line with the reason for the smaller stack copies or frame-pointer unwinding, and advice. Appends nothing
 * if the requested size is chosen. */
void fallback_text(struct text *text, const struct fallback *fallback);
/* Appends the reason and the advice alone. The requested size must not be the chosen one. */
void fallback_cause(struct text *text, const struct fallback *fallback);

#endif
