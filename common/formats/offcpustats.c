/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/offcpustats.h"

#include "common/formats/unwindstats.h"

void offcpustats_text(struct text *text, const struct pj_offcpu *offcpu)
{
	uint64_t all = offcpu->read_ns + offcpu->unread_ns;

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
