/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplestack.h - samples with registers and a copy of the stack become samples with a callchain.
 *
 * The kernel's part of a callchain stays as it is. The user's is walked here, while the process lives, from frame to
 * caller: what kind of code a frame is in, by its mapping, says how (samplestack.c, the steps). What is written is what
 * the kernel would have written, had it known the callers: addresses of instructions to come, leaf first. Marks
 * (CONTEXT_USER) tell what it has no word for: before an address, that it is where code was interrupted, so no call is
 * before it; at the end, that the stack is not whole (PJ_ITEM_UNWINDING).
 */
#ifndef PJ_SAMPLESTACK_H
#define PJ_SAMPLESTACK_H

#include "record/java/javacode.h"
#include "common/formats/pjsection.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "record/unwind/cfitables.h"
#include "common/text.h"

#define SAMPLESTACK_STACK                                                                                      \
	24576u           /* bytes that are copied: of 303 Hz, a second fits into the ring that 16 kB need, too \
			  */
#define MAX_FRAMES 2048u /* ABIs align frames to 16 bytes: of a copy of 24 kB that is 1,536 */
#define MAX_FRAMES_LIMIT 8192u
#define SAMPLESTACK_STACK_MOST 57344u /* a record is at most 64 kB */

struct samplestack;

/* javacode: NULL: code of JVMs is walked as any other that has no tables. Methods of interpreted frames are reported to
 * names.
 */
struct samplestack *samplestack_new(const struct processes *processes, struct cfitables *tables,
				    struct javacode *javacode, struct javanames *names);
void samplestack_free(struct samplestack *stack);

/* At most so many frames of a stack are walked, leaf first: MAX_FRAMES without this. What is deeper is cut. */
void samplestack_limit(struct samplestack *stack, uint32_t max_frames);

/* From now on what is walked is compared with frame pointers (fpcompare.h), which the event must have been asked for,
 * too. The first `show` that differ are shown. */
void samplestack_verify(struct samplestack *stack, unsigned show);

/* sample, a whole SAMPLE of an event with that attr (as asked for), becomes *out. wait: tables that are being made may
 * be waited for; false then says that it is to be tried again, later. *out is empty for a record that is not what the
 * attr says. */
bool samplestack_sample(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
			bool wait, uint64_t now, struct text *out);

/* The same, but nothing is walked: the callchain is the one of a sample over budget (PJ_OVER_BUDGET_IP). False: not
 * what the attr says. */
bool samplestack_skip(const struct perf_event_attr *attr, const struct ring_sample *sample, struct text *out);

/* Since the last unwinding_count_from_here. */
struct pj_unwinding samplestack_counts(const struct samplestack *stack);
void samplestack_reset_counts(struct samplestack *stack);

#endif
