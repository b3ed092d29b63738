/* SPDX-License-Identifier: Apache-2.0 */
/* pjsvg - draw folded stacks as an interactive flame graph. */
#include "svg/assets.h"
#include "common/filter/confine.h"
#include "svg/document.h"
#include "common/formats/folded.h"
#include "svg/request.h"
#include "svg/rule.h"
#include "svg/format/sha256.h"
#include "svg/layout/reroot.h"
#include "svg/format/unpack.h"
#include "common/visible.h"

#include <stdlib.h>

#define MIDDOT " \xc2\xb7 "
#define NO_STACKS ": no line is a folded stack (a;b;c 42): if this is perf script text, pjfold makes stacks of it"
#define FONT "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace"

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* False: the input was damaged; what came before is in s. columns: of the files so far, 0 at first. */
static bool pjsvg_read_file(const char *path, struct stacks *s, struct folded_header *h, struct folded_tally *t,
			    unsigned *columns)
{
	struct in in;

	in_open(&in, path);
	in_expect_text(&in);
	unsigned read = folded_read(&in, s, h, t);
	if (read && *columns && read != *columns)
		die("%s: a difference between profiles (two numbers a line) and a profile do not add up", in.name);
	*columns = read ? read : *columns;
	if (*columns > 1 && s->in_time)
		die("%s: two columns of numbers are a difference between profiles: --flamechart has no use for it",
		    in.name);
	bool complete = !in.errors;
	if (!complete)
		warn_at(in_place(&in), "%s; what came before it is drawn", in.errors);
	in_close(&in);
	return complete;
}

static void report_bad_lines(const struct folded_tally *t)
{
	for (size_t i = 0; i < countof(t->first_bad) && t->first_bad[i].name; i++)
		warn_at(t->first_bad[i], "not a stack: %s", t->why[i]);
	if (t->bad > 1)
		warn("%ju lines skipped", (uintmax_t)t->bad);
	if (t->rounded)
		warn("%ju %s rounded to a whole number", (uintmax_t)t->rounded,
		     t->rounded == 1 ? "weight was" : "weights were");
}

static bool pjsvg_read_all(char **files, struct stacks *s, struct folded_header *h, struct folded_tally *t)
{
	unsigned columns = 0;
	bool complete = true;

	if (!*files)
		complete = pjsvg_read_file(NULL, s, h, t, &columns);
	for (; *files; files++)
		complete &= pjsvg_read_file(*files, s, h, t, &columns);
	if (columns > 1)
		stacks_add(s, 0, 1, 0); /* a difference even when nothing has any weight after */
	return complete;
}

/* The stacks that are drawn: those read, or `turned`. The header's texts stay with those read; its dispersions are of
 * nodes that are no longer there. */
static const struct stacks *pjsvg_turn(struct stacks *turned, const struct request *r, const struct stacks *s,
				       struct folded_header *h)
{
	struct reroot how = { .base = r->base, .nbase = r->nbase, .reverse = r->reverse };
	struct reroot_dropped dropped;

	if (!r->nbase && !r->reverse)
		return s;
	dropped = reroot_stacks(turned, s, &how);
	if (dropped.stacks)
		warn("--base: %ju of %ju left out: %ju %s without that frame", (uintmax_t)dropped.weight,
		     (uintmax_t)(stacks_sum(s, 0) + stacks_sum(s, 1)), (uintmax_t)dropped.stacks,
		     dropped.stacks == 1 ? "stack" : "stacks");
	h->nnoise = 0;
	return turned;
}

/* ---- looks -------------------------------------------------------------------------------------------------- */

static void add_fact(struct text *t, struct str fact, const char *after)
{
	if (fact.n == 0)
		return;
	if (t->n)
		text_add(t, MIDDOT);
	text_str(t, fact);
	text_add(t, after);
}

/* A number of seconds; false for wall time and anything else. */
static bool pjsvg_seconds(struct str s, double *value)
{
	char text[32];

	if (s.n == 0 || s.n >= sizeof(text) || strspn(s.p, "0123456789.") < s.n)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	*value = strtod(text, NULL);
	return true;
}

/* Seconds on the clock of the recording mean nothing to a reader: how long it was does. Wall time is shown as it is. */
static void add_time(struct text *t, const struct folded_header *h)
{
	double from, to;

	if (pjsvg_seconds(h->from, &from) && pjsvg_seconds(h->to, &to) && to >= from) {
		text_printf(t, "%s%.1f s", t->n ? MIDDOT : "", to - from);
		return;
	}
	add_fact(t, h->from, h->to.n ? " to " : " and later");
	text_str(t, h->from.n ? h->to : (struct str){ 0 });
}

/* What the user says, then what the input says about itself. */
static struct str make_subtitle(struct arena *a, const struct request *r, const struct folded_header *h)
{
	struct text t = { 0 };

	add_fact(&t, str_of(r->subtitle), "");
	add_fact(&t, h->event, "");
	add_fact(&t, h->frequency, " Hz");
	add_fact(&t, h->host, "");
	add_time(&t, h);
	add_fact(&t, h->labels, "");
	if (h->lost)
		text_printf(&t, "%s%ju lost", t.n ? MIDDOT : "", (uintmax_t)h->lost);
	struct str subtitle = visible_copy(a, text_view(&t));
	text_free(&t);
	return subtitle;
}

static struct str pjsvg_given(struct arena *a, const char *value, struct str otherwise)
{
	return value ? visible_copy(a, str_of(value)) : otherwise;
}

/* The lines in front of the stacks, for --unpack. Stacks that are cut are not those that noise was told of. */
static struct str make_header(struct arena *a, const struct request *r, const struct stacks *s, struct folded_header h)
{
	struct text t = { 0 };

	h.nnoise = r->nbase ? 0 : h.nnoise;
	if (h.present)
		folded_head(&t, &h, s, 2);
	struct str header = visible_copy(a, text_view(&t));
	text_free(&t);
	return header;
}

static struct str default_title(const struct request *r, bool differs)
{
	if (differs)
		return STR("Differential Flame Graph");
	return r->chart ? STR("Flame Chart") : r->inverted ? STR("Icicle Graph") : STR("Flame Graph");
}

static struct look make_look(struct arena *a, const struct request *r, const struct folded_header *h, uint64_t sum,
			     bool differs)
{
	uint32_t width = r->width ? (uint32_t)r->width : PICTURE_WIDTH;
	struct str unit = h->unit.n ? visible_copy(a, h->unit) : STR("samples");

	return (struct look){
		.title = pjsvg_given(a, r->title, default_title(r, differs)),
		.subtitle = make_subtitle(a, r, h),
		.notes = pjsvg_given(a, r->notes, STR("")),
		.unit = pjsvg_given(a, r->unit, unit),
		.nametype = pjsvg_given(a, r->nametype, STR("Function:")),
		.font = pjsvg_given(a, r->font, STR(FONT)),
		.font_size = r->font_size,
		.char_width = r->char_width,
		.min_px = r->min_px < 0 ? -r->min_px * (width - 2 * PICTURE_PAD) : r->min_px,
		.factor = r->factor,
		.total = r->total > sum ? r->total :
			 sum            ? sum :
					  1,
		.width = (uint32_t)r->width,
		.row = (uint32_t)r->row,
		.background = r->background,
		.own_background = r->own_background,
		.search = r->search,
		.own_search = r->own_search,
		.inverted = r->inverted,
		.legend = palette_is_kind(r->palette) && !r->palette_map,
		.cut = r->truncate_right ? LABEL_RIGHT : LABEL_SMART,
		.reverse = r->reverse,
		.chart = r->chart,
	};
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void pjsvg_assess(struct change *c, struct arena *a, const struct request *r, const struct look *look,
			 const struct layout *l, const struct stacks *s, const struct folded_header *h)
{
	struct sig_rule rule = rule_make(r, h, s, look->unit);
	float *dispersion = folded_dispersion(h, s);
	struct text note = { 0 };

	change_make(c, l, s, &rule, dispersion);
	c->negate = r->negate;
	rule_caveat(&note, &rule, h);
	c->note = arena_copy(a, text_view(&note));
	text_free(&note);
	free(dispersion);
}

static void open_output(struct out *out, const char *path)
{
	struct str name = str_of(path);

	out_open(out, path);
	if (str_ends(name, STR(".svgz")) || str_ends(name, STR(".svg.gz")))
		out_gzip(out);
}

static void write_graph(struct out *out, struct arena *a, const struct request *r, const struct look *look,
			const struct stacks *s, const struct folded_header *h, struct palmap *map)
{
	struct styles_how how = { .palette = r->palette,
				  .map = r->palette_map && !s->self[1] ? map : NULL,
				  .hash = r->hash,
				  .reverse = r->reverse,
				  .cut = r->nbase > 0 };
	struct layout layout;
	struct styles styles;
	struct change change;
	bool differs = s->self[1];

	layout_make(&layout, s);
	styles_make(&styles, &layout, s, &how);
	if (differs)
		pjsvg_assess(&change, a, r, look, &layout, s, h);
	document_write(out, look, &layout, &styles, differs ? &change : NULL);
	if (differs)
		change_free(&change);
	styles_free(&styles);
	layout_free(&layout);
}

static void report_empty(const struct request *r, const struct folded_tally *tally)
{
	if (tally->lines && r->nbase)
		warn("no samples: no stack has a frame of --base, as a whole name, with or without its suffix");
	else
		warn("no samples%s", tally->bad && !tally->lines ? NO_STACKS : " in the input");
}

static int pjsvg_draw(const struct request *r, char **files)
{
	static struct out out;
	struct stacks stacks = { .in_time = r->chart };
	struct stacks turned = { .in_time = r->chart };
	struct folded_header header = { 0 };
	struct folded_tally tally = { 0 };
	struct link_attrs attrs = { 0 };
	struct palmap map = { 0 };
	struct arena arena = { 0 };

	if (r->nameattr)
		link_attrs_read(&attrs, r->nameattr);
	if (r->palette_map)
		palmap_read(&map, r->palette_map);
	bool complete = pjsvg_read_all(files, &stacks, &header, &tally);
	report_bad_lines(&tally);
	struct str head = make_header(&arena, r, &stacks, header);
	const struct stacks *s = pjsvg_turn(&turned, r, &stacks, &header);

	bool differs = s->self[1];
	uint64_t sum = stacks_sum(s, 0) + (differs ? stacks_sum(s, 1) : 0);
	struct look look = make_look(&arena, r, &header, differs ? stacks_sum(s, 1) : sum, differs);
	look.attrs = &attrs;
	look.header = head;
	open_output(&out, r->output);
	if (sum) {
		write_graph(&out, &arena, r, &look, s, &header, &map);
	} else {
		report_empty(r, &tally);
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

/* ---- other things to do ------------------------------------------------------------------------------------- */

static int print_csp_hash(void)
{
	static struct out out;
	struct text t = { 0 };

	sha256_csp(&t, assets_viewer());
	out_open(&out, NULL);
	out_str(&out, text_view(&t));
	out_char(&out, '\n');
	out_close(&out);
	text_free(&t);
	return PJ_OK;
}

static void read_bytes(struct text *t, const char *path)
{
	struct in in;
	size_t n;

	in_open(&in, path);
	do {
		text_reserve(t, 64 * 1024);
		n = in_read(&in, t->p + t->n, t->cap - t->n);
		t->n += n;
	} while (n);
	if (in.errors)
		die("%s: %s", in.name, in.errors);
	in_close(&in);
}

static void unpack_file(struct unpacked *u, const char *path)
{
	const char *name = path && strcmp(path, "-") != 0 ? path : "standard input";
	struct text bytes = { 0 };
	size_t offset;

	read_bytes(&bytes, path);
	const char *why = unpack_parse(u, text_view(&bytes), &offset);
	if (why && offset)
		die("%s@%zu: %s", name, offset, why);
	if (why)
		die("%s: %s", name, why);
	if (u->pictures > 1)
		warn("%s: %zu pictures, of which the first is unpacked", name, u->pictures);
	text_free(&bytes);
}

/* All or nothing: what is wrong is found before anything is written. */
static int pjsvg_unpack(char **files, const char *output)
{
	static struct out out;
	size_t n = 0;

	while (files[n])
		n++;
	size_t count = n ? n : 1;
	struct unpacked *u = mem_alloc(sizeof(*u), count);
	for (size_t i = 0; i < count; i++)
		unpack_file(&u[i], n ? files[i] : NULL);
	open_output(&out, output);
	for (size_t i = 0; i < count; i++) {
		unpack_write(&out, &u[i]);
		unpack_free(&u[i]);
	}
	out_close(&out);
	free(u);
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
