/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.h - call stacks of the processor's last branch records (perf record --call-graph lbr).
 *
 * The branch stack of such a sample has the calls that have not returned yet, as pairs of call and target, innermost
 * first. They replace the user part of the callchain, which has only the interrupted address.
 */
#ifndef PJ_BRANCHES_H
#define PJ_BRANCHES_H

#include "fold/process/callchain.h"

/* Returns true if the branch stack of record consists of calls (PERF_SAMPLE_BRANCH_CALL_STACK), not of all branches. */
bool branches_are_calls(const struct perfdata_record *record);

/* Pushes the kernel's part of the callchain, the interrupted address, and the calls. */
void branches_push(struct callchain *callchain, const struct addrspace_thread *thread,
		   const struct perfdata_record *record);

#endif
