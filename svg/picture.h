/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - the static layer: what every program shows that runs no script.
 *
 * Plain presentation attributes, no styles, no ids. Frames are thick strokes, one path a colour; wide ones have a
 * label and a tooltip. It stays below PICTURE_BYTES whatever the profile is like: the narrowest frames
 * are dropped, then the innermost rows of very deep stacks, and the footer reports it.
 */
#ifndef PJ_PICTURE_H
#define PJ_PICTURE_H

#include "svg/layout/change.h"
#include "svg/layout/styles.h"
#include "svg/layout/labels.h"
#include "svg/layout/linkattrs.h"

#define PICTURE_BYTES 60000
#define PICTURE_ROWS 400
#define PICTURE_PAD 12     /* px beside the root */
#define PICTURE_WIDTH 1200 /* width if the picture adapts to the window */

/* Appearance of the graph. Strings are visible text (visible_str). */
struct look {
	struct str title, subtitle, notes;
	struct str unit;     /* unit of a weight */
	struct str nametype; /* label before names in the viewer */
	struct str font;     /* CSS list */
	double font_size;    /* px */
	double char_width;   /* em */
	double min_px;       /* narrower frames are not drawn */
	double factor;       /* shown weights are multiplied by it */
	uint64_t total;      /* of the root box, at least the sum of the layout */
	uint32_t width;      /* px; 0: as wide as the window */
	uint32_t row;        /* px, the gap included */
	uint32_t background; /* 0xRRGGBB */
	bool own_background; /* the user chose it */
	uint32_t search;     /* 0xRRGGBB of matches */
	bool own_search;     /* the user chose it, not the viewer */
	bool inverted;       /* root on top */
	bool legend;         /* colours mean kinds of code */
	enum label_cut cut;
	struct str header;              /* the input's `# pj` line, or empty */
	bool reverse;                   /* frames of stacks were turned round */
	bool chart;                     /* siblings are in order of time */
	const struct link_attrs *attrs; /* NULL: none */
};

struct picture {
	uint32_t width, height;
	uint32_t ink, muted; /* text on the background */
	struct text head;    /* content of g.pj-h */
	struct text frames;  /* content of g.pj-s */
	struct text foot;    /* text.pj-i */
	struct text totals;  /* "118,593 samples · ..."; plain text */
};

/* change: NULL where it is no difference. */
void picture_make(struct picture *picture, const struct look *look, const struct layout *layout,
		  const struct styles *styles, const struct change *change);
void picture_empty(struct picture *picture, const struct look *look,
		   const char *why); /* draws a graph without samples */
void picture_free(struct picture *picture);

extern const char picture_ui_font[]; /* font of all text but the labels of frames */

#endif
