/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapfile.h - encodes and decodes the records of a code timeline, pj-jmap(5).
 *
 * A timeline is JMAP_MAGIC and records. A record is the length of its body (4 bytes), the CRC-32 of its body (4 bytes;
 * both little-endian), and the body. A body is a tag and numbers in LEB128: 7 bits a byte, lowest first, the highest
 * bit is set if more bytes follow. A signed number n is encoded as 2n, or as -2n-1 if it is negative. A record is
 * appended by one write. A crash may leave an incomplete last record; the next process that appends cuts it off.
 */
#ifndef PJ_JMAPFILE_H
#define PJ_JMAPFILE_H

#include "common/text.h"

#define JMAP_MAGIC "pjjmap1\n"
#define JMAP_MAGIC_BYTES 8
#define JMAP_HEAD_BYTES 8
#define JMAP_MAX_BODY ((uint32_t)64 << 20)

enum jmap_tag {
	/* Start of a run, text key=value ...: numbers of names and code start at 0 again, and no code is live. */
	JMAP_START = 'J',
	/* new names, which get the next numbers: their count, then the length and the bytes of each */
	JMAP_NAMES = 'N',
	/* A scan: time and duration of the previous scan and of this scan; code that has disappeared, code that is new;
	 * see pj-jmap(5). */
	JMAP_SCAN = 'T',
	/* Inlined calls of new code: for each code blob its number, the tree of calls, and the address ranges; see
	 * pj-jmap(5). */
	JMAP_INLINED = 'I',
	/* Frame layouts of the code that the previous JMAP_SCAN record added, for stack walks; see pj-jmap(5). */
	JMAP_FRAMES = 'F',
	/* time of a scan; number of code blobs that the scan could not read; number of code blobs that the scan could
	 * not name */
	JMAP_LEFT = 'L',
	JMAP_END = 'E', /* time of the last scan before the process ended */
};

enum jmap_kind { JMAP_STUB, JMAP_COMPILED };

/* jmap_number appends an unsigned number, jmap_signed a signed one, to the body of a record (after its tag). jmap_frame
 * then makes a record of the body. */
void jmap_number(struct text *text, uint64_t value);
void jmap_signed(struct text *text, int64_t value);
void jmap_frame(struct text *file, struct str body); /* appends the record with this body to file */

/* jmap_get and jmap_get_signed remove a number from the front of *string, the unread rest of a body, and set *value.
 * They return false if the body is too short, or if the number does not fit into 64 bits. */
bool jmap_get(struct str *string, uint64_t *value);
bool jmap_get_signed(struct str *string, int64_t *value);

/* Removes the next record from *string, the unread rest of a file, and sets *body to its body. Returns 1; 0 at the end
 * of the file; -1 if the record is incomplete or damaged. */
int jmap_next(struct str *string, struct str *body);

/* Returns the length in bytes of a timeline up to the end of its last complete record, with the magic; 0 if fd is no
 * timeline. Needs a constant amount of memory. */
uint64_t jmap_complete(int fd);

#endif
