/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frameinfo.h - writes the frame layout of code blobs into a timeline, for stack walks after the JVM has ended.
 *
 * pjfold uses it to unwind stack copies of perf through Java. Each code blob has one record of
 * runtimes/hotspot/blobcodec.h, in the same scan in which it appears. If the JVM does not export the necessary fields,
 * the timeline has no such records.
 *
 * For each scan: frameinfo_read, then frameinfo_compiled or frameinfo_other for each new blob, then frameinfo_end.
 */
#ifndef PJ_FRAMEINFO_H
#define PJ_FRAMEINFO_H

#include "runtimes/hotspot/blobframes.h"

struct frameinfo {
	struct blobframes frames;
	bool opened;
	/* name of the field that the JVM does not export (a static string); NULL if it exports all */
	const char *why;
	/* one new nmethod of the current scan */
	struct frameinfo_one {
		uint64_t begin;
		size_t from, n; /* range of its encoded frame layout in `read` */
	} * one;                /* new nmethods, sorted by begin */
	/* none: number of elements of `one`; texts: layouts encoded by frameinfo_read, layouts added to the record for
	 * nmethods and for other blobs, and a buffer for instructions */
	size_t none;
	struct text read, compiled, others, code;
	/* number of layouts in `compiled` and `others`; last number of an nmethod and last end of another blob, from
	 * which the deltas of the next are computed */
	uint64_t ncompiled, nothers, last_number, last_end;
};

/* Encodes the frame layouts of n new blobs of the last scan of hotspot, which are in order of address. The caller
 * passes the nmethods among them to frameinfo_compiled before the next call, which replaces the result. */
void frameinfo_read(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *fresh, size_t n);

/* These add a new blob to the record of this scan. frameinfo_compiled adds an nmethod with its number in the timeline;
 * the caller passes numbers in ascending order. An nmethod that frameinfo_read could not encode is skipped.
 * frameinfo_other adds all code blobs within another blob. */
void frameinfo_compiled(struct frameinfo *frameinfo, const struct blob *blob, uint64_t number);
void frameinfo_other(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);
/* Adds the code blobs of the interpreter to the record. The caller does so once, when the interpreter is complete. */
void frameinfo_interpreter(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);

/* Returns the number of bytes that the record has so far. */
size_t frameinfo_bytes(const struct frameinfo *frameinfo);

/* Appends the record to `file` if it has any layouts, and resets the state for the next scan. */
void frameinfo_end(struct frameinfo *frameinfo, struct text *file);

/* Frees all memory of *frameinfo and zeroes it. */
void frameinfo_free(struct frameinfo *frameinfo);

#endif
