/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javacode.h - the code of JVMs that was met on stacks: which piece an address is in, and whether that is still so.
 *
 * What a JVM holds is never listed: a piece is asked for (jvmreader.h) when an address in it is met first, and is good
 * for a sample when its compile id, which HotSpot gives only once, was seen after the sample was taken. Pieces that
 * were met lately are seen together, before the samples since then are walked. Of a piece that was not known before the
 * sample, the code must call something where the sample returns to: memory of code is used again. Memory follows what
 * was met; what ended, or was not met for long, is let go.
 *
 * Time and memory are bounded for each tenant (tenants.h) and for all: where a tenant would use more, its JVMs are not
 * read for a while, or the largest of them is dropped. Its samples stay, walked by frame pointers; JVMs of others do
 * not notice.
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

/* Forks the helper that reads JVMs. */
struct javacode *javacode_new(void);
/* Before all that follows. CPU time is limited by TENANT_CPU_NS of budgets; NULL: not at all. */
void javacode_start(struct javacode *javacode, const struct processes *processes, struct budgets *budgets);
void javacode_free(struct javacode *javacode);

/* Samples up to horizon are to be walked; hurry: the recorder cannot wait for long. */
void javacode_begin(struct javacode *javacode, uint64_t horizon, uint64_t now, bool flush);

/* Lets go of what is not needed any more; every few seconds. */
void javacode_tick(struct javacode *javacode, uint64_t now);

/* NULL: process is none, or one that cannot be read (which was said). Valid until the next one, or javacode_begin or
 * _tick.
 */
struct javacode_jvm *javacode_of(struct javacode *javacode, const struct process *process);

enum javacode_answer {
	JAVACODE_NONE, /* no code of the JVM */
	JAVACODE_BLOB, /* *piece, for java_step */
	JAVACODE_LATE, /* it may be, but the JVM could not be asked in time */
	JAVACODE_GONE  /* there was some when the sample was taken, but now there is none, or other */
};
/* Where state is, of a sample of that time. */
enum javacode_answer javacode_find(struct javacode_jvm *jvm, const struct unwind_state *state, uint64_t time,
				   struct code_blob *blob);

/* Names of methods that were met, of all JVMs. */
void javacode_name(struct javacode *javacode, struct javanames *names);

/* For java_step. Its functions may ask the JVM. */
const struct javaunwind_code *javacode_code(const struct javacode_jvm *jvm);

/* Was something not known in time since the last call? */
bool javacode_was_late(struct javacode_jvm *jvm);

struct javacode_counts {
	size_t jvms, blobs;                   /* now */
	uint64_t opened, unread;              /* JVMs; unread: that cannot be read */
	uint64_t is_requested, checks, bytes; /* questions */
	uint64_t late;                        /* that were not answered in time */
	uint64_t over_time, over_memory;      /* questions not asked, and JVMs dropped, over the budget of a tenant */
	struct helper_counts helpers;
};
struct javacode_counts javacode_count(const struct javacode *javacode);

#endif
