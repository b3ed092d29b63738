/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobframes.h - makes the code blobs of javaunwind.h from the code cache of one JVM.
 *
 * The JVM exports the offsets of the needed fields (vmStructs.hpp). The first bytes of each nmethod are read once. The
 * interpreter and the stubs do not change after the start of the JVM; blobframes splits them into code blobs when they
 * are complete. Layouts are not guessed: if the JVM does not export a field, there are no code blobs, and
 * blobframes_open returns the name of the field. Sources: codeBlob.hpp, nmethod.hpp, stubs.hpp, interpreter.hpp,
 * continuationEntry.hpp of the JDK.
 *
 * blobframes_open(&frames, &hotspot);
 * hotspot_scan(&hotspot);
 * blobframes_take(&frames, &hotspot);
 * frames.code.read = ...; then javaunwind_find(&frames.code, state)
 * blobframes_free(&frames);
 */
#ifndef PJ_BLOBFRAMES_H
#define PJ_BLOBFRAMES_H

#include "runtimes/hotspot/codelets.h"
#include "runtimes/hotspot/javaunwind.h"

struct blobframes {
	/* Code blobs for the unwinder, set by the last call of blobframes_take, blobframes_take_some or
	 * blobframes_at. The caller sets the callbacks. */
	struct javaunwind_code code;
	struct code_blob *blob;
	bool made;  /* true after the interpreter was found complete once */
	bool early; /* true while the interpreter may be incomplete; the interpreter then gets no code blobs */
	/* Number of code blobs from splitting the interpreter and blocks of stubs; at most SPLIT_MAX, regardless of
	 * the number of blocks. */
	size_t nsplit;
	size_t npieces, cap;
	struct blobframes_layout {
		struct vmlayout_field frame_size, complete, entry, deopt[2], orig_pc, method, compile_id;
		/* true if the fields `entry` (`deopt`) have offsets, false if they have addresses */
		bool entry_offset, deopt_offset;
		uint32_t bytes; /* number of bytes at the start of an nmethod that contain all fields above */
		struct codelets_layout codelets;
		/* Addresses of the static variables that have the values of javaunwind_code.call_stub_return and
		 * javaunwind_code.continuation_return; 0 if not exported. */
		uint64_t call_stub_return, continuation_return;
		struct vmlayout_field continuation; /* offset of _cont_entry in JavaThread */
	} layout;
};

/* Finds the fields in the exported tables of an open hotspot. Returns NULL, or a static string: the name of a
 * missing field, or of another field of its group. The caller calls blobframes_free in both cases. */
const char *blobframes_open(struct blobframes *frames, const struct hotspot *hotspot);

/* Adds `by` (modulo 2^64) to all addresses in a layout, for another JVM that has the same libjvm.so mapped `by`
 * bytes higher. */
void blobframes_move(struct blobframes_layout *layout, uint64_t by);

/* Makes frames->code from the result of the last hotspot_scan. Returns NULL, or the reason of the failure as a static
 * string; frames->code then has no blobs. The blobs are valid until the next call with frames. */
const char *blobframes_take(struct blobframes *frames, struct hotspot *hotspot);

/* Like blobframes_take, but frames->code gets only blob[0..n): some blobs of the last scan, sorted by address. */
const char *blobframes_take_some(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n);

/* Frees the code blobs but not the layout, between two scans. frames->code is empty afterwards. */
void blobframes_rest(struct blobframes *frames);

/* Replaces frames->code by the code blobs of the one CodeBlob whose code contains `address`, without a scan. Sets
 * *where to the result of codecache_at, or to CODECACHE_FREE if the CodeBlob gives no code blob. Sets *blob to the
 * CodeBlob if *where is CODECACHE_BLOB. Also sets call_stub_return and continuation_return. Returns NULL, or a
 * static string if the JVM cannot be read. */
const char *blobframes_at(struct blobframes *frames, struct hotspot *hotspot, uint64_t address,
			  enum codecache_where *where, struct blob *blob);

void blobframes_free(struct blobframes *frames);

#endif
