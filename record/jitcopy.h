/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcopy.h - what a JIT writes about its code, copied while it grows: text maps (perf-PID.map) and jitdumps.
 *
 * The file is held open, so neither its removal nor the end of its container takes it away. A copy always ends at a whole
 * line or record, also while it is read by others. A map that was replaced or emptied, and one that is too long, begins anew: the copy
 * so far becomes NAME.1, which fold asks second. A recorder that was started again goes on where the copy ends, if
 * the copy is how the file begins.
 */
#ifndef PJ_JITCOPY_H
#define PJ_JITCOPY_H

#include "str.h"

#include <sys/types.h>
#include <time.h>

enum jitcopy_kind { JITCOPY_MAP, JITCOPY_DUMP };

enum jitcopy_why { JITCOPY_OK, JITCOPY_LARGE, JITCOPY_NO_TEXT, JITCOPY_DISK };

struct jitcopy {
	enum jitcopy_kind kind;
	int fd;           /* what is copied; -1: nothing yet */
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	uint64_t at;      /* bytes of it that were copied, or passed over */
	uint64_t written; /* in all, whatever was replaced */
	uint64_t length;  /* of the copy */
	unsigned ntail;
	char tail[64];    /* the bytes before at: are they still there? */
	bool ended;       /* nothing more of it will be copied */
	char name[72];    /* of the copy, in its folder */
};

struct jitcopy_limits {
	uint64_t map, dump; /* bytes of a copy; of a map with what was before: twice as much */
	uint64_t total;     /* written for one process, ever */
	uint64_t step;      /* in one go */
};

extern const struct jitcopy_limits jitcopy_limits;

/* Takes fd over. folder: where copies go. */
void jitcopy_open(struct jitcopy *c, enum jitcopy_kind kind, int fd, int folder, const char *name);

/* fd is what the path leads to now (taken over): another file than the one at hand, or none was at hand, is copied from now on. */
void jitcopy_follow(struct jitcopy *c, int fd, int folder, const struct jitcopy_limits *l);

/* What is new; *bytes is how much. Anything but OK ends it. */
enum jitcopy_why jitcopy_go_on(struct jitcopy *c, int folder, const struct jitcopy_limits *l, uint64_t *bytes);

void jitcopy_close(struct jitcopy *c);

#endif
