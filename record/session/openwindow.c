/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/openwindow.h"

#include "common/clocks.h"
#include "record/processes/kernel.h"
#include "record/processes/overbudget.h"
#include "common/formats/unwindstats.h"
#include "record/session/waitstacks.h"

uint64_t openwindow_state_event(const struct openwindow *openwindow)
{
	return openwindow->o->nevents + 1;
}

static void write_text(struct openwindow *openwindow)
{
	output_records(&openwindow->out, openwindow->text.p, openwindow->text.n);
	openwindow->text.n = 0;
}

/* ---- writing of samples ----------------------------------------------------------------------------------------- */

static void write_sample(struct openwindow *openwindow, const struct ring_sample *sample, uint64_t sample_type)
{
	size_t before = openwindow->text.n;

	if (sample_type & PERF_SAMPLE_CGROUP)
		state_cgroup(openwindow->state, &openwindow->text, load64((const char *)sample + sample->head.size - 8),
			     sample->time);
	budgets_charge(openwindow->budgets, state_tenant(openwindow->state, sample->pid), openwindow->text.n - before,
		       sample->time);
	write_text(openwindow);
	output_records(&openwindow->out, &sample->head, sample->head.size);
	openwindow->first = openwindow->first && openwindow->first < sample->time ? openwindow->first : sample->time;
	openwindow->last = openwindow->last > sample->time ? openwindow->last : sample->time;
}

static uint64_t type_of(const struct openwindow *openwindow, const struct ring_sample *sample)
{
	return openwindow->attrs->event[sample->event - 1].attr.sample_type;
}

static void openwindow_write_sum(void *to, const struct ring_sample *sample)
{
	struct openwindow *openwindow = to;

	openwindow->text.n = 0;
	write_sample(openwindow, sample, type_of(openwindow, sample));
}

/* Returns true for a sample that the recorder itself creates: for off-CPU time, or for on-CPU time that is in no other
 * sample. */
static bool is_offcpu(const struct openwindow *openwindow, const struct ring_sample *sample)
{
	uint64_t first = openwindow->o->offcpu;

	return first && sample->event >= first && sample->event <= first + 1 + openwindow->o->wall;
}

/* Adds an off-CPU sample of a tenant over budget to the sum of its thread; the next flush writes the sum. Writes the
 * records that name the thread at once. Returns false if the caller must write the sample itself. That is so if the
 * sample is not one of off-CPU time, or all rows of sums were in use and have just been written. */
static bool is_summed(struct openwindow *openwindow, const struct ring_sample *sample, struct tenant tenant,
		      uint64_t sample_type)
{
	uint64_t cgroup = sample_type & PERF_SAMPLE_CGROUP ? load64((const char *)sample + sample->head.size - 8) : 0;
	bool added;

	if (!is_offcpu(openwindow, sample))
		return false;
	if (!openwindow->overtimes)
		openwindow->overtimes = overtimes_new();
	write_text(openwindow);
	added = overtimes_add(openwindow->overtimes, tenant, sample, cgroup);
	if (!added)
		overtimes_take(openwindow->overtimes, openwindow_write_sum, openwindow);
	return added;
}

/* Returns true for an off-CPU sample whose stack was read from memory, so that the kernel's limit of callchains does
 * not apply to it. */
static bool is_read(const struct openwindow *openwindow, const struct ring_sample *sample, const uint64_t *ips,
		    uint64_t nips)
{
	return openwindow->waits && is_offcpu(openwindow, sample) && !switches_is_unread(ips, nips);
}

static bool has_budget(struct openwindow *openwindow, const struct ring_sample *sample, struct tenant tenant,
		       uint64_t nips)
{
	if (nips > 2 && state_is_stale(openwindow->state, sample->pid)) {
		budgets_skip(openwindow->budgets, tenant);
		return false;
	}
	return (nips <= 2 && !is_offcpu(openwindow, sample)) ||
	       budgets_sample(openwindow->budgets, tenant, sample->head.size, sample->time);
}

void openwindow_sample(struct openwindow *openwindow, const struct ring_sample *sample)
{
	const uint64_t type = type_of(openwindow, sample), *chain = ring_chain(sample, type), *ips = chain + 1,
		       nips = *chain;
	struct tenant tenant;

	if (!(type & PERF_SAMPLE_STACK_USER) && !is_read(openwindow, sample, ips, nips) &&
	    nips >= openwindow->totals->depth_limit &&
	    nips - state_markers(ips, nips) >= openwindow->totals->depth_limit)
		openwindow->report.loss.depth++;
	openwindow->text.n = 0;
	if (!state_sampled(openwindow->state, &openwindow->text, sample->pid, sample->tid, sample->time, sample->ip))
		openwindow->report.loss.unknown++;
	tenant = state_tenant(openwindow->state, sample->pid);
	if (overbudget_is_chain(ips, nips)) {
		state_over_budget(openwindow->state, &openwindow->text, sample->pid, sample->time);
	} else if (!has_budget(openwindow, sample, tenant, nips)) {
		if (is_offcpu(openwindow, sample))
			switches_drop_stack(openwindow->switches);
		sample = overbudget_copy(sample, type, &openwindow->brief);
		if (openwindow->attrs->event[sample->event - 1].unwound)
			unwinder_recount(openwindow->unwinder, ips, nips);
		state_over_budget(openwindow->state, &openwindow->text, sample->pid, sample->time);
		if (is_summed(openwindow, sample, tenant, type))
			return;
	} else {
		state_hits(openwindow->state, &openwindow->text, sample->pid, sample->time, nips ? ips : &sample->ip,
			   nips ? nips : 1);
		kernel_modules_hit(openwindow->kernel, &openwindow->text, ips, nips, openwindow_state_event(openwindow),
				   sample->time);
		budgets_charge(openwindow->budgets, tenant, openwindow->text.n, sample->time);
	}
	write_sample(openwindow, sample, type);
}

void openwindow_lost_samples(struct openwindow *openwindow, uint64_t n, uint64_t ns, uint32_t cpu)
{
	struct {
		struct perf_record head;
		uint64_t lost;
		struct ring_sample_id sample_id;
	} r = { { .type = RECORD_LOST_SAMPLES, .size = sizeof(r) }, n, { .time = ns, .cpu = cpu, .event = 1 } };

	output_records(&openwindow->out, &r.head, r.head.size);
}

/* ---- begin and end of windows ----------------------------------------------------------------------------------- */

void openwindow_begin(struct openwindow *openwindow, uint64_t begin, uint64_t end)
{
	struct pj_window planned = { begin, end, openwindow->serial };

	openwindow->begin = begin;
	openwindow->end = end;
	openwindow->first = openwindow->last = 0;
	openwindow->report = (struct window_report){ .begin = begin,
						     .end = end,
						     .depth_limit = openwindow->totals->depth_limit,
						     .has_offcpu = openwindow->switches,
						     .has_unwinding = openwindow->unwinder };
	bool open = output_begin(&openwindow->out, &openwindow->facts, &planned, clock_wall_of(begin));

	idle_begin(&openwindow->idle);
	kernel_refresh(openwindow->kernel);
	state_begin(openwindow->state, openwindow->serial + 1);
	if (!open)
		return;
	openwindow->text.n = 0;
	kernel_begin(openwindow->kernel, &openwindow->text, openwindow_state_event(openwindow), begin);
	write_text(openwindow);
}

/* Appends an item for each kind of helper process of which a process hung, crashed, was avoided, lingers or is switched
 * off. */
static void openwindow_put_helpers(const struct window_report *report, struct text *text)
{
	const struct helper_counts saver = { report->saved.hung, report->saved.crashed, 0, report->saved.lingering,
					     report->saved.off };
	const struct helper_counts *counts[PJ_HELPERS] = { [PJ_HELPER_TABLES] = &report->helpers,
							   [PJ_HELPER_JVM] = &report->jvm_helpers,
							   [PJ_HELPER_SAVER] = &saver,
							   [PJ_HELPER_INTERPRETER] = &report->interpreter_helpers,
							   [PJ_HELPER_WAIT] = &report->wait_helpers };

	for (uint32_t kind = 0; kind < PJ_HELPERS; kind++) {
		const struct helper_counts *c = counts[kind];
		struct pj_helper item = { kind, (uint32_t)c->off, c->hung, c->crashed, c->avoided, c->lingering };

		if (c->off || c->hung || c->crashed || c->avoided || c->lingering)
			chunk_put_item(text, PJ_ITEM_HELPER, &item, sizeof(item));
	}
}

static void openwindow_put_end(struct openwindow *openwindow, struct text *text)
{
	char name[2][64];
	size_t n = openwindow->keep ? symsaver_kernels(openwindow->keep, name) : 0;

	for (size_t i = 0; i < n; i++)
		chunk_put_item(text, PJ_ITEM_KALLSYMS, name[i], strlen(name[i]));
	text_str(text, state_items(openwindow->state));
	idle_put(&openwindow->idle, text);
	chunk_put_item(text, PJ_ITEM_LOSS, &openwindow->report.loss, sizeof(openwindow->report.loss));
	if (openwindow->switches) {
		chunk_put_item(text, PJ_ITEM_OFFCPU, &openwindow->report.offcpu, sizeof(openwindow->report.offcpu));
		chunk_put_item(text, PJ_ITEM_BORDER, &openwindow->report.end, sizeof(openwindow->report.end));
	}
	budgets_put(text, &openwindow->report.tenants);
	openwindow_put_helpers(&openwindow->report, text);
	unwinder_put(openwindow->unwinder, &openwindow->report.unwinding, openwindow->out.pipe, text);
}

static void add_up(struct openwindow *openwindow)
{
	metrics_add_loss(&openwindow->totals->loss, &openwindow->report.loss);
	offcpu_add(&openwindow->totals->offcpu, &openwindow->report.offcpu);
	unwindstats_add(&openwindow->totals->unwinding, &openwindow->report.unwinding);
	openwindow->totals->samples += openwindow->report.samples;
	openwindow->totals->windows++;
	openwindow->totals->last = openwindow->report;
}

static void add_over(void *budgets, struct tenant tenant, uint64_t files)
{
	budgets_over(budgets, tenant, OVER_FILES, files);
}

/* Sets the counts of the symbol saver for this window: the differences of its counters, which never restart, from their
 * values at the end of the previous window. */
static void count_saved(struct openwindow *openwindow)
{
	struct symsaver_counts now;

	if (!openwindow->keep)
		return;
	now = symsaver_counts(openwindow->keep);
	openwindow->report.saved = symsaver_since(&now, &openwindow->saved);
	openwindow->saved = now;
}

/* Counts the waits in this window whose stacks were not read, by reason (difference from the previous window). */
static void count_unread(struct openwindow *openwindow)
{
	struct waitcounters now = waitstacks_counters(openwindow->waits);
	struct unread_waits all = { .space = now.ring_full + now.queue_full,
				    .budget = now.over_budget,
				    .denied = now.denied },
			    *before = &openwindow->unread_waits;

	openwindow->report.unread_waits = (struct unread_waits){ .space = all.space - before->space,
								 .budget = all.budget - before->budget,
								 .denied = all.denied - before->denied };
	*before = all;
}

static void count_helpers(struct openwindow *openwindow)
{
	struct helper_counts now = unwinder_helpers(openwindow->unwinder);

	openwindow->report.helpers = helper_counts_since(&now, &openwindow->helpers);
	openwindow->helpers = now;
	now = unwinder_jvm_helpers(openwindow->unwinder);
	openwindow->report.jvm_helpers = helper_counts_since(&now, &openwindow->jvm_helpers);
	openwindow->jvm_helpers = now;
	now = unwinder_interpreter_helpers(openwindow->unwinder);
	openwindow->report.interpreter_helpers = helper_counts_since(&now, &openwindow->interpreter_helpers);
	openwindow->interpreter_helpers = now;
	now = waitstacks_helpers(openwindow->waits);
	openwindow->report.wait_helpers = helper_counts_since(&now, &openwindow->wait_helpers);
	openwindow->wait_helpers = now;
	count_unread(openwindow);
}

void openwindow_end(struct openwindow *openwindow, uint64_t end)
{
	struct text text = { 0 }, build_ids = { 0 };

	openwindow->report.offcpu = switches_end(openwindow->switches, end);
	overtimes_take(openwindow->overtimes, openwindow_write_sum, openwindow);
	openwindow->report.unwinding = unwinder_end(openwindow->unwinder, &openwindow->report.incomplete);
	openwindow->report.end = end;
	if (openwindow->keep)
		symsaver_each_over(openwindow->keep, add_over, openwindow->budgets);
	budgets_end(openwindow->budgets, &openwindow->report.tenants);
	openwindow->report.processes = state_processes(openwindow->state);
	state_end(openwindow->state);
	count_saved(openwindow);
	count_helpers(openwindow);
	openwindow_put_end(openwindow, &text);
	kernel_build_ids(openwindow->kernel, &build_ids);
	text_str(&build_ids, state_build_ids(openwindow->state));
	struct chunk_end e = { text_view(&build_ids), text_view(&text), openwindow->first, openwindow->last };
	output_end(&openwindow->out, &e, &openwindow->report);
	text_free(&text);
	text_free(&build_ids);
	add_up(openwindow);
	if (openwindow->keep)
		symsaver_window(openwindow->keep);
	cgroups_forget(openwindow->cgroups, openwindow->serial > 10 ? openwindow->serial - 10 : 0);
	openwindow->done++;
	openwindow->serial++;
}

void openwindow_flush(struct openwindow *openwindow)
{
	struct text items = { 0 };

	overtimes_take(openwindow->overtimes, openwindow_write_sum, openwindow);
	if (openwindow->out.pipe) {
		unwinder_put_code(openwindow->unwinder, &items);
		output_items(&openwindow->out, text_view(&items));
		text_free(&items);
	}
	output_flush(&openwindow->out);
}

void openwindow_free(struct openwindow *openwindow)
{
	overtimes_free(openwindow->overtimes);
	idle_free(&openwindow->idle);
	text_free(&openwindow->text);
	text_free(&openwindow->brief);
}
