/* SPDX-License-Identifier: Apache-2.0 */
/*
 * styles.h - names and colours of frames: each distinct pair (text, colour) in a layout is a style.
 *
 * The text is the shown name: without the suffix of the code kind, and visible text (visible_str). The suffix is part
 * of the colour's kind. Style ids count from 0, sorted by text, then by colour, so a profile gives the same ids for any
 * order of its lines. The suffixes in `kinds` point into the stacks.
 */
#ifndef PJ_STYLES_H
#define PJ_STYLES_H

#include "svg/layout/layout.h"
#include "svg/layout/palette.h"
#include "svg/layout/palmap.h"

/* maximum number of colours; if the frames have more, the colours are rounded until fewer differ */
#define STYLES_COLOURS 1024

struct styles_kind {
	/* label in the legend; with CODE_LABEL_PROCESS, the names of frames are truncated only at their end */
	const char *label;
	struct str suffix;
};

struct styles_colour {
	uint32_t light, dark; /* colours in the light and the dark theme, 0xRRGGBB */
	uint32_t kind;
};

struct styles {
	uint32_t n;
	struct str *text;
	uint32_t *colour; /* for each style: index of its colour in `colours` */
	/* for each style: how pale its colour is, 0 to 3, in palettes of code kinds; the viewer computes the same
	 * value */
	uint8_t *tint;
	uint32_t *of; /* style id of each frame of the layout */
	/* number of distinct texts; a kernel function and a user function of the same name are counted as two */
	uint32_t functions;
	uint32_t ncolours;
	struct styles_colour *colours;
	uint32_t nkinds;
	struct styles_kind *kinds;
	struct arena memory;
};

/* Options by which the colours of frames are chosen. */
struct styles_how {
	const struct palette *palette;
	/* map of names to colours, which has precedence over the palette; names that the map lacks are added to it.
	 * NULL: there is no map */
	struct palmap *map;
	bool hash;    /* true: colours by letters of the name (flamegraph.pl's --hash) */
	bool reverse; /* true if the stacks are reversed, so that processes are innermost */
	bool cut;     /* true if stacks were cut at a frame, so that the outermost frames are not processes */
};

void styles_make(struct styles *styles, const struct layout *layout, const struct stacks *stacks,
		 const struct styles_how *how);
void styles_free(struct styles *styles);

#endif
