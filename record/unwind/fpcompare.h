/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fpcompare.h - compares two stacks of one sample: the unwinder's and the kernel's frame-pointer callchain.
 *
 * Frame-pointer callchains may be wrong, but their errors are known. They miss the caller of code that has no frame at
 * that time: in its first instructions, in a leaf function, in a stub. In native code that does not maintain the frame
 * pointer they end or miss callers. The comparison separates these differences from all others, which indicate an error
 * of the unwinder or of the frame pointers. Used by --unwind=verify. Pure: no system calls.
 */
#ifndef PJ_FPCOMPARE_H
#define PJ_FPCOMPARE_H

#include "common/base.h"

/* Use of the frame pointer by the code of a frame. */
enum fpcompare_code {
	FPCOMPARE_NATIVE,  /* native code, with or without frame pointer */
	FPCOMPARE_KEEPS,   /* JVM code with a frame pointer (-XX:+PreserveFramePointer) */
	FPCOMPARE_NO_FRAME /* JVM code that has no frame to which rbp points: stubs, adapters, prologues */
};

/* maximum number of frames of a walk, more than a perf record can hold; further frames are ignored */
enum { FPCOMPARE_FRAMES = 8192 };

/* The unwinder's stack, leaf frame first. A zeroed struct is empty. */
struct fpcompare_walk {
	/* number of frames */
	size_t n;
	/* complete: true: the walk reached a root frame. cut: true: the walk ended at the end of the stack copy. Both
	 * false: the unwinder found no caller of the last frame. */
	bool complete, cut;
	struct fpcompare_frame {
		/* Virtual address in the code of the frame. For a frame of an interpreted method it is still the
		 * address of the code. */
		uint64_t ip;
		enum fpcompare_code code;
	} frame[FPCOMPARE_FRAMES];
};

/* Appends a frame to the walk. Ignores frames beyond FPCOMPARE_FRAMES. */
void fpcompare_put(struct fpcompare_walk *walk, uint64_t ip, enum fpcompare_code code);

/* Result of a comparison, from best to worst. FPCOMPARES is the number of results, not a result. */
enum fpcompare {
	/* Both stacks are equal up to the end of the shorter one. If frame pointers end first, they miss at most libc's
	 * frames around main or around a thread's function. */
	FPCOMPARE_SAME,
	/* Like FPCOMPARE_SAME, but frame pointers miss the caller of the leaf frame, or of JVM code without frame. */
	FPCOMPARE_ONE_LOST,
	/* Frame pointers end, miss callers, or lead to an address outside of code, in native code that does not
	 * maintain the frame pointer. */
	FPCOMPARE_FEWER,
	/* Frame pointers end or miss callers in Java code, as happens without -XX:+PreserveFramePointer. */
	FPCOMPARE_LOST,
	/* The unwinder found no caller where frame pointers continue. */
	FPCOMPARE_SHORT,
	/* Frame pointers have a caller that the unwinder's stack does not have. */
	FPCOMPARE_OTHER,
	FPCOMPARES
};

/* Compares *walk with fp[0..n), n > 0: the user part of the kernel's callchain, up to the first address outside of
 * code. Returns the class of their differences. full: true: the kernel may have truncated the callchain at its limit.
 * Sets *at to the index in walk->frame of the first difference; 0 if both are equal without skipped frames. */
enum fpcompare fpcompare_of(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n, bool full, size_t *at);

#endif
