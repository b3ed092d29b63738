/* SPDX-License-Identifier: Apache-2.0 */
/*
 * styles.h - names and colours of frames: the distinct (text, colour) of a layout, each a style.
 *
 * Text is the shown name: without the suffix of the kind of code, and safe (visible_str). The suffix is part of the
 * colour's kind. Ids count from 0 in the order of the bytes of the text, then of the colour. So the same profile gives
 * the same ids for any order of its lines. The suffixes of kinds are the bytes of the stacks.
 */
#ifndef PJ_STYLES_H
#define PJ_STYLES_H

#include "svg/layout/layout.h"
#include "svg/layout/palette.h"
#include "svg/layout/palmap.h"

#define STYLES_COLOURS 1024 /* limit for the number of colours; more are rounded until they are fewer */

struct styles_kind {
	const char *label; /* label in the legend; with CODE_LABEL_PROCESS, names are shortened at their end only */
	struct str suffix;
};

struct styles_colour {
	uint32_t light, dark; /* 0xRRGGBB */
	uint32_t kind;
};

struct styles {
	uint32_t n;
	struct str *text;
	uint32_t *colour; /* for each style, index of its colour in colours */
	/* for each style, 0 to 3: how pale the colour is in palettes of kinds; the viewer computes the same */
	uint8_t *tint;
	uint32_t *of; /* style id of each frame of the layout */
	/* number of distinct texts; a kernel function counts apart from a user function of the same name */
	uint32_t functions;
	uint32_t ncolours;
	struct styles_colour *colours;
	uint32_t nkinds;
	struct styles_kind *kinds;
	struct arena memory;
};

/* Options for the choice of colours. */
struct styles_how {
	const struct palette *palette;
	struct palmap *map; /* colours that have precedence over the palette; new names are added; NULL: none */
	bool hash;          /* flamegraph.pl's --hash: colours by letters of the name */
	bool reverse;       /* true if the stacks are reversed: processes are innermost */
	bool cut;           /* true if stacks were cut at a frame: there are no processes */
};

void styles_make(struct styles *styles, const struct layout *layout, const struct stacks *stacks,
		 const struct styles_how *how);
void styles_free(struct styles *styles);

#endif
