/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/rescan.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/processes/identities.h"
#include "record/processes/procfs.h"
#include "record/processes/procreader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MS (SECOND_NS / 1000)
#define START_NS (2 * SECOND_NS) /* maximum time for reading all processes at the start, in ns */
/* maximum time to wait for the answer about one process with unknown thread or mapping, in ns */
#define WAIT_NS (5 * MS)
/* maximum sum of the waits for answers per second, in ns; beyond it, samples do not wait */
#define WAITS_NS (50 * MS)
/* PAUSE_NS: minimum time between two readings of a process after one that showed changes, in ns. PAUSE_MAX_NS: maximum
 * of this time, which doubles after each reading that showed no changes. */
#define PAUSE_NS SECOND_NS
#define PAUSE_MAX_NS (32 * SECOND_NS)
#define SURVEY_NS (SECOND_NS / 2) /* minimum time between two thread scans, in ns */
/* pause after a reading, as a multiple of the reading's CPU time, so that readings use at most 5 % of a CPU */
#define BACK_OFF 20
/* CPU time for reading one mapping from /proc/PID/maps, in ns (measured); charged in advance */
#define MAPPING_READ_NS 2000
/* number of records of a program for which its tenant is charged at once (rescan_record); a program with fewer records
 * is not charged */
#define RECORDS_FREE 64u
#define RECORD_NS 1000        /* CPU time for applying one mapping, name or namespace record, in ns (measured) */
#define SKIPPED_RECORD_NS 150 /* CPU time for skipping one mapping, name or namespace record, in ns */
#define STORM_NS SECOND_NS    /* duration of a storm in ns, after which it ends or is prolonged */
/* minimum number of records skipped in STORM_NS for which a storm is prolonged */
#define STORM_RECORDS 1000u
/* maximum number of processes per second that are read because of a loss although all their sampled addresses have
 * mappings; further ones are not read in that second */
#define CHECKS_MAX 20
#define APPLY_MAX 8 /* maximum number of answers that one rescan_tick applies */

struct rescan {
	struct processes *processes;
	struct budgets *budgets;
	struct procreader *reader; /* thread that reads /proc; NULL: /proc is not read */
	struct identities *identities;
	/* time of the latest loss of records in ns (CLOCK_MONOTONIC); process state from before it is stale */
	uint64_t lost;
	/* survey_wanted: a thread scan must be requested. surveying: a thread scan is pending. surveyed: one was
	 * applied since rescan_tick. */
	bool survey_wanted, surveying, surveyed;
	uint64_t survey_retry;
	/* wait_second: current second of CLOCK_MONOTONIC. waited: time for which rescan_wait_for waited in this second,
	 * in ns. */
	uint64_t wait_second, waited;
	uint64_t check_second, checks;
	/* pid of the last stale process for which may_read_stale returned true; 0: none. While the reading of that
	 * process is pending, no other stale process is read. */
	uint32_t after_storm;
};

struct rescan *rescan_new(struct processes *processes, struct budgets *budgets, bool proc)
{
	struct rescan *rescan = mem_alloc(sizeof(*rescan), 1);

	rescan->processes = processes;
	rescan->budgets = budgets;
	rescan->reader = proc ? procreader_start() : NULL;
	rescan->identities = identities_new();
	return rescan;
}

void rescan_free(struct rescan *rescan)
{
	if (rescan) {
		procreader_stop(rescan->reader);
		identities_free(rescan->identities);
	}
	free(rescan);
}

void rescan_identify(struct rescan *rescan, struct process *process, uint64_t window)
{
	struct identity found;

	process->tenant_window = window;
	/* a process that has ended or does not respond keeps its earlier tenant, if it has one */
	if (!identities_find(rescan->identities, process->pid, &found)) {
		process->tenant = process->tenant.kind == TENANT_UNKNOWN ? found.tenant : process->tenant;
		return;
	}
	process->tenant = found.tenant;
	process->start_ticks = process->start_ticks ? process->start_ticks : found.start_ticks;
	process->inner_pid = process->inner_pid ? process->inner_pid : found.inner_pid;
	process->mount_ns = process->mount_ns ? process->mount_ns : found.mount_ns;
}

void rescan_tenant(struct rescan *rescan, struct process *process, uint64_t window)
{
	if (process->tenant_window != window)
		rescan_identify(rescan, process, window);
}

/* Starts or prolongs a storm of a process at time ns: its records are skipped for STORM_NS. Drops its mappings and
 * mount namespace, which skipped records may change. */
static void begin_storm(struct rescan *rescan, struct process *process, uint64_t ns)
{
	process->changed = true;
	process->mount_ns = 0;
	process->storm = ns + STORM_NS;
	process->skipped = 0;
	process->stale = true;
	processes_unmap(rescan->processes, process);
}

bool rescan_skips(struct rescan *rescan, struct process *process, uint64_t ns)
{
	if (!process->storm)
		return false;
	if (process->storm <= ns) {
		if (process->skipped < STORM_RECORDS) {
			process->storm = 0;
			return false;
		}
		begin_storm(rescan, process, ns);
	}
	rescan_over(rescan, process);
	if (++process->skipped % RECORDS_FREE == 0)
		budgets_charge_proc(rescan->budgets, process->tenant, RECORDS_FREE * SKIPPED_RECORD_NS, ns);
	return true;
}

bool rescan_record(struct rescan *rescan, struct process *process, uint64_t window, uint64_t ns)
{
	struct tenants *tenants = budgets_tenants(rescan->budgets);

	if (rescan_skips(rescan, process, ns))
		return false;
	/* without a thread that reads /proc, the mappings could not be read after a storm, so no storm begins */
	if (++process->records % RECORDS_FREE || !rescan->reader)
		return true;
	rescan_tenant(rescan, process, process->tenant_window ? process->tenant_window : window);
	budgets_charge_proc(rescan->budgets, process->tenant, RECORDS_FREE * RECORD_NS, ns);
	if (tenants_may(tenants, process->tenant, TENANT_PROC_NS, ns))
		return true;
	begin_storm(rescan, process, ns);
	rescan_over(rescan, process);
	return false;
}

void rescan_over(struct rescan *rescan, struct process *process)
{
	budgets_over(rescan->budgets, process->tenant, OVER_MAPPINGS, 1);
}

/* ---- answers of the reader thread ------------------------------------------------------------------------------- */

/* Requests a reading of a process if its tenant has CPU time left. Otherwise counts a loss (OVER_READS) and postpones
 * the reading by PAUSE_NS. tid: thread whose name is read, too; 0: all threads. Charges the tenant in advance for the
 * mappings that are known. Without this advance charge, all processes of a tenant would be read at once, for 100 ms
 * each, before the cost of the first reading is known. */
static void rescan_request(struct rescan *rescan, struct process *process, uint32_t tid, uint64_t now)
{
	struct tenants *tenants = budgets_tenants(rescan->budgets);

	rescan_tenant(rescan, process, process->tenant_window ? process->tenant_window : UINT64_MAX);
	if (tenants_may(tenants, process->tenant, TENANT_PROC_NS, now)) {
		process->requested = procreader_request(rescan->reader, process->pid, tid);
		process->reserved = process->requested && process->maps ? process->maps->n * MAPPING_READ_NS : 0;
		budgets_charge_proc(rescan->budgets, process->tenant, process->reserved, now);
		return;
	}
	budgets_over(rescan->budgets, process->tenant, OVER_READS, 1);
	process->retry = now + PAUSE_NS;
}

/* Applies one thread that a thread scan found. If the table does not have the thread, because its FORK record was lost,
 * or its name, requests a reading of its process. */
static void apply_thread(struct rescan *rescan, const struct procreader_thread *found, uint64_t now)
{
	const struct thread *thread = processes_thread(rescan->processes, found->tid);
	bool known = thread && thread->named && thread->pid == found->pid;
	struct process *process;

	processes_scanned(rescan->processes, found->pid, found->tid);
	process = processes_find(rescan->processes, found->pid);
	if (!known && !process->requested && now >= process->retry)
		rescan_request(rescan, process, 0, now);
}

static void apply_survey(struct rescan *rescan, const struct procreader_answer *answer, uint64_t now)
{
	rescan->surveying = false;
	rescan->survey_retry = now + (answer->cost_ns * BACK_OFF > SURVEY_NS ? answer->cost_ns * BACK_OFF : SURVEY_NS);
	if (!answer->there || answer->cut)
		return;
	processes_mark_stale(rescan->processes);
	for (size_t i = 0; i < answer->nthreads; i++)
		apply_thread(rescan, &answer->thread[i], now);
	processes_doubted(rescan->processes, answer->started);
	rescan->surveyed = true;
}

static bool apply_names(struct rescan *rescan, const struct procreader_answer *answer)
{
	bool changed = false;

	for (size_t i = 0; i < answer->nthreads; i++) {
		const struct procreader_thread *read = &answer->thread[i];
		struct thread *thread = processes_make_thread(rescan->processes, read->pid, read->tid);

		if (thread->named && strcmp(thread->comm, read->comm) == 0)
			continue;
		processes_comm(rescan->processes, read->pid, read->tid, str_of(read->comm), false);
		thread->window = 0; /* the next sample of this thread adds its name to the window */
		changed = true;
	}
	return changed;
}

static bool apply_maps(struct rescan *rescan, struct process *process, const struct procreader_answer *answer)
{
	/* number of mappings that are left out; all mappings that were not read count as one, since their number is
	 * unknown */
	uint64_t over = answer->maps_cut;
	bool changed = false;

	for (struct str lines = text_view(&answer->maps); lines.n;) {
		struct mapping map = { 0 };
		struct mapped_file file = { 0 };

		if (!procfs_parse_map(str_cut(&lines, '\n'), &map, &file) || mappings_has(process->maps, &map, &file))
			continue;
		switch (processes_map(rescan->processes, answer->pid, &map, &file)) {
		case MAPPINGS_CHANGED: changed = true; break;
		case MAPPINGS_OVER: over++; break;
		default: break;
		}
	}
	if (over)
		budgets_over(rescan->budgets, process->tenant, OVER_MAPPINGS, over);
	return changed;
}

/* Settles the tenant's budget after a reading of /proc that used `cost` ns of CPU time. process->reserved was charged
 * in advance: charges the difference, or returns the unused part. */
static void settle_cost(struct rescan *rescan, struct process *process, uint64_t cost, uint64_t now)
{
	uint64_t reserved = process->reserved;

	process->reserved = 0;
	if (cost > reserved)
		budgets_charge_proc(rescan->budgets, process->tenant, cost - reserved, now);
	else
		budgets_credit_proc(rescan->budgets, process->tenant, reserved - cost);
}

static void rescan_apply(struct rescan *rescan, const struct procreader_answer *answer)
{
	uint64_t now = clock_now(), cost;
	struct process *process;
	bool changed = false;

	if (!answer->pid) {
		apply_survey(rescan, answer, now);
		return;
	}
	process = answer->there ? processes_make(rescan->processes, answer->pid) :
				  processes_find(rescan->processes, answer->pid);
	if (!process)
		return;
	process->requested = false;
	if (answer->stalled) {
		process->retry = now + PAUSE_NS;
		budgets_over(rescan->budgets, process->tenant, OVER_READS, 1);
		return;
	}
	/* ignores a reading that began before this process was forked or called exec, because it describes another
	 * process or program */
	if (answer->started < process->since)
		return;
	process->sure = answer->started;
	/* if the storm ends after the reading began, records were skipped meanwhile, so the answer is not used */
	if (answer->there && process->storm <= answer->started) {
		process->stale = false;
		if (process->start_ticks && process->start_ticks != answer->start_ticks)
			processes_replaced(rescan->processes, process);
		process->start_ticks = answer->start_ticks;
		process->user_stacks = answer->user_stacks;
		changed = apply_names(rescan, answer);
		changed |= apply_maps(rescan, process, answer);
	}
	cost = answer->cost_ns + (clock_now() - now);
	process->pause = changed || !process->pause    ? PAUSE_NS :
			 process->pause < PAUSE_MAX_NS ? 2 * process->pause :
							 PAUSE_MAX_NS;
	process->retry = now + (cost * BACK_OFF > process->pause ? cost * BACK_OFF : process->pause);
	settle_cost(rescan, process, cost, now);
}

static bool take_one(struct rescan *rescan, uint64_t wait_ns)
{
	struct procreader_answer *answer = procreader_take(rescan->reader, wait_ns);

	if (!answer)
		return false;
	rescan_apply(rescan, answer);
	procreader_answer_free(answer);
	return true;
}

bool rescan_tick(struct rescan *rescan, uint64_t now)
{
	bool surveyed;

	if (!rescan->reader)
		return false;
	for (unsigned i = 0; i < APPLY_MAX && take_one(rescan, 0); i++)
		continue;
	if (rescan->survey_wanted && !rescan->surveying && now >= rescan->survey_retry &&
	    procreader_survey(rescan->reader)) {
		rescan->survey_wanted = false;
		rescan->surveying = true;
	}
	surveyed = rescan->surveyed;
	rescan->surveyed = false;
	return surveyed;
}

/* ---- requests to the reader thread ------------------------------------------------------------------------------ */

void rescan_lost(struct rescan *rescan, uint64_t ns)
{
	rescan->lost = ns;
	rescan->survey_wanted = true;
}

/* Waits at most WAIT_NS until the answer to the requested reading of a process was applied, which usually takes 0.1 ms.
 * Does not wait if the waits in this second have reached WAITS_NS. */
static void rescan_wait_for(struct rescan *rescan, const struct process *process, uint64_t now)
{
	uint32_t pid = process->pid;
	uint64_t end = now + WAIT_NS;

	if (now / SECOND_NS != rescan->wait_second) {
		rescan->wait_second = now / SECOND_NS;
		rescan->waited = 0;
	}
	if (rescan->waited >= WAITS_NS)
		return;
	for (uint64_t at = now; at < end; at = clock_now()) {
		const struct process *p;

		take_one(rescan, end - at);
		p = processes_find(rescan->processes, pid);
		if (!p || !p->requested)
			break;
	}
	rescan->waited += clock_now() - now;
}

/* Returns true if a reading may be requested for a process whose sampled addresses all have mappings; false after
 * CHECKS_MAX calls in this second. The limit is low because most likely the lost records belonged to other
 * processes. */
static bool may_check(struct rescan *rescan, uint64_t now)
{
	if (now / SECOND_NS != rescan->check_second) {
		rescan->check_second = now / SECOND_NS;
		rescan->checks = 0;
	}
	return rescan->checks++ < CHECKS_MAX;
}

/* Returns true if a stale process may be read: its storm has ended and no other stale process is being read. Otherwise
 * returns false: the process is tried again at a later sample. So the tenant is charged for one reading before the next
 * one begins, and at most one text of up to 8 MB is in memory. */
static bool may_read_stale(struct rescan *rescan, const struct process *process, uint64_t now)
{
	const struct process *other =
		rescan->after_storm ? processes_find(rescan->processes, rescan->after_storm) : NULL;

	if (now < process->storm || (other && other->requested))
		return false;
	rescan->after_storm = process->pid;
	return true;
}

void rescan_sampled(struct rescan *rescan, uint32_t pid, uint32_t tid, uint64_t ip)
{
	const struct thread *thread = processes_thread(rescan->processes, tid);
	struct process *process = processes_find(rescan->processes, pid);
	bool unknown = !process || !thread || !thread->named || thread->pid != pid;
	uint64_t now;

	if (!rescan->reader || pid == 0 || (!unknown && process->sure >= rescan->lost && !process->stale))
		return;
	process = processes_make(rescan->processes, pid);
	now = clock_now();
	if (process->requested || now < process->retry || (process->stale && !may_read_stale(rescan, process, now)))
		return;
	unknown |= ip <= INT64_MAX && !processes_at(process, ip);
	if (!unknown && !may_check(rescan, now))
		return;
	rescan_request(rescan, process, process->stale ? 0 : tid, now);
	if (process->requested && unknown && !process->stale)
		rescan_wait_for(rescan, process, now);
}

/* ---- reading at the start of a recording ------------------------------------------------------------------------ */

static bool request_at_start(struct rescan *rescan, uint32_t pid, uint64_t end)
{
	struct process *process = processes_make(rescan->processes, pid);

	while (!(process->requested = procreader_request(rescan->reader, pid, 0))) {
		uint64_t now = clock_now();

		if (now >= end)
			return false;
		take_one(rescan, end - now);
		/* rescan_apply may have changed the table and removed the process, so it is looked up again */
		process = processes_make(rescan->processes, pid);
	}
	return true;
}

void rescan_start(struct rescan *rescan, const uint32_t *pid, size_t npids)
{
	uint64_t end = clock_now() + START_NS, now;
	DIR *dir = rescan->reader && !pid ? opendir("/proc") : NULL;
	bool in_time = rescan->reader;

	for (size_t i = 0; i < npids && in_time; i++)
		in_time = request_at_start(rescan, pid[i], end);
	for (struct dirent *entry; dir && in_time && (entry = readdir(dir));) {
		uint64_t n;

		if (str_u64(str_of(entry->d_name), &n))
			in_time = request_at_start(rescan, (uint32_t)n, end);
	}
	if (dir)
		closedir(dir);
	while (in_time && (now = clock_now()) < end && take_one(rescan, end - now))
		continue;
}

void rescan_read(struct processes *processes, uint32_t pid)
{
	struct budgets *budgets = budgets_new((struct budgets_limits){ 0 });
	struct rescan *rescan = rescan_new(processes, budgets, true);

	rescan_start(rescan, &pid, 1);
	rescan_free(rescan);
	budgets_free(budgets);
}
