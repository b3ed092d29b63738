/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/switches.h"

#include "common/arena.h"

#include <stdlib.h>

struct switches {
	struct switches_options o;
	struct offcpu *offcpu;
	struct text sample;
	uint64_t lost, live; /* records, since the last border; threads, while they are counted */
};

static void make_sample(void *to, const struct offcpu_sample *x)
{
	struct switches *w = to;
	struct ring_sample r = { .head = { .type = RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
				 .event = w->o.event + x->preempted,
				 .pid = x->pid,
				 .tid = x->tid,
				 .time = x->time,
				 .cpu = x->cpu,
				 .period = x->ns,
				 .nips = x->n };
	struct text *t = &w->sample;
	uint16_t size;

	for (uint32_t i = 0; i < x->n && !r.ip; i++)
		r.ip = x->ips[i] < CONTEXT_MAX ? x->ips[i] : 0;
	if (x->n && x->ips[0] == CONTEXT_KERNEL)
		r.head.misc = PERF_RECORD_MISC_KERNEL;
	t->n = 0;
	text_bytes(t, &r, sizeof(r));
	text_bytes(t, x->ips, x->n * sizeof(*x->ips));
	if (w->o.cgroup)
		text_bytes(t, &x->cgroup, sizeof(x->cgroup));
	size = (uint16_t)t->n;
	memcpy(t->p + offsetof(struct perf_record, size), &size, sizeof(size));
	w->o.emit(w->o.to, (const void *)t->p);
}

struct switches *switches_new(const struct switches_options *o)
{
	struct switches *w = mem_alloc(sizeof(*w), 1);

	w->o = *o;
	w->offcpu = offcpu_new(o->least_ns, make_sample, w);
	return w;
}

void switches_free(struct switches *w)
{
	if (!w)
		return;
	offcpu_free(w->offcpu);
	text_free(&w->sample);
	free(w);
}

void switches_begin(struct switches *w, uint64_t ns)
{
	if (!w)
		return;
	offcpu_begin(w->offcpu, ns);
	w->lost = 0;
}

/* Of a switch its trailer says whose it is; of a change of state what it begins with. */
static uint32_t switches_pid_of(const struct ring_record *record)
{
	const struct perf_record *r = record->head;
	const struct ring_tail *tail = (const void *)((const char *)r + r->size - sizeof(*tail));

	if (record->kind != RING_OF_SWITCHES)
		return load32((const char *)(r + 1));
	return r->type == RECORD_SAMPLE ? ((const struct ring_sample *)r)->pid : tail->pid;
}

void switches_record(struct switches *w, const struct ring_record *record)
{
	if (w && w->o.wanted(w->o.to, switches_pid_of(record)))
		offcpu_record(w->offcpu, record, w->o.cgroup && record->kind == RING_OF_SWITCHES);
}

void switches_lost(struct switches *w, uint64_t n)
{
	if (w)
		w->lost += n;
}

void switches_mark_stale(struct switches *w, uint64_t ns)
{
	if (w)
		offcpu_mark_stale(w->offcpu, ns);
}

void switches_sure(struct switches *w)
{
	if (w)
		offcpu_sure(w->offcpu);
}

static bool is_alive(void *to, uint32_t tid)
{
	const struct thread *t = processes_thread(((struct switches *)to)->o.processes, tid);

	return t && !t->exited;
}

void switches_mend(struct switches *w)
{
	if (w)
		offcpu_check(w->offcpu, is_alive, w);
}

static void count_live(void *to, struct process *p)
{
	struct switches *w = to;

	if (p->pid && w->o.wanted(w->o.to, p->pid))
		w->live += p->live;
}

/* Threads that live and did not run. */
static uint64_t switches_never(struct switches *w, size_t ran)
{
	w->live = 0;
	if (w->o.all)
		processes_each(w->o.processes, count_live, w);
	return w->live > ran ? w->live - ran : 0;
}

struct pj_offcpu switches_end(struct switches *w, uint64_t ns)
{
	struct pj_offcpu counts;
	size_t ran;

	if (!w)
		return (struct pj_offcpu){ 0 };
	ran = offcpu_threads(w->offcpu);
	offcpu_border(w->offcpu, ns);
	counts = offcpu_counts(w->offcpu);
	offcpu_count_from_here(w->offcpu);
	counts.lost = w->lost;
	counts.never = switches_never(w, ran);
	w->lost = 0;
	return counts;
}
