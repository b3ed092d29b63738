/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javabudget.h - the JVMs of javacode.h, and the memory budgets of each tenant and of all.
 *
 * Three parts of one module: javacode.c looks up code, javabudget.c chooses the JVM whose cache is dropped when a
 * tenant, or all tenants, would exceed their budget, and javanaming.c reads the names of methods and code.
 */
#ifndef PJ_JAVABUDGET_H
#define PJ_JAVABUDGET_H

#include "record/processes/budgets.h"
#include "common/clocks.h"
#include "record/java/codenames.h"
#include "record/java/javacode.h"
#include "record/java/jvmreader.h"

/* Limits of memory in bytes: 10,000 code blobs with their code take 2 MB. Budgets of CPU time are in budgets.h. */
#define TENANT_BYTES_MAX (12 << 20)
#define BYTES_MAX (20 << 20) /* limit of all tenants together */

enum {
	JVM_COUNT_MAX = 256,
	BLOBS_MAX = 32768,
	MISSED = 64,
	LINE = JVMREADER_BYTES,
	LINES = 1024,
	WAYS = 4,
	HEAPS_USUAL = 240 << 20
};

/* Facts about a cached code blob. */
struct fact {
	struct blob blob;
	/* times in ns: used: last lookup; since: first check that found the blob (when it was read); seen: last check
	 * that found it */
	uint64_t used, since, seen;
	uint32_t name; /* id of the blob in the JVM's codenames_jvm; 0: it is not listed there */
};

/* A cache line: LINE bytes of code. Its number selects a set of WAYS lines in a table of LINES lines. */
struct line {
	uint64_t number; /* 1 + address / LINE; 0: the line is empty */
	char *byte;      /* LINE bytes from malloc; NULL: the line was never used */
};

struct javacode_jvm {
	struct javacode *owner;
	const struct process *process; /* process of the JVM; valid while its samples are walked */
	uint32_t pid;
	uint64_t start_ticks;
	struct tenant tenant;
	/* bytes of the JVM's code blobs and code lines, which are charged to its tenant */
	size_t bytes;
	struct jvmreader_jvm *reader; /* handle for requests; NULL: the JVM cannot be read now */
	struct codenames_jvm *names;  /* listed code blobs with their names; never NULL */
	/* version of the process's mappings at the last failed attempt to read the JVM */
	uint64_t version;
	uint64_t retry, pause;
	/* true: the JVM has ended; code blobs that were read before are still used */
	bool gone;
	/* true: compiled code keeps frame pointers (-XX:+PreserveFramePointer) */
	bool frame_pointers;
	/* true: a lookup had no answer in time since the last javacode_was_late */
	bool late;
	/* true: the JVM is not read because a memory budget was exceeded; the next javacode_begin frees its cache and
	 * clears this */
	bool dropped;
	uint64_t used;  /* time of the last javacode_of, in ns */
	uint64_t freed; /* time in ns at which an nmethod was last found to be freed; 0: none was */
	/* The nmethod of the frame that the walk found last. end is 0 if that frame is of other code. `method`: its
	 * Method*. */
	struct callee {
		uint64_t start, end, method;
	} callee;
	struct javaunwind_code code;
	struct code_blob *blob; /* cached code blobs, sorted by address and disjoint */
	struct fact *fact;      /* facts about each blob, by the same index */
	size_t n, cap;
	/* addresses at which no code was found; an address is not looked up again before time `until`; the index is a
	 * hash of it */
	struct missed {
		uint64_t address, until;
		enum codecache_where where;
	} missed[MISSED];
	struct line *line; /* cache of code bytes; NULL before its first use */
	unsigned turn;     /* counter that selects the line of a set to be replaced */
};

struct javacode {
	const struct processes *processes;
	struct tenants *tenants; /* table of tenants with memory budgets */
	struct budgets *budgets; /* budgets of the recorder, for CPU time; NULL: no limit */
	struct jvmreader *reader;
	struct codenames *names;
	struct javacode_jvm **jvm;
	size_t n;
	uint64_t now, seen;
	size_t turn;        /* counter that selects the JVM to be checked first */
	struct blob *space; /* buffer for checks of code blobs */
	size_t space_cap;
	const char *shown[8]; /* codes of the reasons that messages have reported already */
	struct javacode_counts counts;
};

/* Charges bytes to the tenant of jvm. While that exceeds the tenant's budget, drops the largest JVM of this tenant;
 * while it exceeds the budget of all, drops the largest JVM of the tenant with the most memory. Returns false if jvm
 * itself was dropped. */
bool javabudget_hold(struct javacode_jvm *jvm, size_t bytes);

/* Makes space for n code blobs in the cache of jvm. Returns false, and jvm has been dropped, if that exceeds a
 * budget. */
bool javabudget_make_space(struct javacode_jvm *jvm, size_t n);

/* Returns true if a request was answered. Otherwise counts it as late, or stops reading the JVM if it is lost. */
bool javacode_took(struct javacode_jvm *jvm, enum jvmreader_answer answer);

/* Stops reading the JVM for a minute, because a memory budget is exceeded. The next javacode_begin frees its cache. */
void javabudget_drop(struct javacode_jvm *jvm);

/* Returns the index of the JVM to drop if there are too many: of the tenant with the most JVMs, the one whose last use
 * is the oldest. */
size_t javabudget_find_dispensable(const struct javacode *javacode);

/* Returns the tenant of a process; its kind is TENANT_UNKNOWN if the process has ended. */
struct tenant javabudget_find_tenant(uint32_t pid);

#endif
