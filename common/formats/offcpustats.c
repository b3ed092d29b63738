/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/offcpustats.h"

#include "common/formats/unwindstats.h"

/* Returns a + b, or UINT64_MAX if the sum overflows. */
static uint64_t offcpustats_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void offcpustats_add(struct pj_offcpu *sum, const struct pj_offcpu *more)
{
	sum->read = offcpustats_sum(sum->read, more->read);
	sum->read_ns = offcpustats_sum(sum->read_ns, more->read_ns);
	sum->complete = offcpustats_sum(sum->complete, more->complete);
	sum->complete_ns = offcpustats_sum(sum->complete_ns, more->complete_ns);
	sum->unread = offcpustats_sum(sum->unread, more->unread);
	sum->unread_ns = offcpustats_sum(sum->unread_ns, more->unread_ns);
	sum->early = offcpustats_sum(sum->early, more->early);
	sum->early_ns = offcpustats_sum(sum->early_ns, more->early_ns);
	sum->early_complete_ns = offcpustats_sum(sum->early_complete_ns, more->early_complete_ns);
	sum->lacking = more->lacking > sum->lacking ? more->lacking : sum->lacking;
}

/* Returns all - part; 0 if `part` is larger. */
static uint64_t offcpustats_rest(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

struct offcpu_share offcpustats_blocked(const struct pj_offcpu *offcpu)
{
	uint64_t unread = offcpustats_rest(offcpu->unread_ns, offcpu->preempted_unread_ns);

	return (struct offcpu_share){ .all = offcpustats_sum(
					      offcpustats_rest(offcpu->read_ns, offcpu->preempted_read_ns), unread),
				      .complete = offcpustats_rest(offcpu->complete_ns, offcpu->preempted_complete_ns),
				      .unread = unread };
}

void offcpustats_text(struct text *text, const struct pj_offcpu *offcpu)
{
	uint64_t all = offcpustats_sum(offcpu->read_ns, offcpu->unread_ns);

	text_printf(text, "stacks of %.3f s off the CPU: ", (double)all / 1e9);
	unwindstats_share(text, offcpu->complete_ns, all);
	text_add(text, " complete, read while the thread was off the CPU");
	if (offcpu->read_ns > offcpu->complete_ns) {
		text_add(text, ", ");
		unwindstats_share(text, offcpu->read_ns - offcpu->complete_ns, all);
		text_add(text, " read but not complete");
	}
	if (offcpu->unread_ns) {
		text_add(text, ", ");
		unwindstats_share(text, offcpu->unread_ns, all);
		text_add(text, " not read");
	}
}
