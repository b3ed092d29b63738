/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/maps.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

/* Node of a treap: a search tree by start of the mapping, whose nodes have a higher priority than their children. The
 * priorities are hashes with a secret, so no order of mappings makes the tree deep. */
struct maps_node {
	struct map map;
	struct maps_node *left, *right;
	uint32_t refs, priority;
};

static struct maps_node *node_new(struct map map)
{
	struct maps_node *node = mem_alloc(sizeof(*node), 1);

	*node = (struct maps_node){ .map = map, .refs = 1 };
	node->priority = (uint32_t)hash_number((uintptr_t)node);
	return node;
}

/* Makes a node changeable: returns `node` itself if nothing else refers to it; otherwise returns a copy of `node` and
 * drops one reference to `node`. */
static struct maps_node *maps_own(struct maps_node *node)
{
	struct maps_node *copy;

	if (node->refs == 1)
		return node;
	copy = mem_alloc(sizeof(*copy), 1);
	*copy = *node;
	copy->refs = 1;
	if (node->left)
		node->left->refs++;
	if (node->right)
		node->right->refs++;
	node->refs--;
	return copy;
}

static void maps_drop(struct maps_node *node)
{
	while (node) {
		struct maps_node *left = node->left, *right = node->right;

		if (node->refs > 1) {
			node->refs--;
			return;
		}
		if (!left) {
			free(node);
			node = right;
		} else if (left->refs > 1) {
			left->refs--;
			node->left = NULL;
		} else { /* rotates the tree, so that left is freed before its parent, without recursion */
			node->left = left->right;
			left->right = node;
			node = left;
		}
	}
}

/* Splits the tree at node into *before, the mappings that start before address `at`, and *after, the others. Takes over
 * the caller's reference to node. */
static void maps_split(struct maps_node *node, uint64_t at, struct maps_node **before, struct maps_node **after)
{
	while (node) {
		node = maps_own(node);
		if (node->map.start < at) {
			*before = node;
			before = &node->right;
			node = node->right;
		} else {
			*after = node;
			after = &node->left;
			node = node->left;
		}
	}
	*before = *after = NULL;
}

/* Joins two trees into one, and returns its root. All mappings of tree `node` must be before all mappings of tree b.
 * Takes over the caller's references to both trees. */
static struct maps_node *maps_join(struct maps_node *node, struct maps_node *b)
{
	struct maps_node *root, **link = &root;

	while (node && b) {
		if (node->priority > b->priority) {
			node = maps_own(node);
			*link = node;
			link = &node->right;
			node = node->right;
		} else {
			b = maps_own(b);
			*link = b;
			link = &b->left;
			b = b->left;
		}
	}
	*link = node ? node : b;
	return root;
}

static const struct map *last_of(const struct maps_node *node)
{
	while (node && node->right)
		node = node->right;
	return node ? &node->map : NULL;
}

static void maps_cut_last(struct maps_node **nodes, uint64_t end)
{
	for (; *nodes; nodes = &(*nodes)->right) {
		*nodes = maps_own(*nodes);
		if (!(*nodes)->right)
			(*nodes)->map.end = end;
	}
}

void maps_insert(struct maps *maps, struct map new)
{
	struct maps_node *before, *covered, *after;
	const struct map *last;
	struct map rest = { 0 }; /* part of an older mapping after the end of the new mapping */

	maps_split(maps->root, new.start, &before, &covered);
	maps_split(covered, new.end, &covered, &after);
	last = last_of(covered ? covered : before);
	if (last && last->end > new.end) {
		rest = *last;
		rest.start = new.end;
	}
	last = last_of(before);
	if (last && last->end > new.start)
		maps_cut_last(&before, new.start);
	maps_drop(covered);
	if (new.dso)
		before = maps_join(before, node_new(new));
	if (rest.end)
		before = maps_join(before, node_new(rest));
	maps->root = maps_join(before, after);
}

const struct map *maps_find(const struct maps *maps, uint64_t ip)
{
	const struct maps_node *node = maps->root, *found = NULL;

	while (node) {
		if (node->map.start <= ip) {
			found = node;
			node = node->right;
		} else {
			node = node->left;
		}
	}
	return found && ip < found->map.end ? &found->map : NULL;
}

struct maps maps_copy(const struct maps *maps)
{
	if (maps->root)
		maps->root->refs++;
	return *maps;
}

void maps_free(struct maps *maps)
{
	maps_drop(maps->root);
	maps->root = NULL;
}
