/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.h - selects the colour of a frame.
 *
 * The palette `kind` shows the code kind of a frame; the caller adds a tint by name (styles.h). All other palettes come
 * from FlameGraph and inferno; their colours are darkened for the dark theme.
 */
#ifndef PJ_PALETTE_H
#define PJ_PALETTE_H

#include "svg/layout/codekind.h"

struct palette;

struct shade {
	uint32_t light, dark; /* colours in the light and the dark theme, 0xRRGGBB */
	/* label of the code kind in the legend; "" if the kind is unknown; a process has its label in all palettes */
	const char *label;
};

/* Returns the palette named `name`; NULL if there is none. */
const struct palette *palette_find(struct str name);
/* Returns the name of palette i, in the order of the manual; empty after the last palette. */
struct str palette_name(size_t i);

/* Returns true if the colours of the palette show code kinds, so that the picture has a legend; otherwise false. */
bool palette_is_kind(const struct palette *palette);
/* Returns true if the colours of the palette depend on the place of a frame before or after a separator `--`; otherwise
 * false. */
bool palette_is_chain(const struct palette *palette);

/* Returns the colours of a code kind, for a palette of which palette_is_kind is true. */
struct shade palette_of_kind(enum code code);

/* Returns the colours of a frame, for a palette of which palette_is_kind is false. frame: its name with suffix, as in
 * the input; hash: use the colours of flamegraph.pl's --hash. */
struct shade palette_shade(const struct palette *palette, bool hash, struct str frame, enum code_place place);

/* Returns the colour of the root's box, 0xRRGGBB, for a dark or a light background. */
uint32_t palette_root(bool dark);

/* Returns the colour in the dark theme for the light colour of a palette that has only light ones. */
uint32_t palette_dark(uint32_t light);

/* Returns a mixture of two colours: `percent` % of ink, the rest of paper. */
uint32_t palette_blend(uint32_t ink, uint32_t paper, unsigned percent);

/* Sets *rgb to the colour #rrggbb, or to the named background of flamegraph.pl. Returns false for other strings. */
bool palette_background(struct str name, uint32_t *rgb);

/* Sets *rgb to the colour #rgb, #rrggbb or a common colour name of CSS. Returns false for other strings. */
bool palette_colour(struct str name, uint32_t *rgb);

#endif
