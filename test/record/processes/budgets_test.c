/* What a tenant may fill of a window, and how what was left out is reported. */
/* covers: record/processes/budgets.c */
#include "record/processes/budgets.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

static const struct tenant one = { TENANT_USER, 1000 }, other = { TENANT_CONTAINER, 0x0123456789abcdef };

static void check_average(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ .each = 5000 });
	uint64_t taken = 0, n = 20000, bytes = 0;
	struct pj_tenants report;

	for (uint64_t i = 0; i < n; i++)
		taken += budgets_sample(b, one, i % 10 ? 800 : 12000, i);
	is_u64(taken, n, "deep stacks now and then are within the budget");
	for (uint64_t i = 0; i < n; i++)
		taken += budgets_sample(b, one, 4900, i);
	is_u64(taken, 2 * n, "  and medium ones always");
	taken = 0;
	for (uint64_t i = 0; i < n; i++)
		if (budgets_sample(b, other, 16000, i)) {
			bytes += 16000;
			taken++;
		}
	ok(bytes <= n * 5000 + BUDGET_AHEAD && bytes > n * 4500, "of only deep ones as many as the average allows");
	ok(budgets_sample(b, one, 4900, n), "others do not notice");
	budgets_end(b, &report);
	ok(report.n == 1 && report.row[0].key == other.key && report.row[0].samples == n - taken &&
		   report.row[0].bytes == (n - taken) * 16000,
	   "the rest is counted, with its bytes");
	budgets_free(b);
}

static void check_rate(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ .each = 5000, .per_second = 100000 });
	uint64_t taken = 0;

	for (uint64_t i = 0; i < 60 * 1000; i++)
		taken += budgets_sample(b, one, 1000, SECOND_NS + i * (SECOND_NS / 1000));
	ok(taken >= 6900 && taken <= 7100,
	   "60 s of many samples: ten seconds' worth at once, then what each second allows");
	budgets_free(b);
}

/* Each libjvm.so adds two events; what a tenant may write does not depend on their number. */
static void check_allocations(void)
{
	const struct chunk_event event[] = { { .attr = { .freq = 1, .sample_freq = 99 } },
					     { .attr = { .sample_period = 1 }, .allocates = true },
					     { .attr = { .sample_period = 1 }, .allocates = true },
					     { .attr = { .sample_period = 1 }, .allocates = true } };
	uint64_t two = budgets_limits(event, 2, 24576, 4, 0).per_second;

	is_u64(budgets_limits(event, 4, 24576, 4, 0).per_second, two, "three events of allocations count as one");
	ok(two > budgets_limits(event, 1, 24576, 4, 0).per_second, "  which counts");
	is_u64(budgets_limits(event, 4, 24576, 4, 77).per_second, 77, "  unless the user has chosen the limit");
}

static void check_report(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct pj_tenants report, sum = { 0 };
	struct text t = { 0 };

	for (uint64_t i = 0; i < 20; i++)
		budgets_over(b, (struct tenant){ TENANT_USER, 1000 + i }, OVER_MAPPINGS, 100 - i);
	budgets_over(b, other, OVER_SAMPLES, 1);
	budgets_end(b, &report);
	is_u64(report.n, PJ_TENANTS, "tenants with rows are few");
	is_u64(report.row[0].mappings, 100, "  those that lost most are first");
	budgets_text(&t, &report, 2);
	is_str(text_view(&t),
	       STR("over budget: user 1000 100 changes of mappings or names left out; user 1001 99 changes of mappings or names left out; others 1 sample without its stack, 1,611 changes of mappings or names left out"),
	       "  the others are summed up");
	budgets_add(&sum, &report);
	budgets_add(&sum, &report);
	is_u64(sum.row[0].mappings, 200, "rows of several windows are added up");
	budgets_end(b, &report);
	t.n = 0;
	budgets_text(&t, &report, 2);
	ok(report.n == 0 && t.n == 0, "the next window begins with nothing");
	text_free(&t);
	budgets_free(b);
}

/* JVMs, unwind tables and /proc of a tenant, each of which takes all that it may: 10 ms at a time, ten times a second.
 */
static void check_cpu(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct tenants *t = budgets_tenants(b);
	uint64_t step = SECOND_NS / 100, sum = 0, jvm = 0;

	for (uint64_t now = SECOND_NS; now < 121 * SECOND_NS; now += SECOND_NS / 10) {
		if (tenants_may(t, one, TENANT_JVM_NS, now) && tenants_may(t, one, TENANT_CPU_NS, now)) {
			tenants_charge(t, one, TENANT_JVM_NS, step, now);
			tenants_charge(t, one, TENANT_CPU_NS, step, now);
			sum += step;
			jvm += step;
		}
		if (tenants_may(t, one, TENANT_CPU_NS, now)) {
			tenants_charge(t, one, TENANT_CPU_NS, step, now);
			sum += step;
		}
		if (tenants_may(t, one, TENANT_PROC_NS, now)) {
			budgets_charge_proc(b, one, step, now);
			sum += step;
		}
	}
	ok(sum <= 120 * BUDGET_CPU_NS + BUDGET_CPU_AHEAD + 3 * step,
	   "JVMs, tables and /proc of a tenant take 5 % of a CPU together");
	ok(jvm >= 10 * step, "  each has a part of it");
	ok(tenants_may(t, other, TENANT_CPU_NS, 121 * SECOND_NS), "  others do not notice");
	ok(tenants_take(t, other, TENANT_BLOCKED_NS, SECOND_NS / 10, 122 * SECOND_NS) &&
		   tenants_may(t, other, TENANT_JVM_NS, 122 * SECOND_NS),
	   "a JVM that starts from a slow disk stays below its budget");
	budgets_free(b);
}

static void check_names(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct pj_tenants report;
	struct text t = { 0 };

	budgets_over(b, one, OVER_JVMS, 2);
	budgets_over(b, one, OVER_TABLES, 1);
	budgets_over(NULL, one, OVER_TABLES, 1);
	budgets_end(b, &report);
	budgets_text(&t, &report, 2);
	is_str(text_view(&t),
	       STR("over budget: user 1000 2 lookups in JVMs left out, 1 lookup of an unwind table left out"),
	       "helpers' budgets are named");
	text_free(&t);
	budgets_free(b);
}

int main(void)
{
	check_cpu();
	check_names();
	check_average();
	check_rate();
	check_allocations();
	check_report();
	return done();
}
