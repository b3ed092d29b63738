/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heatpicture.h"

#include "common/visible.h"
#include "svg/format/xml.h"
#include "svg/heat/heattime.h"
#include "svg/heat/markers.h"

#include <stdlib.h>

enum {
	LEGEND_PX = 22,
	AXIS_PX = 20,
	BELOW_PX = 10,
	LABEL_PX = 84,
	DIGIT_PX = 7,
	LABEL_GAP_PX = 10,
	HATCH_PX = 8,
	FLAGS_PX = 16,
	FLAG_NAME_PX = 80,
	FLAG_NAME_BYTES = 40
};

#define LOST_RGB 0x7c3aed
#define LOST_DARK_RGB 0xc4a7ff
#define MARKER_RGB 0x0f766e
#define MARKER_DARK_RGB 0x5eead4
#define FLAG "\xe2\x9a\x91 "
#define SQUARE "\xe2\x96\xa0"
#define MIDDOT " \xc2\xb7 "

/* The geometry of the heat map in px. left: x of the first column; right: x at which labels of markers end at the
 * latest; column: width of a column; top, height: y and height of the map; row: height of a row. */
struct heatpicture {
	const struct heatmap *map;
	double left, right, column;
	uint32_t top, height, row;
};

static void put_text_at(struct text *text, double x, double y, uint32_t rgb, const char *anchor)
{
	text_printf(text, "<text x=\"%g\" y=\"%g\" font-size=\"11\" text-anchor=\"%s\" fill=\"", x, y, anchor);
	text_rgb(text, rgb);
	text_add(text, "\">");
}

/* ---- drawing of slots --------------------------------------------------------------------------------------- */

/* Writes all slots of one colour level as one path; level 0: the slots with losses. rgb: colour of the path. A slot is
 * a thick stroke of length 1 on a grid with one unit per slot, which the group scales to px: so a slot needs only a few
 * bytes. */
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

/* Writes a background for each run of adjacent columns. It is visible where slots have no samples. Gaps between runs
 * have no background. */
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

/* Writes diagonal strokes, HATCH_PX px apart, over a part of a row: it starts at x and is `width` px wide. */
static void put_hatch(struct text *text, const struct heatpicture *picture, uint32_t row, double x, double width)
{
	uint32_t bottom = picture->top + (picture->map->rows - row) * picture->row;

	for (uint32_t at = 0; at + picture->row <= width; at += HATCH_PX)
		text_printf(text, "M%.6g %ul%u -%u", x + at, bottom, picture->row, picture->row);
}

/* Writes a hatched area over the columns of each row in which samples are missing. */
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

/* ---- drawing of markers ------------------------------------------------------------------------------------- */

/* Returns the x in px of the column of a position. */
static double column_left(const struct heatpicture *picture, uint32_t position)
{
	uint32_t column = position / picture->map->rows;

	return picture->left + column * picture->column;
}

/* Appends the line of one marker, at this position of the map, to a path. The line separates the slots before the
 * marker's time from the slots from its time on. */
static void put_border(struct text *text, const struct heatpicture *picture, uint32_t position)
{
	const struct heatmap *map = picture->map;
	uint32_t row = position % map->rows, bottom = picture->top + picture->height;
	double x = column_left(picture, position);

	if (row)
		text_printf(text, "M%.6g %uV%uH%.6g", x + picture->column, bottom, bottom - row * picture->row, x);
	else
		text_printf(text, "M%.6g %u", x, bottom);
	text_printf(text, "V%u", picture->top - FLAGS_PX + 4);
}

static void put_borders(struct text *text, const struct heatpicture *picture, const char *attributes, uint32_t rgb)
{
	const struct markers *markers = picture->map->markers;

	text_printf(text, "<path fill=\"none\" %s stroke=\"", attributes);
	text_rgb(text, rgb);
	text_add(text, "\" d=\"");
	for (size_t i = 0; i < markers->n; i++)
		put_border(text, picture, markers->marker[i].position);
	text_add(text, "\"/>\n");
}

/* Returns true if the last marker is so close to the right edge that its label has no space there: the label is then to
 * the left of the marker. Returns false if it is to the right, like all other labels. */
static bool is_at_edge(const struct heatpicture *picture)
{
	const struct markers *markers = picture->map->markers;

	return picture->right - column_left(picture, markers->marker[markers->n - 1].position) < FLAG_NAME_PX;
}

/* Sets *start and *end to the limits, as x in px, of the space for the label of marker i: from its line to the label of
 * the next marker; for the last marker to picture->right or, if is_at_edge is true, to the left of its line. */
static void flag_space(const struct heatpicture *picture, size_t i, double *start, double *end)
{
	const struct markers *markers = picture->map->markers;
	const struct marker *marker = &markers->marker[i];

	*start = column_left(picture, marker->position);
	if (i + 1 < markers->n)
		*end = column_left(picture, marker[1].position) -
		       (i + 2 == markers->n && is_at_edge(picture) ? FLAG_NAME_PX : 0);
	else if (!is_at_edge(picture))
		*end = picture->right;
	else {
		*end = *start;
		*start = i ? column_left(picture, marker[-1].position) : picture->left;
		if (*end - *start > FLAG_NAME_PX)
			*start = *end - FLAG_NAME_PX;
	}
}

/* Writes the label of marker i in the colour rgb, truncated to its space, with the full text as tooltip. Writes nothing
 * if the space is narrower than FLAG_NAME_PX. */
static void put_flag(struct text *text, const struct heatpicture *picture, uint32_t rgb, size_t i)
{
	const struct marker *marker = &picture->map->markers->marker[i];
	double start, end;

	flag_space(picture, i, &start, &end);
	if (end - start < FLAG_NAME_PX)
		return;
	bool is_before = start < column_left(picture, marker->position);
	size_t bytes = (size_t)((end - start) / DIGIT_PX) - 2;
	put_text_at(text, is_before ? end - 2 : start + 2, picture->top - 4, rgb, is_before ? "end" : "start");
	text_add(text, FLAG);
	struct text brief = { 0 };
	visible_middle(&brief, marker->label, bytes < FLAG_NAME_BYTES ? bytes : FLAG_NAME_BYTES);
	xml_text(text, text_view(&brief));
	text_add(text, "<title>");
	xml_text(text, marker->label);
	text_add(text, "</title></text>\n");
	text_free(&brief);
}

static void put_markers(struct text *text, const struct heatpicture *picture, const struct heatpicture_ink *ink)
{
	uint32_t rgb = ink->dark ? MARKER_DARK_RGB : MARKER_RGB;

	if (!picture->map->markers || picture->map->markers->n == 0)
		return;
	put_borders(text, picture, "stroke-width=\"4\" opacity=\".7\"", ink->dark ? 0x15171b : 0xffffff);
	put_borders(text, picture, "stroke-width=\"1.5\"", rgb);
	for (size_t i = 0; i < picture->map->markers->n; i++)
		put_flag(text, picture, rgb, i);
}

/* ---- drawing of axes and legend ----------------------------------------------------------------------------- */

static struct heattime_axis axis_of(const struct heatmap *map)
{
	const struct heatmap_run *last = &map->run[map->nruns - 1];

	return (struct heattime_axis){
		.origin = map->origin,
		.span = (last->column + last->n) * map->column_ns - map->origin,
		.column_ns = map->column_ns,
	};
}

/* Returns the width in px of a label of the time axis with the gap after it. */
static double label_width(const struct heattime_axis *axis)
{
	struct text text = { 0 };

	heattime_label(&text, axis->origin, axis);
	double width = (double)text.n * DIGIT_PX + LABEL_GAP_PX;
	text_free(&text);
	return width > LABEL_PX ? width : LABEL_PX;
}

/* Returns the number of columns from one label of the time axis to the next; width: width of a label in px. */
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
	/* heights of the labels above the bottom of the map, in quarters of its height */
	static const uint64_t part[] = { 0, 2, 4 };

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
		put_text_at(text, picture->left - 6, picture->top + (labels->n - row) * picture->row - 2, ink->muted,
			    "end");
		xml_text(text, labels->brief[row]);
		text_add(text, "<title>");
		xml_text(text, labels->name[row]);
		text_add(text, "</title></text>\n");
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

static void put_marker_legend(struct text *text, const struct markers *markers)
{
	if (!markers)
		return;
	text_printf(text, MIDDOT FLAG "%zu %s", markers->n, markers->n == 1 ? "marker" : "markers");
	if (markers->outside + markers->excess)
		text_printf(text, ", %ju not shown", (uintmax_t)(markers->outside + markers->excess));
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
	put_marker_legend(text, map->markers);
	text_add(text, "</text>\n");
}

uint32_t heatpicture_draw(struct text *text, const struct heatmap *map, const struct heatpicture_ink *ink,
			  struct str unit, uint32_t top, uint32_t width, uint32_t pad)
{
	uint32_t gutter = map->labels ? HEATPICTURE_LABELS : HEATPICTURE_GUTTER;
	uint32_t above = LEGEND_PX + (map->markers && map->markers->n ? FLAGS_PX : 0);
	struct heatpicture picture = {
		.map = map,
		.left = pad + gutter,
		.right = (double)width - 4,
		.column = ((double)width - 2 * pad - gutter) / map->columns,
		.top = top + above,
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
	put_markers(text, &picture, ink);
	return above + picture.height + AXIS_PX + BELOW_PX;
}
