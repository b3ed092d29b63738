/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/maps.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

/* By start, with the highest priority on top: priorities nobody can foresee keep the tree flat, whatever the order of
 * the maps. */
struct maps_node {
	struct map map;
	struct maps_node *left, *right;
	uint32_t refs, priority;
};

static struct maps_node *node_new(struct map map)
{
	struct maps_node *n = mem_alloc(sizeof(*n), 1);

	*n = (struct maps_node){ .map = map, .refs = 1 };
	n->priority = (uint32_t)hash_number((uintptr_t)n);
	return n;
}

/* Takes a reference, gives one to a node that nobody else sees. */
static struct maps_node *maps_own(struct maps_node *n)
{
	struct maps_node *copy;

	if (n->refs == 1)
		return n;
	copy = mem_alloc(sizeof(*copy), 1);
	*copy = *n;
	copy->refs = 1;
	if (n->left)
		n->left->refs++;
	if (n->right)
		n->right->refs++;
	n->refs--;
	return copy;
}

static void maps_drop(struct maps_node *n)
{
	while (n) {
		struct maps_node *left = n->left, *right = n->right;

		if (n->refs > 1) {
			n->refs--;
			return;
		}
		if (!left) {
			free(n);
			n = right;
		} else if (left->refs > 1) {
			left->refs--;
			n->left = NULL;
		} else { /* goes first, with n behind it */
			n->left = left->right;
			left->right = n;
			n = left;
		}
	}
}

/* Into what starts before `at` and what does not. */
static void maps_split(struct maps_node *n, uint64_t at, struct maps_node **before, struct maps_node **after)
{
	while (n) {
		n = maps_own(n);
		if (n->map.start < at) {
			*before = n;
			before = &n->right;
			n = n->right;
		} else {
			*after = n;
			after = &n->left;
			n = n->left;
		}
	}
	*before = *after = NULL;
}

/* All of a lies before b. */
static struct maps_node *maps_join(struct maps_node *a, struct maps_node *b)
{
	struct maps_node *root, **link = &root;

	while (a && b) {
		if (a->priority > b->priority) {
			a = maps_own(a);
			*link = a;
			link = &a->right;
			a = a->right;
		} else {
			b = maps_own(b);
			*link = b;
			link = &b->left;
			b = b->left;
		}
	}
	*link = a ? a : b;
	return root;
}

static const struct map *last_of(const struct maps_node *n)
{
	while (n && n->right)
		n = n->right;
	return n ? &n->map : NULL;
}

static void maps_cut_last(struct maps_node **n, uint64_t end)
{
	for (; *n; n = &(*n)->right) {
		*n = maps_own(*n);
		if (!(*n)->right)
			(*n)->map.end = end;
	}
}

void maps_insert(struct maps *m, struct map new)
{
	struct maps_node *before, *covered, *after;
	const struct map *last;
	struct map rest = { 0 }; /* what sticks out behind */

	maps_split(m->root, new.start, &before, &covered);
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
	m->root = maps_join(before, after);
}

const struct map *maps_find(const struct maps *m, uint64_t ip)
{
	const struct maps_node *n = m->root, *found = NULL;

	while (n) {
		if (n->map.start <= ip) {
			found = n;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return found && ip < found->map.end ? &found->map : NULL;
}

struct maps maps_copy(const struct maps *m)
{
	if (m->root)
		m->root->refs++;
	return *m;
}

void maps_free(struct maps *m)
{
	maps_drop(m->root);
	m->root = NULL;
}
