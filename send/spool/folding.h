/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folding.h - a window of pjrecord, or folded text of anybody, becomes the text that is spooled.
 *
 * pjfold makes the stacks, once for each event of the window. What goes to stores is stricter than what tools exchange:
 * valid UTF-8, each stack once, whole numbers above 0, a header that says which window it is (window.h).
 */
#ifndef PJ_FOLDING_H
#define PJ_FOLDING_H

#include "send/format/window.h"

#include <stdatomic.h>

/* What all windows have in common. */
struct folding {
	const char *pjfold; /* with its path */
	bool pids, fp;      /* --pid; no kinds of code */
	struct str host;    /* empty: as the recording says */
	struct str labels;
	uint64_t machine, recorder;
	uint64_t since;            /* what is earlier no store takes; 0: nothing */
	const atomic_bool *stop;   /* ends pjfold, and the fold with FOLD_STOPPED */
	const char *const *option; /* more options for pjfold, NULL at the end; may be NULL */
};

enum fold_result {
	FOLD_GOOD,    /* text is to be spooled */
	FOLD_EMPTY,   /* no samples: nothing to send */
	FOLD_PART,    /* text is good, but the window was damaged: why */
	FOLD_BAD,     /* it will never be readable: why */
	FOLD_CRASHED, /* pjfold crashed, or never ended: again, but not for ever; why */
	FOLD_FAILED,  /* not the window's fault: again, later; why */
	FOLD_STOPPED, /* not folded, as *stop was set: no failure; the next pjsend folds it */
};

/* path: of the window; dir: the folder that it is described with in messages. fd: it, open. Appends to text. */
enum fold_result folding_chunk(const struct folding *folding, const char *path, int fd, uint64_t epoch,
			       struct text *text, struct text *why);

/* Folded text of standard input, which began at epoch and took seconds (0: as its header says, or 1). Never FOLD_PART:
 * a text with a line that is no stack was not meant, or is cut; why names that line. */
enum fold_result folding_text(const struct folding *folding, struct str folded, uint64_t epoch, uint64_t seconds,
			      struct text *text, struct text *why);

/* Bytes of a host that stores take: others become '-'. */
void folding_host(struct text *text, struct str host);

#endif
