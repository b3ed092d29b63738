/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadcopy.h - copies the frames of an interpreted thread at a sample, by a plan, for the synchronous reader.
 *
 * Frames of interpreters are on the heap, so they must be read before the sampled thread runs its next instruction. The
 * synchronous reader (record/syncread) does that with real-time priority, so it does as little as possible: it follows
 * a plan of a few offsets that the runtime's folder made before, and copies areas of memory. It does not interpret or
 * check the bytes that it copies. Later, a process without capabilities finds the frames in the copy: it runs the code
 * of the runtime's folder, which looks up bytes by address (threadcopy_bytes).
 *
 * A runtime whose frames are on the native stack needs no read: its plan has `stack` set, and the copy is the stack
 * copy of the sample itself.
 *
 * All addresses in the copy are hostile. A plan is trusted: it contains only offsets of the runtime's layout.
 */
#ifndef PJ_THREADCOPY_H
#define PJ_THREADCOPY_H

#include "common/base.h"

#define THREADPLAN_HOPS 3u /* maximum number of pointers from the root to the innermost frame */
/* maximum number of reads for one sample; then the copy ends (THREADCOPY_LIMIT) */
#define THREADCOPY_READS 64u
#define THREADCOPY_OBJECTS 32u /* number of reads for one sample after which objects of frames are not copied */
/* maximum size of the copy for one sample, in bytes; then the copy ends (THREADCOPY_LIMIT) */
#define THREADCOPY_BYTES (512u << 10)

/* Plan of a copy: the areas of memory to read. The copy starts at the root, the address of the thread's state in the
 * runtime (CPython: PyThreadState). */
struct threadplan {
	/* 1: the plan is not followed; the copy has one area, the stack copy of the sample, and all other members of
	 * the plan are 0. 0: the plan is followed. */
	uint32_t stack;
	/* number of bytes to copy at the root: all fields that the hops and the runtime's folder need */
	uint32_t root_bytes;
	/* Number of hops, and their offsets. A hop loads a pointer: the first hop from the root, each other hop from
	 * the structure to which the previous pointer points. The last pointer points to the innermost frame. */
	uint32_t nhops, hop[THREADPLAN_HOPS];
	/* One read copies `before` bytes before the start of a frame and `after` bytes from its start on. A frame
	 * whose first `frame_bytes` bytes are in an area already is not read again. */
	uint32_t before, after, frame_bytes;
	uint32_t next;   /* offset in a frame of the pointer to its caller; pointer 0 ends the list */
	uint64_t mask;   /* bits of the pointer to the caller that are the address */
	uint32_t frames; /* maximum number of frames to follow; then the copy ends (THREADCOPY_LIMIT) */
	/* Offset in a frame of the pointer to an object that is copied with the frame, and the number of its bytes
	 * to copy; 0 bytes: frames have no such object. An object that cannot be read is left out, and so are all
	 * objects after THREADCOPY_OBJECTS reads. */
	uint32_t object, object_bytes;
	/* 1: the pointer at `object` points to an array (Perl: of contexts) whose elements have object_bytes each.
	 * The int32_t at offset object_last in the frame is the index of the last element; -1: no element. All
	 * elements are copied, the last one first. An array that cannot be read ends the copy. */
	uint32_t objects, object_last;
	/* Frames in an array at the end of a stack (Ruby); bytes = 0: frames are a list. The last hop starts from an
	 * owner structure, of which `bytes` bytes are copied: offset `start` in it has the address of the stack, offset
	 * `words` the size of the stack in words of 8 bytes. Frames of frame_bytes each follow each other from the
	 * innermost one to the end of the stack. `next` is then the offset in a frame of the pointer to its
	 * environment: the word at this pointer and link_before bytes before it are copied. If these words are in the
	 * stack, the stack below them is copied, too; otherwise `before` bytes before the pointer and `after` bytes
	 * from it on. */
	struct {
		uint32_t bytes, start, words, link_before;
	} array;
};

struct threadcopy_area {
	uint64_t address;
	uint32_t n, offset; /* size of the area in bytes, and its offset in threadcopy.bytes */
};

/* Result of following a plan. */
enum threadcopy_end {
	THREADCOPY_COMPLETE, /* the list or array of frames was followed to its end */
	THREADCOPY_NO_FRAME, /* the thread has no frame: the pointer of a hop is 0 */
	THREADCOPY_LIMIT,    /* a maximum was reached, or the list is a cycle; the areas hold the innermost frames */
	/* a read failed, or a pointer or size was invalid; the areas hold the frames that were read before */
	THREADCOPY_FAILED
};

struct threadcopy {
	uint32_t pid, tid;
	/* off_cpu: 1 if the copy was made while the thread was off the CPU; `time` is then the time of its
	 * switch-out */
	uint32_t off_cpu, zero;
	uint64_t time;           /* time of the sample, in ns of CLOCK_MONOTONIC */
	uint64_t begun, read_by; /* times before the first and after the last read, in ns of CLOCK_MONOTONIC */
	uint64_t root;
	uint64_t ip, bp; /* registers of the sample if plan.stack is set; the area then begins at the stack pointer */
	uint32_t end;    /* enum threadcopy_end */
	uint32_t nareas, nbytes;
	/* areas in the order in which they were read; they may overlap */
	struct threadcopy_area area[THREADCOPY_READS];
	char bytes[];
};

/* Returns true if the plan is usable. A plan with stack = 1 is usable. Any other plan needs 1 to THREADPLAN_HOPS hops,
 * of which the first lies within root_bytes, and a pointer to the caller within frame_bytes. With an array, the last
 * hop, `start` and `words` must lie within array.bytes. */
bool threadplan_valid(const struct threadplan *plan);

/* Reads up to n bytes of the process from `address` into `into`. `to` is the argument of threadcopy_follow. Returns the
 * number of bytes before the first unreadable one: 0 if the byte at `address` is unreadable. */
typedef size_t threadcopy_read(void *to, uint64_t address, void *into, size_t n);

/* Follows a valid plan with stack = 0 from copy->root, with at most THREADCOPY_READS calls of `read`. Sets end, nareas,
 * nbytes, area and bytes (space for max_bytes) of *copy, and leaves its other members unchanged. Lists of frames may be
 * cyclic or point anywhere. Allocates nothing, and waits only in `read`. Pure but for `read`. */
void threadcopy_follow(const struct threadplan *plan, threadcopy_read *read, void *to, size_t max_bytes,
		       struct threadcopy *copy);

/* View of a copy for lookups of bytes by address. `last` is the index of the area that the last lookup found; the
 * next lookup tries it first. */
struct threadcopy_view {
	const struct threadcopy *copy;
	uint32_t nareas, last;
};

struct threadcopy_view threadcopy_view_of(const struct threadcopy *copy);

/* Returns the n bytes at an address of the process, or NULL if no single area has all of them. Areas that are not
 * within the copy's nbytes are ignored. Pure. */
const char *threadcopy_bytes(struct threadcopy_view *view, uint64_t address, uint32_t n);

#endif
