/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedhead.h - the header of folded text, in comments: `# pj key=value ...`, and `# dispersion` of a difference.
 *
 * Hides how that is spelled, and what becomes of several headers that are read one after the other: numbers add up, the
 * stretch of time grows, what differs is joined by '+'. What is not known is passed over, for later versions of ours.
 */
#ifndef PJ_FOLDEDHEAD_H
#define PJ_FOLDEDHEAD_H

#include "common/diag.h"
#include "common/stacks.h"
#include "common/text.h"

/* Variation of the counts of a node, and of those below it, between windows, beyond counting noise. */
struct folded_noise {
	uint32_t node;
	float dispersion; /* variance over mean, at least 1 */
};

/* Empty fields are not written. What was read lives as long as the stacks that were read with it. */
struct folded_header {
	struct str unit; /* samples, ns, ... */
	struct str event;
	struct str host;
	struct str labels;
	struct str from, to; /* as text: record clock in seconds, or wall time */
	struct str frequency;
	uint64_t samples;
	bool samples_unknown; /* a header lacks them: then they are not written */
	uint64_t lost;
	bool lost_known; /* lost is written only then */
	bool present;
	/* of a differential profile; 0 where it is not known */
	unsigned windows[2];      /* how many, before and after */
	double dispersion, drift; /* of the root, and relative: common/significance.h */
	bool has_rule;            /* the next three were chosen, 0 included */
	double z, points, relative;
	struct folded_noise *noise; /* `# dispersion 4.20 a;b;c` lines, where it is another one than the caller's */
	size_t nnoise;
};

/* Comments while a text is read: which nodes dispersions mean is known when all stacks are there. */
struct folded_comments {
	bool header; /* there was one */
	struct text stacks;
	struct folded_about {
		double dispersion;
		size_t at, n; /* of the stack in stacks */
	} * about;
	size_t n, cap;
};

bool folded_is_header(struct str line); /* returns true for a trimmed line of the header */

/* Reads a line that begins with '#'. Dies if its unit differs from that of the previous header. */
void folded_comment(struct folded_comments *comments, struct folded_header *header, struct str line,
		    struct stacks *stacks, struct place place);

/* Stores the dispersions of the comments in *header, by node, and frees comments. To be called after all stacks are
 * read. */
void folded_comments_end(struct folded_comments *comments, struct folded_header *header, struct stacks *stacks);

/* Appends the lines in front of the stacks: the header, and with two columns the dispersions. No newline at the end. */
void folded_head(struct text *text, const struct folded_header *header, const struct stacks *stacks, unsigned columns);

/* Returns the dispersion of each node, or that of the nearest caller that has one; stacks->n values, which the caller
 * frees. Returns NULL if there is none. */
float *folded_dispersion(const struct folded_header *header, const struct stacks *stacks);

#endif
