/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/bars.h"

#include "svg/format/xml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BARS_MAX 8000    /* more boxes than this never fit into PICTURE_BYTES */
#define TOOLTIP_MAX 120  /* columns of a name */
#define PICTURE_PX 16000 /* high enough for any screen; some viewers draw nothing above 32767 */
#define GONE_GAP .012    /* of the root's width, before the area of what is gone */
#define ROOT UINT32_MAX  /* as frame of a bar */

struct bar {
	uint32_t frame;
	uint32_t key; /* what it is painted with; bars of one key share a path */
	int32_t x, w; /* tenths of a px; w without the gap to the next */
	uint32_t row;
	bool labelled;
	bool gone; /* stands in the area of what is gone */
};

/* How fine to draw. */
struct detail {
	double frame_px, label_px;
	uint32_t rows;
};

struct drawing {
	const struct look *look;
	const struct layout *layout;
	const struct styles *styles;
	const struct change *change; /* NULL: no difference */
	double complete;             /* weight that the whole width stands for */
	double gone_left;            /* where the area of what is gone begins */
	double gone_scale;           /* weight of after that one of before is drawn as */
	struct detail detail;
	uint32_t width, top;
	bool dark;     /* the background is */
	uint32_t rows; /* drawn */
	bool rows_hidden;
	struct bar *bar;
	uint32_t n;
};

/* ---- numbers for people ------------------------------------------------------------------------------------- */

/* At most two decimals. */
static void put_scaled(struct text *t, double shown)
{
	char decimals[8];

	if (shown >= 9e15) {
		text_printf(t, "%.0f", shown);
		return;
	}
	uint64_t hundredths = (uint64_t)llround(shown * 100);
	text_grouped(t, hundredths / 100);
	if (hundredths % 100 == 0)
		return;
	snprintf(decimals, sizeof(decimals), ".%02u", (unsigned)(hundredths % 100));
	if (decimals[2] == '0')
		decimals[2] = 0;
	text_add(t, decimals);
}

static bool bars_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "samples", "bytes", but not "ms" or "class". */
static bool is_plural(struct str unit)
{
	const char *end = unit.p + unit.n;

	return unit.n > 3 && end[-1] == 's' && end[-2] != 's' && bars_is_letter(end[-2]) && bars_is_letter(end[-3]) &&
	       bars_is_letter(end[-4]);
}

/* Units that are read in larger ones: names from the smallest on, each `step` times the one before. */
struct scale {
	struct str unit;
	double step;
	const char *name[5];
};

static const struct scale *scale_of(struct str unit)
{
	static const struct scale scales[] = {
		{ STR("bytes"), 1024, { "bytes", "KiB", "MiB", "GiB", "TiB" } },
		{ STR("ns"), 1000, { "ns", "\xc2\xb5s", "ms", "s" } },
		{ STR("us"), 1000, { "\xc2\xb5s", "ms", "s" } },
		{ STR("ms"), 1000, { "ms", "s" } },
	};

	for (size_t i = 0; i < countof(scales); i++) {
		if (str_eq(scales[i].unit, unit))
			return &scales[i];
	}
	return NULL;
}

/* In the largest unit that gives at least 1. */
static struct str put_in_scale(struct text *t, const struct scale *s, double shown)
{
	size_t k = 0;

	while (k + 1 < countof(s->name) && s->name[k + 1] && shown >= s->step) {
		shown /= s->step;
		k++;
	}
	put_scaled(t, shown);
	return str_of(s->name[k]);
}

void bars_weight(struct text *t, const struct look *look, uint64_t weight)
{
	const struct scale *scale = scale_of(look->unit);
	bool exact = look->factor >= 1 && look->factor <= 1;
	struct str unit = look->unit;
	size_t from = t->n;

	if (scale)
		unit = put_in_scale(t, scale, (double)weight * look->factor);
	else if (exact)
		text_grouped(t, weight);
	else
		put_scaled(t, (double)weight * look->factor);
	bool one = t->n == from + 1 && t->p[from] == '1';
	text_char(t, ' ');
	text_str(t, one && is_plural(unit) ? str_head(unit, unit.n - 1) : unit);
}

void bars_percent(struct text *t, uint64_t part, uint64_t complete)
{
	double percent = complete ? 100 * ((double)part / (double)complete) : 0;

	if (part == complete)
		text_add(t, "100%");
	else if (part == 0)
		text_add(t, "0%");
	else if (percent < 0.005)
		text_add(t, "<0.01%");
	else
		text_printf(t, percent < 1 ? "%.2f%%" : "%.1f%%", percent);
}

bool bars_is_dark(uint32_t rgb)
{
	double r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	/* Squares are near enough to the curve of sRGB here. */
	return (.2126 * r * r + .7152 * g * g + .0722 * b * b) / (255 * 255) < .19;
}

/* ---- which bars --------------------------------------------------------------------------------------------- */

/* Keys: in a difference (step, is it new), the callers of what is gone, the root; else (colour, tint), the root. */
enum { KEY_CALLER = 2 * CHANGE_STEPS, KEY_ROOT = UINT16_MAX * 4 };

static uint32_t bars_key_of(const struct drawing *d, uint32_t frame)
{
	uint32_t name = d->styles->of[frame];

	if (d->change)
		return change_step(d->change, frame) * 2 + change_is_new(d->change, d->layout, frame);
	return d->styles->colour[name] * 4 + (d->look->legend ? d->styles->tint[name] : 0);
}

static double px_of(const struct drawing *d, double weight)
{
	return weight / d->complete * (d->width - 2 * PICTURE_PAD);
}

static struct bar *add_bar(struct drawing *d, uint32_t frame, uint32_t key, double start, double width, uint32_t row)
{
	long from = lround(px_of(d, start) * 10), to = lround((px_of(d, start) + px_of(d, width)) * 10);
	long gap = to - from >= 40 ? 10 : to - from >= 15 ? 5 : 0;
	long least = to - from - gap < 3 ? 3 : to - from - gap;

	d->bar[d->n++] = (struct bar){
		.frame = frame,
		.key = key,
		.x = (int32_t)(from + 10 * PICTURE_PAD),
		.w = (int32_t)least,
		.row = row,
		.labelled = px_of(d, width) >= d->detail.label_px,
	};
	if (row > d->rows)
		d->rows = row;
	return &d->bar[d->n - 1];
}

/* Of frames that are drawn with these widths: 1 to draw i, 0 to jump over all of it, -1 when there is no room. */
static int bars_wanted(struct drawing *d, uint32_t i, double width)
{
	if (width <= 0 || px_of(d, width) < d->detail.frame_px)
		return 0;
	if (d->layout->level[i] > d->detail.rows) {
		d->rows_hidden = true;
		return 0;
	}
	return d->n + 2 < BARS_MAX ? 1 : -1;
}

static bool collect_frames(struct drawing *d)
{
	const struct layout *l = d->layout;

	for (uint32_t i = 0; i < l->n;) {
		int draw = bars_wanted(d, i, (double)l->width[i]);
		if (draw < 0)
			return false;
		if (draw)
			add_bar(d, i, bars_key_of(d, i), (double)l->start[i], (double)l->width[i], l->level[i]);
		i = draw ? i + 1 : l->end[i];
	}
	return true;
}

/* Callers stand there too, pale, so that one sees where the gone frames were called from. */
static bool collect_gone(struct drawing *d)
{
	const struct layout *l = d->layout;
	const struct change *c = d->change;

	if (!c || c->gone_sum == 0)
		return true;
	add_bar(d, ROOT, KEY_ROOT, d->gone_left, (double)c->gone_sum * d->gone_scale, 0)->gone = true;
	for (uint32_t i = 0; i < l->n;) {
		double width = (double)c->gone_width[i] * d->gone_scale;
		int draw = bars_wanted(d, i, width);
		if (draw < 0)
			return false;
		if (draw) {
			bool caller = l->width[i] != 0 || c->gone_width[i] < l->before[i];
			double start = d->gone_left + (double)c->gone_start[i] * d->gone_scale;
			add_bar(d, i, caller ? KEY_CALLER : 0, start, width, l->level[i])->gone = true;
		}
		i = draw ? i + 1 : l->end[i];
	}
	return true;
}

/* False: more than can be drawn at this detail. */
static bool collect_bars(struct drawing *d)
{
	d->n = 0;
	d->rows = 0;
	d->rows_hidden = false;
	add_bar(d, ROOT, KEY_ROOT, 0, (double)d->look->total, 0);
	return collect_frames(d) && collect_gone(d);
}

/* ---- their bytes -------------------------------------------------------------------------------------------- */

static uint32_t row_y(const struct drawing *d, uint32_t row)
{
	return d->top + d->look->row * (d->look->inverted ? row : d->rows - row);
}

static uint32_t key_rgb(const struct drawing *d, uint32_t key)
{
	if (key == KEY_ROOT)
		return palette_root(d->dark);
	if (d->change && key == KEY_CALLER)
		return palette_blend(palette_root(d->dark), d->look->background, 55);
	if (d->change)
		return change_colour(d->change, key / 2, d->dark);
	const struct styles_colour *c = &d->styles->colours[key / 4];
	return palette_blend(d->dark ? c->dark : c->light, d->look->background, 100 - 5 * (key % 4));
}

/* What is new is striped, so that it differs from what is more in print and to every eye. */
static bool key_is_striped(const struct drawing *d, uint32_t key)
{
	return d->change && key < KEY_CALLER && key % 2;
}

/* By key; within one, from left to right, so that steps are short. */
static int bar_cmp(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->gone != y->gone)
		return x->gone ? 1 : -1;
	return (x->frame + 1 > y->frame + 1) - (x->frame + 1 < y->frame + 1);
}

/* A number in path data; a minus sign parts it from the one before well enough. */
static void put_step(struct text *t, int64_t tenths, bool first)
{
	if (!first && tenths >= 0)
		text_char(t, ' ');
	text_tenths(t, tenths);
}

static const char *ink_on(bool dark)
{
	return dark ? "#f4f5f7" : "#16181d";
}

/* One path for all bars of a key: bar[0..n). */
static void put_path(struct text *t, const struct drawing *d, const struct bar *bar, uint32_t n, bool stripes)
{
	int64_t pen_x = 0, pen_y = 0;

	text_add(t, "<path stroke=\"");
	if (stripes)
		text_printf(t, "%s\" stroke-opacity=\".25\" stroke-dasharray=\"1.5 4.5", ink_on(d->dark));
	else
		text_rgb(t, key_rgb(d, bar->key));
	text_add(t, "\" d=\"");
	for (uint32_t i = 0; i < n; i++) {
		int64_t y = 10 * (int64_t)row_y(d, bar[i].row) + 5 * (int64_t)(d->look->row - 1);
		text_char(t, i ? 'm' : 'M');
		put_step(t, bar[i].x - pen_x, true);
		put_step(t, y - pen_y, false);
		text_char(t, 'h');
		text_tenths(t, bar[i].w);
		pen_x = bar[i].x + bar[i].w;
		pen_y = y;
	}
	text_add(t, "\"/>\n");
}

static void bars_put_weight(struct text *t, const struct drawing *d, uint64_t weight, uint64_t sum)
{
	bars_weight(t, d->look, weight);
	text_add(t, ", ");
	bars_percent(t, weight, sum);
}

static void put_change(struct text *t, const struct drawing *d, uint32_t frame)
{
	const struct layout *l = d->layout;
	const struct sig_change *j = change_of(d->change, frame);

	text_add(t, "before ");
	bars_put_weight(t, d, l->before[frame], l->before_sum);
	text_add(t, " \xe2\x86\x92 after ");
	bars_put_weight(t, d, l->width[frame], l->sum);
	if (j->why == SIG_MOVED)
		text_add(t, "; moved: same code, reached another way");
	else if (j->why != SIG_CHANGED)
		text_add(t, "; no significant change");
	else if (d->change->rule.counted && j->z > 0)
		text_printf(t, "; %+.2f points, z %.1f", (double)j->points, (double)j->z);
	else
		text_printf(t, "; %+.2f points", (double)j->points);
}

static void bars_put_facts(struct text *t, const struct drawing *d, const struct bar *bar)
{
	bool root = bar->frame == ROOT;

	if (root && bar->gone)
		bars_put_weight(t, d, d->change->gone_sum, d->layout->before_sum);
	else if (root && d->change)
		bars_put_weight(t, d, d->layout->sum, d->layout->sum);
	else if (root)
		bars_put_weight(t, d, d->look->total, d->look->total);
	else if (d->change)
		put_change(t, d, bar->frame);
	else
		bars_put_weight(t, d, d->layout->width[bar->frame], d->look->total);
}

/* Weights, and the name unless the label says all of it. */
static void put_tooltip(struct text *t, const struct drawing *d, struct str name, struct str label,
			const struct bar *bar)
{
	bool named = !str_eq(name, label);
	struct text tip = { 0 };

	if (named) {
		label_fit(&tip, name, TOOLTIP_MAX, LABEL_RIGHT);
		text_add(&tip, " (");
	}
	bars_put_facts(&tip, d, bar);
	if (named)
		text_char(&tip, ')');
	text_add(t, "<title>");
	xml_text(t, text_view(&tip));
	text_add(t, "</title>");
	text_free(&tip);
}

/* Names of processes are no paths and have no packages, whatever they look like: their beginning tells most. */
static enum label_cut cut_of(const struct drawing *d, uint32_t style)
{
	const struct styles_colour *c = &d->styles->colours[d->styles->colour[style]];
	bool process = strcmp(d->styles->kinds[c->kind].label, CODE_LABEL_PROCESS) == 0;

	return process ? LABEL_RIGHT : d->look->cut;
}

static void put_label(struct text *t, const struct drawing *d, const struct bar *bar)
{
	bool root = bar->frame == ROOT;
	uint32_t style = root ? 0 : d->styles->of[bar->frame];
	struct str name = !root ? d->styles->text[style] : bar->gone ? STR("only before") : STR("all");
	enum label_cut cut = root ? LABEL_RIGHT : cut_of(d, style);
	double space = bar->w / 10.0 - 6;
	struct text label = { 0 };

	if (space > 0)
		label_fit(&label, name, (size_t)(space / (d->look->font_size * d->look->char_width)), cut);
	if (label.n) {
		double middle = row_y(d, bar->row) + (d->look->row - 1) / 2.0 + d->look->font_size * .35;
		text_add(t, "<text x=\"");
		text_tenths(t, bar->x + 40);
		text_add(t, "\" y=\"");
		text_tenths(t, lround(middle * 10));
		text_char(t, '"');
		if (bars_is_dark(key_rgb(d, bar->key)) != d->dark)
			text_printf(t, " fill=\"%s\"", ink_on(!d->dark));
		text_char(t, '>');
		put_tooltip(t, d, name, text_view(&label), bar);
		xml_text(t, text_view(&label));
		text_add(t, "</text>\n");
	}
	text_free(&label);
}

static void put_bars(struct text *t, struct drawing *d)
{
	qsort(d->bar, d->n, sizeof(*d->bar), bar_cmp);
	text_printf(t, "<g fill=\"none\" stroke-width=\"%u\">\n", d->look->row - 1);
	for (uint32_t from = 0, i = 1; i <= d->n; i++) {
		if (i < d->n && d->bar[i].key == d->bar[from].key)
			continue;
		put_path(t, d, d->bar + from, i - from, false);
		if (key_is_striped(d, d->bar[from].key))
			put_path(t, d, d->bar + from, i - from, true);
		from = i;
	}
	text_printf(t, "</g>\n<g fill=\"%s\" font-size=\"%g\" font-family=\"", ink_on(d->dark), d->look->font_size);
	xml_attribute(t, d->look->font);
	text_add(t, "\">\n");
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->bar[i].labelled)
			put_label(t, d, &d->bar[i]);
	}
	text_add(t, "</g>\n");
}

static void bars_coarsen(struct detail *detail)
{
	if (detail->frame_px > 20)
		detail->rows = (detail->rows * 3 + 1) / 4;
	detail->frame_px *= 1.25;
	detail->label_px *= 1.15;
}

/* To the right of the root, with as many pixels a sample. */
static void place_gone_area(struct drawing *d)
{
	const struct layout *l = d->layout;

	d->complete = (double)d->look->total;
	if (!d->change || d->change->gone_sum == 0)
		return;
	d->gone_scale = d->change->rule.shares && l->sum ? (double)l->sum / (double)l->before_sum : 1;
	d->gone_left = d->complete * (1 + GONE_GAP);
	d->complete = d->gone_left + (double)d->change->gone_sum * d->gone_scale;
}

void bars_draw(struct bars *b, struct text *t, const struct look *look, const struct layout *l, const struct styles *n,
	       const struct change *c, uint32_t width, uint32_t top)
{
	struct drawing d = { .look = look, .layout = l, .styles = n, .change = c, .width = width, .top = top };
	uint32_t rows = PICTURE_PX / look->row;

	place_gone_area(&d);
	d.dark = bars_is_dark(look->background);
	d.detail.frame_px = look->min_px > .5 ? look->min_px : .5;
	d.detail.label_px = 24;
	d.detail.rows = rows < PICTURE_ROWS ? rows : PICTURE_ROWS;
	d.bar = mem_alloc(sizeof(*d.bar), BARS_MAX);
	for (;; bars_coarsen(&d.detail)) {
		t->n = 0;
		if (!collect_bars(&d))
			continue;
		put_bars(t, &d);
		if (t->n <= PICTURE_BYTES || d.n <= 1)
			break;
	}
	free(d.bar);
	*b = (struct bars){ d.rows, d.rows_hidden };
}
