/* stacks_test - the weighted call tree. */
/* covers: common/stacks.c */
#include "common/stacks.h"

#include "test/lib/tap.h"

#include <stdlib.h>

static uint32_t stack3(struct stacks *stacks, const char *a, const char *b, const char *c)
{
	uint32_t node = stacks_child(stacks, 0, stacks_frame(stacks, str_of(a)));

	if (b)
		node = stacks_child(stacks, node, stacks_frame(stacks, str_of(b)));
	if (c)
		node = stacks_child(stacks, node, stacks_frame(stacks, str_of(c)));
	return node;
}

static unsigned depth_of(const struct stacks *stacks, uint32_t node)
{
	unsigned depth = 0;

	for (; node; node = stacks->node[node].parent)
		depth++;
	return depth;
}

/* "1a 2b 2c ..." : depth and frame in order */
static struct str order_text(const struct stacks *stacks)
{
	static char text[4096];
	uint32_t *order = stacks_order(stacks);
	size_t n = 0;

	for (uint32_t i = 0; i + 1 < stacks->n; i++) {
		struct str frame = intern_str(&stacks->frames, stacks->node[order[i]].frame);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u%.*s ", depth_of(stacks, order[i]), (int)frame.n,
				      frame.p);
	}
	free(order);
	return (struct str){ text, n };
}

static void tree(void)
{
	struct stacks s = { 0 }, t = { 0 };
	uint64_t *total;
	uint32_t *order, abc, ab, a;

	total = stacks_totals(&s, 0);
	order = stacks_order(&s);
	ok(total && order, "totals and order of an empty tree");
	free(total);
	free(order);
	is_u64(stacks_sum(&s, 0), 0, "an empty tree weighs nothing");

	abc = stack3(&s, "a", "b", "c");
	ab = stack3(&s, "a", "b", NULL);
	a = stack3(&s, "a", NULL, NULL);
	is_u64(stack3(&s, "a", "b", "c"), abc, "the same stack is the same node");
	is_u64(s.n, 4, "three frames and the root");
	ok(a < ab && ab < abc, "a parent's number is smaller");
	ok(stacks_add(&s, abc, 0, 5) && stacks_add(&s, ab, 0, 2) && stacks_add(&s, abc, 0, 1), "weights");
	ok(stacks_add(&s, stack3(&s, "z", NULL, NULL), 0, 10), "weight");
	total = stacks_totals(&s, 0);
	ok(total[abc] == 6 && total[ab] == 8 && total[a] == 8 && total[0] == 18, "totals include what is below");
	is_u64(stacks_sum(&s, 0), 18, "sum");
	free(total);
	ok(s.self[1] == NULL && stacks_sum(&s, 1) == 0, "the second column is not there until it is needed");
	total = stacks_totals(&s, 1);
	is_u64(total[0], 0, "its totals are zero");
	free(total);
	ok(stacks_add(&s, 0, 1, 3) && stacks_sum(&s, 1) == 3, "the root can have weight, the second column appears");

	/* the same stacks in another order */
	stack3(&t, "z", NULL, NULL);
	stack3(&t, "a", "b", "c");
	is_str(order_text(&t), order_text(&s), "order does not depend on how the tree was built");
	stack3(&s, "a", "b.cold", NULL);
	stack3(&s, "a", "b.cold", "x");
	stack3(&s, "a", "b", "zz");
	stack3(&s, "a", "", "x");
	is_str(order_text(&s), STR("1a 2 3x 2b 3c 3zz 2b.cold 3x 1z "),
	       "depth first, siblings by bytes; foo.cold does not split foo");
	stacks_free(&t);
	stacks_free(&s);
	is_u64(s.n, 0, "free leaves an empty tree");
}

static void limits(void)
{
	struct stacks s = { 0 }, t = { 0 };
	uint32_t a = stack3(&s, "a", NULL, NULL), b = stack3(&s, "b", NULL, NULL);

	ok(stacks_add(&s, a, 0, INT64_MAX), "2^63-1 fits");
	ok(!stacks_add(&s, b, 0, 1), "one more on another stack does not");
	ok(s.self[0][b] == 0 && stacks_sum(&s, 0) == INT64_MAX, "and changes nothing");
	ok(stacks_add(&s, b, 0, 0), "zero always fits");
	ok(stacks_add(&s, b, 1, 7), "columns are counted apart");
	ok(!stacks_add(&s, b, 1, UINT64_MAX), "a sum that wraps is noticed");
	ok(!stacks_add(&s, b, 1, (uint64_t)INT64_MAX + 1), "2^63 is too much by itself");
	stacks_add(&t, stack3(&t, "b", NULL, NULL), 0, 1);
	ok(!stacks_merge(&s, &t), "merge says when the sum is too much");
	stacks_free(&s);
	stacks_free(&t);
}

static void merging(void)
{
	struct stacks a = { 0 }, b = { 0 }, none = { 0 };

	stacks_add(&a, stack3(&a, "x", "y", NULL), 0, 1);
	stacks_add(&b, stack3(&b, "q", NULL, NULL), 0, 5);
	stacks_add(&b, stack3(&b, "x", "y", "z"), 0, 2);
	stacks_add(&b, stack3(&b, "x", "y", NULL), 1, 9);
	ok(stacks_merge(&a, &none) && stacks_sum(&a, 0) == 1, "merge with nothing");
	ok(stacks_merge(&none, &a) && stacks_sum(&none, 0) == 1, "merge into nothing");
	ok(stacks_merge(&a, &b), "merge");
	is_str(order_text(&a), STR("1q 1x 2y 3z "), "merge: all stacks");
	ok(a.self[0][stack3(&a, "x", "y", NULL)] == 1 && a.self[0][stack3(&a, "x", "y", "z")] == 2, "merge: weights");
	ok(a.self[1][stack3(&a, "x", "y", NULL)] == 9 && stacks_sum(&a, 1) == 9, "merge: the second column, too");
	is_u64(stacks_sum(&a, 0), 8, "merge: sum");
	stacks_free(&a);
	stacks_free(&b);
	stacks_free(&none);
}

/* Two million deep and a hundred thousand wide: nothing recurses, nothing is quadratic. */
static void large(void)
{
	struct stacks s = { 0 };
	uint32_t node = 0, *order;
	uint64_t *total;
	bool sorted = true;
	char name[32];

	for (unsigned i = 0; i < 2000000; i++)
		node = stacks_child(&s, node, stacks_frame(&s, i & 1 ? STR("f") : STR("g")));
	stacks_add(&s, node, 0, 3);
	order = stacks_order(&s);
	total = stacks_totals(&s, 0);
	ok(total[0] == 3 && order[0] == 1 && order[1999999] == node, "a stack of 2 million frames");
	free(order);
	free(total);
	stacks_free(&s);

	for (unsigned i = 100000; i-- > 0;) {
		snprintf(name, sizeof(name), "%06u", i);
		stacks_add(&s, stacks_child(&s, 0, stacks_frame(&s, str_of(name))), 0, 1);
	}
	order = stacks_order(&s);
	for (uint32_t i = 0; i < 100000; i++)
		sorted = sorted && order[i] == 100000 - i;
	ok(sorted && stacks_sum(&s, 0) == 100000, "100 000 siblings, in reverse");
	free(order);
	stacks_free(&s);
}

static void add_in_time(struct stacks *stacks, const char *path, uint64_t weight)
{
	struct str rest = str_of(path);
	uint32_t node = 0;

	while (rest.n)
		node = stacks_child(stacks, node, stacks_frame(stacks, str_cut(&rest, ';')));
	stacks_add(stacks, node, 0, weight);
}

static void test_in_time(void)
{
	static const struct {
		const char *path;
		uint64_t weight;
	} line[] = { { "a;b", 1 }, { "a", 2 },   { "a;b", 3 }, { "a;b", 4 },
		     { "c", 0 },   { "a;b", 5 }, { "c", 6 },   { "a;b", 7 } };
	static const uint64_t want[] = { 1, 2, 12, 6, 7 };
	struct stacks s = { .in_time = true };
	struct stacks_moment *moment;
	size_t n;
	bool good = true;

	for (size_t i = 0; i < countof(line); i++)
		add_in_time(&s, line[i].path, line[i].weight);
	moment = stacks_moments(&s, &n);
	is_u64(n, 5, "in time: equal neighbours are one, nothing else is");
	for (size_t i = 0; i < n && i < 5; i++)
		good = good && moment[i].weight == want[i];
	ok(good, "in time: in their order");
	is_u64(stacks_sum(&s, 0), 28, "in time: nothing is lost");
	is_u64(stacks_find(&s, 0, stacks_frame(&s, STR("a"))), 0, "in time: nothing is found");
	free(moment);
	stacks_free(&s);
	s = (struct stacks){ .in_time = true };
	moment = stacks_moments(&s, &n);
	is_u64(n, 0, "in time: of nothing");
	free(moment);
	stacks_free(&s);
}

/* A tree that has a root and no table yet. */
static void columns_swapped(void)
{
	struct stacks s = { 0 };
	uint32_t frame[2], node;

	ok(stacks_find(&s, 0, 1) == 0, "nothing is found in nothing");
	stacks_swap(&s);
	frame[0] = stacks_frame(&s, STR("a"));
	frame[1] = stacks_frame(&s, STR("b"));
	stacks_expect(&s, 0, frame, 2);
	ok(stacks_find(&s, 0, frame[0]) == 0, "nor in a root");
	node = stacks_child(&s, stacks_child(&s, 0, frame[0]), frame[1]);
	ok(stacks_find(&s, 1, frame[1]) == node && stacks_find(&s, 0, frame[1]) == 0,
	   "a node is found under its caller only");
	stacks_add(&s, node, 0, 5);
	stacks_swap(&s);
	ok(s.self[1][node] == 5 && s.sum[1] == 5 && s.self[0][node] == 0 && s.sum[0] == 0, "columns change places");
	stacks_free(&s);
}

static struct str renamed(const char *const *stack, int n)
{
	struct stacks s = { 0 };
	struct intern names = { 0 };
	static char text[4096];
	uint32_t frame[8] = { 0 };
	uint64_t *total;
	size_t len;

	for (int i = 0; i < n; i++)
		stacks_add(&s, stack3(&s, stack[3 * i], stack[3 * i + 1], stack[3 * i + 2]), 0, (uint64_t)1 << i);
	for (uint32_t f = 1; f <= s.frames.n; f++) /* without its digit */
		frame[f] = intern(&names, str_head(intern_str(&s.frames, f), 1));
	stacks_rename(&s, &names, frame);
	len = (size_t)snprintf(text, sizeof(text), "%.*s", (int)order_text(&s).n, order_text(&s).p);
	total = stacks_totals(&s, 0);
	for (uint32_t id = 0; id < s.n; id++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%llu ", (unsigned long long)total[id]);
	stack3(&s, "a", "b", NULL);
	snprintf(text + len, sizeof(text) - len, "%u", s.n);
	free(total);
	stacks_free(&s);
	return str_of(text);
}

static void renaming(void)
{
	static const char *const helper[] = { "a1", "b2", NULL, "b2", "a1", "c" };
	static const char *const equal[] = { "a1", "b2", "c", "x", "y", NULL, "a2", "b2", "c", "a2", "b2", "d" };
	is_str(renamed(helper, 2), STR("1a 2b 1b 2a 3c 3 1 1 2 2 2 6"),
	       "renamed: none becomes equal, and all are found");
	is_str(renamed(equal, 4), STR("1a 2b 3c 3d 1x 2y 15 13 13 5 2 2 8 7"),
	       "renamed: equal ones are one, with all below");
}

/* Few of many become equal: nodes move to where they stay. */
static void renaming_few(void)
{
	struct stacks s = { 0 };
	struct intern names = { 0 };
	uint32_t frame[64] = { 0 }, a, b;
	char name[2] = "A";

	stacks_add(&s, stack3(&s, "a1", "b", NULL), 0, 1);
	stacks_add(&s, stack3(&s, "a2", "b", NULL), 0, 2);
	stacks_add(&s, stack3(&s, "a2", NULL, NULL), 1, 4);
	for (; *name <= 'Z'; ++*name)
		stacks_add(&s, stack3(&s, name, "b", NULL), 0, 8);
	for (uint32_t f = 1; f <= s.frames.n; f++)
		frame[f] = intern(&names, str_head(intern_str(&s.frames, f), 1));
	stacks_rename(&s, &names, frame);
	is_u64(s.n, 1 + 2 + 2 * 26, "few renamed: those are one");
	a = stack3(&s, "a", NULL, NULL);
	b = stack3(&s, "a", "b", NULL);
	ok(s.self[0][b] == 3 && s.self[0][a] == 0 && s.self[1][a] == 4 && s.self[1][b] == 0,
	   "few renamed: their weights are added");
	b = stack3(&s, "Z", "b", NULL);
	ok(s.n == 1 + 2 + 2 * 26 && b == s.n - 1 && s.self[0][b] == 8 && s.self[1][b] == 0 &&
		   stacks_sum(&s, 0) == 3 + 26 * 8,
	   "few renamed: the others moved with theirs");
	stacks_free(&s);
}

int main(void)
{
	tree();
	limits();
	merging();
	large();
	test_in_time();
	columns_swapped();
	renaming();
	renaming_few();
	return done();
}
