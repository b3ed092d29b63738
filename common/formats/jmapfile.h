/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapfile.h - the records of a code timeline, pj-jmap(5), for who writes and who reads them.
 *
 * JMAP_MAGIC, then records: 4 bytes length of the body, 4 bytes CRC-32 of it (both least byte first), the body. A body
 * is a tag and numbers in 7 bits a byte, the lowest first, the highest bit: more follow (as LEB128); signed ones as 2n
 * or -2n-1. A record is appended by one write; a torn last one is what a crash left, and is cut off by who appends
 * next.
 */
#ifndef PJ_JMAPFILE_H
#define PJ_JMAPFILE_H

#include "common/text.h"

#define JMAP_MAGIC "pjjmap1\n"
#define JMAP_MAGIC_BYTES 8
#define JMAP_HEAD_BYTES 8
#define JMAP_MAX_BODY ((uint32_t)64 << 20)

enum jmap_tag {
	JMAP_START = 'J', /* text key=value ...: a new run; numbers of names and code start at 0 again, and no code is
			     live */
	JMAP_NAMES = 'N', /* count, then (length, bytes) each: the next names */
	JMAP_SCAN = 'T', /* time and duration of the scan before, then of this one; code that is gone, code that is new;
			    see pj-jmap(5) */
	JMAP_INLINED = 'I', /* number of a code blob, its tree of inlined calls, and the ranges of addresses of each;
			       see pj-jmap(5) */
	JMAP_FRAMES = 'F',  /* frame layouts of the new code of the previous scan, for stack walks; see pj-jmap(5) */
	JMAP_LEFT = 'L',    /* time of a scan; numbers of code blobs that it could not read, and could not name */
	JMAP_END = 'E',     /* time of the last scan, after which the process had ended */
};

enum jmap_kind { JMAP_STUB, JMAP_COMPILED };

/* Writing: the caller composes a body in a text, then frames it as a record. */
void jmap_number(struct text *text, uint64_t value);
void jmap_signed(struct text *text, int64_t value);
void jmap_frame(struct text *file, struct str body); /* appends the record */

/* Reading: cut a value from *string, the rest of a body. Return false if the body is too short, or if the number does
 * not fit. */
bool jmap_get(struct str *string, uint64_t *value);
bool jmap_get_signed(struct str *string, int64_t *value);

/* Cuts the next record from *string, the rest of a file. Returns 1 and its body; 0 at the end; -1 if the record is
 * incomplete or damaged. */
int jmap_next(struct str *string, struct str *body);

/* Returns the bytes of complete records in a timeline; 0 for another file. Its memory does not depend on the size.
 */
uint64_t jmap_complete(int fd);

#endif
