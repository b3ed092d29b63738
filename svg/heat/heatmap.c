/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/heatmap.h"

#include "svg/heat/heattime.h"

#include <stdlib.h>

/* ---- colours of slots --------------------------------------------------------------------------------------- */

uint32_t heatmap_colour(unsigned level, bool dark)
{
	static const uint32_t light[HEATMAP_LEVELS] = { 0xfde3b4, 0xfdca8c, 0xfcae66, 0xf88f4b, 0xec6c3a,
							0xd64a2b, 0xb62e20, 0x8e1a18, 0x5f0b10 };
	static const uint32_t deep[HEATMAP_LEVELS] = { 0x4a2a17, 0x66351a, 0x85401b, 0xa5501f, 0xc6662a,
						       0xe3813b, 0xf5a057, 0xfdc381, 0xffecc4 };

	return (dark ? deep : light)[level - 1];
}

unsigned heatmap_level(const struct heatmap *map, uint64_t sum)
{
	if (sum >= map->full)
		return HEATMAP_LEVELS;
	/* full > sum >= 1, so full - 1 is not 0 */
	return 1 + (unsigned)((double)(sum - 1) * (HEATMAP_LEVELS - 1) / (double)(map->full - 1) + .5);
}

/* ---- the length of a slot ----------------------------------------------------------------------------------- */

#define MS (HEATTIME_SECOND / 1000)
#define MINUTE (60 * HEATTIME_SECOND)
#define HOUR (60 * MINUTE)

/* length in ns of the longest slot: times are below 2^63 ns, so any input then has at most two columns, or 64 in a map
 * with labels */
#define SLOT_LIMIT (UINT64_C(1) << 57)
#define ROWS 50 /* number of rows of a column if the slot length is not in `shapes` */

static const struct heatmap_shape {
	uint64_t slot_ns;
	uint32_t rows;
} shapes[] = {
	{ 20 * MS, 50 },
	{ 50 * MS, 40 },
	{ 100 * MS, 50 },
	{ 200 * MS, 50 },
	{ 250 * MS, 60 },
	{ 500 * MS, 60 },
	{ HEATTIME_SECOND, 60 },
	{ 2 * HEATTIME_SECOND, 60 },
	{ 5 * HEATTIME_SECOND, 60 },
	{ 10 * HEATTIME_SECOND, 60 },
	{ 15 * HEATTIME_SECOND, 60 },
	{ 30 * HEATTIME_SECOND, 60 },
	{ MINUTE, 60 },
	{ 5 * MINUTE, 72 },
	{ 20 * MINUTE, 72 },
	{ HOUR, 24 },
};

/* Returns the greatest common divisor of the input's times in ns, their distance, such as the slice length of pjfold
 * --time-slice; 1 if there is only one time. */
static uint64_t times_distance(const struct slots *slots)
{
	uint64_t distance = 0;

	for (size_t i = 0; i < slots->ntimes && slots->ntimes > 1 && distance != 1; i++)
		for (uint64_t rest = slots->ns[i]; rest;) { /* Euclid's algorithm */
			uint64_t next = distance % rest;

			distance = rest;
			rest = next;
		}
	return distance ? distance : 1;
}

/* Returns the number of columns in the grid from a column with samples to the next one. A gap of more than HEATMAP_GAP
 * columns without samples is shown as one column, so the result is then 2. */
static uint64_t heatmap_step(uint64_t from, uint64_t to)
{
	return to - from > HEATMAP_GAP + 1 ? 2 : to - from;
}

static bool columns_fit(const struct slots *slots, uint64_t column_ns)
{
	uint64_t columns = 1;

	for (size_t i = 1; i < slots->ntimes && columns <= HEATMAP_COLUMNS; i++)
		columns += heatmap_step(slots->ns[i - 1] / column_ns, slots->ns[i] / column_ns);
	return columns <= HEATMAP_COLUMNS;
}

/* Returns true if there are at most HEATMAP_PAIRS pairs of slot and frame with slots of slot_ns ns; false if there are
 * more. seen: scratch array, cleared here: by frame, number of the last slot with this frame, counted from 1. */
static bool pairs_fit(const struct slots *slots, uint64_t slot_ns, size_t *seen)
{
	size_t pairs = 0, slot = 0;
	uint64_t before = UINT64_MAX;

	if (slots->n <= HEATMAP_PAIRS || slot_ns >= SLOT_LIMIT)
		return true;
	memset(seen, 0, slots->tree.n * sizeof(*seen));
	for (size_t i = 0; i < slots->n && pairs <= HEATMAP_PAIRS; i++) {
		uint64_t at = slots->ns[slots->item[i].time] / slot_ns;

		slot += at != before;
		before = at;
		pairs += seen[slots->item[i].frame] != slot;
		seen[slots->item[i].frame] = slot;
	}
	return pairs <= HEATMAP_PAIRS;
}

static bool heatmap_try(struct heatmap *map, const struct slots *slots, struct heatmap_shape shape, size_t *seen)
{
	uint64_t column_ns = shape.slot_ns * (map->labels ? 1 : shape.rows);

	if (!columns_fit(slots, column_ns) || !pairs_fit(slots, shape.slot_ns, seen))
		return false;
	map->slot_ns = shape.slot_ns;
	map->rows = map->labels ? map->labels->n : shape.rows;
	map->column_ns = column_ns;
	return true;
}

static bool try_shapes(struct heatmap *map, const struct slots *slots, uint64_t least, uint64_t distance, size_t *seen)
{
	for (size_t i = 0; i < countof(shapes); i++)
		if (shapes[i].slot_ns >= least && shapes[i].slot_ns % distance == 0 &&
		    heatmap_try(map, slots, shapes[i], seen))
			return true;
	return false;
}

/* Returns true if slots of `shapes` fit times with this distance: the slot of the first shape is a multiple of
 * `distance`, or a shape has exactly this slot length. Returns false if the map must use other slot lengths. */
static bool has_shape(uint64_t distance)
{
	bool found = shapes[0].slot_ns % distance == 0;

	for (size_t i = 0; i < countof(shapes); i++)
		found |= shapes[i].slot_ns == distance;
	return found;
}

/* Returns the length in ns of the shortest allowed slot. It is `wish`, the length that the user wishes, unless that is
 * 0. Otherwise it is a multiple of `distance`, the distance of times: in a map with labels the first multiple from
 * HEATMAP_ROW_SLOT on; else from the slot of the first shape on if has_shape is true, or `distance` itself if not. */
static uint64_t shortest_slot(const struct heatmap *map, uint64_t wish, uint64_t distance)
{
	uint64_t least = map->labels ? HEATMAP_ROW_SLOT : has_shape(distance) ? shapes[0].slot_ns : distance;

	if (wish)
		return wish;
	return (least + distance - 1) / distance * distance;
}

/* Tries slot lengths from `least` (ns) on, in ascending order, until the map keeps the limits HEATMAP_COLUMNS and
 * HEATMAP_PAIRS, and sets the length in *map. distance: result of times_distance; seen: scratch array of pairs_fit. */
static void try_slots(struct heatmap *map, const struct slots *slots, uint64_t least, uint64_t distance, size_t *seen)
{
	if (has_shape(distance) && try_shapes(map, slots, least, distance, seen))
		return;
	/* SLOT_LIMIT, at the end, fits for any input. */
	for (uint64_t slot_ns = has_shape(distance) && least < HOUR ? HOUR : least; slot_ns < SLOT_LIMIT; slot_ns *= 2)
		if (heatmap_try(map, slots, (struct heatmap_shape){ slot_ns, ROWS }, seen))
			return;
	heatmap_try(map, slots, (struct heatmap_shape){ SLOT_LIMIT, ROWS }, seen);
}

/* Sets the slot length to the shortest allowed one for which the map keeps its limits of columns and pairs. If the
 * slots are longer than the shortest allowed length, sets map->joined_ns to the shortest allowed length. wish: length
 * in ns that the user wishes; 0: none. */
static void choose_slot(struct heatmap *map, const struct slots *slots, uint64_t wish)
{
	uint64_t distance = times_distance(slots);
	uint64_t least = shortest_slot(map, (wish + distance - 1) / distance * distance, distance);
	size_t *seen = mem_alloc(sizeof(*seen), (size_t)slots->tree.n + 1);
	bool fits = (wish || map->labels) && least < SLOT_LIMIT &&
		    heatmap_try(map, slots, (struct heatmap_shape){ least, ROWS }, seen);

	if (!fits)
		try_slots(map, slots, least, distance, seen);
	if (map->slot_ns > least)
		map->joined_ns = least;
	free(seen);
}

/* ---- grid of columns and slots ------------------------------------------------------------------------------ */

/* Sets map->run and the number of columns. Returns an array by time: position of the slot that contains the time or, in
 * a map with labels, position of the lowest row in its column. The caller frees the array. */
static uint32_t *place_times(struct heatmap *map, const struct slots *slots)
{
	uint32_t *position = mem_alloc(sizeof(*position), slots->ntimes);
	struct heatmap_run *run = mem_alloc(sizeof(*run), HEATMAP_COLUMNS + 1);

	map->run = run;
	map->nruns = 1;
	*run = (struct heatmap_run){ .n = 1, .column = slots->ns[0] / map->column_ns };
	for (size_t i = 0; i < slots->ntimes; i++) {
		uint64_t column = slots->ns[i] / map->column_ns;

		if (column - run->column >= run->n + (uint64_t)HEATMAP_GAP + 1) {
			uint32_t at = run->position + run->n + 1;

			run = &map->run[map->nruns++];
			*run = (struct heatmap_run){ .position = at, .n = 1, .column = column };
		}
		run->n = (uint32_t)(column - run->column + 1);
		position[i] = (run->position + run->n - 1) * map->rows;
		if (!map->labels)
			position[i] += (uint32_t)(slots->ns[i] % map->column_ns / map->slot_ns);
	}
	map->columns = run->position + run->n;
	map->origin = map->run[0].column * map->column_ns;
	return position;
}

bool heatmap_position(const struct heatmap *map, uint64_t ns, uint32_t *position)
{
	uint64_t column = ns / map->column_ns;
	size_t i = map->nruns - 1;

	if (ns < map->origin || column >= map->run[i].column + map->run[i].n)
		return false;
	while (map->run[i].column > column)
		i--;
	const struct heatmap_run *run = &map->run[i];
	bool is_gap = column - run->column >= run->n;

	*position = (run->position + (is_gap ? run->n : (uint32_t)(column - run->column))) * map->rows;
	if (!map->labels && !is_gap)
		*position += (uint32_t)(ns % map->column_ns / map->slot_ns);
	return true;
}

/* Creates a slot for each position that has a time. Replaces the index of the time in each item by the index of its
 * slot. */
static void make_slots(struct heatmap *map, struct slots *slots, const uint32_t *position)
{
	uint32_t *slot_of = mem_alloc(sizeof(*slot_of), slots->ntimes);

	map->slot = mem_alloc(sizeof(*map->slot), slots->ntimes);
	for (size_t i = 0; i < slots->ntimes; i++) {
		if (i == 0 || position[i] != position[i - 1])
			map->slot[map->nslots++].position = position[i];
		slot_of[i] = (uint32_t)(map->nslots - 1);
		map->slot[map->nslots - 1].lost += slots->lost[i];
	}
	for (size_t i = 0; i < slots->n; i++)
		slots->item[i].time = slot_of[slots->item[i].time];
	free(slot_of);
}

/* Like make_slots, for rows with labels: creates a slot for each column and row with weight or losses. position: by
 * time, position of the lowest row in its column. */
static void make_label_slots(struct heatmap *map, struct slots *slots, const uint32_t *position)
{
	const struct heatrows *labels = map->labels;
	size_t positions = (size_t)map->columns * map->rows;
	uint32_t *slot_at = mem_alloc(sizeof(*slot_at), positions);

	for (size_t i = 0; i < slots->n; i++) {
		slots->item[i].time = position[slots->item[i].time] + labels->of_frame[slots->item[i].frame];
		slot_at[slots->item[i].time] = 1;
	}
	for (size_t i = 0; i < slots->ntimes; i++)
		if (slots->lost[i])
			slot_at[position[i] + labels->lost] = 1;
	map->slot = mem_alloc(sizeof(*map->slot), positions);
	for (size_t at = 0; at < positions; at++)
		if (slot_at[at]) {
			map->slot[map->nslots].position = (uint32_t)at;
			slot_at[at] = (uint32_t)map->nslots++;
		}
	for (size_t i = 0; i < slots->ntimes; i++)
		if (slots->lost[i])
			map->slot[slot_at[position[i] + labels->lost]].lost += slots->lost[i];
	for (size_t i = 0; i < slots->n; i++)
		slots->item[i].time = slot_at[slots->item[i].time];
	free(slot_at);
}

static int heatmap_item_cmp(const void *a, const void *b)
{
	const struct slots_item *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->frame < other->frame ? -1 : one->frame > other->frame;
}

/* Merges the weights of equal pairs of slot and frame, and computes the sum of each slot. */
static void fill_slots(struct heatmap *map, struct slots *slots)
{
	struct slots_item *item = slots->item;

	if (slots->n)
		qsort(item, slots->n, sizeof(*item), heatmap_item_cmp);
	for (size_t i = 0; i < slots->n; i++) {
		if (map->n && item[map->n - 1].time == item[i].time && item[map->n - 1].frame == item[i].frame)
			item[map->n - 1].weight += item[i].weight;
		else
			item[map->n++] = item[i];
	}
	slots->n = map->n;
	map->item = item;
	for (size_t i = 0; i < map->n; i++) {
		struct heatmap_slot *slot = &map->slot[item[i].time];

		if (slot->n++ == 0)
			slot->first = i;
		slot->sum += item[i].weight;
	}
}

static int heatmap_sum_cmp(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

#define FEW_SLOTS 20 /* number of slots below which percentiles are meaningless */

/* Sets map->full, the weight from which on a slot has the most intense colour: the largest weight; or the 99th
 * percentile, if the largest is more than twice that value, so that a single burst does not make all other slots look
 * alike. */
static void choose_full(struct heatmap *map)
{
	uint64_t *sums = mem_alloc(sizeof(*sums), map->nslots + 1);
	size_t n = 0;

	for (size_t i = 0; i < map->nslots; i++)
		if (map->slot[i].sum)
			sums[n++] = map->slot[i].sum;
	map->full = map->max = 1;
	if (n) {
		qsort(sums, n, sizeof(*sums), heatmap_sum_cmp);
		uint64_t usual = sums[n - 1 - (n >= FEW_SLOTS ? (n + 99) / 100 : 0)];

		map->max = sums[n - 1];
		map->full = map->max / 2 > usual ? usual : map->max;
	}
	free(sums);
}

bool *heatmap_filled(const struct heatmap *map)
{
	bool *filled = mem_alloc(sizeof(*filled), (size_t)map->columns * map->rows);

	for (size_t i = 0; i < map->nslots; i++)
		filled[map->slot[i].position] = map->slot[i].sum > 0;
	return filled;
}

/* Returns the shortest distance in columns between filled columns of a row; 0 if at most one column is filled. */
static uint64_t row_distance(const struct heatmap *map, const bool *filled, uint32_t row)
{
	uint32_t last = UINT32_MAX, least = 0;

	for (uint32_t column = 0; column < map->columns; column++) {
		if (!filled[(size_t)column * map->rows + row])
			continue;
		if (last != UINT32_MAX && (!least || column - last < least))
			least = column - last;
		last = column;
	}
	return least;
}

/* Sets map->missing by the median of the distances between filled columns of each row, so that a row with few samples
 * does not determine it. */
static void choose_missing(struct heatmap *map)
{
	uint64_t *distances = mem_alloc(sizeof(*distances), map->rows);
	bool *filled = heatmap_filled(map);
	uint32_t n = 0;

	for (uint32_t row = 0; row < map->rows; row++) {
		uint64_t distance = row_distance(map, filled, row);

		if (distance)
			distances[n++] = distance;
	}
	if (n)
		qsort(distances, n, sizeof(*distances), heatmap_sum_cmp);
	map->missing = n && 2 * distances[n / 2] > HEATMAP_MISSING ? (uint32_t)(2 * distances[n / 2]) : HEATMAP_MISSING;
	free(filled);
	free(distances);
}

void heatmap_make(struct heatmap *map, struct slots *slots, const struct heatrows *labels, uint64_t slot_ns)
{
	*map = (struct heatmap){ .labels = labels };
	choose_slot(map, slots, slot_ns);
	uint32_t *position = place_times(map, slots);
	(labels ? make_label_slots : make_slots)(map, slots, position);
	fill_slots(map, slots);
	choose_full(map);
	if (labels)
		choose_missing(map);
	free(position);
}

/* Returns the end of the run that contains a column; for a column in a gap, the start of the gap. */
static uint32_t heatmap_run_end(const struct heatmap *map, uint32_t column)
{
	size_t i = map->nruns - 1;

	while (i && map->run[i].position > column)
		i--;
	return map->run[i].position + map->run[i].n;
}

uint32_t heatmap_missing(const struct heatmap *map, const bool *filled, uint32_t row, uint32_t *column)
{
	uint32_t start = *column;

	for (uint32_t at = start; at <= map->columns; at++) {
		bool is_end =
			at == map->columns || at >= heatmap_run_end(map, at) || filled[(size_t)at * map->rows + row];

		if (is_end && at - start >= map->missing) {
			*column = start;
			return at - start;
		}
		if (is_end)
			start = at + 1;
	}
	return 0;
}

void heatmap_free(struct heatmap *map)
{
	free(map->run);
	free(map->slot);
	*map = (struct heatmap){ 0 };
}
