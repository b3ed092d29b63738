/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/heatrows.h"

#include "common/visible.h"

#include <stdlib.h>

/* An outermost frame, with its total weight. */
struct heatrows_root {
	uint64_t width;
	uint32_t frame;
};

static int heatrows_root_cmp(const void *a, const void *b)
{
	const struct heatrows_root *one = a, *other = b;

	if (one->width != other->width)
		return one->width > other->width ? -1 : 1;
	return one->frame < other->frame ? -1 : one->frame > other->frame;
}

/* Returns the outermost frames, sorted by weight, heaviest first, and sets *n to their number. The caller frees
 * them. */
static struct heatrows_root *find_roots(const struct layout *layout, uint32_t *n)
{
	struct heatrows_root *roots = mem_alloc(sizeof(*roots), (size_t)layout->n + 1);

	*n = 0;
	for (uint32_t frame = 0; frame < layout->n; frame = layout->end[frame])
		roots[(*n)++] = (struct heatrows_root){ layout->width[frame], frame };
	if (*n)
		qsort(roots, *n, sizeof(*roots), heatrows_root_cmp);
	return roots;
}

/* Returns a frame's name as visible text of at most HEATROWS_NAME bytes. */
static struct str row_name(struct arena *arena, struct str frame)
{
	struct text name = { 0 };

	visible_short(&name, frame, HEATROWS_NAME);
	struct str copy = arena_copy(arena, text_view(&name));
	text_free(&name);
	return copy;
}

static void add_row(struct heatrows *rows, struct str name)
{
	struct text brief = { 0 };

	visible_middle(&brief, name, HEATROWS_BRIEF);
	rows->brief[rows->n] = arena_copy(&rows->arena, text_view(&brief));
	rows->name[rows->n++] = name;
	text_free(&brief);
}

/* Adds the row that all frames without a row of their own share, if there are more than HEATROWS_NAMED. nroots: number
 * of all frames that could have a row. */
static void add_others(struct heatrows *rows, uint32_t nroots)
{
	struct text text = { 0 };

	rows->others = nroots > HEATROWS_NAMED ? nroots - HEATROWS_NAMED : 0;
	if (rows->others == 0)
		return;
	text_grouped(&text, rows->others);
	text_add(&text, rows->others == 1 ? " other" : " others");
	add_row(rows, arena_copy(&rows->arena, text_view(&text)));
	text_free(&text);
}

void heatrows_make(struct heatrows *rows, const struct slots *slots, const struct layout *layout, struct str label)
{
	uint32_t nroots;
	struct heatrows_root *roots = find_roots(layout, &nroots);
	uint32_t named = nroots < HEATROWS_NAMED ? nroots : HEATROWS_NAMED;

	*rows = (struct heatrows){ .lost = HEATROWS_MAX };
	rows->label = row_name(&rows->arena, label);
	rows->of_frame = mem_alloc(sizeof(*rows->of_frame), (size_t)layout->n + 1);
	if (slots->lost_sum) {
		rows->lost = rows->n;
		add_row(rows, STR("lost samples"));
	}
	add_others(rows, nroots);
	uint32_t first = rows->n;
	for (uint32_t i = named; i--;)
		add_row(rows, row_name(&rows->arena, intern_str(&slots->tree.frames, layout->frame[roots[i].frame])));
	for (uint32_t i = 0; i < nroots; i++) {
		uint32_t row = i < named ? first + named - 1 - i : first - 1;

		for (uint32_t frame = roots[i].frame; frame < layout->end[roots[i].frame]; frame++)
			rows->of_frame[frame] = row;
	}
	free(roots);
}

void heatrows_free(struct heatrows *rows)
{
	free(rows->of_frame);
	arena_free(&rows->arena);
	*rows = (struct heatrows){ 0 };
}
