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
	const char *why; /* NULL, or the field that the JVM does not export (a static string) */
	/* State of the present scan. */
	struct frameinfo_one {
		uint64_t begin;
		size_t from, n; /* range in `read` */
	} * one;                /* new nmethods, sorted by begin */
	/* number of elements of `one`, and encoded bytes */
	size_t none;
	struct text read, compiled, others, code;
	/* number of records in `compiled` and `others`, and bases of their deltas */
	uint64_t ncompiled, nothers, last_number, last_end;
};

/* Encodes the frame layout of new blobs, n of the last scan of hotspot, in the order of their addresses. The caller
 * passes their nmethods to frameinfo_compiled before the next call, which replaces the result. */
void frameinfo_read(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *fresh, size_t n);

/* Add a new blob to the record of this scan: an nmethod with its number in the timeline, in ascending order of
 * numbers, or another blob with all its code blobs. An nmethod that frameinfo_read could not encode is skipped. */
void frameinfo_compiled(struct frameinfo *frameinfo, const struct blob *blob, uint64_t number);
void frameinfo_other(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);
/* Adds the interpreter when it is complete; the caller does so once. */
void frameinfo_interpreter(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);

/* Returns the bytes of the record so far. */
size_t frameinfo_bytes(const struct frameinfo *frameinfo);

/* Appends the record to file if it is not empty, and resets the state for the next scan. */
void frameinfo_end(struct frameinfo *frameinfo, struct text *file);

/* Frees all memory of frameinfo, which is { 0 } afterwards. */
void frameinfo_free(struct frameinfo *frameinfo);

#endif
