/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/branches.h"

#include "common/formats/perfrecord.h"

#define CALL_STACK (UINT64_C(1) << 11) /* of branch_sample_type */

/* Words of an entry of the branch stack. */
enum { FROM, TO, FLAGS, WORDS };

bool branches_are_calls(const struct perfdata_record *record)
{
	return (record->sample.event->branch_sample_type & CALL_STACK) && record->sample.nbranches;
}

void branches_push(struct callchain *callchain, const struct addrspace_thread *thread,
		   const struct perfdata_record *record)
{
	const uint64_t *branch = record->sample.branch;
	uint64_t user = 0, leaf = branch[TO];

	while (user < record->sample.nips && record->sample.ips[user] != CONTEXT_USER)
		user++;
	callchain_push_part(callchain, thread, record->sample.ips, user, record->time);
	if (user == record->sample.nips)
		return; /* a kernel thread, or no user part */
	/* The last call leads to the start of a function, the callchain to the interrupted place in it. The address of
	 * a precise event is from before the interrupt, as are the branches; the place of the interrupt then may be in
	 * another function. */
	if (!callchain->as_perf && user + 1 < record->sample.nips &&
	    ((int64_t)record->sample.ip < 0 || record->sample.ip == record->sample.ips[user + 1]))
		leaf = record->sample.ips[user + 1];
	callchain_push_ip(callchain, thread, MODE_USER, leaf, record->time);
	for (uint64_t i = 0; i < record->sample.nbranches; i++)
		callchain_push_ip(callchain, thread, MODE_USER, branch[WORDS * i + FROM], record->time);
}
