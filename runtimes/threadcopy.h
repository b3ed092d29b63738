/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadcopy.h - the copy of an interpreter's frames that the synchronous reader makes at a sample.
 *
 * Frames of interpreters are on the heap, so they must be read before the sampled thread runs its next instruction.
 * The synchronous reader (record/syncread) does that with real-time priority, so it does as little as possible: it
 * follows a plan of a few numbers that the runtime's folder made before, and copies areas of memory. It neither knows
 * nor checks what it copies. The runtime's folder finds the frames in the copy later, in a process without
 * capabilities: threadcopy_areas makes the copy an image for memory_image.
 *
 * A runtime whose frames are on the native stack needs no read: its plan is `stack`, and the copy is the stack that the
 * sample itself has.
 *
 * All addresses in the copy are hostile. A plan is trusted: it holds offsets of the runtime's layout alone.
 */
#ifndef PJ_THREADCOPY_H
#define PJ_THREADCOPY_H

#include "common/base.h"

#define THREADPLAN_HOPS 3u            /* maximum number of pointers from the root to the innermost frame */
#define THREADCOPY_READS 64u          /* maximum number of reads for one sample */
#define THREADCOPY_OBJECTS 32u        /* number of these after which objects of frames are left out */
#define THREADCOPY_BYTES (512u << 10) /* maximum number of bytes that are copied for one sample */

/* The areas to copy. The root of a thread is the address of its state in the runtime (CPython: PyThreadState). */
struct threadplan {
	/* 1: the copy is that of the sample's record, with one area, the stack; all other members are 0 then. */
	uint32_t stack;
	uint32_t root_bytes; /* bytes to copy at the root: all that the hops and the runtime's folder need of it */
	/* Number of hops, and the offsets of the pointers that lead from the root to the innermost frame: the first is
	 * an offset in the root, each other one an offset in the memory that the pointer before leads to. */
	uint32_t nhops, hop[THREADPLAN_HOPS];
	/* Bytes before and after the start of a frame that one read copies. A frame that an area contains from its
	 * start to `frame_bytes` is not read again. */
	uint32_t before, after, frame_bytes;
	uint32_t next;   /* offset in a frame of the pointer to its caller; 0 there ends the list */
	uint64_t mask;   /* bits of that pointer that are the address */
	uint32_t frames; /* maximum number of frames to follow */
	/* Offset in a frame of the pointer to an object that is copied, too, and bytes of it to copy; 0 bytes: none. It
	 * is left out if it cannot be read, and once THREADCOPY_OBJECTS reads were made. */
	uint32_t object, object_bytes;
	/* 1: the object is an array (Perl: of contexts). It has elements of object_bytes, and the number of the last
	 * one is an int32_t at object_last in the frame: -1 if there is none. They are copied from the last one on, and
	 * count as frames: an object that cannot be read ends the copy. */
	uint32_t objects, object_last;
	/* For frames that are an array (Ruby): bytes > 0. The last hop starts from a structure of which `bytes` bytes
	 * are copied. It has the address of a stack at `start`, and its size in words of 8 bytes at `words`. Frames of
	 * frame_bytes follow each other from the innermost one to the end of the stack. `next` is then the offset in a
	 * frame of a pointer to its environment: the word there and link_before bytes before it are copied, with
	 * `before` and `after` bytes around it if it is not in the stack, and with what lies below it if it is. */
	struct {
		uint32_t bytes, start, words, link_before;
	} array;
};

struct threadcopy_area {
	uint64_t address;
	uint32_t n, offset; /* size in bytes, and the offset in threadcopy.bytes */
};

/* Result of following a plan. */
enum threadcopy_end {
	THREADCOPY_COMPLETE, /* the list of frames was followed to its end */
	THREADCOPY_NO_FRAME, /* the thread has no frame: a hop led to 0 */
	THREADCOPY_LIMIT,    /* a maximum was reached; the areas hold the innermost frames */
	THREADCOPY_FAILED    /* a read failed; the areas hold the frames before it */
};

struct threadcopy {
	uint32_t pid, tid;
	uint32_t off_cpu, zero;  /* off_cpu 1: copied while the thread was off the CPU; `time` is of its switch-out */
	uint64_t time;           /* time of the sample, in ns of CLOCK_MONOTONIC */
	uint64_t begun, read_by; /* times before the first and after the last read */
	uint64_t root;
	uint64_t ip, bp; /* plan.stack: registers of the sample; the area begins at the stack pointer */
	uint32_t end;    /* enum threadcopy_end */
	uint32_t nareas, nbytes;
	struct threadcopy_area area[THREADCOPY_READS]; /* in the order in which they were read; they may overlap */
	char bytes[];
};

/* Returns true if the plan is usable: `stack`, or 1 to THREADPLAN_HOPS hops, of which the first lies in the root's
 * bytes, and a pointer to the caller within frame_bytes; for an array, the last hop and the numbers of the stack within
 * its bytes. */
bool threadplan_valid(const struct threadplan *plan);

/* Reads up to n bytes of the process from `address`. Returns the number of bytes that were read before the first one
 * that is not there: 0 if the first is not. */
typedef size_t threadcopy_read(void *to, uint64_t address, void *into, size_t n);

/* Follows the plan from copy->root with at most THREADCOPY_READS calls of `read`, and fills end, nareas, nbytes, area
 * and bytes, which has space for max_bytes. Other members stay unchanged. The list of frames may be a cycle or lead
 * anywhere. Neither allocates nor waits, but for `read`. Pure over `read`. */
void threadcopy_follow(const struct threadplan *plan, threadcopy_read *read, void *to, size_t max_bytes,
		       struct threadcopy *copy);

/* A copy whose bytes are looked up by address. The area that had the last bytes is looked at first. */
struct threadcopy_view {
	const struct threadcopy *copy;
	uint32_t nareas, last;
};

/* Returns a view of a copy. */
struct threadcopy_view threadcopy_view_of(const struct threadcopy *copy);

/* Returns the n bytes at an address of the process, or NULL if no area has all of them. Areas that are not within the
 * copy's bytes have none. Pure. */
const char *threadcopy_bytes(struct threadcopy_view *view, uint64_t address, uint32_t n);

#endif
