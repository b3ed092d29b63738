/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javacode.h - a cache of the code blobs of JVMs that appear on stacks, with checks that the cached code has not
 * changed.
 *
 * The recorder never lists the code of a JVM. It reads a code blob (jvmreader.h) when an address in the blob first
 * appears on a stack. A cached nmethod is valid for a sample if its compile id, which HotSpot never reuses, was found
 * unchanged after the sample. Recently used nmethods are checked together, before the samples since the last check are
 * walked.
 *
 * HotSpot reuses code memory. So a blob that was first read after the sample is used only if it was read at most 1 s
 * after the sample, and if the return address follows a call. If cached code was freed meanwhile, the call must lead to
 * the callee on the stack. Blobs and JVMs that are not used for 60 s are dropped.
 *
 * Time and memory are limited for each tenant (tenants.h) and for all. If a tenant exceeds its budget of time, its JVMs
 * are not read for a while; if it exceeds its budget of memory, its largest JVM is dropped. The samples of such a JVM
 * remain; their stacks are unwound by frame pointers. JVMs of other tenants are not affected.
 *
 * 	javacode_begin(javacode, horizon, now, false);
 * 	jvm = javacode_of(javacode, process);
 * 	if (jvm && javacode_find(jvm, &state, time, &blob) == JAVACODE_BLOB)
 * 		end = javaunwind_step(&state, javacode_code(jvm), &blob, &frame);
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

/* Starts the helper process that reads JVMs. Returns an empty cache. */
struct javacode *javacode_new(void);

/* Sets the processes and budgets; to be called once before all functions below. `budgets` limits the CPU time
 * (TENANT_CPU_NS); NULL: no limit. */
void javacode_start(struct javacode *javacode, const struct processes *processes, struct budgets *budgets);
void javacode_free(struct javacode *javacode);

/* Checks recently used code, and sets the total time that requests may wait until the next call. To be called before
 * samples up to time `horizon` (ns) are unwound. flush: true: the recorder ends a window, and requests may wait
 * less. */
void javacode_begin(struct javacode *javacode, uint64_t horizon, uint64_t now, bool flush);

/* Drops unused code, and JVMs that have ended. To be called every few seconds. now: time in ns. */
void javacode_tick(struct javacode *javacode, uint64_t now);

/* Returns the JVM of a process, also for a short time after the JVM has ended; NULL if the process is not a JVM, or if
 * the JVM cannot be read now. If a request finds that a JVM cannot be read, a message is printed, once for each reason.
 * The pointer is valid until the next javacode_of, javacode_begin or javacode_tick. */
struct javacode_jvm *javacode_of(struct javacode *javacode, const struct process *process);

/* Returns the JVM for javanames_note. Its serial changes each time the JVM is opened for reading, as the process may
 * have called exec since the last reading. Exception: it does not change if the JVM was only starting at the last
 * attempt. */
struct javanames_jvm javacode_owner(const struct javacode_jvm *jvm);

enum javacode_answer {
	JAVACODE_NONE, /* no code of the JVM is at the address */
	JAVACODE_BLOB, /* *blob is the code blob at the address, for javaunwind_step */
	JAVACODE_LATE, /* the JVM could not be read in time, so it is unknown if its code is at the address */
	JAVACODE_GONE  /* the code that was at the address when the sample was taken has been freed or replaced */
};
/* Looks up the code blob of a frame. state: registers of the frame; time: time of its sample in ns. */
enum javacode_answer javacode_find(struct javacode_jvm *jvm, const struct unwind_state *state, uint64_t time,
				   struct code_blob *blob);

/* For all JVMs, until the time for requests is used up: reads the names of methods that `names` needs, and the
 * descriptions of code blobs that have none. */
void javacode_name(struct javacode *javacode, struct javanames *names);

/* Appends the window's items about code (PJ_ITEM_CODE and PJ_ITEM_CODE_NAMES) to text. stream: as in codenames_put. */
void javacode_put_names(struct javacode *javacode, bool stream, struct text *text);

/* Returns the JVM's code for javaunwind_step. Calls of its functions may read the JVM. */
const struct javaunwind_code *javacode_code(const struct javacode_jvm *jvm);

/* Records that compiled code of this JVM keeps frame pointers. */
void javacode_note_frame_pointers(struct javacode_jvm *jvm);
bool javacode_keeps_frame_pointers(const struct javacode_jvm *jvm);

/* Returns true if a request for this JVM had no reply in time since the last call of this function. */
bool javacode_was_late(struct javacode_jvm *jvm);

struct javacode_counts {
	size_t jvms, blobs; /* numbers of JVMs and code blobs in the cache */
	/* opened: number of attempts to read a JVM; unread: number of failures, except of JVMs that had ended or were
	 * starting */
	uint64_t opened, unread;
	/* numbers of requests by kind: lookups of addresses, checks of blobs, reads of code bytes */
	uint64_t lookups, checks, bytes;
	uint64_t late; /* number of requests without a reply in time */
	/* over_time: number of requests not made because a tenant was over its budget of time; over_memory: number of
	 * JVMs dropped because a budget of memory was exceeded */
	uint64_t over_time, over_memory;
	/* number of nmethods without their inlined calls, because these exceed the limits of one request */
	uint64_t limited;
	struct helper_counts helpers;
};
/* Returns the counts since javacode_new; jvms and blobs are the numbers at present. */
struct javacode_counts javacode_count(const struct javacode *javacode);

#endif
