/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedhead.h - the header of folded text, in comments: `# pj key=value ...`, and `# dispersion` of a difference.
 *
 * Hides the form of these lines, and how several headers that are read one after the other become one: numbers are
 * added, the time range grows, texts that differ are joined by '+'. Unknown keys are ignored, as later versions may add
 * some.
 */
#ifndef PJ_FOLDEDHEAD_H
#define PJ_FOLDEDHEAD_H

#include "common/diag.h"
#include "common/stacks.h"
#include "common/text.h"

/* How much the counts of a node and of its callees vary from window to window beyond counting noise. */
struct folded_noise {
	uint32_t node;
	float dispersion; /* variance / mean of the counts, at least 1 */
};

/* The header of a folded text. Empty fields are not written. Texts that were read live as long as the stacks that were
 * read with them. */
struct folded_header {
	struct str unit; /* unit of the weights: samples, ns, ... */
	struct str event;
	struct str host;
	struct str labels;
	/* Start and end of the profile as text: seconds on the record clock, or wall time. */
	struct str from, to;
	struct str frequency;
	uint64_t samples;
	bool samples_unknown; /* true: an input header has no number of samples (samples=), so the sum is unknown and is
				 not written */
	uint64_t lost;
	bool lost_known; /* true if a header had lost=; otherwise none is written */
	bool present;
	/* The significance rule of a differential profile; 0 where unknown. */
	unsigned windows[2]; /* number of windows before [0] and after [1] */
	/* Dispersion of the root, and relative drift (common/significance.h). */
	double dispersion, drift;
	bool has_rule; /* true if z, points and relative are set, maybe to 0 */
	double z, points, relative;
	bool has_compare, by_shares; /* the user chose to compare shares, or counts; else the totals decide */
	struct folded_noise *noise;  /* `# dispersion 4.20 a;b;c` lines, where it is another one than the caller's */
	size_t nnoise;
};

/* The comments of a text that is being read. Stacks with a dispersion are kept as text, since their nodes are known
 * only when all stacks are read. */
struct folded_comments {
	bool header; /* true if there was a `# pj` line */
	struct text stacks;
	struct folded_about {
		double dispersion;
		size_t at, n; /* position and length of the stack's text in stacks */
	} * about;
	size_t n, cap;
};

bool folded_is_header(struct str line); /* returns true if a line without blanks at its ends is a `# pj` line */

/* Reads a line that begins with '#'. Dies if the unit in it differs from that of a previous header. */
void folded_comment(struct folded_comments *comments, struct folded_header *header, struct str line,
		    struct stacks *stacks, struct place place);

/* Stores the dispersions of the comments in *header, by node, and frees *comments. Must be called after all stacks are
 * read. */
void folded_comments_end(struct folded_comments *comments, struct folded_header *header, struct stacks *stacks);

/* Appends the lines in front of the stacks: the header, and for two columns the dispersions. The last line gets no
 * newline. */
void folded_head(struct text *text, const struct folded_header *header, const struct stacks *stacks, unsigned columns);

/* Returns the dispersion of each node: its own, or that of the nearest caller that has one. The caller frees the array
 * of stacks->n values. Returns NULL if header has no dispersion. */
float *folded_dispersion(const struct folded_header *header, const struct stacks *stacks);

#endif
