/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frameinfo.h - what a timeline tells of frames, so that stacks which perf copied are walked through Java when the JVM
 * is gone.
 *
 * Of each piece of code what runtimes/hotspot/blobcodec.h makes of it, beside its coming in the same scan. A JVM whose
 * layout is not known has none, and its timeline is what it was.
 */
#ifndef PJ_FRAMEINFO_H
#define PJ_FRAMEINFO_H

#include "runtimes/hotspot/blobframes.h"

struct frameinfo {
	struct blobframes frames;
	bool opened;
	const char *why; /* there are none: what the JVM does not tell */
	/* of the scan */
	struct frameinfo_one {
		uint64_t begin;
		size_t from, n; /* in read */
	} * one;                /* of new compiled code, by address */
	size_t none;
	struct text read, compiled, others, code;
	uint64_t ncompiled, nothers, last_number, last_end;
};

/* Behind a scan of hotspot: some of what is new in it is looked at now. What is told of compiled code is told before
 * the next call. */
void frameinfo_read(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *fresh, size_t n);

/* Compiled code came, and has this number; other code, with all its pieces. In the order of numbers. */
void frameinfo_compiled(struct frameinfo *frameinfo, const struct blob *blob, uint64_t number);
void frameinfo_other(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);
/* The interpreter, once it is complete. */
void frameinfo_interpreter(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob);

/* Bytes of the record so far. */
size_t frameinfo_bytes(const struct frameinfo *frameinfo);

/* Appends the record, if there is something to be told, and begins anew. */
void frameinfo_end(struct frameinfo *frameinfo, struct text *file);

void frameinfo_free(struct frameinfo *frameinfo);

#endif
