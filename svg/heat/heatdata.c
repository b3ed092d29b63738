/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/heatdata.h"

#include "svg/format/encode.h"
#include "svg/format/xml.h"
#include "svg/heat/heattime.h"
#include "svg/heat/markers.h"
#include "svg/layout/change.h"

#include <stdlib.h>

static void put_colours_of(struct text *text, bool dark)
{
	for (unsigned level = 1; level <= HEATMAP_LEVELS; level++) {
		text_add(text, level > 1 ? ",\"" : "\"");
		text_rgb(text, heatmap_colour(level, dark));
		text_char(text, '"');
	}
}

/* Writes the keys for a comparison of two time ranges: the rule of its tests, and the colours of its steps. */
static void put_comparison(struct text *text, struct str unit)
{
	static const struct change plain;

	text_printf(text, ",\"rule\":{\"z\":%g,\"points\":%g,\"relative\":%g,\"counted\":%d},\"ramp\":[", (double)SIG_Z,
		    SIG_POINTS, SIG_RELATIVE, sig_counted(unit));
	for (unsigned dark = 0; dark < 2; dark++) {
		text_add(text, dark ? "],[" : "[");
		for (unsigned step = 0; step < CHANGE_STEPS; step++) {
			text_add(text, step ? ",\"" : "\"");
			text_rgb(text, change_colour(&plain, step, dark));
			text_char(text, '"');
		}
	}
	text_add(text, "]]");
}

static void put_row_names(struct text *text, const struct str *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		text_add(text, i ? "," : "");
		xml_json(text, name[i]);
	}
}

/* Writes the columns without samples that are marked as missing: for each range its row, first column and number of
 * columns. */
static void put_missing_columns(struct text *text, const struct heatmap *map)
{
	bool *filled = heatmap_filled(map), any = false;

	for (uint32_t row = 0; row < map->rows; row++)
		for (uint32_t column = 0, n; row != map->labels->lost; column += n) {
			n = heatmap_missing(map, filled, row, &column);
			if (n == 0)
				break;
			text_printf(text, "%s[%u,%u,%u]", any ? "," : "", row, column, n);
			any = true;
		}
	free(filled);
}

static void put_row_label_keys(struct text *text, const struct heatmap *map)
{
	const struct heatrows *labels = map->labels;

	if (!labels)
		return;
	text_add(text, ",\"label\":");
	xml_json(text, labels->label);
	text_add(text, ",\"names\":[");
	put_row_names(text, labels->name, labels->n);
	text_add(text, "],\"briefs\":[");
	put_row_names(text, labels->brief, labels->n);
	text_printf(text, "],\"missing\":%u,\"hatched\":[", map->missing);
	put_missing_columns(text, map);
	text_add(text, "]");
}

/* Writes for each marker its position, its time in ns from the start of the map, and its label. Then writes the number
 * of markers that were left out: outside of the map, or beyond MARKERS_MAX. */
static void put_marker_keys(struct text *text, const struct heatmap *map)
{
	const struct markers *markers = map->markers;

	if (!markers)
		return;
	text_add(text, ",\"markers\":[");
	for (size_t i = 0; i < markers->n; i++) {
		const struct marker *marker = &markers->marker[i];

		text_printf(text, "%s[%u,%ju,", i ? "," : "", marker->position, (uintmax_t)(marker->ns - map->origin));
		xml_json(text, marker->label);
		text_char(text, ']');
	}
	text_printf(text, "],\"unmarked\":%ju", (uintmax_t)(markers->outside + markers->excess));
}

void heatdata_config(struct text *text, const struct heatmap *map, struct str unit)
{
	/* The origin is printed as seconds and ns, two integers: a double has too few digits for wall-clock times. */
	text_printf(text, "{\"slot\":%ju,\"rows\":%u,\"columns\":%u", (uintmax_t)map->slot_ns, map->rows, map->columns);
	text_printf(text, ",\"origin\":%ju.%09ju", (uintmax_t)(map->origin / HEATTIME_SECOND),
		    (uintmax_t)(map->origin % HEATTIME_SECOND));
	text_printf(text, ",\"wall\":%d,\"full\":%ju,\"max\":%ju", map->origin >= HEATTIME_WALL, (uintmax_t)map->full,
		    (uintmax_t)map->max);
	text_add(text, ",\"runs\":[");
	for (size_t i = 0; i < map->nruns; i++)
		text_printf(text, "%s[%u,%u,%ju]", i ? "," : "", map->run[i].position, map->run[i].n,
			    (uintmax_t)(map->run[i].column - map->run[0].column));
	text_add(text, "],\"levels\":[[");
	put_colours_of(text, false);
	text_add(text, "],[");
	put_colours_of(text, true);
	text_add(text, "]]");
	put_comparison(text, unit);
	put_row_label_keys(text, map);
	put_marker_keys(text, map);
	text_char(text, '}');
}

static void put_pairs(struct text *text, const struct heatmap *map, const struct heatmap_slot *slot)
{
	uint32_t frame = 0;

	for (size_t i = slot->first; i < slot->first + slot->n; i++) {
		encode_number(text, map->item[i].frame - frame);
		encode_number(text, map->item[i].weight - 1);
		frame = map->item[i].frame + 1;
	}
}

void heatdata_slots(struct text *text, const struct heatmap *map)
{
	struct text pairs = { 0 };
	uint32_t next = 0;

	for (size_t i = 0; i < map->nslots; i++) {
		const struct heatmap_slot *slot = &map->slot[i];
		size_t before = pairs.n;

		put_pairs(&pairs, map, slot);
		encode_number(text, slot->position - next);
		encode_number(text, slot->lost);
		encode_number(text, slot->n);
		encode_number(text, pairs.n - before);
		encode_number(text, slot->sum);
		next = slot->position + 1;
	}
	text_char(text, '\n');
	text_str(text, text_view(&pairs));
	text_free(&pairs);
}
