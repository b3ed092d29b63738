/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - the static layer: the part of a picture that is visible without script.
 *
 * The SVG has plain presentation attributes, no styles and no ids. Frames are thick strokes, one path for each colour;
 * wide frames have a label and a tooltip. The frames take at most PICTURE_BYTES, whatever the profile is like: the
 * narrowest frames are left out, then the innermost rows of very deep stacks, and the footer reports the rows.
 */
#ifndef PJ_PICTURE_H
#define PJ_PICTURE_H

#include "svg/heat/heatmap.h"
#include "svg/layout/change.h"
#include "svg/layout/styles.h"
#include "svg/layout/labels.h"
#include "svg/layout/linkattrs.h"

#define PICTURE_BYTES 60000
#define PICTURE_ROWS 400
#define PICTURE_PAD 12     /* px to the left and right of the root */
#define PICTURE_WIDTH 1200 /* width in px if the picture adapts to the window */

/* Appearance of the graph. Strings are visible text (visible_str). */
struct look {
	struct str title, subtitle, notes;
	struct str unit;     /* unit of a weight */
	struct str nametype; /* label before names in the viewer, as "Function:" */
	struct str font;     /* CSS list of the font families of frames */
	double font_size;    /* font size of frames in px */
	double char_width;   /* width of a character of that font in em */
	double min_px;       /* least width in px of a frame that is drawn */
	double factor;       /* factor by which shown weights are multiplied */
	uint64_t total;      /* weight of the root box, at least the sum of the layout */
	uint32_t width;      /* width of the picture in px; 0: as wide as the window */
	uint32_t row;        /* height of a row in px, including the gap */
	uint32_t background; /* colour of the background, 0xRRGGBB */
	bool own_background; /* true if the user chose the background */
	uint32_t search;     /* colour of search matches, 0xRRGGBB */
	bool own_search;     /* true if the user chose the colour of matches; otherwise the viewer does */
	bool inverted;       /* true if the root is on top */
	bool legend;         /* true if colours mean kinds of code: the picture has a legend */
	enum label_cut cut;
	struct str header;              /* the `# pj` line of the input, or empty */
	bool reverse;                   /* true if the stacks are reversed */
	bool chart;                     /* true if siblings are in the order of time (flame chart) */
	const struct link_attrs *attrs; /* titles and links of functions; NULL: none */
	const struct heatmap *heat;     /* heat map above the graph; NULL: none */
};

struct picture {
	uint32_t width, height;
	uint32_t ink, muted; /* colours of text and of less important text on the background, 0xRRGGBB */
	struct text head;    /* SVG of the header: content of g.pj-h */
	struct text frames;  /* SVG of the frames: content of g.pj-s */
	struct text foot;    /* text below the frames: content of text.pj-i */
	struct text totals;  /* totals as plain text: "118,593 samples · ..." */
};

/* Makes the static picture. change is NULL if the picture is no difference. */
void picture_make(struct picture *picture, const struct look *look, const struct layout *layout,
		  const struct styles *styles, const struct change *change);
/* Makes a picture without graph that shows the reason `why`. */
void picture_empty(struct picture *picture, const struct look *look, const char *why);
void picture_free(struct picture *picture);

/* CSS list of the font families of all text except the labels of frames. */
extern const char picture_ui_font[];

#endif
