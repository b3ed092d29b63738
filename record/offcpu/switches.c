/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/switches.h"

#include "common/arena.h"
#include "common/hash.h"
#include "record/offcpu/leftout.h"
#include "record/offcpu/oncpu.h"
#include "record/offcpu/switchtimes.h"

#include <stdlib.h>

struct switches {
	struct switches_options o;
	struct offcpu *offcpu;
	struct oncpu *oncpu; /* on-CPU times; NULL: this is no wall-clock profile */
	struct switchtimes times;
	uint64_t oncpu_ns; /* sum of the on-CPU times in samples, in ns */
	struct text sample;
	const struct offcpu_sample *emitted; /* sample that is being emitted; NULL: no sample */
	/* lost: number of lost records since the last border. live: number of living threads, valid only in
	 * switches_never. */
	uint64_t lost, live;
	struct leftout leftout;
	struct earlywaits early;
};

/* Returns the number of context markers to append to the callchain of a sample. The callchain of a certified copy has
 * its markers already, and a callchain without user part gets none. */
static uint32_t marks_of(const struct switches *switches, const struct offcpu_sample *sample)
{
	uint32_t i = 0;

	if (!switches->o.marks || sample->read)
		return 0;
	while (i < sample->n && sample->ips[i] != CONTEXT_USER)
		i++;
	return i < sample->n && sample->n <= UINT16_MAX / 8 - 64 ? PJ_MARKS_NOT_VERIFIED : 0;
}

bool switches_is_unread(const uint64_t *ips, uint64_t nips)
{
	uint64_t marks = 0;

	while (marks < nips && ips[nips - 1 - marks] == CONTEXT_USER)
		marks++;
	return marks == PJ_MARKS_NOT_VERIFIED;
}

void switches_drop_stack(struct switches *switches)
{
	if (switches->emitted && switches->o.marks)
		offcpu_drop_stack(switches->offcpu, switches->emitted);
}

static void make_sample(void *to, const struct offcpu_sample *sample)
{
	struct switches *switches = to;
	struct ring_sample r = { .head = { .type = RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
				 .event = switches->o.event + (sample->unsampled ? 2 : sample->preempted),
				 .pid = sample->pid,
				 .tid = sample->tid,
				 .time = sample->time,
				 .cpu = sample->cpu,
				 .period = sample->ns,
				 .nips = sample->n + marks_of(switches, sample) };
	const uint64_t mark = CONTEXT_USER;
	struct text *text = &switches->sample;
	uint16_t size;

	for (uint32_t i = 0; i < sample->n && !r.ip; i++)
		r.ip = sample->ips[i] < CONTEXT_MAX ? sample->ips[i] : 0;
	if (sample->n && sample->ips[0] == CONTEXT_KERNEL)
		r.head.misc = PERF_RECORD_MISC_KERNEL;
	text->n = 0;
	text_bytes(text, &r, sizeof(r));
	if (sample->n)
		text_bytes(text, sample->ips, sample->n * sizeof(*sample->ips));
	for (uint64_t i = sample->n; i < r.nips; i++)
		text_bytes(text, &mark, sizeof(mark));
	if (switches->o.cgroup)
		text_bytes(text, &sample->cgroup, sizeof(sample->cgroup));
	size = (uint16_t)text->n;
	memcpy(text->p + offsetof(struct perf_record, size), &size, sizeof(size));
	switches->emitted = sample;
	switches->o.emit(switches->o.to, (void *)text->p);
	switches->emitted = NULL;
}

static void emit_rest(void *to, const struct oncpu_rest *rest)
{
	struct offcpu_sample sample = { .pid = rest->pid,
					.tid = rest->tid,
					.cpu = rest->cpu,
					.time = rest->time,
					.ns = rest->ns,
					.cgroup = rest->cgroup,
					.unsampled = true };

	((struct switches *)to)->oncpu_ns += rest->ns;
	make_sample(to, &sample);
}

struct switches *switches_new(const struct switches_options *options)
{
	struct switches *switches = mem_alloc(sizeof(*switches), 1);

	switches->o = *options;
	switches->offcpu = offcpu_new(options->least_ns, make_sample, switches);
	if (options->wall) {
		offcpu_emit_all(switches->offcpu);
		switches->oncpu = oncpu_new(emit_rest, switches);
	}
	return switches;
}

void switches_free(struct switches *switches)
{
	if (!switches)
		return;
	offcpu_free(switches->offcpu);
	oncpu_free(switches->oncpu);
	switchtimes_free(&switches->times);
	earlywaits_free(&switches->early);
	text_free(&switches->sample);
	free(switches);
}

void switches_begin(struct switches *switches, uint64_t ns)
{
	if (!switches)
		return;
	offcpu_begin(switches->offcpu, ns);
	if (switches->oncpu)
		oncpu_begin(switches->oncpu, ns);
	switches->lost = 0;
}

/* Adds a thread to the table of threads that existed before the recording, if its off-CPU time must be recorded. Skips
 * processes without user stacks; processes of other users that pjrecord may not read are among them. */
static void add_early(void *to, const struct thread *thread)
{
	struct switches *switches = to;
	const struct process *process = processes_find(switches->o.processes, thread->pid);

	if (process && process->user_stacks && !thread->exited && (process->target || !switches->o.targets) &&
	    !leftout_has(&switches->leftout, thread->pid) && switches->o.wanted(switches->o.to, thread->pid))
		earlywaits_add(&switches->early, hash_pair(process->tenant.key, process->tenant.kind), thread->pid,
			       thread->tid);
}

void switches_begin_early(struct switches *switches, uint64_t now)
{
	if (!switches || !switches->o.early)
		return;
	processes_each_thread(switches->o.processes, add_early, switches);
	earlywaits_begin(&switches->early, now);
}

void switches_tick(struct switches *switches, uint64_t now)
{
	if (switches)
		earlywaits_tick(&switches->early, switches->offcpu, now);
}

struct earlywaits *switches_early(struct switches *switches)
{
	return &switches->early;
}

/* Returns the pid of the process of a record. A SWITCH record has it in its trailer, a sample in its fixed part;
 * records of state rings begin with it. */
static uint32_t switches_pid_of(const struct ring_record *record)
{
	const struct perf_record *perf_record = record->head;
	const struct ring_sample_id *sample_id =
		(const void *)((const char *)perf_record + perf_record->size - sizeof(*sample_id));

	if (record->kind != RING_OF_SWITCHES)
		return load32((const char *)(perf_record + 1));
	return perf_record->type == RECORD_SAMPLE ? ((const struct ring_sample *)perf_record)->pid : sample_id->pid;
}

void switches_leave_out(struct switches *switches, uint32_t pid)
{
	if (!switches || leftout_has(&switches->leftout, pid))
		return;
	leftout_add(&switches->leftout, pid);
	if (!leftout_has(&switches->leftout, pid))
		return;
	offcpu_forget(switches->offcpu, pid);
	if (switches->oncpu)
		oncpu_forget(switches->oncpu, pid);
}

void switches_newcomers(struct switches *switches)
{
	if (!switches || !switches->oncpu)
		return;
	offcpu_newcomers(switches->offcpu);
	oncpu_newcomers(switches->oncpu);
}

void switches_leave_out_none(struct switches *switches)
{
	if (switches)
		leftout_clear(&switches->leftout);
}

/* Applies a record to the set of left-out processes. Returns true if it is the record of a left-out process and must be
 * dropped; otherwise false. */
static bool drops_record(struct switches *switches, const struct ring_record *record)
{
	if (record->kind == RING_OF_STATE)
		return leftout_record(&switches->leftout, record);
	return leftout_has(&switches->leftout, switches_pid_of(record));
}

/* Sets the time of a SWITCH record in a wall-clock profile to the time at which the kernel's scheduler accounts the
 * switch (switchtimes.h). Never sets it to a time before the latest record of the thread, or before the time up to
 * which on-CPU time of the thread was added. */
static void adjust_time(struct switches *switches, const struct ring_record *record)
{
	struct perf_record *head = record->head;
	struct ring_sample_id *id = (void *)((char *)head + head->size - sizeof(*id));
	uint64_t time = switchtimes_record(&switches->times, record), off, on;

	if ((head->type != RECORD_SWITCH && head->type != RECORD_SWITCH_CPU_WIDE) || record->fixed || time >= id->time)
		return;
	off = offcpu_latest(switches->offcpu, id->tid);
	on = oncpu_counted(switches->oncpu, id->tid);
	time = time > off ? time : off;
	time = time > on ? time : on;
	id->time = time < id->time ? time : id->time;
}

static void record_cgroup(struct switches *switches, const struct ring_record *record)
{
	const struct ring_sample *sample = (const void *)record->head;

	if (switches->o.cgroup && record->kind == RING_OF_SWITCHES && sample->head.type == RECORD_SAMPLE &&
	    sample->head.size >= sizeof(*sample) + 8)
		oncpu_set_cgroup(switches->oncpu, sample->tid, load64((const char *)sample + sample->head.size - 8));
}

void switches_record(struct switches *switches, const struct ring_record *record)
{
	if (!switches)
		return;
	if (switches->oncpu && record->kind == RING_OF_SWITCHES)
		adjust_time(switches, record);
	if (drops_record(switches, record) || !switches->o.wanted(switches->o.to, switches_pid_of(record)))
		return;
	offcpu_record(switches->offcpu, record, switches->o.cgroup && record->kind == RING_OF_SWITCHES);
	if (!switches->oncpu)
		return;
	oncpu_record(switches->oncpu, record);
	record_cgroup(switches, record);
}

bool switches_weigh(struct switches *switches, struct ring_sample *sample, uint64_t cgroup)
{
	if (leftout_has(&switches->leftout, sample->pid))
		return false;
	sample->period = oncpu_weight(switches->oncpu, sample);
	switches->oncpu_ns += sample->period;
	if (cgroup)
		oncpu_set_cgroup(switches->oncpu, sample->tid, cgroup);
	return true;
}

uint64_t switches_oncpu_ns(const struct switches *switches)
{
	return switches ? switches->oncpu_ns : 0;
}

bool switches_wanted(const struct switches *switches, uint32_t pid)
{
	return switches->o.wanted(switches->o.to, pid);
}

struct offcpu *switches_offcpu(struct switches *switches)
{
	return switches ? switches->offcpu : NULL;
}

void switches_lost(struct switches *switches, uint64_t n)
{
	if (switches)
		switches->lost += n;
}

void switches_mark_stale(struct switches *switches, uint64_t ns)
{
	if (switches)
		offcpu_mark_stale(switches->offcpu, ns);
	if (switches && switches->oncpu) {
		switchtimes_lost(&switches->times);
		oncpu_mark_stale(switches->oncpu, ns);
	}
}

void switches_sure(struct switches *switches)
{
	if (switches)
		offcpu_sure(switches->offcpu);
	if (switches && switches->oncpu)
		oncpu_sure(switches->oncpu);
}

static bool is_alive(void *to, uint32_t tid)
{
	const struct thread *thread = processes_thread(((struct switches *)to)->o.processes, tid);

	return thread && !thread->exited;
}

void switches_mend(struct switches *switches)
{
	if (!switches)
		return;
	offcpu_check(switches->offcpu, is_alive, switches);
	if (switches->oncpu)
		oncpu_check(switches->oncpu, is_alive, switches);
	earlywaits_end(&switches->early, is_alive, switches);
}

static void count_live(void *to, struct process *process)
{
	struct switches *switches = to;

	if (process->pid && !leftout_has(&switches->leftout, process->pid) &&
	    switches->o.wanted(switches->o.to, process->pid))
		switches->live += process->live;
}

/* Returns the number of living threads of the host that have had neither a record nor a stack (offcpu_set_early) since
 * the recording began; 0 if not all threads are known. ran: result of offcpu_threads. */
static uint64_t switches_never(struct switches *switches, size_t ran)
{
	switches->live = 0;
	if (switches->o.all)
		processes_each(switches->o.processes, count_live, switches);
	return switches->live > ran ? switches->live - ran : 0;
}

/* Ends a window of a wall-clock profile at time ns: emits the on-CPU times that are in no sample, and adds the unknown
 * ones to *counts. */
static void end_oncpu(struct switches *switches, uint64_t ns, struct pj_offcpu *counts)
{
	uint64_t times, unknown_ns;

	if (!switches->oncpu)
		return;
	oncpu_border(switches->oncpu, ns);
	oncpu_take_unknown(switches->oncpu, &times, &unknown_ns);
	counts->unknown += times;
	counts->unknown_ns += unknown_ns;
}

struct pj_offcpu switches_end(struct switches *switches, uint64_t ns)
{
	struct pj_offcpu counts;
	size_t ran;

	if (!switches)
		return (struct pj_offcpu){ 0 };
	ran = offcpu_threads(switches->offcpu);
	offcpu_border(switches->offcpu, ns);
	counts = offcpu_counts(switches->offcpu);
	offcpu_count_from_here(switches->offcpu);
	if (!switches->o.marks)
		/* no stacks are read in this recording, so no stack is counted as unread */
		counts.unread = counts.unread_ns = counts.preempted_unread_ns = 0;
	if (switches->o.wall)
		counts.preempted_read_ns = counts.preempted_complete_ns = counts.preempted_unread_ns = 0;
	end_oncpu(switches, ns, &counts);
	counts.lost = switches->lost;
	counts.never = switches_never(switches, ran);
	counts.lacking = earlywaits_lacking(&switches->early, switches->offcpu);
	if (switches->o.all && switches->early.over > counts.never)
		/* the other threads beyond EARLYWAITS_MAX have had a record, or have ended, so they are not lacking any
		 * more */
		switches->early.over = counts.never;
	counts.own = switches->o.own ? switches->leftout.n : 0;
	switches->lost = 0;
	return counts;
}
