/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - parses and checks the command line of pjsvg. Options of flamegraph.pl and inferno-flamegraph are
 * accepted, too; one without an effect in pjsvg causes a note. */
#ifndef PJ_REQUEST_H
#define PJ_REQUEST_H

#include "common/filter/opt.h"
#include "svg/layout/palette.h"

struct request {
	const char *title, *subtitle, *notes; /* texts that the user gave for the picture; NULL: not given */
	const char *unit, *nametype;
	const char *font;
	const char *output;
	/* names of the files with links (--nameattr) and colours (--palette-map); NULL: not given */
	const char *nameattr, *palette_map;
	const char **base; /* names of the frames at which stacks are cut (--base) */
	size_t nbase;
	const struct palette *palette;
	uint64_t width, row, total;
	double font_size, char_width, factor;
	double min_px; /* least width of a drawn frame in px; if negative, its absolute value is a share of the total */
	uint32_t background, search;
	bool own_background, own_search;
	bool hash, inverted, truncate_right, reverse, chart;
	/* unpack: print the stacks of pictures instead of drawing; csp_hash: print the hash of the viewer instead of
	 * drawing */
	bool unpack, csp_hash;
	bool negate; /* true if the two colours of a difference are swapped */
	double z;    /* least |z| of a change that is coloured in a difference; negative: not given */
	/* least change that is coloured in a difference; points: in percent of the total; relative: as a share of the
	 * larger side; negative: not given */
	double points, relative;
};

/* Parses the command line into *request. Returns the names of the input files, NULL after the last. Exits for --help
 * and --version, and with a usage message if the command line is invalid. */
char **request_parse(struct request *request, int argc, char **argv);

#endif
