/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.h - which colour a frame has.
 *
 * The palette `kind` shows the kind of code of a frame; the caller adds a tint by name (styles.h). All other palettes
 * are those of FlameGraph and inferno with their colours, which the dark theme darkens.
 */
#ifndef PJ_PALETTE_H
#define PJ_PALETTE_H

#include "svg/layout/codekind.h"

struct palette;

struct shade {
	uint32_t light, dark; /* colours in the light and the dark theme, 0xRRGGBB */
	/* Label of the kind of code in the legend; "" if the kind is unknown. A process has its label in every
	 * palette. */
	const char *label;
};

/* Returns the palette of a name, or NULL. */
const struct palette *palette_find(struct str name);
/* Returns the name of palette i, in the order of the manual; empty for i beyond the last. */
struct str palette_name(size_t i);

/* Returns true if the colours of the palette mean kinds of code, so that a legend makes sense. */
bool palette_is_kind(const struct palette *palette);
/* Returns true if colours of the palette depend on the place of a frame: after a separator `--` or not. */
bool palette_is_chain(const struct palette *palette);

/* Returns the colours of a frame, whose name has its suffix, as in the input. hash selects flamegraph.pl's --hash. */
struct shade palette_shade(const struct palette *palette, bool hash, struct str frame, enum code_place place);

/* Returns the colour of the root's box. */
uint32_t palette_root(bool dark);

/* Returns the colour in the dark theme for a colour of a palette without dark colours. */
uint32_t palette_dark(uint32_t light);

/* Returns a mixture of two colours: percent of ink, the rest of paper. */
uint32_t palette_blend(uint32_t ink, uint32_t paper, unsigned percent);

/* Parses flamegraph.pl's name of a background, or #rrggbb. Returns false for other strings. */
bool palette_background(struct str name, uint32_t *rgb);

/* Parses #rgb, #rrggbb or a common colour name of CSS. Returns false for other strings. */
bool palette_colour(struct str name, uint32_t *rgb);

#endif
