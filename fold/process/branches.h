/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.h - stacks that the processor kept (perf record --call-graph lbr).
 *
 * The branch stack of such a sample holds the calls that did not return yet, from where to where, innermost first. They
 * take the place of the user part of the callchain, which says only where the sample was taken.
 */
#ifndef PJ_BRANCHES_H
#define PJ_BRANCHES_H

#include "fold/process/callchain.h"

/* Is the branch stack of record one of calls? Others are recorded to see branches. */
bool branches_are_calls(const struct perfdata_record *record);

/* The kernel's part of the callchain, the interrupted place, and the calls. */
void branches_push(struct callchain *callchain, const struct addrspace_thread *thread,
		   const struct perfdata_record *record);

#endif
