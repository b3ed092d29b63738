/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/branches.h"

#include "common/formats/perfrecord.h"

/* PERF_SAMPLE_BRANCH_CALL_STACK, a bit of perf_event_attr.branch_sample_type. */
#define CALL_STACK (UINT64_C(1) << 11)

/* FROM, TO, FLAGS: indexes of the 8-byte words in an entry of the branch stack. WORDS: number of words in an entry. */
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
		return; /* the callchain has no user part, for example in a kernel thread: push no calls */
	/* The target of the innermost call is the start of a function; the interrupted address in the user part of the
	 * callchain lies within that function, so it is more exact. A precise event records its address and branches
	 * before the interrupt, so the interrupted address may be in another function. Therefore the interrupted
	 * address is used only if it equals the event's address, or if the event's address is in the kernel. */
	if (!callchain->as_perf && user + 1 < record->sample.nips &&
	    ((int64_t)record->sample.ip < 0 || record->sample.ip == record->sample.ips[user + 1]))
		leaf = record->sample.ips[user + 1];
	callchain_push_ip(callchain, thread, MODE_USER, leaf, record->time);
	for (uint64_t i = 0; i < record->sample.nbranches; i++)
		callchain_push_ip(callchain, thread, MODE_USER, branch[WORDS * i + FROM], record->time);
}
