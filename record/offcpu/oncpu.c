/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/oncpu.h"

#include "common/arena.h"
#include "record/offcpu/threadslots.h"

#include <stdlib.h>

/* time in ns for which ended threads stay in the table, because records of them may come late */
#define ONCPU_ENDED_NS UINT64_C(2000000000)
/* time in ns without record or sample after which a thread on a CPU may have ended without an EXIT record */
#define ONCPU_SILENT_NS UINT64_C(1000000000)

enum {
	ONCPU_SWITCH_OUT = 1 << 13, /* bit of misc in SWITCH records; set: the thread leaves the CPU */
	/* maximum number of CPUs whose current thread is stored; records of further CPUs show no missing switch-out */
	ONCPU_CPUS = 65536
};

enum oncpu_status {
	ONCPU_FREE, /* free slot of the table */
	ONCPU_ON,
	ONCPU_OFF,
	ONCPU_UNKNOWN, /* from oncpu_slot.since on it is unknown if the thread is on a CPU */
	ONCPU_ENDED
};

struct oncpu_slot {
	struct threadslot thread;
	uint32_t cpu;
	uint64_t since;   /* time in ns up to which the thread's time was added to `pending` or to the unknown time */
	uint64_t latest;  /* time of the thread's latest record or sample, in ns */
	uint64_t pending; /* on-CPU time in ns that is in no sample yet */
	uint64_t cgroup;
};

struct oncpu {
	void (*emit)(void *to, const struct oncpu_rest *rest);
	void *to;
	struct threadslots threads; /* table of struct oncpu_slot */
	/* tid of the thread that switched in last; index: CPU; 0: unknown, or no thread */
	uint32_t *current;
	size_t ncpus;
	/* begin: time of oncpu_begin or of the last border; now: latest time of a record; unknown, unknown_ns: for
	 * oncpu_take_unknown */
	uint64_t begin, now, unknown, unknown_ns;
	/* lossy: records were lost since oncpu_begin. doubtful: records near a loss are being applied. newcomers:
	 * oncpu_newcomers was called. */
	bool lossy, doubtful, newcomers;
};

static bool oncpu_is_old(const void *slot, uint64_t now)
{
	const struct oncpu_slot *old = slot;

	return old->thread.status == ONCPU_ENDED && old->since + ONCPU_ENDED_NS < now;
}

struct oncpu *oncpu_new(void (*emit)(void *to, const struct oncpu_rest *rest), void *to)
{
	struct oncpu *oncpu = mem_alloc(sizeof(*oncpu), 1);

	*oncpu = (struct oncpu){ .emit = emit, .to = to };
	threadslots_init(&oncpu->threads, sizeof(struct oncpu_slot), oncpu_is_old);
	return oncpu;
}

void oncpu_free(struct oncpu *oncpu)
{
	if (!oncpu)
		return;
	threadslots_free(&oncpu->threads);
	free(oncpu->current);
	free(oncpu);
}

void oncpu_begin(struct oncpu *oncpu, uint64_t ns)
{
	oncpu->begin = ns;
}

void oncpu_newcomers(struct oncpu *oncpu)
{
	oncpu->newcomers = true;
}

/* ---- table of threads ------------------------------------------------------------------------------------------- */

static struct oncpu_slot *oncpu_find(const struct oncpu *oncpu, uint32_t tid)
{
	return threadslots_find(&oncpu->threads, tid);
}

/* Returns the slot of a thread. Adds a new thread with this status, since time ns. */
static struct oncpu_slot *oncpu_get(struct oncpu *oncpu, uint32_t pid, uint32_t tid, enum oncpu_status status,
				    uint64_t ns)
{
	bool added;
	struct oncpu_slot *slot = threadslots_get(&oncpu->threads, pid, tid, (uint8_t)status, oncpu->now, &added);

	if (added)
		slot->since = slot->latest = ns;
	return slot;
}

/* Gives the slot of a thread that ended more than ONCPU_ENDED_NS before time ns to a new thread with its tid that has
 * no FORK record. The new thread has this status since ns. Does nothing without losses and newcomers. Waits
 * ONCPU_ENDED_NS, because the kernel writes records of a thread for a moment after its EXIT record. */
static void oncpu_reuse(const struct oncpu *oncpu, struct oncpu_slot *slot, enum oncpu_status status, uint64_t ns)
{
	if ((oncpu->lossy || oncpu->newcomers) && oncpu_is_old(slot, ns))
		*slot = (struct oncpu_slot){ .thread = { slot->thread.tid, slot->thread.pid, (uint8_t)status },
					     .since = ns,
					     .latest = ns };
}

/* Returns the slot of a thread that is on a CPU at time ns. A thread that is new to the table is on the CPU since
 * oncpu_begin; after oncpu_newcomers, only since ns. After a loss the status of a new thread is unknown. */
static struct oncpu_slot *oncpu_running(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	uint64_t begin = oncpu->begin < ns && !oncpu->newcomers ? oncpu->begin : ns;
	enum oncpu_status status = oncpu->lossy ? ONCPU_UNKNOWN : ONCPU_ON;
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, status, begin);

	oncpu_reuse(oncpu, slot, status, ns);
	return slot;
}

/* ---- on-CPU times ----------------------------------------------------------------------------------------------- */

static void oncpu_become(const struct oncpu *oncpu, struct oncpu_slot *slot, enum oncpu_status status, uint64_t ns)
{
	slot->thread.status = (uint8_t)(oncpu->doubtful && status == ONCPU_ON ? ONCPU_UNKNOWN : status);
	slot->since = slot->latest = ns;
}

static void count_unknown(struct oncpu *oncpu, uint64_t from, uint64_t ns)
{
	from = from > oncpu->begin ? from : oncpu->begin;
	oncpu->unknown++;
	oncpu->unknown_ns += ns > from ? ns - from : 0;
}

/* Adds the time of a thread from `since` up to ns to its on-CPU time or to the unknown time, depending on its
 * status. */
static void count_to(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t ns)
{
	uint64_t from = slot->since > oncpu->begin ? slot->since : oncpu->begin;

	if (ns > from && slot->thread.status == ONCPU_ON)
		slot->pending += ns - from;
	if (ns > from && slot->thread.status == ONCPU_UNKNOWN)
		count_unknown(oncpu, from, ns);
}

/* As count_to, for a time ns at which no record shows that the thread runs. If FORK or EXIT records were lost, the
 * thread may have ended without an EXIT record: after ONCPU_SILENT_NS without record, its time is unknown until its
 * next record. */
static void count_silent_to(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t ns)
{
	if (oncpu->newcomers && slot->thread.status == ONCPU_ON && ns > slot->latest &&
	    ns - slot->latest > ONCPU_SILENT_NS)
		slot->thread.status = ONCPU_UNKNOWN;
	count_to(oncpu, slot, ns);
}

static void oncpu_emit(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t time)
{
	struct oncpu_rest rest = { slot->thread.pid, slot->thread.tid, slot->cpu, time, slot->pending, slot->cgroup };

	if (rest.ns)
		oncpu->emit(oncpu->to, &rest);
	slot->pending = 0;
}

/* Returns true if tid is that of a thread; false for 0 (idle tasks) and -1 (a thread that has ended and leaves its CPU
 * for the last time). */
static bool oncpu_is_thread(uint32_t tid)
{
	return tid != 0 && tid != UINT32_MAX;
}

uint64_t oncpu_weight(struct oncpu *oncpu, const struct ring_sample *sample)
{
	struct oncpu_slot *slot;
	uint64_t weight;

	if (!oncpu_is_thread(sample->tid))
		return 0;
	slot = oncpu_running(oncpu, sample->pid, sample->tid, sample->time);
	/* a non-maskable interrupt can sample a thread before the record of its switch-in; such a sample adds no
	 * time */
	if (sample->time > slot->since && (slot->thread.status == ONCPU_ON || slot->thread.status == ONCPU_UNKNOWN)) {
		count_to(oncpu, slot, sample->time);
		oncpu_become(oncpu, slot, ONCPU_ON, sample->time);
		slot->cpu = sample->cpu;
	}
	weight = slot->pending;
	slot->pending = 0;
	return weight;
}

uint64_t oncpu_counted(const struct oncpu *oncpu, uint32_t tid)
{
	const struct oncpu_slot *slot = oncpu_find(oncpu, tid);

	return slot ? slot->since : 0;
}

void oncpu_set_cgroup(struct oncpu *oncpu, uint32_t tid, uint64_t cgroup)
{
	struct oncpu_slot *slot = oncpu_find(oncpu, tid);

	if (slot)
		slot->cgroup = cgroup;
}

/* ---- records of the kernel -------------------------------------------------------------------------------------- */

/* Returns true if the thread may still run on the CPU of its latest record. Returns false after a loss, because the
 * thread may run on another CPU then. */
static bool may_be_current(const struct oncpu *oncpu, const struct oncpu_slot *slot)
{
	return slot->thread.status == ONCPU_ON ||
	       (slot->thread.status == ONCPU_UNKNOWN && oncpu->newcomers && !oncpu->lossy);
}

/* Sets the thread that is on a CPU from time ns on; tid 0: no thread, or an unknown one. The previous thread may have
 * no record of its switch-out, because the record was lost or the thread is no longer recorded. Then its time up to ns
 * is counted as unknown. */
static void oncpu_set_current(struct oncpu *oncpu, uint32_t cpu, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot;

	if (cpu >= ONCPU_CPUS)
		return;
	if (cpu >= oncpu->ncpus) {
		oncpu->current = mem_grow(oncpu->current, sizeof(*oncpu->current), (size_t)cpu + 1);
		memset(oncpu->current + oncpu->ncpus, 0, (cpu + 1 - oncpu->ncpus) * sizeof(*oncpu->current));
		oncpu->ncpus = (size_t)cpu + 1;
	}
	slot = oncpu->current[cpu] && oncpu->current[cpu] != tid ? oncpu_find(oncpu, oncpu->current[cpu]) : NULL;
	oncpu->current[cpu] = tid;
	if (!slot || !may_be_current(oncpu, slot) || slot->cpu != cpu || slot->since > ns)
		return;
	count_unknown(oncpu, slot->since, ns);
	oncpu_become(oncpu, slot, ONCPU_OFF, ns);
}

static void oncpu_take_in(struct oncpu *oncpu, const struct ring_sample_id *id)
{
	struct oncpu_slot *slot;

	oncpu_set_current(oncpu, id->cpu, id->tid, id->time);
	slot = oncpu_get(oncpu, id->pid, id->tid, ONCPU_OFF, id->time);
	oncpu_reuse(oncpu, slot, ONCPU_OFF, id->time);
	if (slot->thread.status == ONCPU_ENDED || id->time < slot->since)
		return;
	if (slot->thread.status == ONCPU_ON) /* the record of the switch-out is missing */
		count_unknown(oncpu, slot->since, id->time);
	else
		count_to(oncpu, slot, id->time);
	oncpu_become(oncpu, slot, ONCPU_ON, id->time);
	slot->cpu = id->cpu;
}

static void oncpu_take_out(struct oncpu *oncpu, const struct ring_sample_id *id)
{
	struct oncpu_slot *slot = oncpu_running(oncpu, id->pid, id->tid, id->time);

	if (slot->thread.status != ONCPU_ENDED && id->time >= slot->since) {
		/* adds 1 if the record of the switch-in is missing */
		oncpu->unknown += slot->thread.status == ONCPU_OFF;
		count_to(oncpu, slot, id->time);
		oncpu_become(oncpu, slot, ONCPU_OFF, id->time);
		slot->cpu = id->cpu;
	} else if (slot->thread.status == ONCPU_ON) { /* a late record: the order of records near it is unknown */
		slot->thread.status = ONCPU_UNKNOWN;
	}
	oncpu_set_current(oncpu, id->cpu, 0, id->time);
}

static void oncpu_take_fork(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_OFF, ns);

	if (ns < slot->latest)
		return; /* the FORK record is late: the thread has had later records */
	if (slot->thread.status != ONCPU_ENDED)
		/* This on-CPU time is that of an earlier thread with this tid, whose EXIT record was lost. */
		oncpu_emit(oncpu, slot, ns);
	*slot = (struct oncpu_slot){ .thread = { tid, pid, ONCPU_OFF }, .since = ns, .latest = ns };
}

static void oncpu_take_exit(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_running(oncpu, pid, tid, ns);

	if (slot->thread.status == ONCPU_ENDED)
		return;
	ns = ns > slot->since ? ns : slot->since;
	count_silent_to(oncpu, slot, ns);
	oncpu_emit(oncpu, slot, ns);
	oncpu_become(oncpu, slot, ONCPU_ENDED, ns);
}

/* Applies the record of an exec. The first record of a command that pjrecord starts is its exec, since its events are
 * enabled there. If a thread other than the first of its process calls exec, it gets the tid of the first thread, which
 * has ended. No record shows the end of the thread's old tid, so this function ends it. */
static void oncpu_take_exec(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_ON, ns);
	uint32_t cpu = slot->cpu;

	if (slot->thread.status == ONCPU_ON)
		return;
	for (size_t i = 0; i <= oncpu->threads.mask; i++) {
		struct oncpu_slot *old = threadslots_at(&oncpu->threads, i);

		if (old == slot || old->thread.pid != pid || old->thread.status == ONCPU_FREE ||
		    old->thread.status == ONCPU_ENDED)
			continue;
		cpu = old->thread.status == ONCPU_ON ? old->cpu : cpu;
		count_silent_to(oncpu, old, ns);
		oncpu_emit(oncpu, old, ns);
		oncpu_become(oncpu, old, ONCPU_ENDED, ns);
	}
	if (slot->thread.status != ONCPU_ENDED)
		count_to(oncpu, slot, ns);
	oncpu_become(oncpu, slot, ONCPU_ON, ns);
	slot->cpu = cpu;
}

void oncpu_record(struct oncpu *oncpu, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const char *body = (const char *)(head + 1);
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));
	size_t n = head->size - sizeof(*head) - sizeof(*id);

	oncpu->now = record->time > oncpu->now ? record->time : oncpu->now;
	switch (head->type) {
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		if (oncpu_is_thread(id->tid))
			(head->misc & ONCPU_SWITCH_OUT ? oncpu_take_out : oncpu_take_in)(oncpu, id);
		break;
	case RECORD_FORK:
		if (n >= 24)
			oncpu_take_fork(oncpu, load32(body), load32(body + 8), record->time);
		break;
	case RECORD_EXIT:
		if (n >= 24)
			oncpu_take_exit(oncpu, load32(body), load32(body + 8), record->time);
		break;
	case RECORD_COMM:
		if (n >= 8 && head->misc & MISC_COMM_EXEC)
			oncpu_take_exec(oncpu, load32(body), load32(body + 4), record->time);
		break;
	default: break;
	}
}

void oncpu_forget(struct oncpu *oncpu, uint32_t pid)
{
	for (size_t i = 0; i <= oncpu->threads.mask; i++) {
		struct threadslot *thread = threadslots_at(&oncpu->threads, i);

		if (thread->status != ONCPU_FREE && thread->pid == pid)
			thread->status = ONCPU_ENDED;
	}
}

/* ---- borders and losses -------------------------------------------------------------------------------------- */

void oncpu_mark_stale(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->threads.mask; i++) {
		struct oncpu_slot *slot = threadslots_at(&oncpu->threads, i);

		if (slot->thread.status != ONCPU_ON)
			continue;
		count_silent_to(oncpu, slot, ns);
		slot->thread.status = ONCPU_UNKNOWN;
		slot->since = ns > slot->since ? ns : slot->since;
	}
	oncpu->lossy = oncpu->doubtful = true;
}

void oncpu_sure(struct oncpu *oncpu)
{
	oncpu->doubtful = false;
}

void oncpu_check(struct oncpu *oncpu, bool (*alive)(void *to, uint32_t tid), void *to)
{
	for (size_t i = 0; i <= oncpu->threads.mask; i++) {
		struct oncpu_slot *slot = threadslots_at(&oncpu->threads, i);

		if (slot->thread.status == ONCPU_FREE || slot->thread.status == ONCPU_ENDED ||
		    alive(to, slot->thread.tid))
			continue;
		/* adds 1 for a thread on a CPU, because the time of its end is unknown */
		oncpu->unknown += slot->thread.status == ONCPU_ON;
		oncpu_emit(oncpu, slot, slot->since);
		slot->thread.status = ONCPU_ENDED;
		/* `latest` does not change: a FORK record after it is that of a new thread */
		slot->since = oncpu->now;
	}
}

void oncpu_border(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->threads.mask; i++) {
		struct oncpu_slot *slot = threadslots_at(&oncpu->threads, i);

		if (slot->thread.status == ONCPU_FREE || slot->thread.status == ONCPU_ENDED)
			continue;
		count_silent_to(oncpu, slot, ns);
		slot->since = ns > slot->since ? ns : slot->since;
		oncpu_emit(oncpu, slot, ns - 1);
	}
	oncpu->begin = ns > oncpu->begin ? ns : oncpu->begin;
}

void oncpu_take_unknown(struct oncpu *oncpu, uint64_t *times, uint64_t *ns)
{
	*times = oncpu->unknown;
	*ns = oncpu->unknown_ns;
	oncpu->unknown = oncpu->unknown_ns = 0;
}
