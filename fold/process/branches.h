/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.h - call stacks from the processor's last branch records (perf record --call-graph lbr).
 *
 * The branch stack of a sample with a call stack contains the calls that have not returned yet, innermost first, each
 * with the addresses of the call instruction and of its target. These calls replace the user part of the callchain,
 * which has only the interrupted address.
 */
#ifndef PJ_BRANCHES_H
#define PJ_BRANCHES_H

#include "fold/process/callchain.h"

/* Returns true if the branch stack of record consists of calls (PERF_SAMPLE_BRANCH_CALL_STACK), false if it is empty or
 * has branches of other kinds, too. */
bool branches_are_calls(const struct perfdata_record *record);

/* Pushes the frames of record, leaf first: the kernel part of its callchain, then the leaf of the user part, then the
 * calls of the branch stack. The user leaf is the interrupted address; with as_perf, or if the interrupted address may
 * be in another function than the innermost call, the leaf is the target of the innermost call. If the callchain has no
 * user part, pushes the kernel part only. */
void branches_push(struct callchain *callchain, const struct addrspace_thread *thread,
		   const struct perfdata_record *record);

#endif
