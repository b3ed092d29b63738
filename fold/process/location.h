/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h - a location: the place that one frame of a stack refers to. Its kind selects the source of its name.
 *
 * Most locations are addresses in a DSO. Some frames need no lookup in a DSO: a code blob of a jitdump has its name
 * with it, and an interpreted method is in the recorder's list. Two kinds are no code at all: a thread's name as a
 * frame, and the end of a stack, which is no frame either.
 *
 * Locations are made by the functions below, so that equal ones have equal members.
 */
#ifndef PJ_LOCATION_H
#define PJ_LOCATION_H

#include "common/base.h"

struct jit_code;

enum location_kind {
	/* An address in a DSO: as the DSO's kind defines it (enum dso_kind). */
	LOCATION_IN_DSO,
	/* A code blob of a jitdump or timeline. */
	LOCATION_CODE,
	/* An interpreted method of a JVM. */
	LOCATION_METHOD,
	/* No code: a frame of --root=both, the comm of a thread. */
	LOCATION_THREAD,
	/* No code: the frame of a group of a JVM's own threads (jvmthreads.h). */
	LOCATION_GROUP,
	/* No code and no frame: how the stack ends, outside of its outermost frame. */
	LOCATION_STACK_END
};

/* The end of a stack. Of a stack without such a location, and of STACK_EVENT_LIMIT and STACK_KERNEL_LIMIT, the
 * outermost frame decides: if it is a root frame, the stack is complete. */
enum stack_end {
	/* The stack copy ends. */
	STACK_COPY_CUT,
	/* The callchain has as many addresses as the event allows. */
	STACK_EVENT_LIMIT,
	/* The callchain may have as many addresses as the kernel allows: location.addresses is the limit if no stack of
	 * the recording has more. */
	STACK_KERNEL_LIMIT,
	/* The recorder, which unwound the stack, marked it as truncated. It is shown as the frame [truncated]. */
	STACK_TRUNCATED,
	/* The recorder, or the walk of a stack copy, found that the stack is complete, ends at a frame without a
	 * caller, or reaches a root frame by frame pointers that may be none. */
	STACK_COMPLETE,
	STACK_BROKEN,
	STACK_UNKNOWN
};

struct location {
	enum location_kind kind;
	union {
		uint32_t dso;       /* LOCATION_IN_DSO, LOCATION_CODE: index in addrspace.dso; 0: no mapping */
		uint32_t pid;       /* LOCATION_METHOD */
		uint32_t comm;      /* LOCATION_THREAD: id in addrspace.comms */
		uint32_t group;     /* LOCATION_GROUP: enum jvmthreads_group */
		enum stack_end end; /* LOCATION_STACK_END */
	};
	union {
		uint64_t address;   /* LOCATION_IN_DSO */
		uint64_t code;      /* LOCATION_CODE: the pointer, see location_code_of */
		uint64_t method;    /* LOCATION_METHOD: HotSpot's Method* in the JVM */
		uint64_t addresses; /* STACK_KERNEL_LIMIT */
	};
};

static inline struct location location_in_dso(uint32_t dso, uint64_t address)
{
	return (struct location){ .kind = LOCATION_IN_DSO, .dso = dso, .address = address };
}

/* dso is the DSO_JIT that contains the code. The jitdump or timeline that owns *code must outlive the location. */
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

/* addresses is 0 but for STACK_KERNEL_LIMIT. */
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

/* Returns true if the location is code. */
static inline bool location_is_code(const struct location *location)
{
	return location->kind != LOCATION_THREAD && location->kind != LOCATION_GROUP &&
	       location->kind != LOCATION_STACK_END;
}

#endif
