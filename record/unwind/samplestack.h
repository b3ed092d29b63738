/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplestack.h - turns a sample with registers and a stack copy into a sample with a callchain.
 *
 * The kernel's part of the callchain stays. The unwinder walks the user part while the process lives; the mapping of
 * each frame decides between CFI, HotSpot code and frame pointers. The result has the kernel's form: leaf first, each
 * caller by its return address. Context markers (PERF_CONTEXT_USER) carry the rest: one before an address marks it as
 * interrupted, not as a return address; those at the end mark a stack that is not complete (PJ_ITEM_UNWINDING).
 */
#ifndef PJ_SAMPLESTACK_H
#define PJ_SAMPLESTACK_H

#include "record/interpreters/interpreters.h"
#include "record/java/javacode.h"
#include "common/formats/pjsection.h"
#include "record/processes/namecounts.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "record/unwind/cfitables.h"
#include "common/text.h"

/* Default size of a stack copy in bytes. At 303 Hz, the copies of one second fit into the ring that 16 kB need, too. */
#define SAMPLESTACK_STACK 24576u
/* Default limit of the frames of a stack. ABIs align frames to 16 bytes, so a copy of 24 kB holds at most 1,536. */
#define MAX_FRAMES 2048u
#define MAX_FRAMES_LIMIT 8192u
#define SAMPLESTACK_STACK_MOST 57344u /* largest stack copy in bytes, as a perf record has at most 64 kB */

struct samplestack;

/* Returns a converter of samples. The caller owns the arguments, which must outlive the result. With javacode NULL,
 * JVM code is unwound like other code without CFI, by frame pointers. Methods of interpreted frames are added to
 * `names`. */
struct samplestack *samplestack_new(const struct processes *processes, struct cfitables *tables,
				    struct javacode *javacode, struct javanames *names);
void samplestack_free(struct samplestack *stack);

/* Sets the greatest number of frames of a stack, counted from the leaf; MAX_FRAMES by default. Deeper stacks are
 * truncated. */
void samplestack_limit(struct samplestack *stack, uint32_t max_frames);

/* Puts interpreted frames into all further stacks. `interpreters` must outlive the converter. */
void samplestack_interpret(struct samplestack *stack, struct interpreters *interpreters);

/* Declares that the next stack was read while its thread was off the CPU, until `until` at least, with these frames of
 * an interpreter; until 0: it is that of a sample, as at first. */
void samplestack_off_cpu(struct samplestack *stack, uint64_t until, enum waitcopy_frames frames);

/* Compares all further stacks with frame-pointer callchains (fpcompare.h), which the event must request, too. Prints
 * the first `show` stacks that differ. */
void samplestack_verify(struct samplestack *stack, unsigned show);

/* Writes the converted SAMPLE record to *out. `attr`: the attributes with which the event was opened. With `wait`,
 * returns false if unwind tables of a frame are still being made: the caller calls again later. *out is empty if the
 * record does not match attr. */
bool samplestack_sample(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
			bool wait, uint64_t now, struct text *out);

/* Returns the number of bytes of the stack copy up to the root frame of the last stack; SIZE_MAX if the stack goes on
 * above the copy. */
size_t samplestack_used(const struct samplestack *stack);

/* Makes a window name the Java frames of a stack that was unwound for an earlier window: ips[0..nips) is its callchain.
 */
void samplestack_note(struct samplestack *stack, uint32_t pid, uint64_t time, const uint64_t *ips, uint64_t nips);

/* As samplestack_sample, without unwinding: the callchain becomes that of a tenant over budget (overbudget.h).
 * It counts as a stack of unknown completeness. Returns false if the record does not match attr. */
bool samplestack_skip(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
		      struct text *out);

/* Counts a stack as one of unknown completeness that was counted by its end before: its callchain ips[0..nips), which
 * samplestack_sample composed, is replaced by that of a tenant over budget (overbudget.h). A stack without user frames
 * was not counted before. */
void samplestack_recount(struct samplestack *stack, const uint64_t *ips, uint64_t nips);

/* Returns the counts of stacks since the last samplestack_reset_counts. */
struct pj_unwinding samplestack_counts(const struct samplestack *stack);
/* Returns the names of the processes with broken stacks and those of unknown completeness among them. */
struct stacks_by_name samplestack_names(const struct samplestack *stack);
void samplestack_reset_counts(struct samplestack *stack);

#endif
