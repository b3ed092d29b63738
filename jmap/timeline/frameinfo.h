/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frameinfo.h - writes the frame layouts of code blobs to a code timeline, for stack walks after the JVM has ended.
 *
 * pjfold uses the layouts to unwind stack copies of perf through Java frames. The scan that finds a new code blob also
 * writes its frame layout (runtimes/hotspot/blobcodec.h). If the JVM does not export the necessary fields, the timeline
 * has no frame layouts.
 *
 * Calls for each scan: frameinfo_read, then frameinfo_compiled or frameinfo_other for each new blob, then
 * frameinfo_end.
 */
#ifndef PJ_FRAMEINFO_H
#define PJ_FRAMEINFO_H

#include "runtimes/hotspot/blobframes.h"

struct frameinfo {
	struct blobframes frames;
	bool opened;
	/* name of a necessary field that the JVM does not export (static string); NULL if it exports all */
	const char *why;
	/* new nmethods of the current scan: `none` elements, sorted by begin */
	struct frameinfo_one {
		uint64_t begin;
		size_t from, n; /* offset and length of its encoded frame layout in `read` */
	} * one;
	/* number of elements of `one` */
	size_t none;
	/* read: layouts that frameinfo_read has encoded; compiled, others: layouts in the record for nmethods and for
	 * other blobs; code: buffer for instructions */
	struct text read, compiled, others, code;
	/* ncompiled, nothers: number of layouts in `compiled` and `others`; last_number: number in the timeline of the
	 * last nmethod in `compiled`; last_end: end address of the last blob in `others`. The record stores numbers and
	 * addresses as differences to these. */
	uint64_t ncompiled, nothers, last_number, last_end;
};

/* Encodes the frame layouts of the nmethods among n new blobs, which are sorted by address. To be called after a scan
 * of `hotspot`. The caller passes these nmethods to frameinfo_compiled before the next frameinfo_read, which replaces
 * the layouts. */
void frameinfo_read(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *fresh, size_t n);

/* frameinfo_compiled adds the layout of a new nmethod, with its number in the timeline, to the record of this scan;
 * numbers must ascend. It skips an nmethod that frameinfo_read has not encoded. frameinfo_other adds the layouts of all
 * code blobs within a new blob that is not an nmethod. */
void frameinfo_compiled(struct frameinfo *frameinfo, const struct blob *blob, uint64_t number);
void frameinfo_other(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);
/* Adds the layouts of the interpreter's code blobs to the record. blob: the interpreter. To be called once, when the
 * interpreter is complete. */
void frameinfo_interpreter(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);

/* Returns the number of bytes of all layouts in the record so far. */
size_t frameinfo_bytes(const struct frameinfo *frameinfo);

/* Appends the record to `file` if it has any layout, and resets *frameinfo for the next scan. */
void frameinfo_end(struct frameinfo *frameinfo, struct text *file);

/* Frees all memory of *frameinfo and zeroes it. */
void frameinfo_free(struct frameinfo *frameinfo);

#endif
