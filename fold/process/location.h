/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h - a location: the code or name that one frame of a stack refers to. Its kind selects the source of its
 * name.
 *
 * Most locations are addresses in a DSO. Some frames need no lookup in a DSO: a code blob of a jitdump carries its
 * name, and pjrecord's list has the names of interpreted functions. Three kinds are not code: the name of a thread as a
 * frame, the name of a group of JVM threads as a frame, and the end of a stack, which is not a frame.
 *
 * Make locations only with the location_in_dso and location_of functions below: they set unused members to 0, so that
 * equal locations have equal members.
 */
#ifndef PJ_LOCATION_H
#define PJ_LOCATION_H

#include "common/base.h"

struct jit_code;

enum location_kind {
	/* An address in a DSO. The DSO's kind (enum dso_kind) defines if the address is a file offset or a sampled
	 * address. */
	LOCATION_IN_DSO,
	/* A code blob of a jitdump, a timeline, a window or a packed recording. */
	LOCATION_CODE,
	/* A function or class in pjrecord's list (interpreted.h): mostly an interpreted function. */
	LOCATION_METHOD,
	/* No code: the comm of a thread as a frame, for --root=both. */
	LOCATION_THREAD,
	/* No code: the frame of a group of threads that HotSpot starts for itself, like GC (jvmthreads.h). */
	LOCATION_GROUP,
	/* No code and no frame: a mark beyond the outermost frame, with the reason why the stack ends there. */
	LOCATION_STACK_END
};

/* Reason why a stack ends. A stack without a LOCATION_STACK_END, or with STACK_EVENT_LIMIT or STACK_KERNEL_LIMIT, is
 * complete if its outermost frame is a root frame. */
enum stack_end {
	/* The caller's frame lies beyond the end of the stack copy. */
	STACK_COPY_CUT,
	/* The callchain has as many addresses as its event allows (perf_event_attr.sample_max_stack), or more. */
	STACK_EVENT_LIMIT,
	/* The callchain has at least as many addresses as the kernel's limit. If the recording contains the limit,
	 * location.addresses is that limit. Otherwise, the kernel's default limit is used, and location.addresses is
	 * the number of addresses of this callchain; the largest such number in the recording is taken as the limit. */
	STACK_KERNEL_LIMIT,
	/* pjrecord unwound the stack and marked it as truncated; pjfold shows the frame [truncated]. */
	STACK_TRUNCATED,
	/* The unwinder, pjrecord's or pjfold's own for a stack copy, reached a root frame. */
	STACK_COMPLETE,
	/* The unwinder found no caller of the outermost frame, for one of the reasons below or another one. */
	STACK_BROKEN,
	/* The unwinder reached a root frame by frame pointers in code that may not keep them: callers may be missing.
	 */
	STACK_UNKNOWN,
	/* Broken: the code of the outermost frame switches stacks, so its caller is on a stack that was not copied. */
	STACK_OTHER_STACK,
	/* Broken: pjrecord could not copy the stack, because the process was in exec or exit. */
	STACK_NOT_COPIED
};

struct location {
	enum location_kind kind;
	union {
		uint32_t dso;       /* LOCATION_IN_DSO, LOCATION_CODE: index in addrspace.dso; 0: no mapping */
		uint32_t pid;       /* LOCATION_METHOD: process id of the thread */
		uint32_t comm;      /* LOCATION_THREAD: id of the thread's name in addrspace.comms */
		uint32_t group;     /* LOCATION_GROUP: a value of enum jvmthreads_group */
		enum stack_end end; /* LOCATION_STACK_END: reason why the stack ends */
	};
	union {
		uint64_t address;   /* LOCATION_IN_DSO: address, in the form that enum dso_kind defines for the DSO */
		uint64_t code;      /* LOCATION_CODE: pointer to the struct jit_code, see location_code_of */
		uint64_t method;    /* LOCATION_METHOD: address in the process, such as HotSpot's Method* */
		uint64_t addresses; /* LOCATION_STACK_END: as STACK_KERNEL_LIMIT defines it; 0 for every other `end` */
	};
};

static inline struct location location_in_dso(uint32_t dso, uint64_t address)
{
	return (struct location){ .kind = LOCATION_IN_DSO, .dso = dso, .address = address };
}

/* Returns the location of a code blob. dso is the index of the DSO_JIT that contains the code. The owner of *code (a
 * jitdump, a timeline, or the reader of a recording) must outlive the location. */
static inline struct location location_of_code(uint32_t dso, const struct jit_code *code)
{
	return (struct location){ .kind = LOCATION_CODE, .dso = dso, .code = (uint64_t)(uintptr_t)code };
}

static inline struct location location_of_method(uint32_t pid, uint64_t method)
{
	return (struct location){ .kind = LOCATION_METHOD, .pid = pid, .method = method };
}

static inline struct location location_of_thread(uint32_t comm)
{
	return (struct location){ .kind = LOCATION_THREAD, .comm = comm };
}

static inline struct location location_of_group(uint32_t group)
{
	return (struct location){ .kind = LOCATION_GROUP, .group = group };
}

/* Returns the mark for the end of a stack. addresses: as STACK_KERNEL_LIMIT defines it; 0 for every other `end`. */
static inline struct location location_of_end(enum stack_end end, uint64_t addresses)
{
	return (struct location){ .kind = LOCATION_STACK_END, .end = end, .addresses = addresses };
}

/* Returns the code blob of a LOCATION_CODE. */
static inline const struct jit_code *location_code_of(const struct location *location)
{
	return (const struct jit_code *)(uintptr_t)location->code;
}

static inline bool location_equal(const struct location *left, const struct location *right)
{
	return left->address == right->address && left->dso == right->dso && left->kind == right->kind;
}

/* Returns true if the location is code, not the name of a thread or group, nor the end of a stack; otherwise false. */
static inline bool location_is_code(const struct location *location)
{
	return location->kind != LOCATION_THREAD && location->kind != LOCATION_GROUP &&
	       location->kind != LOCATION_STACK_END;
}

#endif
