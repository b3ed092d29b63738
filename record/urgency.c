/* SPDX-License-Identifier: Apache-2.0 */
#include "urgency.h"

#include <errno.h>
#include <sys/resource.h>

/* A value of -1 is no error. */
static int urgency(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0);
}

void urgency_raise(void)
{
	if (urgency() == URGENCY_USUAL && !errno)
		setpriority(PRIO_PROCESS, 0, URGENCY_NOW);
}

void urgency_lower(int most)
{
	if (urgency() < most)
		setpriority(PRIO_PROCESS, 0, most);
}
