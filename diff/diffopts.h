/* SPDX-License-Identifier: Apache-2.0 */
/* diffopts.h - parses the command line of pjdiff. */
#ifndef PJ_DIFFOPTS_H
#define PJ_DIFFOPTS_H

#include "common/str.h"

enum request_compare { COMPARE_DEFAULT, COMPARE_SHARES, COMPARE_COUNTS };

/* One option --fail-over PCT[,FRAME-GLOB]: pjdiff exits with status PJ_THRESHOLD if a function that matches the pattern
 * grew by PCT percentage points or more. */
struct request_limit {
	double points;
	struct str glob; /* pattern for names of functions (str_glob); empty: all functions */
};

struct request {
	const char **side[2]; /* paths of the input files before [0] and after [1] */
	size_t nside[2];
	const char *out;
	bool quiet;
	bool header;
	bool exact, strip_hex, scale_column;
	bool table, tsv, all;
	uint64_t rows; /* maximum number of rows of the table; further rows are not printed. 0: no maximum */
	double z, points, relative; /* minimum change, as in struct sig_rule */
	double drift;               /* drift from run to run as a fraction; -1: estimate it from the windows */
	enum request_compare compare;
	struct request_limit *limit;
	size_t nlimits;
};

/* Sets *request, which the caller frees with diffopts_free. Ends the tool on wrong usage. */
void diffopts_parse(struct request *request, int argc, char **argv);
void diffopts_free(struct request *request);

#endif
