/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/profile.h"

#include <stdlib.h>

static void *grow_zeroed(void *p, size_t size, size_t from, size_t to)
{
	p = mem_grow(p, size, to);
	memset((char *)p + from * size, 0, (to - from) * size);
	return p;
}

/* Frames of the window by their names here. */
static uint32_t *frames_of(struct profile *p, const struct stacks *window, enum normalname_kind *kind)
{
	uint32_t *frame = mem_alloc(sizeof(*frame), (size_t)window->frames.n + 1);

	for (uint32_t id = 1; id <= window->frames.n; id++)
		frame[id] = stacks_frame(&p->s,
					 normalname_name(&p->normalname, intern_str(&window->frames, id), &kind[id]));
	return frame;
}

static void kinds_grow(struct profile *p)
{
	uint32_t n = p->s.frames.n + 1;

	if (n > p->nkind) {
		n += n / 2;
		p->kind = grow_zeroed(p->kind, sizeof(*p->kind), p->nkind, n);
		p->nkind = n;
	}
}

static void weigh_kinds(struct profile *p, const struct stacks *window, const uint32_t *frame,
			const enum normalname_kind *kind)
{
	uint64_t *total[2] = { stacks_totals(window, 0), stacks_totals(window, 1) };

	kinds_grow(p);
	for (uint32_t id = 1; id < window->n; id++) {
		uint32_t f = window->node[id].frame;

		p->kind[frame[f]][kind[f]] += (double)total[0][id] + (double)total[1][id];
	}
	free(total[0]);
	free(total[1]);
}

/* Adds columns of from, with frames as given, to to; node[] is where they went. */
static bool add_nodes(struct stacks *to, const struct stacks *from, const uint32_t *frame, unsigned column,
		      unsigned columns, uint32_t *node)
{
	for (uint32_t id = 1; id < from->n; id++) {
		node[id] = stacks_child(to, node[from->node[id].parent], frame[from->node[id].frame]);
		for (unsigned c = 0; c < columns; c++)
			if (from->self[c] && from->self[c][id] &&
			    !stacks_add(to, node[id], column + c, from->self[c][id]))
				return false;
	}
	return true;
}

/* ---- scatter ------------------------------------------------------------------------------------------------- */

static void scatter_grow(struct profile *p)
{
	if (p->s.n > p->nnode) {
		uint32_t n = p->s.n + p->s.n / 2;

		for (unsigned side = 0; side < 2; side++)
			p->node[side] = grow_zeroed(p->node[side], sizeof(double), p->nnode, n);
		p->nnode = n;
	}
	if (p->s.frames.n + 1 > p->nframe) {
		uint32_t n = p->s.frames.n + 1 + p->s.frames.n / 2;

		for (unsigned side = 0; side < 2; side++)
			p->frame[side] = grow_zeroed(p->frame[side], sizeof(double), p->nframe, n);
		p->nframe = n;
	}
}

/* Weight of functions: nodes that have no caller of the same frame. The walk needs children as lists, in any order. */
static void sum_functions(const struct stacks *s, const uint64_t *total, uint64_t *function)
{
	uint32_t *child = mem_alloc(sizeof(*child), s->n), *next = mem_alloc(sizeof(*next), s->n);
	uint32_t *open = mem_alloc(sizeof(*open), (size_t)s->frames.n + 1);
	uint32_t at = 0;

	for (uint32_t id = s->n; id-- > 1;) {
		next[id] = child[s->node[id].parent];
		child[s->node[id].parent] = id;
	}
	while (true) {
		if (child[at]) { /* down */
			uint32_t up = at;

			at = child[up];
			child[up] = next[at];
			if (open[s->node[at].frame]++ == 0)
				function[s->node[at].frame] += total[at];
		} else if (at) {
			open[s->node[at].frame]--;
			at = s->node[at].parent;
		} else {
			break;
		}
	}
	free(child);
	free(next);
	free(open);
}

static void profile_scatter(struct profile *p, unsigned side, const struct stacks *window, const uint32_t *node)
{
	uint64_t *total = mem_alloc(sizeof(*total), p->s.n);
	uint64_t *function = mem_alloc(sizeof(*function), (size_t)p->s.frames.n + 1);
	double sum = (double)stacks_sum(window, 0);

	for (uint32_t id = 1; id < window->n; id++)
		total[node[id]] += window->self[0][id];
	for (uint32_t id = p->s.n; id-- > 1;)
		total[p->s.node[id].parent] += total[id];
	sum_functions(&p->s, total, function);
	scatter_grow(p);
	for (uint32_t id = 1; id < p->s.n; id++)
		if (total[id])
			p->node[side][id] += (double)total[id] * (double)total[id] / sum;
	for (uint32_t f = 1; f <= p->s.frames.n; f++)
		if (function[f])
			p->frame[side][f] += (double)function[f] * (double)function[f] / sum;
	free(total);
	free(function);
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

bool profile_add(struct profile *p, unsigned side, const struct stacks *window)
{
	enum normalname_kind *kind = mem_alloc(sizeof(*kind), (size_t)window->frames.n + 1);
	uint32_t *frame = frames_of(p, window, kind), *node = mem_alloc(sizeof(*node), window->n);
	bool fits = stacks_add(&p->s, 0, side, 0) && add_nodes(&p->s, window, frame, side, 1, node);

	if (fits && stacks_sum(window, 0)) {
		p->windows[side]++;
		if (!p->normalname.exact)
			weigh_kinds(p, window, frame, kind);
		if (p->scatter)
			profile_scatter(p, side, window, node);
	}
	free(kind);
	free(frame);
	free(node);
	return fits;
}

struct stacks *profile_window(struct profile *p, unsigned side)
{
	if (p->scatter)
		stacks_free(&p->raw);
	else if (side)
		stacks_swap(&p->raw);
	p->raw_sum = stacks_sum(&p->raw, 0);
	return &p->raw;
}

bool profile_read(struct profile *p, unsigned side)
{
	bool fits = true;

	if (p->scatter) {
		fits = profile_add(p, side, &p->raw);
		stacks_free(&p->raw);
		return fits;
	}
	p->windows[side] += stacks_sum(&p->raw, 0) > p->raw_sum;
	if (side)
		stacks_swap(&p->raw);
	return true;
}

static enum normalname_kind profile_heaviest(const double weight[NORMALNAME_KINDS])
{
	enum normalname_kind best = NORMALNAME_NATIVE;

	for (unsigned k = NORMALNAME_KINDS; k-- > 0;)
		if (weight[k] >= weight[best])
			best = (enum normalname_kind)k;
	return weight[best] > 0 ? best : NORMALNAME_NATIVE;
}

/* Sums of scatter follow their nodes and frames. Two names may become one ("f_[j].cold" and "f"): sums add up. */
static void scatter_move(struct profile *p, const struct stacks *to, const uint32_t *frame, const uint32_t *node)
{
	for (unsigned side = 0; side < 2; side++) {
		double *by_node = mem_alloc(sizeof(*by_node), to->n);
		double *by_frame = mem_alloc(sizeof(*by_frame), (size_t)to->frames.n + 1);

		for (uint32_t id = 1; id < p->s.n; id++)
			by_node[node[id]] += p->node[side][id];
		for (uint32_t f = 1; f <= p->s.frames.n; f++)
			by_frame[frame[f]] += p->frame[side][f];
		free(p->node[side]);
		free(p->frame[side]);
		p->node[side] = by_node;
		p->frame[side] = by_frame;
	}
	p->nnode = to->n;
	p->nframe = to->frames.n + 1;
}

/* What frames of p->s are called in the end, by id. */
static uint32_t *final_frames(struct profile *p, struct stacks *to)
{
	uint32_t *frame = mem_alloc(sizeof(*frame), (size_t)p->s.frames.n + 1);
	struct text name = { 0 };

	for (uint32_t f = 1; f <= p->s.frames.n; f++) {
		name.n = 0;
		text_str(&name, intern_str(&p->s.frames, f));
		if (f < p->nkind)
			text_str(&name, normalname_suffix(profile_heaviest(p->kind[f])));
		frame[f] = stacks_frame(to, text_view(&name));
	}
	text_free(&name);
	return frame;
}

/* When no name stands for code of two kinds, weights need not be known. False when one does. */
static bool one_kind_each(struct profile *p, const struct stacks *window, const uint32_t *frame,
			  const enum normalname_kind *kind)
{
	uint8_t *seen = mem_alloc(sizeof(*seen), (size_t)p->s.frames.n + 1);
	bool one = true;

	for (uint32_t f = 1; f <= window->frames.n; f++) {
		seen[frame[f]] |= (uint8_t)(1u << kind[f]);
		one = one && seen[frame[f]] == 1u << kind[f];
	}
	free(seen);
	kinds_grow(p);
	for (uint32_t f = 1; f <= window->frames.n && one; f++)
		p->kind[frame[f]][kind[f]] = 1;
	return one;
}

/* Both sides were read into one tree as they are: its frames go straight to what they are called in the end. */
static void end_raw(struct profile *p, struct stacks *to)
{
	enum normalname_kind *kind = mem_alloc(sizeof(*kind), (size_t)p->raw.frames.n + 1);
	uint32_t *frame = frames_of(p, &p->raw, kind), *final;

	if (!p->normalname.exact && !one_kind_each(p, &p->raw, frame, kind))
		weigh_kinds(p, &p->raw, frame, kind);
	final = final_frames(p, to);
	for (uint32_t f = 1; f <= p->raw.frames.n; f++)
		frame[f] = final[frame[f]];
	stacks_rename(&p->raw, &to->frames, frame);
	stacks_free(to);
	*to = p->raw;
	p->raw = (struct stacks){ 0 };
	free(kind);
	free(frame);
	free(final);
}

static void end_windows(struct profile *p, struct stacks *to)
{
	uint32_t *frame = final_frames(p, to), *node = mem_alloc(sizeof(*node), p->s.n);

	add_nodes(to, &p->s, frame, 0, 2, node);
	if (p->scatter)
		scatter_move(p, to, frame, node);
	free(frame);
	free(node);
}

void profile_end(struct profile *p)
{
	struct stacks to = { 0 };

	stacks_swap(&p->s); /* both columns are there */
	stacks_swap(&p->s);
	if (p->scatter)
		scatter_grow(p);
	if (p->raw.n)
		end_raw(p, &to);
	else
		end_windows(p, &to);
	stacks_swap(&to);
	stacks_swap(&to);
	stacks_free(&p->s);
	p->s = to;
}

void profile_free(struct profile *p)
{
	stacks_free(&p->s);
	stacks_free(&p->raw);
	for (unsigned side = 0; side < 2; side++) {
		free(p->node[side]);
		free(p->frame[side]);
	}
	free(p->kind);
	normalname_free(&p->normalname);
}
