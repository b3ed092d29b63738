/* SPDX-License-Identifier: Apache-2.0 */
#include "foldedpath.h"

#include "arena.h"
#include "str.h"

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

/* How far the texts are the same. */
static size_t common_bytes(const char *a, const char *b, size_t max)
{
	size_t same = 0;

	while (same + 64 <= max && memcmp(a + same, b + same, 64) == 0)
		same += 64;
	while (same + 8 <= max && memcmp(a + same, b + same, 8) == 0)
		same += 8;
	while (same < max && a[same] == b[same])
		same++;
	return same;
}

static struct path_step *path_step(struct path *p)
{
	if (unlikely(p->nsteps == p->steps_cap)) {
		p->steps_cap = p->steps_cap ? p->steps_cap * 2 : 256;
		p->step = mem_grow(p->step, sizeof(*p->step), p->steps_cap);
	}
	return &p->step[p->nsteps++];
}

/* The byte of a frame that ends before end or at a ';', or -1. */
static int byte_before(const char *p, size_t i, size_t end)
{
	return i < end && p[i] != ';' ? (unsigned char)p[i] : -1;
}

/* Does the frame of stack at `at` come behind its siblings before? The texts are the same up to `same`. */
static bool follows(const struct path *p, struct str stack, size_t at, size_t same)
{
	const struct path_step *before = &p->step[p->nsteps];
	struct str rest = str_from(stack, at);

	if (before->last == before->node)
		return byte_before(stack.p, same, stack.n) > byte_before(p->text, same, before->end);
	return str_cmp(str_cut(&rest, ';'), intern_str(&p->s->frames, p->s->node[before->last].frame)) > 0;
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
		if (name.n <= rest.n && (name.n == rest.n || rest.p[name.n] == ';') && memcmp(name.p, rest.p, name.n) == 0)
			return p->cursor++;
		if (str_cmp(name, str_cut(&tail, ';')) > 0)
			break;
	}
	return 0;
}

static uint32_t path_go_along(struct path *p, uint32_t node, struct str stack, size_t at)
{
	while (at <= stack.n) {
		struct str rest = str_from(stack, at), frame;
		uint32_t known = node < p->base ? path_along(p, node, rest) : 0;

		if (known) {
			frame = intern_str(&p->s->frames, p->s->node[known].frame);
			node = known;
		} else {
			frame = str_cut(&rest, ';');
			node = stacks_append(p->s, node, stacks_frame(p->s, frame));
		}
		at += frame.n;
		*path_step(p) = (struct path_step){ at++, node, node };
	}
	return node;
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

uint32_t path_to(struct path *p, struct str stack)
{
	size_t same = common_bytes(p->text, stack.p, stack.n < p->n ? stack.n : p->n), nsteps = p->nsteps, at;
	uint32_t node;

	/* a step counts only if its frame ends in both texts */
	while (p->nsteps) {
		size_t end = p->step[p->nsteps - 1].end;

		if (end <= same && (end == stack.n || stack.p[end] == ';'))
			break;
		p->nsteps--;
	}
	at = p->nsteps ? p->step[p->nsteps - 1].end + 1 : 0;
	node = p->nsteps ? p->step[p->nsteps - 1].node : 0;
	if (p->nsteps < p->loose)
		p->loose = SIZE_MAX;
	if (p->along && p->nsteps < nsteps && p->loose == SIZE_MAX) {
		if (at > stack.n)
			p->loose = p->nsteps; /* back to a caller: what it calls next may be there */
		else if (!follows(p, stack, at, same))
			p->loose = p->nsteps + 1;
		p->in_order = p->in_order && p->loose == SIZE_MAX;
	}
	node = (p->along && p->loose == SIZE_MAX ? path_go_along : path_go)(p, node, stack, at);
	if (stack.n > p->cap) {
		p->cap = stack.n * 2;
		p->text = mem_grow(p->text, 1, p->cap);
	}
	if (stack.n)
		memcpy(p->text + same, stack.p + same, stack.n - same);
	p->n = stack.n;
	return node;
}

void path_end(struct path *p)
{
	if (p->along && p->in_order && p->base == 1)
		p->s->sorted = p->s->n;
	free(p->text);
	free(p->step);
	free(p->frame);
}
