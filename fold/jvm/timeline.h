/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - code of a JVM by address and time, from a code timeline that pjmap wrote (pj-jmap(5)).
 *
 * If a scan saw a code blob and the scan before did not, the blob was generated between the two. For each blob there is
 * a time in which it certainly existed, and times before and after in which it may have existed. A lookup reports which
 * of the two applies; blobs that certainly existed take precedence. The file is hostile input.
 *
 *     timeline = timeline_open(fd, &why);
 *     code = timeline_find(timeline, address, time, &sure);
 */
#ifndef PJ_TIMELINE_H
#define PJ_TIMELINE_H

#include "fold/jvm/frametimes.h"
#include "fold/jvm/jitcode.h"

/* A timeline is used by one thread at a time: lookups cache their results in it. */
struct timeline;

/* Certainty of a lookup. */
enum timeline_sure {
	/* No blob with this address is known for this time. */
	TIMELINE_NONE,
	/* The returned blob certainly existed at this time. */
	TIMELINE_SURE,
	/* The time is between two scans, only one of which saw the returned blob; no other blob is possible. */
	TIMELINE_LIKELY,
	/* Two or more blobs are possible; the latest one is returned. */
	TIMELINE_AMBIGUOUS,
};

/* Reads the complete file, which must be regular and at most 1 GiB. fd is closed in any case. Returns NULL if it is no
 * timeline, with the reason in *why. */
struct timeline *timeline_open(int fd, const char **why);
/* Frees the timeline and all results of its functions; accepts NULL. */
void timeline_close(struct timeline *timeline);

/* Returns the offset of the first invalid record and the reason in *why, a static text; 0 if all records are valid.
 * Records before the invalid one are used. */
uint64_t timeline_bad(const struct timeline *timeline, const char **why);

/* Returns the number of code blobs that pjmap could not read or name, in the scan with most of them. */
uint64_t timeline_left_out(const struct timeline *timeline);

/* Returns the code that was at `address` at `time` (ns; 0: the latest), with the calls inlined at that address, and
 * sets *sure to the certainty of the answer. Returns NULL if none is known. The result is valid as long as the
 * timeline. */
const struct jit_code *timeline_find(struct timeline *timeline, uint64_t address, uint64_t time,
				     enum timeline_sure *sure);
/* Returns the blobs for the unwinder; NULL if the timeline has no record of frames. The result belongs to the
 * timeline. */
struct frametimes *timeline_frames(struct timeline *timeline);

/* Returns the number of code blobs. */
size_t timeline_count(const struct timeline *timeline);

/* Parses the bytes of a timeline file, as timeline_open() does. `bytes` need not stay valid. */
struct timeline *timeline_parse(struct str bytes, const char **why);

#endif
