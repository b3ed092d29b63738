/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javabudget.h - the JVMs of javacode.h, and how much memory each of them and its tenant may take.
 *
 * Two parts of one module: javacode.c finds code, javabudget.c decides which JVM gives way where a tenant, or all,
 * would take more than their budget.
 */
#ifndef PJ_JAVABUDGET_H
#define PJ_JAVABUDGET_H

#include "record/processes/budgets.h"
#include "common/clocks.h"
#include "record/java/javacode.h"
#include "record/java/jvmreader.h"

/* Budgets of memory: 10,000 code blobs with their code take 2 MB. Those of CPU time are in budgets.h. */
#define TENANT_BYTES_MAX (12 << 20)
#define BYTES_MAX (20 << 20) /* of all tenants */

enum {
	JVM_COUNT_MAX = 256,
	BLOBS_MAX = 32768,
	MISSED = 64,
	LINE = JVMREADER_BYTES,
	LINES = 1024,
	WAYS = 4,
	HEAPS_USUAL = 240 << 20
};

/* What is known of a piece beyond itself. */
struct fact {
	struct blob blob;
	uint64_t first_seen, since, seen; /* ns; the first and the last time that it was seen to be there */
};

/* Bytes of code. Which of a table of LINES it may be in follows from its number: one of WAYS. */
struct line {
	uint64_t number; /* address / LINE, + 1; 0: none */
	char *byte;      /* LINE of them; NULL: never used */
};

struct javacode_jvm {
	struct javacode *owner;
	const struct process *process; /* while it is walked */
	uint32_t pid;
	uint64_t start_ticks;
	struct tenant tenant;
	size_t bytes;                 /* of its pieces and its code, held by its tenant */
	struct jvmreader_jvm *reader; /* NULL: it cannot be read */
	uint64_t version;             /* of the mappings, when it could not */
	uint64_t retry, pause;
	bool gone; /* its memory is: pieces that were read before it ended stay in use */
	bool late;
	bool dropped; /* its memory is freed by the next javacode_begin */
	uint64_t first_seen;
	struct javaunwind_code code;
	struct code_blob *blob; /* by address, disjoint */
	struct fact *fact;      /* one each */
	size_t n, cap;
	struct missed {
		uint64_t address, until;
		enum codecache_where where;
	} missed[MISSED];
	struct line *line; /* NULL: none yet */
	unsigned turn;     /* which of the ways is next to go */
};

struct javacode {
	const struct processes *processes;
	struct tenants *tenants; /* memory */
	struct budgets *budgets; /* CPU time; NULL: no limit */
	struct jvmreader *reader;
	struct javacode_jvm **jvm;
	size_t n;
	uint64_t now, seen;
	size_t turn;        /* the JVM that is seen first next time */
	struct blob *space; /* to see pieces in */
	size_t folder_count;
	const char *shown[8]; /* codes of reasons */
	struct javacode_counts counts;
};

/* Takes memory from the budget of its tenant. Where it is exceeded, the largest JVM of the tenant that holds most is
 * dropped; false: this one was. */
bool javabudget_hold(struct javacode_jvm *jvm, size_t bytes);

/* False: there is no memory for so many pieces, and the JVM was dropped. */
bool javabudget_make_space(struct javacode_jvm *jvm, size_t n);

/* The JVM is not read for a while, and its memory is freed by the next javacode_begin. */
void javabudget_drop(struct javacode_jvm *jvm);

/* Of the tenant that has most of them, the one that was not met for longest. */
size_t javabudget_find_dispensable(const struct javacode *javacode);

struct tenant javabudget_find_tenant(uint32_t pid);

#endif
