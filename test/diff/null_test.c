/*
 * null_test - what is coloured when nothing changed, and what when something did: two samplings of one distribution,
 * and of two that differ as is known. The distribution is the example's. Figures are printed; the limits are those of
 * the issue.
 */
/* covers: common/significance.c */
#include "fold/run.h"
#include "common/formats/folded.h"
#include "common/significance.h"

#include "test/lib/tap.h"

#include <math.h>
#include <stdlib.h>

static struct stacks example;

static void load(void)
{
	static struct run run;
	struct samples_options o = { 0 };
	const char *top = getenv("PJ_TOP");
	char path[4096];
	struct in in;

	snprintf(path, sizeof(path), "%s/examples/sample.script.gz", top ? top : ".");
	run_init(&run, &o, 1);
	in_open(&in, path);
	run_script(&run, &in);
	in_close(&in);
	run_end(&run);
	if (!stacks_merge(&example, &run.script.samples.stacks))
		abort();
	run_free(&run);
}

static uint32_t seed;

static double uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed / 4294967296.0;
}

/* n samples of weight[] (by node of the example) into column c of stacks, at node[]. */
static void sample(struct stacks *stacks, unsigned c, const double *weight, const uint32_t *node, uint64_t n)
{
	double *sum = mem_alloc(sizeof(*sum), example.n + 1u), at;

	for (uint32_t id = 0; id < example.n; id++)
		sum[id + 1] = sum[id] + weight[id];
	for (uint64_t i = 0; i < n; i++) {
		uint32_t low = 0, high = example.n - 1;

		at = uniform() * sum[example.n];
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (sum[middle + 1] > at)
				high = middle;
			else
				low = middle + 1;
		}
		stacks_add(stacks, node[low], c, 1);
	}
	free(sum);
}

static struct sig_rule rule(const struct stacks *stacks, bool shares)
{
	return (struct sig_rule){ .z = 2,
				  .points = 0.5,
				  .relative = 0.01,
				  .dispersion = 1,
				  .shares = shares,
				  .counted = true,
				  .sum = { stacks_sum(stacks, 0), stacks_sum(stacks, 1) } };
}

/* ---- nothing changed ----------------------------------------------------------------------------------------- */

static void nothing(void)
{
	double *weight = mem_alloc(sizeof(*weight), example.n), mean = 0, max = 0;
	uint32_t *node = mem_alloc(sizeof(*node), example.n);

	for (uint32_t id = 0; id < example.n; id++) {
		weight[id] = (double)example.self[0][id];
		node[id] = id;
	}
	for (uint32_t k = 1; k <= 100; k++) {
		struct stacks s = { 0 };
		struct sig_rule r;
		struct sig_change *c;
		uint64_t *after;
		double all = 0, coloured = 0;

		seed = k * 7919 + 13;
		stacks_merge(&s, &example); /* the same nodes */
		memset(s.self[0], 0, s.cap * sizeof(**s.self));
		s.sum[0] = 0;
		sample(&s, 0, weight, node, 20000);
		sample(&s, 1, weight, node, 22000);
		r = rule(&s, true);
		c = sig_assess(&r, &s, NULL);
		after = stacks_totals(&s, 1);
		for (uint32_t id = 1; id < s.n; id++) {
			all += (double)after[id];
			coloured += c[id].why == SIG_CHANGED ? (double)after[id] : 0;
		}
		mean += coloured / all / 100;
		max = fmax(max, coloured / all);
		free(after);
		free(c);
		stacks_free(&s);
	}
	printf("# nothing changed, 20,000 and 22,000 samples, 100 seeds: %.2f %% of the area coloured, %.1f %% at most\n",
	       100 * mean, 100 * max);
	ok(mean <= 0.04, "two samplings of one distribution: at most 4 % of the area is coloured");
	free(node);
	free(weight);
}

/* ---- a known change ------------------------------------------------------------------------------------------ */

static bool is_below(uint32_t id, uint32_t top)
{
	while (id > top)
		id = example.node[id].parent;
	return top && id == top;
}

/* A subtree, four frames down or deeper, with a share between low and high, apart from those that were chosen; 0: none
 * is left. */
static uint32_t choose(const uint64_t *total, double low, double high, uint32_t *chosen, size_t *nchosen)
{
	uint32_t *fit = mem_alloc(sizeof(*fit), example.n), *depth = mem_alloc(sizeof(*depth), example.n), n = 0,
		 id = 0;

	for (id = 1; id < example.n; id++) {
		double share = (double)total[id] / (double)total[0];
		bool helper = true;

		depth[id] = depth[example.node[id].parent] + 1;
		for (size_t i = 0; i < *nchosen; i++)
			helper = helper && !is_below(id, chosen[i]) && !is_below(chosen[i], id);
		if (share >= low && share <= high && depth[id] >= 4 && helper)
			fit[n++] = id;
	}
	id = n ? fit[(uint32_t)(uniform() * n)] : 0;
	if (id)
		chosen[(*nchosen)++] = id;
	free(fit);
	free(depth);
	return id;
}

struct figures {
	double right, wrong, none, same, same_coloured;
};

/* x1.8 in two subtrees, two removed, one x0.3, one renamed. */
static void change(uint32_t k, struct figures *figures)
{
	uint64_t *total = stacks_totals(&example, 0), *got[2];
	double *weight[2], *truth[2], sum = 0;
	uint32_t *node[2], chosen[6], up1, up2, gone1, gone2, less, renamed;
	struct stacks s = { 0 };
	struct sig_change *c;
	struct sig_rule r;
	size_t n = 0;

	seed = k * 7919 + 13;
	up1 = choose(total, .04, .15, chosen, &n);
	up2 = choose(total, .04, .15, chosen, &n);
	gone1 = choose(total, .02, .06, chosen, &n);
	gone2 = choose(total, .02, .06, chosen, &n);
	less = choose(total, .04, .12, chosen, &n);
	renamed = choose(total, .02, .06, chosen, &n);
	for (int side = 0; side < 2; side++) {
		node[side] = mem_alloc(sizeof(**node), example.n);
		weight[side] = mem_alloc(sizeof(**weight), example.n);
	}
	for (uint32_t id = 1; id < example.n; id++) {
		uint32_t up = example.node[id].parent;
		struct str name = intern_str(&example.frames, example.node[id].frame);
		char text[4096];
		double by = 1;

		node[0][id] = stacks_child(&s, node[0][up], stacks_frame(&s, name));
		snprintf(text, sizeof(text), "%.*s%s", (int)name.n, name.p, id == renamed ? "Renamed" : "");
		node[1][id] = stacks_child(&s, node[1][up], stacks_frame(&s, str_of(text)));
		if (is_below(id, gone1) || is_below(id, gone2))
			by = 0;
		else if (is_below(id, up1) || is_below(id, up2))
			by = 1.8;
		else if (is_below(id, less))
			by = 0.3;
		weight[0][id] = (double)example.self[0][id];
		weight[1][id] = weight[0][id] * by;
		sum += weight[1][id];
	}
	sample(&s, 0, weight[0], node[0], 6000);
	sample(&s, 1, weight[1], node[1], (uint64_t)lround(6000 * sum / (double)total[0]));
	for (int side = 0; side < 2; side++) {
		got[side] = stacks_totals(&s, (unsigned)side);
		truth[side] = mem_alloc(sizeof(**truth), s.n);
		for (uint32_t id = 1; id < example.n; id++)
			truth[side][node[side][id]] += weight[side][id];
		for (uint32_t id = s.n; id-- > 1;)
			truth[side][s.node[id].parent] += truth[side][id];
	}
	r = rule(&s, false);
	c = sig_assess(&r, &s, NULL);
	for (uint32_t id = 1; id < s.n; id++) {
		double d = truth[1][id] - truth[0][id], width = fmax((double)got[0][id], (double)got[1][id]);
		bool coloured = c[id].why == SIG_CHANGED;

		if (fabs(d) < 1e-9) {
			figures->same += width;
			figures->same_coloured += coloured ? width : 0;
		} else if (fabs(d) >= 0.1 * fmax(truth[0][id], truth[1][id])) {
			figures->none += coloured ? 0 : width;
			figures->right += coloured && c[id].less == (d < 0) ? width : 0;
			figures->wrong += coloured && c[id].less != (d < 0) ? width : 0;
		}
	}
	for (int side = 0; side < 2; side++) {
		free(got[side]);
		free(truth[side]);
		free(node[side]);
		free(weight[side]);
	}
	free(c);
	free(total);
	stacks_free(&s);
}

static void known(void)
{
	struct figures f = { 0 };
	double all;

	for (uint32_t k = 1; k <= 20; k++)
		change(k, &f);
	all = f.right + f.wrong + f.none;
	printf("# a known change, 6,000 samples, 20 seeds: right %.1f %%, wrong %.2f %%, not coloured %.1f %%; unchanged area coloured %.2f %%\n",
	       100 * f.right / all, 100 * f.wrong / all, 100 * f.none / all, 100 * f.same_coloured / f.same);
	ok(f.right / all >= 0.85, "of what changed by 10 % or more, at least 85 % is coloured right");
	ok(f.wrong / all < 0.005, "nothing in the wrong direction");
	ok(f.same_coloured / f.same <= 0.04, "of what did not change, at most 4 % is coloured");
}

int main(void)
{
	diag_tool("pjtest");
	load();
	nothing();
	known();
	stacks_free(&example);
	return done();
}
