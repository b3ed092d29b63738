/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javacode.h - a cache of the code blobs of JVMs that appear on stacks, and checks that they are still valid.
 *
 * The recorder never lists the code of a JVM. It reads a code blob (jvmreader.h) when an address in it first appears
 * on a stack. A cached nmethod is valid for a sample if its compile id, which HotSpot never reuses, was seen after
 * the sample; recently used ones are checked together before the samples since then are walked. HotSpot reuses code
 * memory: so if a blob was first read after the sample, the code at the return address must follow a call. Blobs and
 * JVMs that are not used for 60 s are dropped.
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

/* Starts the helper process that reads JVMs. */
struct javacode *javacode_new(void);

/* To be called before all other functions. TENANT_CPU_NS of budgets limits CPU time; NULL: no limit. */
void javacode_start(struct javacode *javacode, const struct processes *processes, struct budgets *budgets);
void javacode_free(struct javacode *javacode);

/* To be called before samples up to horizon (ns) are walked: checks recently used code. flush: the recorder ends a
 * window and may wait less. */
void javacode_begin(struct javacode *javacode, uint64_t horizon, uint64_t now, bool flush);

/* Drops unused code and ended JVMs; to be called every few seconds. */
void javacode_tick(struct javacode *javacode, uint64_t now);

/* Returns the JVM of a process; NULL if it is no JVM, or cannot be read (a message reports the reason once). Valid
 * until the next javacode_of, javacode_begin or javacode_tick. */
struct javacode_jvm *javacode_of(struct javacode *javacode, const struct process *process);

enum javacode_answer {
	JAVACODE_NONE, /* the address is in no code of the JVM */
	JAVACODE_BLOB, /* *blob is its code blob, for javaunwind_step */
	JAVACODE_LATE, /* the JVM could not be read in time */
	JAVACODE_GONE  /* the code of the time of the sample has been freed or replaced */
};
/* Looks up the code blob of a frame of a sample; time in ns. */
enum javacode_answer javacode_find(struct javacode_jvm *jvm, const struct unwind_state *state, uint64_t time,
				   struct code_blob *blob);

/* Reads the names of methods that `names` wants, and of the code that frames are in, of all JVMs. */
void javacode_name(struct javacode *javacode, struct javanames *names);

/* Appends the items of the window about code (PJ_ITEM_CODE), as codenames_put. */
void javacode_put_names(struct javacode *javacode, bool stream, struct text *text);

/* Returns the view for javaunwind_step. Its callbacks may read the JVM. */
const struct javaunwind_code *javacode_code(const struct javacode_jvm *jvm);

/* Returns true if a lookup had no answer in time since the last call. */
bool javacode_was_late(struct javacode_jvm *jvm);

struct javacode_counts {
	size_t jvms, blobs;              /* cached now */
	uint64_t opened, unread;         /* JVMs that were opened; that cannot be read */
	uint64_t lookups, checks, bytes; /* requests: lookups of addresses, checks of blobs, code bytes */
	uint64_t late;                   /* requests without an answer in time */
	uint64_t over_time, over_memory; /* requests omitted, and JVMs dropped, over the budget of a tenant */
	struct helper_counts helpers;
};
/* Returns the counts since javacode_new. */
struct javacode_counts javacode_count(const struct javacode *javacode);

#endif
