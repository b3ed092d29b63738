/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - parses and checks the command line of pjsvg. Besides its own options it accepts those of flamegraph.pl
 * and inferno-flamegraph; an option without effect here is accepted with a note. */
#ifndef PJ_REQUEST_H
#define PJ_REQUEST_H

#include "common/filter/opt.h"
#include "svg/layout/palette.h"

struct request {
	const char *title, *subtitle, *notes; /* NULL: not given */
	const char *unit, *nametype;
	const char *font;
	const char *output;
	const char *nameattr, *palette_map; /* files, NULL: none */
	const char **base;                  /* frames at which stacks are cut */
	size_t nbase;
	const struct palette *palette;
	uint64_t width, row, total;
	double font_size, char_width, factor;
	double min_px; /* minimum width of frames; if negative, -share of the total */
	uint32_t background, search;
	bool own_background, own_search;
	bool hash, inverted, truncate_right, reverse, chart;
	bool unpack, csp_hash; /* the tool unpacks, or prints the hash, and draws nothing */
	bool negate;           /* colours of a difference turned round */
	double z;              /* of a difference: least |z|; negative: not given */
	double points,
		relative; /* least changes, percent of the total and share of the larger side; negative: not given */
};

/* Returns the files to read, NULL behind the last. Ends the tool on --help, --version and wrong usage. */
char **request_parse(struct request *request, int argc, char **argv);

#endif
