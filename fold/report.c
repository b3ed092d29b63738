/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/report.h"

#include "common/formats/folded.h"
#include "common/visible.h"

#include <stdlib.h>

/* ---- hottest frames ----------------------------------------------------------------------------------------- */

struct row {
	struct str name;
	struct str shown;    /* name with the kind that it mostly is: kinds of one name are one row */
	uint64_t shown_self; /* of that kind */
	uint64_t self, total;
};

static int report_row_cmp(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return str_cmp(a->name, b->name);
}

/*
 * Self and total per name. The walk goes depth first and keeps, per name, how often it is on the path: only its
 * outermost frame adds to the total.
 */
static struct row *sum_frames(const struct stacks *s, uint32_t *nrows)
{
	uint32_t *order = stacks_order(s), *path = mem_alloc(sizeof(*path), s->n), depth = 0;
	uint64_t *total = stacks_totals(s, 0);
	uint64_t *self = mem_alloc(sizeof(*self), (size_t)s->frames.n + 1);
	uint32_t *fp = mem_alloc(sizeof(*fp), (size_t)s->frames.n + 1), *open;
	struct intern names = { 0 };
	struct row *row;

	for (uint32_t id = 1; id <= s->frames.n; id++)
		fp[id] = intern(&names, folded_plain(intern_str(&s->frames, id)));
	row = mem_alloc(sizeof(*row), (size_t)names.n + 1);
	open = mem_alloc(sizeof(*open), (size_t)names.n + 1);
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		uint32_t id = order[i], name = fp[s->node[id].frame];

		while (depth && path[depth - 1] != s->node[id].parent)
			open[fp[s->node[path[--depth]].frame]]--;
		path[depth++] = id;
		if (open[name]++ == 0)
			row[name].total += total[id];
		row[name].self += s->self[0][id];
		self[s->node[id].frame] += s->self[0][id];
	}
	for (uint32_t id = 1; id <= names.n; id++) {
		/* kinds of one frame share their bytes up to the suffix */
		row[id - 1] = row[id];
	}
	for (uint32_t id = 1; id <= s->frames.n; id++) {
		struct str frame = intern_str(&s->frames, id);
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

void report_top(struct out *o, const struct stacks *s, uint64_t n)
{
	uint64_t sum = stacks_sum(s, 0);
	uint32_t nrows = 0;
	struct row *row = s->n ? sum_frames(s, &nrows) : NULL;

	if (row)
		qsort(row, nrows, sizeof(*row), report_row_cmp);
	out_printf(o, "%12s %7s %12s %7s  %s\n", "self", "%", "total", "%", "frame");
	for (uint32_t i = 0; i < nrows && i < n; i++) {
		out_printf(o, "%12llu %6.2f%% %12llu %6.2f%%  ", (unsigned long long)row[i].self,
			   report_percent(row[i].self, sum), (unsigned long long)row[i].total,
			   report_percent(row[i].total, sum));
		out_visible(o, row[i].shown);
		out_char(o, '\n');
	}
	free(row);
}

/* ---- events ------------------------------------------------------------------------------------------------- */

void report_events(struct out *o, const struct samples_event *event, uint32_t n)
{
	struct samples_event *sorted = mem_alloc(sizeof(*sorted), n);

	if (n)
		memcpy(sorted, event, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), samples_event_cmp);
	out_printf(o, "%12s %20s  %s\n", "samples", "period", "event");
	for (uint32_t i = 0; i < n; i++) {
		out_printf(o, "%12llu %20llu  ", (unsigned long long)sorted[i].samples,
			   (unsigned long long)sorted[i].period);
		out_visible(o, sorted[i].name.n ? sorted[i].name : STR("(not named)"));
		out_char(o, '\n');
	}
	free(sorted);
}

/* ---- small stacks ------------------------------------------------------------------------------------------- */

void report_min(struct stacks *to, const struct stacks *from, uint64_t min)
{
	uint32_t *node = mem_alloc(sizeof(*node), from->n);
	bool *folded = mem_alloc(sizeof(*folded), from->n);
	uint64_t *total = stacks_totals(from, 0);
	uint32_t other = stacks_frame(to, STR("[other]"));

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t parent = from->node[id].parent;

		folded[id] = folded[parent] || total[id] < min;
		if (folded[parent])
			node[id] = node[parent];
		else if (folded[id])
			node[id] = stacks_child(to, node[parent], other);
		else
			node[id] = stacks_child(to, node[parent],
						stacks_frame(to, intern_str(&from->frames, from->node[id].frame)));
		stacks_add(to, node[id], 0, from->self[0][id]); /* the sum is that of from: it fits */
	}
	free(node);
	free(folded);
	free(total);
}
