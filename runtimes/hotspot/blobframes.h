/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobframes.h - what runtimes/hotspot/javaunwind.h must know of the code of one JVM: which frames it makes.
 *
 * Where fields lie is told by the JVM (vmStructs.hpp). Of compiled code the first bytes of the nmethod are read, once
 * for each; the interpreter and the stubs, which never change, are taken apart into their pieces when they are
 * complete. What a JVM does not tell is not guessed: then there are no frames, and the reason. Sources: codeBlob.hpp,
 * nmethod.hpp, stubs.hpp, interpreter.hpp, continuationEntry.hpp of the JDK.
 */
#ifndef PJ_BLOBFRAMES_H
#define PJ_BLOBFRAMES_H

#include "runtimes/hotspot/codelets.h"
#include "runtimes/hotspot/javaunwind.h"

struct blobframes {
	struct javaunwind_code code; /* facts of the last frames_take; who unwinds sets its functions */
	struct code_blob *blob;
	bool made;     /* the interpreter is complete */
	bool early;    /* it may not be */
	size_t nsplit; /* pieces of blocks that have more than one: bounded, whatever the JVM holds */
	size_t npieces, cap;
	struct blobframes_layout {
		struct vmlayout_field frame_size, complete, entry, deopt[2], orig_pc, method, compile_id;
		bool entry_offset, deopt_offset;
		uint32_t bytes; /* of an nmethod that hold all of them */
		struct codelets_layout codelets;
		uint64_t call_stub_return, continuation_return; /* addresses of what holds them */
		struct vmlayout_field continuation;             /* of a JavaThread */
	} layout;
};

/* Of an open hotspot. NULL, or what it does not tell. frames is to be freed in any case. */
const char *blobframes_open(struct blobframes *frames, const struct hotspot *hotspot);

/* To the same library, so many bytes further up. */
void blobframes_move(struct blobframes_layout *layout, uint64_t by);

/* frames->code is of what the last hotspot_scan of hotspot saw. NULL, or why not (then it has no pieces). */
const char *blobframes_take(struct blobframes *frames, struct hotspot *hotspot);

/* The same of some of these blobs, in the order of their addresses. */
const char *blobframes_take_some(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n);

/* Frees the pieces; the layout stays. */
void blobframes_rest(struct blobframes *frames);

/* In place of what frames holds, the pieces of the one block around an address: frames->code has them and the addresses
 * that never change. *blob is the block, where there is one. NULL, or why the JVM cannot be read. */
const char *blobframes_at(struct blobframes *frames, struct hotspot *hotspot, uint64_t address,
			  enum codecache_where *where, struct blob *blob);

void blobframes_free(struct blobframes *frames);

#endif
