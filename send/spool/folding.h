/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folding.h - converts a recorded window, or folded text of any tool, to the window text that is spooled and sent.
 *
 * pjfold computes the stacks, in one run for each event of the window. Stores require more than the folded format does:
 * valid UTF-8, each stack once, integer weights above 0, and a header that identifies the window (window.h).
 */
#ifndef PJ_FOLDING_H
#define PJ_FOLDING_H

#include "send/format/window.h"

#include <stdatomic.h>

/* Parameters that are the same for all windows of a run. The caller owns the strings. */
struct folding {
	/* path of the program pjfold */
	const char *pjfold;
	/* pids: the first frame of each stack is comm-PID (pjfold --pid); without_kinds: frames have no code kinds
	 * (pjfold --annotate=none) */
	bool pids, without_kinds;
	/* host name to use in windows; empty: the host name in the recording */
	struct str host;
	/* labels: "k=v,k2=v2", sorted by key; machine: hash of the machine id; recorder: id of the recorder */
	struct str labels;
	uint64_t machine, recorder;
	/* earliest epoch that the store accepts, in s since 1970; 0: no limit */
	uint64_t since;
	/* true if pjfold must be killed, with the result FOLD_STOPPED; set by another thread */
	const atomic_bool *stop;
	/* additional options for pjfold; the last entry is NULL; NULL: none */
	const char *const *option;
};

/* The result of a conversion. For PART, BAD, CRASHED and FAILED the functions also return the reason in *why, as one
 * line. */
enum fold_result {
	/* the text is complete and ready to be spooled */
	FOLD_GOOD,
	/* the window has no samples; there is nothing to spool */
	FOLD_EMPTY,
	/* the text is ready to be spooled, but a part of the window is corrupt and missing */
	FOLD_PART,
	/* the window cannot be folded, now or later */
	FOLD_BAD,
	/* pjfold crashed, ran out of memory or reached the time limit; the caller retries a limited number of times */
	FOLD_CRASHED,
	/* failure with another cause than the window; the caller retries later */
	FOLD_FAILED,
	/* *stop was set before the window was folded; no failure, as the next pjsend folds it */
	FOLD_STOPPED,
};

/* Folds a window of pjrecord that starts at `epoch`, in s since 1970. path and fd: its file. Appends one window text
 * for each event to *text if the result is FOLD_GOOD or FOLD_PART, else nothing. */
enum fold_result folding_chunk(const struct folding *folding, const char *path, int fd, uint64_t epoch,
			       struct text *text, struct text *why);

/* Converts folded text from standard input to a window text and appends it to *text. epoch: start of the window in s
 * since 1970; seconds: its duration in s; 0: from its header, else 1. A line that is no stack indicates wrong or
 * truncated input, so the text then is refused and *why names the line; the result is FOLD_GOOD, FOLD_EMPTY
 * or FOLD_BAD. *why must be empty before. */
enum fold_result folding_text(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why);

/* Appends a host name in the form that stores accept: letters, digits, '.', '_' and '-'; each other byte, and a '.' at
 * the start, becomes '-'. At most 255 bytes. */
void folding_host(struct text *text, struct str host);

#endif
