/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/heatdata.h"

#include "svg/format/encode.h"
#include "svg/format/xml.h"
#include "svg/heat/heattime.h"
#include "svg/layout/change.h"

static void put_colours_of(struct text *text, bool dark)
{
	for (unsigned level = 1; level <= HEATMAP_LEVELS; level++) {
		text_add(text, level > 1 ? ",\"" : "\"");
		text_rgb(text, heatmap_colour(level, dark));
		text_char(text, '"');
	}
}

/* Writes what a comparison of two ranges needs: the rule of its tests, and the colours of its steps. */
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

static void put_row_label_keys(struct text *text, const struct heatmap *map)
{
	const struct heatrows *labels = map->labels;

	if (!labels)
		return;
	text_add(text, ",\"label\":");
	xml_json(text, labels->label);
	text_add(text, ",\"names\":[");
	for (uint32_t row = 0; row < labels->n; row++) {
		text_add(text, row ? "," : "");
		xml_json(text, labels->name[row]);
	}
	text_printf(text, "],\"missing\":%u,\"lost\":%d", map->missing,
		    labels->lost < labels->n ? (int)labels->lost : -1);
}

void heatdata_config(struct text *text, const struct heatmap *map, struct str unit)
{
	/* Seconds as text of integers: times of the wall clock in ns need more digits than a double has. */
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
