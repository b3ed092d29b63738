/* SPDX-License-Identifier: Apache-2.0 */
/* pjheat - draw folded stacks with times as a heat map above a flame graph. */
#include "svg/assets.h"
#include "common/filter/confine.h"
#include "svg/document.h"
#include "svg/facts.h"
#include "common/filter/opt.h"
#include "common/formats/folded.h"
#include "svg/format/sha256.h"
#include "svg/heat/heattime.h"
#include "svg/heat/markers.h"
#include "common/visible.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NO_TIMES "no stack begins with a time (12.340000000;a;b 42): pjfold --time-slice 0.02 perf.data writes them"
#define UNTIMED "the samples have no time: perf record without --no-timestamp records it"
#define NO_TIME STR("[no-time]") /* frame of pjfold for stacks without a time */

struct heatrequest {
	const char *title, *subtitle, *notes, *output;
	/* label of rows (--rows): each outermost frame after the time has a row of its own; NULL: rows are equal parts
	 * of a column */
	const char *rows;
	const char *markers; /* path of a text file with markers; NULL: none */
	double slot;         /* length of a slot in s; 0: pjheat chooses it */
	bool inverted, csp_hash;
};

/* ---- the command line --------------------------------------------------------------------------------------- */

static void heatrequest_check(const struct heatrequest *request)
{
	if (!request->output && !request->csp_hash && diag_is_terminal(STDOUT_FILENO))
		die_usage("standard output is a terminal: write the picture to a file with -o heat.svg");
	if (request->slot != 0 && !(request->slot >= 1e-3 && request->slot <= 86400))
		die_usage("--slot: %g is not between 0.001 and 86400 seconds", request->slot);
	if (request->markers && str_eq(str_of(request->markers), STR("-")))
		die_usage("--markers: standard input has the stacks: name a file");
}

static char **heatrequest_parse(struct heatrequest *request, int argc, char **argv)
{
	const struct opt opts[] = {
		OPT_GROUP("Map"),
		{ 0, "slot", "SECONDS", OPT_SECONDS, &request->slot, NULL,
		  "length of a slot of the map [0.02; longer if the input is long]" },
		{ 0, "rows", "LABEL", OPT_STR, &request->rows, NULL,
		  "a row for each first frame behind the time: host, container, ..." },
		{ 0, "markers", "FILE", OPT_STR, &request->markers, NULL,
		  "mark events such as deployments: lines of a time and a label" },
		OPT_GROUP("Texts"),
		{ 0, "title", "TEXT", OPT_STR, &request->title, NULL, "headline [Heat Map]" },
		{ 0, "subtitle", "TEXT", OPT_STR, &request->subtitle, NULL, "second line, after the totals" },
		{ 0, "notes", "TEXT", OPT_STR, &request->notes, NULL, "text to store inside the file" },
		OPT_GROUP("Output"),
		{ 'i', "inverted", NULL, OPT_FLAG, &request->inverted, NULL, "root of the graph on top" },
		{ 'o', "output", "FILE", OPT_CALL, &request->output, opt_svg_path,
		  "write to FILE, complete or not at all; *.svgz is compressed" },
		{ 0, "csp-hash", NULL, OPT_FLAG, &request->csp_hash, NULL,
		  "print the hash of the viewer for a Content-Security-Policy" },
	};
	const struct tool tool = {
		.name = "pjheat",
		.does = "draw folded stacks with times as a heat map above a flame graph",
		.synopsis = "[options] [file ...]",
		.example = "example: perf record -a -g -F 99 -- sleep 60\n"
			   "         pjfold --time-slice 0.02 perf.data | pjheat > heat.svg",
		.opts = opts,
		.nopts = countof(opts),
		.libraries = LIBRARY_ZLIB,
	};

	*request = (struct heatrequest){ 0 };
	char **files = opt_parse(&tool, argc, argv);
	heatrequest_check(request);
	return files;
}

/* ---- reading of the input ----------------------------------------------------------------------------------- */

/* Exits with a message if the input is perf.data: pjheat needs the output of pjfold with times. The message has the
 * command. */
static void refuse_recording(struct in *input)
{
	if (str_starts(in_peek(input, 8), STR("PERFILE2")))
		die_at((struct place){ input->name, 0 },
		       "this is perf.data: pjfold --time-slice 0.02 FILE | pjheat > heat.svg");
}

/* Adds the stacks of the file at `path` (NULL: standard input) to *stacks. Returns false if the file is damaged; then
 * the stacks before the damage are added. */
static bool pjheat_read_file(const char *path, struct stacks *stacks, struct folded_header *header,
			     struct folded_tally *tally)
{
	struct folded_tally before = *tally;
	struct in input;

	in_open(&input, path);
	refuse_recording(&input);
	in_expect_text(&input);
	unsigned columns = folded_read(&input, stacks, header, tally);
	folded_check(&before, tally, input.name);
	if (columns > 1)
		die("%s: a difference between profiles (two numbers a line) has no times", input.name);
	bool complete = !input.errors;
	if (!complete)
		warn_at(in_place(&input), "%s; the part before it is drawn", input.errors);
	in_close(&input);
	return complete;
}

static bool pjheat_read_all(char **files, struct stacks *stacks, struct folded_header *header,
			    struct folded_tally *tally)
{
	bool complete = true;

	if (!*files)
		complete = pjheat_read_file(NULL, stacks, header, tally);
	for (; *files; files++)
		complete &= pjheat_read_file(*files, stacks, header, tally);
	return complete;
}

/* Reads all markers of a text file. Adds those with a time in the map, sorted by time; warns about the others. */
static void read_markers(struct markers *markers, const struct heatmap *map, struct in *input)
{
	struct place malformed = { 0 };
	struct str line;

	while (in_line(input, &line))
		if (!markers_add(markers, map, line) && markers->malformed == 1)
			malformed = in_place(input);
	markers_sort(markers);
	if (markers->malformed)
		warn_at(malformed,
			"no time and label (2026-11-26T20:38:45Z deploy 1.2); %ju of %ju lines left out for this reason",
			(uintmax_t)markers->malformed, (uintmax_t)markers->lines);
	if (markers->outside)
		warn("%s: %ju of %ju markers left out: they are before or after the samples%s", input->name,
		     (uintmax_t)markers->outside, (uintmax_t)(markers->lines - markers->malformed),
		     markers->outside_wall && map->origin < HEATTIME_WALL ? ", whose times are not of the wall clock" :
									    "");
	if (markers->excess)
		warn("%s: %ju markers left out: a map has at most %d", input->name, (uintmax_t)markers->excess,
		     MARKERS_MAX);
	if (input->errors)
		warn_at(in_place(input), "%s; the markers before it are drawn", input->errors);
}

/* ---- messages to the user ----------------------------------------------------------------------------------- */

#define NAME_BYTES 60 /* maximum length in bytes of a name in a message; a longer name is cut */

static void report_times(const struct slots *slots)
{
	struct text name = { 0 };

	if (!slots->untimed || !slots->ntimes)
		return;
	visible_str(&name, slots->first_untimed);
	warn("%ju of %ju left out: stacks without a time, such as those of '%.*s'", (uintmax_t)slots->untimed,
	     (uintmax_t)(slots->untimed + slots->lost_sum + stacks_sum(&slots->tree, 0)),
	     (int)visible_head(text_view(&name), NAME_BYTES).n, name.p);
	text_free(&name);
}

static void report_slots(const struct heatmap *map)
{
	struct text given = { 0 }, used = { 0 };

	if (!map->joined_ns)
		return;
	heattime_duration(&given, map->joined_ns);
	heattime_duration(&used, map->slot_ns);
	warn("slots of %.*s are joined to slots of %.*s: a map has at most %d columns and %d weights; a shorter time "
	     "range keeps them",
	     (int)given.n, given.p, (int)used.n, used.p, HEATMAP_COLUMNS, HEATMAP_PAIRS);
	text_free(&given);
	text_free(&used);
}

/* ---- writing of the picture --------------------------------------------------------------------------------- */

static struct str pjheat_given(struct arena *arena, const char *value, struct str otherwise)
{
	return value ? visible_copy(arena, str_of(value)) : otherwise;
}

static struct look pjheat_look(struct arena *arena, const struct heatrequest *request,
			       const struct folded_header *header, const struct slots *slots)
{
	uint64_t sum = stacks_sum(&slots->tree, 0);
	struct folded_header known = *header;

	/* Shows the larger number of losses: the header also counts losses without a time, but an input without a
	 * header has only the losses of slots. */
	known.lost = slots->lost_sum > header->lost ? slots->lost_sum : header->lost;
	return (struct look){
		.title = pjheat_given(arena, request->title, STR("Heat Map")),
		.subtitle = facts_subtitle(arena, request->subtitle, &known),
		.notes = pjheat_given(arena, request->notes, STR("")),
		.unit = header->unit.n ? visible_copy(arena, header->unit) : STR("samples"),
		.nametype = STR("Function:"),
		.font = STR(FACTS_FONT),
		.font_size = 11,
		.char_width = .61,
		.min_px = .5,
		.factor = 1,
		.total = sum ? sum : 1,
		.row = 18,
		.background = 0xffffff,
		.inverted = request->inverted,
		.legend = true,
		.cut = LABEL_SMART,
		.header = STR(""),
	};
}

/* Makes the heat map of the slots and writes the picture. markers_input: open file with markers; NULL: none. */
static void write_heat(struct out *out, struct look *look, struct slots *slots, const struct heatrequest *request,
		       struct in *markers_input)
{
	struct markers markers = { 0 };
	uint64_t slot_ns = (uint64_t)(request->slot * 1e9 + .5);
	struct styles_how how = { .palette = palette_find(STR("kind")) };
	struct layout layout;
	struct styles styles;
	struct heatmap map;
	struct heatrows rows = { 0 };

	layout_make(&layout, &slots->tree);
	slots_number(slots, &layout);
	styles_make(&styles, &layout, &slots->tree, &how);
	if (request->rows)
		heatrows_make(&rows, slots, &layout, str_of(request->rows));
	heatmap_make(&map, slots, request->rows ? &rows : NULL, slot_ns);
	report_slots(&map);
	if (markers_input) {
		read_markers(&markers, &map, markers_input);
		map.markers = &markers;
	}
	look->heat = &map;
	document_write(out, look, &layout, &styles, NULL);
	look->heat = NULL;
	heatmap_free(&map);
	markers_free(&markers);
	heatrows_free(&rows);
	styles_free(&styles);
	layout_free(&layout);
}

static int pjheat_draw(const struct heatrequest *request, char **files)
{
	static struct out out;
	static struct in markers_input;
	struct stacks stacks = { 0 };
	struct folded_header header = { 0 };
	struct folded_tally tally = { 0 };
	struct slots slots;
	struct arena arena = { 0 };

	if (request->markers) {
		in_open(&markers_input, request->markers);
		in_expect_lines(&markers_input);
	}
	bool complete = pjheat_read_all(files, &stacks, &header, &tally);
	facts_report(&tally);
	slots_make(&slots, &stacks);
	report_times(&slots);
	struct look look = pjheat_look(&arena, request, &header, &slots);
	bool drawn = stacks_sum(&slots.tree, 0) > 0;
	facts_open(&out, request->output);
	if (drawn) {
		write_heat(&out, &look, &slots, request, request->markers ? &markers_input : NULL);
		complete &= !markers_input.errors;
	} else {
		warn("%s", slots.ntimes                         ? "no samples in the input, only losses" :
			   str_eq(slots.first_untimed, NO_TIME) ? UNTIMED :
			   tally.lines                          ? NO_TIMES :
								  "no samples in the input");
		document_write_empty(&out, &look, "no samples with times in the input");
	}
	out_close(&out);
	if (request->markers)
		in_close(&markers_input);
	stacks_free(&stacks);
	slots_free(&slots);
	arena_free(&arena);
	return drawn && complete ? PJ_OK : PJ_FAILED;
}

static int pjheat_print_hash(void)
{
	static struct out out;
	struct text text = { 0 };

	sha256_csp(&text, assets_heat());
	out_open(&out, NULL);
	out_str(&out, text_view(&text));
	out_char(&out, '\n');
	out_close(&out);
	text_free(&text);
	return PJ_OK;
}

/* Reads the local time zone, for markers without a zone, while files can be opened. Without TZ, the C library would
 * look for changes of /etc/localtime at each conversion. */
static void load_zone(void)
{
	setenv("TZ", ":/etc/localtime", 0);
	tzset();
}

int main(int argc, char **argv)
{
	struct heatrequest request;

	diag_tool("pjheat");
	char **files = heatrequest_parse(&request, argc, argv);
	if (request.markers)
		load_zone();
	confine(&(struct confine){ .input = files, .file = { request.markers }, .output = { request.output } });
	return request.csp_hash ? pjheat_print_hash() : pjheat_draw(&request, files);
}
