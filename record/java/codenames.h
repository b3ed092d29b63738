/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codenames.h - names and inlined calls of the compiled code and the stubs in the stacks of a window.
 *
 * No file has names for the code of a JIT compiler, and HotSpot reuses code memory. So when a frame is in a code blob,
 * the cache of code blobs (javacode.h) adds an entry for the blob here. Its description (names and inlined calls) is
 * read once, soon after (javanaming.c), and is kept as long as the cache contains the blob. A window gets the
 * descriptions of the code that its frames are in, with the time span in which each blob certainly existed: from its
 * first frame or check to its last frame or check.
 *
 * A description is used only if it is proven: a check after it was read found the nmethod unchanged. A live nmethod
 * keeps the methods that it inlines alive. So the name of a Method* may be taken from the cache if an older nmethod
 * that refers to the Method*, the proof of the name, is found unchanged in the same check as the new nmethod.
 *
 * Memory is limited for each tenant and for all. Frames in code beyond the limit get no names and are counted.
 */
#ifndef PJ_CODENAMES_H
#define PJ_CODENAMES_H

#include "common/process/tenants.h"
#include "common/text.h"
#include "record/java/jvmhelper.h"

struct codenames;
/* Table of the code blobs of one JVM that were on stacks. */
struct codenames_jvm;

struct codenames *codenames_new(void);
void codenames_free(struct codenames *codenames);

struct codenames_jvm *codenames_open(struct codenames *codenames, uint32_t pid, struct tenant tenant);
/* To be called when the cache of code blobs drops the JVM. Its descriptions remain until the end of the window. */
void codenames_close(struct codenames_jvm *jvm);

/* Adds an entry for a blob and returns its id; 0 if the memory limit is reached. The id is valid until codenames_put,
 * and beyond that only if codenames_keep was called for it before. */
uint32_t codenames_add(struct codenames_jvm *jvm, const struct blob *blob);
/* Records that a frame of a sample at `time` (ns) is in blob id. id 0: the blob has no entry; increments the number of
 * frames without entry. */
void codenames_use(struct codenames_jvm *jvm, uint32_t id, uint64_t time);

/* ---- reading of descriptions (javanaming.c) ---- */

/* Stores ids and blobs of up to max entries without a description in id[] and blob[]. Returns their number. */
size_t codenames_wanted(struct codenames_jvm *jvm, uint32_t *id, struct blob *blob, size_t max);

/* Stores one range of the description of blob id, with the arguments that jvmreader_describe passes. */
void codenames_describe(struct codenames_jvm *jvm, uint32_t id, const struct jvm_code *code, const uint64_t *method,
			struct str rest);

/* Returns the Method* that have no cached name, from the descriptions of the n blobs id[], and sets *nmethods to their
 * number. The array is valid until the next call. codenames_name then stores their names. */
const uint64_t *codenames_missing(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nmethods);
void codenames_name(struct codenames_jvm *jvm, uint64_t method, struct str name);

/* Returns the nmethods that must be found unchanged to prove the descriptions of n blobs: these blobs, and the proofs
 * of the cached names that they use. Sets *nblobs to their number. The array is valid until the next call; the check
 * may overwrite it. */
struct blob *codenames_proofs(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nblobs);

/* Completes the descriptions of n blobs after a check. same: the `nsame` blobs of codenames_proofs that the check found
 * unchanged. A blob that has changed gets no name. If the proof of a name has changed, blobs that use this name must be
 * described again. */
void codenames_prove(struct codenames_jvm *jvm, const uint32_t *id, size_t n, const struct blob *same, size_t nsame);

/* Gives up reading the descriptions of n blobs for now, because the JVM could not be read in time. They are read again
 * later; after TRIES_MAX attempts in all, the blobs get no names. */
void codenames_postpone(struct codenames_jvm *jvm, const uint32_t *id, size_t n);

/* ---- end of a window -------- */

/* Records that blob id is still in the cache of code blobs, and that the blob certainly existed from `since` to `seen`
 * (ns). The caller calls it for all cached blobs of all JVMs before codenames_put. */
void codenames_keep(struct codenames_jvm *jvm, uint32_t id, uint64_t since, uint64_t seen);

/* Appends the items of the window to text and starts the next window; drops the entries of blobs that are no longer in
 * the cache. stream: true: the recording is one window, and each call appends only new items; a blob that may still
 * exist gets no end time. */
void codenames_put(struct codenames *codenames, bool stream, struct text *text);

#endif
