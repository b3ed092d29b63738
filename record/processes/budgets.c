/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/budgets.h"

#include "common/arena.h"

#include <stdlib.h>

/* assumed bytes per second of samples of an event with a fixed period on one CPU */
#define COUNTED_BYTES (UINT64_C(16) << 20)

struct budgets {
	struct tenants *tenants;
	struct budgets_limits limits;
	struct pj_tenants window;
};

struct budgets_limits budgets_limits(const struct chunk_event *event, size_t n, uint32_t stack_bytes, uint64_t cpus,
				     uint64_t per_second)
{
	struct budgets_limits limits = { .each = stack_bytes / 6 + 1024, .per_second = per_second };
	bool allocates = false;

	for (size_t i = 0; i < n && !per_second; i++) {
		/* all events of java:alloc count as one: each libjvm.so adds two, and tenants choose the number of
		 * these files */
		if (!event[i].allocates || !allocates)
			limits.per_second +=
				cpus * (event[i].attr.freq ? event[i].attr.sample_freq * limits.each : COUNTED_BYTES);
		allocates |= event[i].allocates;
	}
	return limits;
}

struct budgets *budgets_new(struct budgets_limits l)
{
	struct budgets *budgets = mem_alloc(sizeof(*budgets), 1);
	struct tenant_limits limits = {
		.flow[TENANT_CPU_NS] = { BUDGET_CPU_NS, BUDGET_CPU_AHEAD },
		.flow[TENANT_JVM_NS] = { BUDGET_CPU_NS, BUDGET_JVM_AHEAD },
		.flow[TENANT_PROC_NS] = { BUDGET_PROC_NS, 3 * BUDGET_PROC_NS },
		.flow[TENANT_BLOCKED_NS] = { BUDGET_BLOCKED_NS, BUDGET_BLOCKED_AHEAD },
		.flow[TENANT_SAMPLE_BYTES] = { 0, l.each ? BUDGET_AHEAD : 0 },
		.flow[TENANT_WINDOW_BYTES] = { l.per_second, 10 * l.per_second },
		.stock[TENANT_MEMORY] = BUDGET_MEMORY,
		.total[TENANT_MEMORY] = BUDGET_MEMORY_TOTAL,
	};

	budgets->limits = l;
	budgets->tenants = tenants_new(&limits);
	return budgets;
}

void budgets_free(struct budgets *budgets)
{
	if (budgets)
		tenants_free(budgets->tenants);
	free(budgets);
}

struct tenants *budgets_tenants(struct budgets *budgets)
{
	return budgets->tenants;
}

static uint64_t sum_u64(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Returns the row of a tenant in a report, and adds it if it is missing. Returns the row `others` if the tenant is
 * unknown or the report has PJ_TENANTS other rows. */
static struct pj_tenant *budgets_row_of(struct pj_tenants *report, uint32_t kind, uint64_t key)
{
	for (uint32_t i = 0; i < report->n; i++)
		if (report->row[i].kind == kind && report->row[i].key == key)
			return &report->row[i];
	if (report->n == PJ_TENANTS || kind == TENANT_UNKNOWN)
		return &report->others;
	report->row[report->n] = (struct pj_tenant){ .kind = kind, .key = key };
	return &report->row[report->n++];
}

void budgets_over(struct budgets *budgets, struct tenant tenant, enum over what, uint64_t n)
{
	struct pj_tenant *row = budgets ? budgets_row_of(&budgets->window, tenant.kind, tenant.key) : NULL;
	size_t at[OVERS] = { [OVER_SAMPLES] = offsetof(struct pj_tenant, samples),
			     [OVER_MAPPINGS] = offsetof(struct pj_tenant, mappings),
			     [OVER_READS] = offsetof(struct pj_tenant, reads),
			     [OVER_FILES] = offsetof(struct pj_tenant, files),
			     [OVER_JVMS] = offsetof(struct pj_tenant, jvms),
			     [OVER_TABLES] = offsetof(struct pj_tenant, tables) };
	uint64_t *count = row ? (uint64_t *)(void *)((char *)row + at[what]) : NULL;

	if (count)
		*count = sum_u64(*count, n);
}

void budgets_charge_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns, uint64_t now)
{
	tenants_charge(budgets->tenants, tenant, TENANT_PROC_NS, ns, now);
	tenants_charge(budgets->tenants, tenant, TENANT_CPU_NS, ns, now);
}

void budgets_credit_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns)
{
	tenants_credit(budgets->tenants, tenant, TENANT_PROC_NS, ns);
	tenants_credit(budgets->tenants, tenant, TENANT_CPU_NS, ns);
}

bool budgets_sample(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now)
{
	if (budgets->limits.each)
		tenants_credit(budgets->tenants, tenant, TENANT_SAMPLE_BYTES, budgets->limits.each);
	if (tenants_take(budgets->tenants, tenant, TENANT_WINDOW_BYTES, bytes, now) &&
	    tenants_take(budgets->tenants, tenant, TENANT_SAMPLE_BYTES, bytes, now))
		return true;
	budgets_over(budgets, tenant, OVER_SAMPLES, 1);
	budgets_row_of(&budgets->window, tenant.kind, tenant.key)->bytes += bytes;
	return false;
}

bool budgets_has(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now)
{
	return tenants_has(budgets->tenants, tenant, TENANT_SAMPLE_BYTES, bytes, now) &&
	       tenants_has(budgets->tenants, tenant, TENANT_WINDOW_BYTES, bytes, now);
}

void budgets_skip(struct budgets *budgets, struct tenant tenant)
{
	tenants_credit(budgets->tenants, tenant, TENANT_SAMPLE_BYTES, budgets->limits.each);
	budgets_over(budgets, tenant, OVER_SAMPLES, 1);
}

void budgets_charge(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now)
{
	if (!bytes)
		return;
	tenants_charge(budgets->tenants, tenant, TENANT_SAMPLE_BYTES, bytes, now);
	tenants_charge(budgets->tenants, tenant, TENANT_WINDOW_BYTES, bytes, now);
}

static void budgets_add_row(struct pj_tenant *sum, const struct pj_tenant *more)
{
	sum->samples = sum_u64(sum->samples, more->samples);
	sum->mappings = sum_u64(sum->mappings, more->mappings);
	sum->reads = sum_u64(sum->reads, more->reads);
	sum->bytes = sum_u64(sum->bytes, more->bytes);
	sum->jvms = sum_u64(sum->jvms, more->jvms);
	sum->tables = sum_u64(sum->tables, more->tables);
	sum->files = sum_u64(sum->files, more->files);
}

uint64_t budgets_lost(const struct pj_tenant *row)
{
	return sum_u64(sum_u64(sum_u64(row->samples, row->files), sum_u64(row->mappings, row->reads)),
		       sum_u64(row->jvms, row->tables));
}

static int by_losses(const void *x, const void *y)
{
	uint64_t m = budgets_lost(x), n = budgets_lost(y);

	return (m < n) - (m > n);
}

void budgets_end(struct budgets *budgets, struct pj_tenants *report)
{
	qsort(budgets->window.row, budgets->window.n, sizeof(budgets->window.row[0]), by_losses);
	*report = budgets->window;
	budgets->window = (struct pj_tenants){ 0 };
}

void budgets_add(struct pj_tenants *sum, const struct pj_tenants *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		budgets_add_row(budgets_row_of(sum, more->row[i].kind, more->row[i].key), &more->row[i]);
	budgets_add_row(&sum->others, &more->others);
}

/* ---- text of the losses ----------------------------------------------------------------------------------------- */

static void budgets_put_row(struct text *text, const struct pj_tenant *row, const char *name)
{
	const struct {
		uint64_t n;
		const char *one, *many;
	} counts[] = { { row->samples, "sample without its stack", "samples without their stacks" },
		       { row->mappings, "change of mappings or names left out",
			 "changes of mappings or names left out" },
		       { row->reads, "process not read again", "processes not read again" },
		       { row->files, "file not saved", "files not saved" },
		       { row->jvms, "lookup in a JVM left out", "lookups in JVMs left out" },
		       { row->tables, "lookup of an unwind table left out", "lookups of unwind tables left out" } };
	const char *separator = " ";

	text_add(text, name);
	for (size_t i = 0; i < countof(counts); i++) {
		if (!counts[i].n)
			continue;
		text_add(text, separator);
		text_grouped(text, counts[i].n);
		text_char(text, ' ');
		text_add(text, counts[i].n == 1 ? counts[i].one : counts[i].many);
		separator = ", ";
	}
}

void budgets_text(struct text *text, const struct pj_tenants *report, size_t max)
{
	struct pj_tenant others = report->others;
	const char *separator = "over budget: ";
	char name[TENANT_NAME];

	for (size_t i = 0; i < report->n; i++) {
		struct tenant tenant = { (enum tenant_kind)report->row[i].kind, report->row[i].key };

		if (i >= max) {
			budgets_add_row(&others, &report->row[i]);
			continue;
		}
		text_add(text, separator);
		budgets_put_row(text, &report->row[i], tenant_name(&tenant, name));
		separator = "; ";
	}
	if (budgets_lost(&others)) {
		text_add(text, separator);
		budgets_put_row(text, &others, "others");
	}
}

void budgets_put(struct text *text, const struct pj_tenants *report)
{
	for (uint32_t i = 0; i < report->n; i++)
		chunk_put_item(text, PJ_ITEM_TENANT, &report->row[i], sizeof(report->row[i]));
	if (budgets_lost(&report->others))
		chunk_put_item(text, PJ_ITEM_TENANT, &report->others, sizeof(report->others));
}
