/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jvm/inlinetree.h"

#include "common/formats/jmapfile.h"

/* Maximum depth of inlined calls in a result. HotSpot's MaxInlineLevel is 15. */
#define DEPTH_MAX 256

struct inlinetree {
	uint32_t n, nruns;
	struct node {
		uint32_t parent, name;
		/* Cached result of inlinetree_at() for this node; NULL before the first lookup. */
		struct jit_code *code;
	} * node;
	struct run {
		/* Last offset of the address range of `node`, in bytes from the start of the blob's code. */
		uint64_t end;
		uint32_t node;
	} * run;
};

static bool parse_nodes(struct inlinetree *tree, struct str *rest, uint64_t nnames)
{
	uint64_t parent, name;

	for (uint32_t i = 1; i < tree->n; i++) {
		if (!jmap_get(rest, &parent) || parent >= i || !jmap_get(rest, &name) || name >= nnames)
			return false;
		tree->node[i] = (struct node){ (uint32_t)parent, (uint32_t)name, NULL };
	}
	return true;
}

static bool parse_runs(struct inlinetree *tree, struct str *rest)
{
	uint64_t delta, node, end = 0;

	for (uint32_t i = 0; i < tree->nruns; i++) {
		if (!jmap_get(rest, &delta) || delta > UINT64_MAX - end || !jmap_get(rest, &node) || node >= tree->n)
			return false;
		end += delta;
		tree->run[i] = (struct run){ end, (uint32_t)node };
	}
	return true;
}

const char *inlinetree_parse(struct arena *arena, struct str body, uint64_t nnames, struct inlinetree **result)
{
	struct inlinetree *tree = arena_new(arena, struct inlinetree, 1);
	uint64_t n, nruns;

	/* An element has at least two bytes, so a count above body.n / 2 is an error. */
	if (!jmap_get(&body, &n) || n > body.n / 2)
		return "too many inlined calls";
	tree->n = (uint32_t)n + 1;
	tree->node = arena_new(arena, struct node, n + 1);
	if (!parse_nodes(tree, &body, nnames) || !jmap_get(&body, &nruns) || nruns > body.n / 2)
		return "invalid inlined calls";
	tree->nruns = (uint32_t)nruns;
	tree->run = arena_new(arena, struct run, nruns + 1);
	if (!parse_runs(tree, &body))
		return "invalid inlined calls";
	*result = tree;
	return body.n ? "bytes after inlined calls" : NULL;
}

/* Returns the node of the innermost call inlined at an offset in bytes from the start of the blob's code; 0 if no call
 * is inlined there. */
static uint32_t node_at(const struct inlinetree *tree, uint64_t offset)
{
	size_t low = 0, high = tree->nruns;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->run[middle].end < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->nruns ? tree->run[low].node : 0;
}

/* Sets node[node].code to a copy of the blob's code, with the names of the calls from the compiled method down to this
 * node. node: not 0. */
static void make_code(struct inlinetree *tree, uint32_t node, const struct jit_code *code, const struct str *names,
		      struct arena *arena)
{
	struct node *at = &tree->node[node];
	uint32_t chain[DEPTH_MAX], n = 0;
	struct text text = { 0 };

	do {
		chain[n++] = tree->node[node].name;
		node = tree->node[node].parent;
	} while (node && n < DEPTH_MAX);
	/* The list ends before a call without a name: that call, and the calls inlined into it, are left out. */
	while (n-- && names[chain[n]].n) {
		if (text.n)
			text_char(&text, 0);
		text_str(&text, names[chain[n]]);
	}
	at->code = arena_new(arena, struct jit_code, 1);
	*at->code = *code;
	at->code->inlined = arena_copy(arena, text_view(&text));
	text_free(&text);
}

const struct jit_code *inlinetree_at(struct inlinetree *tree, const struct jit_code *code, uint64_t offset,
				     const struct str *names, struct arena *arena)
{
	uint32_t node = tree ? node_at(tree, offset) : 0;

	if (!node)
		return code;
	if (!tree->node[node].code)
		make_code(tree, node, code, names, arena);
	return tree->node[node].code;
}
