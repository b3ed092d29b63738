/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.h - call stacks of the processor's last branch records (perf record --call-graph lbr).
 *
 * The branch stack of such a sample has the calls that have not returned yet, innermost first, each with the addresses
 * of the call instruction and of its target. These calls replace the user part of the callchain, which has only the
 * interrupted address.
 */
#ifndef PJ_BRANCHES_H
#define PJ_BRANCHES_H

#include "fold/process/callchain.h"

/* Returns true if the branch stack of record consists of calls (PERF_SAMPLE_BRANCH_CALL_STACK), not of all branches. */
bool branches_are_calls(const struct perfdata_record *record);

/* Pushes the frames of record, leaf first: the kernel part of its callchain, then the interrupted user address, then
 * the calls of the branch stack. Without a user part in the callchain, pushes the kernel part only. */
void branches_push(struct callchain *callchain, const struct addrspace_thread *thread,
		   const struct perfdata_record *record);

#endif
