/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback.h - how callers are found where not all can be had that finding them needs: with shorter copies of stacks,
 * or by the kernel, by frame pointers.
 *
 * Copies need rings that hold as many of them as come until the recorder runs, and a kernel that makes them. A
 * recording begins with what was asked for; what is refused says what is tried next. Only --unwind=auto leaves the
 * choice to us.
 */
#ifndef PJ_FALLBACK_H
#define PJ_FALLBACK_H

#include "record/perf/sources.h"
#include "common/text.h"

struct fallback_options {
	bool choose;          /* less than what is asked for will do */
	uint32_t stack_bytes; /* of a stack that are copied; 0: none, frame pointers */
	bool exactly;         /* so many, or none */
	uint64_t rate;        /* samples with a copy, a second and CPU; 0: none */
	size_t ring_bytes;    /* of a ring for samples, when it must be of that size; else 0 */
};

struct fallback {
	struct fallback_options o;
	uint32_t bytes; /* of a stack, now; 0: frame pointers */
	enum fallback_by { FALLBACK_NONE, FALLBACK_PROCESSOR, FALLBACK_RING_SIZE, FALLBACK_REFUSED } by;
	struct sources_failure why; /* REFUSED: what was, first */
};

void fallback_begin(struct fallback *fallback, const struct fallback_options *options);

/* The kernel refused what fallback said. True: fallback says less now. */
bool fallback_next(struct fallback *fallback, const struct sources_failure *why);

/* Bytes of a ring for samples that a second with copies needs, within bounds, and those that are enough; 0: there are
 * no copies. */
size_t fallback_ring(const struct fallback *fallback);
size_t fallback_ring_least(const struct fallback *fallback);

/* What is missing and what helps, in a line; nothing, where all can be had. */
void fallback_text(struct text *text, const struct fallback *fallback);

#endif
