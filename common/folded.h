/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - folded stacks, the text that all tools exchange: "a;b;c 42". pj-folded(5).
 *
 * Reads what any tool writes: `# ` lines, CRLF, decimals (rounded and counted), two columns. A file has two columns
 * only if every line of it ends in two integers. Writes one form: depth first, siblings by bytes, so equal profiles
 * are equal bytes.
 */
#ifndef PJ_FOLDED_H
#define PJ_FOLDED_H

#include "in.h"
#include "out.h"
#include "stacks.h"
#include "text.h"

/* How much more than counting noise the counts of a node, and of those below it, vary from window to window. */
struct folded_noise {
	uint32_t node;
	float dispersion; /* variance over mean, at least 1 */
};

/* The `# pj key=value ...` line in front of a folded text. Empty fields are not written. What folded_read puts here
 * lives as long as the stacks it was read into. */
struct folded_header {
	struct str unit;  /* samples, ns, ... */
	struct str event;
	struct str host;
	struct str labels;
	struct str from, to;  /* as text: record clock in seconds, or wall time */
	struct str frequency;
	uint64_t samples;
	uint64_t lost;
	bool lost_known; /* lost is written only then */
	bool present;
	/* of a differential profile; 0 where it is not known */
	unsigned windows[2];         /* how many, before and after */
	double dispersion, drift;    /* of the root, and relative: common/significance.h */
	bool has_rule;               /* the next three were chosen, 0 included */
	double z, points, relative;
	struct folded_noise *noise;  /* `# dispersion 4.20 a;b;c` lines, where it is another one than the caller's */
	size_t nnoise;
};

/* What reading found; sums over several files when the same struct is passed again. */
struct folded_tally {
	uint64_t lines;      /* stacks read */
	uint64_t bad;        /* lines that are not stacks, skipped */
	uint64_t rounded;    /* weights with decimals */
	uint64_t comments;
	uint64_t headerless; /* sum of the weights of inputs without header, which are samples */
	struct place first_bad[3]; /* the first places; name NULL where there is none */
	const char *why[3];        /* why these were skipped; static texts */
};

/* One line into stack and weights: returns NULL and sets *stack, *weight, *rounded; else a static reason. Pure. */
const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded);

/* Adds a whole input to s and returns its number of columns (1 or 2; an empty one: 0). Dies when weights overflow. In a
 * two-column file column 0 is before, column 1 after. In time there is one column: of a two-column file s is of no use. */
unsigned folded_read(struct in *in, struct stacks *s, struct folded_header *h, struct folded_tally *t);

/* The node of a stack "a;b;c", each part a frame. */
uint32_t folded_node(struct stacks *s, struct str stack);

/* Appends the lines in front of the stacks: the header, and the dispersions of a difference. No newline at the end. */
void folded_head(struct text *t, const struct stacks *s, const struct folded_header *h);

/* Writes all stacks with a weight. columns 1 or 2. h may be NULL; its noise is of s, and written with two columns. */
void folded_write(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h);

/* Every node's dispersion, callers' where it has none of its own; s->n values, caller frees. NULL: nothing is known. */
float *folded_dispersion(const struct folded_header *h, const struct stacks *s);

/* The name without the suffix that tells its kind of code (`_[k]`, `_[j]`, `_[i]`, `_[0]`, `_[1]`, `_[w]`). */
struct str folded_bare(struct str frame);

#endif
