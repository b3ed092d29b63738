/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/change.h"

#include <stdlib.h>

#define NEUTRAL 4

/* Blue and orange stay apart under every kind of colour blindness; test/svg/contrast.mjs computes by how much. */
static const uint32_t ramp[2][CHANGE_STEPS] = {
	{ 0x5295dc, 0x82b2e6, 0xb2d0f1, 0xcfe1f8, 0xe8e9ec, 0xfcdcca, 0xf8c4a6, 0xf09a6e, 0xe2683a },
	{ 0x1f69b6, 0x265a92, 0x2b4b6f, 0x2b4158, 0x3a3d44, 0x5a3b2b, 0x704329, 0x934d1f, 0xb4560f },
};

const struct sig_change *change_of(const struct change *c, uint32_t frame)
{
	return &c->assessed[c->rule.shares ? CHANGE_SHARES : CHANGE_COUNTS][frame];
}

unsigned change_step(const struct change *c, uint32_t frame)
{
	const struct sig_change *j = change_of(c, frame);

	return j->less ? NEUTRAL - j->level : NEUTRAL + j->level;
}

bool change_is_new(const struct change *c, const struct layout *l, uint32_t frame)
{
	return change_of(c, frame)->level && l->before[frame] == 0;
}

uint32_t change_colour(const struct change *c, unsigned step, bool dark)
{
	return ramp[dark][c->negate ? CHANGE_STEPS - 1 - step : step];
}

static struct sig_change *change_assess(const struct layout *l, const struct stacks *s, struct sig_rule rule,
					bool shares, const float *dispersion)
{
	struct sig_change *by_frame = mem_alloc(sizeof(*by_frame), (size_t)l->n + 1);

	rule.shares = shares;
	struct sig_change *by_node = sig_assess(&rule, s, dispersion);
	for (uint32_t i = 0; i < l->n; i++)
		by_frame[i] = by_node[l->node[i]];
	free(by_node);
	return by_frame;
}

/* ---- what is gone ------------------------------------------------------------------------------------------- */

/* Each subtree that is surely gone, with all its weight; then their callers. */
static void measure_gone(struct change *c, const struct layout *l)
{
	uint32_t until = 0; /* the end of the subtree that i is in */

	for (uint32_t i = 0; i < l->n; i++) {
		if (l->width[i] == 0 && i >= until && change_of(c, i)->level)
			until = l->end[i];
		if (i < until)
			c->gone_width[i] = l->before_self[i];
		else if (l->self[i] == 0 && l->width[i] == 0)
			c->unsure_sum += l->before_self[i];
	}
	for (uint32_t i = l->n; i-- > 0;) {
		if (l->parent[i] == LAYOUT_ROOT)
			c->gone_sum += c->gone_width[i];
		else
			c->gone_width[l->parent[i]] += c->gone_width[i];
	}
}

static void place_gone(struct change *c, const struct layout *l)
{
	uint64_t *next = mem_alloc(sizeof(*next), (size_t)l->n + 1);
	uint64_t root_next = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t *at = l->parent[i] == LAYOUT_ROOT ? &root_next : &next[l->parent[i]];
		c->gone_start[i] = next[i] = *at;
		*at += c->gone_width[i];
		if (c->gone_width[i] && l->level[i] > c->gone_depth)
			c->gone_depth = l->level[i];
	}
	free(next);
}

void change_make(struct change *c, const struct layout *l, const struct stacks *s, const struct sig_rule *rule,
		 const float *dispersion)
{
	*c = (struct change){ .rule = *rule };
	for (int way = 0; way < CHANGE_WAYS; way++)
		c->assessed[way] = change_assess(l, s, *rule, way == CHANGE_SHARES, dispersion);
	c->gone_start = mem_alloc(sizeof(*c->gone_start), (size_t)l->n + 1);
	c->gone_width = mem_alloc(sizeof(*c->gone_width), (size_t)l->n + 1);
	measure_gone(c, l);
	place_gone(c, l);
}

void change_free(struct change *c)
{
	for (int way = 0; way < CHANGE_WAYS; way++)
		free(c->assessed[way]);
	free(c->gone_start);
	free(c->gone_width);
	*c = (struct change){ 0 };
}
