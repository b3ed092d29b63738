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
	/* path of pjfold */
	const char *pjfold;
	/* pids: first frames are comm-PID (--pid); without_kinds: frames have no code kinds (--annotate=none) */
	bool pids, without_kinds;
	/* name of the host in windows; empty: that of the recording */
	struct str host;
	/* labels: "k=v,k2=v2", sorted by key; machine: hash of the machine id; recorder: id of the recorder */
	struct str labels;
	uint64_t machine, recorder;
	/* earliest epoch in s since 1970 that the store accepts; 0: no limit */
	uint64_t since;
	/* when another thread sets it, pjfold is killed and the result is FOLD_STOPPED */
	const atomic_bool *stop;
	/* more options for pjfold, with NULL at the end; NULL: none */
	const char *const *option;
};

/* The result of a conversion. With PART, BAD, CRASHED and FAILED *why is one line with the reason. */
enum fold_result {
	/* text is ready to be spooled */
	FOLD_GOOD,
	/* the window has no samples, so there is nothing to spool */
	FOLD_EMPTY,
	/* text is usable, but a part of the window is corrupt */
	FOLD_PART,
	/* pjfold can never read the window */
	FOLD_BAD,
	/* pjfold crashed or reached the time limit: retry a limited number of times */
	FOLD_CRASHED,
	/* the window is not the cause of the failure: retry later */
	FOLD_FAILED,
	/* not folded, because *stop was set; no failure: the next pjsend folds the window */
	FOLD_STOPPED,
};

/* Folds the window of pjrecord in the file `path`, open as fd, which begins at epoch (s since 1970). Appends the text
 * of each event to text; appends nothing unless the result is FOLD_GOOD or FOLD_PART. */
enum fold_result folding_chunk(const struct folding *folding, const char *path, int fd, uint64_t epoch,
			       struct text *text, struct text *why);

/* Converts folded text of standard input, a recording that began at epoch and took `seconds` (0: the value in its
 * header, else 1). Appends to text. Never returns FOLD_PART: a line that is no stack indicates wrong or truncated
 * input, so the text is refused, and why names that line. */
enum fold_result folding_text(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why);

/* Appends the host name in the form that stores accept: other bytes than letters, digits, '.', '_' and '-' become
 * '-'. */
void folding_host(struct text *text, struct str host);

#endif
