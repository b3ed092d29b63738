/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/profile.h"

#include <stdlib.h>

static void *grow_zeroed(void *p, size_t size, size_t from, size_t to)
{
	p = mem_grow(p, size, to);
	memset((char *)p + from * size, 0, (to - from) * size);
	return p;
}

/* Adds the normalized names of all frames of the window to profile->s. Returns a map from frame ids of the window to
 * those of profile->s, which the caller frees. Sets kind[] to the kind of each frame of the window. */
static uint32_t *frames_of(struct profile *profile, const struct stacks *window, enum normalname_kind *kind)
{
	uint32_t *frame = mem_alloc(sizeof(*frame), (size_t)window->frames.n + 1);

	for (uint32_t id = 1; id <= window->frames.n; id++)
		frame[id] = stacks_frame(
			&profile->s, normalname_name(&profile->normalname, intern_str(&window->frames, id), &kind[id]));
	return frame;
}

static void kinds_grow(struct profile *profile)
{
	uint32_t n = profile->s.frames.n + 1;

	if (n > profile->nkind) {
		n += n / 2;
		profile->kind = grow_zeroed(profile->kind, sizeof(*profile->kind), profile->nkind, n);
		profile->nkind = n;
	}
}

static void weigh_kinds(struct profile *profile, const struct stacks *window, const uint32_t *frame,
			const enum normalname_kind *kind)
{
	uint64_t *total[2] = { stacks_totals(window, 0), stacks_totals(window, 1) };

	kinds_grow(profile);
	for (uint32_t id = 1; id < window->n; id++) {
		uint32_t f = window->node[id].frame;

		profile->kind[frame[f]][kind[f]] += (double)total[0][id] + (double)total[1][id];
	}
	free(total[0]);
	free(total[1]);
}

/* Adds columns 0 to columns - 1 of `from` to stacks, as columns from `column` on. frame[] maps frames of `from` to
 * frames of stacks. Sets node[], by node of `from`, to nodes of stacks. Returns false if a sum would exceed 63 bits. */
static bool add_nodes(struct stacks *stacks, const struct stacks *from, const uint32_t *frame, unsigned column,
		      unsigned columns, uint32_t *node)
{
	for (uint32_t id = 1; id < from->n; id++) {
		node[id] = stacks_child(stacks, node[from->node[id].parent], frame[from->node[id].frame]);
		for (unsigned c = 0; c < columns; c++)
			if (from->self[c] && from->self[c][id] &&
			    !stacks_add(stacks, node[id], column + c, from->self[c][id]))
				return false;
	}
	return true;
}

/* ---- scatter of weights ------------------------------------------------------------------------------------------ */

static void scatter_grow(struct profile *profile)
{
	if (profile->s.n > profile->nnode) {
		uint32_t n = profile->s.n + profile->s.n / 2;

		for (unsigned side = 0; side < 2; side++)
			profile->node[side] = grow_zeroed(profile->node[side], sizeof(double), profile->nnode, n);
		profile->nnode = n;
	}
	if (profile->s.frames.n + 1 > profile->nframe) {
		uint32_t n = profile->s.frames.n + 1 + profile->s.frames.n / 2;

		for (unsigned side = 0; side < 2; side++)
			profile->frame[side] = grow_zeroed(profile->frame[side], sizeof(double), profile->nframe, n);
		profile->nframe = n;
	}
}

/* Adds to function[f] the weight of the function with frame f: the sum of the total weights of all its nodes that have
 * no caller with the same frame. Visits the tree depth first without recursion, by lists of children in any order. */
static void sum_functions(const struct stacks *stacks, const uint64_t *total, uint64_t *function)
{
	uint32_t *child = mem_alloc(sizeof(*child), stacks->n), *next = mem_alloc(sizeof(*next), stacks->n);
	uint32_t *open = mem_alloc(sizeof(*open), (size_t)stacks->frames.n + 1);
	uint32_t at = 0;

	for (uint32_t id = stacks->n; id-- > 1;) {
		next[id] = child[stacks->node[id].parent];
		child[stacks->node[id].parent] = id;
	}
	while (true) {
		if (child[at]) { /* go down to the next child */
			uint32_t up = at;

			at = child[up];
			child[up] = next[at];
			if (open[stacks->node[at].frame]++ == 0)
				function[stacks->node[at].frame] += total[at];
		} else if (at) {
			open[stacks->node[at].frame]--;
			at = stacks->node[at].parent;
		} else {
			break;
		}
	}
	free(child);
	free(next);
	free(open);
}

static void profile_scatter(struct profile *profile, unsigned side, const struct stacks *window, const uint32_t *node)
{
	uint64_t *total = mem_alloc(sizeof(*total), profile->s.n);
	uint64_t *function = mem_alloc(sizeof(*function), (size_t)profile->s.frames.n + 1);
	double sum = (double)stacks_sum(window, 0);

	for (uint32_t id = 1; id < window->n; id++)
		total[node[id]] += window->self[0][id];
	for (uint32_t id = profile->s.n; id-- > 1;)
		total[profile->s.node[id].parent] += total[id];
	sum_functions(&profile->s, total, function);
	scatter_grow(profile);
	for (uint32_t id = 1; id < profile->s.n; id++)
		if (total[id])
			profile->node[side][id] += (double)total[id] * (double)total[id] / sum;
	for (uint32_t f = 1; f <= profile->s.frames.n; f++)
		if (function[f])
			profile->frame[side][f] += (double)function[f] * (double)function[f] / sum;
	free(total);
	free(function);
}

/* ---- making a profile -------------------------------------------------------------------------------------------- */

bool profile_add(struct profile *profile, unsigned side, const struct stacks *window)
{
	enum normalname_kind *kind = mem_alloc(sizeof(*kind), (size_t)window->frames.n + 1);
	uint32_t *frame = frames_of(profile, window, kind), *node = mem_alloc(sizeof(*node), window->n);
	bool fits = stacks_add(&profile->s, 0, side, 0) && add_nodes(&profile->s, window, frame, side, 1, node);

	if (fits && stacks_sum(window, 0)) {
		profile->windows[side]++;
		if (!profile->normalname.exact)
			weigh_kinds(profile, window, frame, kind);
		if (profile->scatter)
			profile_scatter(profile, side, window, node);
	}
	free(kind);
	free(frame);
	free(node);
	return fits;
}

struct stacks *profile_window(struct profile *profile, unsigned side)
{
	if (profile->scatter)
		stacks_free(&profile->raw);
	else if (side)
		stacks_swap(&profile->raw);
	profile->raw_sum = stacks_sum(&profile->raw, 0);
	return &profile->raw;
}

bool profile_read(struct profile *profile, unsigned side)
{
	bool fits = true;

	if (profile->scatter) {
		fits = profile_add(profile, side, &profile->raw);
		stacks_free(&profile->raw);
		return fits;
	}
	profile->windows[side] += stacks_sum(&profile->raw, 0) > profile->raw_sum;
	if (side)
		stacks_swap(&profile->raw);
	return true;
}

static enum normalname_kind profile_heaviest(const double weight[NORMALNAME_KINDS])
{
	enum normalname_kind best = NORMALNAME_NATIVE;

	for (unsigned index = NORMALNAME_KINDS; index-- > 0;)
		if (weight[index] >= weight[best])
			best = (enum normalname_kind)index;
	return weight[best] > 0 ? best : NORMALNAME_NATIVE;
}

/* Maps the sums in profile->node and profile->frame to the nodes and frames of `stacks`, the renamed tree, by the maps
 * frame[] and node[] from old to new ids. If two normalized names get one final name ("f_[j]", from "f_[j].cold", and
 * "f", which gets the suffix _[j]), their sums are added. */
static void scatter_move(struct profile *profile, const struct stacks *stacks, const uint32_t *frame,
			 const uint32_t *node)
{
	for (unsigned side = 0; side < 2; side++) {
		double *by_node = mem_alloc(sizeof(*by_node), stacks->n);
		double *by_frame = mem_alloc(sizeof(*by_frame), (size_t)stacks->frames.n + 1);

		for (uint32_t id = 1; id < profile->s.n; id++)
			by_node[node[id]] += profile->node[side][id];
		for (uint32_t f = 1; f <= profile->s.frames.n; f++)
			by_frame[frame[f]] += profile->frame[side][f];
		free(profile->node[side]);
		free(profile->frame[side]);
		profile->node[side] = by_node;
		profile->frame[side] = by_frame;
	}
	profile->nnode = stacks->n;
	profile->nframe = stacks->frames.n + 1;
}

/* Adds the final name of each frame of profile->s to *stacks: the normalized name and the suffix (_[j], _[0] or none)
 * of the code kind that has the largest weight under that name. Returns a map from old to new frames, which the caller
 * frees. */
static uint32_t *final_frames(struct profile *profile, struct stacks *stacks)
{
	uint32_t *frame = mem_alloc(sizeof(*frame), (size_t)profile->s.frames.n + 1);
	struct text name = { 0 };

	for (uint32_t f = 1; f <= profile->s.frames.n; f++) {
		name.n = 0;
		text_str(&name, intern_str(&profile->s.frames, f));
		if (f < profile->nkind)
			text_str(&name, normalname_suffix(profile_heaviest(profile->kind[f])));
		frame[f] = stacks_frame(stacks, text_view(&name));
	}
	text_free(&name);
	return frame;
}

/* Returns true, and sets profile->kind, if every normalized name has frames of one kind only: each name then gets this
 * kind, and the caller need not sum the weights by kind. Returns false if a name has frames of two kinds;
 * profile->kind then has no weights yet. frame, kind: results of frames_of() for the window. */
static bool one_kind_each(struct profile *profile, const struct stacks *window, const uint32_t *frame,
			  const enum normalname_kind *kind)
{
	uint8_t *seen = mem_alloc(sizeof(*seen), (size_t)profile->s.frames.n + 1);
	bool one = true;

	for (uint32_t f = 1; f <= window->frames.n; f++) {
		seen[frame[f]] |= (uint8_t)(1u << kind[f]);
		one = one && seen[frame[f]] == 1u << kind[f];
	}
	free(seen);
	kinds_grow(profile);
	for (uint32_t f = 1; f <= window->frames.n && one; f++)
		profile->kind[frame[f]][kind[f]] = 1;
	return one;
}

/* Gives the frames of profile->raw, which has both sides, their final names, and moves the tree to *stacks. For
 * profiles without scatter. */
static void end_raw(struct profile *profile, struct stacks *stacks)
{
	enum normalname_kind *kind = mem_alloc(sizeof(*kind), (size_t)profile->raw.frames.n + 1);
	uint32_t *frame = frames_of(profile, &profile->raw, kind), *final;

	if (!profile->normalname.exact && !one_kind_each(profile, &profile->raw, frame, kind))
		weigh_kinds(profile, &profile->raw, frame, kind);
	final = final_frames(profile, stacks);
	for (uint32_t f = 1; f <= profile->raw.frames.n; f++)
		frame[f] = final[frame[f]];
	stacks_rename(&profile->raw, &stacks->frames, frame);
	stacks_free(stacks);
	*stacks = profile->raw;
	profile->raw = (struct stacks){ 0 };
	free(kind);
	free(frame);
	free(final);
}

static void end_windows(struct profile *profile, struct stacks *stacks)
{
	uint32_t *frame = final_frames(profile, stacks), *node = mem_alloc(sizeof(*node), profile->s.n);

	add_nodes(stacks, &profile->s, frame, 0, 2, node);
	if (profile->scatter)
		scatter_move(profile, stacks, frame, node);
	free(frame);
	free(node);
}

void profile_end(struct profile *profile)
{
	struct stacks stacks = { 0 };

	stacks_swap(&profile->s); /* swapping the columns twice creates both columns and changes nothing else */
	stacks_swap(&profile->s);
	if (profile->scatter)
		scatter_grow(profile);
	if (profile->raw.n)
		end_raw(profile, &stacks);
	else
		end_windows(profile, &stacks);
	stacks_swap(&stacks);
	stacks_swap(&stacks);
	stacks_free(&profile->s);
	profile->s = stacks;
}

void profile_free(struct profile *profile)
{
	stacks_free(&profile->s);
	stacks_free(&profile->raw);
	for (unsigned side = 0; side < 2; side++) {
		free(profile->node[side]);
		free(profile->frame[side]);
	}
	free(profile->kind);
	normalname_free(&profile->normalname);
}
