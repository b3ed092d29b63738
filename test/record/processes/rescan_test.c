/* Which processes are read from /proc after a loss, at real ones: when they are sampled, at a bounded cost, by tenant.
 */
/* covers: record/processes/rescan.c record/processes/procreader.c record/processes/identities.c */
#include "record/processes/rescan.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

static uint32_t own;

static const struct mapping *at(struct processes *processes, uint32_t pid, const void *address)
{
	return processes_at(processes_find(processes, pid), (uint64_t)(uintptr_t)address);
}

/* Takes answers until the process is not waited for any more. */
static void settle(struct rescan *rescan, struct processes *processes, uint32_t pid)
{
	for (int i = 0; i < 2000; i++) {
		const struct process *process = processes_find(processes, pid);

		rescan_tick(rescan, clock_now());
		if (process && !process->requested)
			return;
		usleep(1000);
	}
}

/* Returns our own process in a table, once its tenant is known. On a loaded machine a lookup may take longer than the
 * 20 ms that the recorder waits; then the recorder avoids the process for 0.4 s. */
static struct process *identified(struct rescan *rescan, struct processes *processes)
{
	struct process *process = processes_make(processes, own);

	for (int i = 0; i < 60; i++) {
		rescan_identify(rescan, process, UINT64_MAX);
		if (process->tenant.kind != TENANT_UNKNOWN)
			return process;
		usleep(500000);
	}
	ok(false, "the tenant of our own process is found within 30 s");
	return process;
}

static void *sleep_long(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "second");
	pause();
	return NULL;
}

static void check_sampled(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct processes *p = processes_new(budgets_tenants(b));
	struct rescan *m = rescan_new(p, b, true);
	void *code;

	identified(m, p);
	rescan_sampled(m, own, own, UINT64_MAX);
	settle(m, p, own);
	ok(processes_thread(p, own) && processes_thread(p, own)->named,
	   "an unknown process has its name when it is sampled");
	ok(at(p, own, (const void *)(uintptr_t)&check_sampled), "  and its mappings");

	code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rescan_sampled(m, own, own, UINT64_MAX);
	settle(m, p, own);
	ok(!at(p, own, code), "what is known is not read again");
	rescan_lost(m, clock_now());
	rescan_sampled(m, own, own, UINT64_MAX);
	settle(m, p, own);
	ok(!at(p, own, code), "after a loss: not before its pause is over");
	processes_find(p, own)->retry = 0;
	rescan_sampled(m, own, own, UINT64_MAX);
	settle(m, p, own);
	ok(at(p, own, code), "  then it is read");
	ok(processes_find(p, own)->retry >= clock_now() + SECOND_NS / 2, "  and waits again");
	munmap(code, PAGE);
	rescan_free(m);
	processes_free(p);
	budgets_free(b);
}

static void check_budget(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct processes *p = processes_new(budgets_tenants(b));
	struct rescan *m = rescan_new(p, b, true);
	struct pj_tenants over;
	struct process *process = identified(m, p);

	rescan_sampled(m, own, own, UINT64_MAX);
	settle(m, p, own);
	tenants_charge(budgets_tenants(b), process->tenant, TENANT_PROC_NS, 100 * SECOND_NS, clock_now());
	process->retry = 0;
	rescan_lost(m, clock_now());
	rescan_sampled(m, own, own, UINT64_MAX);
	ok(!process->requested, "a tenant without CPU time left is not read");
	budgets_end(b, &over);
	ok(over.n == 1 && over.row[0].reads == 1 && over.row[0].kind == process->tenant.kind,
	   "  which is counted under its name");
	rescan_free(m);
	processes_free(p);
	budgets_free(b);
}

static void check_storm_end(struct rescan *rescan, struct budgets *budgets, struct processes *processes,
			    struct process *process)
{
	uint64_t end = process->storm;

	tenants_credit(budgets_tenants(budgets), process->tenant, TENANT_PROC_NS, SECOND_NS);
	rescan_sampled(rescan, own, own, UINT64_MAX);
	ok(!process->requested, "  it is not read in the storm");
	ok(rescan_skips(rescan, process, end + 1), "a storm that goes on is one after its second");
	ok(process->storm > end, "  for one more");
	ok(!rescan_skips(rescan, process, process->storm + 1), "after a second with few mappings it is over");
	ok(process->stale, "  its mappings are still unknown");
	processes_fork(processes, own + 1, own, own + 1, own);
	ok(processes_find(processes, own + 1)->stale, "  those of a process that it forks as well");
	rescan_sampled(rescan, own, own, UINT64_MAX);
	settle(rescan, processes, own);
	ok(!process->stale && at(processes, own, (const void *)(uintptr_t)&settle), "  until it is sampled, and read");
}

/* A program that makes more mappings than its tenant's CPU time allows, and one that makes some hundreds. */
static void check_storm(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct processes *p = processes_new(budgets_tenants(b));
	struct rescan *m = rescan_new(p, b, true);
	struct process *process = identified(m, p);
	unsigned taken = 0;
	struct pj_tenants over;

	for (unsigned i = 0; i < 1000; i++)
		taken += rescan_record(m, process, 1, clock_now());
	is_u64(taken, 1000, "1,000 mappings of a program are taken");
	for (unsigned i = 0; i < 1000000; i++)
		taken += rescan_record(m, process, 1, clock_now());
	ok(taken < 400000, "of a million in a moment, the budget's share");
	ok(process->stale, "  and the process is read when it is sampled");
	budgets_end(b, &over);
	ok(over.n == 1 && over.row[0].mappings == 1001000 - taken, "  and all others are counted");
	ok(!process->maps, "  what was known of its mappings is forgotten");
	check_storm_end(m, b, p, process);
	rescan_free(m);
	processes_free(p);
	budgets_free(b);
}

static void check_survey(void)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct processes *p = processes_new(budgets_tenants(b));
	struct rescan *m = rescan_new(p, b, true);
	bool surveyed = false;
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_long, NULL);
	processes_comm(p, own, own, STR("test"), true);
	processes_comm(p, 4194303, 4194303, STR("gone"), true);
	rescan_lost(m, clock_now());
	for (int i = 0; i < 3000 && !surveyed; i++) {
		surveyed = rescan_tick(m, clock_now());
		usleep(1000);
	}
	ok(surveyed, "after a loss all of /proc is surveyed");
	ok(processes_find(p, own)->live >= 2 && !processes_find(p, own)->exited, "  threads that are there live");
	ok(processes_find(p, 4194303)->exited, "  a process that is not has ended");
	rescan_free(m);
	processes_free(p);
	budgets_free(b);
}

int main(void)
{
	own = (uint32_t)getpid();
	check_sampled();
	check_budget();
	check_storm();
	check_survey();
	return done();
}
