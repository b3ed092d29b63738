/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/slices.h"

#include "common/diag.h"
#include "fold/report.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>

bool slices_name_fits(const char *pattern)
{
	const char *at = pattern ? strstr(pattern, "%s") : NULL;

	return at && !strstr(at + 1, "%s");
}

/* Nodes by slice, each slice's in their order: order[first[i]] .. order[first[i + 1]]; a slice is known by its node. */
struct cgroupnames {
	uint32_t *slice; /* by node: the outermost node above it */
	uint32_t *first; /* by slice's node */
	uint32_t *order;
};

static struct cgroupnames slices_group(const struct stacks *s)
{
	struct cgroupnames g;

	g.slice = mem_alloc(sizeof(*g.slice), s->n);
	g.first = mem_alloc(sizeof(*g.first), (size_t)s->n + 2);
	g.order = mem_alloc(sizeof(*g.order), s->n);
	for (uint32_t id = 1; id < s->n; id++) {
		uint32_t parent = s->node[id].parent;

		g.slice[id] = parent ? g.slice[parent] : id;
		g.first[g.slice[id] + 2]++;
	}
	for (uint32_t i = 1; i <= s->n; i++)
		g.first[i + 1] += g.first[i];
	for (uint32_t id = 1; id < s->n; id++)
		g.order[g.first[g.slice[id] + 1]++] = id;
	return g;
}

/* The stacks below a slice's node. */
static void slices_take(struct stacks *to, const struct stacks *s, const struct cgroupnames *g, uint32_t slice,
			uint32_t *node)
{
	for (uint32_t i = g->first[slice]; i < g->first[slice + 1]; i++) {
		uint32_t id = g->order[i], at = 0;

		if (id != slice)
			at = stacks_child(to, node[s->node[id].parent],
					  stacks_frame(to, intern_str(&s->frames, s->node[id].frame)));
		node[id] = at;
		if (s->self[0][id] && at == 0)
			at = stacks_child(to, 0, stacks_frame(to, STR("[unknown]"))); /* neither a comm nor a frame */
		if (s->self[0][id])
			stacks_add(to, at, 0, s->self[0][id]); /* the sum is that of s: it fits */
	}
}

static void write_one(const char *pattern, struct str name, const struct stacks *s, const struct folded_header *h,
		      uint64_t lost, uint64_t min)
{
	const char *at = strstr(pattern, "%s");
	struct out *o = mem_alloc(sizeof(*o), 1);
	struct folded_header header = { 0 };
	struct stacks few = { 0 };
	struct text path = { 0 };

	text_bytes(&path, pattern, (size_t)(at - pattern));
	text_str(&path, name);
	text_add(&path, at + 2);
	text_char(&path, 0);
	if (h) {
		header = *h;
		header.samples = str_eq(h->unit, STR("samples")) ? stacks_sum(s, 0) : 0;
		header.from = name;
		header.to = (struct str){ 0 };
		header.lost = lost; /* known where anything was lost */
	}
	if (min > 1)
		report_min(&few, s, min);
	out_open(o, path.p);
	folded_write(o, min > 1 ? &few : s, 1, h ? &header : NULL);
	out_close(o);
	stacks_free(&few);
	text_free(&path);
	free(o);
}

/* ---- losses ------------------------------------------------------------------------------------------------- */

void slices_lose(struct slices_lost *l, struct str name, uint64_t n)
{
	uint32_t id = intern(&l->names, name);

	if (id >= l->cap) {
		size_t cap = 2 * (size_t)id + 16;

		l->n = mem_grow(l->n, sizeof(*l->n), cap);
		memset(l->n + l->cap, 0, (cap - l->cap) * sizeof(*l->n));
		l->cap = cap;
	}
	l->n[id] += n;
	l->sum += n;
}

void slices_lost_add(struct slices_lost *l, const struct slices_lost *more)
{
	for (uint32_t id = 1; id <= more->names.n; id++)
		slices_lose(l, intern_str(&more->names, id), more->n[id]);
}

void slices_lost_free(struct slices_lost *l)
{
	intern_free(&l->names);
	free(l->n);
	*l = (struct slices_lost){ 0 };
}

static uint64_t lost_in(const struct slices_lost *l, struct str name)
{
	uint32_t id = intern_find(&l->names, name);

	return id ? l->n[id] : 0;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME])
{
	int n;

	ns -= ns % slice_ns;
	n = snprintf(name, SLICES_NAME, "%llu", (unsigned long long)(ns / 1000000000u));
	if (slice_ns % 1000000000u) /* as many decimals as always tell slices apart */
		n = snprintf(name, SLICES_NAME, "%llu.%09llu", (unsigned long long)(ns / 1000000000u),
			     (unsigned long long)(ns % 1000000000u));
	return (struct str){ name, (size_t)n };
}

/* Those of which nothing is left but the number of what was lost. */
static uint64_t write_empty(const char *pattern, const struct intern *written, const struct folded_header *h,
			    const struct slices_lost *l)
{
	struct stacks none = { 0 };
	uint64_t n = 0;

	for (uint32_t id = 1; id <= l->names.n; id++) {
		struct str name = intern_str(&l->names, id);

		if (intern_find(written, name) || l->n[id] == 0)
			continue;
		write_one(pattern, name, &none, h, l->n[id], 1);
		n++;
	}
	return n;
}

static uint64_t write_full(const char *pattern, const struct stacks *s, const struct folded_header *h,
			   const struct slices_lost *l, uint64_t min_samples, struct intern *written)
{
	uint32_t *node = mem_alloc(sizeof(*node), s->n);
	struct cgroupnames g = slices_group(s);
	uint64_t n = 0;

	for (uint32_t id = 1; id < s->n; id++) {
		struct str name = intern_str(&s->frames, s->node[id].frame);
		struct stacks slice = { 0 };

		if (g.slice[id] != id)
			continue;
		slices_take(&slice, s, &g, id, node);
		if (stacks_sum(&slice, 0)) {
			write_one(pattern, name, &slice, h, lost_in(l, name), min_samples);
			intern(written, name);
			n++;
		}
		stacks_free(&slice);
	}
	free(node);
	free(g.slice);
	free(g.first);
	free(g.order);
	return n;
}

uint64_t slices_write(const char *pattern, const struct stacks *s, const struct folded_header *h,
		      const struct slices_lost *l, uint64_t min_samples)
{
	struct intern written = { 0 };
	uint64_t n = s->n ? write_full(pattern, s, h, l, min_samples, &written) : 0;

	if (h)
		n += write_empty(pattern, &written, h, l);
	intern_free(&written);
	return n;
}
