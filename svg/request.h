/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - parses and checks the command line of pjsvg. Besides its own options it accepts those of flamegraph.pl
 * and inferno-flamegraph; an option that has no effect in pjsvg is accepted with a note to the user. */
#ifndef PJ_REQUEST_H
#define PJ_REQUEST_H

#include "common/filter/opt.h"
#include "svg/layout/palette.h"

struct request {
	const char *title, *subtitle, *notes; /* texts of the user; NULL: not given */
	const char *unit, *nametype;
	const char *font;
	const char *output;
	const char *nameattr, *palette_map; /* names of files; NULL: none */
	const char **base;                  /* names of the frames at which stacks are cut */
	size_t nbase;
	const struct palette *palette;
	uint64_t width, row, total;
	double font_size, char_width, factor;
	double min_px; /* minimum width of a frame in px; if negative, its share of the total times -1 */
	uint32_t background, search;
	bool own_background, own_search;
	bool hash, inverted, truncate_right, reverse, chart;
	/* true if the tool unpacks pictures, or prints the hash of the viewer, instead of drawing */
	bool unpack, csp_hash;
	bool negate; /* true if the colours of a difference are swapped */
	double z;    /* least |z| of a change in a difference; negative: not given */
	/* Least change in a difference, in percent of the total and as share of the larger side; negative: not
	 * given. */
	double points, relative;
};

/* Parses the command line into *request. Returns the names of the files to read, NULL after the last. Ends the tool on
 * --help, --version and wrong usage. */
char **request_parse(struct request *request, int argc, char **argv);

#endif
