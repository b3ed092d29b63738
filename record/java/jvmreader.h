/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmreader.h - asks the helper process that reads the memory of JVMs (jvmhelper.h), within limits of time.
 *
 * A read of such memory may block as long as another process likes (userfaultfd, swap, a file system that does not
 * answer), so the recorder waits for an answer only as long as the patience of the moment lasts; an answer that comes
 * later is dropped. A helper that is blocked for HANG_NS is killed and replaced, and its JVM is lost. What the helper
 * uses for a JVM, CPU time and, beyond an allowance for pages that a disk has, ten times the time that it was blocked,
 * is charged to the JVM's tenant: over its budget no JVM of that tenant is read, and the others do not notice. A helper
 * that cannot be killed (a page of a FUSE file system) is left behind, and no JVM of its tenant is read until it has
 * ended.
 */
#ifndef PJ_JVMREADER_H
#define PJ_JVMREADER_H

#include "common/process/backoff.h"
#include "record/java/jvmhelper.h"
#include "common/process/tenants.h"

struct jvmreader;

/* Forks the helper. Budgets are TENANT_JVM_NS, TENANT_CPU_NS and TENANT_BLOCKED_NS of tenants; NULL: no budgets, or
 * none yet.
 */
struct jvmreader *jvmreader_new(struct tenants *tenants);
void jvmreader_budgets(struct jvmreader *jvmreader, struct tenants *tenants);
void jvmreader_free(struct jvmreader *jvmreader); /* all JVMs were closed before */

/* From now on, so many ns may be waited, in all. */
void jvmreader_deadline(struct jvmreader *jvmreader, uint64_t ns);

enum jvmreader_answer {
	JVMREADER_DONE,
	JVMREADER_LATE, /* not now: it is still being read, or another one is, or the tenant is over its budget */
	JVMREADER_LOST  /* the JVM ended, cannot be read, or reading it hangs: to be closed. See jvmreader_why */
};

struct jvmreader_jvm;

/* Of a process that began at start, in clock ticks since boot (0: not known). Opening it is the first thing that any
 * question waits for. Returns NULL if JVM_SLOTS are open. */
struct jvmreader_jvm *jvmreader_open(struct jvmreader *jvmreader, uint32_t pid, uint64_t start, struct tenant tenant);
void jvmreader_close(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm);

/* After LOST. "hangs" and "crashed" are codes of ours. */
struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm);

/* True after LATE if the reason was the budget of its tenant. */
bool jvmreader_over_budget(const struct jvmreader_jvm *jvm);

/* The block around an address, as frames_at, and JVMREADER_BYTES of code around it, from a multiple of that on; NULL:
 * not read. What is pointed to is valid until the next question. */
struct jvmreader_found {
	enum codecache_where where;
	struct blob blob;
	struct javaunwind_code code;
	const char *bytes;
};
enum jvmreader_answer jvmreader_find(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				     struct jvmreader_found *found);

/* Blobs of compiled code, which stay in blob when they are still the same. */
enum jvmreader_answer jvmreader_check(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, struct blob *blob,
				      size_t *n);

/* The same bytes around another address. */
enum { JVMREADER_BYTES = JVM_BYTES_N };
enum jvmreader_answer jvmreader_bytes(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, uint64_t address,
				      const char **bytes);

/* May a question be asked now, with a chance of an answer? */
bool jvmreader_ready(struct jvmreader *jvmreader);

/* The names of methods, as Compiler.perfmap spells them, to fn one by one; those that cannot be read are left out. */
enum jvmreader_answer jvmreader_names(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, const uint64_t *method,
				      size_t n, void (*fn)(void *to, uint64_t method, struct str name), void *to);

/* Helpers since the start. */
struct helper_counts jvmreader_count(const struct jvmreader *jvmreader);

#endif
