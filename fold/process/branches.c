/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/branches.h"

#include "common/formats/perfrecord.h"

#define CALL_STACK (UINT64_C(1) << 11) /* of branch_sample_type */

/* A branch is three words. */
enum { FROM, TO, FLAGS, WORDS };

bool branches_are_calls(const struct perfdata_record *r)
{
	return (r->sample.event->branch_sample_type & CALL_STACK) && r->sample.nbranches;
}

void branches_push(struct callchain *c, const struct addrspace_thread *t, const struct perfdata_record *r)
{
	const uint64_t *branch = r->sample.branch;
	uint64_t user = 0, leaf = branch[TO];

	while (user < r->sample.nips && r->sample.ips[user] != CONTEXT_USER)
		user++;
	callchain_push_part(c, t, r->sample.ips, user, r->time);
	if (user == r->sample.nips)
		return; /* of the kernel only */
	if (!c->as_perf && user + 1 < r->sample.nips)
		leaf = r->sample.ips[user + 1];
	callchain_push_ip(c, t, MODE_USER, leaf, r->time);
	for (uint64_t i = 0; i < r->sample.nbranches; i++)
		callchain_push_ip(c, t, MODE_USER, branch[WORDS * i + FROM], r->time);
}
