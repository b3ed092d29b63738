/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedpath.h"

#include "common/arena.h"
#include "common/str.h"

#include <stdlib.h>

void path_begin(struct path *p, struct stacks *s)
{
	*p = (struct path){ .s = s };
	p->along = !s->in_time && (s->n <= 1 || s->sorted == s->n);
	p->in_order = true;
	p->loose = SIZE_MAX;
	p->base = s->n ? s->n : 1;
	p->cursor = 1;
}

static struct path_step *path_step(struct path *p)
{
	if (unlikely(p->nsteps == p->steps_cap)) {
		p->steps_cap = p->steps_cap ? p->steps_cap * 2 : 256;
		p->step = mem_grow(p->step, sizeof(*p->step), p->steps_cap);
	}
	return &p->step[p->nsteps++];
}

static bool begins_with_frame(struct str rest, struct str name)
{
	return name.n <= rest.n && (name.n == rest.n || rest.p[name.n] == ';') && memcmp(name.p, rest.p, name.n) == 0;
}

/* Does the frame of stack at `at` come behind its siblings before? The stack before is the same up to `same`. */
static bool foldedpath_follows(const struct path *p, struct str stack, size_t at, size_t same)
{
	const struct path_step *before = &p->step[p->nsteps];
	struct str name = intern_str(&p->s->frames, p->s->node[before->last].frame), rest = str_from(stack, at);

	if (before->last == before->node && same - at < name.n && same < stack.n && stack.p[same] != ';')
		return (unsigned char)stack.p[same] > (unsigned char)name.p[same - at];
	return str_cmp(str_cut(&rest, ';'), name) > 0;
}

/* How many bytes stack and the stack before begin with alike, from the names of that. */
static size_t foldedpath_same_bytes(const struct path *p, struct str stack)
{
	size_t at = 0;

	for (size_t i = 0; i < p->nsteps && at <= stack.n; i++) {
		struct str rest = str_from(stack, at),
			   name = intern_str(&p->s->frames, p->s->node[p->step[i].node].frame);

		if (!begins_with_frame(rest, name))
			return at + str_common(rest, name);
		at = p->step[i].end + 1;
	}
	return at < stack.n ? at : stack.n;
}

/* The node of the base for the first frame of rest, or 0. Whoever calls for frames in order finds them further on. */
static uint32_t path_along(struct path *p, uint32_t parent, struct str rest)
{
	const struct stacks *s = p->s;

	for (; p->cursor < p->base; p->cursor++) {
		const struct stacks_node *node = &s->node[p->cursor];
		struct str name = intern_str(&s->frames, node->frame), tail = rest;

		if (node->parent < parent)
			break; /* past all that parent calls */
		if (node->parent > parent)
			continue; /* below what was passed */
		if (begins_with_frame(rest, name))
			return p->cursor++;
		if (str_cmp(name, str_cut(&tail, ';')) > 0)
			break;
	}
	return 0;
}

static void grow_guesses(struct path *p)
{
	uint32_t n = p->s->frames.n + p->s->frames.n / 2 + 64;

	p->guess = mem_grow(p->guess, sizeof(*p->guess), n);
	memset(p->guess + p->nguesses, 0, (n - p->nguesses) * sizeof(*p->guess));
	p->nguesses = n;
}

/* The first frame of rest, behind another one: its caller, or the sibling before. Likely the same as last time. */
static uint32_t path_frame(struct path *p, uint32_t after, bool is_sibling, struct str rest)
{
	struct intern *frames = &p->s->frames;
	uint32_t *guess;

	if (unlikely(after >= p->nguesses))
		grow_guesses(p);
	guess = is_sibling ? &p->guess[after].sibling : &p->guess[after].callee;
	if (*guess && begins_with_frame(rest, intern_str(frames, *guess)))
		return *guess;
	return *guess = intern(frames, str_cut(&rest, ';'));
}

/* What nothing in the tree calls yet. sibling: the frame before on the same level, 0: none. */
static uint32_t path_append(struct path *p, uint32_t node, uint32_t sibling, struct str stack, size_t at)
{
	struct stacks *s = p->s;
	uint32_t frame = sibling ? sibling : node ? s->node[node].frame : 0;

	while (at <= stack.n) {
		frame = path_frame(p, frame, sibling, str_from(stack, at));
		sibling = 0;
		node = stacks_append(s, node, frame);
		at += intern_str(&s->frames, frame).n;
		*path_step(p) = (struct path_step){ at++, node, node };
	}
	return node;
}

static uint32_t path_go_along(struct path *p, uint32_t node, uint32_t sibling, struct str stack, size_t at)
{
	const struct stacks *s = p->s;

	for (; node < p->base && p->base > 1 && at <= stack.n; sibling = 0) {
		uint32_t known = path_along(p, node, str_from(stack, at));

		if (!known)
			break;
		node = known;
		at += intern_str(&s->frames, s->node[node].frame).n;
		*path_step(p) = (struct path_step){ at++, node, node };
	}
	return path_append(p, node, sibling, stack, at);
}

static uint32_t path_go(struct path *p, uint32_t node, struct str stack, size_t at)
{
	size_t first = p->nsteps, n = 0;

	while (at <= stack.n) {
		struct str rest = str_from(stack, at), frame = str_cut(&rest, ';');

		if (n == p->frames_cap) {
			p->frames_cap = p->frames_cap ? p->frames_cap * 2 : 256;
			p->frame = mem_grow(p->frame, sizeof(*p->frame), p->frames_cap);
		}
		p->frame[n++] = stacks_frame(p->s, frame);
		path_step(p)->end = at + frame.n;
		at += frame.n + 1;
	}
	stacks_expect(p->s, node, p->frame, n);
	for (size_t i = 0; i < n; i++)
		p->step[first + i].node = node = stacks_child(p->s, node, p->frame[i]);
	return node;
}

uint32_t path_to(struct path *p, struct str stack, size_t same)
{
	size_t nsteps = p->nsteps, at = 0;
	uint32_t node = 0, sibling = 0;

	same = same == PATH_UNKNOWN ? foldedpath_same_bytes(p, stack) : same < stack.n ? same : stack.n;
	/* a step counts only if its frame ends in both texts */
	for (; p->nsteps; p->nsteps--) {
		const struct path_step *step = &p->step[p->nsteps - 1];

		if (step->end > same || (step->end < stack.n && stack.p[step->end] != ';'))
			continue;
		at = step->end + 1;
		node = step->node;
		break;
	}
	if (p->nsteps < p->loose)
		p->loose = SIZE_MAX;
	if (p->along && p->nsteps < nsteps && p->loose == SIZE_MAX) {
		if (at > stack.n)
			p->loose = p->nsteps; /* back to a caller: what it calls next may be there */
		else if (!foldedpath_follows(p, stack, at, same))
			p->loose = p->nsteps + 1;
		p->in_order = p->in_order && p->loose == SIZE_MAX;
		sibling = p->s->node[p->step[p->nsteps].node].frame;
	}
	if (p->along && p->loose == SIZE_MAX)
		return path_go_along(p, node, sibling, stack, at);
	return path_go(p, node, stack, at);
}

void path_end(struct path *p)
{
	if (p->along && p->in_order && p->base == 1)
		p->s->sorted = p->s->n;
	free(p->step);
	free(p->frame);
	free(p->guess);
}
