/* SPDX-License-Identifier: Apache-2.0 */
/*
 * styles.h - what frames are called and coloured: the distinct (text, colour) of a layout.
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

#define STYLES_COLOURS 1024 /* more different colours than this are rounded until they are fewer */

struct styles_kind {
	const char *label; /* CODE_LABEL_PROCESS: names of these frames are cut at their end only */
	struct str suffix;
};

struct styles_colour {
	uint32_t light, dark; /* 0xRRGGBB */
	uint32_t kind;
};

struct styles {
	uint32_t n;
	struct str *text;
	uint32_t *colour;   /* of each name */
	uint8_t *tint;      /* of each name, 0..3: how pale it is where colours are kinds, as the viewer computes it */
	uint32_t *of;       /* name id by frame of the layout */
	uint32_t functions; /* different texts; the kernel's are its own */
	uint32_t ncolours;
	struct styles_colour *colours;
	uint32_t nkinds;
	struct styles_kind *kinds;
	struct arena memory;
};

/* Input of the choice of colours. */
struct styles_how {
	const struct palette *palette;
	struct palmap *map; /* NULL, or colours that win over the palette's; new names are added */
	bool hash;          /* flamegraph.pl's --hash */
	bool reverse;       /* stacks were turned round: processes are innermost */
	bool cut;           /* stacks were cut at a frame: there are no processes */
};

void styles_make(struct styles *styles, const struct layout *layout, const struct stacks *stacks,
		 const struct styles_how *how);
void styles_free(struct styles *styles);

#endif
