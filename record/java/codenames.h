/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codenames.h - names and inlined calls of the compiled code and the stubs on the stacks of a window.
 *
 * An address in code of a JIT compiler has no name in any file, and HotSpot reuses the memory of code. So the cache of
 * code blobs (javacode.h) lists each blob here when a frame is in it. Its description is read once, soon after
 * (javanaming.c), and stays as long as the cache contains the blob. A window gets the descriptions of the code that
 * its frames are in, with the time in which each blob existed for certain: from its first frame or check to the last.
 *
 * A description counts only if it is proven: a check after it was read finds the nmethod unchanged. A live nmethod
 * keeps the methods that it inlines. So the name of a Method* is taken from the cache while an nmethod that refers to
 * the Method*, the proof of the name, is found unchanged together with the new nmethod.
 *
 * Memory is bounded for each tenant and for all; lookups of code beyond the limit are counted.
 */
#ifndef PJ_CODENAMES_H
#define PJ_CODENAMES_H

#include "common/process/tenants.h"
#include "common/text.h"
#include "record/java/jvmhelper.h"

struct codenames;
/* The code blobs of one JVM that have been on stacks. */
struct codenames_jvm;

struct codenames *codenames_new(void);
void codenames_free(struct codenames *codenames);

struct codenames_jvm *codenames_open(struct codenames *codenames, uint32_t pid, struct tenant tenant);
/* Reports that the cache of code blobs has dropped the JVM. The code of the JVM stays until the end of the window. */
void codenames_close(struct codenames_jvm *jvm);

/* Lists a blob and returns its id. The id is valid until codenames_put finds that codenames_keep was not called for it
 * in a window. Returns 0 if the memory limit is reached. */
uint32_t codenames_add(struct codenames_jvm *jvm, const struct blob *blob);
/* Records that a frame of a sample at `time` (ns) is in blob id. With id 0 counts the frame as left out. */
void codenames_use(struct codenames_jvm *jvm, uint32_t id, uint64_t time);

/* ---- reading the descriptions: javanaming.c ---- */

/* Stores the ids and blobs of up to max listed blobs without a description in id and blob. Returns their number. */
size_t codenames_wanted(struct codenames_jvm *jvm, uint32_t *id, struct blob *blob, size_t max);

/* Takes one range of the description of blob id, as jvmreader_describe reads it. */
void codenames_describe(struct codenames_jvm *jvm, uint32_t id, const struct jvm_code *code, const uint64_t *method,
			struct str rest);

/* Returns the Method* in the descriptions of n blobs whose names are not in the cache, and sets *nmethods to their
 * number. The array is valid until the next call. */
const uint64_t *codenames_missing(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nmethods);
void codenames_name(struct codenames_jvm *jvm, uint64_t method, struct str name);

/* Returns the nmethods that must be checked before the descriptions of n blobs count, and sets *nblobs to their number:
 * those blobs, and the proofs of the names that they use. The array is valid until the next call; the check may
 * overwrite it. */
struct blob *codenames_proofs(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nblobs);

/* Completes the descriptions of n blobs after a check that found the `nsame` blobs `same` of codenames_proofs
 * unchanged. Blobs that have changed get no name. A blob that uses a name whose proof has changed is to be described
 * again. */
void codenames_prove(struct codenames_jvm *jvm, const uint32_t *id, size_t n, const struct blob *same, size_t nsame);

/* Gives up the descriptions of n blobs for now, because the JVM did not answer. They are to be read again, at most
 * TRIES_MAX times. */
void codenames_postpone(struct codenames_jvm *jvm, const uint32_t *id, size_t n);

/* ---- the end of a window ---- */

/* Records that the cache still has blob id, which existed for certain from `since` to `seen` (ns). Call it for all
 * blobs of all JVMs before codenames_put. */
void codenames_keep(struct codenames_jvm *jvm, uint32_t id, uint64_t since, uint64_t seen);

/* Appends the items of the window to text and begins the next window; drops blobs that the cache does not have any
 * longer. stream: there is only one window, to which each call appends what is new; blobs that may still exist get no
 * end. */
void codenames_put(struct codenames *codenames, bool stream, struct text *text);

#endif
