/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recordreport.h"

#include "common/diag.h"
#include "record/perf/hints.h"
#include "record/windows/metrics.h"

#include <errno.h>
#include <string.h>

/* Warns if kernel symbols are hidden, at the start of the recording, as it may run for months. */
static void report_hidden_symbols(void)
{
	struct text text = { 0 };
	struct hint hint = { 0 };

	hint_gather(&hint.facts);
	if (hint_kallsyms(&hint)) {
		hint_text(&text, &hint);
		warn("kernel functions will have no names: %.*s", (int)text.n, text.p);
	}
	text_free(&text);
}

/* Warns if stacks are unwound with smaller stack copies than requested, or without copies. If the user chose the
 * unwinding with --unwind, exits with the message instead. */
static void report_fallback(const struct request *request, const struct fallback *fallback)
{
	struct text text = { 0 };

	fallback_text(&text, fallback);
	if (text.n && request->unwind != UNWIND_BY_BOTH)
		die("%.*s", (int)text.n, text.p);
	if (text.n)
		warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

/* Exits with a message if the host refuses stack copies, so that samples of allocations have no registers. */
static void check_allocations_open(const struct events *events, const struct fallback *fallback)
{
	struct text text = { 0 };

	for (size_t i = 0; i < events->n && !fallback->bytes; i++) {
		if (!events->event[i].allocates)
			continue;
		fallback_cause(&text, fallback);
		die("-e java:alloc needs copies of stacks: %.*s", (int)text.n, text.p);
	}
}

void recordreport_start(const struct request *request, const struct session *session, const struct events *events)
{
	struct session_totals totals = session_totals(session);

	check_allocations_open(events, &totals.fallback);
	report_fallback(request, &totals.fallback);
	if (totals.changed)
		warn("a libjvm.so changed while pjrecord started: allocations of its JVMs are not recorded");
	if (events->by_clock && request->verbose)
		warn("no hardware counters: sampling by cpu-clock");
	if (totals.without_kernel)
		warn("user space only: kernel stacks need CAP_PERFMON, or kernel.perf_event_paranoid below 2");
	else
		report_hidden_symbols();
	if (totals.no_cgroups && !request->quiet)
		warn("this kernel has no cgroup in samples: pjfold --by=container will not work on these files");
}

void recordreport_exec(const char *command, int error)
{
	if (error == ENOENT && !strchr(command, '/'))
		warn("%s: No such file or directory in PATH: a command to record, as in pjrecord ./program; -s 10 "
		     "records the host",
		     command);
	else
		warn("%s: %s", command, strerror(error));
}

/* If the processes of -p had no sample and only on-CPU times were recorded, prints the option that shows their
 * waits. */
static void report_idle(const struct request *request, const struct session_totals *totals)
{
	if (request->npids && !totals->samples && !totals->loss.samples && !totals->lost_others && !request->offcpu &&
	    str_eq(str_of(request->events), STR("auto")))
		warn("%s did not run on a CPU: --off-cpu shows where %s",
		     request->npids == 1 ? "the process" : "the processes",
		     request->npids == 1 ? "it waits" : "they wait");
}

/* Prints that the number of lost samples is an estimate, if other processes than those of -p had samples where samples
 * were lost. */
static void report_lost_others(const struct session_totals *totals)
{
	struct text text = { 0 };

	if (!totals->lost_others)
		return;
	text_add(&text, "how many of ");
	text_grouped(&text, totals->lost_others + totals->loss.samples);
	text_add(&text, " lost samples belong to -p is unknown, as other processes filled the rings, too; ");
	text_grouped(&text, totals->loss.samples);
	text_add(&text, " is an estimate by the samples that were read: a larger ring (-m) helps");
	warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

void recordreport_end(const struct request *request, const struct session *session)
{
	struct session_totals totals = session_totals(session);
	struct text text = { 0 };

	if (request->quiet || !request->output)
		return;
	if (request->verbose)
		metrics_summary(&text, &totals.last);
	else
		metrics_sentence(&text, &totals.last);
	warn("%s: %.*s", str_eq(str_of(request->output), STR("-")) ? "standard output" : request->output, (int)text.n,
	     text.p);
	if (totals.loss.depth && request->verbose)
		warn("stacks are deeper than kernel.perf_event_max_stack=%u and truncated: sysctl "
		     "kernel.perf_event_max_stack=%u first",
		     totals.depth_limit, totals.depth_limit < 512 ? 1024 : 2 * totals.depth_limit);
	report_idle(request, &totals);
	report_lost_others(&totals);
	text.n = 0;
	allocation_counts_text(&text, &totals.allocations, request->verbose);
	if (text.n)
		warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

bool recordreport_loss(const struct request *request, const struct session *session)
{
	struct session_totals totals = session_totals(session);
	uint64_t all = totals.samples + totals.loss.samples;
	uint64_t times = totals.offcpu.blocked_ns + totals.offcpu.preempted_ns + totals.offcpu.brief_ns +
			 totals.offcpu.unknown_ns + totals.oncpu_ns;
	double share = all ? (double)totals.loss.samples / (double)all : 0;
	double unknown = times ? (double)totals.offcpu.unknown_ns / (double)times : 0;

	if (request->max_lost < 0 || (share <= request->max_lost && unknown <= request->max_lost))
		return false;
	warn("%.2f %% of the %s, more than --max-lost=%g%%: try a larger --ring-size",
	     100 * (share > request->max_lost ? share : unknown),
	     share > request->max_lost ? "samples were lost" :
	     request->wall             ? "wall-clock time is unknown" :
					 "off-CPU times are unknown",
	     100 * request->max_lost);
	return true;
}

void recordreport_saved(const struct request *request, const struct symsaver_counts *counts)
{
	struct text text = { 0 };

	symsaver_text(&text, counts);
	if (text.n && request->verbose)
		warn("symbol store: %.*s", (int)text.n, text.p);
	text_free(&text);
}

void recordreport_makers(const struct session *session)
{
	struct session_totals totals = session_totals(session);

	if (totals.helpers.hung + totals.helpers.crashed)
		warn("the process that reads unwind tables hung or crashed, and was replaced (%llu): stacks "
		     "through its files may be broken",
		     (unsigned long long)(totals.helpers.hung + totals.helpers.crashed));
}

void recordreport_waits(const struct request *request, const struct session *session)
{
	struct hint hint = { .step = HINT_MEMORY, .error = EPERM };
	struct text text = { 0 };

	if (request->quiet || !session_totals(session).waits_denied)
		return;
	hint_gather(&hint.facts);
	hint_text(&text, &hint);
	warn("callers of waits are found by frame pointers only: %.*s", (int)text.n, text.p);
	text_free(&text);
}

void recordreport_endless(const struct request *request)
{
	unsigned long long seconds = request->seconds;

	if (request->window_operand && !request->count && !request->length_ns && !request->command && !request->quiet)
		warn("windows of %llu s go to %s/out until Ctrl-C; -s %llu records for %llu s", seconds, request->dir,
		     seconds, seconds);
}
