/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/scale.h"

#include <stdlib.h>

struct loss {
	uint64_t remainder;
	uint32_t at; /* in the order of the text */
};

static int loss_cmp(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	if (x->remainder != y->remainder)
		return x->remainder > y->remainder ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

bool scale_column(struct stacks *s)
{
	uint64_t from = stacks_sum(s, 0), to = stacks_sum(s, 1), missing = to;
	struct loss *loss;
	uint32_t *order;

	if (!from || !to)
		return false;
	order = stacks_order(s);
	loss = mem_alloc(sizeof(*loss), s->n);
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		__uint128_t scaled = (__uint128_t)s->self[0][order[i]] * to;

		s->self[0][order[i]] = (uint64_t)(scaled / from);
		loss[i] = (struct loss){ (uint64_t)(scaled % from), i };
		missing -= s->self[0][order[i]];
	}
	/* fewer are missing than have lost anything */
	qsort(loss, s->n - 1, sizeof(*loss), loss_cmp);
	for (uint64_t i = 0; i < missing; i++)
		s->self[0][order[loss[i].at]]++;
	s->sum[0] = to;
	free(loss);
	free(order);
	return true;
}
