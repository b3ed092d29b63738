/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/change.h"

#include <stdlib.h>

#define NEUTRAL 4

/* Colours of the steps, for a light and a dark background. People with any kind of colour blindness can distinguish
 * blue and orange; test/svg/contrast.mjs computes the contrast. */
static const uint32_t ramp[2][CHANGE_STEPS] = {
	{ 0x5295dc, 0x82b2e6, 0xb2d0f1, 0xcfe1f8, 0xe8e9ec, 0xfcdcca, 0xf8c4a6, 0xf09a6e, 0xe2683a },
	{ 0x1f69b6, 0x265a92, 0x2b4b6f, 0x2b4158, 0x3a3d44, 0x5a3b2b, 0x704329, 0x934d1f, 0xb4560f },
};

const struct sig_change *change_of(const struct change *change, uint32_t frame)
{
	return &change->assessed[change->rule.shares ? CHANGE_SHARES : CHANGE_COUNTS][frame];
}

unsigned change_step(const struct change *change, uint32_t frame)
{
	const struct sig_change *j = change_of(change, frame);

	return j->less ? NEUTRAL - j->level : NEUTRAL + j->level;
}

bool change_is_new(const struct change *change, const struct layout *layout, uint32_t frame)
{
	return change_of(change, frame)->level && layout->before[frame] == 0;
}

uint32_t change_colour(const struct change *change, unsigned step, bool dark)
{
	return ramp[dark][change->negate ? CHANGE_STEPS - 1 - step : step];
}

static struct sig_change *change_assess(const struct layout *layout, const struct stacks *stacks, struct sig_rule rule,
					bool shares, const float *dispersion)
{
	struct sig_change *by_frame = mem_alloc(sizeof(*by_frame), (size_t)layout->n + 1);

	rule.shares = shares;
	struct sig_change *by_node = sig_assess(&rule, stacks, dispersion);
	for (uint32_t i = 0; i < layout->n; i++)
		by_frame[i] = by_node[layout->node[i]];
	free(by_node);
	return by_frame;
}

/* ---- removed subtrees --------------------------------------------------------------------------------------- */

/* Computes gone_width, gone_sum and unsure_sum. In a subtree whose removal is significant, gone_width is the weight
 * before; in other frames, it is the sum over such subtrees below the frame. */
static void measure_gone(struct change *change, const struct layout *layout)
{
	uint32_t until = 0; /* end of the removed subtree that contains frame i */

	for (uint32_t i = 0; i < layout->n; i++) {
		if (layout->width[i] == 0 && i >= until && change_of(change, i)->level)
			until = layout->end[i];
		if (i < until)
			change->gone_width[i] = layout->before_self[i];
		else if (layout->self[i] == 0 && layout->width[i] == 0)
			change->unsure_sum += layout->before_self[i];
	}
	for (uint32_t i = layout->n; i-- > 0;) {
		if (layout->parent[i] == LAYOUT_ROOT)
			change->gone_sum += change->gone_width[i];
		else
			change->gone_width[layout->parent[i]] += change->gone_width[i];
	}
}

static void place_gone(struct change *change, const struct layout *layout)
{
	uint64_t *next = mem_alloc(sizeof(*next), (size_t)layout->n + 1);
	uint64_t root_next = 0;

	for (uint32_t i = 0; i < layout->n; i++) {
		uint64_t *at = layout->parent[i] == LAYOUT_ROOT ? &root_next : &next[layout->parent[i]];
		change->gone_start[i] = next[i] = *at;
		*at += change->gone_width[i];
		if (change->gone_width[i] && layout->level[i] > change->gone_depth)
			change->gone_depth = layout->level[i];
	}
	free(next);
}

void change_make(struct change *change, const struct layout *layout, const struct stacks *stacks,
		 const struct sig_rule *rule, const float *dispersion)
{
	*change = (struct change){ .rule = *rule };
	for (int way = 0; way < CHANGE_WAYS; way++)
		change->assessed[way] = change_assess(layout, stacks, *rule, way == CHANGE_SHARES, dispersion);
	change->gone_start = mem_alloc(sizeof(*change->gone_start), (size_t)layout->n + 1);
	change->gone_width = mem_alloc(sizeof(*change->gone_width), (size_t)layout->n + 1);
	measure_gone(change, layout);
	place_gone(change, layout);
}

void change_free(struct change *change)
{
	for (int way = 0; way < CHANGE_WAYS; way++)
		free(change->assessed[way]);
	free(change->gone_start);
	free(change->gone_width);
	*change = (struct change){ 0 };
}
