/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fpcompare.h - do two walks of one sample agree, that by tables and the kernel's by frame pointers?
 *
 * Frame pointers are not the truth, but they err in ways that are known: they lose the caller of code that has no frame
 * just then (in its first instructions, a leaf, a stub), and end, or leave out callers, where native code keeps none.
 * These are told apart; what else differs is an error of one of the two, and a reason to look. Pure.
 */
#ifndef PJ_FPCOMPARE_H
#define PJ_FPCOMPARE_H

#include "common/base.h"

enum fpcompare_code {
	FPCOMPARE_NATIVE, /* may keep a frame pointer, or not */
	FPCOMPARE_KEEPS,  /* of a JVM, where -XX:+PreserveFramePointer makes one */
	FPCOMPARE_BARE    /* of a JVM, without a frame that rbp points at: stubs, adapters, prologues */
};

enum { FPCOMPARE_FRAMES = 8192 }; /* more than a record has room for */

/* A walk by tables, leaf first. Zero is empty. */
struct fpcompare_walk {
	size_t n;
	bool complete, cut; /* to the root; to the end of the copy; neither: its caller was not found */
	struct fpcompare_frame {
		uint64_t ip; /* in code, also of what is called something else (an interpreted method) */
		enum fpcompare_code code;
	} frame[FPCOMPARE_FRAMES];
};

void fpcompare_put(struct fpcompare_walk *walk, uint64_t ip, enum fpcompare_code code);

enum fpcompare {
	FPCOMPARE_SAME, /* as far as both go; where frame pointers end, no more is missing than libc's frames around a
			   thread */
	FPCOMPARE_ONE_LOST, /* the same, but that frame pointers have not who called the leaf, or code of a JVM that is
			       bare */
	FPCOMPARE_FEWER,    /* frame pointers end, leave callers out, or go astray, in code that keeps none */
	FPCOMPARE_LOST,  /* frame pointers end, or leave callers out, in Java: as without -XX:+PreserveFramePointer */
	FPCOMPARE_SHORT, /* the walk by tables found no caller where frame pointers go on */
	FPCOMPARE_OTHER, /* frame pointers have a caller that tables have not */
	FPCOMPARES
};

/* fp[0..n): the user's part of the kernel's callchain, as far as it is code, and not empty. full: the kernel had no
 * room for more. *at: in walk, where they part. */
enum fpcompare fpcompare_of(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n, bool full, size_t *at);

#endif
