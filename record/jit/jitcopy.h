/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcopy.h - copies files in which a JIT describes its code, while they grow: perf maps (perf-PID.map) and
 * jitdumps.
 *
 * The file is held open, so neither its removal nor the end of its container takes it away. A copy always ends after
 * a complete line or record, even while others read it. If a map was replaced or emptied, or became too long, a new
 * copy starts and the old one becomes NAME.1, which pjfold queries second. A recorder that is started again
 * continues an existing copy if the file begins with it.
 *
 * The file is hostile: its records can claim any size, it may have holes, and it may be truncated, renamed or
 * written while it is read. One call reads at most `step` bytes and one record, and ends after `ns`. Records are
 * read in blocks: reading a million records of 16 bytes one by one took a million system calls. Holes and pages of
 * zeros are holes in the copy, too, and take no disk space.
 */
#ifndef PJ_JITCOPY_H
#define PJ_JITCOPY_H

#include "common/str.h"

#include <sys/types.h>
#include <time.h>

enum jitcopy_kind { JITCOPY_MAP, JITCOPY_DUMP };

/* Results of jitcopy_go_on. LARGE: a limit was reached. NO_TEXT: the file is no map or jitdump. DISK: the copy cannot
 * be written. EVICTED: retention removed or truncated the copy while the file was followed. */
enum jitcopy_why { JITCOPY_OK, JITCOPY_LARGE, JITCOPY_NO_TEXT, JITCOPY_DISK, JITCOPY_EVICTED };

#define JITCOPY_NAME 112

/* A file in which a JIT describes its code, and the copy of that file. */
struct jitcopy {
	enum jitcopy_kind kind;
	/* descriptor of the file; -1 if there is none yet */
	int fd;
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	/* offset in the file up to which it was copied or skipped */
	uint64_t at;
	/* number of bytes copied since jitcopy_open, with those of copies that were replaced */
	uint64_t written;
	/* size of the current copy in bytes */
	uint64_t length;
	/* size of an earlier run's copy in bytes while it is compared with the file; the comparison has come to offset
	 * `at`. 0 at other times. */
	uint64_t earlier;
	/* time at which the current call must end, in ns of CLOCK_MONOTONIC */
	uint64_t deadline;
	/* number of calls in a row that ended at the deadline and copied nothing */
	unsigned late;
	unsigned ntail;
	/* the ntail bytes of the file before `at`; if they change, the file was replaced */
	char last_bytes[64];
	/* true: the copy is complete or was given up; no more bytes will be copied */
	bool ended;
	/* name of the copy, relative to the directory of copies */
	char name[JITCOPY_NAME];
};

/* Range of a jitdump in which the end of the complete records is to be found. */
struct jitcopy_span {
	/* at: start of the range, 0 or the start of a record; size: end of the range, the size of the file */
	uint64_t at, size;
	uint64_t max;        /* maximum number of bytes of records, not counting the last one */
	uint64_t record_max; /* maximum size of one record in bytes */
};

/* Results of a search for complete records. BAD: the file is no jitdump. LARGE: the record at *end is larger than
 * record_max. LATER: no result yet; try again. */
enum jitcopy_records { RECORDS_OK, RECORDS_BAD, RECORDS_LARGE, RECORDS_LATER };

/* Limits of one copy. All but ns are in bytes. */
struct jitcopy_limits {
	/* maximum size of the copy of a map or a jitdump; a map and its NAME.1 together may have twice as much */
	uint64_t map, dump;
	/* maximum number of bytes that one struct jitcopy copies in total, with copies that were replaced */
	uint64_t total;
	uint64_t step; /* maximum number of bytes that one call reads */
	/* maximum size of one record of a jitdump; real JITs write one record for each function */
	uint64_t record;
	uint64_t ns; /* maximum duration of one call in ns */
	/* Finds the end of the complete records of a jitdump (jitrecords_end). The sizes in the file are hostile, so a
	 * helper process without rights runs that search (symhelper.h), and this module parses no number of the file.
	 * NULL: jitdumps are not copied for now. */
	enum jitcopy_records (*records)(void *to, int fd, const struct jitcopy_span *span, uint64_t *end);
	void *to;
};

/* Cost of one call of jitcopy_go_on, in bytes. */
struct jitcopy_cost {
	/* read: number of bytes that were copied or compared; written: number of bytes that take disk space */
	uint64_t read, written;
};

/* The limits of a recording; member `records` is NULL. */
extern const struct jitcopy_limits jitcopy_limits;

/* Starts to copy the file fd to the file `name` in directory `folder`, and takes ownership of fd. fd is -1 if there is
 * no file yet. folder is a descriptor, which stays the caller's. */
void jitcopy_open(struct jitcopy *jitcopy, enum jitcopy_kind kind, int fd, int folder, const char *name);

/* Continues with fd, the file that the path leads to now, and takes ownership of fd. If it is another file than the
 * current one, or there was none, copies that file from its start. */
void jitcopy_follow(struct jitcopy *jitcopy, int fd, int folder, const struct jitcopy_limits *limits);

/* Copies the next new bytes of the file and sets *cost. Any result other than OK and DISK ends the copy. */
enum jitcopy_why jitcopy_go_on(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
			       struct jitcopy_cost *cost);

/* Returns true if the file has bytes that further calls of jitcopy_go_on would copy. */
bool jitcopy_is_after(const struct jitcopy *jitcopy);

/* Closes the file of the JIT; the copy stays. */
void jitcopy_close(struct jitcopy *jitcopy);

#endif
