/* SPDX-License-Identifier: Apache-2.0 */
#include "record/openwindow.h"

#include "common/clocks.h"
#include "record/processes/kernel.h"
#include "common/formats/unwindstats.h"

uint64_t openwindow_state_event(const struct openwindow *w)
{
	return w->o->nevents + 1;
}

static void write_text(struct openwindow *w)
{
	output_records(&w->out, w->text.p, w->text.n);
	w->text.n = 0;
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

static void write_sample(struct openwindow *w, const struct ring_sample *r, uint64_t sample_type)
{
	size_t before = w->text.n;

	if (sample_type & PERF_SAMPLE_CGROUP)
		state_cgroup(w->state, &w->text, load64((const char *)r + r->head.size - 8), r->time);
	budgets_charge(w->budgets, state_tenant(w->state, r->pid), w->text.n - before, r->time);
	write_text(w);
	output_records(&w->out, &r->head, r->head.size);
	w->first = w->first && w->first < r->time ? w->first : r->time;
	w->last = w->last > r->time ? w->last : r->time;
}

static uint64_t type_of(const struct openwindow *w, const struct ring_sample *r)
{
	return w->attrs->event[r->event - 1].attr.sample_type;
}

static void openwindow_write_sum(void *to, const struct ring_sample *r)
{
	struct openwindow *w = to;

	w->text.n = 0;
	write_sample(w, r, type_of(w, r));
}

static bool is_offcpu(const struct openwindow *w, const struct ring_sample *r)
{
	return w->o->offcpu && (r->event == w->o->offcpu || r->event == w->o->offcpu + 1);
}

/* A time off the CPU over budget: it is written later, in a sum. What names its thread is written now. False: it is a
 * sample of its own. */
static bool is_summed(struct openwindow *w, const struct ring_sample *r, struct tenant tenant, uint64_t sample_type)
{
	uint64_t cgroup = sample_type & PERF_SAMPLE_CGROUP ? load64((const char *)r + r->head.size - 8) : 0;
	bool added;

	if (!is_offcpu(w, r))
		return false;
	if (!w->overtimes)
		w->overtimes = overtimes_new();
	write_text(w);
	added = overtimes_add(w->overtimes, tenant, r, cgroup);
	if (!added)
		overtimes_take(w->overtimes, openwindow_write_sum, w);
	return added;
}

static bool has_budget(struct openwindow *w, const struct ring_sample *r, struct tenant tenant, uint64_t nips)
{
	if (nips > 2 && state_is_stale(w->state, r->pid)) {
		budgets_skip(w->budgets, tenant);
		return false;
	}
	return (nips <= 2 && !is_offcpu(w, r)) || budgets_sample(w->budgets, tenant, r->head.size, r->time);
}

void openwindow_sample(struct openwindow *w, const struct ring_sample *r)
{
	const uint64_t type = type_of(w, r), *chain = ring_chain(r, type), *ips = chain + 1, nips = *chain;
	struct tenant tenant;

	if (!(type & PERF_SAMPLE_STACK_USER) && nips >= w->totals->depth_limit &&
	    nips - state_markers(ips, nips) >= w->totals->depth_limit)
		w->report.loss.depth++;
	w->text.n = 0;
	if (!state_sampled(w->state, &w->text, r->pid, r->tid, r->time, r->ip))
		w->report.loss.unknown++;
	tenant = state_tenant(w->state, r->pid);
	if (nips == 2 && ips[1] == PJ_OVER_BUDGET_IP) { /* it was not walked */
		state_over_budget(w->state, &w->text, r->pid, r->time);
	} else if (!has_budget(w, r, tenant, nips)) {
		r = budgets_brief(r, type, &w->brief);
		state_over_budget(w->state, &w->text, r->pid, r->time);
		if (is_summed(w, r, tenant, type))
			return;
	} else {
		state_hits(w->state, &w->text, r->pid, r->time, nips ? ips : &r->ip, nips ? nips : 1);
		kernel_modules_hit(w->kernel, &w->text, ips, nips, openwindow_state_event(w), r->time);
		budgets_charge(w->budgets, tenant, w->text.n, r->time);
	}
	write_sample(w, r, type);
}

void openwindow_lost_samples(struct openwindow *w, uint64_t n, uint64_t ns, uint32_t cpu)
{
	struct {
		struct perf_record head;
		uint64_t lost;
		struct ring_tail tail;
	} r = { { .type = RECORD_LOST_SAMPLES, .size = sizeof(r) }, n, { .time = ns, .cpu = cpu, .event = 1 } };

	output_records(&w->out, &r.head, r.head.size);
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

void openwindow_begin(struct openwindow *w, uint64_t begin, uint64_t end)
{
	struct pj_window planned = { begin, end, w->serial };

	w->begin = begin;
	w->end = end;
	w->first = w->last = 0;
	w->report = (struct window_report){ .begin = begin,
					    .end = end,
					    .depth_limit = w->totals->depth_limit,
					    .has_offcpu = w->switches,
					    .has_unwinding = w->unwinder };
	bool open = output_begin(&w->out, &w->facts, &planned, clock_wall_of(begin));

	idle_begin(&w->idle);
	kernel_refresh(w->kernel);
	state_begin(w->state, w->serial + 1);
	if (!open)
		return;
	w->text.n = 0;
	kernel_begin(w->kernel, &w->text, openwindow_state_event(w), begin);
	write_text(w);
}

/* An item for each kind of helper process to which something happened. */
static void openwindow_put_helpers(const struct window_report *r, struct text *t)
{
	const struct helper_counts saver = { r->saved.hung, r->saved.crashed, 0, r->saved.lingering, r->saved.off };
	const struct helper_counts *counts[PJ_HELPERS] = {
		[PJ_HELPER_TABLES] = &r->helpers, [PJ_HELPER_JVM] = &r->jvm_helpers, [PJ_HELPER_SAVER] = &saver
	};

	for (uint32_t kind = 0; kind < PJ_HELPERS; kind++) {
		const struct helper_counts *c = counts[kind];
		struct pj_helper item = { kind, (uint32_t)c->off, c->hung, c->crashed, c->avoided, c->lingering };

		if (c->off || c->hung || c->crashed || c->avoided || c->lingering)
			chunk_put_item(t, PJ_ITEM_HELPER, &item, sizeof(item));
	}
}

static void openwindow_put_end(struct openwindow *w, struct text *t)
{
	char name[2][64];
	size_t n = w->keep ? symsaver_kernels(w->keep, name) : 0;

	for (size_t i = 0; i < n; i++)
		chunk_put_item(t, PJ_ITEM_KALLSYMS, name[i], strlen(name[i]));
	text_str(t, state_items(w->state));
	idle_put(&w->idle, t);
	chunk_put_item(t, PJ_ITEM_LOSS, &w->report.loss, sizeof(w->report.loss));
	if (w->switches)
		chunk_put_item(t, PJ_ITEM_OFFCPU, &w->report.offcpu, sizeof(w->report.offcpu));
	budgets_put(t, &w->report.tenants);
	openwindow_put_helpers(&w->report, t);
	unwinder_put(w->unwinder, &w->report.unwinding, t);
}

static void add_up(struct openwindow *w)
{
	metrics_add_loss(&w->totals->loss, &w->report.loss);
	offcpu_add(&w->totals->offcpu, &w->report.offcpu);
	unwindstats_add(&w->totals->unwinding, &w->report.unwinding);
	w->totals->samples += w->report.samples;
	w->totals->windows++;
	w->totals->last = w->report;
}

static void add_over(void *budgets, struct tenant of, uint64_t files)
{
	budgets_over(budgets, of, OVER_FILES, files);
}

/* The keeper counts all that it did since it was started. */
static void count_saved(struct openwindow *w)
{
	struct symsaver_counts now;

	if (!w->keep)
		return;
	now = symsaver_counts(w->keep);
	w->report.saved = symsaver_since(&now, &w->saved);
	w->saved = now;
}

static void count_helpers(struct openwindow *w)
{
	struct helper_counts now = unwinder_helpers(w->unwinder);

	w->report.helpers = helper_counts_since(&now, &w->helpers);
	w->helpers = now;
	now = unwinder_jvm_helpers(w->unwinder);
	w->report.jvm_helpers = helper_counts_since(&now, &w->jvm_helpers);
	w->jvm_helpers = now;
}

void openwindow_end(struct openwindow *w, uint64_t end)
{
	struct text pj = { 0 }, build_ids = { 0 };

	w->report.offcpu = switches_end(w->switches, end);
	overtimes_take(w->overtimes, openwindow_write_sum, w);
	w->report.unwinding = unwinder_end(w->unwinder);
	w->report.end = end;
	if (w->keep)
		symsaver_each_over(w->keep, add_over, w->budgets);
	budgets_end(w->budgets, &w->report.tenants);
	w->report.processes = state_processes(w->state);
	state_end(w->state);
	count_saved(w);
	count_helpers(w);
	openwindow_put_end(w, &pj);
	kernel_build_ids(w->kernel, &build_ids);
	text_str(&build_ids, state_build_ids(w->state));
	struct chunk_end e = { text_view(&build_ids), text_view(&pj), w->first, w->last };
	output_end(&w->out, &e, &w->report);
	text_free(&pj);
	text_free(&build_ids);
	add_up(w);
	if (w->keep)
		symsaver_window(w->keep);
	cgroups_forget(w->cgroups, w->serial > 10 ? w->serial - 10 : 0);
	w->done++;
	w->serial++;
}

void openwindow_flush(struct openwindow *w)
{
	overtimes_take(w->overtimes, openwindow_write_sum, w);
	output_flush(&w->out);
}

void openwindow_free(struct openwindow *w)
{
	overtimes_free(w->overtimes);
	idle_free(&w->idle);
	text_free(&w->text);
	text_free(&w->brief);
}
