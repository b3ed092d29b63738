/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - pjsvg's command line: what was asked for, checked.
 *
 * Besides its own options it takes those of flamegraph.pl and inferno-flamegraph. What cannot be honoured yet and
 * would give a wrong picture is refused; what has lost its meaning is accepted with a note.
 */
#ifndef PJ_REQUEST_H
#define PJ_REQUEST_H

#include "opt.h"
#include "palette.h"

struct request {
	const char *title, *subtitle, *notes; /* NULL: not given */
	const char *unit, *nametype;
	const char *font;
	const char *output;
	const struct palette *palette;
	uint64_t width, row, total;
	double font_size, char_width, factor;
	double min_px; /* of frames; or, when negative, -share of the total */
	uint32_t background, search;
	bool own_background, own_search;
	bool hash, inverted, truncate_right;
	bool negate;             /* colours of a difference turned round */
	double z;                /* of a difference: least |z|; negative: not given */
	double points, relative; /* least changes, percent of the total and share of the larger side; negative: not given */
};

/* Returns the files to read, NULL behind the last. Ends the tool on --help, --version and wrong usage. */
char **request_parse(struct request *r, int argc, char **argv);

#endif
