/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/bars.h"

#include "common/rounding.h"
#include "svg/format/xml.h"

#include <stdio.h>
#include <stdlib.h>

/* maximum number of boxes; a picture with more is drawn in less detail, since more never fit into PICTURE_BYTES */
#define BARS_MAX 8000
/* maximum number of columns of the name in a tooltip; a longer name is truncated at its end */
#define TOOLTIP_MAX 120
/* maximum height in px of all rows together; deeper rows are left out. It is enough for any screen, and some programs
 * draw nothing beyond 32767 px */
#define PICTURE_PX 16000
#define GONE_GAP .012   /* gap between the root and the area of removed frames, as a share of the root's width */
#define ROOT UINT32_MAX /* value of bar.frame for the bar of the root */

struct bar {
	uint32_t frame;
	uint32_t key; /* identifies the colour (bars_key_of); all bars with the same key share one path */
	/* x: left end; w: width without the gap to the next bar; both in tenths of a px */
	int32_t x, w;
	uint32_t row;
	bool labelled;
	bool gone; /* true if the bar is in the area of removed frames */
};

/* Level of detail of the drawing. frame_px: least width in px of a drawn frame; label_px: least width in px of a frame
 * with a label; rows: maximum depth of a drawn frame. */
struct detail {
	double frame_px, label_px;
	uint32_t rows;
};

struct drawing {
	const struct look *look;
	const struct layout *layout;
	const struct styles *styles;
	const struct change *change; /* change of each frame; NULL if the picture is not a difference */
	double complete;             /* weight that corresponds to the full width of the picture */
	/* left end of the area of removed frames, as a distance from the left end of the root in units of weight */
	double gone_left;
	double gone_scale; /* factor for the width of removed frames, from weights before to weights after */
	struct detail detail;
	uint32_t width, top;
	bool dark;     /* true if the background is dark */
	uint32_t rows; /* largest row number that is drawn; the root has row 0 */
	bool rows_hidden;
	struct bar *bar;
	uint32_t n;
};

/* ---- numbers as text ---------------------------------------------------------------------------------------- */

/* Appends the number `shown`, rounded to two decimals, without trailing zeros. */
static void put_scaled(struct text *text, double shown)
{
	char decimals[8];

	if (shown >= 9e15) {
		text_printf(text, "%.0f", shown);
		return;
	}
	uint64_t hundredths = (uint64_t)rounded(shown * 100);
	text_grouped(text, hundredths / 100);
	if (hundredths % 100 == 0)
		return;
	snprintf(decimals, sizeof(decimals), ".%02u", (unsigned)(hundredths % 100));
	if (decimals[2] == '0')
		decimals[2] = 0;
	text_add(text, decimals);
}

static bool bars_is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Returns true if the unit is a plural of at least 4 letters: "samples", "bytes", but not "ms" or "class" (false). */
static bool is_plural(struct str unit)
{
	const char *end = unit.p + unit.n;

	return unit.n > 3 && end[-1] == 's' && end[-2] != 's' && bars_is_letter(end[-2]) && bars_is_letter(end[-3]) &&
	       bars_is_letter(end[-4]);
}

/* A unit with its larger units. unit: name of the unit in the input; name: names of this unit and of the larger ones,
 * ascending; step: factor from each of them to the next. */
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

/* Appends the value `shown` in the largest unit in which it is at least 1. Returns the name of this unit, which is not
 * appended. */
static struct str put_in_scale(struct text *text, const struct scale *scale, double shown)
{
	size_t index = 0;

	while (index + 1 < countof(scale->name) && scale->name[index + 1] && shown >= scale->step) {
		shown /= scale->step;
		index++;
	}
	put_scaled(text, shown);
	return str_of(scale->name[index]);
}

void bars_weight(struct text *text, const struct look *look, uint64_t weight)
{
	const struct scale *scale = scale_of(look->unit);
	bool exact = look->factor >= 1 && look->factor <= 1;
	struct str unit = look->unit;
	size_t from = text->n;

	if (scale)
		unit = put_in_scale(text, scale, (double)weight * look->factor);
	else if (exact)
		text_grouped(text, weight);
	else
		put_scaled(text, (double)weight * look->factor);
	bool one = text->n == from + 1 && text->p[from] == '1';
	text_char(text, ' ');
	text_str(text, one && is_plural(unit) ? str_head(unit, unit.n - 1) : unit);
}

void bars_percent(struct text *text, uint64_t part, uint64_t complete)
{
	double percent = complete ? 100 * ((double)part / (double)complete) : 0;

	if (part == complete)
		text_add(text, "100%");
	else if (part == 0)
		text_add(text, "0%");
	else if (percent < 0.005)
		text_add(text, "<0.01%");
	else
		text_printf(text, percent < 1 ? "%.2f%%" : "%.1f%%", percent);
}

bool bars_is_dark(uint32_t rgb)
{
	double r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	/* squares approximate the gamma curve of sRGB; the sum is the relative luminance */
	return (.2126 * r * r + .7152 * g * g + .0722 * b * b) / (255 * 255) < .19;
}

/* ---- selection of bars -------------------------------------------------------------------------------------- */

/* Special values of bar.key. In a difference, a key is 2 * step of the colour scale, + 1 if the frame is new;
 * KEY_CALLER is for callers of removed frames. In other pictures it is 4 * colour + tint. KEY_ROOT is for the root in
 * both. */
enum { KEY_CALLER = 2 * CHANGE_STEPS, KEY_ROOT = UINT16_MAX * 4 };

static uint32_t bars_key_of(const struct drawing *drawing, uint32_t frame)
{
	uint32_t name = drawing->styles->of[frame];

	if (drawing->change)
		return change_step(drawing->change, frame) * 2 + change_is_new(drawing->change, drawing->layout, frame);
	return drawing->styles->colour[name] * 4 + (drawing->look->legend ? drawing->styles->tint[name] : 0);
}

static double px_of(const struct drawing *drawing, double weight)
{
	return weight / drawing->complete * (drawing->width - 2 * PICTURE_PAD);
}

static struct bar *add_bar(struct drawing *drawing, uint32_t frame, uint32_t key, double start, double width,
			   uint32_t row)
{
	long from = (long)rounded(px_of(drawing, start) * 10),
	     to = (long)rounded((px_of(drawing, start) + px_of(drawing, width)) * 10);
	long gap = to - from >= 40 ? 10 : to - from >= 15 ? 5 : 0;
	long least = to - from - gap < 3 ? 3 : to - from - gap;

	drawing->bar[drawing->n++] = (struct bar){
		.frame = frame,
		.key = key,
		.x = (int32_t)(from + 10 * PICTURE_PAD),
		.w = (int32_t)least,
		.row = row,
		.labelled = px_of(drawing, width) >= drawing->detail.label_px,
	};
	if (row > drawing->rows)
		drawing->rows = row;
	return &drawing->bar[drawing->n - 1];
}

/* Returns 1 if frame i is drawn with this width (a weight); 0 if it and all frames below it are skipped; -1 if BARS_MAX
 * is reached, so that the picture needs less detail. */
static int bars_wanted(struct drawing *drawing, uint32_t i, double width)
{
	if (width <= 0 || px_of(drawing, width) < drawing->detail.frame_px)
		return 0;
	if (drawing->layout->level[i] > drawing->detail.rows) {
		drawing->rows_hidden = true;
		return 0;
	}
	return drawing->n + 2 < BARS_MAX ? 1 : -1;
}

static bool collect_frames(struct drawing *drawing)
{
	const struct layout *layout = drawing->layout;

	for (uint32_t i = 0; i < layout->n;) {
		int draw = bars_wanted(drawing, i, (double)layout->width[i]);
		if (draw < 0)
			return false;
		if (draw)
			add_bar(drawing, i, bars_key_of(drawing, i), (double)layout->start[i], (double)layout->width[i],
				layout->level[i]);
		i = draw ? i + 1 : layout->end[i];
	}
	return true;
}

/* Adds bars for the area of removed frames: the removed frames and, in a pale colour, their callers, which show from
 * where the removed frames were called. Returns false if BARS_MAX is exceeded. */
static bool collect_gone(struct drawing *drawing)
{
	const struct layout *layout = drawing->layout;
	const struct change *change = drawing->change;

	if (!change || change->gone_sum == 0)
		return true;
	add_bar(drawing, ROOT, KEY_ROOT, drawing->gone_left, (double)change->gone_sum * drawing->gone_scale, 0)->gone =
		true;
	for (uint32_t i = 0; i < layout->n;) {
		double width = (double)change->gone_width[i] * drawing->gone_scale;
		int draw = bars_wanted(drawing, i, width);
		if (draw < 0)
			return false;
		if (draw) {
			bool caller = layout->width[i] != 0 || change->gone_width[i] < layout->before[i];
			double start = drawing->gone_left + (double)change->gone_start[i] * drawing->gone_scale;
			add_bar(drawing, i, caller ? KEY_CALLER : 0, start, width, layout->level[i])->gone = true;
		}
		i = draw ? i + 1 : layout->end[i];
	}
	return true;
}

/* Collects all bars of the picture. Returns false if there are more than BARS_MAX at this level of detail. */
static bool collect_bars(struct drawing *drawing)
{
	drawing->n = 0;
	drawing->rows = 0;
	drawing->rows_hidden = false;
	add_bar(drawing, ROOT, KEY_ROOT, 0, (double)drawing->look->total, 0);
	return collect_frames(drawing) && collect_gone(drawing);
}

/* ---- SVG of the bars ---------------------------------------------------------------------------------------- */

static uint32_t row_y(const struct drawing *drawing, uint32_t row)
{
	return drawing->top + drawing->look->row * (drawing->look->inverted ? row : drawing->rows - row);
}

static uint32_t key_rgb(const struct drawing *drawing, uint32_t key)
{
	if (key == KEY_ROOT)
		return palette_root(drawing->dark);
	if (drawing->change && key == KEY_CALLER)
		return palette_blend(palette_root(drawing->dark), drawing->look->background, 55);
	if (drawing->change)
		return change_colour(drawing->change, key / 2, drawing->dark);
	const struct styles_colour *colour = &drawing->styles->colours[key / 4];
	return palette_blend(drawing->dark ? colour->dark : colour->light, drawing->look->background,
			     100 - 5 * (key % 4));
}

/* Returns true if bars of this key get stripes: the bars of new frames. Stripes distinguish new frames from grown
 * frames in print and for colour-blind readers. Returns false for all other bars. */
static bool key_is_striped(const struct drawing *drawing, uint32_t key)
{
	return drawing->change && key < KEY_CALLER && key % 2;
}

/* Sorts bars by key, so that each key is one path; then by frame from left to right, removed frames last, so that the
 * moves within a path are short. */
static int bar_cmp(const void *a, const void *b)
{
	const struct bar *bar = a, *y = b;

	if (bar->key != y->key)
		return bar->key < y->key ? -1 : 1;
	if (bar->gone != y->gone)
		return bar->gone ? 1 : -1;
	return (bar->frame + 1 > y->frame + 1) - (bar->frame + 1 < y->frame + 1);
}

/* Appends a number, given in tenths, to the data of a path. Puts a blank before the number unless `first` is true or it
 * has a minus sign. */
static void put_step(struct text *text, int64_t tenths, bool first)
{
	if (!first && tenths >= 0)
		text_char(text, ' ');
	text_tenths(text, tenths);
}

static const char *ink_on(bool dark)
{
	return dark ? "#f4f5f7" : "#16181d";
}

/* Writes one path with n bars of the same key. stripes: true: the path draws only the stripes that mark new frames,
 * over the bars of an earlier path. */
static void put_path(struct text *text, const struct drawing *drawing, const struct bar *bar, uint32_t n, bool stripes)
{
	int64_t pen_x = 0, pen_y = 0;

	text_add(text, "<path stroke=\"");
	if (stripes)
		text_printf(text, "%s\" stroke-opacity=\".25\" stroke-dasharray=\"1.5 4.5", ink_on(drawing->dark));
	else
		text_rgb(text, key_rgb(drawing, bar->key));
	text_add(text, "\" d=\"");
	for (uint32_t i = 0; i < n; i++) {
		int64_t y = 10 * (int64_t)row_y(drawing, bar[i].row) + 5 * (int64_t)(drawing->look->row - 1);
		text_char(text, i ? 'm' : 'M');
		put_step(text, bar[i].x - pen_x, true);
		put_step(text, y - pen_y, false);
		text_char(text, 'h');
		text_tenths(text, bar[i].w);
		pen_x = bar[i].x + bar[i].w;
		pen_y = y;
	}
	text_add(text, "\"/>\n");
}

static void bars_put_weight(struct text *text, const struct drawing *drawing, uint64_t weight, uint64_t sum)
{
	bars_weight(text, drawing->look, weight);
	text_add(text, ", ");
	bars_percent(text, weight, sum);
}

static void put_change(struct text *text, const struct drawing *drawing, uint32_t frame)
{
	const struct layout *layout = drawing->layout;
	const struct sig_change *change = change_of(drawing->change, frame);

	text_add(text, "before ");
	bars_put_weight(text, drawing, layout->before[frame], layout->before_sum);
	text_add(text, " \xe2\x86\x92 after ");
	bars_put_weight(text, drawing, layout->width[frame], layout->sum);
	if (change->why == SIG_MOVED)
		text_add(text, "; moved: same code, reached another way");
	else if (change->why != SIG_CHANGED)
		text_add(text, "; no significant change");
	else if (drawing->change->rule.counted && change->z > 0)
		text_printf(text, "; %+.2f points, z %.1f", (double)change->points, (double)change->z);
	else
		text_printf(text, "; %+.2f points", (double)change->points);
}

static void bars_put_facts(struct text *text, const struct drawing *drawing, const struct bar *bar)
{
	bool root = bar->frame == ROOT;

	if (root && bar->gone)
		bars_put_weight(text, drawing, drawing->change->gone_sum, drawing->layout->before_sum);
	else if (root && drawing->change)
		bars_put_weight(text, drawing, drawing->layout->sum, drawing->layout->sum);
	else if (root)
		bars_put_weight(text, drawing, drawing->look->total, drawing->look->total);
	else if (drawing->change)
		put_change(text, drawing, bar->frame);
	else
		bars_put_weight(text, drawing, drawing->layout->width[bar->frame], drawing->look->total);
}

/* Writes a <title> element with the weights of the bar, and with its name unless the label already shows the complete
 * name. */
static void put_tooltip(struct text *text, const struct drawing *drawing, struct str name, struct str label,
			const struct bar *bar)
{
	bool named = !str_eq(name, label);
	struct text tip = { 0 };

	if (named) {
		label_fit(&tip, name, TOOLTIP_MAX, LABEL_RIGHT);
		text_add(&tip, " (");
	}
	bars_put_facts(&tip, drawing, bar);
	if (named)
		text_char(&tip, ')');
	text_add(text, "<title>");
	xml_text(text, text_view(&tip));
	text_add(text, "</title>");
	text_free(&tip);
}

/* Returns how labels of a style are truncated. Names of processes keep their start, as they have no paths or packages.
 * Names of Python keep the function, their last part. */
static enum label_cut cut_of(const struct drawing *drawing, uint32_t style)
{
	const struct styles_colour *colour = &drawing->styles->colours[drawing->styles->colour[style]];
	const char *kind = drawing->styles->kinds[colour->kind].label;

	if (strcmp(kind, CODE_LABEL_PROCESS) == 0)
		return LABEL_RIGHT;
	return drawing->look->cut == LABEL_SMART && strcmp(kind, CODE_LABEL_PYTHON) == 0 ? LABEL_PYTHON :
											   drawing->look->cut;
}

static void put_label(struct text *text, const struct drawing *drawing, const struct bar *bar)
{
	bool root = bar->frame == ROOT;
	uint32_t style = root ? 0 : drawing->styles->of[bar->frame];
	struct str name = !root ? drawing->styles->text[style] : bar->gone ? STR("only before") : STR("all");
	enum label_cut cut = root ? LABEL_RIGHT : cut_of(drawing, style);
	double space = bar->w / 10.0 - 6;
	struct text label = { 0 };

	if (space > 0)
		label_fit(&label, name, (size_t)(space / (drawing->look->font_size * drawing->look->char_width)), cut);
	if (label.n) {
		double middle =
			row_y(drawing, bar->row) + (drawing->look->row - 1) / 2.0 + drawing->look->font_size * .35;
		text_add(text, "<text x=\"");
		text_tenths(text, bar->x + 40);
		text_add(text, "\" y=\"");
		text_tenths(text, (long)rounded(middle * 10));
		text_char(text, '"');
		if (bars_is_dark(key_rgb(drawing, bar->key)) != drawing->dark)
			text_printf(text, " fill=\"%s\"", ink_on(!drawing->dark));
		text_char(text, '>');
		put_tooltip(text, drawing, name, text_view(&label), bar);
		xml_text(text, text_view(&label));
		text_add(text, "</text>\n");
	}
	text_free(&label);
}

static void put_bars(struct text *text, struct drawing *drawing)
{
	qsort(drawing->bar, drawing->n, sizeof(*drawing->bar), bar_cmp);
	text_printf(text, "<g fill=\"none\" stroke-width=\"%u\">\n", drawing->look->row - 1);
	for (uint32_t from = 0, i = 1; i <= drawing->n; i++) {
		if (i < drawing->n && drawing->bar[i].key == drawing->bar[from].key)
			continue;
		put_path(text, drawing, drawing->bar + from, i - from, false);
		if (key_is_striped(drawing, drawing->bar[from].key))
			put_path(text, drawing, drawing->bar + from, i - from, true);
		from = i;
	}
	text_printf(text, "</g>\n<g fill=\"%s\" font-size=\"%g\" font-family=\"", ink_on(drawing->dark),
		    drawing->look->font_size);
	xml_attribute(text, drawing->look->font);
	text_add(text, "\">\n");
	for (uint32_t i = 0; i < drawing->n; i++) {
		if (drawing->bar[i].labelled)
			put_label(text, drawing, &drawing->bar[i]);
	}
	text_add(text, "</g>\n");
}

static void bars_coarsen(struct detail *detail)
{
	if (detail->frame_px > 20)
		detail->rows = (detail->rows * 3 + 1) / 4;
	detail->frame_px *= 1.25;
	detail->label_px *= 1.15;
}

/* Computes position and scale of the area of removed frames, which is to the right of the root: one px stands for the
 * same share or count as in the root. */
static void place_gone_area(struct drawing *drawing)
{
	const struct layout *layout = drawing->layout;

	drawing->complete = (double)drawing->look->total;
	if (!drawing->change || drawing->change->gone_sum == 0)
		return;
	drawing->gone_scale =
		drawing->change->rule.shares && layout->sum ? (double)layout->sum / (double)layout->before_sum : 1;
	drawing->gone_left = drawing->complete * (1 + GONE_GAP);
	drawing->complete = drawing->gone_left + (double)drawing->change->gone_sum * drawing->gone_scale;
}

void bars_draw(struct bars *bars, struct text *text, const struct look *look, const struct layout *layout,
	       const struct styles *styles, const struct change *change, uint32_t width, uint32_t top)
{
	struct drawing drawing = {
		.look = look, .layout = layout, .styles = styles, .change = change, .width = width, .top = top
	};
	uint32_t rows = PICTURE_PX / look->row;

	place_gone_area(&drawing);
	drawing.dark = bars_is_dark(look->background);
	drawing.detail.frame_px = look->min_px > .5 ? look->min_px : .5;
	drawing.detail.label_px = 24;
	drawing.detail.rows = rows < PICTURE_ROWS ? rows : PICTURE_ROWS;
	drawing.bar = mem_grow(NULL, sizeof(*drawing.bar), BARS_MAX);
	for (;; bars_coarsen(&drawing.detail)) {
		text->n = 0;
		if (!collect_bars(&drawing))
			continue;
		put_bars(text, &drawing);
		if (text->n <= PICTURE_BYTES || drawing.n <= 1)
			break;
	}
	free(drawing.bar);
	*bars = (struct bars){ drawing.rows, drawing.rows_hidden };
}
