/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedpath.h"

#include "common/arena.h"
#include "common/str.h"

#include <stdlib.h>

void path_begin(struct path *path, struct stacks *stacks)
{
	*path = (struct path){ .s = stacks };
	path->along = !stacks->in_time && (stacks->n <= 1 || stacks->sorted == stacks->n);
	path->in_order = true;
	path->loose = SIZE_MAX;
	path->base = stacks->n ? stacks->n : 1;
	path->cursor = 1;
}

static struct path_step *path_step(struct path *path)
{
	if (unlikely(path->nsteps == path->steps_cap)) {
		path->steps_cap = path->steps_cap ? path->steps_cap * 2 : 256;
		path->step = mem_grow(path->step, sizeof(*path->step), path->steps_cap);
	}
	return &path->step[path->nsteps++];
}

static bool begins_with_frame(struct str rest, struct str name)
{
	return name.n <= rest.n && (name.n == rest.n || rest.p[name.n] == ';') && memcmp(name.p, rest.p, name.n) == 0;
}

/* Returns true if the frame at byte `at` of stack comes after all earlier siblings of this text in byte order. same:
 * length of the common prefix with the previous stack. */
static bool foldedpath_follows(const struct path *path, struct str stack, size_t at, size_t same)
{
	const struct path_step *before = &path->step[path->nsteps];
	struct str name = intern_str(&path->s->frames, path->s->node[before->last].frame), rest = str_from(stack, at);

	if (before->last == before->node && same - at < name.n && same < stack.n && stack.p[same] != ';')
		return (unsigned char)stack.p[same] > (unsigned char)name.p[same - at];
	return str_cmp(str_cut(&rest, ';'), name) > 0;
}

/* Returns the length in bytes of the common prefix of stack and the previous stack. Takes the frames of the previous
 * stack from path->step. */
static size_t foldedpath_same_bytes(const struct path *path, struct str stack)
{
	size_t at = 0;

	for (size_t i = 0; i < path->nsteps && at <= stack.n; i++) {
		struct str rest = str_from(stack, at),
			   name = intern_str(&path->s->frames, path->s->node[path->step[i].node].frame);

		if (!begins_with_frame(rest, name))
			return at + str_common(rest, name);
		at = path->step[i].end + 1;
	}
	return at < stack.n ? at : stack.n;
}

/* Returns the callee of parent with the first frame of rest, among the nodes that existed before this text; 0 if there
 * is none. Moves the cursor forward: frames are in order, so each search continues where the previous one ended. */
static uint32_t path_along(struct path *path, uint32_t parent, struct str rest)
{
	const struct stacks *stacks = path->s;

	for (; path->cursor < path->base; path->cursor++) {
		const struct stacks_node *node = &stacks->node[path->cursor];
		struct str name = intern_str(&stacks->frames, node->frame), remainder = rest;

		if (node->parent < parent)
			break; /* the cursor is after all callees of parent, so none matches */
		if (node->parent > parent)
			continue; /* skips nodes below an earlier callee of parent */
		if (begins_with_frame(rest, name))
			return path->cursor++;
		if (str_cmp(name, str_cut(&remainder, ';')) > 0)
			break;
	}
	return 0;
}

static void grow_guesses(struct path *path)
{
	uint32_t n = path->s->frames.n + path->s->frames.n / 2 + 64;

	path->guess = mem_grow(path->guess, sizeof(*path->guess), n);
	memset(path->guess + path->nguesses, 0, (n - path->nguesses) * sizeof(*path->guess));
	path->nguesses = n;
}

/* Returns the id of the first frame of rest, which follows frame `after` as its next sibling (is_sibling) or as its
 * callee. First tries the frame that followed `after` last time (path->guess), which saves most lookups. */
static inline uint32_t path_frame(struct path *path, uint32_t after, bool is_sibling, struct str rest)
{
	struct intern *frames = &path->s->frames;
	uint32_t *guess;

	if (unlikely(after >= path->nguesses))
		grow_guesses(path);
	guess = is_sibling ? &path->guess[after].sibling : &path->guess[after].callee;
	if (*guess && begins_with_frame(rest, intern_str(frames, *guess)))
		return *guess;
	return *guess = intern(frames, str_cut(&rest, ';'));
}

/* Appends nodes for the frames of stack from byte `at` on, below `node`. Returns the last one. sibling: frame of the
 * previous callee of node; 0: none. */
static uint32_t path_append(struct path *path, uint32_t node, uint32_t sibling, struct str stack, size_t at)
{
	struct stacks *stacks = path->s;
	uint32_t frame = sibling ? sibling : node ? stacks->node[node].frame : 0;

	while (at <= stack.n) {
		frame = path_frame(path, frame, sibling, str_from(stack, at));
		sibling = 0;
		node = stacks_append(stacks, node, frame);
		at += intern_str(&stacks->frames, frame).n;
		*path_step(path) = (struct path_step){ at++, node, node };
	}
	return node;
}

static uint32_t path_go_along(struct path *path, uint32_t node, uint32_t sibling, struct str stack, size_t at)
{
	const struct stacks *stacks = path->s;

	for (; node < path->base && path->base > 1 && at <= stack.n; sibling = 0) {
		uint32_t known = path_along(path, node, str_from(stack, at));

		if (!known)
			break;
		node = known;
		at += intern_str(&stacks->frames, stacks->node[node].frame).n;
		*path_step(path) = (struct path_step){ at++, node, node };
	}
	return path_append(path, node, sibling, stack, at);
}

/* Finds or appends nodes for the frames of stack from byte `at` on, below `node`. Returns the last one. sibling: frame
 * of the previous callee of node; 0: none. */
static uint32_t path_go(struct path *path, uint32_t node, uint32_t sibling, struct str stack, size_t at)
{
	const struct stacks *stacks = path->s;
	uint32_t frame = sibling ? sibling : node ? stacks->node[node].frame : 0;
	size_t first = path->nsteps, n = 0;

	for (; at <= stack.n; sibling = 0) {
		if (n == path->frames_cap) {
			path->frames_cap = path->frames_cap ? path->frames_cap * 2 : 256;
			path->frame = mem_grow(path->frame, sizeof(*path->frame), path->frames_cap);
		}
		frame = path_frame(path, frame, sibling, str_from(stack, at));
		path->frame[n++] = frame;
		at += intern_str(&stacks->frames, frame).n;
		path_step(path)->end = at++;
	}
	stacks_expect(stacks, node, path->frame, n);
	for (size_t i = 0; i < n; i++)
		path->step[first + i].node = node = stacks_child(path->s, node, path->frame[i]);
	return node;
}

uint32_t path_to(struct path *path, struct str stack, size_t same)
{
	size_t nsteps = path->nsteps, at = 0;
	uint32_t node = 0, sibling = 0;

	same = same == PATH_UNKNOWN ? foldedpath_same_bytes(path, stack) : same < stack.n ? same : stack.n;
	/* finds the last step whose frame ends at the same byte in both stacks */
	for (; path->nsteps; path->nsteps--) {
		const struct path_step *step = &path->step[path->nsteps - 1];

		if (step->end > same || (step->end < stack.n && stack.p[step->end] != ';'))
			continue;
		at = step->end + 1;
		node = step->node;
		break;
	}
	if (path->nsteps < path->loose)
		path->loose = SIZE_MAX;
	if (path->along && path->nsteps < nsteps && path->loose == SIZE_MAX) {
		if (at > stack.n)
			/* the stack is a prefix of the previous stack, so the next callee of its leaf may exist already
			 * and needs a lookup */
			path->loose = path->nsteps;
		else if (!foldedpath_follows(path, stack, at, same))
			path->loose = path->nsteps + 1;
		path->in_order = path->in_order && path->loose == SIZE_MAX;
	}
	if (path->nsteps < nsteps)
		sibling = path->s->node[path->step[path->nsteps].node].frame;
	if (path->along && path->loose == SIZE_MAX)
		return path_go_along(path, node, sibling, stack, at);
	return path_go(path, node, sibling, stack, at);
}

void path_end(struct path *path)
{
	if (path->along && path->in_order && path->base == 1)
		path->s->sorted = path->s->n;
	free(path->step);
	free(path->frame);
	free(path->guess);
}
