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

/* Data about a cached code blob. */
struct fact {
	struct blob blob;
	/* Times in ns: used, of the last lookup; since and seen, of the first and last check that found it. */
	uint64_t used, since, seen;
	uint32_t name; /* id in the JVM's codenames_jvm; 0: not listed */
};

/* A cache line of code bytes. The number selects a set of WAYS lines in a table of LINES. */
struct line {
	uint64_t number; /* address / LINE, + 1; 0: none */
	char *byte;      /* LINE bytes; NULL: never used */
};

struct javacode_jvm {
	struct javacode *owner;
	const struct process *process; /* valid while its samples are walked */
	uint32_t pid;
	uint64_t start_ticks;
	struct tenant tenant;
	size_t bytes;                 /* of its code blobs and code lines, charged to its tenant */
	struct jvmreader_jvm *reader; /* NULL: the JVM cannot be read */
	struct codenames_jvm *names;  /* never NULL */
	uint64_t version;             /* of the mappings at the failed attempt to read it */
	uint64_t retry, pause;
	/* The JVM has ended; code blobs read before stay in use. */
	bool gone;
	/* A lookup had no answer in time since javacode_was_late. */
	bool late;
	/* Over a budget: the next javacode_begin frees its cache. */
	bool dropped;
	uint64_t used; /* time of the last javacode_of, ns */
	struct javaunwind_code code;
	struct code_blob *blob; /* by address, disjoint */
	struct fact *fact;      /* one for each blob */
	size_t n, cap;
	/* Addresses where no code was found, by hash, each until a time. */
	struct missed {
		uint64_t address, until;
		enum codecache_where where;
	} missed[MISSED];
	struct line *line; /* NULL before the first use */
	unsigned turn;     /* selects the way to replace */
};

struct javacode {
	const struct processes *processes;
	struct tenants *tenants; /* budgets of memory */
	struct budgets *budgets; /* budgets of CPU time; NULL: no limit */
	struct jvmreader *reader;
	struct codenames *names;
	struct javacode_jvm **jvm;
	size_t n;
	uint64_t now, seen;
	size_t turn;        /* the JVM that is checked first next time */
	struct blob *space; /* buffer for a check of code blobs */
	size_t space_cap;
	const char *shown[8]; /* codes of reasons that a message has reported */
	struct javacode_counts counts;
};

/* Charges memory to the tenant of jvm. If a budget is exceeded, drops the largest JVM of the tenant with the most
 * memory; returns false if that was jvm. */
bool javabudget_hold(struct javacode_jvm *jvm, size_t bytes);

/* Makes space for n code blobs. Returns false if that exceeds the budget; the JVM is dropped then. */
bool javabudget_make_space(struct javacode_jvm *jvm, size_t n);

/* Returns true if the request was answered; otherwise counts it as late, or gives the JVM up. */
bool javacode_took(struct javacode_jvm *jvm, enum jvmreader_answer answer);

/* Stops reading the JVM for a while; the next javacode_begin frees its cache. */
void javabudget_drop(struct javacode_jvm *jvm);

/* Returns the index of the least recently used JVM of the tenant with the most JVMs. */
size_t javabudget_find_dispensable(const struct javacode *javacode);

/* Returns the tenant of a process. */
struct tenant javabudget_find_tenant(uint32_t pid);

#endif
