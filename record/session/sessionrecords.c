/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/sessionrecords.h"

#include "record/offcpu/switches.h"
#include "record/processes/processes.h"
#include "record/processes/rescan.h"
#include "record/processes/state.h"
#include "record/unwind/unwinder.h"
#include "record/session/waitstacks.h"

bool sessionrecords_is_target(void *to, uint32_t pid)
{
	const struct session *session = to;
	const struct process *process =
		session->o.target == TARGET_PROCESSES ? processes_find(session->processes, pid) : NULL;

	return session->o.target != TARGET_PROCESSES || (process && process->target);
}

/* Counts a sample of a CPU for the estimate of lost samples (lostshare.h), with -p. */
static void count_share(struct session *session, uint32_t cpu, bool wanted)
{
	if (session->o.target == TARGET_PROCESSES)
		lostshare_sample(&session->lostshare, cpu, wanted);
}

/* Returns true if a sample must be recorded. Events with a frequency also sample idle CPUs; without `idle`, such
 * samples are counted and dropped. Occurrences of events with a fixed period in the idle task are real, so they are
 * recorded. */
static bool is_sample_wanted(struct session *session, const struct ring_sample *sample, uint64_t event)
{
	if (sample->pid == 0 && sample->tid == 0 && !session->o.idle && session->attrs.event[event - 1].attr.freq) {
		session->totals.idle_samples++;
		count_share(session, sample->cpu, false);
		return false;
	}
	if (sessionrecords_is_target(session, sample->pid))
		return true;
	count_share(session, sample->cpu, false);
	return false;
}

/* Returns the tid of a sample's thread. If the thread is about to end, the kernel reports the tid UINT32_MAX; then
 * returns the pid. */
static uint32_t thread_of(const struct ring_sample *sample)
{
	return sample->tid == UINT32_MAX ? sample->pid : sample->tid;
}

/* Composes a sample with its unwound callchain in session->sample. Does not unwind stacks of tenants over budget, or of
 * processes with stale mappings. Returns false if the sample waits in its ring for unwind tables, or is malformed. */
static bool unwind_sample(struct session *session, const struct ring_sample *sample, const struct perf_event_attr *attr)
{
	struct tenant tenant = state_tenant(session->w.state, sample->pid);

	state_note(session->w.state, sample->pid, thread_of(sample), sample->ip);
	if (state_is_stale(session->w.state, sample->pid) ||
	    !budgets_has(session->w.budgets, tenant, 8 * (uint64_t)session->o.max_frames, sample->time)) {
		budgets_skip(session->w.budgets, tenant);
		return unwinder_skip(session->w.unwinder, attr, sample, &session->sample);
	}
	if (!unwinder_sample(session->w.unwinder, attr, sample, &session->sample)) {
		session->held = sample->time;
		rings_hold(session->rings);
		return false;
	}
	return session->sample.n;
}

/* Returns the sample to write, in memory that may be changed; NULL if it is malformed, or waits for unwind tables. */
static struct ring_sample *complete_record(struct session *session, const struct ring_record *record, uint64_t event)
{
	const struct perf_event_attr *attr = &session->attrs.event[event - 1].attr;
	struct ring_sample *sample = (struct ring_sample *)record->head;

	if (session->w.unwinder && attr->sample_type & PERF_SAMPLE_STACK_USER) {
		if (!unwind_sample(session, sample, attr))
			return NULL;
		if (session->attrs.event[event - 1].allocates)
			unwinder_allocation(session->w.unwinder, attr, sample, &session->sample);
	} else if (record->fixed) {
		session->sample.n = 0;
		text_bytes(&session->sample, sample, sample->head.size);
	} else {
		return sample;
	}
	return (void *)session->sample.p;
}

/* Returns the cgroup id at the end of a sample; 0 if samples of its event have none. */
static uint64_t cgroup_of(const struct session *session, const struct ring_sample *sample, uint64_t event)
{
	bool last = session->attrs.event[event - 1].attr.sample_type & PERF_SAMPLE_CGROUP;

	return last ? load64((const char *)sample + sample->head.size - 8) : 0;
}

static void take_sample(struct session *session, const struct ring_record *record)
{
	const struct ring_sample *sample = (const struct ring_sample *)record->head;
	uint64_t event = sources_event(session->sources, sample->event);
	struct ring_sample *to;
	const uint64_t *chain;
	size_t before;

	if (!event || event > session->o.nevents)
		return;
	if (record->time < session->w.begin) {
		/* counts for the share, because a loss reported in the first window may include samples from before its
		 * start */
		count_share(session, sample->cpu, sessionrecords_is_target(session, sample->pid));
		return;
	}
	if (!is_sample_wanted(session, sample, event))
		return;
	chain = ring_chain(sample, session->attrs.event[event - 1].attr.sample_type);
	before = (size_t)((const char *)(chain + 1) - (const char *)sample);
	if (sample->head.size < before || *chain > (sample->head.size - before) / 8)
		return;
	if (session->attrs.event[event - 1].allocates &&
	    unwinder_repeats(session->w.unwinder, &session->attrs.event[event - 1].attr, sample, event))
		return;
	to = complete_record(session, record, event);
	if (!to)
		return;
	count_share(session, to->cpu, true);
	if (session->o.wall && !switches_weigh(session->w.switches, to, cgroup_of(session, to, event)))
		return;
	to->event = event;
	to->tid = thread_of(to);
	openwindow_sample(&session->w, to);
	session->w.report.samples++;
}

/* Counts n lost records of a CPU. Returns the number of lost samples to write; 0 for other records than samples. */
static uint64_t take_lost(struct session *session, const struct ring_record *record, uint32_t cpu, uint64_t n)
{
	uint64_t wanted = 0;

	if (record->kind == RING_OF_STATE) {
		session->w.report.loss.records += n;
		switches_newcomers(session->w.switches);
		rescan_lost(session->rescan, record->time);
	} else if (record->kind == RING_OF_SWITCHES) {
		switches_lost(session->w.switches, n);
	} else {
		session->lost_seen += n;
		wanted = lostshare_of(&session->lostshare, cpu, n);
		/* losses before the first window are not counted, because samples are not recorded then */
		if (record->time >= session->w.begin) {
			session->w.report.loss.samples += wanted;
			session->totals.lost_others += n - wanted;
		}
	}
	return wanted;
}

void sessionrecords_take_offcpu(void *to, struct ring_sample *sample)
{
	struct session *session = to;

	if (sample->time < session->w.begin)
		return;
	/* the sample's stack may have been unwound for an earlier window, so its names must be added to this one */
	unwinder_note(session->w.unwinder, sample);
	openwindow_sample(&session->w, sample);
}

/* Processes a record of a context switch. If unwind tables for the thread's stack are still being made, holds the
 * record in its ring. */
static void take_switch_record(struct session *session, const struct ring_record *record)
{
	if (waitstacks_record(session->w.waits, record)) {
		switches_record(session->w.switches, record);
		waitstacks_recorded(session->w.waits, record);
	} else {
		session->held = record->time;
		rings_hold(session->rings);
	}
}

void sessionrecords_take(struct session *session, const struct ring_record *record)
{
	struct perf_record *perf_record = record->head;
	const char *body = (const char *)(perf_record + 1);

	if (record->kind == RING_OF_SWITCHES && perf_record->type != RECORD_LOST) {
		take_switch_record(session, record);
		return;
	}
	if (perf_record->type == RECORD_SAMPLE) {
		take_sample(session, record);
		return;
	}
	struct ring_sample_id *sample_id =
		(struct ring_sample_id *)(void *)((char *)perf_record + perf_record->size - sizeof(*sample_id));
	sample_id->event = sources_event(session->sources, sample_id->event);
	/* Clears the bit for a build-id in mapping records: pjrecord requests none (eventattrs.c), but the bit may be
	 * set because another recorder does. */
	if (perf_record->type == RECORD_MMAP2)
		perf_record->misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
	uint64_t lost = 0;
	bool pass = state_record(session->w.state, perf_record, record->time);
	if (record->kind == RING_OF_STATE) {
		waitstacks_record(session->w.waits, record);
		switches_record(session->w.switches, record);
		waitstacks_recorded(session->w.waits, record);
		unwinder_state(session->w.unwinder, record);
	}
	switch (perf_record->type) {
	case RECORD_LOST:
		/* Files do not contain the event of context switches, so the loss is reported for the off-CPU event. */
		if (record->kind == RING_OF_SWITCHES)
			sample_id->event = session->o.offcpu;
		lost = take_lost(session, record, sample_id->cpu, load64(body + 8));
		pass = record->kind != RING_OF_SAMPLES;
		break;
	case RECORD_LOST_SAMPLES: lost = take_lost(session, record, sample_id->cpu, load64(body)); break;
	case RECORD_THROTTLE:
		session->w.report.loss.throttled++;
		pass = true;
		break;
	default: break;
	}
	/* LOST in a ring of samples counts samples, as LOST_SAMPLES does, so both are written as LOST_SAMPLES. */
	if (lost && record->time >= session->w.begin)
		openwindow_lost_samples(&session->w, lost, record->time, sample_id->cpu);
	if (pass && record->time >= session->w.begin)
		output_records(&session->w.out, perf_record, perf_record->size);
}
