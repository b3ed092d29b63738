/* significance_test - what changed between two profiles, by hand-computed values. */
/* covers: common/significance.c */
#include "common/significance.h"

#include "common/formats/folded.h"
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include <math.h>
#include <stdlib.h>

static struct sig_rule rule(uint64_t before, uint64_t after, bool shares)
{
	return (struct sig_rule){ .z = 2,
				  .points = 0.5,
				  .relative = 0.01,
				  .dispersion = 1,
				  .shares = shares,
				  .counted = true,
				  .sum = { before, after } };
}

static bool near(double x, double want)
{
	bool same = fabs(x - want) <= 1e-4 * (fabs(want) + 1);

	if (!same)
		printf("# got %.9g, want %.9g\n", x, want);
	return same;
}

static void pairs(void)
{
	struct sig_rule r = rule(10000, 20000, true);
	struct sig_change c = sig_compare(&r, 500, 1300, 0);

	/* p = .06, d = .015, var = .0564 * .00015 */
	ok(near((double)c.z, 0.015 / sqrt(0.0564 * 0.00015)) && near((double)c.points, 1.5) &&
		   near((double)c.relative, 0.015 / 0.065),
	   "shares: z, points, relative");
	ok(c.why == SIG_CHANGED && !c.less && c.level == 2, "changed, by 23 %");
	c = sig_compare(&r, 500, 1300, 4);
	ok(near((double)c.z, 0.015 / sqrt(4 * 0.0564 * 0.00015)), "a dispersion of its own");
	r.dispersion = 4;
	ok(near((double)sig_compare(&r, 500, 1300, 0).z, (double)c.z), "or the rule's");
	ok(near((double)sig_compare(&r, 500, 1300, 0.1).z, 0.015 / sqrt(0.0564 * 0.00015)),
	   "never below that of counting");
	r.dispersion = 1;
	r.drift = 0.1;
	c = sig_compare(&r, 500, 1300, 0);
	ok(near((double)c.z, 0.015 / sqrt(0.0564 * 0.00015 + 0.01 * 0.0564 * 0.0564)) && c.level == 1,
	   "drift; below 3 is level 1");

	r = rule(10000, 10000, false);
	c = sig_compare(&r, 900, 400, 0);
	ok(near((double)c.z, 500 / sqrt(1300)) && near((double)c.points, -5) && near((double)c.relative, 5.0 / 9) &&
		   c.less && c.level == 3,
	   "counts, less");
	r.drift = 0.05;
	ok(near((double)sig_compare(&r, 900, 400, 2).z, 500 / sqrt(2600 + 0.0025 * 650 * 650)),
	   "counts with dispersion and drift");
	r.drift = 0;
	ok(near((double)sig_compare(&r, 400, 900, 0).z, (double)c.z) && !sig_compare(&r, 400, 900, 0).less,
	   "the other way round");
	ok(sig_compare(&r, 100, 100, 0).why == SIG_NOISE, "no change");
	ok(sig_compare(&r, 100, 110, 0).why == SIG_NOISE, "within noise");
	ok(sig_compare(&r, 10, 50, 0).why == SIG_SMALL && sig_compare(&r, 10, 50, 0).level == 0,
	   "significant, but small");
	r.relative = 0.6;
	ok(sig_compare(&r, 900, 400, 0).why == SIG_SMALL, "relatively small");
	r.z = 0;
	r.relative = 0.01;
	c = sig_compare(&r, 100, 160, 0);
	ok(c.why == SIG_CHANGED && c.z == 0 && c.level == 3, "no test: the least changes alone");
	r.z = 2;
	r.counted = false;
	c = sig_compare(&r, 100, 160, 0);
	ok(c.why == SIG_CHANGED && c.z == 0, "weights that are no counts are not tested");
	ok(sig_compare(&r, 100, 140, 0).why == SIG_SMALL, "but must matter");
}

static void edges(void)
{
	struct sig_rule r = rule(1000, 1000, true);
	struct sig_change c = sig_compare(&r, 1000, 1000, 0);

	ok(c.why == SIG_NOISE && c.z == 0 && c.points == 0, "p = 1");
	c = sig_compare(&r, 0, 0, 0);
	ok(c.why == SIG_NOISE && c.z == 0 && c.relative == 0, "p = 0");
	r = rule(0, 0, true);
	c = sig_compare(&r, 0, 0, 0);
	ok(c.why == SIG_NOISE && c.z == 0 && c.points == 0, "nothing at all");
	r = rule(0, 400, true);
	c = sig_compare(&r, 0, 100, 0);
	ok(c.why == SIG_CHANGED && near((double)c.z, 10) && near((double)c.points, 25) && near((double)c.relative, 1) &&
		   c.level == 4,
	   "nothing before: counts");
	r = rule(400, 0, true);
	ok(sig_compare(&r, 100, 0, 0).less && sig_compare(&r, 100, 0, 0).why == SIG_CHANGED, "nothing after");
	r = rule((uint64_t)1 << 62, (uint64_t)1 << 62, true);
	c = sig_compare(&r, (uint64_t)1 << 61, ((uint64_t)1 << 61) + ((uint64_t)1 << 60), 0);
	ok(c.why == SIG_CHANGED && isfinite((double)c.z) && near((double)c.points, 25), "counts near 2^62");
	r.shares = false;
	c = sig_compare(&r, (uint64_t)1 << 61, (uint64_t)1 << 62, 1e6);
	ok(c.why == SIG_CHANGED && isfinite((double)c.z) && near((double)c.points, 50), "as counts, too");
}

static void add(struct stacks *stacks, const char *stack, uint64_t before, uint64_t after)
{
	uint32_t node = node_of(stacks, str_of(stack));

	if (!stacks_add(stacks, node, 0, before) || !stacks_add(stacks, node, 1, after))
		abort();
}

static enum sig_why why_of(struct stacks *stacks, const struct sig_change *change, const char *stack)
{
	return change[node_of(stacks, str_of(stack))].why;
}

static struct sig_change *assessed(struct sig_rule *r, struct stacks *stacks)
{
	r->sum[0] = stacks_sum(stacks, 0);
	r->sum[1] = stacks_sum(stacks, 1);
	return sig_assess(r, stacks, NULL);
}

/* Before, main calls print and parse itself; after, by way of format, which does nothing itself. */
static void moved(bool shares)
{
	struct stacks s = { 0 };
	struct sig_rule r = rule(0, 0, shares);
	struct sig_change *c;
	struct sig_function *f;

	add(&s, "main;print", 1000, 10);
	add(&s, "main;parse", 1000, 0);
	add(&s, "main;format;print", 0, 990);
	add(&s, "main;format;parse", 0, 1000);
	add(&s, "main;work", 8000, 8000);
	c = assessed(&r, &s);
	is_u64(why_of(&s, c, "main;format"), SIG_MOVED, "a function that only took others in is moved");
	is_u64(why_of(&s, c, "main;format;print"), SIG_MOVED, "so is what is new under it");
	is_u64(why_of(&s, c, "main"), SIG_NOISE, "main is what it was");
	f = sig_functions(&r, &s, NULL);
	ok(f[intern_find(&s.frames, STR("format"))].change.why == SIG_MOVED &&
		   f[intern_find(&s.frames, STR("print"))].change.why == SIG_NOISE,
	   "as functions");
	free(f);
	free(c);
	stacks_free(&s);

	add(&s, "main;print", 1000, 1000);
	add(&s, "main;parse", 1000, 1000);
	add(&s, "main;format;print", 0, 990);
	add(&s, "main;format;parse", 0, 1000);
	add(&s, "main;work", 8000, 8000);
	c = assessed(&r, &s);
	is_u64(why_of(&s, c, "main;format"), SIG_CHANGED, "new calls of old code are a change");
	is_u64(why_of(&s, c, "main;format;print"), SIG_CHANGED, "so is what it calls");
	free(c);
	stacks_free(&s);
}

static void functions(void)
{
	struct stacks s = { 0 };
	struct sig_rule r = rule(0, 0, true);
	struct sig_function *f;
	struct sig_change *c;

	add(&s, "a;b;a;b", 10, 20);
	add(&s, "a;b;a", 5, 5);
	add(&s, "b;c", 1, 2);
	r.sum[0] = 16;
	r.sum[1] = 27;
	f = sig_functions(&r, &s, NULL);
	ok(f[1].total[0] == 15 && f[1].total[1] == 25 && f[1].self[0] == 5 && f[1].self[1] == 5,
	   "recursion counts once");
	ok(f[2].total[0] == 16 && f[2].total[1] == 27 && f[2].self[0] == 10 && f[2].self[1] == 20, "in all places");
	free(f);
	stacks_free(&s);
	c = sig_assess(&r, &s, NULL);
	ok(c != NULL, "an empty tree");
	free(c);
	f = sig_functions(&r, &s, NULL);
	ok(f != NULL, "has no functions");
	free(f);
	stacks_free(&s);
	add(&s, "a;b", 100, 1000);
	s.sum[0] = 100;
	free(s.self[1]); /* one column */
	s.self[1] = NULL;
	c = assessed(&r, &s);
	ok(c[1].z == c[2].z, "one column");
	free(c);
	stacks_free(&s);
}

/* A chain of functions that are all new over many stacks: work is bounded. */
static void deep(void)
{
	struct stacks s = { 0 };
	struct sig_rule r = rule(0, 0, true);
	struct sig_change *c;
	uint32_t node = 0;
	char name[32];

	for (int i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		node = stacks_child(&s, node, stacks_frame(&s, str_of(name)));
		stacks_add(&s, node, 1, 1);
	}
	stacks_add(&s, stacks_child(&s, 0, stacks_frame(&s, STR("other"))), 0, 300000);
	c = assessed(&r, &s);
	ok(c[1].why == SIG_CHANGED, "300 000 new functions in one stack");
	free(c);
	stacks_free(&s);
}

int main(void)
{
	pairs();
	edges();
	moved(true);
	moved(false);
	functions();
	deep();
	return done();
}
