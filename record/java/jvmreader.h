/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmreader.h - sends requests to the helper process that reads the memory of JVMs (jvmhelper.h), within time limits.
 *
 * Reading the memory of a JVM may block for as long as another process decides (userfaultfd, swap, a file system that
 * does not respond). So the recorder waits for a reply only until a deadline, and drops a later reply. If the helper is
 * blocked for HANG_NS, the recorder kills and replaces it, and gives up the JVM. The helper's CPU time for a JVM is
 * charged to the JVM's tenant. Ten times the helper's blocked time is charged, too, beyond an allowance for pages on
 * disk. No JVM of a tenant over its budget is read; other tenants are not affected. If a killed helper does not end (a
 * page of a FUSE file system), the recorder replaces it, and reads no JVM of the same tenant until the killed helper
 * has ended.
 */
#ifndef PJ_JVMREADER_H
#define PJ_JVMREADER_H

#include "common/process/backoff.h"
#include "record/java/jvmhelper.h"
#include "common/process/tenants.h"

struct jvmreader;

/* Starts the helper process. tenants: budgets TENANT_JVM_NS, TENANT_CPU_NS and TENANT_BLOCKED_NS; NULL: no limits until
 * jvmreader_budgets sets them. */
struct jvmreader *jvmreader_new(struct tenants *tenants);
void jvmreader_budgets(struct jvmreader *jvmreader, struct tenants *tenants);
/* Ends the helper and frees the reader. The caller must have closed all JVMs. */
void jvmreader_free(struct jvmreader *jvmreader);

/* Sets the total time in ns that all requests from now on may wait for replies. */
void jvmreader_deadline(struct jvmreader *jvmreader, uint64_t ns);

enum jvmreader_answer {
	JVMREADER_DONE,
	/* no reply came in time, the helper is busy, or the tenant is over its budget: the caller may try again */
	JVMREADER_LATE,
	/* the JVM has ended, cannot be read, or reading it hangs (jvmreader_why); the caller must close the handle */
	JVMREADER_LOST
};

struct jvmreader_jvm;

/* Returns a handle for the JVM of a process that started at `start` (clock ticks since boot; 0: unknown); NULL if
 * JVM_SLOTS handles are open. The first request opens the JVM's memory. */
struct jvmreader_jvm *jvmreader_open(struct jvmreader *jvmreader, uint32_t pid, uint64_t start, struct tenant tenant);
void jvmreader_close(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm);

/* Returns the reason for JVMREADER_LOST. The codes "hangs" and "crashed" are failures of the helper. */
struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm);

/* Returns true if the reason of the last JVMREADER_LATE was the tenant: it is over its budget, or a killed helper that
 * read one of its JVMs has not ended. Returns false if no reply came in time, or the helper was busy. */
bool jvmreader_over_budget(const struct jvmreader_jvm *jvm);

/* Result of jvmreader_find: the block of code around an address, as blobframes_at finds it, and bytes of code. bytes:
 * the JVMREADER_BYTES bytes that contain the address, aligned to their size; NULL if they cannot be read. Valid until
 * the next request. */
struct jvmreader_found {
	enum codecache_where where;
	struct blob blob;
	struct javaunwind_code code;
	const char *bytes;
};
enum jvmreader_answer jvmreader_find(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				     struct jvmreader_found *found);

/* Checks *n nmethods in one or more requests. If the result is JVMREADER_DONE, removes the changed nmethods from the
 * array `blob`, and sets *n to the number of unchanged ones. */
enum jvmreader_answer jvmreader_check(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, struct blob *blob,
				      size_t *n);

/* Reads the JVMREADER_BYTES bytes of code that contain an address, aligned to their size. Sets *bytes to NULL if they
 * cannot be read. */
enum { JVMREADER_BYTES = JVM_BYTES_N };
enum jvmreader_answer jvmreader_bytes(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				      const char **bytes);

/* Returns true if the helper is idle and the deadline has not passed. */
bool jvmreader_ready(struct jvmreader *jvmreader);

/* Reads the names of n methods, spelled as in Compiler.perfmap, and calls fn for each name that can be read. An address
 * with PJ_CLASS_BIT (pjsection.h) is that of a class; methods_spell_class spells its name. */
enum jvmreader_answer jvmreader_names(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const uint64_t *method,
				      size_t n, void (*fn)(void *to, uint64_t method, struct str name), void *to);

/* Reads ranges, methods and inlined calls of n blobs, at most JVM_DESCRIBE_MAX, and calls fn for each range that can be
 * read: code->index is the index of its blob, `rest` has code->bytes bytes. Sets *done to the number of processed
 * blobs, at least one if the result is JVMREADER_DONE. All data come from the JVM and are untrusted. */
typedef void jvmreader_code(void *to, const struct jvm_code *code, const uint64_t *method, struct str rest);
enum jvmreader_answer jvmreader_describe(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm,
					 const struct blob *blob, size_t n, size_t *done, jvmreader_code *fn, void *to);

/* Returns the counts of helper failures since jvmreader_new. */
struct helper_counts jvmreader_count(const struct jvmreader *jvmreader);

#endif
