/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/offcpustats.h"
#include "record/offcpu/offcpu.h"

void offcpu_add(struct pj_offcpu *sum, const struct pj_offcpu *more)
{
	sum->blocked += more->blocked;
	sum->blocked_ns += more->blocked_ns;
	sum->preempted += more->preempted;
	sum->preempted_ns += more->preempted_ns;
	sum->brief += more->brief;
	sum->brief_ns += more->brief_ns;
	sum->unknown += more->unknown;
	sum->unknown_ns += more->unknown_ns;
	sum->without_chain += more->without_chain;
	sum->without_chain_ns += more->without_chain_ns;
	sum->before += more->before;
	sum->before_ns += more->before_ns;
	sum->never = more->never;
	sum->lost += more->lost;
	sum->read += more->read;
	sum->read_ns += more->read_ns;
	sum->complete += more->complete;
	sum->complete_ns += more->complete_ns;
	sum->unread += more->unread;
	sum->unread_ns += more->unread_ns;
	sum->preempted_read_ns += more->preempted_read_ns;
	sum->preempted_complete_ns += more->preempted_complete_ns;
	sum->preempted_unread_ns += more->preempted_unread_ns;
	sum->own = more->own;
	sum->early += more->early;
	sum->early_ns += more->early_ns;
	sum->early_complete_ns += more->early_complete_ns;
	sum->lacking = more->lacking > sum->lacking ? more->lacking : sum->lacking;
}

static void offcpu_report(struct text *text, const char *before, uint64_t n, const char *one, const char *many,
			  uint64_t ns)
{
	text_add(text, before);
	text_grouped(text, n);
	text_printf(text, " %s (%.*f s)", n == 1 ? one : many, ns < 10000000000 ? 3 : 1, (double)ns / 1e9);
}

void offcpu_text(struct text *text, const struct pj_offcpu *offcpu)
{
	offcpu_report(text, "", offcpu->blocked, "time blocked", "times blocked", offcpu->blocked_ns);
	offcpu_report(text, ", ", offcpu->preempted, "preempted", "preempted", offcpu->preempted_ns);
	if (offcpu->brief)
		offcpu_report(text, "; not written: ", offcpu->brief, "shorter than the minimum",
			      "shorter than the minimum", offcpu->brief_ns);
	if (offcpu->unknown || offcpu->unknown_ns)
		offcpu_report(text, "; unknown, because records were lost: ", offcpu->unknown, "time", "times",
			      offcpu->unknown_ns);
	if (offcpu->without_chain)
		offcpu_report(text, "; without callchain, not written: ", offcpu->without_chain, "time", "times",
			      offcpu->without_chain_ns);
	if (offcpu->before)
		offcpu_report(text, "; off the CPU since before the recording, without stack: ", offcpu->before,
			      "thread that returned", "threads that returned", offcpu->before_ns);
	if (offcpu->never) {
		text_add(text, offcpu->before ? " and " : "; off the CPU since before the recording, without stack: ");
		text_grouped(text, offcpu->never);
		text_add(text, " that did not return");
	}
	if (offcpu->early)
		offcpu_report(text, "; off the CPU since before the recording, with a stack: ", offcpu->early, "time",
			      "times", offcpu->early_ns);
	if (offcpu->own) {
		text_add(text, "; left out: ");
		text_grouped(text, offcpu->own);
		text_add(text, offcpu->own == 1 ? " process of this recording" : " processes of this recording");
	}
	if (offcpu->read || offcpu->unread) {
		text_add(text, "; ");
		offcpustats_text(text, offcpu);
	}
}
