/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/scale.h"

#include <stdlib.h>

struct loss {
	uint64_t remainder;
	uint32_t at; /* position of the node in folded text (stacks_order) */
};

static int loss_cmp(const void *a, const void *b)
{
	const struct loss *loss = a, *y = b;

	if (loss->remainder != y->remainder)
		return loss->remainder > y->remainder ? -1 : 1;
	return (loss->at > y->at) - (loss->at < y->at);
}

bool scale_column(struct stacks *stacks)
{
	uint64_t from = stacks_sum(stacks, 0), to = stacks_sum(stacks, 1), missing = to;
	struct loss *loss;
	uint32_t *order;

	if (!from || !to)
		return false;
	order = stacks_order(stacks);
	loss = mem_alloc(sizeof(*loss), stacks->n);
	for (uint32_t i = 0; i + 1 < stacks->n; i++) {
		__uint128_t scaled = (__uint128_t)stacks->self[0][order[i]] * to;

		stacks->self[0][order[i]] = (uint64_t)(scaled / from);
		loss[i] = (struct loss){ (uint64_t)(scaled % from), i };
		missing -= stacks->self[0][order[i]];
	}
	/* `missing` is smaller than the number of weights that were rounded down, so each weight gets at most one */
	qsort(loss, stacks->n - 1, sizeof(*loss), loss_cmp);
	for (uint64_t i = 0; i < missing; i++)
		stacks->self[0][order[loss[i].at]]++;
	stacks->sum[0] = to;
	free(loss);
	free(order);
	return true;
}
