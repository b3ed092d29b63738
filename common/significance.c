/* SPDX-License-Identifier: Apache-2.0 */
#include "common/significance.h"

#include "common/arena.h"

#include <math.h>
#include <stdlib.h>

/* Steps of looking at stacks under functions that may have moved; what is beyond counts as not moved. */
#define MOVED_WORK ((uint64_t)100000000)

/* ---- one pair ------------------------------------------------------------------------------------------------ */

/* Of nothing there are no shares. */
static bool by_shares(const struct sig_rule *r)
{
	return r->shares && r->sum[0] && r->sum[1];
}

static double significance_larger(double x, double y)
{
	return x > y ? x : y;
}

/* What a weight is of all: of its own side, or of the larger one, so that counts differ by points, too. */
static void parts_of(const struct sig_rule *r, double before, double after, double part[2])
{
	double ta = (double)r->sum[0], tb = (double)r->sum[1], max = significance_larger(ta, tb);

	if (max <= 0) {
		part[0] = part[1] = 0;
	} else if (by_shares(r)) {
		part[0] = before / ta;
		part[1] = after / tb;
	} else {
		part[0] = before / max;
		part[1] = after / max;
	}
}

double sig_variance(const struct sig_rule *r, uint64_t before, uint64_t after, double dispersion, double drift)
{
	double a = (double)before, b = (double)after, ta = (double)r->sum[0], tb = (double)r->sum[1];
	double p, mean = (a + b) / 2;

	if (!by_shares(r))
		return dispersion * (a + b) + drift * drift * mean * mean;
	p = (a + b) / (ta + tb);
	p = p < 1 ? p * (1 - p) : 0;
	return dispersion * p * (1 / ta + 1 / tb) + drift * drift * p * p;
}

bool sig_by_shares(uint64_t before, uint64_t after)
{
	uint64_t larger = before > after ? before : after, smaller = before > after ? after : before;

	return (double)(larger - smaller) > 0.02 * (double)larger;
}

bool sig_counted(struct str unit)
{
	return unit.n == 0 || str_eq(unit, STR("samples"));
}

double sig_difference(const struct sig_rule *r, uint64_t before, uint64_t after)
{
	double part[2];

	if (!by_shares(r))
		return (double)after - (double)before;
	parts_of(r, (double)before, (double)after, part);
	return part[1] - part[0];
}

static uint8_t level_of(double z, bool tested, double relative)
{
	if ((tested && z < 3) || relative < 0.1)
		return 1;
	return relative < 0.3 ? 2 : relative < 0.6 ? 3 : 4;
}

struct sig_change sig_compare(const struct sig_rule *r, uint64_t before, uint64_t after, double dispersion)
{
	struct sig_change c = { .why = SIG_NOISE };
	bool tested = r->counted && r->z > 0;
	double part[2], d, var, z = 0, relative;

	parts_of(r, (double)before, (double)after, part);
	d = part[1] - part[0];
	relative = d == 0 ? 0 : fabs(d) / significance_larger(part[0], part[1]);
	if (tested) {
		if (!(dispersion > 0))
			dispersion = r->dispersion;
		var = sig_variance(r, before, after, dispersion >= 1 ? dispersion : 1, r->drift);
		z = var > 0 ? fabs(sig_difference(r, before, after)) / sqrt(var) : 0;
	}
	c.less = d < 0;
	c.z = (float)z;
	c.points = (float)(100 * d);
	c.relative = (float)relative;
	if (d == 0 || (tested && z < r->z))
		return c;
	if (100 * fabs(d) < r->points || relative < r->relative) {
		c.why = SIG_SMALL;
		return c;
	}
	c.why = SIG_CHANGED;
	c.level = level_of(z, tested, relative);
	return c;
}

/* ---- functions ----------------------------------------------------------------------------------------------- */

/*
 * The tree in depth-first order, reduced to what is asked of it: all stacks that have weight (leaves, though they may
 * have callees) below any node are stack[from[node]] to stack[to[node] - 1]. So a deep chain costs no more than a short
 * one.
 */
struct reach {
	uint32_t *stack;     /* nodes with self weight */
	uint32_t *from, *to; /* by node */
	uint32_t *outer;     /* nodes that have no caller of the same frame, by frame */
	uint32_t *first;     /* by frame: where in outer; [frames + 1] values and one more */
};

static bool has_self(const struct stacks *s, uint32_t id)
{
	return s->self[0][id] || (s->self[1] && s->self[1][id]);
}

/* Goes down and up the tree; outermost[id] becomes true where no caller has the same frame. */
static void significance_walk(const struct stacks *s, struct reach *w, bool *outermost)
{
	uint32_t *order = stacks_order(s), *open = mem_alloc(sizeof(*open), (size_t)s->frames.n + 1);
	uint32_t at = 0, n = 0;

	/* `at` is the node whose callees come next; its way up is known by parent */
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		uint32_t id = order[i];

		while (at != s->node[id].parent) {
			open[s->node[at].frame]--;
			w->to[at] = n;
			at = s->node[at].parent;
		}
		outermost[id] = open[s->node[id].frame]++ == 0;
		w->from[id] = n;
		if (has_self(s, id))
			w->stack[n++] = id;
		at = id;
	}
	for (; at; at = s->node[at].parent)
		w->to[at] = n;
	free(order);
	free(open);
}

static void reach_make(struct reach *w, const struct stacks *s)
{
	bool *outermost = mem_alloc(sizeof(*outermost), s->n);
	uint32_t nframes = s->frames.n;

	w->stack = mem_alloc(sizeof(*w->stack), s->n);
	w->from = mem_alloc(sizeof(*w->from), s->n);
	w->to = mem_alloc(sizeof(*w->to), s->n);
	w->outer = mem_alloc(sizeof(*w->outer), s->n);
	w->first = mem_alloc(sizeof(*w->first), (size_t)nframes + 3);
	significance_walk(s, w, outermost);
	for (uint32_t id = 1; id < s->n; id++)
		w->first[s->node[id].frame + 2] += outermost[id];
	for (uint32_t f = 0; f <= nframes; f++)
		w->first[f + 2] += w->first[f + 1];
	for (uint32_t id = 1; id < s->n; id++)
		if (outermost[id])
			w->outer[w->first[s->node[id].frame + 1]++] = id;
	free(outermost);
}

static void reach_free(struct reach *w)
{
	free(w->stack);
	free(w->from);
	free(w->to);
	free(w->outer);
	free(w->first);
}

/* Weights of the functions; the mean dispersion of their places where only that is known. */
static void sum_up(const struct sig_rule *r, const struct stacks *s, const struct reach *w, uint64_t *const total[2],
		   const float *by_node, float *by_frame, struct sig_function *f)
{
	for (uint32_t id = 1; id < s->n; id++) {
		f[s->node[id].frame].self[0] += s->self[0][id];
		f[s->node[id].frame].self[1] += s->self[1] ? s->self[1][id] : 0;
	}
	for (uint32_t frame = 1; frame <= s->frames.n; frame++) {
		double noise = 0, all = 0;

		for (uint32_t i = w->first[frame]; i < w->first[frame + 1]; i++) {
			uint32_t id = w->outer[i];
			double weight = (double)total[0][id] + (double)total[1][id];

			f[frame].total[0] += total[0][id];
			f[frame].total[1] += total[1][id];
			all += weight;
			noise += weight * (double)(by_node ? by_node[id] : 0);
		}
		if (by_node)
			by_frame[frame] = all > 0 ? (float)(noise / all) : 0;
		f[frame].change = sig_compare(r, f[frame].total[0], f[frame].total[1], (double)by_frame[frame]);
	}
}

/* What the functions that have self weight under f weigh outside of f, before and after; false when work ran out. */
static bool significance_elsewhere(const struct stacks *s, const struct reach *w, const struct sig_function *f,
				   uint32_t frame, uint32_t *seen, uint64_t *work, uint64_t e[2])
{
	e[0] = e[1] = 0;
	for (uint32_t i = w->first[frame]; i < w->first[frame + 1]; i++) {
		uint32_t id = w->outer[i], n = w->to[id] - w->from[id];

		if (*work < n)
			return false;
		*work -= n;
		for (uint32_t k = w->from[id]; k < w->to[id]; k++) {
			uint32_t g = s->node[w->stack[k]].frame;

			if (seen[g] == frame)
				continue;
			seen[g] = frame;
			e[0] += f[g].self[0];
			e[1] += f[g].self[1];
		}
	}
	e[0] -= f[frame].total[0];
	e[1] -= f[frame].total[1];
	return true;
}

/*
 * When f's share rises, all other shares fall in proportion: that much is no sign of code that moved into f. Counts
 * need no such correction.
 */
static bool is_moved(const struct sig_rule *r, const struct sig_function *f, const uint64_t e[2])
{
	double in[2], out[2], d, moved;

	parts_of(r, (double)f->total[0], (double)f->total[1], in);
	parts_of(r, (double)e[0], (double)e[1], out);
	d = in[1] - in[0];
	moved = out[1] - out[0];
	if (by_shares(r) && in[0] < 1)
		moved += d * out[0] / (1 - in[0]);
	return moved * d < 0 && fabs(moved) >= fabs(d) / 3;
}

static void find_moved(const struct sig_rule *r, const struct stacks *s, const struct reach *w, struct sig_function *f)
{
	uint32_t *seen = mem_alloc(sizeof(*seen), (size_t)s->frames.n + 1);
	uint64_t work = MOVED_WORK, e[2];

	for (uint32_t frame = 1; frame <= s->frames.n; frame++) {
		if (f[frame].change.why != SIG_CHANGED)
			continue;
		if (significance_elsewhere(s, w, f, frame, seen, &work, e) && is_moved(r, &f[frame], e)) {
			f[frame].change.why = SIG_MOVED;
			f[frame].change.level = 0;
		}
	}
	free(seen);
}

static struct sig_function *significance_functions(const struct sig_rule *r, const struct stacks *s,
						   uint64_t *const total[2], const float *by_node, const float *given)
{
	size_t n = (size_t)s->frames.n + 1;
	struct sig_function *f = mem_alloc(sizeof(*f), n);
	float *by_frame = mem_alloc(sizeof(*by_frame), n);
	struct reach w;

	if (s->n > 1) {
		if (given)
			memcpy(by_frame, given, n * sizeof(*given));
		reach_make(&w, s);
		sum_up(r, s, &w, total, by_node, by_frame, f);
		find_moved(r, s, &w, f);
		reach_free(&w);
	}
	free(by_frame);
	return f;
}

struct sig_function *sig_functions(const struct sig_rule *r, const struct stacks *s, const float *dispersion)
{
	uint64_t *total[2] = { stacks_totals(s, 0), stacks_totals(s, 1) };
	struct sig_function *f = significance_functions(r, s, total, NULL, dispersion);

	free(total[0]);
	free(total[1]);
	return f;
}

/* ---- nodes --------------------------------------------------------------------------------------------------- */

/* Is what is new (gone) here gone (new) in other places of the same function? Then it is called another way. */
static bool significance_is_elsewhere(const struct sig_rule *r, const struct sig_function *f, uint64_t before,
				      uint64_t after)
{
	double here = sig_difference(r, before, after), all = sig_difference(r, f->total[0], f->total[1]);

	return (before == 0 || after == 0) && (here < 0 ? -all : all) < fabs(here) / 3;
}

struct sig_change *sig_assess(const struct sig_rule *r, const struct stacks *s, const float *dispersion)
{
	struct sig_change *c = mem_alloc(sizeof(*c), s->n);
	uint64_t *total[2] = { stacks_totals(s, 0), stacks_totals(s, 1) };
	struct sig_function *f = significance_functions(r, s, total, dispersion, NULL);

	/* callers have smaller numbers than callees */
	for (uint32_t id = 1; id < s->n; id++) {
		const struct sig_function *of = &f[s->node[id].frame];
		const struct sig_change *caller = &c[s->node[id].parent];

		c[id] = sig_compare(r, total[0][id], total[1][id], dispersion ? (double)dispersion[id] : 0);
		if (c[id].why != SIG_CHANGED)
			continue;
		if ((of->change.why == SIG_MOVED && of->change.less == c[id].less) ||
		    significance_is_elsewhere(r, of, total[0][id], total[1][id]) ||
		    (caller->why == SIG_MOVED && caller->less == c[id].less && (!total[0][id] || !total[1][id]))) {
			c[id].why = SIG_MOVED;
			c[id].level = 0;
		}
	}
	free(f);
	free(total[0]);
	free(total[1]);
	return c;
}
