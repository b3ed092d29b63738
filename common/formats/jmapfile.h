/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapfile.h - the records of a code timeline, pj-jmap(5), for its writers and readers.
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
	/* A new run, text key=value ...: numbers of names and code start at 0 again, and no code is live. */
	JMAP_START = 'J',
	JMAP_NAMES = 'N', /* the next names: their count, then the length and bytes of each */
	/* A scan: time and duration of the scan before, then of this one; code that is gone, code that is new; see
	 * pj-jmap(5). */
	JMAP_SCAN = 'T',
	/* Inlined calls of new code: for each, the number of the code blob, the tree of calls, and the ranges of
	 * addresses; see pj-jmap(5). */
	JMAP_INLINED = 'I',
	/* frame layouts of the code that the previous record JMAP_SCAN added, for stack walks; see pj-jmap(5) */
	JMAP_FRAMES = 'F',
	JMAP_LEFT = 'L', /* time of a scan; how many code blobs it could not read, and how many it could not name */
	JMAP_END = 'E',  /* time of the last scan, after which the process had ended */
};

enum jmap_kind { JMAP_STUB, JMAP_COMPILED };

/* Writing: the caller appends the tag, numbers and bytes to a body; jmap_frame makes a record of it. */
void jmap_number(struct text *text, uint64_t value);
void jmap_signed(struct text *text, int64_t value);
void jmap_frame(struct text *file, struct str body); /* appends the record to file */

/* Reading: remove a number from the front of *string, the rest of a body. Return false if the body is too short, or if
 * the number does not fit. */
bool jmap_get(struct str *string, uint64_t *value);
bool jmap_get_signed(struct str *string, int64_t *value);

/* Removes the next record from *string, the rest of a file, and sets *body to its body. Returns 1; 0 at the end of the
 * file; -1 if the record is incomplete or damaged. */
int jmap_next(struct str *string, struct str *body);

/* Returns the number of bytes of a timeline up to the end of its last complete record, with the magic; 0 if fd is no
 * timeline. Needs the same memory for any size. */
uint64_t jmap_complete(int fd);

#endif
