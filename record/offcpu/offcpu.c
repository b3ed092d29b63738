/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/offcpu.h"

#include "common/arena.h"
#include "record/offcpu/chains.h"
#include "record/offcpu/threadslots.h"

#include <stdlib.h>

/* maximum number of losses since the last border whose times are stored; if the time of the first loss within an
 * off-CPU time is not stored, that off-CPU time is unknown from its start */
#define RETRIES_MAX 1024
/* time in ns for which ended threads stay in the table, because records of them may come late */
#define ENDED_NS UINT64_C(2000000000)

enum {
	SWITCH_OUT = 1 << 13, /* bit of misc in SWITCH records; set: the thread leaves the CPU */
	/* bit of misc in SWITCH records; set: the thread was preempted; since Linux 4.17 */
	SWITCH_OUT_PREEMPT = 1 << 14
};

enum status {
	NOBODY, /* free slot of the table */
	FRESH,  /* the thread was started during the recording and has not run yet */
	/* The thread is on a CPU. slot.chain, unless NULL, is the callchain of its imminent switch-out. */
	RUNNING,
	/* the thread is off the CPU */
	OFF,
	UNKNOWN, /* records were lost: from slot.since on it is unknown if the thread is on a CPU */
	ENDED
};

struct slot {
	struct threadslot thread;
	uint32_t cpu;
	bool preempted;
	/* since: time at which the status began. last: time of the thread's latest record. Both in ns. */
	uint64_t since, last;
	uint64_t cgroup;
	struct chain *chain;
	/* value of offcpu.retries (number of losses) when the callchain, or the switch-out, was recorded */
	uint64_t stale;
	uint64_t sampled; /* time of the sample of the switch-out, in ns */
	/* read: true: the user part of the chain is from a certified copy of the stack. complete: true: the chain ends
	 * in a root frame. */
	bool read, complete;
	/* early: true: the thread has been off the CPU since before the recording, with the stack of a certified copy.
	 * returned: true: the thread's state is OFFCPU_EARLY_RETURNED. early_lost: true: the thread's state is
	 * OFFCPU_EARLY_LOST while the status is UNKNOWN. */
	bool early, returned, early_lost;
};

struct offcpu {
	uint64_t least_ns;
	bool all, newcomers; /* all: offcpu_emit_all was called. newcomers: offcpu_newcomers was called. */
	void (*emit)(void *to, const struct offcpu_sample *sample);
	void *to;
	struct threadslots threads; /* table of struct slot */
	struct chains chains;
	/* floor: time of offcpu_begin or of the last border; off-CPU time before it is not emitted (again). now: latest
	 * time of a record. Both in ns. */
	uint64_t floor, now;
	/* retries: number of losses so far. old_retries: value of retries at the last border. */
	uint64_t retries, old_retries;
	/* for each loss since the last border: time in ns up to which records were complete; index: number of the loss
	 * minus old_retries */
	uint64_t certain[RETRIES_MAX];
	/* true: records near a loss are being applied (between offcpu_mark_stale and offcpu_sure) */
	bool doubtful;
	struct pj_offcpu counts;
};

static bool offcpu_is_old(const void *slot, uint64_t now)
{
	const struct slot *old = slot;

	return old->thread.status == ENDED && old->last + ENDED_NS < now;
}

struct offcpu *offcpu_new(uint64_t least_ns, void (*emit)(void *to, const struct offcpu_sample *sample), void *to)
{
	struct offcpu *offcpu = mem_alloc(sizeof(*offcpu), 1);

	*offcpu = (struct offcpu){ .least_ns = least_ns, .emit = emit, .to = to };
	threadslots_init(&offcpu->threads, sizeof(struct slot), offcpu_is_old);
	return offcpu;
}

void offcpu_emit_all(struct offcpu *offcpu)
{
	offcpu->all = true;
}

void offcpu_newcomers(struct offcpu *offcpu)
{
	offcpu->newcomers = true;
}

void offcpu_free(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	chains_free(&offcpu->chains);
	threadslots_free(&offcpu->threads);
	free(offcpu);
}

/* ---- table of threads ------------------------------------------------------------------------------------------- */

static struct slot *offcpu_find(const struct offcpu *offcpu, uint32_t tid)
{
	return threadslots_find(&offcpu->threads, tid);
}

/* Returns the slot of a thread, and sets its pid. Adds a new thread as RUNNING, with ns as the time of its latest
 * record. */
static struct slot *offcpu_get(struct offcpu *offcpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	bool added;
	struct slot *slot = threadslots_get(&offcpu->threads, pid, tid, RUNNING, offcpu->now, &added);

	if (added)
		slot->last = ns;
	return slot;
}

/* Gives the slot of a thread that ended more than ENDED_NS before time ns to a new thread with its tid that has no FORK
 * record, and makes the new thread RUNNING. Does nothing without losses and newcomers: then each new thread has a FORK
 * record, and records of an ended thread are its own. The kernel writes these for a moment after the EXIT record; PID 1
 * of a container waits there for the end of all its processes. */
static void offcpu_reuse(const struct offcpu *offcpu, struct slot *slot, uint64_t ns)
{
	if ((offcpu->newcomers || offcpu->retries) && offcpu_is_old(slot, ns))
		*slot = (struct slot){ .thread = { slot->thread.tid, slot->thread.pid, RUNNING },
				       .since = ns,
				       .last = ns };
}

static void drop_chain(struct offcpu *offcpu, struct slot *slot)
{
	chains_put(&offcpu->chains, slot->chain);
	slot->chain = NULL;
	slot->read = slot->complete = slot->early = false;
}

static void offcpu_become(struct slot *slot, enum status status, uint64_t ns)
{
	slot->thread.status = (uint8_t)status;
	slot->since = slot->last = ns;
}

/* Ends a thread whose EXIT record was lost. Sets `since` to the time of its latest record, because a later FORK record
 * with this tid is that of a new thread. */
static void offcpu_end_silent(struct offcpu *offcpu, struct slot *slot)
{
	drop_chain(offcpu, slot);
	offcpu_become(slot, ENDED, slot->last);
	slot->last = offcpu->now;
}

/* ---- off-CPU times ---------------------------------------------------------------------------------------------- */

/* Returns the start, in ns, of the part of a thread's off-CPU time that is in no sample yet. */
static uint64_t start_of(const struct offcpu *offcpu, const struct slot *slot)
{
	return slot->since > offcpu->floor ? slot->since : offcpu->floor;
}

static bool is_certain(const struct offcpu *offcpu, const struct slot *slot)
{
	return slot->stale == offcpu->retries;
}

/* Returns the time in ns up to which a thread was certainly off the CPU: the time of the first loss after its
 * switch-out. Returns 0 if that time is not stored. */
static uint64_t certain_until(const struct offcpu *offcpu, const struct slot *slot)
{
	uint64_t i = slot->stale - offcpu->old_retries;

	return slot->stale >= offcpu->old_retries && i < RETRIES_MAX ? offcpu->certain[i] : 0;
}

static bool has_user_part(const struct chain *chain)
{
	uint32_t i = 0;

	while (i < chain->n && chain->ips[i] != CONTEXT_USER)
		i++;
	return i < chain->n;
}

/* Counts an off-CPU time of `ns` nanoseconds as one whose user stack was read or was not read. Kernel threads have no
 * user stack, so their times are not counted. */
static void count_stack(struct offcpu *offcpu, const struct slot *slot, uint64_t ns)
{
	struct pj_offcpu *counts = &offcpu->counts;
	uint64_t preempted = slot->preempted ? ns : 0;

	if (slot->read) {
		counts->read++;
		counts->read_ns += ns;
		counts->preempted_read_ns += preempted;
		counts->complete += slot->complete;
		counts->complete_ns += slot->complete ? ns : 0;
		counts->preempted_complete_ns += slot->complete ? preempted : 0;
	} else if (slot->chain && has_user_part(slot->chain)) {
		counts->unread++;
		counts->unread_ns += ns;
		counts->preempted_unread_ns += preempted;
	}
}

/* Emits a thread's off-CPU time up to `end` (ns) as a sample with the timestamp `time`. If the thread has no callchain,
 * and offcpu_emit_all was not called, only counts the time. */
static void offcpu_give(struct offcpu *offcpu, const struct slot *slot, uint64_t end, uint64_t time)
{
	struct offcpu_sample sample = { .pid = slot->thread.pid,
					.tid = slot->thread.tid,
					.cpu = slot->cpu,
					.preempted = slot->preempted,
					.time = time,
					.cgroup = slot->cgroup,
					.read = slot->read,
					.complete = slot->complete,
					.early = slot->early };
	uint64_t start = start_of(offcpu, slot);

	if (end <= start)
		return;
	sample.ns = end - start;
	if (!slot->chain && !offcpu->all) {
		offcpu->counts.without_chain++;
		offcpu->counts.without_chain_ns += sample.ns;
		return;
	}
	sample.ips = slot->chain ? slot->chain->ips : NULL;
	sample.n = slot->chain ? slot->chain->n : 0;
	*(sample.preempted ? &offcpu->counts.preempted : &offcpu->counts.blocked) += 1;
	*(sample.preempted ? &offcpu->counts.preempted_ns : &offcpu->counts.blocked_ns) += sample.ns;
	count_stack(offcpu, slot, sample.ns);
	offcpu->counts.early += slot->early;
	offcpu->counts.early_ns += slot->early ? sample.ns : 0;
	offcpu->counts.early_complete_ns += slot->early && slot->complete ? sample.ns : 0;
	offcpu->emit(offcpu->to, &sample);
}

/* Emits the off-CPU time of a thread that returned to a CPU at time ns. If that time is shorter than least_ns, only
 * counts it as brief. */
static void give_complete(struct offcpu *offcpu, const struct slot *slot, uint64_t ns)
{
	uint64_t start = start_of(offcpu, slot);

	if (slot->chain && ns - slot->since < offcpu->least_ns && ns > start) {
		offcpu->counts.brief++;
		offcpu->counts.brief_ns += ns - start;
		return;
	}
	offcpu_give(offcpu, slot, ns, ns);
}

/* Ends an off-CPU time during which records were lost. Emits the part up to the first loss, with the timestamp `time`,
 * and counts the rest up to time ns as unknown. */
static void offcpu_give_up(struct offcpu *offcpu, struct slot *slot, uint64_t ns, uint64_t time)
{
	uint64_t from = start_of(offcpu, slot), until = from;

	if (slot->thread.status == OFF && !is_certain(offcpu, slot)) {
		until = certain_until(offcpu, slot);
		until = until < from ? from : until > ns ? ns : until;
		offcpu_give(offcpu, slot, until, time);
	}
	offcpu->counts.unknown += slot->thread.status == OFF;
	offcpu->counts.unknown_ns += ns > until ? ns - until : 0;
	drop_chain(offcpu, slot);
}

/* ---- records of the kernel ------------------------------------------------------------------------------------ */

/* Returns true if a record with time ns came too late (rings.h): it is older than the latest record of its thread. In
 * this case counts one off-CPU time as unknown: the one that the record begins or ends. */
static bool offcpu_is_late(struct offcpu *offcpu, const struct slot *slot, uint64_t ns)
{
	if (ns >= slot->last)
		return false;
	offcpu->counts.unknown++;
	return true;
}

/* Sets a thread to RUNNING at time ns, because the kernel writes the current record only for a thread on a CPU. If the
 * thread was off the CPU before, the record of its return was lost, so its off-CPU time ends as uncertain
 * (offcpu_give_up). */
static void must_run(struct offcpu *offcpu, struct slot *slot, uint64_t ns)
{
	if (slot->thread.status == OFF || slot->thread.status == UNKNOWN)
		offcpu_give_up(offcpu, slot, ns, ns);
	if (slot->thread.status != RUNNING)
		offcpu_become(slot, RUNNING, ns);
	slot->last = ns;
}

static void offcpu_take_chain(struct offcpu *offcpu, const struct ring_sample *sample, bool cgroup)
{
	uint64_t space = (sample->head.size - sizeof(*sample)) / sizeof(uint64_t);
	struct slot *slot = offcpu_get(offcpu, sample->pid, sample->tid, sample->time);

	offcpu_reuse(offcpu, slot, sample->time);
	if (slot->thread.status == ENDED || offcpu_is_late(offcpu, slot, sample->time) || space < sample->nips + cgroup)
		return;
	must_run(offcpu, slot, sample->time);
	drop_chain(offcpu, slot);
	slot->chain = chains_get(&offcpu->chains, sample->ips, (uint32_t)sample->nips, 0);
	slot->cgroup = cgroup ? load64((const char *)sample + sample->head.size - 8) : 0;
	slot->stale = offcpu->retries;
	slot->sampled = sample->time;
}

static void take_out(struct offcpu *offcpu, const struct ring_sample_id *sample_id, bool preempted)
{
	struct slot *slot = offcpu_get(offcpu, sample_id->pid, sample_id->tid, sample_id->time);

	offcpu_reuse(offcpu, slot, sample_id->time);
	if (slot->thread.status == ENDED || offcpu_is_late(offcpu, slot, sample_id->time))
		return;
	must_run(offcpu, slot, sample_id->time);
	if (!is_certain(offcpu, slot) || offcpu->doubtful)
		drop_chain(offcpu, slot); /* without certainty, the chain may be that of an earlier switch-out */
	offcpu_become(slot, offcpu->doubtful ? UNKNOWN : OFF, sample_id->time);
	slot->early_lost = false;
	slot->preempted = preempted;
	slot->cpu = sample_id->cpu;
	slot->stale = offcpu->retries;
	offcpu->counts.unknown += offcpu->doubtful;
}

/* Emits the time up to `end` (ns) for which a new thread waits for its first run, with the timestamp `time`. If that
 * time is uncertain, counts it as unknown. Does nothing if offcpu_emit_all was not called. */
static void give_fresh(struct offcpu *offcpu, const struct slot *slot, uint64_t end, uint64_t time)
{
	uint64_t start = start_of(offcpu, slot);

	if (!offcpu->all || end <= start)
		return;
	if (is_certain(offcpu, slot) && !offcpu->doubtful) {
		offcpu_give(offcpu, slot, end, time);
		return;
	}
	offcpu->counts.unknown++;
	offcpu->counts.unknown_ns += end - start;
}

/* Applies a switch-in that is the first record of its thread: the thread has been off the CPU since offcpu_begin, or is
 * new. */
static void take_first_in(struct offcpu *offcpu, const struct ring_sample_id *sample_id)
{
	uint64_t ns = sample_id->time > offcpu->floor ? sample_id->time - offcpu->floor : 0;
	struct slot *slot = offcpu_get(offcpu, sample_id->pid, sample_id->tid, sample_id->time);

	if (!offcpu->all || offcpu->newcomers || offcpu->retries) {
		slot->returned = ns >= OFFCPU_RETURNED_NS;
		offcpu->counts.before++;
		offcpu->counts.before_ns += ns;
	} else {
		slot->cpu = UINT32_MAX;
		offcpu_give(offcpu, slot, sample_id->time, sample_id->time);
	}
}

static void take_in(struct offcpu *offcpu, const struct ring_sample_id *sample_id)
{
	struct slot *slot = offcpu_find(offcpu, sample_id->tid);

	if (!slot) {
		take_first_in(offcpu, sample_id);
		return;
	}
	offcpu_reuse(offcpu, slot, sample_id->time);
	if (slot->thread.status == ENDED || offcpu_is_late(offcpu, slot, sample_id->time))
		return;
	if (slot->thread.status == OFF && is_certain(offcpu, slot) && !offcpu->doubtful)
		give_complete(offcpu, slot, sample_id->time);
	else if (slot->thread.status == RUNNING)
		offcpu->counts.unknown++; /* the record of the switch-out is missing */
	else if (slot->thread.status == FRESH)
		give_fresh(offcpu, slot, sample_id->time, sample_id->time);
	else
		offcpu_give_up(offcpu, slot, sample_id->time, sample_id->time);
	drop_chain(offcpu, slot);
	slot->thread.pid = sample_id->pid;
	offcpu_become(slot, RUNNING, sample_id->time);
}

/* Applies the body of a FORK record: pid, parent's pid, tid, parent's tid. A new thread gets the cgroup of the thread
 * that started it. A new process gets none, because it may be started in another cgroup. */
static void take_fork(struct offcpu *offcpu, const char *body, uint64_t ns)
{
	uint32_t pid = load32(body), tid = load32(body + 8);
	struct slot *slot = offcpu_get(offcpu, pid, tid, ns);
	const struct slot *parent = offcpu_find(offcpu, load32(body + 12));

	if (ns < (slot->thread.status == ENDED ? slot->since : slot->last))
		return; /* the FORK record is late: the thread has had later records */
	/* This off-CPU time is that of an earlier thread with this tid, whose EXIT record was lost. */
	if (slot->thread.status == OFF || slot->thread.status == UNKNOWN)
		offcpu_give_up(offcpu, slot, slot->last, ns);
	drop_chain(offcpu, slot);
	offcpu_become(slot, FRESH, ns);
	slot->stale = offcpu->retries;
	slot->preempted = true;
	slot->cpu = UINT32_MAX;
	slot->cgroup = parent && parent->thread.pid == pid && load32(body + 4) == pid ? parent->cgroup : 0;
}

static void offcpu_take_exit(struct offcpu *offcpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *slot = offcpu_get(offcpu, pid, tid, ns);

	if (slot->thread.status == OFF || slot->thread.status == UNKNOWN)
		offcpu_give_up(offcpu, slot, ns, ns);
	drop_chain(offcpu, slot);
	offcpu_become(slot, ENDED, ns);
}

/* Applies an exec by a thread of process pid; does nothing if the thread is RUNNING or not in the table. A thread other
 * than the first has got the tid of the first thread from the kernel, which has ended all other threads of the process.
 * So the slots of all threads of the process become ENDED, and the slot of `tid` becomes RUNNING. */
static void take_exec(struct offcpu *offcpu, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *slot = offcpu_find(offcpu, tid);

	if (!slot || slot->thread.status == RUNNING)
		return;
	for (size_t i = 0; i <= offcpu->threads.mask; i++) {
		struct slot *other = threadslots_at(&offcpu->threads, i);

		if (other->thread.pid != pid || other->thread.status == NOBODY)
			continue;
		drop_chain(offcpu, other);
		offcpu_become(other, ENDED, ns);
	}
	offcpu_become(slot, RUNNING, ns);
}

/* Returns true if tid is that of a thread; false for 0 (idle tasks) and -1 (a thread that has ended and leaves its
 * CPU). */
static bool is_thread(uint32_t tid)
{
	return tid != 0 && tid != UINT32_MAX;
}

void offcpu_record(struct offcpu *offcpu, const struct ring_record *record, bool cgroup)
{
	const struct perf_record *perf_record = record->head;
	const char *body = (const char *)(perf_record + 1);
	const struct ring_sample_id *sample_id =
		(const void *)((const char *)perf_record + perf_record->size - sizeof(*sample_id));
	size_t n = perf_record->size - sizeof(*perf_record) - sizeof(*sample_id);

	offcpu->now = record->time > offcpu->now ? record->time : offcpu->now;
	switch (perf_record->type) {
	case RECORD_SAMPLE:
		if (perf_record->size >= sizeof(struct ring_sample) &&
		    is_thread(((const struct ring_sample *)perf_record)->tid))
			offcpu_take_chain(offcpu, (const struct ring_sample *)perf_record, cgroup);
		break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		if (!is_thread(sample_id->tid))
			break;
		if (perf_record->misc & SWITCH_OUT)
			take_out(offcpu, sample_id, perf_record->misc & SWITCH_OUT_PREEMPT);
		else
			take_in(offcpu, sample_id);
		break;
	case RECORD_FORK:
		if (n >= 24)
			take_fork(offcpu, body, record->time);
		break;
	case RECORD_EXIT:
		if (n >= 24)
			offcpu_take_exit(offcpu, load32(body), load32(body + 8), record->time);
		break;
	case RECORD_COMM:
		if (n >= 8 && perf_record->misc & MISC_COMM_EXEC)
			take_exec(offcpu, load32(body), load32(body + 4), record->time);
		break;
	default: break;
	}
}

uint64_t offcpu_latest(const struct offcpu *offcpu, uint32_t tid)
{
	const struct slot *slot = offcpu_find(offcpu, tid);

	return slot ? slot->last : 0;
}

void offcpu_forget(struct offcpu *offcpu, uint32_t pid)
{
	for (size_t i = 0; i <= offcpu->threads.mask; i++) {
		struct slot *slot = threadslots_at(&offcpu->threads, i);

		if (slot->thread.status == NOBODY || slot->thread.status == ENDED || slot->thread.pid != pid)
			continue;
		offcpu_end_silent(offcpu, slot);
	}
}

/* ---- certificates and callchains of copies ---------------------------------------------------------------------- */

enum offcpu_verdict offcpu_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until)
{
	const struct slot *slot = offcpu_find(offcpu, copy->tid);

	if (!slot || slot->thread.status != OFF || slot->sampled != copy->sampled || copy->begun < slot->since ||
	    copy->ended < copy->begun || copy->ended > UINT64_MAX - OFFCPU_MARGIN_NS)
		return OFFCPU_RESUMED;
	if (!is_certain(offcpu, slot) || offcpu->doubtful)
		return OFFCPU_UNCERTAIN;
	return copy->ended + OFFCPU_MARGIN_NS < until ? OFFCPU_CERTIFIED : OFFCPU_RESUMED;
}

bool offcpu_wait(const struct offcpu *offcpu, uint32_t tid, struct offcpu_sample *sample)
{
	const struct slot *slot = offcpu_find(offcpu, tid);

	if (!slot || slot->thread.status != OFF || !slot->chain)
		return false;
	*sample = (struct offcpu_sample){ .pid = slot->thread.pid,
					  .tid = slot->thread.tid,
					  .cpu = slot->cpu,
					  .preempted = slot->preempted,
					  .read = slot->read,
					  .time = slot->sampled,
					  .ips = slot->chain->ips,
					  .n = slot->chain->n };
	return true;
}

bool offcpu_set_stack(struct offcpu *offcpu, uint32_t tid, const struct offcpu_stack *stack)
{
	struct slot *slot = offcpu_find(offcpu, tid);
	struct chain *chain;

	if (slot && slot->thread.status == OFF && slot->read && slot->complete && !stack->complete)
		return true;
	chain = slot && slot->thread.status == OFF && stack->owner ?
			chains_get(&offcpu->chains, stack->ips, stack->n, stack->owner) :
			NULL;
	if (!chain)
		return false;
	drop_chain(offcpu, slot);
	slot->chain = chain;
	slot->read = true;
	slot->complete = stack->complete;
	return true;
}

enum offcpu_verdict offcpu_early_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until)
{
	const struct slot *slot = offcpu_find(offcpu, copy->tid);

	if ((slot && !slot->early) || copy->ended < copy->begun || copy->ended > UINT64_MAX - OFFCPU_MARGIN_NS)
		return OFFCPU_RESUMED;
	/* the slot of a thread that has ended stays for ENDED_NS only, so after that time the end may be unnoticed */
	if (offcpu->retries || offcpu->doubtful || until - copy->begun > ENDED_NS)
		return OFFCPU_UNCERTAIN;
	return copy->ended + OFFCPU_MARGIN_NS < until ? OFFCPU_CERTIFIED : OFFCPU_RESUMED;
}

bool offcpu_set_early(struct offcpu *offcpu, uint32_t pid, uint32_t tid, const struct offcpu_stack *stack)
{
	struct chain *chain;
	struct slot *slot;

	if (!stack->complete && offcpu_early(offcpu, tid) == OFFCPU_EARLY_COMPLETE)
		return true;
	chain = stack->owner ? chains_get(&offcpu->chains, stack->ips, stack->n, stack->owner) : NULL;
	if (!chain)
		return false;
	slot = offcpu_get(offcpu, pid, tid, 0);
	drop_chain(offcpu, slot);
	slot->thread.status = OFF;
	slot->cpu = UINT32_MAX;
	slot->chain = chain;
	slot->stale = offcpu->retries;
	slot->read = slot->early = true;
	slot->complete = stack->complete;
	return true;
}

enum offcpu_early offcpu_early(const struct offcpu *offcpu, uint32_t tid)
{
	const struct slot *slot = offcpu_find(offcpu, tid);

	if (!slot)
		return OFFCPU_EARLY_SILENT;
	if (slot->early)
		return slot->complete ? OFFCPU_EARLY_COMPLETE : OFFCPU_EARLY_READ;
	if (slot->thread.status == UNKNOWN && slot->early_lost)
		return OFFCPU_EARLY_LOST;
	return slot->returned ? OFFCPU_EARLY_RETURNED : OFFCPU_EARLY_NONE;
}

bool offcpu_has_lost(const struct offcpu *offcpu)
{
	return offcpu->retries;
}

void offcpu_drop_stack(struct offcpu *offcpu, const struct offcpu_sample *sample)
{
	struct pj_offcpu *counts = &offcpu->counts;
	uint64_t preempted = sample->preempted ? sample->ns : 0;

	if (!sample->read || !counts->read || counts->read_ns < sample->ns)
		return;
	counts->read--;
	counts->read_ns -= sample->ns;
	counts->complete -= sample->complete;
	counts->complete_ns -= sample->complete ? sample->ns : 0;
	counts->preempted_read_ns -= preempted;
	counts->preempted_complete_ns -= sample->complete ? preempted : 0;
	counts->early -= sample->early;
	counts->early_ns -= sample->early ? sample->ns : 0;
	counts->early_complete_ns -= sample->early && sample->complete ? sample->ns : 0;
	counts->unread++;
	counts->unread_ns += sample->ns;
	counts->preempted_unread_ns += preempted;
}

/* ---- borders and losses -------------------------------------------------------------------------------------- */

void offcpu_begin(struct offcpu *offcpu, uint64_t ns)
{
	offcpu->floor = ns;
}

void offcpu_mark_stale(struct offcpu *offcpu, uint64_t ns)
{
	uint64_t i = offcpu->retries - offcpu->old_retries;

	if (i < RETRIES_MAX)
		offcpu->certain[i] = ns;
	offcpu->retries++;
	offcpu->doubtful = true;
}

void offcpu_sure(struct offcpu *offcpu)
{
	offcpu->doubtful = false;
}

/* Ends the off-CPU times that may have ended before the border at time ns, because records were lost. Their threads
 * become UNKNOWN. */
static void give_up_uncertain(struct offcpu *offcpu, uint64_t ns)
{
	for (size_t i = 0; i <= offcpu->threads.mask; i++) {
		struct slot *slot = threadslots_at(&offcpu->threads, i);

		if (slot->thread.status != UNKNOWN && (slot->thread.status != OFF || is_certain(offcpu, slot)))
			continue;
		slot->early_lost = slot->thread.status == OFF ? slot->early : slot->early_lost;
		offcpu_give_up(offcpu, slot, ns, ns - 2);
		slot->thread.status = UNKNOWN;
	}
}

void offcpu_border(struct offcpu *offcpu, uint64_t ns)
{
	if (ns > offcpu->floor) {
		give_up_uncertain(offcpu, ns);
		for (size_t i = 0; i <= offcpu->threads.mask; i++) {
			struct slot *slot = threadslots_at(&offcpu->threads, i);

			if (slot->thread.status == OFF)
				offcpu_give(offcpu, slot, ns, ns - 1);
			else if (slot->thread.status == FRESH)
				give_fresh(offcpu, slot, ns, ns - 1);
		}
	}
	offcpu->floor = ns > offcpu->floor ? ns : offcpu->floor;
	offcpu->old_retries = offcpu->retries;
}

void offcpu_check(struct offcpu *offcpu, bool (*alive)(void *to, uint32_t tid), void *to)
{
	for (size_t i = 0; i <= offcpu->threads.mask; i++) {
		struct slot *slot = threadslots_at(&offcpu->threads, i);

		if (slot->thread.status == NOBODY || slot->thread.status == ENDED || alive(to, slot->thread.tid))
			continue;
		offcpu->counts.unknown += slot->thread.status == OFF;
		offcpu_end_silent(offcpu, slot);
	}
}

/* ---- counts and sizes ------------------------------------------------------------------------------------------- */

struct pj_offcpu offcpu_counts(const struct offcpu *offcpu)
{
	return offcpu->counts;
}

void offcpu_count_from_here(struct offcpu *offcpu)
{
	offcpu->counts = (struct pj_offcpu){ 0 };
}

size_t offcpu_threads(const struct offcpu *offcpu)
{
	size_t n = 0;

	for (size_t i = 0; i <= offcpu->threads.mask; i++) {
		const struct threadslot *thread = threadslots_at(&offcpu->threads, i);

		n += thread->status != NOBODY && thread->status != ENDED;
	}
	return n;
}

size_t offcpu_bytes(const struct offcpu *offcpu)
{
	return sizeof(*offcpu) + threadslots_bytes(&offcpu->threads) + offcpu->chains.bytes +
	       offcpu->chains.nbuckets * sizeof(void *);
}
