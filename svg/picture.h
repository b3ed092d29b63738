/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - the static layer: the part of a picture that is visible without script.
 *
 * The SVG has plain presentation attributes, no style sheet and no ids. Frames are thick strokes, one path for each
 * colour; wide frames have a label and a tooltip. The frames need at most PICTURE_BYTES for any profile: the narrowest
 * frames are left out first, then the innermost rows of very deep stacks, and the footer reports how many rows are left
 * out.
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
#define PICTURE_WIDTH 1200 /* width in px of the static layer if the picture adapts to the window */

/* Appearance of the graph. Strings are visible text (visible_str). */
struct look {
	struct str title, subtitle, notes;
	struct str unit;     /* unit of a weight, such as "samples" */
	struct str nametype; /* label before names in the viewer, e.g. "Function:" */
	struct str font;     /* CSS list of font families for the labels of frames */
	double font_size;    /* font size in px of the labels of frames */
	double char_width;   /* width of a character of `font` in em */
	double min_px;       /* least width in px of a drawn frame; narrower frames are left out */
	double factor;       /* factor by which shown weights are multiplied */
	uint64_t total;      /* weight of the root's box: at least layout.sum */
	uint32_t width;      /* width of the picture in px; 0: as wide as the window */
	uint32_t row;        /* height of a row in px, including the gap */
	uint32_t background; /* background colour, 0xRRGGBB */
	/* true if the user chose `background`; false: it is the default, and the viewer adapts it to the theme */
	bool own_background;
	uint32_t search; /* colour of search matches, 0xRRGGBB */
	bool own_search; /* true if the user chose `search`; false: the viewer chooses the colour */
	bool inverted;   /* true if the root is on top */
	bool legend;     /* true if colours show code kinds: the picture then has a legend */
	enum label_cut cut;
	struct str header;              /* the `# pj` line of the input; empty: none */
	bool reverse;                   /* true if the stacks are reversed */
	bool chart;                     /* true if siblings are in the order of time (flame chart) */
	const struct link_attrs *attrs; /* titles and links of functions; NULL: none */
	const struct heatmap *heat;     /* heat map above the graph; NULL: none */
};

struct picture {
	uint32_t width, height;
	uint32_t ink, muted; /* colours of text (ink) and of less important text (muted), 0xRRGGBB */
	struct text head;    /* SVG of the header: content of g.pj-h */
	struct text frames;  /* SVG of the frames: content of g.pj-s */
	struct text foot;    /* text below the frames: content of text.pj-i */
	struct text totals;  /* totals as plain text: "118,593 samples · ..." */
};

/* Makes the static picture. change: NULL if the picture is not a difference. The caller frees it by picture_free. */
void picture_make(struct picture *picture, const struct look *look, const struct layout *layout,
		  const struct styles *styles, const struct change *change);
/* Makes a picture without a graph that shows the text `why`. */
void picture_empty(struct picture *picture, const struct look *look, const char *why);
void picture_free(struct picture *picture);

/* CSS list of font families for all text except the labels of frames. */
extern const char picture_ui_font[];

#endif
