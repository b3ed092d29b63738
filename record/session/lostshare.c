/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/lostshare.h"

#include "common/arena.h"

#include <stdlib.h>

/* CPUS_MAX: maximum number of CPUs with counts; further CPUs share the last row. RECENT: number of samples at which the
 * counts of a CPU are halved. */
enum { CPUS_MAX = 8192, RECENT = 4096 };

static struct lostshare_cpu *lostshare_row(struct lostshare *lostshare, uint32_t cpu)
{
	size_t i = cpu < CPUS_MAX ? cpu : CPUS_MAX - 1;

	if (i >= lostshare->n) {
		lostshare->cpu = mem_grow(lostshare->cpu, sizeof(*lostshare->cpu), i + 1);
		while (lostshare->n <= i)
			lostshare->cpu[lostshare->n++] = (struct lostshare_cpu){ 0 };
	}
	return lostshare->cpu + i;
}

void lostshare_sample(struct lostshare *lostshare, uint32_t cpu, bool wanted)
{
	struct lostshare_cpu *row = lostshare_row(lostshare, cpu);

	row->wanted += wanted;
	if (++row->all < RECENT)
		return;
	row->wanted /= 2;
	row->all /= 2;
	row->remainder /= 2;
}

/* Returns lost * wanted / all, and carries the remainder over to the next call. Does not overflow, because wanted <=
 * all < RECENT * CPUS_MAX. */
static uint64_t lostshare_divide(uint64_t lost, uint64_t wanted, uint64_t all, uint64_t *remainder)
{
	uint64_t rest = lost % all * wanted + *remainder;

	*remainder = rest % all;
	return lost / all * wanted + rest / all;
}

uint64_t lostshare_of_all(const struct lostshare *lostshare, uint64_t lost)
{
	uint64_t wanted = 0, all = 0, remainder = 0;

	for (size_t i = 0; i < lostshare->n; i++) {
		wanted += lostshare->cpu[i].wanted;
		all += lostshare->cpu[i].all;
	}
	return all ? lostshare_divide(lost, wanted, all, &remainder) : lost;
}

uint64_t lostshare_of(struct lostshare *lostshare, uint32_t cpu, uint64_t lost)
{
	struct lostshare_cpu *row = lostshare_row(lostshare, cpu);

	return row->all ? lostshare_divide(lost, row->wanted, row->all, &row->remainder) :
			  lostshare_of_all(lostshare, lost);
}

void lostshare_free(struct lostshare *lostshare)
{
	free(lostshare->cpu);
	*lostshare = (struct lostshare){ 0 };
}
