/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/oncpu.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

enum { ONCPU_SWITCH_OUT = 1 << 13 }; /* bit of misc in SWITCH records: the thread leaves the CPU */

enum oncpu_status {
	ONCPU_FREE, /* the slot has no thread */
	ONCPU_ON,
	ONCPU_OFF,
	ONCPU_UNKNOWN, /* records were lost while the thread was on a CPU */
	ONCPU_ENDED
};

struct oncpu_slot {
	uint32_t pid, tid, cpu;
	uint8_t status;
	uint64_t since;   /* time up to which the thread's time is counted */
	uint64_t pending; /* on-CPU time in ns that no sample has yet */
};

struct oncpu {
	void (*emit)(void *to, const struct oncpu_rest *rest);
	void *to;
	struct oncpu_slot *slot; /* hash table by tid, with open addressing */
	size_t mask, used;
	uint64_t begin, unknown, unknown_ns;
	/* lossy: records were lost since oncpu_begin; doubtful: records near a loss are being taken */
	bool lossy, doubtful;
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
	free(oncpu);
}

void oncpu_begin(struct oncpu *oncpu, uint64_t ns)
{
	oncpu->begin = ns;
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

static struct oncpu_slot *oncpu_place(const struct oncpu *oncpu, uint32_t tid)
{
	size_t i = (size_t)hash_mix(tid, 0x9E3779B97F4A7C15u) & oncpu->mask;

	while (oncpu->slot[i].status != ONCPU_FREE && oncpu->slot[i].tid != tid)
		i = (i + 1) & oncpu->mask;
	return oncpu->slot + i;
}

/* Rebuilds the table without threads that ended. Doubles it if more than 3/8 of the slots remain used. */
static void oncpu_rebuild(struct oncpu *oncpu)
{
	struct oncpu_slot *old = oncpu->slot;
	size_t n = oncpu->mask + 1, living = 0;

	for (size_t i = 0; i < n; i++)
		living += old[i].status != ONCPU_FREE && old[i].status != ONCPU_ENDED;
	if (living > 3 * n / 8)
		oncpu->mask = 2 * n - 1;
	oncpu->slot = mem_alloc(sizeof(*oncpu->slot), oncpu->mask + 1);
	oncpu->used = living;
	for (size_t i = 0; i < n; i++)
		if (old[i].status != ONCPU_FREE && old[i].status != ONCPU_ENDED)
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
		*slot = (struct oncpu_slot){ .tid = tid, .status = (uint8_t)status, .since = ns };
		oncpu->used++;
	}
	slot->pid = pid;
	return slot;
}

/* ---- times --------------------------------------------------------------------------------------------------- */

static void oncpu_become(const struct oncpu *oncpu, struct oncpu_slot *slot, enum oncpu_status status, uint64_t ns)
{
	slot->status = (uint8_t)(oncpu->doubtful && status == ONCPU_ON ? ONCPU_UNKNOWN : status);
	slot->since = ns;
}

/* Counts the time of a thread up to ns by its status. */
static void count_to(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t ns)
{
	uint64_t from = slot->since > oncpu->begin ? slot->since : oncpu->begin;

	if (ns > from && slot->status == ONCPU_ON)
		slot->pending += ns - from;
	if (ns > from && slot->status == ONCPU_UNKNOWN) {
		oncpu->unknown++;
		oncpu->unknown_ns += ns - from;
	}
}

/* Returns the slot of a thread that is on a CPU at ns, since only then it can cause the record; its time up to ns is
 * counted. Returns NULL if the record is older than one of the thread that was taken before. */
static struct oncpu_slot *oncpu_runs(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, oncpu->lossy ? ONCPU_UNKNOWN : ONCPU_ON, oncpu->begin);

	if (ns < slot->since)
		return NULL;
	oncpu->unknown += slot->status == ONCPU_OFF; /* the record of its switch-in is missing */
	count_to(oncpu, slot, ns);
	oncpu_become(oncpu, slot, ONCPU_ON, ns);
	return slot;
}

static void oncpu_emit(struct oncpu *oncpu, struct oncpu_slot *slot, uint64_t time)
{
	struct oncpu_rest rest = { slot->pid, slot->tid, slot->cpu, time, slot->pending };

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
	slot = oncpu_runs(oncpu, sample->pid, sample->tid, sample->time);
	if (!slot)
		return 0;
	weight = slot->pending;
	slot->pending = 0;
	return weight;
}

/* ---- records ------------------------------------------------------------------------------------------------- */

static void oncpu_take_in(struct oncpu *oncpu, const struct ring_sample_id *id)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, id->pid, id->tid, ONCPU_OFF, id->time);

	if (id->time < slot->since)
		return;
	if (slot->status == ONCPU_ON) { /* the record of its switch-out is missing */
		oncpu->unknown++;
		oncpu->unknown_ns += id->time - slot->since;
	} else {
		count_to(oncpu, slot, id->time);
	}
	oncpu_become(oncpu, slot, ONCPU_ON, id->time);
	slot->cpu = id->cpu;
}

static void oncpu_take_out(struct oncpu *oncpu, const struct ring_sample_id *id)
{
	struct oncpu_slot *slot = oncpu_runs(oncpu, id->pid, id->tid, id->time);

	if (!slot)
		return;
	oncpu_become(oncpu, slot, ONCPU_OFF, id->time);
	slot->cpu = id->cpu;
}

static void oncpu_take_fork(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_OFF, ns);

	slot->pending = 0;
	oncpu_become(oncpu, slot, ONCPU_OFF, ns);
}

static void oncpu_take_exit(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_runs(oncpu, pid, tid, ns);

	if (!slot)
		return;
	oncpu_emit(oncpu, slot, ns);
	oncpu_become(oncpu, slot, ONCPU_ENDED, ns);
}

/* Takes a record of an exec. It is the first one of a command that pjrecord starts, whose events begin there. */
static void oncpu_take_exec(struct oncpu *oncpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct oncpu_slot *slot = oncpu_get(oncpu, pid, tid, ONCPU_ON, ns);

	if (slot->status == ONCPU_ENDED)
		oncpu_become(oncpu, slot, ONCPU_ON, ns);
}

void oncpu_record(struct oncpu *oncpu, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const char *body = (const char *)(head + 1);
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));
	size_t n = head->size - sizeof(*head) - sizeof(*id);

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

/* ---- borders and losses -------------------------------------------------------------------------------------- */

void oncpu_mark_stale(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *slot = oncpu->slot + i;

		if (slot->status != ONCPU_ON)
			continue;
		count_to(oncpu, slot, ns);
		slot->status = ONCPU_UNKNOWN;
		slot->since = ns > slot->since ? ns : slot->since;
	}
	oncpu->lossy = oncpu->doubtful = true;
}

void oncpu_sure(struct oncpu *oncpu)
{
	oncpu->doubtful = false;
}

void oncpu_border(struct oncpu *oncpu, uint64_t ns)
{
	for (size_t i = 0; i <= oncpu->mask; i++) {
		struct oncpu_slot *slot = oncpu->slot + i;

		if (slot->status == ONCPU_FREE || slot->status == ONCPU_ENDED)
			continue;
		count_to(oncpu, slot, ns);
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
