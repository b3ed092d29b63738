/* SPDX-License-Identifier: Apache-2.0 */
/* pjsvg - draw folded stacks as an interactive flame graph. */
#include "svg/assets.h"
#include "common/filter/confine.h"
#include "svg/document.h"
#include "svg/facts.h"
#include "common/formats/folded.h"
#include "svg/request.h"
#include "svg/rule.h"
#include "svg/format/sha256.h"
#include "svg/layout/reroot.h"
#include "svg/format/unpack.h"
#include "common/visible.h"

#include <stdlib.h>

#define NO_STACKS ": no line is a folded stack (a;b;c 42): fold perf script text with pjfold"

/* ---- reading of the input ----------------------------------------------------------------------------------- */

/* Adds the stacks of the file at `path` (NULL: standard input) to *stacks. Returns false if the file is damaged; then
 * the stacks before the damage are added. *columns: number of columns of the files so far; 0 at first. */
static bool pjsvg_read_file(const char *path, struct stacks *stacks, struct folded_header *header,
			    struct folded_tally *tally, unsigned *columns)
{
	struct folded_tally before = *tally;
	struct in input;

	in_open(&input, path);
	in_expect_text(&input);
	unsigned read = folded_read(&input, stacks, header, tally);
	folded_check(&before, tally, input.name);
	if (read && *columns && read != *columns)
		die("%s: a difference between profiles (two numbers a line) cannot be added to a profile", input.name);
	*columns = read ? read : *columns;
	if (*columns > 1 && stacks->in_time)
		die("%s: --flamechart cannot draw a difference between profiles (two numbers a line)", input.name);
	bool complete = !input.errors;
	if (!complete)
		warn_at(in_place(&input), "%s; the part before it is drawn", input.errors);
	in_close(&input);
	return complete;
}

static bool pjsvg_read_all(char **files, struct stacks *stacks, struct folded_header *header,
			   struct folded_tally *tally)
{
	unsigned columns = 0;
	bool complete = true;

	if (!*files)
		complete = pjsvg_read_file(NULL, stacks, header, tally, &columns);
	for (; *files; files++)
		complete &= pjsvg_read_file(*files, stacks, header, tally, &columns);
	if (columns > 1)
		/* creates column 1, which marks the picture as a difference even if all weights after are 0 */
		stacks_add(stacks, 0, 1, 0);
	return complete;
}

/* Returns the stacks to draw: `stacks`; or with --reverse or --base `turned`, which it sets to the reversed or cut
 * stacks. Then it also removes the dispersions from the header, since they refer to nodes of `stacks`. */
static const struct stacks *pjsvg_turn(struct stacks *turned, const struct request *request,
				       const struct stacks *stacks, struct folded_header *header)
{
	struct reroot how = { .base = request->base, .nbase = request->nbase, .reverse = request->reverse };
	struct reroot_dropped dropped;

	if (!request->nbase && !request->reverse)
		return stacks;
	dropped = reroot_stacks(turned, stacks, &how);
	if (dropped.stacks)
		warn("--base: %ju of %ju left out: %ju %s without that frame", (uintmax_t)dropped.weight,
		     (uintmax_t)(stacks_sum(stacks, 0) + stacks_sum(stacks, 1)), (uintmax_t)dropped.stacks,
		     dropped.stacks == 1 ? "stack" : "stacks");
	header->nnoise = 0;
	return turned;
}

/* ---- appearance of the picture ------------------------------------------------------------------------------ */

static struct str pjsvg_given(struct arena *arena, const char *value, struct str otherwise)
{
	return value ? visible_copy(arena, str_of(value)) : otherwise;
}

/* Returns the header lines to store in the picture for --unpack. With --base they have no dispersions, since these do
 * not apply to cut stacks. */
static struct str make_header(struct arena *arena, const struct request *request, const struct stacks *stacks,
			      struct folded_header h)
{
	struct text text = { 0 };

	h.nnoise = request->nbase ? 0 : h.nnoise;
	if (h.present)
		folded_head(&text, &h, stacks, 2);
	struct str header = visible_copy(arena, text_view(&text));
	text_free(&text);
	return header;
}

static struct str default_title(const struct request *request, bool differs)
{
	if (differs)
		return STR("Differential Flame Graph");
	return request->chart ? STR("Flame Chart") : request->inverted ? STR("Icicle Graph") : STR("Flame Graph");
}

static struct look make_look(struct arena *arena, const struct request *request, const struct folded_header *header,
			     uint64_t sum, bool differs)
{
	uint32_t width = request->width ? (uint32_t)request->width : PICTURE_WIDTH;
	struct str unit = header->unit.n ? visible_copy(arena, header->unit) : STR("samples");

	return (struct look){
		.title = pjsvg_given(arena, request->title, default_title(request, differs)),
		.subtitle = facts_subtitle(arena, request->subtitle, header),
		.notes = pjsvg_given(arena, request->notes, STR("")),
		.unit = pjsvg_given(arena, request->unit, unit),
		.nametype = pjsvg_given(arena, request->nametype, STR("Function:")),
		.font = pjsvg_given(arena, request->font, STR(FACTS_FONT)),
		.font_size = request->font_size,
		.char_width = request->char_width,
		.min_px = request->min_px < 0 ? -request->min_px * (width - 2 * PICTURE_PAD) : request->min_px,
		.factor = request->factor,
		.total = request->total > sum ? request->total :
			 sum                  ? sum :
						1,
		.width = (uint32_t)request->width,
		.row = (uint32_t)request->row,
		.background = request->background,
		.own_background = request->own_background,
		.search = request->search,
		.own_search = request->own_search,
		.inverted = request->inverted,
		.legend = palette_is_kind(request->palette) && !request->palette_map,
		.cut = request->truncate_right ? LABEL_RIGHT : LABEL_SMART,
		.reverse = request->reverse,
		.chart = request->chart,
	};
}

/* ---- writing of the picture --------------------------------------------------------------------------------- */

static void pjsvg_assess(struct change *change, struct arena *arena, const struct request *request,
			 const struct look *look, const struct layout *layout, const struct stacks *stacks,
			 const struct folded_header *header)
{
	struct sig_rule rule = rule_make(request, header, stacks, look->unit);
	float *dispersion = folded_dispersion(header, stacks);
	struct text note = { 0 };

	change_make(change, layout, stacks, &rule, dispersion);
	change->negate = request->negate;
	rule_caveat(&note, &rule, header);
	change->note = arena_copy(arena, text_view(&note));
	text_free(&note);
	free(dispersion);
}

static void write_graph(struct out *out, struct arena *arena, const struct request *request, const struct look *look,
			const struct stacks *stacks, const struct folded_header *header, struct palmap *map)
{
	struct styles_how how = { .palette = request->palette,
				  .map = request->palette_map && !stacks->self[1] ? map : NULL,
				  .hash = request->hash,
				  .reverse = request->reverse,
				  .cut = request->nbase > 0 };
	struct layout layout;
	struct styles styles;
	struct change change;
	bool differs = stacks->self[1];

	layout_make(&layout, stacks);
	styles_make(&styles, &layout, stacks, &how);
	if (differs)
		pjsvg_assess(&change, arena, request, look, &layout, stacks, header);
	document_write(out, look, &layout, &styles, differs ? &change : NULL);
	if (differs)
		change_free(&change);
	styles_free(&styles);
	layout_free(&layout);
}

static void report_empty(const struct request *request, const struct folded_tally *tally)
{
	if (tally->lines && request->nbase)
		warn("no samples: no stack has a frame of --base, which must be a complete name, with or "
		     "without its suffix");
	else
		warn("no samples%s", tally->bad && !tally->lines ? NO_STACKS : " in the input");
}

static int pjsvg_draw(const struct request *request, char **files)
{
	static struct out out;
	struct stacks stacks = { .in_time = request->chart };
	struct stacks turned = { .in_time = request->chart };
	struct folded_header header = { 0 };
	struct folded_tally tally = { 0 };
	struct link_attrs attrs = { 0 };
	struct palmap map = { 0 };
	struct arena arena = { 0 };

	if (request->nameattr)
		link_attrs_read(&attrs, request->nameattr);
	if (request->palette_map)
		palmap_read(&map, request->palette_map);
	bool complete = pjsvg_read_all(files, &stacks, &header, &tally);
	facts_report(&tally);
	struct str head = make_header(&arena, request, &stacks, header);
	const struct stacks *s = pjsvg_turn(&turned, request, &stacks, &header);

	bool differs = s->self[1];
	uint64_t sum = stacks_sum(s, 0) + (differs ? stacks_sum(s, 1) : 0);
	struct look look = make_look(&arena, request, &header, differs ? stacks_sum(s, 1) : sum, differs);
	look.attrs = &attrs;
	look.header = head;
	facts_open(&out, request->output);
	if (sum) {
		write_graph(&out, &arena, request, &look, s, &header, &map);
	} else {
		report_empty(request, &tally);
		document_write_empty(&out, &look, "no samples: there was no folded stack (a;b;c 42) in the input");
	}
	out_close(&out);
	palmap_write(&map);
	stacks_free(&stacks);
	stacks_free(&turned);
	link_attrs_free(&attrs);
	palmap_free(&map);
	arena_free(&arena);
	return sum && complete ? PJ_OK : PJ_FAILED;
}

/* ---- --csp-hash and --unpack -------------------------------------------------------------------------------- */

static int print_csp_hash(void)
{
	static struct out out;
	struct text text = { 0 };

	sha256_csp(&text, assets_viewer());
	out_open(&out, NULL);
	out_str(&out, text_view(&text));
	out_char(&out, '\n');
	out_close(&out);
	text_free(&text);
	return PJ_OK;
}

static void read_bytes(struct text *text, const char *path)
{
	struct in input;
	size_t n;

	in_open(&input, path);
	do {
		text_reserve(text, 64 * 1024);
		n = in_read(&input, text->p + text->n, text->cap - text->n);
		text->n += n;
	} while (n);
	if (input.errors)
		die("%s: %s", input.name, input.errors);
	in_close(&input);
}

static void unpack_file(struct unpacked *unpacked, const char *path)
{
	const char *name = path && strcmp(path, "-") != 0 ? path : "standard input";
	struct text bytes = { 0 };
	size_t offset;

	read_bytes(&bytes, path);
	const char *why = unpack_parse(unpacked, text_view(&bytes), &offset);
	if (why && offset)
		die("%s@%zu: %s", name, offset, why);
	if (why)
		die("%s: %s", name, why);
	if (unpacked->pictures > 1)
		warn("%s: %zu pictures, of which the first is unpacked", name, unpacked->pictures);
	text_free(&bytes);
}

/* Prints the folded stacks of all pictures. Unpacks all pictures before it writes, so that there is no output if one
 * picture is invalid. */
static int pjsvg_unpack(char **files, const char *output)
{
	static struct out out;
	size_t n = 0;

	while (files[n])
		n++;
	size_t count = n ? n : 1;
	struct unpacked *unpacked = mem_alloc(sizeof(*unpacked), count);
	for (size_t i = 0; i < count; i++)
		unpack_file(&unpacked[i], n ? files[i] : NULL);
	facts_open(&out, output);
	for (size_t i = 0; i < count; i++) {
		unpack_write(&out, &unpacked[i]);
		unpack_free(&unpacked[i]);
	}
	out_close(&out);
	free(unpacked);
	return PJ_OK;
}

int main(int argc, char **argv)
{
	struct request request;

	diag_tool("pjsvg");
	char **files = request_parse(&request, argc, argv);
	confine(&(struct confine){
		.input = files, .file = { request.nameattr }, .output = { request.output, request.palette_map } });
	int status = request.csp_hash ? print_csp_hash() :
		     request.unpack   ? pjsvg_unpack(files, request.output) :
					pjsvg_draw(&request, files);
	free(request.base);
	return status;
}
