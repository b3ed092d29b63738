/* SPDX-License-Identifier: Apache-2.0 */
#include "common/significance.h"

#include "common/arena.h"

#include <math.h>
#include <stdlib.h>

/* Limit for the number of stacks that are visited to find out if functions are moved. Functions beyond the limit are
 * not marked as moved. */
#define MOVED_WORK ((uint64_t)100000000)

/* ---- comparison of two weights ----------------------------------------------------------------------------------- */

/* Returns true if shares are compared, false if counts are: a side without weight has no shares. */
static bool by_shares(const struct sig_rule *rule)
{
	return rule->shares && rule->sum[0] && rule->sum[1];
}

static double significance_larger(double x, double y)
{
	return x > y ? x : y;
}

/* Stores both weights as fractions in part[]: if shares are compared, of the total of each side; if counts are
 * compared, both of the larger total, so that changes of counts are in points, too. */
static void parts_of(const struct sig_rule *rule, double before, double after, double part[2])
{
	double ta = (double)rule->sum[0], tb = (double)rule->sum[1], max = significance_larger(ta, tb);

	if (max <= 0) {
		part[0] = part[1] = 0;
	} else if (by_shares(rule)) {
		part[0] = before / ta;
		part[1] = after / tb;
	} else {
		part[0] = before / max;
		part[1] = after / max;
	}
}

double sig_variance(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion, double drift)
{
	double a = (double)before, b = (double)after, ta = (double)rule->sum[0], tb = (double)rule->sum[1];
	double p, mean = (a + b) / 2;

	if (!by_shares(rule))
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

double sig_difference(const struct sig_rule *rule, uint64_t before, uint64_t after)
{
	double part[2];

	if (!by_shares(rule))
		return (double)after - (double)before;
	parts_of(rule, (double)before, (double)after, part);
	return part[1] - part[0];
}

static uint8_t level_of(double z, bool tested, double relative)
{
	if ((tested && z < 3) || relative < 0.1)
		return 1;
	return relative < 0.3 ? 2 : relative < 0.6 ? 3 : 4;
}

struct sig_change sig_compare(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion)
{
	struct sig_change change = { .why = SIG_NOISE };
	bool tested = rule->counted && rule->z > 0;
	double part[2], d, var, z = 0, relative;

	parts_of(rule, (double)before, (double)after, part);
	d = part[1] - part[0];
	relative = d == 0 ? 0 : fabs(d) / significance_larger(part[0], part[1]);
	if (tested) {
		if (!(dispersion > 0))
			dispersion = rule->dispersion;
		var = sig_variance(rule, before, after, dispersion >= 1 ? dispersion : 1, rule->drift);
		z = var > 0 ? fabs(sig_difference(rule, before, after)) / sqrt(var) : 0;
	}
	change.less = d < 0;
	change.z = (float)z;
	change.points = (float)(100 * d);
	change.relative = (float)relative;
	if (d == 0 || (tested && z < rule->z))
		return change;
	if (100 * fabs(d) < rule->points || relative < rule->relative) {
		change.why = SIG_SMALL;
		return change;
	}
	change.why = SIG_CHANGED;
	change.level = level_of(z, tested, relative);
	return change;
}

/* ---- weights of functions ---------------------------------------------------------------------------------------- */

/* The stacks below each node as a range of one array, so that a visit costs the same for deep and for flat trees: the
 * nodes with self weight at or below node n are stack[from[n]] to stack[to[n] - 1]. */
struct reach {
	uint32_t *stack; /* all nodes with self weight, in depth-first order; a caller comes before its callees */
	/* from: by node, index in `stack` of the first node at or below the node; to: by node, index after the last of
	 * these nodes */
	uint32_t *from, *to;
	uint32_t *outer; /* outermost nodes, those without a caller of the same frame, sorted by frame */
	/* By frame, index in outer of its first node: the nodes of frame f are outer[first[f]] to outer[first[f + 1] -
	 * 1]. */
	uint32_t *first;
};

static bool has_self(const struct stacks *stacks, uint32_t id)
{
	return stacks->self[0][id] || (stacks->self[1] && stacks->self[1][id]);
}

/* Fills reach->stack, from and to. Sets outermost[id] to true for nodes without a caller of the same frame. */
static void significance_walk(const struct stacks *stacks, struct reach *reach, bool *outermost)
{
	uint32_t *order = stacks_order(stacks), *open = mem_alloc(sizeof(*open), (size_t)stacks->frames.n + 1);
	uint32_t at = 0, n = 0;

	/* `at` is the node that was visited last; the loop returns to its callers by their parent ids */
	for (uint32_t i = 0; i + 1 < stacks->n; i++) {
		uint32_t id = order[i];

		while (at != stacks->node[id].parent) {
			open[stacks->node[at].frame]--;
			reach->to[at] = n;
			at = stacks->node[at].parent;
		}
		outermost[id] = open[stacks->node[id].frame]++ == 0;
		reach->from[id] = n;
		if (has_self(stacks, id))
			reach->stack[n++] = id;
		at = id;
	}
	for (; at; at = stacks->node[at].parent)
		reach->to[at] = n;
	free(order);
	free(open);
}

static void reach_make(struct reach *reach, const struct stacks *stacks)
{
	bool *outermost = mem_alloc(sizeof(*outermost), stacks->n);
	uint32_t nframes = stacks->frames.n;

	reach->stack = mem_alloc(sizeof(*reach->stack), stacks->n);
	reach->from = mem_alloc(sizeof(*reach->from), stacks->n);
	reach->to = mem_alloc(sizeof(*reach->to), stacks->n);
	reach->outer = mem_alloc(sizeof(*reach->outer), stacks->n);
	reach->first = mem_alloc(sizeof(*reach->first), (size_t)nframes + 3);
	significance_walk(stacks, reach, outermost);
	for (uint32_t id = 1; id < stacks->n; id++)
		reach->first[stacks->node[id].frame + 2] += outermost[id];
	for (uint32_t f = 0; f <= nframes; f++)
		reach->first[f + 2] += reach->first[f + 1];
	for (uint32_t id = 1; id < stacks->n; id++)
		if (outermost[id])
			reach->outer[reach->first[stacks->node[id].frame + 1]++] = id;
	free(outermost);
}

static void reach_free(struct reach *reach)
{
	free(reach->stack);
	free(reach->from);
	free(reach->to);
	free(reach->outer);
	free(reach->first);
}

/* Sums the weights of each function, before and after, and compares the sums. total[]: total weights by node. by_node:
 * dispersion of each node; then by_frame is set to the weighted mean of each function's nodes. If by_node is NULL,
 * by_frame has the dispersions already. */
static void sum_up(const struct sig_rule *rule, const struct stacks *stacks, const struct reach *reach,
		   uint64_t *const total[2], const float *by_node, float *by_frame, struct sig_function *function)
{
	for (uint32_t id = 1; id < stacks->n; id++) {
		function[stacks->node[id].frame].self[0] += stacks->self[0][id];
		function[stacks->node[id].frame].self[1] += stacks->self[1] ? stacks->self[1][id] : 0;
	}
	for (uint32_t frame = 1; frame <= stacks->frames.n; frame++) {
		double noise = 0, all = 0;

		for (uint32_t i = reach->first[frame]; i < reach->first[frame + 1]; i++) {
			uint32_t id = reach->outer[i];
			double weight = (double)total[0][id] + (double)total[1][id];

			function[frame].total[0] += total[0][id];
			function[frame].total[1] += total[1][id];
			all += weight;
			noise += weight * (double)(by_node ? by_node[id] : 0);
		}
		if (by_node)
			by_frame[frame] = all > 0 ? (float)(noise / all) : 0;
		function[frame].change =
			sig_compare(rule, function[frame].total[0], function[frame].total[1], (double)by_frame[frame]);
	}
}

/* Finds all functions that have self weight in stacks with `frame`, and stores in e[] the sum of their self weights in
 * stacks without `frame`, before [0] and after [1]. seen[g]: the last `frame` for which function g was found, so that g
 * is added once. *work: number of stacks that may still be visited. Returns false if *work does not suffice. */
static bool significance_elsewhere(const struct stacks *stacks, const struct reach *reach,
				   const struct sig_function *function, uint32_t frame, uint32_t *seen, uint64_t *work,
				   uint64_t e[2])
{
	e[0] = e[1] = 0;
	for (uint32_t i = reach->first[frame]; i < reach->first[frame + 1]; i++) {
		uint32_t id = reach->outer[i], n = reach->to[id] - reach->from[id];

		if (*work < n)
			return false;
		*work -= n;
		for (uint32_t index = reach->from[id]; index < reach->to[id]; index++) {
			uint32_t g = stacks->node[reach->stack[index]].frame;

			if (seen[g] == frame)
				continue;
			seen[g] = frame;
			e[0] += function[g].self[0];
			e[1] += function[g].self[1];
		}
	}
	e[0] -= function[frame].total[0];
	e[1] -= function[frame].total[1];
	return true;
}

/* Returns true if the function is moved: it gained (lost) weight, and e[], the weight of the same code in stacks
 * without the function, fell (rose) by at least a third of that. If shares are compared, the fall of all other shares
 * that the rise of one share causes is subtracted first. */
static bool is_moved(const struct sig_rule *rule, const struct sig_function *function, const uint64_t e[2])
{
	double in[2], out[2], d, moved;

	parts_of(rule, (double)function->total[0], (double)function->total[1], in);
	parts_of(rule, (double)e[0], (double)e[1], out);
	d = in[1] - in[0];
	moved = out[1] - out[0];
	if (by_shares(rule) && in[0] < 1)
		moved += d * out[0] / (1 - in[0]);
	return moved * d < 0 && fabs(moved) >= fabs(d) / 3;
}

static void find_moved(const struct sig_rule *rule, const struct stacks *stacks, const struct reach *reach,
		       struct sig_function *function)
{
	uint32_t *seen = mem_alloc(sizeof(*seen), (size_t)stacks->frames.n + 1);
	uint64_t work = MOVED_WORK, e[2];

	for (uint32_t frame = 1; frame <= stacks->frames.n; frame++) {
		if (function[frame].change.why != SIG_CHANGED)
			continue;
		if (significance_elsewhere(stacks, reach, function, frame, seen, &work, e) &&
		    is_moved(rule, &function[frame], e)) {
			function[frame].change.why = SIG_MOVED;
			function[frame].change.level = 0;
		}
	}
	free(seen);
}

static struct sig_function *significance_functions(const struct sig_rule *rule, const struct stacks *stacks,
						   uint64_t *const total[2], const float *by_node, const float *given)
{
	size_t n = (size_t)stacks->frames.n + 1;
	struct sig_function *function = mem_alloc(sizeof(*function), n);
	float *by_frame = mem_alloc(sizeof(*by_frame), n);
	struct reach reach;

	if (stacks->n > 1) {
		if (given)
			memcpy(by_frame, given, n * sizeof(*given));
		reach_make(&reach, stacks);
		sum_up(rule, stacks, &reach, total, by_node, by_frame, function);
		find_moved(rule, stacks, &reach, function);
		reach_free(&reach);
	}
	free(by_frame);
	return function;
}

struct sig_function *sig_functions(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion)
{
	uint64_t *total[2] = { stacks_totals(stacks, 0), stacks_totals(stacks, 1) };
	struct sig_function *function = significance_functions(rule, stacks, total, NULL, dispersion);

	free(total[0]);
	free(total[1]);
	return function;
}

/* ---- assessment of nodes ----------------------------------------------------------------------------------------- */

/* Returns true for a new or gone node with weights `before` and `after` if the total weight of its function changed in
 * the same direction by less than a third of the node's weight. Then other nodes of the function lost or gained the
 * rest, so only its callers changed. */
static bool significance_is_elsewhere(const struct sig_rule *rule, const struct sig_function *function, uint64_t before,
				      uint64_t after)
{
	double here = sig_difference(rule, before, after),
	       all = sig_difference(rule, function->total[0], function->total[1]);

	return (before == 0 || after == 0) && (here < 0 ? -all : all) < fabs(here) / 3;
}

struct sig_change *sig_assess(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion)
{
	struct sig_change *change = mem_alloc(sizeof(*change), stacks->n);
	uint64_t *total[2] = { stacks_totals(stacks, 0), stacks_totals(stacks, 1) };
	struct sig_function *function = significance_functions(rule, stacks, total, dispersion, NULL);

	/* callers have smaller ids than callees, so change[] of the caller is already set */
	for (uint32_t id = 1; id < stacks->n; id++) {
		const struct sig_function *of = &function[stacks->node[id].frame];
		const struct sig_change *caller = &change[stacks->node[id].parent];

		change[id] = sig_compare(rule, total[0][id], total[1][id], dispersion ? (double)dispersion[id] : 0);
		if (change[id].why != SIG_CHANGED)
			continue;
		if ((of->change.why == SIG_MOVED && of->change.less == change[id].less) ||
		    significance_is_elsewhere(rule, of, total[0][id], total[1][id]) ||
		    (caller->why == SIG_MOVED && caller->less == change[id].less && (!total[0][id] || !total[1][id]))) {
			change[id].why = SIG_MOVED;
			change[id].level = 0;
		}
	}
	free(function);
	free(total[0]);
	free(total[1]);
	return change;
}
