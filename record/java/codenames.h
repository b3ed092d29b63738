/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codenames.h - names and inlined calls of the compiled code and the stubs on the stacks of a window.
 *
 * An address in code of a JIT compiler has no name in any file, and HotSpot reuses the memory of code. So the cache of
 * code blobs (javacode.h) lists each blob here when a frame is in it. Its description is read once, soon after
 * (codenaming.c), and stays as long as the cache contains the blob. A window gets the descriptions of the code that
 * its frames are in, with the time in which each blob existed for certain: from its first frame or check to the last.
 *
 * A description counts only if it is proven: a check after it was read finds the nmethod unchanged. A live nmethod
 * keeps the methods that it inlines, so the name of a Method* is taken from the cache as long as an nmethod that refers
 * to it, its proof, is checked together with the new one.
 *
 * Memory is bounded for each tenant and for all; lookups of code beyond the limit are counted.
 */
#ifndef PJ_CODENAMES_H
#define PJ_CODENAMES_H

#include "common/process/tenants.h"
#include "common/text.h"
#include "record/java/jvmhelper.h"

struct codenames;
/* The code of one JVM. */
struct codenames_jvm;

struct codenames *codenames_new(void);
void codenames_free(struct codenames *codenames);

struct codenames_jvm *codenames_open(struct codenames *codenames, uint32_t pid, struct tenant tenant);
/* The cache has dropped the JVM. Its code stays for the window. */
void codenames_close(struct codenames_jvm *jvm);

/* Lists a blob. Returns its id, which is valid until codenames_sweep finds it unused; 0 if the limit is reached. */
uint32_t codenames_add(struct codenames_jvm *jvm, const struct blob *blob);
/* Notes a frame of a sample in blob id; 0: counts it as left out. */
void codenames_use(struct codenames_jvm *jvm, uint32_t id, uint64_t time);

/* ---- reading the descriptions: codenaming.c ---- */

/* Fills id and blob with up to max listed blobs without description; returns their number. */
size_t codenames_wanted(struct codenames_jvm *jvm, uint32_t *id, struct blob *blob, size_t max);

/* Takes a range of the description of blob id; see jvmreader_describe. */
void codenames_describe(struct codenames_jvm *jvm, uint32_t id, const struct jvm_code *code, const uint64_t *method,
			struct str rest);

/* Returns the Method* in the descriptions of n blobs that have no name in the cache, and their number. Valid until the
 * next call. */
const uint64_t *codenames_missing(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nmethods);
void codenames_name(struct codenames_jvm *jvm, uint64_t method, struct str name);

/* Returns the nmethods to be checked before the descriptions of n blobs count: those blobs and the proofs of the names
 * that they need. Valid until the next call; the check may overwrite it. */
struct blob *codenames_proofs(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nblobs);

/* Completes n blobs after the check, which found `nsame` blobs of codenames_proofs unchanged. Blobs that changed get no
 * name; a blob whose proofs failed is wanted again. */
void codenames_prove(struct codenames_jvm *jvm, const uint32_t *id, size_t n, const struct blob *same, size_t nsame);

/* Gives up the descriptions of n blobs for now, as the JVM did not answer. They are wanted again, a few times. */
void codenames_postpone(struct codenames_jvm *jvm, const uint32_t *id, size_t n);

/* ---- the end of a window ---- */

/* Notes that the cache still has blob id, which existed for certain from `since` to `seen`. To be called for all blobs
 * of all JVMs before codenames_put. */
void codenames_keep(struct codenames_jvm *jvm, uint32_t id, uint64_t since, uint64_t seen);

/* Appends the items of the window to text and begins the next window: drops code that the cache does not have any
 * more. stream: there is one window, to which each call appends what is new; code that may still exist stays open. */
void codenames_put(struct codenames *codenames, bool stream, struct text *text);

#endif
