/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/oncpu.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

/* time for which ended threads stay in the table, in ns, because their records may come late */
#define ONCPU_ENDED_NS UINT64_C(2000000000)
/* time without record or sample, in ns, after which a thread on a CPU may have ended without an EXIT record */
#define ONCPU_SILENT_NS UINT64_C(1000000000)

enum {
	ONCPU_SWITCH_OUT = 1 << 13, /* bit of misc in SWITCH records: the thread leaves the CPU */
	ONCPU_CPUS = 65536          /* threads on CPUs with higher numbers are not followed by CPU */
};

enum oncpu_status {
	ONCPU_FREE, /* the slot has no thread */
	ONCPU_ON,
	ONCPU_OFF,
	ONCPU_UNKNOWN, /* it is unknown since oncpu_slot.since if the thread is on a CPU */
	ONCPU_ENDED
};

struct oncpu_slot {
	uint32_t pid, tid, cpu;
	uint8_t status;
	uint64_t since;   /* time up to which the thread's time is counted */
	uint64_t latest;  /* time of the thread's latest record or sample */
	uint64_t pending; /* on-CPU time in ns that no sample has yet */
	uint64_t cgroup;
};

struct oncpu {
	void (*emit)(void *to, const struct oncpu_rest *rest);
	void *to;
	struct oncpu_slot *slot; /* hash table by tid, with open addressing */
	size_t mask, used;
	uint32_t *current; /* by CPU: tid of the thread that switched in there; 0: none */
	size_t ncpus;
	uint64_t begin, now, unknown, unknown_ns;
	/* lossy: records were lost since oncpu_begin; doubtful: records near a loss are being taken; newcomers:
	 * oncpu_newcomers */
	bool lossy, doubtful, newcomers;
};

struct oncpu *oncpu_new(void (*emit)(void *to, const struct oncpu_rest *rest), void *to)
{
	struct oncpu *oncpu = mem_alloc(sizeof(*oncpu), 1);

	*oncpu = (struct oncpu){ .emit = emit, .to = to, .mask = 255 };
	oncpu->slot = mem_alloc(sizeof(*oncpu->slot), oncpu->mask + 1);
	return oncpu;
}

void oncpu_free(struct oncpu *oncpu)
{
	if (!oncpu)
		return;
	free(oncpu->slot);
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

/* ---- threads ------------------------------------------------------------------------------------------------- */

static struct oncpu_slot *oncpu_place(const struct oncpu *oncpu, uint32_t tid)
{
	size_t i = (size_t)hash_mix(tid, 0x9E3779B97F4A7C15u) & oncpu->mask;

	while (oncpu->slot[i].status != ONCPU_FREE && oncpu->slot[i].tid != tid)
		i = (i + 1) & oncpu->mask;
	return oncpu->slot + i;
}

static struct oncpu_slot *oncpu_find(const struct oncpu *oncpu, uint32_t tid)
{
	struct oncpu_slot *slot = oncpu_place(oncpu, tid);

	return slot->status == ONCPU_FREE ? NULL : slot;
}

/* Rebuilds the table without threads that ended long ago. Doubles it if more than 3/8 of the slots remain used. */
static void oncpu_rebuild(struct oncpu *oncpu)
{
	struct oncpu_slot *old = oncpu->slot;
	size_t n = oncpu->mask + 1, saved = 0;

	for (size_t i = 0; i < n; i++) {
		if (old[i].status == ONCPU_ENDED && old[i].since + ONCPU_ENDED_NS < oncpu->now)
			old[i].status = ONCPU_FREE;
		saved += old[i].status != ONCPU_FREE;
	}
	if (saved > 3 * n / 8)
		oncpu->mask = 2 * n - 1;
	oncpu->slot = mem_alloc(sizeof(*oncpu->slot), oncpu->mask + 1);
	oncpu->used = saved;
	for (size_t i = 0; i < n; i++)
		if (old[i].status != ONCPU_FREE)
			*oncpu_place(oncpu, old[i].tid) = old[i];
	free(old);
}

/* Returns the slot of a thread. Adds a new thread with this status since ns. */
static struct oncpu_slot *oncpu_get(struct oncpu *oncpu, uint32_t pid, uint32_t tid, enum oncpu_status status,
				    uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_place(oncpu, tid);

	if (slot->status == ONCPU_FREE && 2 * (oncpu->used + 1) > oncpu->mask) {
		oncpu_rebuild(oncpu);
		slot = oncpu_place(oncpu, tid);
	}
	if (slot->status == ONCPU_FREE) {
		*slot = (struct oncpu_slot){ .tid = tid, .status = (uint8_t)status, .since = ns, .latest = ns };
		oncpu->used++;
	}
	slot->pid = pid;
	return slot;
}

/* Returns the slot of a thread that is on a CPU at ns. A new thread has been there since oncpu_begin, but a newcomer
 * only since ns; after a loss that is unknown. */
static struct oncpu_slot *oncpu_running(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	uint64_t begin = oncpu->begin < ns && !oncpu->newcomers ? oncpu->begin : ns;

	return oncpu_get(oncpu, pid, tid, oncpu->lossy ? ONCPU_UNKNOWN : ONCPU_ON, begin);
}

/* ---- times --------------------------------------------------------------------------------------------------- */

static void oncpu_become(const struct oncpu *oncpu, struct oncpu_slot *slot, enum oncpu_status status, uint64_t ns)
{
	slot->status = (uint8_t)(oncpu->doubtful && status == ONCPU_ON ? ONCPU_UNKNOWN : status);
	slot->since = slot->latest = ns;
}

static void count_unknown(struct oncpu *oncpu, uint64_t from, uint64_t ns)
{
	from = from > oncpu->begin ? from : oncpu->begin;
	oncpu->unknown++;
	oncpu->unknown_ns += ns > from ? ns - from : 0;
}

/* Counts the time of a thread up to ns by its status. */
static void count_to(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t ns)
{
	uint64_t from = slot->since > oncpu->begin ? slot->since : oncpu->begin;

	if (ns > from && slot->status == ONCPU_ON)
		slot->pending += ns - from;
	if (ns > from && slot->status == ONCPU_UNKNOWN)
		count_unknown(oncpu, from, ns);
}

/* Counts the time of a thread up to ns, at which no record shows that it runs. If records of processes were lost, it
 * may have ended without an EXIT record: after ONCPU_SILENT_NS without record, its time is unknown until its next one.
 */
static void count_silent_to(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t ns)
{
	if (oncpu->newcomers && slot->status == ONCPU_ON && ns > slot->latest && ns - slot->latest > ONCPU_SILENT_NS)
		slot->status = ONCPU_UNKNOWN;
	count_to(oncpu, slot, ns);
}

static void oncpu_emit(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t time)
{
	struct oncpu_rest rest = { slot->pid, slot->tid, slot->cpu, time, slot->pending, slot->cgroup };

	if (rest.ns)
		oncpu->emit(oncpu->to, &rest);
	slot->pending = 0;
}

/* Returns false for tid 0, the idle tasks, and for tid -1, a thread that has ended and leaves the CPU for the last
 * time. */
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
	/* an interrupt that cannot be masked samples a thread before the record of its switch-in, too */
	if (sample->time > slot->since && (slot->status == ONCPU_ON || slot->status == ONCPU_UNKNOWN)) {
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

/* ---- records ------------------------------------------------------------------------------------------------- */

/* Returns true if the thread was on its CPU at its latest record: after a loss, it may run on another one. */
static bool may_be_current(const struct oncpu *oncpu, const struct oncpu_slot *slot)
{
	return slot->status == ONCPU_ON || (slot->status == ONCPU_UNKNOWN && oncpu->newcomers && !oncpu->lossy);
}

/* Sets the thread that is on a CPU from ns on; 0: another or none. If the thread that was there has no record of its
 * switch-out, because that was lost or the thread is not recorded any more, its time is unknown. */
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
	if (slot->status == ONCPU_ENDED || id->time < slot->since)
		return;
	if (slot->status == ONCPU_ON) /* the record of its switch-out is missing */
		count_unknown(oncpu, slot->since, id->time);
	else
		count_to(oncpu, slot, id->time);
	oncpu_become(oncpu, slot, ONCPU_ON, id->time);
	slot->cpu = id->cpu;
}

static void oncpu_take_out(struct oncpu *oncpu, const struct ring_sample_id *id)
{
	struct oncpu_slot *slot = oncpu_running(oncpu, id->pid, id->tid, id->time);

	if (slot->status != ONCPU_ENDED && id->time >= slot->since) {
		oncpu->unknown += slot->status == ONCPU_OFF; /* the record of its switch-in is missing */
		count_to(oncpu, slot, id->time);
		oncpu_become(oncpu, slot, ONCPU_OFF, id->time);
		slot->cpu = id->cpu;
	} else if (slot->status == ONCPU_ON) { /* the record is late, so the order of its neighbours is unknown */
		slot->status = ONCPU_UNKNOWN;
	}
	oncpu_set_current(oncpu, id->cpu, 0, id->time);
}

static void oncpu_take_fork(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_OFF, ns);

	if (ns < slot->latest)
		return; /* late: the thread has had records */
	if (slot->status != ONCPU_ENDED)
		oncpu_emit(oncpu, slot, ns); /* of an earlier thread with this tid, whose end was lost */
	*slot = (struct oncpu_slot){ .pid = pid, .tid = tid, .status = ONCPU_OFF, .since = ns, .latest = ns };
}

static void oncpu_take_exit(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_running(oncpu, pid, tid, ns);

	if (slot->status == ONCPU_ENDED)
		return;
	ns = ns > slot->since ? ns : slot->since;
	count_silent_to(oncpu, slot, ns);
	oncpu_emit(oncpu, slot, ns);
	oncpu_become(oncpu, slot, ONCPU_ENDED, ns);
}

/* Takes the record of an exec. The first one is that of a command that pjrecord starts, whose events begin there. After
 * an exec by a thread other than the first of its process, that thread has the tid of the first one, which has ended;
 * there is no record of the end of its old tid. */
static void oncpu_take_exec(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_ON, ns);
	uint32_t cpu = slot->cpu;

	if (slot->status == ONCPU_ON)
		return;
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *old = oncpu->slot + i;

		if (old == slot || old->pid != pid || old->status == ONCPU_FREE || old->status == ONCPU_ENDED)
			continue;
		cpu = old->status == ONCPU_ON ? old->cpu : cpu;
		count_silent_to(oncpu, old, ns);
		oncpu_emit(oncpu, old, ns);
		oncpu_become(oncpu, old, ONCPU_ENDED, ns);
	}
	if (slot->status != ONCPU_ENDED)
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
	for (size_t i = 0; i <= oncpu->mask; i++)
		if (oncpu->slot[i].status != ONCPU_FREE && oncpu->slot[i].pid == pid)
			oncpu->slot[i].status = ONCPU_ENDED;
}

/* ---- borders and losses -------------------------------------------------------------------------------------- */

void oncpu_mark_stale(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *slot = oncpu->slot + i;

		if (slot->status != ONCPU_ON)
			continue;
		count_silent_to(oncpu, slot, ns);
		slot->status = ONCPU_UNKNOWN;
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
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *slot = oncpu->slot + i;

		if (slot->status == ONCPU_FREE || slot->status == ONCPU_ENDED || alive(to, slot->tid))
			continue;
		oncpu->unknown += slot->status == ONCPU_ON; /* it is unknown when it ended */
		oncpu_emit(oncpu, slot, slot->since);
		slot->status = ONCPU_ENDED;
		slot->since = oncpu->now; /* latest stays: a FORK record after that is of a new thread */
	}
}

void oncpu_border(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *slot = oncpu->slot + i;

		if (slot->status == ONCPU_FREE || slot->status == ONCPU_ENDED)
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
