/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmreader.h - sends requests to the helper process that reads the memory of JVMs (jvmhelper.h), within time limits.
 *
 * A read of such memory may block as long as another process decides (userfaultfd, swap, a file system that does not
 * respond), so the recorder waits only up to a deadline; a later reply is dropped. A helper that is blocked for HANG_NS
 * is killed and replaced, and its JVM is given up. The CPU time of the helper for a JVM and, beyond an allowance for
 * pages on disk, ten times its blocked time are charged to the JVM's tenant: over its budget no JVM of that tenant is
 * read; other tenants are not affected. A helper that cannot be killed (a page of a FUSE file system) is replaced, and
 * no JVM of its tenant is read until it has ended.
 */
#ifndef PJ_JVMREADER_H
#define PJ_JVMREADER_H

#include "common/process/backoff.h"
#include "record/java/jvmhelper.h"
#include "common/process/tenants.h"

struct jvmreader;

/* Starts the helper. `tenants` has the budgets TENANT_JVM_NS, TENANT_CPU_NS and TENANT_BLOCKED_NS; NULL: there are
 * none, or jvmreader_budgets sets them later. */
struct jvmreader *jvmreader_new(struct tenants *tenants);
void jvmreader_budgets(struct jvmreader *jvmreader, struct tenants *tenants);
/* Frees the reader and ends the helper. All JVMs must be closed before. */
void jvmreader_free(struct jvmreader *jvmreader);

/* Sets the total time in ns that all requests from now on may wait. */
void jvmreader_deadline(struct jvmreader *jvmreader, uint64_t ns);

enum jvmreader_answer {
	JVMREADER_DONE,
	JVMREADER_LATE, /* there was no reply in time, the helper is busy, or the tenant is over its budget */
	/* the JVM has ended, cannot be read, or reading it hangs (jvmreader_why); the caller must close it */
	JVMREADER_LOST
};

struct jvmreader_jvm;

/* Returns a handle for the JVM of a process that started at `start` (clock ticks since boot; 0: unknown). The first
 * request opens its memory. Returns NULL if JVM_SLOTS handles are open. */
struct jvmreader_jvm *jvmreader_open(struct jvmreader *jvmreader, uint32_t pid, uint64_t start, struct tenant tenant);
void jvmreader_close(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm);

/* Returns the reason of JVMREADER_LOST. The codes "hangs" and "crashed" are failures of the helper. */
struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm);

/* Returns true if the budget of the tenant was the reason of the last JVMREADER_LATE. */
bool jvmreader_over_budget(const struct jvmreader_jvm *jvm);

/* Result of jvmreader_find: the block around an address as blobframes_at finds it, and the JVMREADER_BYTES of code that
 * contain the address, aligned to that size; `bytes` is NULL if they cannot be read. Valid until the next request. */
struct jvmreader_found {
	enum codecache_where where;
	struct blob blob;
	struct javaunwind_code code;
	const char *bytes;
};
enum jvmreader_answer jvmreader_find(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				     struct jvmreader_found *found);

/* Checks *n nmethods in one or more requests. Removes those that have changed from the array blob, and sets *n to the
 * number of the others. */
enum jvmreader_answer jvmreader_check(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, struct blob *blob,
				      size_t *n);

/* Reads the JVMREADER_BYTES of code that contain an address. Sets *bytes to NULL if they cannot be read. */
enum { JVMREADER_BYTES = JVM_BYTES_N };
enum jvmreader_answer jvmreader_bytes(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				      const char **bytes);

/* Returns true if the helper is ready for a request and the deadline has not passed. */
bool jvmreader_ready(struct jvmreader *jvmreader);

/* Reads the names of n methods in the spelling of Compiler.perfmap, and calls fn for each; leaves out those that cannot
 * be read. */
enum jvmreader_answer jvmreader_names(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const uint64_t *method,
				      size_t n, void (*fn)(void *to, uint64_t method, struct str name), void *to);

/* Reads ranges, methods and inlined calls of n blobs, at most JVM_DESCRIBE_MAX, and calls fn for each range that can be
 * read: code->index is the index of its blob, and rest has code->bytes bytes. Sets *done to the number of processed
 * blobs, at least one. All data come from the JVM and are untrusted. */
typedef void jvmreader_code(void *to, const struct jvm_code *code, const uint64_t *method, struct str rest);
enum jvmreader_answer jvmreader_describe(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm,
					 const struct blob *blob, size_t n, size_t *done, jvmreader_code *fn, void *to);

/* Returns the counts of helpers since the start. */
struct helper_counts jvmreader_count(const struct jvmreader *jvmreader);

#endif
