/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/request.h"

#include "common/arena.h"
#include "common/similar.h"
#include "common/text.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- values of options -------------------------------------------------------------------------------------- */

static bool request_is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Returns true if a string can be a CSS list of font families: 1 to 200 letters, digits, blanks and , . _ - */
static bool is_font(struct str string)
{
	if (string.n == 0 || string.n > 200)
		return false;
	for (size_t i = 0; i < string.n; i++) {
		if (!request_is_letter(string.p[i]) && !byte_is_digit(string.p[i]) && !strchr(" ,._-", string.p[i]))
			return false;
	}
	return true;
}

static void set_palette(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct text known = { 0 };
	struct similar similar = similar_to(str_of(value));

	request->palette = palette_find(str_of(value));
	if (request->palette)
		return;
	for (size_t i = 0; palette_name(i).n; i++) {
		text_add(&known, i ? " " : "");
		text_str(&known, palette_name(i));
		similar_offer(&similar, palette_name(i));
	}
	if (similar.found.n)
		die_usage("%s: unknown palette '%s': did you mean %.*s?", name, value, (int)similar.found.n,
			  similar.found.p);
	die_usage("%s: unknown palette '%s': use one of: %.*s", name, value, (int)known.n, known.p);
}

static void set_background(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!palette_background(str_of(value), &request->background))
		die_usage("%s: '%s' is not yellow, blue, green, grey or #rrggbb", name, value);
	request->own_background = true;
}

static void set_search(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!palette_colour(str_of(value), &request->search))
		die_usage("%s: '%s' is not #rgb, #rrggbb or a common colour's name, such as red or teal", name, value);
	request->own_search = true;
}

static void set_font(void *to, const char *value, const char *name)
{
	if (!is_font(str_of(value)))
		die_usage("%s: '%s' is not a list of fonts (letters, digits, blanks and , . _ -)", name, value);
	*(const char **)to = value;
}

static void add_base(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (!*value)
		die_usage("%s: the name of a frame is missing", name);
	request->base = mem_grow(request->base, sizeof(*request->base), request->nbase + 1);
	request->base[request->nbase++] = value;
}

/* Sets the name of the palette map's file: the value of --palette-map; ./palette.map for --cp, whose value is NULL. */
static void set_map(void *to, const char *value, const char *name)
{
	if (value && (!*value || strcmp(value, "-") == 0))
		die_usage("%s: needs the name of a file, which is read and replaced", name);
	*(const char **)to = value ? value : "palette.map";
}

/* Parses the minimum width of a frame: "0.5" is px; "0.1%" is a share of the total, which is stored as -0.001. */
static void set_minwidth(void *to, const char *value, const char *name)
{
	double *min_px = to;
	char *end;
	double v = byte_is_digit(value[0]) || value[0] == '.' ? strtod(value, &end) : -1;

	/* NOLINTNEXTLINE(clang-analyzer-core.*): v is -1 if end is not set */
	if (!(v >= 0) || !isfinite(v) || !(*end == 0 || (end[0] == '%' && end[1] == 0 && v <= 100)))
		die_usage("%s: '%s' is not a width in px or in %%, such as 0.5 or 0.1%%", name, value);
	*min_px = *end == '%' ? -v / 100 : v;
}

static void request_set_min_delta(void *to, const char *value, const char *name)
{
	struct request *request = to;

	opt_min_delta(value, name, &request->points, &request->relative);
}

/* ---- options of flamegraph.pl and inferno ------------------------------------------------------------------- */

/* Returns the reason why an option of flamegraph.pl or inferno-flamegraph has no effect in pjsvg, for a note to the
 * user; a general reason for an unknown option. */
static const char *request_excuse(const char *name)
{
	static const struct {
		const char *name, *text;
	} excuses[] = {
		{ "--random", "colours follow from names, always" },
		{ "--deterministic", "the same input always gives the same bytes" },
		{ "--colordiffusion", "colours follow from names, not from widths" },
		{ "--no-sort", "frames are ordered by name" },
		{ "--encoding", "the picture is UTF-8, whatever the input is" },
		{ "--pretty-xml", "the data is compact, always" },
		{ "--stroke-color", "frames have no border" },
		{ "--uicolor", "the viewer follows the background" },
	};
	size_t i = 0;

	while (i < countof(excuses) && strcmp(excuses[i].name, name) != 0)
		i++;
	return i < countof(excuses) ? excuses[i].text : "it belongs to another tool";
}

static void request_note(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	warn("%s has no effect: %s", name, request_excuse(name));
}

static void request_ignore(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	(void)name;
}

/* ---- the command line --------------------------------------------------------------------------------------- */

static void check_range(const char *name, double value, double least, double max)
{
	if (!(value >= least && value <= max))
		die_usage("%s: %g is not between %g and %g", name, value, least, max);
}

#define ROW_NOT_GIVEN UINT64_MAX
#define ROW_PX 18 /* default height of a row in px, for fonts of the usual size */
#define ROW_AIR 4 /* px by which a row is higher than the font size, including the gap between rows */

/* Sets the row height to fit the font size, unless the user set it. Warns if the user's height is too small for the
 * font. */
static void choose_row(struct request *request)
{
	uint64_t enough = (uint64_t)ceil(request->font_size) + ROW_AIR;

	if (request->row == ROW_NOT_GIVEN)
		request->row = enough > ROW_PX ? enough : ROW_PX;
	check_range("--height", (double)request->row, 4, 200);
	if ((double)request->row < request->font_size)
		warn("--height %ju is less than --fontsize %g: labels of different rows overlap",
		     (uintmax_t)request->row, request->font_size);
}

static void request_check(struct request *request)
{
	if (!request->output && !request->csp_hash && !request->unpack && diag_is_terminal(STDOUT_FILENO))
		die_usage("standard output is a terminal: write the picture to a file with -o flame.svg");
	if (request->width)
		check_range("--width", (double)request->width, 200, 20000);
	check_range("--fontsize", request->font_size, 4, 100);
	choose_row(request);
	check_range("--fontwidth", request->char_width, .1, 2);
	check_range("--factor", request->factor, 1e-15, 1e15);
	check_range("--minwidth", fabs(request->min_px), 0, 1e6);
	if (request->z != -1)
		check_range("--sig", request->z, 0, 100);
	check_range("--total", (double)request->total, 0, (double)INT64_MAX);
}

static void request_print_values(struct out *out, const char *option)
{
	if (strcmp(option, "colors") == 0)
		for (size_t i = 0; palette_name(i).n; i++)
			out_printf(out, "%.*s\n", (int)palette_name(i).n, palette_name(i).p);
}

/* ---- the table of options --------------------------------------------------------------------------------------- */

static void request_add_texts(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Texts"),
		{ 0, "title", "TEXT", OPT_STR, &request->title, NULL,
		  "headline [Flame Graph; Icicle Graph with -i; Flame Chart]" },
		{ 0, "subtitle", "TEXT", OPT_STR, &request->subtitle, NULL, "second line, after the totals" },
		{ 0, "notes", "TEXT", OPT_STR, &request->notes, NULL, "text to store inside the file" },
		{ 0, "countname", "UNIT", OPT_STR, &request->unit, NULL,
		  "unit of the numbers [that of the input, else samples]" },
		{ 0, "nametype", "TEXT", OPT_STR, &request->nametype, NULL, "label before names [Function:]" },
		{ 0, "nameattr", "FILE", OPT_STR, &request->nameattr, NULL,
		  "read titles and links of functions from FILE" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void request_add_output(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Output"),
		{ 'o', "output", "FILE", OPT_CALL, &request->output, opt_svg_path,
		  "write to FILE, complete or not at all; *.svgz is compressed" },
		{ 0, "unpack", NULL, OPT_FLAG, &request->unpack, NULL,
		  "print the folded stacks of pictures made by pjsvg" },
		{ 0, "csp-hash", NULL, OPT_FLAG, &request->csp_hash, NULL,
		  "print the hash of the viewer for a Content-Security-Policy" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void request_add_stacks(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Stacks"),
		{ 'i', "inverted", NULL, OPT_FLAG, &request->inverted, NULL, "root on top (icicle graph)" },
		{ 0, "reverse", NULL, OPT_FLAG, &request->reverse, NULL,
		  "reverse stacks: the innermost function outermost, its callers inside" },
		{ 0, "flamechart", NULL, OPT_FLAG, &request->chart, NULL,
		  "keep the order of lines: the horizontal axis is time" },
		{ 0, "base", "FRAME", OPT_CALL, request, add_base, "only stacks from FRAME on; may be repeated" },
		{ 0, "total", "N", OPT_U64, &request->total, NULL,
		  "width of the root, if more than the sum of all stacks" },
		{ 0, "factor", "F", OPT_DOUBLE, &request->factor, NULL, "show counts multiplied by F [1]" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void request_add_layout(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Layout"),
		{ 0, "width", "PX", OPT_U64, &request->width, NULL, "fixed width [as wide as the window]" },
		{ 0, "height", "PX", OPT_U64, &request->row, NULL, "height of a frame [18, more for large fonts]" },
		{ 0, "minwidth", "PX|X%", OPT_CALL, &request->min_px, set_minwidth,
		  "draw no narrower frame; search finds it [0.5]" },
		{ 0, "fonttype", "FONT", OPT_CALL, &request->font, set_font, "font of frames [monospace]" },
		{ 0, "fontsize", "PX", OPT_DOUBLE, &request->font_size, NULL, "size of that font [11]" },
		{ 0, "fontwidth", "EM", OPT_DOUBLE, &request->char_width, NULL,
		  "width of one of its characters [0.61]" },
		{ 0, "truncate-text-right", NULL, OPT_FLAG, &request->truncate_right, NULL,
		  "truncate long names at their end" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void request_add_colours(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Colours"),
		{ 'c', "colors", "PALETTE", OPT_CALL, request, set_palette,
		  "palette: kind (of code), hot, java, mem, ... [kind]" },
		{ 0, "hash", NULL, OPT_FLAG, &request->hash, NULL, "flamegraph.pl's colours by letters of the name" },
		{ 0, "cp", NULL, OPT_CALL_FLAG, &request->palette_map, set_map,
		  "read and store the colours of names in ./palette.map" },
		{ 0, "palette-map", "FILE", OPT_CALL, &request->palette_map, set_map, "read and store them in FILE" },
		{ 0, "bgcolors", "COLOR", OPT_CALL, request, set_background,
		  "background: yellow, blue, green, grey, #rrggbb [white]" },
		{ 0, "search-color", "COLOR", OPT_CALL, request, set_search, "colour of search matches" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void request_add_differences(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Differences"),
		{ 0, "sig", "Z", OPT_DOUBLE, &request->z, NULL,
		  "two columns: colour differences of Z standard errors [2]" },
		{ 0, "min-delta", "POINTS[,REL%]", OPT_CALL, request, request_set_min_delta,
		  "... and of POINTS percent of the total and REL % of itself [0.5,1%]" },
		{ 0, "negate", NULL, OPT_FLAG, &request->negate, NULL,
		  "two columns: swap the colours of more and less" },
	};

	opt_table_add(table, rows, countof(rows));
}

/* Adds options of flamegraph.pl and inferno that pjsvg accepts, but does not list in --help. */
static void request_add_foreign(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		{ 0, "flame-chart", NULL, OPT_FLAG, &request->chart, NULL, NULL },
		{ 0, "color", "PALETTE", OPT_CALL, request, set_palette, NULL },
		{ 0, "random", NULL, OPT_CALL_FLAG, NULL, request_note, NULL },
		{ 0, "deterministic", NULL, OPT_CALL_FLAG, NULL, request_note, NULL },
		{ 0, "colordiffusion", NULL, OPT_CALL_FLAG, NULL, request_note, NULL },
		{ 0, "no-sort", NULL, OPT_CALL_FLAG, NULL, request_note, NULL },
		{ 0, "encoding", "NAME", OPT_CALL, NULL, request_note, NULL },
		{ 0, "pretty-xml", NULL, OPT_CALL_FLAG, NULL, request_note, NULL },
		{ 0, "stroke-color", "COLOR", OPT_CALL, NULL, request_note, NULL },
		{ 0, "uicolor", "COLOR", OPT_CALL, NULL, request_note, NULL },
		{ 'q', "quiet", NULL, OPT_CALL_FLAG, NULL, request_ignore, NULL },
		{ 'v', "verbose", NULL, OPT_CALL_FLAG, NULL, request_ignore, NULL },
	};

	opt_table_add(table, rows, countof(rows));
}

/* Sets the defaults of all options. */
static void request_set_defaults(struct request *request)
{
	*request = (struct request){
		.palette = palette_find(STR("kind")),
		.row = ROW_NOT_GIVEN,
		.font_size = 11,
		.char_width = .61,
		.factor = 1,
		.min_px = .5,
		.background = 0xffffff,
		.z = -1,
		.points = -1,
		.relative = -1,
	};
}

char **request_parse(struct request *request, int argc, char **argv)
{
	struct opt_table table = { 0 };
	struct tool tool = {
		.name = "pjsvg",
		.does = "draw folded stacks as an interactive flame graph",
		.synopsis = "[options] [file ...]",
		.example = "example: perf record -a -g -F 99 -- sleep 30\n"
			   "         perf script | pjfold | pjsvg --title \"$(hostname)\" > flame.svg",
		.libraries = LIBRARY_ZLIB,
		.single_dash_long = true,
		.print_values = request_print_values,
	};

	request_add_texts(&table, request);
	request_add_output(&table, request);
	request_add_stacks(&table, request);
	request_add_layout(&table, request);
	request_add_colours(&table, request);
	request_add_differences(&table, request);
	request_add_foreign(&table, request);
	tool.opts = table.opt;
	tool.nopts = table.n;
	request_set_defaults(request);
	char **files = opt_parse(&tool, argc, argv);
	free(table.opt);
	request_check(request);
	return files;
}
