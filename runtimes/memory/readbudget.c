/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/readbudget.h"

#include "common/clocks.h"

bool readbudget_check(struct readbudget *budget)
{
	budget->unchecked = 0;
	if (budget->over)
		return false;
	if (budget->stop && *budget->stop)
		budget->over = READBUDGET_STOPPED;
	else if (budget->deadline && clock_now() >= budget->deadline)
		budget->over = READBUDGET_TIME;
	return !budget->over;
}

bool readbudget_bytes(struct readbudget *budget, uint64_t bytes)
{
	if (!budget)
		return true;
	if (budget->over)
		return false;
	if (bytes > budget->bytes) {
		budget->over = READBUDGET_BYTES;
		return false;
	}
	budget->bytes -= bytes;
	return true;
}

void readbudget_return(struct readbudget *budget, uint64_t bytes)
{
	if (budget)
		budget->bytes += bytes;
}
