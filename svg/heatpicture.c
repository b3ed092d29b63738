/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heatpicture.h"

#include "common/visible.h"
#include "svg/format/xml.h"
#include "svg/heat/heattime.h"

#include <stdlib.h>

enum {
	LEGEND_PX = 22,
	AXIS_PX = 20,
	BELOW_PX = 10,
	LABEL_PX = 84,
	DIGIT_PX = 7,
	LABEL_GAP_PX = 10,
	HATCH_PX = 8,
	NAME_BYTES = 20
};

#define LOST_RGB 0x7c3aed
#define LOST_DARK_RGB 0xc4a7ff
#define SQUARE "\xe2\x96\xa0"
#define MIDDOT " \xc2\xb7 "

/* Where the map is, in px. */
struct heatpicture {
	const struct heatmap *map;
	double left, column;
	uint32_t top, height, row;
};

static void put_text_at(struct text *text, double x, double y, uint32_t rgb, const char *anchor)
{
	text_printf(text, "<text x=\"%g\" y=\"%g\" font-size=\"11\" text-anchor=\"%s\" fill=\"", x, y, anchor);
	text_rgb(text, rgb);
	text_add(text, "\">");
}

/* ---- slots -------------------------------------------------------------------------------------------------- */

/* Slots are thick strokes on a grid of one unit for each, scaled to px: a few bytes for each slot. */
static void put_level(struct text *text, const struct heatmap *map, unsigned level, uint32_t rgb)
{
	bool any = false;

	for (size_t i = 0; i < map->nslots; i++) {
		const struct heatmap_slot *slot = &map->slot[i];

		if (level ? slot->sum == 0 || heatmap_level(map, slot->sum) != level : slot->lost == 0)
			continue;
		if (!any) {
			text_add(text, "<path stroke=\"");
			text_rgb(text, rgb);
			text_add(text, level ? "\" d=\"" : "\" stroke-width=\".4\" d=\"");
		}
		any = true;
		text_printf(text, "M%u %uh1", slot->position / map->rows, map->rows - 1 - slot->position % map->rows);
	}
	text_add(text, any ? "\"/>\n" : "");
}

static void put_slots(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	const struct heatmap *map = picture->map;

	text_printf(text, "<g transform=\"translate(%g %g) scale(%.5g %u)\" fill=\"none\" stroke-width=\"1\">\n",
		    picture->left, picture->top + picture->row / 2.0, picture->column, picture->row);
	for (unsigned level = 1; level <= HEATMAP_LEVELS; level++)
		put_level(text, map, level, heatmap_colour(level, ink->dark));
	put_level(text, map, 0, ink->dark ? LOST_DARK_RGB : LOST_RGB);
	text_add(text, "</g>\n");
}

/* Writes the ground of each run of columns: slots without samples. Between runs are gaps. */
static void put_ground(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	const struct heatmap *map = picture->map;

	for (size_t i = 0; i < map->nruns; i++) {
		text_printf(text, "<rect x=\"%.6g\" y=\"%u\" width=\"%.6g\" height=\"%u\" fill=\"",
			    picture->left + map->run[i].position * picture->column, picture->top,
			    map->run[i].n * picture->column, picture->height);
		text_rgb(text, ink->dark ? 0x23262c : 0xeceef1);
		text_add(text, "\"/>\n");
	}
}

/* Writes a diagonal stroke every HATCH_PX px over columns of a row. */
static void put_hatch(struct text *text, const struct heatpicture *picture, uint32_t row, double x, double width)
{
	uint32_t bottom = picture->top + (picture->map->rows - row) * picture->row;

	for (uint32_t at = 0; at + picture->row <= width; at += HATCH_PX)
		text_printf(text, "M%.6g %ul%u -%u", x + at, bottom, picture->row, picture->row);
}

/* Writes the time that is missing in each row. */
static void put_missing(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	const struct heatmap *map = picture->map;
	bool *filled = heatmap_filled(map);

	text_add(text, "<path fill=\"none\" stroke=\"");
	text_rgb(text, ink->muted);
	text_add(text, "\" d=\"M0 0");
	for (uint32_t row = 0; row < map->rows; row++)
		for (uint32_t column = 0, n; row != map->labels->lost; column += n) {
			n = heatmap_missing(map, filled, row, &column);
			if (n == 0)
				break;
			put_hatch(text, picture, row, picture->left + column * picture->column, n * picture->column);
		}
	text_add(text, "\"/>\n");
	free(filled);
}

/* ---- axes and legend ---------------------------------------------------------------------------------------- */

static struct heattime_axis axis_of(const struct heatmap *map)
{
	const struct heatmap_run *last = &map->run[map->nruns - 1];

	return (struct heattime_axis){
		.origin = map->origin,
		.span = (last->column + last->n) * map->column_ns - map->origin,
		.column_ns = map->column_ns,
	};
}

/* Returns the width of a label of the time axis and of the gap behind it, in px. */
static double label_width(const struct heattime_axis *axis)
{
	struct text text = { 0 };

	heattime_label(&text, axis->origin, axis);
	double width = (double)text.n * DIGIT_PX + LABEL_GAP_PX;
	text_free(&text);
	return width > LABEL_PX ? width : LABEL_PX;
}

/* Returns the number of columns between labels of the time axis. */
static uint64_t label_step(const struct heatpicture *picture, double width)
{
	static const uint64_t steps[] = { 1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 360 };
	size_t i = 0;

	while (i + 1 < countof(steps) && (double)steps[i] * picture->column < width)
		i++;
	return steps[i];
}

static void put_axis(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	const struct heatmap *map = picture->map;
	struct heattime_axis axis = axis_of(map);
	double width = label_width(&axis), free = 0;
	uint64_t step = label_step(picture, width);

	for (size_t i = 0; i < map->nruns; i++)
		for (uint32_t at = 0; at < map->run[i].n; at++) {
			uint64_t column = map->run[i].column + at;
			double x = picture->left + (map->run[i].position + at) * picture->column;

			if (x < free ||
			    (at && (column - (map->origin < HEATTIME_WALL ? map->run[0].column : 0)) % step))
				continue;
			put_text_at(text, x, picture->top + picture->height + 14, ink->muted, "start");
			heattime_label(text, column * map->column_ns, &axis);
			text_add(text, "</text>\n");
			free = x + width - LABEL_GAP_PX;
		}
}

static void put_row_labels(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	static const uint64_t part[] = { 0, 2, 4 }; /* quarters of a column */

	for (size_t i = 0; i < countof(part); i++) {
		put_text_at(text, picture->left - 6, picture->top + picture->height * (double)(4 - part[i]) / 4 + 4,
			    ink->muted, "end");
		if (part[i])
			heattime_duration(text, picture->map->column_ns / 4 * part[i]);
		else
			text_char(text, '0');
		text_add(text, "</text>\n");
	}
}

static void put_label_names(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	const struct heatrows *labels = picture->map->labels;

	for (uint32_t row = 0; row < labels->n; row++) {
		struct str name = visible_head(labels->name[row], NAME_BYTES);

		put_text_at(text, picture->left - 6, picture->top + (labels->n - row) * picture->row - 2, ink->muted,
			    "end");
		xml_text(text, name);
		text_add(text, name.n < labels->name[row].n ? "\xe2\x80\xa6</text>\n" : "</text>\n");
	}
}

static void put_square(struct text *text, uint32_t rgb)
{
	text_add(text, "<tspan font-size=\"15\" fill=\"");
	text_rgb(text, rgb);
	text_add(text, "\">" SQUARE "</tspan>");
}

static bool has_losses(const struct heatmap *map)
{
	size_t i = 0;

	while (i < map->nslots && map->slot[i].lost == 0)
		i++;
	return i < map->nslots;
}

static void put_heat_legend(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink,
			    struct str unit, uint32_t y, uint32_t pad)
{
	const struct heatmap *map = picture->map;

	put_text_at(text, pad, y, ink->text, "start");
	text_add(text, "columns of ");
	heattime_duration(text, map->column_ns);
	if (map->labels) {
		text_add(text, ", a row for each ");
		xml_text(text, map->labels->label);
	} else {
		text_add(text, ", slots of ");
		heattime_duration(text, map->slot_ns);
	}
	text_add(text, MIDDOT "1 ");
	for (unsigned level = 1; level <= HEATMAP_LEVELS; level++)
		put_square(text, heatmap_colour(level, ink->dark));
	text_char(text, ' ');
	text_grouped(text, map->full);
	text_add(text, map->full < map->max ? " and more " : " ");
	xml_text(text, unit);
	text_add(text, MIDDOT);
	put_square(text, ink->dark ? 0x23262c : 0xeceef1);
	text_add(text, " none");
	if (map->labels)
		text_printf(text, MIDDOT "hatched: no samples in %u columns or more", map->missing);
	if (has_losses(map)) {
		text_add(text, MIDDOT);
		put_square(text, ink->dark ? LOST_DARK_RGB : LOST_RGB);
		text_add(text, " samples lost");
	}
	if (map->nruns > 1)
		text_add(text, MIDDOT "blank: longer gaps");
	if (map->origin >= HEATTIME_WALL)
		text_add(text, MIDDOT "UTC");
	text_add(text, "</text>\n");
}

uint32_t heatpicture_draw(struct text *text, const struct heatmap *map, const struct heatpicture_ink *ink,
			  struct str unit, uint32_t top, uint32_t width, uint32_t pad)
{
	uint32_t gutter = map->labels ? HEATPICTURE_LABELS : HEATPICTURE_GUTTER;
	struct heatpicture picture = {
		.map = map,
		.left = pad + gutter,
		.column = ((double)width - 2 * pad - gutter) / map->columns,
		.top = top + LEGEND_PX,
		.row = map->labels ? HEATPICTURE_LABEL_ROW : HEATPICTURE_ROW,
	};

	picture.height = map->rows * picture.row;

	if (picture.column > HEATPICTURE_COLUMN)
		picture.column = HEATPICTURE_COLUMN;
	put_heat_legend(text, &picture, ink, unit, top + 10, pad);
	put_ground(text, &picture, ink);
	if (map->labels)
		put_missing(text, &picture, ink);
	put_slots(text, &picture, ink);
	(map->labels ? put_label_names : put_row_labels)(text, &picture, ink);
	put_axis(text, &picture, ink);
	return LEGEND_PX + picture.height + AXIS_PX + BELOW_PX;
}
