/* SPDX-License-Identifier: Apache-2.0 */
/* covers: svg/layout/change.c */
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include "common/formats/folded.h"
#include "svg/format/encode.h"

struct pair {
	struct stacks stacks;
	struct layout layout;
	struct change change;
};

static void add(struct pair *pair, const char *stack, uint64_t before, uint64_t after)
{
	uint32_t node = node_of(&pair->stacks, str_of(stack));

	stacks_add(&pair->stacks, node, 0, before);
	stacks_add(&pair->stacks, node, 1, after);
}

static void make(struct pair *pair, bool shares)
{
	struct sig_rule rule = {
		.z = 2, .points = .5, .relative = .01, .dispersion = 1, .shares = shares, .counted = true
	};

	rule.sum[0] = stacks_sum(&pair->stacks, 0);
	rule.sum[1] = stacks_sum(&pair->stacks, 1);
	layout_make(&pair->layout, &pair->stacks);
	change_make(&pair->change, &pair->layout, &pair->stacks, &rule, NULL);
}

static void clear(struct pair *pair)
{
	change_free(&pair->change);
	layout_free(&pair->layout);
	stacks_free(&pair->stacks);
}

/* Frame of the layout by its name; every name here is in one place. */
static uint32_t find(const struct pair *pair, const char *name)
{
	uint32_t i = 0;

	while (!str_eq(intern_str(&pair->stacks.frames, pair->layout.frame[i]), str_of(name)))
		i++;
	return i;
}

static void test_gone(void)
{
	struct pair p = { 0 };

	add(&p, "main;kept", 500, 500);
	add(&p, "main;old;inner", 60, 0);
	add(&p, "main;old", 40, 0);
	add(&p, "main;rare", 2, 0);
	add(&p, "main;fresh", 0, 100);
	make(&p, false);
	const struct change *c = &p.change;
	uint32_t top = find(&p, "main"), old = find(&p, "old"), inner = find(&p, "inner");

	is_u64(p.layout.n, 6, "what is gone keeps its place in the order");
	is_u64(p.layout.width[old], 0, "and has no width after");
	is_u64(p.layout.before[old], 100, "but before");
	is_u64(c->gone_width[old], 100, "it stands in the area of what is gone");
	is_u64(c->gone_width[inner], 60, "with all below it");
	is_u64(c->gone_width[top], 100, "below its caller");
	is_u64(c->gone_start[inner], 0, "at the left edge");
	is_u64(c->gone_sum, 100, "the area is as wide as what is surely gone");
	is_u64(c->unsure_sum, 2, "two samples prove nothing");
	is_u64(c->gone_width[find(&p, "rare")], 0, "and are not drawn");
	is_u64(c->gone_depth, 3, "rows of the area");
	is_u64(change_step(c, old), 0, "gone: most less");
	is_u64(change_step(c, find(&p, "kept")), 4, "unchanged: the middle");
	is_u64(change_step(c, find(&p, "fresh")), 8, "new: most more");
	ok(change_is_new(c, &p.layout, find(&p, "fresh")), "and new");
	ok(!change_is_new(c, &p.layout, find(&p, "kept")), "what was there is not new");
	ok(change_colour(c, 8, false) == 0xe2683a, "more is orange");
	p.change.negate = true;
	ok(change_colour(c, 8, false) == 0x5295dc, "unless colours are turned round");
	clear(&p);
}

/* The same share of a smaller total: counts say less, shares say nothing. */
static void test_ways(void)
{
	struct pair p = { 0 };

	add(&p, "a", 10000, 5000);
	add(&p, "b", 10000, 5000);
	make(&p, true);
	is_u64(change_step(&p.change, 0), 4, "shares");
	p.change.rule.shares = false;
	is_u64(change_step(&p.change, 0), 1, "counts: half is 30 to 60 % less");
	clear(&p);
}

static void test_verdict(void)
{
	struct pair p = { 0 };
	struct text t = { 0 };

	add(&p, "a", 1000, 1000);
	add(&p, "b", 0, 100);
	add(&p, "c", 100, 0);
	make(&p, false);
	encode_verdict(&t, &p.layout, p.change.assessed[CHANGE_COUNTS]);
	/* Digits: 1 is '!', 20 (new, level 4) '7', 28 (gone, level 4) 'A'; z = 10.0 is 100 = 12 + 2 * 44: '^' and '#'.
	 */
	is_str(text_view(&t), STR("!7^# A^#"), "VERDICT");
	text_free(&t);
	clear(&p);
}

static void test_nothing_after(void)
{
	struct pair p = { 0 };

	add(&p, "a;b", 1000, 0);
	make(&p, false);
	is_u64(p.layout.n, 2, "everything is gone");
	is_u64(p.change.gone_sum, 1000, "and drawn as such");
	clear(&p);
}

int main(void)
{
	test_gone();
	test_ways();
	test_verdict();
	test_nothing_after();
	return done();
}
