/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/report.h"

#include "fold/names/names.h"

#include <stdlib.h>

static int descending(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

static double report_percent(uint64_t part, uint64_t complete)
{
	return complete ? 100.0 * (double)part / (double)complete : 0;
}

/* ---- call tree ---------------------------------------------------------------------------------------------- */

/* Maximum number of nested branches that are drawn; lines of deeper branches are not indented further. */
#define TREE_BRANCHES 200

struct callee {
	uint32_t parent, node;
	uint64_t total;
	/* sort keys of siblings: first `rank`, then `tie`, both descending; siblings with equal keys are sorted by
	 * `name` */
	uint64_t rank, tie;
	struct str name;
};

struct tree {
	const struct stacks *stacks;
	struct callee *callee; /* callees to be shown: grouped by caller, siblings in output order */
	uint32_t ncallees;
	/* first: by node, index in `callee` of the first callee of the node. next: by node, index in `callee` of the
	 * next callee to be written */
	uint32_t *first, *next;
	uint32_t *nshown;         /* by node: number of callees to be shown */
	uint32_t *nsmall;         /* by node: number of callees whose total weight is below `least` */
	uint64_t *small;          /* by node: sum of the total weights of its callees below `least` */
	uint64_t *total;          /* by node: total weight */
	bool more[TREE_BRANCHES]; /* by branch, outermost first: true if a sibling follows, drawn as "|" */
	double least;             /* smallest total weight of a callee that is shown */
	unsigned depth;           /* number of nested branches at the line that is being written */
};

static int callee_cmp(const void *left, const void *right)
{
	const struct callee *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->rank != b->rank)
		return descending(a->rank, b->rank);
	if (a->tie != b->tie)
		return descending(a->tie, b->tie);
	return str_cmp(a->name, b->name);
}

static void select_callees(struct tree *tree, enum sortkeys_order order)
{
	const struct stacks *stacks = tree->stacks;

	for (uint32_t id = 1; id < stacks->n; id++) {
		uint32_t parent = stacks->node[id].parent;

		if ((double)tree->total[id] < tree->least || tree->total[id] == 0) {
			tree->nsmall[parent] += tree->total[id] > 0;
			tree->small[parent] += tree->total[id];
			continue;
		}
		tree->nshown[parent]++;
		tree->callee[tree->ncallees++] = (struct callee){
			.parent = parent,
			.node = id,
			.total = tree->total[id],
			.rank = order == SORT_BY_NAME ? 0 :
				order == SORT_BY_SELF ? stacks->self[0][id] :
							tree->total[id],
			.tie = order == SORT_BY_SELF ? tree->total[id] : 0,
			.name = intern_str(&stacks->frames, stacks->node[id].frame),
		};
	}
	qsort(tree->callee, tree->ncallees, sizeof(*tree->callee), callee_cmp);
	for (uint32_t i = tree->ncallees; i > 0; i--)
		tree->first[tree->callee[i - 1].parent] = i - 1;
	memcpy(tree->next, tree->first, stacks->n * sizeof(*tree->next));
}

/* Writes the start of a line: total and self weight in percent, then "|" or a blank for each open branch. is_branch:
 * true if the line begins the innermost branch, drawn as "+-". */
static void tree_line(struct out *out, const struct tree *tree, uint64_t total, uint64_t self, bool is_branch)
{
	uint64_t sum = stacks_sum(tree->stacks, 0);
	unsigned depth = tree->depth < TREE_BRANCHES ? tree->depth : TREE_BRANCHES;

	out_printf(out, "%6.2f%% %6.2f%%  ", report_percent(total, sum), report_percent(self, sum));
	for (unsigned i = 0; i + is_branch < depth; i++)
		out_str(out, tree->more[i] ? STR("| ") : STR("  "));
	if (is_branch && depth)
		out_str(out, STR("+-"));
}

/* Returns true if one line stands for all callees of the node that are below `least`: their sum reaches `least`.
 * Returns false if no line shows these callees. */
static bool shows_small(const struct tree *tree, uint32_t node)
{
	return tree->nsmall[node] && (double)tree->small[node] >= tree->least;
}

/* Returns true if the lines directly below the node are drawn as branches: there is more than one line. Returns false
 * if there is one or none, which needs no indentation. */
static bool has_branches(const struct tree *tree, uint32_t node)
{
	return tree->nshown[node] + shows_small(tree, node) > 1;
}

/* Opens a branch for a line below `node`, if the node has branches. is_last: true if no sibling follows the line. */
static void tree_branch(struct tree *tree, uint32_t node, bool is_last)
{
	if (!has_branches(tree, node))
		return;
	if (tree->depth < TREE_BRANCHES)
		tree->more[tree->depth] = !is_last;
	tree->depth++;
}

static void tree_small(struct out *out, struct tree *tree, uint32_t node)
{
	if (!shows_small(tree, node))
		return;
	tree_branch(tree, node, true);
	tree_line(out, tree, tree->small[node], 0, has_branches(tree, node));
	out_printf(out, "(%u smaller)\n", tree->nsmall[node]);
	tree->depth -= has_branches(tree, node);
}

static void tree_enter(struct out *out, struct tree *tree, const struct callee *callee, bool is_last)
{
	uint32_t parent = callee->parent;

	tree_branch(tree, parent, is_last && !shows_small(tree, parent));
	tree_line(out, tree, callee->total, tree->stacks->self[0][callee->node], has_branches(tree, parent));
	out_visible(out, names_shown(callee->name));
	if (names_dso(callee->name).n) {
		out_printf(out, "  ");
		out_visible(out, names_dso(callee->name));
	}
	out_char(out, '\n');
}

/* Writes all lines of the tree, callers before callees. There is no recursion, because a stack may have a million
 * frames. */
static void tree_write(struct out *out, struct tree *tree)
{
	const struct stacks *stacks = tree->stacks;
	uint32_t node = 0;

	for (;;) {
		uint32_t at = tree->next[node];

		if (at < tree->first[node] + tree->nshown[node]) {
			tree->next[node]++;
			tree_enter(out, tree, &tree->callee[at], at + 1 == tree->first[node] + tree->nshown[node]);
			node = tree->callee[at].node;
			continue;
		}
		tree_small(out, tree, node);
		if (!node)
			return;
		node = stacks->node[node].parent;
		tree->depth -= has_branches(tree, node);
	}
}

void report_tree(struct out *out, const struct stacks *stacks, double percent, enum sortkeys_order order)
{
	struct tree tree = { .stacks = stacks };
	uint32_t n = stacks->n;

	out_printf(out, "%7s %7s  %s\n", "total", "self", "frame");
	if (!n)
		return;
	tree.callee = mem_alloc(sizeof(*tree.callee), n);
	tree.first = mem_alloc(sizeof(*tree.first), n);
	tree.next = mem_alloc(sizeof(*tree.next), n);
	tree.nshown = mem_alloc(sizeof(*tree.nshown), n);
	tree.nsmall = mem_alloc(sizeof(*tree.nsmall), n);
	tree.small = mem_alloc(sizeof(*tree.small), n);
	tree.total = stacks_totals(stacks, 0);
	tree.least = percent / 100 * (double)stacks_sum(stacks, 0);
	select_callees(&tree, order);
	tree_write(out, &tree);
	free(tree.callee);
	free(tree.first);
	free(tree.next);
	free(tree.nshown);
	free(tree.nsmall);
	free(tree.small);
	free(tree.total);
}

/* ---- table of events ---------------------------------------------------------------------------------------- */

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

/* ---- merging of small subtrees (--min-samples) ------------------------------------------------------------------- */

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
		/* Cannot overflow: all weights come from `from`. */
		stacks_add(stacks, node[id], 0, from->self[0][id]);
	}
	free(node);
	free(folded);
	free(total);
}
