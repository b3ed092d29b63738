/* SPDX-License-Identifier: Apache-2.0 */
/* covers: svg/heat/heatmap.c svg/heat/slots.c svg/heat/heattime.c svg/heat/heatdata.c */
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include "svg/heat/heatdata.h"
#include "svg/heat/heatmap.h"
#include "svg/heat/heattime.h"

#include <stdlib.h>

struct made {
	struct stacks stacks;
	struct slots slots;
	struct layout layout;
	struct heatmap map;
	struct heatrows rows;
	const struct heatrows *labels;
};

static void add(struct made *made, const char *stack, uint64_t weight)
{
	stacks_add(&made->stacks, node_of(&made->stacks, str_of(stack)), 0, weight);
}

static void make(struct made *made, uint64_t slot_ns)
{
	slots_make(&made->slots, &made->stacks);
	layout_make(&made->layout, &made->slots.tree);
	slots_number(&made->slots, &made->layout);
	if (made->labels)
		heatrows_make(&made->rows, &made->slots, &made->layout, STR("host"));
	heatmap_make(&made->map, &made->slots, made->labels, slot_ns);
}

static void clear(struct made *made)
{
	heatmap_free(&made->map);
	heatrows_free(&made->rows);
	layout_free(&made->layout);
	slots_free(&made->slots);
	stacks_free(&made->stacks);
	*made = (struct made){ 0 };
}

static void times(void)
{
	static const struct {
		const char *text;
		bool is_time;
		uint64_t ns;
	} rows[] = {
		{ "0", true, 0 },
		{ "12", true, 12 * HEATTIME_SECOND },
		{ "12.34", true, 12340000000 },
		{ "1795711348.260000000", true, 1795711348260000000 },
		{ "1.0000000001", false, 0 },
		{ "9223372035.999999999", true, 9223372035999999999U },
		{ "9223372037", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "", false, 0 },
		{ ".5", false, 0 },
		{ "1.", false, 0 },
		{ "-1", false, 0 },
		{ "1e3", false, 0 },
		{ "1.5s", false, 0 },
		{ "2026-11-26T20:38:45Z", true, 1795725525000000000 },
		{ "1970-01-01T00:00:00Z", true, 0 },
		{ "1969-12-31T23:59:59Z", false, 0 },
		{ "9999-12-31T23:59:59Z", false, 0 },
		{ "2026-13-26T20:38:45Z", false, 0 },
		{ "2026-11-26T20:38:45", false, 0 },
		{ "2026-11-26T20:38:45Zx", false, 0 },
		{ "2026-11-26T2x:38:45Z", false, 0 },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		uint64_t ns = 0;
		bool is_time = heattime_parse(str_of(rows[i].text), &ns);

		ok(is_time == rows[i].is_time && (!is_time || ns == rows[i].ns), rows[i].text);
	}
}

static bool reads(void (*put)(struct text *, uint64_t), uint64_t ns, const char *want)
{
	struct text text = { 0 };

	put(&text, ns);
	bool same = str_eq(text_view(&text), str_of(want));
	text_free(&text);
	return same;
}

static void label(const char *want, uint64_t ns, struct heattime_axis axis)
{
	struct text text = { 0 };

	heattime_label(&text, ns, &axis);
	is_str(text_view(&text), str_of(want), want);
	text_free(&text);
}

static void labels(void)
{
	const uint64_t day = 1795711348 * HEATTIME_SECOND, second = HEATTIME_SECOND;
	const struct heattime_axis since = { 5 * second, 8000 * second, second };

	ok(reads(heattime_duration, 20000000, "20 ms"), "20 ms");
	ok(reads(heattime_duration, 300 * HEATTIME_SECOND, "5 min"), "5 min");
	ok(reads(heattime_duration, 1500000000, "1500 ms"), "1.5 s has no unit without decimals above ms");
	label("0 s", 5 * second, since);
	label("2.5 s", 7500000000, since);
	label("3:20", 205 * second, since);
	label("2:01:05", 7270 * second, since);
	label("3:20.500", 205 * second + second / 2, since);
	label("16:42:28", day, (struct heattime_axis){ day, 24 * 3600 * second, second });
	label("11-26 16:42:28", day, (struct heattime_axis){ day, 24 * 3600 * second + 1, second });
	label("11-26 16:42", day, (struct heattime_axis){ day, 3600 * second, 3600 * second });
	label("16:42", day, (struct heattime_axis){ day, 300 * second, 300 * second });
	label("16:42:28", day, (struct heattime_axis){ day, 300 * second, 75 * second });
	label("16:42:28.050", day + second / 20, (struct heattime_axis){ day, second, second / 20 });
}

static void weights(void)
{
	struct made made = { 0 };
	struct text text = { 0 };

	add(&made, "1.00;a;b", 3);
	add(&made, "1.02;a", 5);
	add(&made, "2.98;a;b", 1);
	add(&made, "1.02;[lost]", 7);
	add(&made, "1.04", 2);
	add(&made, "x;a", 4);
	make(&made, 0);
	is_u64(made.slots.untimed, 4, "stacks without a time are left out");
	ok(str_eq(made.slots.first_untimed, STR("x")), "  and named");
	is_u64(made.slots.lost_sum, 7, "losses are no samples");
	is_u64(stacks_sum(&made.slots.tree, 0), 11, "the tree has all others");
	is_u64(made.map.slot_ns, 20000000, "20 ms");
	is_u64(made.map.rows, 50, "  50 in a column");
	is_u64(made.map.columns, 2, "two columns");
	is_u64(made.map.nslots, 4, "four slots");
	is_u64(made.map.slot[0].position, 0, "the first");
	is_u64(made.map.slot[3].position, 99, "the last");
	is_u64(made.map.slot[1].sum, 5, "weight of a slot");
	is_u64(made.map.slot[1].lost, 7, "  and its losses");
	is_u64(made.map.full, 5, "full");
	is_u64(heatmap_level(&made.map, 1), 1, "the first colour is for 1");
	is_u64(heatmap_level(&made.map, 5), HEATMAP_LEVELS, "  the last for all");
	heatdata_slots(&text, &made.map);
	/* position, losses, pairs, bytes of pairs and weight of each slot; then the pairs. Frames in preorder:
	 * [unknown], a, b; digits are characters from blank on */
	is_str(text_view(&text),
	       STR("  !#$"
		   " *!#("
		   "  !##"
		   "Y# !#!"
		   "\n"
		   "##"
		   "!%"
		   " !"
		   "# "),
	       "data of the slots");
	text_free(&text);
	clear(&made);
}

/* Any process may have the name [lost]. */
static void forged_losses(void)
{
	struct made made = { 0 };

	add(&made, "1.00;[lost];main", 3);
	add(&made, "1.02;[lost]", 2);
	add(&made, "1.02;[lost];main;[lost]", 4);
	add(&made, "1.04;a;[lost]", 5);
	make(&made, 0);
	is_u64(made.slots.lost_sum, 2, "only the weight of the frame itself counts losses");
	is_u64(stacks_sum(&made.slots.tree, 0), 12, "  all others are samples");
	is_u64(made.slots.tree.n, 6, "  with all of their frames");
	is_u64(made.map.slot[0].lost, 0, "  a slot without losses");
	is_u64(made.map.slot[1].lost, 2, "  and one with them");
	clear(&made);
	add(&made, "1.00;a", 1);
	add(&made, "1.02;[lost]", 2);
	make(&made, 0);
	is_u64(made.slots.tree.n, 2, "losses have no frame in the tree");
	clear(&made);
}

/* Sum of all weights of a map. */
static uint64_t sum_of(const struct heatmap *map)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < map->nslots; i++)
		sum += map->slot[i].sum;
	return sum;
}

static void gaps(void)
{
	struct made made = { 0 };

	add(&made, "10.00;a", 1);
	add(&made, "10.02;a", 1);
	add(&made, "71.00;a", 1);  /* 60 empty columns: shown */
	add(&made, "133.00;a", 1); /* 61: a gap */
	add(&made, "9000000000.00;a", 1);
	make(&made, 0);
	is_u64(made.map.nruns, 3, "three runs of columns");
	is_u64(made.map.run[0].n, 62, "60 columns without samples are shown");
	is_u64(made.map.run[1].position, 63, "61 are one column");
	is_u64(made.map.columns, 66, "a span of 285 years, too");
	is_u64(made.map.slot_ns, 20000000, "  and slots stay short");
	clear(&made);
}

static void lengths(void)
{
	struct made made = { 0 };
	char stack[64];

	for (int i = 0; i < 721; i++) {
		snprintf(stack, sizeof(stack), "%d.%02d;a", i, i % 50 * 2);
		add(&made, stack, 1);
	}
	make(&made, 0);
	is_u64(made.map.slot_ns, 100000000, "721 columns are too many: slots are joined");
	is_u64(made.map.joined_ns, 20000000, "  which is reported");
	is_u64(made.map.columns, 145, "  columns");
	is_u64(sum_of(&made.map), 721, "  nothing is lost");
	clear(&made);

	for (int i = 0; i < 20; i++) {
		snprintf(stack, sizeof(stack), "%d;a", 1800000000 + i * 30);
		add(&made, stack, 1);
	}
	make(&made, 0);
	is_u64(made.map.slot_ns, 30 * HEATTIME_SECOND, "slots are as long as those of the input");
	is_u64(made.map.joined_ns, 0, "  none is joined");
	clear(&made);

	for (int i = 0; i < 20; i++) {
		snprintf(stack, sizeof(stack), "%d.%03d;a", i * 35 / 1000, i * 35 % 1000);
		add(&made, stack, 1);
	}
	make(&made, 0);
	is_u64(made.map.slot_ns, 35000000, "35 ms, a length that no column of whole seconds has");
	clear(&made);

	for (int i = 0; i < 20; i++) {
		snprintf(stack, sizeof(stack), "%d.%03d;a", i * 35 / 1000, i * 35 % 1000);
		add(&made, stack, 1);
	}
	make(&made, 50000000);
	is_u64(made.map.slot_ns, 70000000, "a wish is rounded up to their multiple");
	clear(&made);

	add(&made, "10;a", 1);
	add(&made, "20;a", 1);
	add(&made, "35;a", 1);
	add(&made, "55;a", 1);
	make(&made, 0);
	is_u64(made.map.slot_ns, 5 * HEATTIME_SECOND, "all times are multiples of the slot, though none is 5 s apart");
	clear(&made);

	/* 13 times, 60 columns of the wish apart: 721 columns; those of half the wish are gaps, which are few columns.
	 */
	for (int i = 0; i < 13; i++) {
		snprintf(stack, sizeof(stack), "%d;a", i * 21600000 + i % 2);
		add(&made, stack, 1);
	}
	make(&made, 7200 * HEATTIME_SECOND);
	is_u64(made.map.slot_ns, 14400 * HEATTIME_SECOND, "no slot is shorter than the wish");
	clear(&made);

	add(&made, "0;a", 1);
	add(&made, "9223372035;a", 1);
	make(&made, 1000000);
	ok(made.map.columns <= HEATMAP_COLUMNS && sum_of(&made.map) == 2, "the longest span");
	clear(&made);
}

static void bursts(void)
{
	struct made made = { 0 };
	char stack[64];

	for (int i = 0; i < 200; i++) {
		snprintf(stack, sizeof(stack), "1.%03d;a", i * 5);
		add(&made, stack, 1);
	}
	add(&made, "3.000;a", 5000);
	make(&made, 20000000);
	is_u64(made.map.full, 4, "one burst does not take all colours");
	is_u64(made.map.max, 5000, "  and is known");
	clear(&made);
}

/* Rows for labels: a host without samples from column 5 to 19, losses, and more hosts than there are rows. */
static void label_rows(void)
{
	struct made made = { 0 };
	struct text text = { 0 };
	char stack[64];
	uint32_t column = 0;

	for (int i = 0; i < 40; i++) {
		snprintf(stack, sizeof(stack), "%d;web;f", i * 5);
		if (i < 5 || i >= 20)
			add(&made, stack, 2);
		snprintf(stack, sizeof(stack), "%d;db;f", i * 5 + 1);
		add(&made, stack, 9);
		snprintf(stack, sizeof(stack), "7;host%d", i);
		add(&made, stack, 1);
	}
	add(&made, "12;[lost]", 6);
	made.labels = &made.rows;
	make(&made, 0);
	heatdata_config(&text, &made.map, STR("samples"));
	ok(str_find_str(text_view(&text), STR("\"missing\":10,\"hatched\":[[1,2,38],")) > 0 &&
		   str_find_str(text_view(&text), STR(",[24,5,15]]")) > 0,
	   "the data has the missing time of each row");
	text_free(&text);
	is_u64(made.map.slot_ns, HEATMAP_ROW_SLOT, "a slot is 5 s");
	is_u64(made.map.column_ns, HEATMAP_ROW_SLOT, "  and a column");
	is_u64(made.map.columns, 40, "columns");
	is_u64(made.map.rows, HEATROWS_MAX, "rows");
	is_u64(made.rows.others, 42 - HEATROWS_NAMED, "others share a row");
	is_str(made.rows.name[0], STR("lost samples"), "the lowest row");
	is_str(made.rows.name[1], STR("18 others"), "  the one above it");
	is_str(made.rows.name[HEATROWS_MAX - 1], STR("db"), "  the highest");
	is_u64(sum_of(&made.map), 40 * 9 + 25 * 2 + 40, "no weight is lost");
	bool *filled = heatmap_filled(&made.map);
	is_u64(heatmap_missing(&made.map, filled, HEATROWS_MAX - 2, &column), 15, "missing time");
	is_u64(column, 5, "  begins");
	column += 15;
	is_u64(heatmap_missing(&made.map, filled, HEATROWS_MAX - 2, &column), 0, "  there is no more");
	column = 0;
	is_u64(heatmap_missing(&made.map, filled, HEATROWS_MAX - 1, &column), 0, "  nor in a row that is full");
	free(filled);
	clear(&made);
}

/* The map has a gap from column 15 on, which is no missing time of h2. */
static void missing_beside_a_gap(void)
{
	struct made made = { 0 };
	struct text text = { 0 };
	char stack[64];

	for (int i = 0; i < 15; i++) {
		snprintf(stack, sizeof(stack), "%d;h%d;f", i * 5, i == 0 || i == 14 ? 2 : 1);
		add(&made, stack, 1);
		snprintf(stack, sizeof(stack), "%d;h3;f", i * 5);
		add(&made, stack, 20);
		snprintf(stack, sizeof(stack), "%d;h1;f", (i + 500) * 5);
		add(&made, stack, 9);
	}
	made.labels = &made.rows;
	make(&made, 0);
	heatdata_config(&text, &made.map, STR("samples"));
	ok(str_find_str(text_view(&text), STR("\"hatched\":[[0,1,13],[0,16,15],[2,16,15]]")) > 0,
	   "missing time is in no gap");
	text_free(&text);
	clear(&made);
}

/* Names that differ at their end, and one of 64 kB. */
static void long_names(void)
{
	struct made made = { 0 };
	static char stack[70000];

	add(&made, "5;kubepods-burstable-frontend-eu-1;f", 9);
	add(&made, "5;kubepods-burstable-frontend-eu-2;f", 8);
	strcpy(stack, "5;");
	memset(stack + 2, 'x', 65536);
	strcpy(stack + 2 + 65536, "end;f");
	add(&made, stack, 7);
	made.labels = &made.rows;
	make(&made, 0);
	is_str(made.rows.brief[2],
	       STR("kubepods\xe2\x80\xa6"
		   "frontend-eu-1"),
	       "a name has its end beside its row");
	is_str(made.rows.brief[1],
	       STR("kubepods\xe2\x80\xa6"
		   "frontend-eu-2"),
	       "  and another one");
	is_str(made.rows.name[1], STR("kubepods-burstable-frontend-eu-2"), "  its tooltip has all of it");
	ok(made.rows.name[0].n <= HEATROWS_NAME && str_ends(made.rows.name[0], STR("xend")), "a name of 64 kB");
	clear(&made);
}

/* Slots of times that no shape has: they are joined from the shortest allowed length on, whatever it is. */
static void joined(void)
{
	struct made made = { 0 };
	char stack[64];

	/* 13 times, 60 columns of 50 slots of 7 ms apart, so that these are 721 columns */
	for (int i = 0; i < 13; i++) {
		int ms = i * 60 * 50 * 7 + i % 2 * 7;

		snprintf(stack, sizeof(stack), "%d.%03d;a", ms / 1000, ms % 1000);
		add(&made, stack, 1);
	}
	make(&made, 0);
	is_u64(made.map.slot_ns, 14000000, "slots of 7 ms become 14 ms");
	is_u64(made.map.joined_ns, 7000000, "  which the map reports");
	clear(&made);
	add(&made, "0.007;a", 1);
	add(&made, "0.021;a", 1);
	make(&made, 0);
	is_u64(made.map.slot_ns, 7000000, "7 ms fit");
	is_u64(made.map.joined_ns, 0, "  which is no joining");
	clear(&made);
}

static void positions(void)
{
	struct made made = { 0 };
	uint32_t position = 7;

	add(&made, "1.00;a", 1);
	add(&made, "1.02;a", 1);
	add(&made, "9.98;a", 1);
	add(&made, "200.00;a", 1);
	make(&made, 0);
	ok(!heatmap_position(&made.map, 999999999, &position), "before the map");
	ok(heatmap_position(&made.map, 1020000001, &position) && position == 1, "in a slot");
	ok(heatmap_position(&made.map, 9990000000, &position) && position == 8 * 50 + 49,
	   "in the last column of a run");
	ok(heatmap_position(&made.map, 10000000000, &position) && position == 9 * 50, "in a gap");
	ok(heatmap_position(&made.map, 199999999999, &position) && position == 9 * 50, "at its end");
	ok(heatmap_position(&made.map, 200980000000, &position) && position == 10 * 50 + 49, "behind it");
	ok(!heatmap_position(&made.map, 201000000000, &position), "behind the map");
	ok(!heatmap_position(&made.map, UINT64_MAX, &position), "at the end of time");
	clear(&made);
}

int main(void)
{
	times();
	labels();
	weights();
	forged_losses();
	gaps();
	lengths();
	bursts();
	label_rows();
	missing_beside_a_gap();
	long_names();
	joined();
	positions();
	return done();
}
