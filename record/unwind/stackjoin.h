/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackjoin.h - the state of samplestack.h, and the continuation of a truncated walk by frame pointers.
 *
 * Two parts of one module: samplestack.c walks the stack copy of a sample; stackjoin.c appends the kernel's callers by
 * frame pointers where the stack goes on above the copy. A callchain is a text of 8-byte addresses and context
 * markers, as in a sample.
 */
#ifndef PJ_STACKJOIN_H
#define PJ_STACKJOIN_H

#include "common/formats/pjsection.h"
#include "common/text.h"
#include "record/unwind/fpcompare.h"
#include "record/unwind/rootframes.h"
#include "record/unwind/samplestack.h"
#include "unwind/walk.h"

/* Number of bytes that must be free in a record before a frame is appended: enough for a frame with its context marker,
 * and for the context markers at the end of the stack. */
#define FRAME_SPACE (16u + 8u * PJ_MARKS_NO_STACK)

struct samplestack {
	const struct processes *processes;
	struct cfitables *tables;
	struct javacode *javacode;
	struct javanames *names;
	/* reads frames of interpreters; NULL: stacks keep the native frames of interpreters */
	struct interpreters *interpreters;
	bool saw_interpreter; /* true: a sampled process maps a file of an interpreter; set only while `interpreters` is
				 NULL */
	/* argument of samplestack_off_cpu: time in ns until which the thread was off the CPU; 0: the stack is one of a
	 * sample */
	uint64_t until;
	enum waitcopy_frames frames;
	/* counts of struct javacode_counts at the start of this window */
	uint64_t unread, limited;
	struct rootframes starts;
	struct pj_unwinding counts;
	struct stacks_by_name names_of;
	struct walk walk;
	uint64_t kernel_limit; /* argument of samplestack_kernel_limit */
	size_t used;           /* result of samplestack_used, in bytes */
	/* the last walk, for the comparison with frame pointers; NULL: walks are not compared */
	struct fpcompare_walk *verify;
	struct text native; /* native callchain of a truncated stack, with its continuation by frame pointers */
	unsigned show;      /* number of differing stacks that remain to be printed */
};

/* State of a sample during the walk of its stack. */
struct sampled {
	struct samplestack *stack;
	const struct process *process; /* the sampled process; NULL: no record has announced it */
	struct javacode_jvm *jvm; /* the sampled JVM; NULL: the process is no JVM, or no frame was in its code yet */
	const struct hostframe *hostframe; /* interpreters_hostframe of the process, if looked_up is true */
	bool looked_up;
	struct code_blob blob; /* code blob of the current frame, if the frame is in JVM code */
	/* Indexes in the walk of the last compiled Java frame, and of the compiled Java frame before it; SIZE_MAX: no
	 * such frame. */
	size_t compiled, compiled_before;
	/* time of the sample, and current time, in ns of clock_now() */
	uint64_t time, now;
	uint32_t tid, cpu;
	bool in_kernel; /* true: the sampled thread was in kernel mode */
	size_t nregs;   /* number of user registers in the sample */
	bool wait;      /* true: samplestack_sample may return false, so that the sample waits for unwind tables */
};

/* Appends an address or context marker (8 bytes) to a callchain. */
static inline void samplestack_put(struct text *out, uint64_t value)
{
	text_bytes(out, &value, sizeof(value));
}

/* Returns the sampled JVM; NULL if the process is no JVM, or cannot be read. */
struct javacode_jvm *samplestack_jvm(struct sampled *sampled);

/* Fills *code for the code of the frame at `state`. Returns false if the unwind table of that code is still being
 * made. */
bool samplestack_code_at(struct sampled *sampled, const struct unwind_state *state, struct walk_code *code);

/* Continues a walk that ended at the end of the stack copy: appends the kernel's callers by frame pointers. Does so
 * only if both callchains have the same callers up to the end of the walk, and Java code in the continuation keeps
 * frame pointers. fp_valid: true: the unwind table confirms the frame pointer at the end of the walk. fp[0..n): user
 * part of the kernel's callchain; full: true: the kernel may have truncated it at its limit. out has the walk from byte
 * `first` on and grows to at most max bytes. Returns UNWIND_ROOT if the result is complete, UNWIND_UNKNOWN if its
 * completeness is unknown, UNWIND_STACK_CUT if it is still truncated. */
enum unwind_end stackjoin_continue(struct sampled *sampled, bool fp_valid, size_t first, const uint64_t *fp, uint64_t n,
				   bool full, size_t max, struct text *out);

#endif
