/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javacode.h - a cache of the code blobs of JVMs that appear on stacks, and checks that they are still valid.
 *
 * The recorder never lists the code of a JVM. It reads a code blob (jvmreader.h) when an address in it first appears
 * on a stack. A cached nmethod is valid for a sample if its compile id, which HotSpot never reuses, was seen after
 * the sample; recently used ones are checked together before the samples since then are walked.
 *
 * HotSpot reuses code memory. So a blob that was first read after the sample counts only if that was at most 1 s
 * later, and if the return address follows a call: a call to the callee on the stack, if cached code was freed
 * meanwhile. Blobs and JVMs that are not used for 60 s are dropped.
 *
 * Time and memory are bounded for each tenant (tenants.h) and for all: beyond its budget the JVMs of a tenant are
 * not read for a while, or the largest is dropped. Its samples stay, walked by frame pointers; JVMs of other tenants
 * are not affected.
 *
 *	javacode_begin(javacode, horizon, now, false);
 *	jvm = javacode_of(javacode, process);
 *	if (jvm && javacode_find(jvm, &state, time, &blob) == JAVACODE_BLOB)
 *		end = javaunwind_step(&state, javacode_code(jvm), &blob, &frame);
 */
#ifndef PJ_JAVACODE_H
#define PJ_JAVACODE_H

#include "common/process/backoff.h"
#include "record/processes/budgets.h"
#include "runtimes/hotspot/javaunwind.h"
#include "record/java/javanames.h"
#include "record/processes/processes.h"

struct javacode;
struct javacode_jvm;

/* Starts the helper process that reads JVMs. Returns the empty cache. */
struct javacode *javacode_new(void);

/* Call it before all other functions. `budgets` limits the CPU time (TENANT_CPU_NS); NULL: no limit. */
void javacode_start(struct javacode *javacode, const struct processes *processes, struct budgets *budgets);
void javacode_free(struct javacode *javacode);

/* Call it before samples up to time horizon (ns) are walked. Checks recently used code, and sets the time that all
 * requests may wait until the next call. flush: the recorder ends a window, and may wait less. */
void javacode_begin(struct javacode *javacode, uint64_t horizon, uint64_t now, bool flush);

/* Drops unused code and JVMs that have ended. Call it every few seconds. */
void javacode_tick(struct javacode *javacode, uint64_t now);

/* Returns the JVM of a process. Returns NULL if the process is no JVM, or if the JVM cannot be read; a message reports
 * the reason once. The pointer is valid until the next javacode_of, javacode_begin or javacode_tick. */
struct javacode_jvm *javacode_of(struct javacode *javacode, const struct process *process);

enum javacode_answer {
	JAVACODE_NONE, /* the address is in no code of the JVM */
	JAVACODE_BLOB, /* *blob is the code blob at the address, for javaunwind_step */
	JAVACODE_LATE, /* the JVM could not be read in time: unknown if the address is in its code */
	JAVACODE_GONE  /* the code that was at the address at the time of the sample has been freed or replaced */
};
/* Looks up the code blob of a frame of a sample. time is that of the sample, in ns. */
enum javacode_answer javacode_find(struct javacode_jvm *jvm, const struct unwind_state *state, uint64_t time,
				   struct code_blob *blob);

/* Reads the names of the methods that `names` wants, and descriptions of the listed code, of all JVMs, as far as time
 * is left. */
void javacode_name(struct javacode *javacode, struct javanames *names);

/* Appends the items of the window about code (PJ_ITEM_CODE and names), in the way of codenames_put. */
void javacode_put_names(struct javacode *javacode, bool stream, struct text *text);

/* Returns the JVM's code for javaunwind_step, whose calls may read the JVM. */
const struct javaunwind_code *javacode_code(const struct javacode_jvm *jvm);

/* Notes that compiled code of this JVM keeps frame pointers; returns true if that was noted. */
void javacode_note_frame_pointers(struct javacode_jvm *jvm);
bool javacode_keeps_frame_pointers(const struct javacode_jvm *jvm);

/* Returns true if any request for this JVM had no answer in time since the last call. */
bool javacode_was_late(struct javacode_jvm *jvm);

struct javacode_counts {
	size_t jvms, blobs; /* number of JVMs and code blobs that are cached now */
	/* opened: number of attempts to read a JVM; unread: number of those that failed */
	uint64_t opened, unread;
	/* number of requests: lookups of addresses, checks of blobs, readings of code bytes */
	uint64_t lookups, checks, bytes;
	uint64_t late; /* number of requests without an answer in time */
	/* over a tenant's budget: number of requests that were not made, and of JVMs that were dropped */
	uint64_t over_time, over_memory;
	struct helper_counts helpers;
};
/* Returns the counts since javacode_new; jvms and blobs are current numbers. */
struct javacode_counts javacode_count(const struct javacode *javacode);

#endif
