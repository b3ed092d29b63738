/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitlimits.h"

#include "common/clocks.h"

/* Refills a token bucket with `rate` units per second, at most every 10 ms. It holds at most rate / 10 units. */
static void waitcredit_refill(struct waitcredit *credit, uint32_t rate, uint64_t now)
{
	uint64_t past = now > credit->refilled ? now - credit->refilled : 0, most = rate / 10, left;

	if (past < SECOND_NS / 100)
		return;
	left = past >= SECOND_NS / 10 ? most : credit->left + past * rate / SECOND_NS;
	credit->left = (uint32_t)(left < most ? left : most);
	credit->refilled = now;
}

bool waitlimits_take(struct waitlimits *waitlimits, uint8_t class, size_t n, uint64_t now)
{
	struct waitcredit *all = &waitlimits->all, *reads = &waitlimits->reads[class],
			  *bytes = &waitlimits->bytes[class];

	waitcredit_refill(all, WAITLIMITS_READS, now);
	waitcredit_refill(reads, WAITLIMITS_CLASS, now);
	waitcredit_refill(bytes, WAITLIMITS_BYTES, now);
	if (all->left == 0 || reads->left == 0 || bytes->left < n ||
	    waitlimits->paid[class] > now + WAITLIMITS_SHARE * WAITLIMITS_AHEAD_NS)
		return false;
	all->left--;
	reads->left--;
	bytes->left -= (uint32_t)n;
	return true;
}

void waitlimits_charge(struct waitlimits *waitlimits, uint8_t class, uint64_t ns, uint64_t now)
{
	uint64_t *paid = &waitlimits->paid[class], most = 10 * SECOND_NS;

	*paid = (*paid > now ? *paid : now) + WAITLIMITS_SHARE * (ns < most ? ns : most);
}

void waitlimits_note(struct waitlimits *waitlimits, uint32_t pid, bool refused, uint64_t now)
{
	waitlimits->read |= !refused;
	if (!refused)
		return;
	waitlimits->refused[pid % WAITLIMITS_PIDS].pid = pid;
	waitlimits->refused[pid % WAITLIMITS_PIDS].until = now + WAITLIMITS_REFUSED_NS;
	if (waitlimits->read || ++waitlimits->vain < WAITLIMITS_VAIN)
		return;
	waitlimits->vain = 0;
	waitlimits->rest = now + WAITLIMITS_REFUSED_NS;
}

bool waitlimits_refuses(const struct waitlimits *waitlimits, uint32_t pid, uint64_t now)
{
	return now < waitlimits->rest || (waitlimits->refused[pid % WAITLIMITS_PIDS].pid == pid &&
					  now < waitlimits->refused[pid % WAITLIMITS_PIDS].until);
}
