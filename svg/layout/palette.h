/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.h - which colour a frame has.
 *
 * The palette `kind` shows the kind of code of a frame; the caller adds a tint by name (styles.h). All others are those
 * of FlameGraph and inferno with their colours; the dark theme darkens these.
 */
#ifndef PJ_PALETTE_H
#define PJ_PALETTE_H

#include "svg/layout/codekind.h"

struct palette;

struct shade {
	uint32_t light, dark; /* 0xRRGGBB */
	const char *label; /* of the kind of code, for the legend; "" when nothing is known; a process has its in all */
};

const struct palette *palette_find(struct str name); /* NULL: no such palette */
struct str palette_name(size_t i);                   /* all names, in the order of the manual; empty behind the last */

bool palette_is_kind(const struct palette *palette);  /* its colours mean kinds of code: a legend makes sense */
bool palette_is_chain(const struct palette *palette); /* places matter: what stands behind `--` */

/* Returns the colours of a frame, which has its suffix, as in the input. hash: flamegraph.pl's --hash. */
struct shade palette_shade(const struct palette *palette, bool hash, struct str frame, enum code_place place);

uint32_t palette_root(bool dark); /* colour of the root box */

uint32_t palette_dark(uint32_t light); /* the colour in the dark theme, for palettes without one */

uint32_t palette_blend(uint32_t ink, uint32_t paper, unsigned percent); /* ink covers that much of the paper */

/* flamegraph.pl's names for backgrounds, or #rrggbb; false: neither. */
bool palette_background(struct str name, uint32_t *rgb);

/* #rgb, #rrggbb or one of CSS's common names; false: neither. */
bool palette_colour(struct str name, uint32_t *rgb);

#endif
