/* Samples with times: for any times the map has few columns, and no weight is lost or added. */
/* covers: svg/heat/slots.c svg/heat/heatrows.c svg/heat/heatmap.c svg/heat/heattime.c svg/heat/heatdata.c
 * svg/heat/markers.c svg/heatpicture.c */
#include "svg/heatpicture.h"
#include "svg/heat/heatdata.h"
#include "svg/heat/markers.h"
#include "common/formats/folded.h"

#include "test/fuzz/fuzz.h"

struct heat_parts {
	struct stacks stacks;
	struct slots slots;
	struct layout layout;
	struct heatmap map;
	struct heatrows rows;
	struct markers markers;
	struct text text;
};

static void heat_clear(struct heat_parts *parts)
{
	heatmap_free(&parts->map);
	heatrows_free(&parts->rows);
	markers_free(&parts->markers);
	layout_free(&parts->layout);
	slots_free(&parts->slots);
	stacks_free(&parts->stacks);
	text_free(&parts->text);
}

/* Each slot is inside of the map and right of the one before; the weights of the map are those of the tree. */
static void check_map(const struct heat_parts *parts)
{
	const struct heatmap *map = &parts->map;
	uint64_t sum = 0, lost = 0, weights = 0;

	MUST(map->columns >= 1 && map->columns <= HEATMAP_COLUMNS && map->rows >= 1 && map->slot_ns);
	for (size_t i = 0; i < map->nslots; i++) {
		MUST(map->slot[i].position < map->columns * map->rows);
		MUST(i == 0 || map->slot[i].position > map->slot[i - 1].position);
		sum += map->slot[i].sum;
		lost += map->slot[i].lost;
		MUST(map->slot[i].sum == 0 || (heatmap_level(map, map->slot[i].sum) - 1) < HEATMAP_LEVELS);
	}
	for (size_t i = 0; i < map->n; i++) {
		MUST(map->item[i].frame < parts->layout.n && map->item[i].weight);
		weights += map->item[i].weight;
	}
	MUST(sum == stacks_sum(&parts->slots.tree, 0) && weights == sum && lost == parts->slots.lost_sum);
}

/* The lines of the input are also those of markers, which are ascending and inside of the map. */
static void add_markers(struct heat_parts *parts, struct str text)
{
	struct markers *markers = &parts->markers;

	while (text.n)
		markers_add(markers, &parts->map, str_cut(&text, '\n'));
	markers_sort(markers);
	MUST(markers->n <= MARKERS_MAX);
	MUST(markers->n + markers->malformed + markers->outside + markers->excess == markers->lines);
	for (size_t i = 0; i < markers->n; i++) {
		MUST(markers->marker[i].position < parts->map.columns * parts->map.rows);
		MUST(i == 0 || markers->marker[i].position >= markers->marker[i - 1].position);
		MUST(markers->marker[i].label.n && markers->marker[i].label.n <= MARKERS_LABEL);
	}
	parts->map.markers = markers;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static struct heat_parts parts; /* static: freed here when the run before died */
	struct heatpicture_ink ink = { 0, 0x5b616b, n % 2 };
	struct folded_header header = { 0 };
	struct folded_tally tally = { 0 };
	static struct in in;
	char path[32];
	volatile int fd = fuzz_file(data, n, path);

	heat_clear(&parts);
	if (in.raw)
		in_close(&in);
	if (FUZZ_GUARD()) { /* weights that are too much */
		close(fd);
		return 0;
	}
	in_open(&in, path);
	unsigned columns = folded_read(&in, &parts.stacks, &header, &tally);
	in_close(&in);
	close(fd);
	if (columns != 1)
		return 0;
	slots_make(&parts.slots, &parts.stacks);
	MUST(parts.slots.untimed + parts.slots.lost_sum + stacks_sum(&parts.slots.tree, 0) ==
	     stacks_sum(&parts.stacks, 0));
	if (parts.slots.ntimes == 0)
		return 0;
	layout_make(&parts.layout, &parts.slots.tree);
	slots_number(&parts.slots, &parts.layout);
	heatrows_make(&parts.rows, &parts.slots, &parts.layout, STR("host"));
	heatmap_make(&parts.map, &parts.slots, n % 2 ? &parts.rows : NULL, n % 3 ? 0 : n * 1000000);
	check_map(&parts);
	add_markers(&parts, (struct str){ (const char *)data, n });
	heatdata_config(&parts.text, &parts.map, STR("samples"));
	heatdata_slots(&parts.text, &parts.map);
	heatpicture_draw(&parts.text, &parts.map, &ink, STR("samples"), 60, 1200, 12);
	return 0;
}
