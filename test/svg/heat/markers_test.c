/* SPDX-License-Identifier: Apache-2.0 */
/* covers: svg/heat/markers.c */
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include "svg/heat/heattime.h"
#include "svg/heat/markers.h"

#include <stdlib.h>
#include <time.h>

#define START UINT64_C(1795725525) /* 2026-11-26T20:38:45Z */

struct made {
	struct stacks stacks;
	struct slots slots;
	struct layout layout;
	struct heatmap map;
	struct markers markers;
};

static void make(struct made *made, const char *first, const char *last)
{
	stacks_add(&made->stacks, node_of(&made->stacks, str_of(first)), 0, 1);
	stacks_add(&made->stacks, node_of(&made->stacks, str_of(last)), 0, 1);
	slots_make(&made->slots, &made->stacks);
	layout_make(&made->layout, &made->slots.tree);
	slots_number(&made->slots, &made->layout);
	heatmap_make(&made->map, &made->slots, NULL, 0);
}

static void clear(struct made *made)
{
	markers_free(&made->markers);
	heatmap_free(&made->map);
	layout_free(&made->layout);
	slots_free(&made->slots);
	stacks_free(&made->stacks);
}

/* Lines, the label of their marker and its time in s after START; label NULL: malformed. */
static void forms(void)
{
	static const struct {
		const char *line, *label;
		uint64_t after;
	} rows[] = {
		{ "1795725525 a", "a", 0 },
		{ "1795725526.5\tdeploy 1.2", "deploy 1.2", 1 },
		{ "@1795725527 a", "a", 2 },
		{ "2026-11-26T20:38:46Z a b ", "a b", 1 },
		{ "2026-11-26T21:38:46+01:00   a", "a", 1 },
		{ "  2026-11-26 20:39 a\r", "a", 15 },
		{ "2026-11-26 20:39\ta", "a", 15 },
		{ "2026-11-26 20:39:01Z a", "a", 16 },
		{ "2026-11-26T20:39 12:00 is lunch", "12:00 is lunch", 15 },
		{ "1795725525 <b>\x1b&\xff", "<b>\\x1b&\\xff", 0 },
		{ "2026-11-26 21:38:50 +0100 a", "a", 5 },
		{ "2026-11-26 16:08:50 -04:30 a", "a", 5 },
		{ "2026-11-26 20:38:50 UTC a", "a", 5 },
		{ "2026-11-26T20:38:50UTC a", "a", 5 },
		{ "2026-11-26T21:38:50 +0100\ta", "a", 5 },
		{ "2026-11-26 20:38:50 Z a", "a", 5 },
		{ "2026-11-26T20:38:50Z UTC a", "UTC a", 5 },
		{ "2026-11-26 20:38:50 +5 a", "+5 a", 5 },
		{ "2026-11-26\t20:38:50\ta", "a", 5 },
		{ "2026-11-26\t20:39 a", "a", 15 },
		{ "2026-11-26T20:38:50.5Z a", "a", 5 },
		{ "2026-11-26T20:38:50.123456789123Z a", "a", 5 },
		{ "2026-11-26 21:38:50,999 +0100 a", "a", 5 },
		{ "2026-11-26T20:38.5Z a", NULL, 0 },
		{ "2026-11-6 Test a", NULL, 0 },
		{ "2026- Test of a label", NULL, 0 },
		{ "2026-11-26T20:38:50.Z a", NULL, 0 },
		{ "2026-11-26 UTC a", NULL, 0 },
		{ "2026-11-26 +0100 a", NULL, 0 },
		{ "2026-11-26T a", NULL, 0 },
		{ "2026-11-26T20:38:50 +0100", NULL, 0 },
		{ "2026-11-26T20:38:50 +9900 a", NULL, 0 },
		{ "1795725525", NULL, 0 },
		{ "1795725525 \t ", NULL, 0 },
		{ "deploy", NULL, 0 },
		{ "now a", NULL, 0 },
		{ "-5m a", NULL, 0 },
		{ "today a", NULL, 0 },
		{ "20:38 a", NULL, 0 },
		{ "2026-13-26 a", NULL, 0 },
		{ "2026-11-26T20:38:46Zx a", NULL, 0 },
		{ "99999999999999999999999 a", NULL, 0 },
		{ "9999-12-31T00:00:00Z a", NULL, 0 },
		{ "1111111111111111111111111111111111111111111111111111111111111 a", NULL, 0 },
	};
	struct made made = { 0 };

	make(&made, "1795725525;a", "1795725545;a");
	for (size_t i = 0; i < countof(rows); i++) {
		size_t before = made.markers.n;
		bool good = markers_add(&made.markers, &made.map, str_of(rows[i].line));
		const struct marker *marker = &made.markers.marker[before];

		if (!rows[i].label)
			ok(!good && made.markers.n == before, rows[i].line);
		else
			ok(good && made.markers.n == before + 1 && str_eq(marker->label, str_of(rows[i].label)) &&
				   marker->ns / HEATTIME_SECOND == START + rows[i].after,
			   rows[i].line);
	}
	is_u64(made.markers.lines, countof(rows), "lines");
	is_u64(made.markers.malformed, 21, "  without a time and a label");
	ok(markers_add(&made.markers, &made.map, STR("")) && markers_add(&made.markers, &made.map, STR(" # 5 a")) &&
		   made.markers.lines == countof(rows),
	   "empty lines and comments");
	markers_add(&made.markers, &made.map, STR("2026-11-26T21:38:46.0200000019+01:00 a"));
	is_u64(made.markers.marker[made.markers.n - 1].ns, (START + 1) * HEATTIME_SECOND + 20000001,
	       "decimals: 9 digits");
	clear(&made);
}

static void limits(void)
{
	struct made made = { 0 };
	static char line[70000] = "3.5 ";
	char text[64];

	make(&made, "1.02;a", "20.00;a");
	memset(line + 4, 'x', 65536);
	ok(markers_add(&made.markers, &made.map, str_of(line)) && made.markers.marker[0].label.n == MARKERS_LABEL,
	   "a label of 64 kB");
	ok(markers_add(&made.markers, &made.map, STR("0.5 a")) && markers_add(&made.markers, &made.map, STR("21 a")),
	   "markers outside of the map");
	markers_add(&made.markers, &made.map, STR("2026-11-26 a"));
	is_u64(made.markers.outside, 3, "  are counted");
	is_u64(made.markers.outside_wall, 1, "  those of another clock, too");
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "%d m%d", 19 - i % 2, i);
		markers_add(&made.markers, &made.map, str_of(text));
	}
	is_u64(made.markers.n, MARKERS_MAX, "a map has so many");
	is_u64(made.markers.excess, 301 - MARKERS_MAX, "  the others are counted");
	markers_sort(&made.markers);
	is_u64(made.markers.marker[0].position, 2 * 50 + 25, "the first one");
	is_str(made.markers.marker[1].label, STR("m1"), "times are ascending");
	is_str(made.markers.marker[2].label, STR("m3"), "  equal ones as in the text");
	is_str(made.markers.marker[101].label, STR("m2"), "  for each time");
	clear(&made);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	forms();
	limits();
	return done();
}
