/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folding.h - converts a window of pjrecord, or folded text of any tool, to the text that is spooled.
 *
 * pjfold computes the stacks, in one run for each event of the window. Stores require more than the folded format does:
 * valid UTF-8, each stack once, integer weights above 0, and a header that identifies the window (window.h).
 */
#ifndef PJ_FOLDING_H
#define PJ_FOLDING_H

#include "send/format/window.h"

#include <stdatomic.h>

/* The properties that all windows have in common. The caller owns the strings. */
struct folding {
	/* path of the program */
	const char *pjfold;
	/* first frames are comm-PID (--pid); no code kinds (--annotate=none) */
	bool pids, fp;
	/* empty: host of the recording */
	struct str host;
	/* labels "k=v,k2=v2" by key; hash of the machine id; id of the recorder */
	struct str labels;
	uint64_t machine, recorder;
	/* s since 1970; no store accepts earlier windows; 0: no limit */
	uint64_t since;
	/* when set: ends pjfold, and the result is FOLD_STOPPED */
	const atomic_bool *stop;
	/* more options for pjfold, NULL at the end; may be NULL */
	const char *const *option;
};

/* The result of a conversion. With PART, BAD, CRASHED and FAILED *why is one line with the reason. */
enum fold_result {
	/* text is ready to be spooled */
	FOLD_GOOD,
	/* the window has no samples */
	FOLD_EMPTY,
	/* text is usable, but a part of the window is corrupt */
	FOLD_PART,
	/* the window can never be read */
	FOLD_BAD,
	/* pjfold crashed or reached the time limit: retry a limited number of times */
	FOLD_CRASHED,
	/* not caused by the window: retry later */
	FOLD_FAILED,
	/* not folded, as *stop was set; this is no failure, and the next pjsend folds it */
	FOLD_STOPPED,
};

/* Folds the window of pjrecord in the file `path`, open as fd, which begins at epoch (s since 1970). Appends the
 * text of each event to text. */
enum fold_result folding_chunk(const struct folding *folding, const char *path, int fd, uint64_t epoch,
			       struct text *text, struct text *why);

/* Converts folded text of standard input, a recording that began at epoch and took `seconds` (0: the value in its
 * header, else 1). Appends to text. Never returns FOLD_PART: a line that is no stack indicates wrong or truncated
 * input, so the text is refused, and why names that line. */
enum fold_result folding_text(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why);

/* Appends host in the form that stores accept: other bytes become '-'. */
void folding_host(struct text *text, struct str host);

#endif
