/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fpcompare.h - compares two stacks of one sample: the unwinder's and the kernel's frame-pointer callchain.
 *
 * Frame pointers are not the truth, but their errors are known: they miss the caller of code that has no frame at that
 * time (in its first instructions, in a leaf, in a stub), and they end or miss callers in native code without frame
 * pointers. The comparison separates these differences from all others, which indicate an error of one of the two. Used
 * by --unwind=verify. Pure.
 */
#ifndef PJ_FPCOMPARE_H
#define PJ_FPCOMPARE_H

#include "common/base.h"

/* How the code of a frame uses the frame pointer. */
enum fpcompare_code {
	FPCOMPARE_NATIVE,  /* native code, with or without frame pointer */
	FPCOMPARE_KEEPS,   /* JVM code with a frame pointer (-XX:+PreserveFramePointer) */
	FPCOMPARE_NO_FRAME /* JVM code whose frame rbp does not point to: stubs, adapters, prologues */
};

enum { FPCOMPARE_FRAMES = 8192 }; /* greatest number of frames of a walk, more than a record can hold */

/* The unwinder's stack, leaf first. A zeroed struct is empty. */
struct fpcompare_walk {
	size_t n;
	/* complete: the walk reaches the root; cut: it ends at the end of the stack copy. If neither is set, the
	 * unwinder found no caller. */
	bool complete, cut;
	struct fpcompare_frame {
		/* Address in the frame's code, also if the frame is named otherwise (an interpreted method). */
		uint64_t ip;
		enum fpcompare_code code;
	} frame[FPCOMPARE_FRAMES];
};

/* Appends a frame. Ignores frames beyond FPCOMPARE_FRAMES. */
void fpcompare_put(struct fpcompare_walk *walk, uint64_t ip, enum fpcompare_code code);

/* Result of a comparison, from good to bad. FPCOMPARES is the number of results. */
enum fpcompare {
	/* Equal up to the end of one of the two. If frame pointers end first, they miss at most libc's frames around
	 * main or a thread's function. */
	FPCOMPARE_SAME,
	/* As FPCOMPARE_SAME, but frame pointers miss the caller of the leaf or of JVM code without frame. */
	FPCOMPARE_ONE_LOST,
	/* Frame pointers end, miss callers or lead nowhere in native code without frame pointers. */
	FPCOMPARE_FEWER,
	/* Frame pointers end or miss callers in Java, as without -XX:+PreserveFramePointer. */
	FPCOMPARE_LOST,
	/* The unwinder found no caller where frame pointers continue. */
	FPCOMPARE_SHORT,
	/* Frame pointers have a caller that the unwinder does not have. */
	FPCOMPARE_OTHER,
	FPCOMPARES
};

/* Compares walk with fp[0..n), n > 0: the user's part of the kernel's callchain, up to the first address outside of
 * code. full: the kernel truncated the callchain at its limit. Sets *at to the index in walk of the first
 * difference. */
enum fpcompare fpcompare_of(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n, bool full, size_t *at);

#endif
