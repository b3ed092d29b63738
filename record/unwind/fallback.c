/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/fallback.h"

#include "record/perf/hints.h"
#include "unwind/dwarf/processor.h"
#include "record/unwind/samplestack.h"

#include <errno.h>

/* assumed bytes of a sample in addition to its stack copy: registers, the kernel's callchain */
#define BESIDE 512u
#define LATE 100u /* the usual delay of the recorder is 1/LATE s, 10 ms */
#define ENOUGH                                                                                                     \
	8u /* minimum number of samples that a ring must hold: the kernel wakes the recorder when a quarter of the \
	    * ring is full */

/* Sizes of stack copies in bytes, in the order of the attempts; 0: frame-pointer unwinding. Measured share of truncated
 * stacks on a busy host: 4 % with 16 kB, 10 to 40 % with 8 kB; with frame pointers, nearly all stacks of a JVM are
 * truncated or broken. */
static const uint32_t copies[] = { SAMPLESTACK_STACK, 16384, 8192, 0 };

static size_t power_of_two(uint64_t need)
{
	size_t bytes = RING_LEAST;

	while (bytes < need && bytes < RING_STACKS)
		bytes *= 2;
	return bytes;
}

size_t fallback_ring(const struct fallback *fallback)
{
	return fallback->bytes ? power_of_two(fallback->o.rate * (fallback->bytes + BESIDE)) : 0;
}

static uint64_t fallback_enough(const struct fallback *fallback)
{
	uint64_t samples = fallback->o.rate / LATE;

	return (samples < ENOUGH ? ENOUGH : samples) * (fallback->bytes + BESIDE);
}

size_t fallback_ring_least(const struct fallback *fallback)
{
	return fallback->bytes ? power_of_two(fallback_enough(fallback)) : 0;
}

/* Sets fallback->bytes to the next smaller size of a stack copy; with o.exactly, to 0 (frame-pointer unwinding). */
static void fallback_less(struct fallback *fallback)
{
	size_t i = 0;

	while (copies[i] >= fallback->bytes)
		i++;
	fallback->bytes = fallback->o.exactly ? 0 : copies[i];
}

static void fallback_blame(struct fallback *fallback, enum fallback_by by)
{
	if (fallback->by == FALLBACK_NONE)
		fallback->by = by;
}

/* Chooses smaller sizes until a ring can hold enough copies. Even a ring of 32 MB may be too small for the largest
 * sizes. */
static void leave_out_impossible(struct fallback *fallback)
{
	size_t max = fallback->o.ring_bytes ? fallback->o.ring_bytes : RING_STACKS;

	while (fallback->bytes && fallback_enough(fallback) > max) {
		fallback_blame(fallback, FALLBACK_RING_SIZE);
		fallback_less(fallback);
	}
}

void fallback_begin(struct fallback *fallback, const struct fallback_options *options)
{
	*fallback = (struct fallback){ .o = *options, .bytes = options->rate ? options->stack_bytes : 0 };
	if (fallback->bytes && !processor_here()) {
		fallback->by = FALLBACK_PROCESSOR;
		fallback->bytes = 0;
	}
	if (options->choose)
		leave_out_impossible(fallback);
}

/* If the kernel refused memory for rings, tries a smaller copy. If it refused anything else, tries frame-pointer
 * unwinding. */
bool fallback_next(struct fallback *fallback, const struct sources_failure *why)
{
	if (!fallback->bytes || !fallback->o.choose)
		return false;
	if (fallback->by == FALLBACK_NONE)
		fallback->why = *why;
	fallback_blame(fallback, FALLBACK_REFUSED);
	if (why->step == SOURCES_MAP && (why->error == EPERM || why->error == ENOMEM || why->error == EAGAIN))
		fallback_less(fallback);
	else
		fallback->bytes = 0;
	return true;
}

void fallback_cause(struct text *text, const struct fallback *fallback)
{
	struct fallback complete = *fallback;
	struct hint hint;

	switch (fallback->by) {
	case FALLBACK_PROCESSOR: text_add(text, "the registers of this processor are not supported"); break;
	case FALLBACK_RING_SIZE:
		complete.bytes = fallback->o.stack_bytes;
		if (fallback->o.ring_bytes)
			text_printf(
				text,
				"a ring of %zu kB holds too few samples with a copy of the stack: use --ring-size=%zuK, or "
				"omit it",
				fallback->o.ring_bytes / 1024, fallback_ring_least(&complete) / 1024);
		else
			text_printf(text, "at %llu Hz no ring holds enough copies of stacks: use a lower --frequency",
				    (unsigned long long)fallback->o.rate);
		break;
	default:
		if (fallback->why.step == SOURCES_MAP) {
			hint_failure(&hint, &fallback->why);
			hint.no_less = true;
			hint_text(text, &hint);
		} else {
			/* gives no advice of hint_failure, which is for refused recordings: the kernel refused only
			 * stack copies */
			text_printf(text, "the kernel refuses registers and copies of stacks%s%s: %s",
				    fallback->why.what ? " of " : "", fallback->why.what ? fallback->why.what : "",
				    strerror(fallback->why.error));
		}
	}
}

void fallback_text(struct text *text, const struct fallback *fallback)
{
	if (fallback->by == FALLBACK_NONE)
		return;
	if (fallback->bytes)
		text_printf(text,
			    "copies of stacks have %u kB, not %u, so deeper stacks end early: ", fallback->bytes / 1024,
			    fallback->o.stack_bytes / 1024);
	else
		text_add(text, "stacks are unwound by frame pointers only (--unwind=fp), so those of Java, and of "
			       "libraries without them, are broken: ");
	fallback_cause(text, fallback);
}
