/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedhead.h - reads and writes the header of folded text, which is in comments: `# pj key=value ...`, and `#
 * dispersion` of a differential profile.
 *
 * Headers of texts that are read one after the other are merged: numbers are added, the time range grows, and texts
 * that differ are joined by '+'. Unknown keys are ignored, as later versions may add some.
 */
#ifndef PJ_FOLDEDHEAD_H
#define PJ_FOLDEDHEAD_H

#include "common/diag.h"
#include "common/stacks.h"
#include "common/text.h"

/* Dispersion of the counts of a node, and of its callees that have no dispersion of their own: how much the counts vary
 * from window to window beyond counting noise. */
struct folded_noise {
	uint32_t node;
	float dispersion; /* dispersion: variance / mean of the counts, at least 1 */
};

/* Header of a folded text. Empty fields are not written. Texts in a header that was read are valid as long as the
 * stacks that were read with it. */
struct folded_header {
	struct str unit; /* unit of the weights: samples, ns, ... */
	struct str event;
	struct str host;
	struct str labels;
	/* Start and end of the profile as text: seconds of the record clock, or wall time. */
	struct str from, to;
	struct str frequency;
	uint64_t samples;
	bool samples_unknown; /* true if one of the merged headers has no number of samples (samples=); then the sum is
				 unknown and is not written */
	uint64_t lost;
	bool lost_known; /* true if each of the merged headers had lost=; otherwise the sum is a lower bound, and lost=
			    is not written */
	bool present;
	/* Members of the significance rule of a differential profile; 0: unknown. */
	unsigned windows[2]; /* number of windows before [0] and after [1] */
	/* Dispersion of the root, and drift as a fraction (common/significance.h). */
	double dispersion, drift;
	bool has_rule; /* true if z, points and relative are set, also if they are 0 */
	double z, points, relative;
	/* has_compare: true if the user chose to compare shares or counts, false: the totals decide; by_shares: the
	 * choice of the user, true: shares, false: counts */
	bool has_compare, by_shares;
	/* dispersions of nodes that differ from the dispersion of the caller; lines `# dispersion 4.20 a;b;c` */
	struct folded_noise *noise;
	size_t nnoise;
};

/* Comments of a text that is being read. Stacks with a dispersion are stored as text, because their nodes are known
 * only after all stacks are read. */
struct folded_comments {
	bool header; /* true if the text has a `# pj` line */
	struct text stacks;
	struct folded_about {
		double dispersion;
		size_t at, n; /* offset and length of the stack's text in `stacks` */
	} * about;
	size_t n, cap;
};

bool folded_is_header(struct str line); /* returns true if a line, without blanks at its ends, is a `# pj` line */

/* Returns true if a line of folded text is a comment, not a stack. "#{" begins the JSON line of gProfiler. */
static inline bool folded_is_comment(struct str line)
{
	return line.n && line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r' || line.p[1] == '{');
}

/* Parses a line that begins with '#': merges a `# pj` line into *header, stores a dispersion line in *comments, and
 * ignores other lines. Ends the tool if the unit differs from the unit of an earlier header. */
void folded_comment(struct folded_comments *comments, struct folded_header *header, struct str line,
		    struct stacks *stacks, struct place place);

/* Appends '+' and value to the list *have of texts, such as hosts, unless value is empty or in the list, or the list
 * has more than 1,000 bytes. Copies the texts to `arena`. */
void folded_header_join(struct arena *arena, struct str *have, struct str value);

/* Extends the time range of *header by the range from `from` to `to`. */
void folded_header_times(struct folded_header *header, struct str from, struct str to);

/* Moves the dispersions from *comments to *header, each with the node of its stack, and frees *comments. Must be called
 * after all stacks are read. */
void folded_comments_end(struct folded_comments *comments, struct folded_header *header, struct stacks *stacks);

/* Appends the lines before the stacks: the header, and with two columns the dispersions. The last line has no
 * newline. */
void folded_head(struct text *text, const struct folded_header *header, const struct stacks *stacks, unsigned columns);

/* Returns an array with the dispersion of each node: its own, or the dispersion of the nearest caller that has one. The
 * caller frees it. Returns NULL if header has no dispersion, or the tree no nodes. */
float *folded_dispersion(const struct folded_header *header, const struct stacks *stacks);

#endif
