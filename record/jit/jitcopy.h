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

/* Results of a call. LARGE: a limit was reached. NO_TEXT: the file is no map or jitdump. DISK: the copy cannot be
 * written. EVICTED: the copy was removed or truncated by retention while the file was followed. */
enum jitcopy_why { JITCOPY_OK, JITCOPY_LARGE, JITCOPY_NO_TEXT, JITCOPY_DISK, JITCOPY_EVICTED };

#define JITCOPY_NAME 112

/* One file and its copy. */
struct jitcopy {
	enum jitcopy_kind kind;
	/* the file; -1 if there is none yet */
	int fd;
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	/* bytes of the file that were copied or skipped */
	uint64_t at;
	/* bytes copied in total, including replaced copies */
	uint64_t written;
	/* bytes of the copy */
	uint64_t length;
	/* bytes of the copy of an earlier run while it is compared with the file, which is done up to `at`; else 0 */
	uint64_t earlier;
	/* end of the current call, CLOCK_MONOTONIC ns */
	uint64_t deadline;
	/* number of calls that ended at the deadline and copied nothing */
	unsigned late;
	unsigned ntail;
	/* the last bytes before `at`, to detect that the file was replaced */
	char last_bytes[64];
	/* no more bytes will be copied */
	bool ended;
	/* name of the copy in its directory */
	char name[JITCOPY_NAME];
};

/* Range of a jitdump in which complete records are searched. */
struct jitcopy_span {
	uint64_t at, size;   /* start: 0 or the start of a record; end: the size of the file */
	uint64_t max;        /* maximum bytes of records, without the last one */
	uint64_t record_max; /* maximum bytes of one record */
};

/* BAD: the file is no jitdump. LARGE: the record at *end is larger than record_max. LATER: no result yet; try again. */
enum jitcopy_records { RECORDS_OK, RECORDS_BAD, RECORDS_LARGE, RECORDS_LATER };

/* Limits of one copy; all but ns are in bytes. */
struct jitcopy_limits {
	uint64_t map, dump; /* maximum of a copy; a map and its NAME.1 together have twice as much */
	uint64_t total;     /* copied for one process in total */
	uint64_t step;      /* read in one call */
	uint64_t record;    /* one record of a jitdump; real JITs write one for each function */
	uint64_t ns;        /* duration of one call */
	/* Finds the end of the complete records of a jitdump. Sizes in it are hostile, so a helper process without
	 * rights does it (symhelper.h): this module reads no number of a file. NULL: jitdumps are not copied for
	 * now. */
	enum jitcopy_records (*records)(void *to, int fd, const struct jitcopy_span *span, uint64_t *end);
	void *to;
};

/* Cost of one call. */
struct jitcopy_cost {
	uint64_t read, written; /* bytes that were copied or compared, and bytes that take disk space */
};

/* The limits of a recording, without `records`. */
extern const struct jitcopy_limits jitcopy_limits;

/* Starts to copy fd, of which it takes ownership; -1 if there is no file yet. folder is the descriptor of the
 * directory of copies. */
void jitcopy_open(struct jitcopy *jitcopy, enum jitcopy_kind kind, int fd, int folder, const char *name);

/* Continues with fd, the file that the path leads to now, of which it takes ownership. If it is another file than
 * the current one, or there was none, it is copied from now on. */
void jitcopy_follow(struct jitcopy *jitcopy, int fd, int folder, const struct jitcopy_limits *limits);

/* Copies the next new bytes and sets *cost. Any result but OK and DISK ends the copy. */
enum jitcopy_why jitcopy_go_on(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
			       struct jitcopy_cost *cost);

/* Returns true if the file has bytes that further calls would copy. */
bool jitcopy_is_after(const struct jitcopy *jitcopy);

/* Closes the file; the copy stays. */
void jitcopy_close(struct jitcopy *jitcopy);

#endif
