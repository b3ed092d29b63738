/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/offcpu.h"

#include "common/arena.h"
#include "record/offcpu/chains.h"
#include "common/hash.h"

#include <stdlib.h>

#define RETRIES_MAX 1024              /* losses between two borders that are told apart */
#define ENDED_NS UINT64_C(2000000000) /* what ended, for records that come after it */

enum {
	SWITCH_OUT = 1 << 13,        /* misc of SWITCH* */
	SWITCH_OUT_PREEMPT = 1 << 14 /* of a thread that could have gone on; 4.17 */
};

enum status {
	NOBODY,  /* an empty slot */
	FRESH,   /* began after we did, did not run yet */
	RUNNING, /* chain: of the switch that is about to come */
	OFF,
	UNKNOWN, /* since `since`: records were lost */
	ENDED
};

struct slot {
	uint32_t tid, pid, cpu;
	uint8_t status;
	bool preempted;
	uint64_t since, last; /* of this status; of its last record */
	uint64_t cgroup;
	struct chain *chain;
	uint64_t stale; /* losses before the chain, or before it went off */
};

struct offcpu {
	uint64_t least_ns;
	void (*emit)(void *to, const struct offcpu_sample *sample);
	void *to;
	struct slot *slot; /* open addressing by tid */
	size_t mask, used; /* used: slots that are not empty */
	struct chains chains;
	uint64_t floor, now;
	uint64_t retries, old_retries; /* losses so far; and before the last border */
	uint64_t certain[RETRIES_MAX]; /* what was certain at those since the border */
	bool doubtful;                 /* and now */
	struct pj_offcpu counts;
};

struct offcpu *offcpu_new(uint64_t least_ns, void (*emit)(void *to, const struct offcpu_sample *sample), void *to)
{
	struct offcpu *o = mem_alloc(sizeof(*o), 1);

	*o = (struct offcpu){ .least_ns = least_ns, .emit = emit, .to = to, .mask = 255 };
	o->slot = mem_alloc(sizeof(*o->slot), o->mask + 1);
	return o;
}

void offcpu_free(struct offcpu *o)
{
	if (!o)
		return;
	chains_free(&o->chains);
	free(o->slot);
	free(o);
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

static struct slot *offcpu_place(const struct offcpu *o, uint32_t tid)
{
	size_t i = (size_t)hash_mix(tid, 0x9E3779B97F4A7C15u) & o->mask;

	while (o->slot[i].status != NOBODY && o->slot[i].tid != tid)
		i = (i + 1) & o->mask;
	return o->slot + i;
}

static struct slot *offcpu_find(const struct offcpu *o, uint32_t tid)
{
	struct slot *t = offcpu_place(o, tid);

	return t->status == NOBODY ? NULL : t;
}

/* Twice as many slots, or, when many have ended, as many without those. */
static void offcpu_make_space(struct offcpu *o)
{
	struct slot *old = o->slot;
	size_t n = o->mask + 1, saved = 0;

	for (size_t i = 0; i < n; i++) {
		if (old[i].status == ENDED && old[i].last + ENDED_NS < o->now)
			old[i].status = NOBODY;
		saved += old[i].status != NOBODY;
	}
	if (saved > 3 * n / 8)
		o->mask = 2 * n - 1;
	o->slot = mem_alloc(sizeof(*o->slot), o->mask + 1);
	o->used = saved;
	for (size_t i = 0; i < n; i++)
		if (old[i].status != NOBODY)
			*offcpu_place(o, old[i].tid) = old[i];
	free(old);
}

/* The thread, known or not; new ones run. */
static struct slot *offcpu_get(struct offcpu *o, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *t = offcpu_place(o, tid);

	if (t->status == NOBODY && 2 * (o->used + 1) > o->mask) {
		offcpu_make_space(o);
		t = offcpu_place(o, tid);
	}
	if (t->status == NOBODY) {
		*t = (struct slot){ .tid = tid, .status = RUNNING, .last = ns };
		o->used++;
	}
	t->pid = pid;
	return t;
}

static void drop_chain(struct offcpu *o, struct slot *t)
{
	chains_put(&o->chains, t->chain);
	t->chain = NULL;
}

static void offcpu_become(struct slot *t, enum status status, uint64_t ns)
{
	t->status = (uint8_t)status;
	t->since = t->last = ns;
}

/* ---- times --------------------------------------------------------------------------------------------------- */

/* Its time off begins there, as far as it was not handed over yet. */
static uint64_t start_of(const struct offcpu *o, const struct slot *t)
{
	return t->since > o->floor ? t->since : o->floor;
}

static bool is_certain(const struct offcpu *o, const struct slot *t)
{
	return t->stale == o->retries;
}

/* Until when it was off for sure: the first loss after it went; its start when nobody knows. */
static uint64_t certain_until(const struct offcpu *o, const struct slot *t)
{
	uint64_t i = t->stale - o->old_retries;

	return t->stale >= o->old_retries && i < RETRIES_MAX ? o->certain[i] : 0;
}

/* Hands over from its start to end, at that time. */
static void offcpu_give(struct offcpu *o, const struct slot *t, uint64_t end, uint64_t time)
{
	struct offcpu_sample s = { .pid = t->pid,
				   .tid = t->tid,
				   .cpu = t->cpu,
				   .preempted = t->preempted,
				   .time = time,
				   .cgroup = t->cgroup };
	uint64_t start = start_of(o, t);

	if (end <= start)
		return;
	s.ns = end - start;
	if (!t->chain) {
		o->counts.fp++;
		o->counts.fp_ns += s.ns;
		return;
	}
	s.ips = t->chain->ips;
	s.n = t->chain->n;
	*(s.preempted ? &o->counts.preempted : &o->counts.blocked) += 1;
	*(s.preempted ? &o->counts.preempted_ns : &o->counts.blocked_ns) += s.ns;
	o->emit(o->to, &s);
}

/* A thread that is off came back. */
static void give_complete(struct offcpu *o, const struct slot *t, uint64_t ns)
{
	uint64_t start = start_of(o, t);

	if (t->chain && ns - t->since < o->least_ns && ns > start) {
		o->counts.brief++;
		o->counts.brief_ns += ns - start;
		return;
	}
	offcpu_give(o, t, ns, ns);
}

/* What a thread did up to ns is not known, or only at first: that counts. */
static void offcpu_give_up(struct offcpu *o, struct slot *t, uint64_t ns, uint64_t time)
{
	uint64_t from = start_of(o, t), until = from;

	if (t->status == OFF && !is_certain(o, t)) {
		until = certain_until(o, t);
		until = until < from ? from : until > ns ? ns : until;
		offcpu_give(o, t, until, time);
	}
	o->counts.unknown += t->status == OFF;
	o->counts.unknown_ns += ns > until ? ns - until : 0;
	drop_chain(o, t);
}

/* ---- what the kernel tells ----------------------------------------------------------------------------------- */

/* Older than what is known of the thread: it came too late (rings.h), and what it would have told is lost. */
static bool offcpu_is_late(struct offcpu *o, const struct slot *t, uint64_t ns)
{
	if (ns >= t->last)
		return false;
	o->counts.unknown++;
	return true;
}

/* A thread does something that only one on a CPU does. */
static void must_run(struct offcpu *o, struct slot *t, uint64_t ns)
{
	if (t->status == OFF || t->status == UNKNOWN)
		offcpu_give_up(o, t, ns, ns);
	if (t->status != RUNNING)
		offcpu_become(t, RUNNING, ns);
	t->last = ns;
}

static void offcpu_take_chain(struct offcpu *o, const struct ring_sample *r, bool cgroup)
{
	uint64_t space = (r->head.size - sizeof(*r)) / sizeof(uint64_t);
	struct slot *t = offcpu_get(o, r->pid, r->tid, r->time);

	if (t->status == ENDED || offcpu_is_late(o, t, r->time) || space < r->nips + cgroup)
		return;
	must_run(o, t, r->time);
	drop_chain(o, t);
	t->chain = chains_get(&o->chains, r->ips, (uint32_t)r->nips);
	t->cgroup = cgroup ? load64((const char *)r + r->head.size - 8) : 0;
	t->stale = o->retries;
}

static void take_out(struct offcpu *o, const struct ring_tail *r, bool preempted)
{
	struct slot *t = offcpu_get(o, r->pid, r->tid, r->time);

	if (t->status == ENDED || offcpu_is_late(o, t, r->time))
		return;
	must_run(o, t, r->time);
	if (!is_certain(o, t) || o->doubtful)
		drop_chain(o, t); /* it may be that of a switch before */
	offcpu_become(t, o->doubtful ? UNKNOWN : OFF, r->time);
	t->preempted = preempted;
	t->cpu = r->cpu;
	t->stale = o->retries;
	o->counts.unknown += o->doubtful;
}

static void take_in(struct offcpu *o, const struct ring_tail *r)
{
	struct slot *t = offcpu_find(o, r->tid);

	if (!t) {
		t = offcpu_get(o, r->pid, r->tid, r->time);
		o->counts.before++;
		o->counts.before_ns += r->time > o->floor ? r->time - o->floor : 0;
		return;
	}
	if (t->status == ENDED || offcpu_is_late(o, t, r->time))
		return;
	if (t->status == OFF && is_certain(o, t) && !o->doubtful)
		give_complete(o, t, r->time);
	else if (t->status == RUNNING)
		o->counts.unknown++; /* its way out is missing */
	else if (t->status != FRESH)
		offcpu_give_up(o, t, r->time, r->time);
	drop_chain(o, t);
	t->pid = r->pid;
	offcpu_become(t, RUNNING, r->time);
}

static void take_fork(struct offcpu *o, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *t = offcpu_get(o, pid, tid, ns);

	if (t->status == OFF || t->status == UNKNOWN)
		offcpu_give_up(o, t, t->last, ns); /* another one, whose end was lost */
	drop_chain(o, t);
	offcpu_become(t, FRESH, ns);
}

static void offcpu_take_exit(struct offcpu *o, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *t = offcpu_get(o, pid, tid, ns);

	if (t->status == OFF || t->status == UNKNOWN)
		offcpu_give_up(o, t, ns, ns);
	drop_chain(o, t);
	offcpu_become(t, ENDED, ns);
}

/* A thread that is not the first of its process and calls exec becomes the first: the others end, and so does its old
 * number. */
static void take_exec(struct offcpu *o, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct slot *t = offcpu_find(o, tid);

	if (!t || t->status == RUNNING)
		return;
	for (size_t i = 0; i <= o->mask; i++)
		if (o->slot[i].pid == pid && o->slot[i].status != NOBODY) {
			drop_chain(o, o->slot + i);
			offcpu_become(o->slot + i, ENDED, ns);
		}
	offcpu_become(t, RUNNING, ns);
}

/* The idle tasks are 0; -1 is one that ended, and leaves the CPU for the last time. */
static bool is_thread(uint32_t tid)
{
	return tid != 0 && tid != UINT32_MAX;
}

void offcpu_record(struct offcpu *o, const struct ring_record *record, bool cgroup)
{
	const struct perf_record *r = record->head;
	const char *body = (const char *)(r + 1);
	const struct ring_tail *tail = (const void *)((const char *)r + r->size - sizeof(*tail));
	size_t n = r->size - sizeof(*r) - sizeof(*tail);

	o->now = record->time > o->now ? record->time : o->now;
	switch (r->type) {
	case RECORD_SAMPLE:
		if (r->size >= sizeof(struct ring_sample) && is_thread(((const struct ring_sample *)r)->tid))
			offcpu_take_chain(o, (const struct ring_sample *)r, cgroup);
		break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		if (!is_thread(tail->tid))
			break;
		if (r->misc & SWITCH_OUT)
			take_out(o, tail, r->misc & SWITCH_OUT_PREEMPT);
		else
			take_in(o, tail);
		break;
	case RECORD_FORK:
		if (n >= 24)
			take_fork(o, load32(body), load32(body + 8), record->time);
		break;
	case RECORD_EXIT:
		if (n >= 24)
			offcpu_take_exit(o, load32(body), load32(body + 8), record->time);
		break;
	case RECORD_COMM:
		if (n >= 8 && r->misc & MISC_COMM_EXEC)
			take_exec(o, load32(body), load32(body + 4), record->time);
		break;
	default: break;
	}
}

/* ---- borders and losses -------------------------------------------------------------------------------------- */

void offcpu_begin(struct offcpu *o, uint64_t ns)
{
	o->floor = ns;
}

void offcpu_mark_stale(struct offcpu *o, uint64_t ns)
{
	uint64_t i = o->retries - o->old_retries;

	if (i < RETRIES_MAX)
		o->certain[i] = ns;
	o->retries++;
	o->doubtful = true;
}

void offcpu_sure(struct offcpu *o)
{
	o->doubtful = false;
}

void offcpu_border(struct offcpu *o, uint64_t ns)
{
	for (size_t i = 0; i <= o->mask; i++) {
		struct slot *t = o->slot + i;

		if ((t->status != OFF && t->status != UNKNOWN) || ns <= o->floor)
			continue;
		if (t->status == OFF && is_certain(o, t)) {
			offcpu_give(o, t, ns, ns - 1);
			continue;
		}
		offcpu_give_up(o, t, ns, ns - 1);
		t->status = UNKNOWN;
	}
	o->floor = ns > o->floor ? ns : o->floor;
	o->old_retries = o->retries;
}

void offcpu_check(struct offcpu *o, bool (*alive)(void *to, uint32_t tid), void *to)
{
	for (size_t i = 0; i <= o->mask; i++) {
		struct slot *t = o->slot + i;

		if (t->status == NOBODY || t->status == ENDED || alive(to, t->tid))
			continue;
		o->counts.unknown += t->status == OFF;
		drop_chain(o, t);
		offcpu_become(t, ENDED, o->now);
	}
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

struct pj_offcpu offcpu_counts(const struct offcpu *o)
{
	return o->counts;
}

void offcpu_count_from_here(struct offcpu *o)
{
	o->counts = (struct pj_offcpu){ 0 };
}

void offcpu_add(struct pj_offcpu *sum, const struct pj_offcpu *more)
{
	sum->blocked += more->blocked;
	sum->blocked_ns += more->blocked_ns;
	sum->preempted += more->preempted;
	sum->preempted_ns += more->preempted_ns;
	sum->brief += more->brief;
	sum->brief_ns += more->brief_ns;
	sum->unknown += more->unknown;
	sum->unknown_ns += more->unknown_ns;
	sum->fp += more->fp;
	sum->fp_ns += more->fp_ns;
	sum->before += more->before;
	sum->before_ns += more->before_ns;
	sum->never = more->never;
	sum->lost += more->lost;
}

size_t offcpu_threads(const struct offcpu *o)
{
	size_t n = 0;

	for (size_t i = 0; i <= o->mask; i++)
		n += o->slot[i].status != NOBODY && o->slot[i].status != ENDED;
	return n;
}

size_t offcpu_bytes(const struct offcpu *o)
{
	return sizeof(*o) + (o->mask + 1) * sizeof(*o->slot) + o->chains.bytes + o->chains.nbuckets * sizeof(void *);
}

static void offcpu_report(struct text *t, const char *before, uint64_t n, const char *one, const char *many,
			  uint64_t ns)
{
	text_add(t, before);
	text_grouped(t, n);
	text_printf(t, " %s (%.*f s)", n == 1 ? one : many, ns < 10000000000 ? 3 : 1, (double)ns / 1e9);
}

void offcpu_text(struct text *t, const struct pj_offcpu *c)
{
	offcpu_report(t, "", c->blocked, "time blocked", "times blocked", c->blocked_ns);
	offcpu_report(t, ", ", c->preempted, "preempted", "preempted", c->preempted_ns);
	if (c->brief)
		offcpu_report(t, "; not written: ", c->brief, "shorter than was asked for",
			      "shorter than was asked for", c->brief_ns);
	if (c->unknown || c->unknown_ns)
		offcpu_report(t, "; not known, as records were lost: ", c->unknown, "time", "times", c->unknown_ns);
	if (c->fp)
		offcpu_report(t, "; without callchain, not written: ", c->fp, "time", "times", c->fp_ns);
	if (c->before)
		offcpu_report(t, "; off since before the recording, so without callchain: ", c->before,
			      "thread that came back", "threads that came back", c->before_ns);
	if (c->never) {
		text_add(t, c->before ? " and " : "; off since before the recording, so without callchain: ");
		text_grouped(t, c->never);
		text_add(t, " that did not");
	}
}
