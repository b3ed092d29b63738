/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/report.h"

#include "common/formats/folded.h"
#include "common/visible.h"

#include <stdlib.h>

/* ---- hottest frames ----------------------------------------------------------------------------------------- */

struct row {
	struct str name;
	/* Name with the kind suffix of the largest weight: frames that differ only in the suffix share a row. */
	struct str shown;
	/* Self weight of that kind. */
	uint64_t shown_self;
	uint64_t self, total;
};

static int report_row_cmp(const void *left, const void *right)
{
	const struct row *row = left, *b = right;

	if (row->self != b->self)
		return row->self < b->self ? 1 : -1;
	if (row->total != b->total)
		return row->total < b->total ? 1 : -1;
	return str_cmp(row->name, b->name);
}

/*
 * Computes self and total weight of each name. The walk through the tree is depth first and counts how often each name
 * is on the current path: only the outermost frame of a name adds to its total.
 */
static struct row *sum_frames(const struct stacks *stacks, uint32_t *nrows)
{
	uint32_t *order = stacks_order(stacks), *path = mem_alloc(sizeof(*path), stacks->n), depth = 0;
	uint64_t *total = stacks_totals(stacks, 0);
	uint64_t *self = mem_alloc(sizeof(*self), (size_t)stacks->frames.n + 1);
	uint32_t *fp = mem_alloc(sizeof(*fp), (size_t)stacks->frames.n + 1), *open;
	struct intern names = { 0 };
	struct row *row;

	for (uint32_t id = 1; id <= stacks->frames.n; id++)
		fp[id] = intern(&names, folded_plain(intern_str(&stacks->frames, id)));
	row = mem_alloc(sizeof(*row), (size_t)names.n + 1);
	open = mem_alloc(sizeof(*open), (size_t)names.n + 1);
	for (uint32_t i = 0; i + 1 < stacks->n; i++) {
		uint32_t id = order[i], name = fp[stacks->node[id].frame];

		while (depth && path[depth - 1] != stacks->node[id].parent)
			open[fp[stacks->node[path[--depth]].frame]]--;
		path[depth++] = id;
		if (open[name]++ == 0)
			row[name].total += total[id];
		row[name].self += stacks->self[0][id];
		self[stacks->node[id].frame] += stacks->self[0][id];
	}
	for (uint32_t id = 1; id <= names.n; id++) {
		/* Rows are indexed from 0, ids of names from 1. */
		row[id - 1] = row[id];
	}
	for (uint32_t id = 1; id <= stacks->frames.n; id++) {
		struct str frame = intern_str(&stacks->frames, id);
		struct row *r = &row[fp[id] - 1];

		r->name = folded_plain(frame);
		if (!r->shown.p || self[id] > r->shown_self ||
		    (self[id] == r->shown_self && str_cmp(frame, r->shown) < 0)) {
			r->shown = frame;
			r->shown_self = self[id];
		}
	}
	*nrows = names.n;
	intern_free(&names);
	free(order);
	free(path);
	free(total);
	free(self);
	free(fp);
	free(open);
	return row;
}

static double report_percent(uint64_t part, uint64_t complete)
{
	return complete ? 100.0 * (double)part / (double)complete : 0;
}

void report_top(struct out *out, const struct stacks *stacks, uint64_t n)
{
	uint64_t sum = stacks_sum(stacks, 0);
	uint32_t nrows = 0;
	struct row *row = stacks->n ? sum_frames(stacks, &nrows) : NULL;

	if (row)
		qsort(row, nrows, sizeof(*row), report_row_cmp);
	out_printf(out, "%12s %7s %12s %7s  %s\n", "self", "%", "total", "%", "frame");
	for (uint32_t i = 0; i < nrows && i < n; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.*): nrows is 0 without rows */
		out_printf(out, "%12llu %6.2f%% %12llu %6.2f%%  ", (unsigned long long)row[i].self,
			   report_percent(row[i].self, sum), (unsigned long long)row[i].total,
			   report_percent(row[i].total, sum));
		out_visible(out, row[i].shown);
		out_char(out, '\n');
	}
	free(row);
}

/* ---- events ------------------------------------------------------------------------------------------------- */

void report_events(struct out *out, const struct samples_event *event, uint32_t n)
{
	struct samples_event *sorted = mem_alloc(sizeof(*sorted), n);

	if (n)
		memcpy(sorted, event, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), samples_event_cmp);
	out_printf(out, "%12s %20s  %s\n", "samples", "period", "event");
	for (uint32_t i = 0; i < n; i++) {
		out_printf(out, "%12llu %20llu  ", (unsigned long long)sorted[i].samples,
			   (unsigned long long)sorted[i].period);
		out_visible(out, sorted[i].name.n ? sorted[i].name : STR("(not named)"));
		out_char(out, '\n');
	}
	free(sorted);
}

/* ---- --min-samples ----------------------------------------------------------------------------------------------- */

void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min)
{
	uint32_t *node = mem_alloc(sizeof(*node), from->n);
	bool *folded = mem_alloc(sizeof(*folded), from->n);
	uint64_t *total = stacks_totals(from, 0);
	uint32_t other = stacks_frame(stacks, STR("[other]"));

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t parent = from->node[id].parent;

		folded[id] = folded[parent] || total[id] < min;
		if (folded[parent])
			node[id] = node[parent];
		else if (folded[id])
			node[id] = stacks_child(stacks, node[parent], other);
		else
			node[id] = stacks_child(stacks, node[parent],
						stacks_frame(stacks, intern_str(&from->frames, from->node[id].frame)));
		/* The sum is that of `from`, so it cannot overflow. */
		stacks_add(stacks, node[id], 0, from->self[0][id]);
	}
	free(node);
	free(folded);
	free(total);
}
