/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcopy.h - what a JIT writes about its code, copied while it grows: text maps (perf-PID.map) and jitdumps.
 *
 * The file is held open, so neither its removal nor the end of its container takes it away. A copy always ends at a
 * whole line or record, also while it is read by others. A map that was replaced or emptied, and one that is too long,
 * begins anew: the copy so far becomes NAME.1, which fold asks second. A recorder that was started again goes on where
 * the copy ends, if the copy is how the file begins.
 *
 * The file is hostile: its records claim any size, it may be a hole of the file system, and it may be truncated,
 * renamed or written while it is read. One call reads at most `step` bytes and one record, and ends after `ns`; records
 * are read in blocks, not one by one: a million records of 16 bytes took a million system calls before. Holes and pages
 * of zeros are holes in the copy, too, and take no space of the disk.
 */
#ifndef PJ_JITCOPY_H
#define PJ_JITCOPY_H

#include "common/str.h"

#include <sys/types.h>
#include <time.h>

enum jitcopy_kind { JITCOPY_MAP, JITCOPY_DUMP };

/* EVICTED: the copy was removed or cut by a sweep while the file was followed. */
enum jitcopy_why { JITCOPY_OK, JITCOPY_LARGE, JITCOPY_NO_TEXT, JITCOPY_DISK, JITCOPY_EVICTED };

#define JITCOPY_NAME 112

struct jitcopy {
	enum jitcopy_kind kind;
	int fd; /* what is copied; -1: nothing yet */
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	uint64_t at;       /* bytes of it that were copied, or passed over */
	uint64_t written;  /* copied in all, whatever was replaced */
	uint64_t length;   /* of the copy */
	uint64_t earlier;  /* bytes of the copy of an earlier run, while they are compared with the file: as far as at;
			      else 0 */
	uint64_t deadline; /* of the call that goes on, CLOCK_MONOTONIC ns */
	unsigned late;     /* calls that ended by the deadline and copied nothing */
	unsigned ntail;
	char tail[64];           /* the bytes before at: are they still there? */
	bool ended;              /* nothing more of it will be copied */
	char name[JITCOPY_NAME]; /* of the copy, below its folder */
};

/* Where complete records of a dump are looked for. */
struct jitcopy_span {
	uint64_t at, size;   /* 0 or the start of a record; of the file */
	uint64_t max;        /* bytes of records, but that of the last one */
	uint64_t record_max; /* of one record */
};

/* BAD: it is no dump. LARGE: the record at *end is larger than record_max. LATER: not found out for now. */
enum jitcopy_records { RECORDS_OK, RECORDS_BAD, RECORDS_LARGE, RECORDS_LATER };

struct jitcopy_limits {
	uint64_t map, dump; /* bytes of a copy; of a map with what was before: twice as much */
	uint64_t total;     /* copied for one process, ever */
	uint64_t step;      /* read in one call */
	uint64_t record;    /* of one record of a dump: those of real JITs are functions */
	uint64_t ns;        /* of one call */
	/* Finds the end of complete records of a dump. Sizes in it are its author's, so a process without rights does
	 * it (symhelper.h): this module reads no number of a file. NULL: dumps wait. */
	enum jitcopy_records (*records)(void *to, int fd, const struct jitcopy_span *span, uint64_t *end);
	void *to;
};

/* What one call cost. */
struct jitcopy_cost {
	uint64_t read, written; /* bytes that were copied or compared; that took space */
};

extern const struct jitcopy_limits jitcopy_limits;

/* Takes fd over. folder: where copies go. */
void jitcopy_open(struct jitcopy *jitcopy, enum jitcopy_kind kind, int fd, int folder, const char *name);

/* fd is what the path leads to now (taken over): another file than the one at hand, or none was at hand, is copied from
 * now on. */
void jitcopy_follow(struct jitcopy *jitcopy, int fd, int folder, const struct jitcopy_limits *limits);

/* Copies the next bytes that are new. Anything but OK and DISK ends it. */
enum jitcopy_why jitcopy_go_on(struct jitcopy *jitcopy, int folder, const struct jitcopy_limits *limits,
			       struct jitcopy_cost *cost);

/* True if the file has bytes that were not copied, and would be by further calls. */
bool jitcopy_is_after(const struct jitcopy *jitcopy);

void jitcopy_close(struct jitcopy *jitcopy);

#endif
