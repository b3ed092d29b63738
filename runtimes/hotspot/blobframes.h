/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobframes.h - makes the code blobs for javaunwind.h from the code cache of one JVM.
 *
 * The JVM exports the offsets of the fields (vmStructs.hpp). Of each nmethod, the first bytes are read once. The
 * interpreter and the stubs do not change after the start of the JVM; blobframes splits them into code blobs when they
 * are complete. Layouts are not guessed: if the JVM does not export a field, there are no code blobs, and the caller
 * gets the name of the field. Sources: codeBlob.hpp, nmethod.hpp, stubs.hpp, interpreter.hpp, continuationEntry.hpp of
 * the JDK.
 *
 * blobframes_open(&frames, &hotspot);
 * hotspot_scan(&hotspot);
 * blobframes_take(&frames, &hotspot);
 * frames.code.read = ...;  then javaunwind_find(&frames.code, state)
 * blobframes_free(&frames);
 */
#ifndef PJ_BLOBFRAMES_H
#define PJ_BLOBFRAMES_H

#include "runtimes/hotspot/codelets.h"
#include "runtimes/hotspot/javaunwind.h"

struct blobframes {
	/* Result of the last blobframes_take, blobframes_take_some or blobframes_at. The unwinder's caller sets its
	 * callbacks. */
	struct javaunwind_code code;
	struct code_blob *blob;
	bool made;  /* the interpreter is complete; stays true */
	bool early; /* the interpreter may be incomplete: it gets no code blobs */
	/* Number of code blobs that come from splitting blocks. It is bounded, however many blocks the JVM has. */
	size_t nsplit;
	size_t npieces, cap;
	struct blobframes_layout {
		struct vmlayout_field frame_size, complete, entry, deopt[2], orig_pc, method, compile_id;
		bool entry_offset, deopt_offset;
		uint32_t bytes; /* number of first bytes of an nmethod that contain all fields */
		struct codelets_layout codelets;
		uint64_t call_stub_return, continuation_return; /* addresses of the variables with these addresses */
		struct vmlayout_field continuation;             /* offset in JavaThread */
	} layout;
};

/* Finds the fields in the tables of an open hotspot. Returns NULL, or the name of the missing field (a static
 * string). The caller calls blobframes_free in both cases. */
const char *blobframes_open(struct blobframes *frames, const struct hotspot *hotspot);

/* Adjusts the addresses in a layout to the same libjvm.so mapped `by` bytes higher (modulo 2^64). */
void blobframes_move(struct blobframes_layout *layout, uint64_t by);

/* Makes frames->code from the result of the last hotspot_scan. Returns NULL, or a static string with the reason;
 * frames->code then has no blobs. The blobs are valid until the next call with frames. */
const char *blobframes_take(struct blobframes *frames, struct hotspot *hotspot);

/* Like blobframes_take, for n blobs of the last scan, in the order of their addresses. */
const char *blobframes_take_some(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n);

/* Frees the code blobs and preserves the layout. frames->code is empty afterwards. */
void blobframes_rest(struct blobframes *frames);

/* Replaces frames->code by the code blobs of the one block that contains address, without a scan. *where is the
 * result of codecache_at, or CODECACHE_FREE if the block has no code blob; *blob is the block if *where is
 * CODECACHE_BLOB. Also sets call_stub_return and continuation_return. Returns NULL, or a static string if the JVM
 * cannot be read. */
const char *blobframes_at(struct blobframes *frames, struct hotspot *hotspot, uint64_t address,
			  enum codecache_where *where, struct blob *blob);

void blobframes_free(struct blobframes *frames);

#endif
