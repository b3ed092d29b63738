/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/readbudget.h"

#include "common/clocks.h"

bool budget_check(struct budget *budget)
{
	budget->unchecked = 0;
	if (budget->over)
		return false;
	if (budget->stop && *budget->stop)
		budget->over = BUDGET_STOPPED;
	else if (budget->deadline && clock_now() >= budget->deadline)
		budget->over = BUDGET_TIME;
	return !budget->over;
}

bool budget_bytes(struct budget *budget, uint64_t bytes)
{
	if (!budget)
		return true;
	if (budget->over)
		return false;
	if (bytes > budget->bytes) {
		budget->over = BUDGET_BYTES;
		return false;
	}
	budget->bytes -= bytes;
	return true;
}

void budget_return(struct budget *budget, uint64_t bytes)
{
	if (budget)
		budget->bytes += bytes;
}

const char *budget_limit_name(const struct budget *budget)
{
	static const char *const name[] = { NULL, "steps", "memory", "time", "time" };

	return budget ? name[budget->over] : NULL;
}
