/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplestack.h - converts a sample with registers and a stack copy into a sample with a callchain.
 *
 * The kernel part of the callchain stays unchanged. The unwinder walks the user part while the process still lives. The
 * mapping of each frame's code decides how to find the caller: CFI, HotSpot code blobs or frame pointers. The result
 * has the kernel's format: leaf frame first, each caller by its return address. Context markers (PERF_CONTEXT_USER)
 * carry what the format lacks. A marker before an address means that the address was interrupted, so that it is no
 * return address. Markers at the end mean that the stack is not complete (PJ_ITEM_UNWINDING).
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

/* Default size of a stack copy in bytes. At 303 Hz, a ring for the copies of one second has the same size as with
 * copies of 16 kB. */
#define SAMPLESTACK_STACK 24576u
/* Default limit of the frames of a stack; deeper stacks are truncated. ABIs align frames to 16 bytes, so a copy of 24
 * kB holds at most 1,536 frames. */
#define MAX_FRAMES 2048u
#define MAX_FRAMES_LIMIT 8192u
/* largest possible stack copy in bytes, as a perf record has at most 64 kB */
#define SAMPLESTACK_STACK_MOST 57344u

struct samplestack;

/* Returns a converter of samples. The caller owns the arguments, which must outlive the result. javacode NULL: JVM code
 * is unwound by frame pointers, like other code without CFI. The converter adds the methods of interpreted Java frames
 * to `names`. */
struct samplestack *samplestack_new(const struct processes *processes, struct cfitables *tables,
				    struct javacode *javacode, struct javanames *names);
void samplestack_free(struct samplestack *stack);

/* Sets the maximum number of frames of a stack, counted from the leaf; default MAX_FRAMES. Deeper stacks are
 * truncated. */
void samplestack_limit(struct samplestack *stack, uint32_t max_frames);

/* Sets the maximum number of addresses in a callchain of the kernel, as kernel.perf_event_max_stack was when the events
 * were opened; 0: its default, 127. A callchain with so many addresses is regarded as truncated. */
void samplestack_kernel_limit(struct samplestack *stack, uint32_t max_addresses);

/* Makes the converter merge frames of interpreters into all further stacks. `interpreters` must outlive the
 * converter. */
void samplestack_interpret(struct samplestack *stack, struct interpreters *interpreters);
/* Returns true if a sampled process maps a file of an interpreter, and samplestack_interpret was not called. */
bool samplestack_saw_interpreter(const struct samplestack *stack);

/* Declares how further stacks are read. until > 0: the stack is read while its thread is off the CPU, at least until
 * time `until` (ns of clock_now); `frames`: result of the copy of its interpreted frames. until 0 (default): the stack
 * is one of a sample. */
void samplestack_off_cpu(struct samplestack *stack, uint64_t until, enum waitcopy_frames frames);

/* Makes the converter compare all further stacks with the kernel's frame-pointer callchain (fpcompare.h); the event
 * must request that callchain, too. Prints the first `show` stacks that differ. */
void samplestack_verify(struct samplestack *stack, unsigned show);

/* Writes the converted SAMPLE record to *out. attr: the attributes with which the event was opened. wait: true: return
 * false if unwind tables of a frame are still being made; then call again later. wait false: always returns true. If
 * the record does not match attr, counts it as damaged, leaves *out empty and returns true. */
bool samplestack_sample(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
			bool wait, uint64_t now, struct text *out);

/* Returns the number of bytes of the last stack copy from the stack pointer to the end of the walk (the root frame if
 * it is complete); SIZE_MAX if the stack continues above the copy. */
size_t samplestack_used(const struct samplestack *stack);

/* Makes the current window name the Java frames of a stack that was unwound for an earlier window. ips[0..nips) is the
 * stack's callchain; time: time of its sample in ns. */
void samplestack_note(struct samplestack *stack, uint32_t pid, uint64_t time, const uint64_t *ips, uint64_t nips);

/* Writes a sample of a tenant over budget to *out without unwinding: its callchain becomes that of such a tenant
 * (overbudget.h). Counts the stack as one of unknown completeness. Returns false and leaves *out empty if the record
 * does not match attr. */
bool samplestack_skip(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
		      struct text *out);

/* Corrects the counts after the callchain ips[0..nips), which samplestack_sample wrote, was replaced by that of a
 * tenant over budget (overbudget.h). From then on the stack is counted as one of unknown completeness. A stack without
 * user frames was not counted before, and is now. */
void samplestack_recount(struct samplestack *stack, const uint64_t *ips, uint64_t nips);

/* Returns the counts of stacks since the last samplestack_reset_counts. */
struct pj_unwinding samplestack_counts(const struct samplestack *stack);
/* Returns the names of processes with broken stacks, and of processes with stacks of unknown completeness, since the
 * last samplestack_reset_counts. */
struct stacks_by_name samplestack_names(const struct samplestack *stack);
void samplestack_reset_counts(struct samplestack *stack);

#endif
