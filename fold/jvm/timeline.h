/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - finds code of a JVM by address and time in a code timeline that pjmap wrote (pj-jmap(5)).
 *
 * If a scan saw a code blob and the scan before did not, the blob was generated between the two scans. Each blob
 * therefore has a time in which it certainly existed, and times before and after in which it may have existed. A lookup
 * returns this certainty with its result, and prefers blobs that certainly existed. The file is hostile input.
 *
 *     timeline = timeline_open(fd, &why);
 *     code = timeline_find(timeline, address, time, &sure);
 */
#ifndef PJ_TIMELINE_H
#define PJ_TIMELINE_H

#include "fold/jvm/frametimes.h"
#include "fold/jvm/jitcode.h"

/* Code timeline of one JVM. Only one thread at a time may use it, because lookups cache results in it. */
struct timeline;

/* Certainty of the result of a lookup. */
enum timeline_sure {
	/* No blob with this address is known for the time of the lookup. */
	TIMELINE_NONE,
	/* The returned blob certainly existed at the time of the lookup. */
	TIMELINE_SURE,
	/* The time is between two scans, only one of which saw the returned blob. No other blob is possible. */
	TIMELINE_LIKELY,
	/* Two or more blobs may have been at the address; the latest of these blobs is returned. */
	TIMELINE_AMBIGUOUS,
};

/* Reads all of the file fd, which must be regular and at most 1 GiB, and closes fd in any case. Returns NULL if the
 * file is not a timeline, with the reason in *why. */
struct timeline *timeline_open(int fd, const char **why);
/* Frees the timeline and all results of its functions. Accepts NULL. */
void timeline_close(struct timeline *timeline);

/* Returns the file offset of the first invalid record, and sets *why to the error, a static text. Returns 0 if all
 * records are valid. The records before the invalid one are used. */
uint64_t timeline_bad(const struct timeline *timeline, const char **why);

/* Returns the largest number of code blobs in one scan that pjmap could not read or name. */
uint64_t timeline_left_out(const struct timeline *timeline);

/* Returns the code that was at `address` at `time` (ns; 0: the latest code), with the calls inlined at this address;
 * NULL if the timeline has no code for this address and time. Sets *sure to the certainty of the result. The result is
 * valid as long as the timeline. */
const struct jit_code *timeline_find(struct timeline *timeline, uint64_t address, uint64_t time,
				     enum timeline_sure *sure);
/* Returns the code blobs with frame layouts, for the unwinder; NULL if the timeline has no record of frame layouts. The
 * result is valid until timeline_close(). */
struct frametimes *timeline_frames(struct timeline *timeline);

/* Returns the number of code blobs. */
size_t timeline_count(const struct timeline *timeline);

/* Parses the bytes of a timeline file, as timeline_open() does, with the same results. The caller may free `bytes`
 * afterwards. */
struct timeline *timeline_parse(struct str bytes, const char **why);

#endif
