/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcopy.h - copies growing files in which a JIT compiler describes its code: perf maps (perf-PID.map) and jitdumps.
 *
 * The module keeps the file open, so the copy continues if the file is removed or its container ends. Between calls, a
 * copy ends after a complete line or record, so others may read it at that time. If a map was replaced or emptied, or
 * its copy became too long, a new copy starts; the old one becomes NAME.1, in which pjfold searches second. A restarted
 * recorder continues an existing copy if the file begins with its bytes.
 *
 * The file is hostile: its records can claim any size, it may have holes, and it may be truncated, renamed or written
 * while it is read. One call reads at most `step` bytes and one record, and ends after `ns`. Records are read in
 * blocks: reading a million records of 16 bytes one by one took a million system calls. Holes and pages of zeros are
 * holes in the copy, too, and take no disk space.
 */
#ifndef PJ_JITCOPY_H
#define PJ_JITCOPY_H

#include "common/str.h"

#include <sys/types.h>
#include <time.h>

enum jitcopy_kind { JITCOPY_MAP, JITCOPY_DUMP };

/* Results of jitcopy_go_on. OK: no failure. LARGE: a limit was reached. NO_TEXT: the file is not a map or jitdump.
 * DISK: the copy cannot be written. EVICTED: retention removed or truncated the copy of a jitdump. */
enum jitcopy_why { JITCOPY_OK, JITCOPY_LARGE, JITCOPY_NO_TEXT, JITCOPY_DISK, JITCOPY_EVICTED };

#define JITCOPY_NAME 112

/* A file in which a JIT compiler describes its code, and the copy of this file. */
struct jitcopy {
	enum jitcopy_kind kind;
	/* descriptor of the file; -1: no file yet */
	int fd;
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	/* offset in bytes up to which the file was copied or skipped */
	uint64_t at;
	/* number of bytes copied since jitcopy_open, including bytes of replaced copies */
	uint64_t written;
	/* size of the current copy in bytes */
	uint64_t length;
	/* Size in bytes of the copy of an earlier run, while it is compared with the file; the bytes before offset `at`
	 * were equal. 0: no comparison is in progress. */
	uint64_t earlier;
	/* time in ns of CLOCK_MONOTONIC at which the current call must end */
	uint64_t deadline;
	/* number of consecutive calls that ended at the deadline and copied nothing */
	unsigned late;
	unsigned ntail;
	/* the ntail bytes of the file before offset `at`, as copied; if the file has other bytes there, it was replaced
	 */
	char last_bytes[64];
	/* true: the copying was ended by a result other than JITCOPY_OK and JITCOPY_DISK */
	bool ended;
	/* name of the copy, relative to the directory of copies */
	char name[JITCOPY_NAME];
};

/* Range of a jitdump in which to search for the end of the complete records. */
struct jitcopy_span {
	/* at: start of the range, 0 or the start of a record; size: end of the range, which is the size of the file */
	uint64_t at, size;
	uint64_t max;        /* maximum number of bytes of records, except the last one */
	uint64_t record_max; /* maximum size of one record in bytes */
};

/* Results of a search for complete records. OK: *end is the end of the complete records. BAD: the file is not a
 * jitdump. LARGE: the record at *end is larger than record_max. LATER: no result yet; the caller must try again. */
enum jitcopy_records { RECORDS_OK, RECORDS_BAD, RECORDS_LARGE, RECORDS_LATER };

/* Limits of one copy, in bytes if not noted otherwise. */
struct jitcopy_limits {
	/* maximum size of the copy of a map, and of a jitdump; a map and its NAME.1 together may have twice as much */
	uint64_t map, dump;
	/* maximum total number of bytes that one struct jitcopy copies, including bytes of replaced copies */
	uint64_t total;
	uint64_t step; /* maximum number of bytes that one call reads */
	/* maximum size of one record of a jitdump; real JITs write one record for each function */
	uint64_t record;
	uint64_t ns; /* maximum duration of one call in ns */
	/* Finds the end of the complete records of a jitdump (jitrecords_end). The sizes in the file are hostile, so
	 * this search runs in a helper process without rights (symhelper.h); this module parses no number of the file.
	 * NULL: jitdumps are not copied for now. */
	enum jitcopy_records (*records)(void *to, int fd, const struct jitcopy_span *span, uint64_t *end);
	void *to;
};

/* Cost of one call of jitcopy_go_on, in bytes. */
struct jitcopy_cost {
	/* read: number of bytes that were copied or compared; written: number of bytes that take space on the disk */
	uint64_t read, written;
};

/* Limits that a recording uses; the member `records` is NULL. */
extern const struct jitcopy_limits jitcopy_limits;

/* Starts to copy the file fd to the file `name` in directory `folder`. Takes ownership of fd; -1: there is no file yet.
 * folder: descriptor, which the caller closes. */
void jitcopy_open(struct jitcopy *jitcopy, enum jitcopy_kind kind, int fd, int folder, const char *name);

/* Continues with fd, the file that is at the path now, and takes ownership of it; -1: no change. If there was no file,
 * starts to copy fd. If fd is another file than the current one, copies further bytes of the current file, ends its
 * copy, and starts to copy fd from its start. */
void jitcopy_follow(struct jitcopy *jitcopy, int fd, int folder, const struct jitcopy_limits *limits);

/* Copies the next new bytes of the file and sets *cost. Returns JITCOPY_OK, also if there are no new bytes, or the
 * reason of a failure. A result other than JITCOPY_OK and JITCOPY_DISK ends the copying. */
enum jitcopy_why jitcopy_go_on(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
			       struct jitcopy_cost *cost);

/* Returns true if the file has bytes that were not copied yet, and no result of jitcopy_go_on has ended the copying. */
bool jitcopy_is_after(const struct jitcopy *jitcopy);

/* Closes the file of the JIT compiler; the copy remains. */
void jitcopy_close(struct jitcopy *jitcopy);

#endif
