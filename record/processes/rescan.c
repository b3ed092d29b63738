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
#define START_NS (2 * SECOND_NS) /* for all processes at the start */
#define WAIT_NS (5 * MS)         /* for the answer of a process that is unknown, */
#define WAITS_NS (50 * MS)       /* and so long in a second */
#define PAUSE_NS SECOND_NS       /* between readings of a process, at least */
#define PAUSE_MAX_NS (32 * SECOND_NS)
#define SURVEY_NS (SECOND_NS / 2) /* between surveys, at least */
#define BACK_OFF 20               /* times its cost: at most 5 % of a CPU */
#define MAPPING_READ_NS 2000      /* CPU time that a mapping takes in /proc/PID/maps, by measurement */
#define RECORDS_FREE 64u          /* of a program, see mending_record; a multiple of them is charged at a time */
#define RECORD_NS 1000            /* CPU time that such a record takes here, by measurement */
#define SKIPPED_RECORD_NS 150     /* and one that is skipped */
#define STORM_NS SECOND_NS        /* such records of a process are skipped at least so long, */
#define STORM_RECORDS 1000u       /* and on while it makes so many in that time */
#define CHECKS_MAX 20 /* processes in doubt that are read each second although their samples have mappings */
#define APPLY_MAX 8   /* answers that are applied at a time */

struct rescan {
	struct processes *processes;
	struct budgets *budgets;
	struct procreader *reader; /* NULL: /proc is not read */
	struct identities *identities;
	uint64_t lost; /* ns; what was known of a process before is in doubt */
	bool survey_wanted, surveying, surveyed;
	uint64_t survey_retry;
	uint64_t wait_second, waited; /* ns */
	uint64_t check_second, checks;
	uint32_t after_storm; /* pid of the process after a storm that is read; 0: none */
};

struct rescan *rescan_new(struct processes *p, struct budgets *b, bool proc)
{
	struct rescan *m = mem_alloc(sizeof(*m), 1);

	m->processes = p;
	m->budgets = b;
	m->reader = proc ? procreader_start() : NULL;
	m->identities = identities_new();
	return m;
}

void rescan_free(struct rescan *m)
{
	if (m) {
		procreader_stop(m->reader);
		identities_free(m->identities);
	}
	free(m);
}

void rescan_identify(struct rescan *m, struct process *process, uint64_t window)
{
	struct identity found;

	process->tenant_window = window;
	if (!identities_find(m->identities, process->pid,
			     &found)) { /* it ended, or hangs: it stays the tenant that it was, if any */
		process->tenant = process->tenant.kind == TENANT_UNKNOWN ? found.tenant : process->tenant;
		return;
	}
	process->tenant = found.tenant;
	process->start_ticks = process->start_ticks ? process->start_ticks : found.start_ticks;
	process->inner_pid = process->inner_pid ? process->inner_pid : found.inner_pid;
	process->mount_ns = process->mount_ns ? process->mount_ns : found.mount_ns;
}

void rescan_tenant(struct rescan *m, struct process *process, uint64_t window)
{
	if (process->tenant_window != window)
		rescan_identify(m, process, window);
}

/* From now on its records are skipped; what is known of its mappings and namespaces is forgotten, since it may be wrong
 * already. */
static void begin_storm(struct rescan *m, struct process *process, uint64_t ns)
{
	process->changed = true;
	process->mount_ns = 0;
	process->storm = ns + STORM_NS;
	process->skipped = 0;
	process->stale = true;
	processes_unmap(m->processes, process);
}

bool rescan_skips(struct rescan *m, struct process *process, uint64_t ns)
{
	if (!process->storm)
		return false;
	if (process->storm <= ns) {
		if (process->skipped < STORM_RECORDS) {
			process->storm = 0;
			return false;
		}
		begin_storm(m, process, ns);
	}
	rescan_over(m, process);
	if (++process->skipped % RECORDS_FREE == 0)
		budgets_charge_proc(m->budgets, process->tenant, RECORDS_FREE * SKIPPED_RECORD_NS, ns);
	return true;
}

bool rescan_record(struct rescan *m, struct process *process, uint64_t window, uint64_t ns)
{
	struct tenants *tenants = budgets_tenants(m->budgets);

	if (rescan_skips(m, process, ns))
		return false;
	if (++process->records % RECORDS_FREE || !m->reader) /* without /proc nothing could be read after a storm */
		return true;
	rescan_tenant(m, process, process->tenant_window ? process->tenant_window : window);
	budgets_charge_proc(m->budgets, process->tenant, RECORDS_FREE * RECORD_NS, ns);
	if (tenants_may(tenants, process->tenant, TENANT_PROC_NS, ns))
		return true;
	begin_storm(m, process, ns);
	rescan_over(m, process);
	return false;
}

void rescan_over(struct rescan *m, struct process *process)
{
	budgets_over(m->budgets, process->tenant, OVER_MAPPINGS, 1);
}

/* ---- answers -------------------------------------------------------------------------------------------------------
 */

/* Asks for a process, if its tenant has CPU time left; tid 0: with the names of all threads. It pays in advance for the
 * mappings that are known: else all processes of a tenant were read at once, 100 ms each, before the first one's cost
 * is known. */
static void rescan_request(struct rescan *m, struct process *process, uint32_t tid, uint64_t now)
{
	struct tenants *tenants = budgets_tenants(m->budgets);

	rescan_tenant(m, process, process->tenant_window ? process->tenant_window : UINT64_MAX);
	if (tenants_may(tenants, process->tenant, TENANT_PROC_NS, now)) {
		process->requested = procreader_request(m->reader, process->pid, tid);
		process->reserved = process->requested && process->maps ? process->maps->n * MAPPING_READ_NS : 0;
		budgets_charge_proc(m->budgets, process->tenant, process->reserved, now);
		return;
	}
	budgets_over(m->budgets, process->tenant, OVER_READS, 1);
	process->retry = now + PAUSE_NS;
}

/* A thread that is there; its process is read at once if the record of its start was lost. */
static void apply_thread(struct rescan *m, const struct procreader_thread *found, uint64_t now)
{
	const struct thread *t = processes_thread(m->processes, found->tid);
	bool known = t && t->named && t->pid == found->pid;
	struct process *process;

	processes_scanned(m->processes, found->pid, found->tid);
	process = processes_find(m->processes, found->pid);
	if (!known && !process->requested && now >= process->retry)
		rescan_request(m, process, 0, now);
}

static void apply_survey(struct rescan *m, const struct procreader_answer *a, uint64_t now)
{
	m->surveying = false;
	m->survey_retry = now + (a->cost_ns * BACK_OFF > SURVEY_NS ? a->cost_ns * BACK_OFF : SURVEY_NS);
	if (!a->there || a->cut)
		return;
	processes_mark_stale(m->processes);
	for (size_t i = 0; i < a->nthreads; i++)
		apply_thread(m, &a->thread[i], now);
	processes_doubted(m->processes, a->started);
	m->surveyed = true;
}

static bool apply_names(struct rescan *m, const struct procreader_answer *a)
{
	bool changed = false;

	for (size_t i = 0; i < a->nthreads; i++) {
		const struct procreader_thread *read = &a->thread[i];
		struct thread *t = processes_make_thread(m->processes, read->pid, read->tid);

		if (t->named && strcmp(t->comm, read->comm) == 0)
			continue;
		processes_comm(m->processes, read->pid, read->tid, str_of(read->comm), false);
		t->window = 0; /* the window gets its name again */
		changed = true;
	}
	return changed;
}

static bool apply_maps(struct rescan *m, struct process *process, const struct procreader_answer *a)
{
	uint64_t over = a->maps_cut; /* one at least */
	bool changed = false;

	for (struct str lines = text_view(&a->maps); lines.n;) {
		struct mapping map = { 0 };
		struct mapped_file file = { 0 };

		if (!procfs_parse_map(str_cut(&lines, '\n'), &map, &file))
			continue;
		switch (processes_map(m->processes, a->pid, &map, &file)) {
		case MAPPINGS_CHANGED: changed = true; break;
		case MAPPINGS_OVER: over++; break;
		default: break;
		}
	}
	if (over)
		budgets_over(m->budgets, process->tenant, OVER_MAPPINGS, over);
	return changed;
}

/* Charges what the reading cost beyond what was paid in advance, or gives the rest back. */
static void settle_cost(struct rescan *m, struct process *process, uint64_t cost, uint64_t now)
{
	uint64_t reserved = process->reserved;

	process->reserved = 0;
	if (cost > reserved)
		budgets_charge_proc(m->budgets, process->tenant, cost - reserved, now);
	else
		budgets_credit_proc(m->budgets, process->tenant, reserved - cost);
}

static void rescan_apply(struct rescan *m, const struct procreader_answer *a)
{
	uint64_t now = clock_now(), cost;
	struct process *process;
	bool changed = false;

	if (!a->pid) {
		apply_survey(m, a, now);
		return;
	}
	process = a->there ? processes_make(m->processes, a->pid) : processes_find(m->processes, a->pid);
	if (!process)
		return;
	process->requested = false;
	if (a->stalled) {
		process->retry = now + PAUSE_NS;
		budgets_over(m->budgets, process->tenant, OVER_READS, 1);
		return;
	}
	if (a->started < process->since) /* the pid's process before, or its program before an exec */
		return;
	process->sure = a->started;
	if (a->there && process->storm <= a->started) { /* else more was skipped since it was read */
		process->stale = false;
		if (process->start_ticks && process->start_ticks != a->start_ticks)
			processes_replaced(m->processes, process);
		process->start_ticks = a->start_ticks;
		changed = apply_names(m, a);
		changed |= apply_maps(m, process, a);
	}
	cost = a->cost_ns + (clock_now() - now);
	process->pause = changed || !process->pause    ? PAUSE_NS :
			 process->pause < PAUSE_MAX_NS ? 2 * process->pause :
							 PAUSE_MAX_NS;
	process->retry = now + (cost * BACK_OFF > process->pause ? cost * BACK_OFF : process->pause);
	settle_cost(m, process, cost, now);
}

static bool take_one(struct rescan *m, uint64_t wait_ns)
{
	struct procreader_answer *a = procreader_take(m->reader, wait_ns);

	if (!a)
		return false;
	rescan_apply(m, a);
	procreader_answer_free(a);
	return true;
}

bool rescan_tick(struct rescan *m, uint64_t now)
{
	bool surveyed;

	if (!m->reader)
		return false;
	for (unsigned i = 0; i < APPLY_MAX && take_one(m, 0); i++)
		continue;
	if (m->survey_wanted && !m->surveying && now >= m->survey_retry && procreader_survey(m->reader)) {
		m->survey_wanted = false;
		m->surveying = true;
	}
	surveyed = m->surveyed;
	m->surveyed = false;
	return surveyed;
}

/* ---- requests ------------------------------------------------------------------------------------------------------
 */

void rescan_lost(struct rescan *m, uint64_t ns)
{
	m->lost = ns;
	m->survey_wanted = true;
}

/* For an answer that mostly comes in 0.1 ms; not longer than WAITS_NS in a second. */
static void rescan_wait_for(struct rescan *m, const struct process *process, uint64_t now)
{
	uint32_t pid = process->pid;
	uint64_t end = now + WAIT_NS;

	if (now / SECOND_NS != m->wait_second) {
		m->wait_second = now / SECOND_NS;
		m->waited = 0;
	}
	if (m->waited >= WAITS_NS)
		return;
	for (uint64_t at = now; at < end; at = clock_now()) {
		const struct process *p;

		take_one(m, end - at);
		p = processes_find(m->processes, pid);
		if (!p || !p->requested)
			break;
	}
	m->waited += clock_now() - now;
}

/* What is known of a process is in doubt, but an address of its sample has a mapping: most likely it was not its
 * records that were lost. */
static bool may_check(struct rescan *m, uint64_t now)
{
	if (now / SECOND_NS != m->check_second) {
		m->check_second = now / SECOND_NS;
		m->checks = 0;
	}
	return m->checks++ < CHECKS_MAX;
}

/* One at a time: the next one pays for what the one before has cost, and their texts, 8 MB each, are not there
 * together. */
static bool may_read_stale(struct rescan *m, const struct process *process, uint64_t now)
{
	const struct process *other = m->after_storm ? processes_find(m->processes, m->after_storm) : NULL;

	if (now < process->storm || (other && other->requested))
		return false;
	m->after_storm = process->pid;
	return true;
}

void rescan_sampled(struct rescan *m, uint32_t pid, uint32_t tid, uint64_t ip)
{
	const struct thread *t = processes_thread(m->processes, tid);
	struct process *process = processes_find(m->processes, pid);
	bool unknown = !process || !t || !t->named || t->pid != pid;
	uint64_t now;

	if (!m->reader || pid == 0 || (!unknown && process->sure >= m->lost && !process->stale))
		return;
	process = processes_make(m->processes, pid);
	now = clock_now();
	if (process->requested || now < process->retry || (process->stale && !may_read_stale(m, process, now)))
		return;
	unknown |= ip <= INT64_MAX && !processes_at(process, ip);
	if (!unknown && !may_check(m, now))
		return;
	rescan_request(m, process, process->stale ? 0 : tid, now);
	if (process->requested && unknown && !process->stale)
		rescan_wait_for(m, process, now);
}

/* ---- the start -----------------------------------------------------------------------------------------------------
 */

static bool request_at_start(struct rescan *m, uint32_t pid, uint64_t end)
{
	struct process *process = processes_make(m->processes, pid);

	while (!(process->requested = procreader_request(m->reader, pid, 0))) {
		uint64_t now = clock_now();

		if (now >= end)
			return false;
		take_one(m, end - now);
		process = processes_make(m->processes, pid); /* it may have ended */
	}
	return true;
}

void rescan_start(struct rescan *m, const uint32_t *pid, size_t npids)
{
	uint64_t end = clock_now() + START_NS, now;
	DIR *d = m->reader && !pid ? opendir("/proc") : NULL;
	bool in_time = m->reader;

	for (size_t i = 0; i < npids && in_time; i++)
		in_time = request_at_start(m, pid[i], end);
	for (struct dirent *e; d && in_time && (e = readdir(d));) {
		uint64_t n;

		if (str_u64(str_of(e->d_name), &n))
			in_time = request_at_start(m, (uint32_t)n, end);
	}
	if (d)
		closedir(d);
	while (in_time && (now = clock_now()) < end && take_one(m, end - now))
		continue;
}

void rescan_read(struct processes *p, uint32_t pid)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct rescan *m = rescan_new(p, b, true);

	rescan_start(m, &pid, 1);
	rescan_free(m);
	budgets_free(b);
}
