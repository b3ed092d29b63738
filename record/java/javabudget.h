/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javabudget.h - data of javacode.h about each JVM, and the memory budgets of each tenant and of all.
 *
 * javacode is one module in four parts: javacode.c looks up code, blobcache.c caches the code that was found,
 * javabudget.c chooses the JVM whose cache is dropped if a tenant, or all tenants together, would exceed the budget,
 * and javanaming.c reads the names of methods and code.
 */
#ifndef PJ_JAVABUDGET_H
#define PJ_JAVABUDGET_H

#include "record/processes/budgets.h"
#include "common/clocks.h"
#include "record/java/codenames.h"
#include "record/java/javacode.h"
#include "record/java/jvmreader.h"

/* Limits of memory in bytes: TENANT_BYTES_MAX for one tenant, BYTES_MAX for all. 10,000 code blobs with their code take
 * 2 MB. budgets.h has the budgets of CPU time. */
#define TENANT_BYTES_MAX (12 << 20)
#define BYTES_MAX (20 << 20) /* maximum memory of all tenants together, in bytes */

enum {
	JVM_COUNT_MAX = 256,
	BLOBS_MAX = 32768,
	MISSED = 64,
	LINE = JVMREADER_BYTES,
	LINES = 1024,
	WAYS = 4,
	HEAPS_USUAL = 240 << 20
};

/* Facts about a cached code blob, besides the struct code_blob that the unwinder needs. */
struct fact {
	struct blob blob;
	/* used: time of the last lookup; since: time of the first check, when the blob was read; seen: time of the last
	 * check that found the blob unchanged; in ns */
	uint64_t used, since, seen;
	uint32_t name; /* id of the blob in jvm->names; 0: it has no entry there */
};

/* A cache line: LINE bytes of code. The line's number selects one of LINES / WAYS sets; the line may be in any of the
 * WAYS slots of its set. */
struct line {
	uint64_t number; /* 1 + address / LINE of the cached bytes; 0: the line is empty */
	char *byte;      /* LINE bytes from malloc; NULL: the line was never used */
};

struct javacode_jvm {
	struct javacode *owner;
	const struct process *process; /* process of the JVM; valid while samples of the process are unwound */
	uint32_t pid;
	uint64_t start_ticks;
	struct tenant tenant;
	uint64_t serial; /* serial of struct javanames_jvm */
	bool starting;   /* true: the last attempt to read the JVM failed because the JVM was starting */
	/* bytes of the JVM's code blobs and code lines, which are charged to its tenant */
	size_t bytes;
	struct jvmreader_jvm *reader; /* handle for requests; NULL: the JVM cannot be read now */
	struct codenames_jvm *names;  /* descriptions of the JVM's code blobs; never NULL */
	/* version of the process's mappings at the last failed attempt to read the JVM */
	uint64_t version;
	uint64_t retry, pause;
	/* true: the JVM has ended; its cached code blobs are still used for samples from before the end */
	bool gone;
	/* true: compiled code keeps frame pointers (-XX:+PreserveFramePointer) */
	bool frame_pointers;
	/* true: since the last javacode_was_late, a request for this JVM had no reply in time */
	bool late;
	/* true: the JVM is not read because a memory budget was exceeded; the next javacode_begin frees its cache and
	 * sets this to false */
	bool dropped;
	uint64_t used;  /* time in ns of the last javacode_of for this JVM */
	uint64_t freed; /* time in ns at which a check last found that an nmethod was freed; 0: never */
	/* Nmethod and Method* of the last frame that the stack walk found. end: end address of the nmethod; 0 if that
	 * frame was in other code. */
	struct callee {
		uint64_t start, end, method;
	} callee;
	struct javaunwind_code code;
	struct code_blob *blob; /* cached code blobs, sorted by address and disjoint */
	struct fact *fact;      /* facts about each blob, by the same index */
	size_t n, cap;
	/* Addresses at which no code was found, hashed by address. An address is not looked up again before time
	 * `until` (ns). */
	struct missed {
		uint64_t address, until;
		enum codecache_where where;
	} missed[MISSED];
	struct line *line; /* cached code bytes, LINES lines; NULL before the first use */
	unsigned turn;     /* counter that selects the next line of a set to replace */
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
	size_t turn;        /* counter that selects the JVM whose code is checked first */
	struct blob *space; /* buffer for checks of code blobs */
	size_t space_cap;
	const char *shown[8]; /* codes of reasons (hotspot_reason.code) for which a message was printed already */
	struct javacode_counts counts;
};

/* Charges memory to the tenant of jvm. If that exceeds the tenant's budget, drops the largest JVM of the tenant; if it
 * exceeds the budget of all, drops the largest JVM of the tenant with the most memory; repeats that until the memory
 * fits. Returns false if jvm itself was dropped. */
bool javabudget_hold(struct javacode_jvm *jvm, size_t bytes);

/* Makes space for n code blobs in the cache of jvm and returns true; may drop other JVMs (javabudget_hold). If the
 * budgets do not suffice, or memory is not available, drops jvm and returns false. */
bool javabudget_make_space(struct javacode_jvm *jvm, size_t n);

/* Evaluates the result of a request. Returns true if it is JVMREADER_DONE. If it is JVMREADER_LOST, stops reading the
 * JVM; otherwise counts the request as late. Returns false in both cases. */
bool javacode_took(struct javacode_jvm *jvm, enum jvmreader_answer answer);

/* Stops reading the JVM for a minute, because it exceeds a memory budget. The next javacode_begin frees its cache. */
void javabudget_drop(struct javacode_jvm *jvm);

/* Returns the index of the JVM to drop if there are too many: the least recently used JVM of the tenant with the most
 * JVMs. */
size_t javabudget_find_dispensable(const struct javacode *javacode);

/* Returns the tenant of a process; its kind is TENANT_UNKNOWN if the process has ended. */
struct tenant javabudget_find_tenant(uint32_t pid);

#endif
