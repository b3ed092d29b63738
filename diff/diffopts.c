/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diffopts.h"

#include "common/arena.h"
#include "common/filter/opt.h"
#include "common/significance.h"

#include <math.h>
#include <stdlib.h>

static void diffopts_add_file(struct request *request, unsigned side, const char *path)
{
	request->side[side] = mem_grow(request->side[side], sizeof(*request->side[side]), request->nside[side] + 1);
	request->side[side][request->nside[side]++] = path;
}

static void opt_before(void *to, const char *value, const char *name)
{
	(void)name;
	diffopts_add_file(to, 0, value);
}

static void opt_after(void *to, const char *value, const char *name)
{
	(void)name;
	diffopts_add_file(to, 1, value);
}

static void opt_table(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->table = true;
	if (value && !str_u64(str_of(value), &request->rows))
		die_usage("%s: '%s' is not a whole number", name, value);
}

static void opt_tsv(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	(void)name;
	request->table = request->tsv = true;
}

static void diffopts_set_min_delta(void *to, const char *value, const char *name)
{
	struct request *request = to;

	opt_min_delta(value, name, &request->points, &request->relative);
}

static void opt_drift(void *to, const char *value, const char *name)
{
	struct request *request = to;
	const char *at = value;

	request->drift = -1;
	if (str_eq(str_of(value), STR("auto")))
		return;
	if (!opt_number(&at, 100, &request->drift) || *at)
		die_usage("%s: '%s' is neither a percentage nor auto", name, value);
	request->drift /= 100;
}

static void opt_compare(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	request->compare = str_eq(str_of(name), STR("--counts")) ? COMPARE_COUNTS : COMPARE_SHARES;
}

static void opt_fail_over(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct request_limit limit = { 0 };
	const char *at = value;

	if (!opt_number(&at, 100, &limit.points) || (*at && *at != ','))
		die_usage("%s: '%s' is not PCT or PCT,FRAME-GLOB: 2%% or '2,java/util/*'", name, value);
	if (*at)
		limit.glob = str_of(at + 1);
	if (*at && limit.glob.n == 0)
		die_usage("%s: '%s' has no pattern after the comma", name, value);
	request->limit = mem_grow(request->limit, sizeof(*request->limit), request->nlimits + 1);
	request->limit[request->nlimits++] = limit;
}

/* Adds the operands, BEFORE AFTER or BEFORE... : AFTER..., to request->side. Ends the tool on wrong usage, and if a
 * side has no file. */
static void diffopts_take_operands(struct request *request, char **operand)
{
	size_t n = 0, colon = 0, stdins = 0;
	bool split = false;

	for (; operand[n]; n++) {
		if (!str_eq(str_of(operand[n]), STR(":")))
			continue;
		if (split)
			die_usage("two ':': give one, between the files before and after");
		split = true;
		colon = n;
	}
	if (n && request->nside[0] + request->nside[1])
		die_usage("'%s': give files either by --before and --after or as operands", operand[0]);
	if (n && !split && n != 2)
		die_usage("%llu file%s: give two, or several a side separated by ':', as in a1 a2 : b1 b2",
			  (unsigned long long)n, n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++)
		if (!split || i != colon)
			diffopts_add_file(request, i > (split ? colon : 0), operand[i]);
	if (!request->nside[0] || !request->nside[1])
		die_usage("no files %s: give two, BEFORE and AFTER", request->nside[0] ? "after" : "before");
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < request->nside[side]; i++)
			stdins += str_eq(str_of(request->side[side][i]), STR("-"));
	if (stdins > 1)
		die_usage("standard input can be read once only");
}

void diffopts_parse(struct request *request, int argc, char **argv)
{
	const struct opt opts[] = {
		OPT_GROUP("Input and output"),
		{ 'o', "output", "FILE", OPT_CALL, &request->out, opt_text_path,
		  "write to FILE, complete or not at all (standard output)" },
		{ 'a', "before", "FILE", OPT_CALL, request, opt_before,
		  "add a window to the profile before; may be repeated" },
		{ 'b', "after", "FILE", OPT_CALL, request, opt_after,
		  "add a window to the profile after; may be repeated" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "no summary" },
		{ 0, "no-header", NULL, OPT_NOFLAG, &request->header, NULL,
		  "write no line '# pj ...' and no dispersions" },
		OPT_GROUP("Table"),
		{ 0, "table", "[=N]", OPT_CALL, request, opt_table,
		  "print the N functions that changed most instead (50; 0: all)" },
		{ 0, "tsv", NULL, OPT_CALL_FLAG, request, opt_tsv,
		  "print the table for scripts: fields separated by tabs" },
		{ 0, "all", NULL, OPT_FLAG, &request->all, NULL, "include functions that did not change in the table" },
		OPT_GROUP("Thresholds"),
		{ 0, "fail-over", "PCT[,FRAME-GLOB]", OPT_CALL, request, opt_fail_over,
		  "exit 3 if a function grew by PCT points; may be repeated" },
		{ 0, "min-delta", "POINTS[,REL%]", OPT_CALL, request, diffopts_set_min_delta,
		  "minimum change: percent of the total, and of the function (0.5,1%)" },
		{ 0, "sig", "Z", OPT_DOUBLE, &request->z, NULL,
		  "minimum change in standard deviations (2; 0: no test)" },
		{ 0, "drift", "R%|auto", OPT_CALL, request, opt_drift,
		  "difference between runs of one program (auto: from several windows)" },
		OPT_GROUP("Comparison"),
		{ 0, "shares", NULL, OPT_CALL_FLAG, request, opt_compare,
		  "compare shares of the totals (if these differ by over 2 %)" },
		{ 0, "counts", NULL, OPT_CALL_FLAG, request, opt_compare, "compare absolute counts" },
		{ 'n', "normalize", NULL, OPT_FLAG, &request->scale_column, NULL,
		  "scale the first column to the total of the second" },
		{ 's', "strip-hex", NULL, OPT_FLAG, &request->strip_hex, NULL,
		  "replace each 0x12ab in a name by 0x..." },
		{ 0, "exact", NULL, OPT_FLAG, &request->exact, NULL,
		  "distinguish kinds of code, clones and generated classes" },
	};
	const struct tool tool = {
		.name = "pjdiff",
		.does = "compare two profiles and report the changes",
		.synopsis = "[options] BEFORE AFTER\n       pjdiff [options] BEFORE ... : AFTER ...",
		.example = "example: pjdiff before.folded after.folded | pjsvg > diff.svg\n"
			   "         pjdiff --table before.folded after.folded",
		.opts = opts,
		.nopts = countof(opts),
		.libraries = LIBRARY_ZLIB,
	};
	char **operand;

	*request = (struct request){
		.header = true, .rows = 50, .z = SIG_Z, .points = SIG_POINTS, .relative = SIG_RELATIVE, .drift = -1
	};
	operand = opt_parse(&tool, argc, argv);
	if (request->z > 1000)
		die_usage("--sig %g: at most 1000", request->z);
	if (request->all && !request->table)
		die_usage("--all needs --table");
	if (request->scale_column && request->table)
		die_usage("--normalize scales folded text; --table compares --shares");
	diffopts_take_operands(request, operand);
}

void diffopts_free(struct request *request)
{
	free(request->side[0]);
	free(request->side[1]);
	free(request->limit);
}
