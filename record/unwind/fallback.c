/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/fallback.h"

#include "record/perf/hints.h"
#include "unwind/processor.h"
#include "record/unwind/samplestack.h"

#include <errno.h>

#define BESIDE 512u /* bytes of a sample beside its copy: registers, the kernel's callchain */
#define LATE 100u   /* a second by that is how late the recorder may look, usually, */
#define ENOUGH 8u   /* but so many samples at least: it is woken when a quarter of the ring is full */

/* 16 kB cut 4 % of the stacks of a busy host, 8 kB 10 to 40 %, frame pointers nearly all of a JVM. */
static const uint32_t copies[] = { SAMPLESTACK_STACK, 16384, 8192, 0 };

static size_t power_of_two(uint64_t need)
{
	size_t bytes = RING_LEAST;

	while (bytes < need && bytes < RING_STACKS)
		bytes *= 2;
	return bytes;
}

size_t fallback_ring(const struct fallback *f)
{
	return f->bytes ? power_of_two(f->o.rate * (f->bytes + BESIDE)) : 0;
}

static uint64_t fallback_enough(const struct fallback *f)
{
	uint64_t samples = f->o.rate / LATE;

	return (samples < ENOUGH ? ENOUGH : samples) * (f->bytes + BESIDE);
}

size_t fallback_ring_least(const struct fallback *f)
{
	return f->bytes ? power_of_two(fallback_enough(f)) : 0;
}

/* The next shorter copy. */
static void fallback_less(struct fallback *f)
{
	size_t i = 0;

	while (copies[i] >= f->bytes)
		i++;
	f->bytes = f->o.exactly ? 0 : copies[i];
}

static void fallback_blame(struct fallback *f, enum fallback_by by)
{
	if (f->by == FALLBACK_NONE)
		f->by = by;
}

/* What need not be tried. A ring of 32 MB may be too small, too. */
static void leave_out_impossible(struct fallback *f)
{
	size_t max = f->o.ring_bytes ? f->o.ring_bytes : RING_STACKS;

	while (f->bytes && fallback_enough(f) > max) {
		fallback_blame(f, FALLBACK_RING_SIZE);
		fallback_less(f);
	}
}

void fallback_begin(struct fallback *f, const struct fallback_options *o)
{
	*f = (struct fallback){ .o = *o, .bytes = o->rate ? o->stack_bytes : 0 };
	if (f->bytes && !processor_here()) {
		f->by = FALLBACK_PROCESSOR;
		f->bytes = 0;
	}
	if (o->choose)
		leave_out_impossible(f);
}

/* Memory may be enough for less; whatever else is refused may be allowed without copies. */
bool fallback_next(struct fallback *f, const struct sources_failure *why)
{
	if (!f->bytes || !f->o.choose)
		return false;
	if (f->by == FALLBACK_NONE)
		f->why = *why;
	fallback_blame(f, FALLBACK_REFUSED);
	if (why->step == SOURCES_MAP && (why->error == EPERM || why->error == ENOMEM || why->error == EAGAIN))
		fallback_less(f);
	else
		f->bytes = 0;
	return true;
}

static void put_cause(struct text *t, const struct fallback *f)
{
	struct fallback complete = *f;
	struct hint h;

	switch (f->by) {
	case FALLBACK_PROCESSOR: text_add(t, "registers of this processor are not known"); break;
	case FALLBACK_RING_SIZE:
		complete.bytes = f->o.stack_bytes;
		if (f->o.ring_bytes)
			text_printf(
				t,
				"a ring of %zu kB holds too few samples with a copy of the stack: --ring-size=%zuK, or none",
				f->o.ring_bytes / 1024, fallback_ring_least(&complete) / 1024);
		else
			text_printf(t, "at %llu Hz no ring holds enough copies of stacks: a lower --frequency",
				    (unsigned long long)f->o.rate);
		break;
	default:
		if (f->why.step == SOURCES_MAP) {
			hint_failure(&h, &f->why);
			h.no_less = true;
			hint_text(t, &h);
		} else { /* without copies it was not */
			text_printf(t, "the kernel refuses registers and copies of stacks%s%s: %s",
				    f->why.what ? " of " : "", f->why.what ? f->why.what : "", strerror(f->why.error));
		}
	}
}

void fallback_text(struct text *t, const struct fallback *f)
{
	if (f->by == FALLBACK_NONE)
		return;
	if (f->bytes)
		text_printf(t, "copies of stacks are of %u kB, not %u, so deeper stacks end early: ", f->bytes / 1024,
			    f->o.stack_bytes / 1024);
	else
		text_add(
			t,
			"stacks are walked by frame pointers only (--unwind=fp), so those of Java, and of libraries without "
			"them, are broken: ");
	put_cause(t, f);
}
