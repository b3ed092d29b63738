/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session.h"

#include "common/arena.h"
#include "record/perf/eventattrs.h"
#include "record/unwind/unwinder.h"
#include "record/processes/cgroups.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "record/processes/host.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/openwindow.h"
#include "record/perf/privileges.h"
#include "record/processes/processes.h"
#include "common/process/sandbox.h"
#include "record/processes/state.h"
#include "record/offcpu/switches.h"
#include "record/unwind/samplestack.h"
#include "record/perf/ringpoll.h"

#include <stdlib.h>

#define SLACK (SECOND_NS / 10)       /* a record is in its ring that long after its time */
#define SLACK_FULL (SECOND_NS / 500) /* and where rings fill faster */
#define DRAIN_MS 500
#define SAVED_NS (2 * SECOND_NS) /* what ended, for samples that come after it */
#define SETTLE_MS 300            /* for build-ids, at the end */
#define LOOK_NS (2 * SECOND_NS)  /* between looks at CPUs and the keeper */
#define HELD_MS 20               /* between tries, when a sample waits for tables */

struct session {
	struct session_options o;
	struct eventattrs attrs;
	struct openwindow w;
	struct host *host;
	struct rings *rings;
	struct sources *sources;
	struct processes *processes;
	struct rescan *rescan;
	uint64_t held;      /* time of the sample that waits for tables, 0: none */
	bool flush;         /* nothing waits */
	struct text sample; /* that is being made */
	struct session_totals totals;
	uint64_t polled, late, lost_seen, drained;
	uint64_t now; /* when the rings were last drained */
	struct ringpoll waiting;
};

/* ---- windows ------------------------------------------------------------------------------------------------- */

/* Ends windows until ns is in the one that is open. */
static void turn_to(struct session *s, uint64_t ns)
{
	while (ns >= s->w.end && s->w.end != UINT64_MAX) {
		uint64_t border = s->w.end;

		openwindow_end(&s->w, border);
		if (s->o.count && s->w.done >= s->o.count) {
			s->w.begin = s->w.end = UINT64_MAX;
			return;
		}
		openwindow_begin(&s->w, border,
				 clock_border(border, clock_wall_of(border), s->o.window_ns, s->o.align));
	}
}

/* ---- records ------------------------------------------------------------------------------------------------- */

/* Of -p, other processes are of no interest. */
static bool is_target(void *to, uint32_t pid)
{
	const struct session *s = to;
	const struct process *p = s->o.target == TARGET_PROCESSES ? processes_find(s->processes, pid) : NULL;

	return s->o.target != TARGET_PROCESSES || (p && p->target);
}

/* What ticks also ticks in idle CPUs; what is counted was done there. */
static bool session_wanted(struct session *s, const struct ring_sample *r, uint64_t event)
{
	if (r->pid == 0 && r->tid == 0 && !s->o.idle && s->attrs.event[event - 1].attr.freq) {
		s->totals.idle_samples++;
		return false;
	}
	return is_target(s, r->pid);
}

/* A thread that ended so far that it has no number: its process still has one. */
static uint32_t session_thread_of(const struct ring_sample *r)
{
	return r->tid == UINT32_MAX ? r->pid : r->tid;
}

/* The sample with the callchain that is in its copy of the stack, to s->sample. False: it waits for tables, or makes no
 * sense. */
static bool session_unwind(struct session *s, const struct ring_sample *r, const struct perf_event_attr *a)
{
	struct tenant tenant = state_tenant(s->w.state, r->pid);

	state_note(s->w.state, r->pid, session_thread_of(r), r->ip);
	if (state_is_stale(s->w.state, r->pid) ||
	    !budgets_has(s->w.budgets, tenant, 8 * (uint64_t)s->o.max_frames, r->time)) {
		budgets_skip(s->w.budgets, tenant);
		return samplestack_skip(a, r, &s->sample);
	}
	if (!unwinder_sample(s->w.unwinder, a, r, &s->sample)) {
		s->held = r->time;
		rings_hold(s->rings);
		return false;
	}
	return s->sample.n;
}

/* As it is to be written, and ours to change; NULL: it is not. */
static struct ring_sample *complete_record(struct session *s, const struct ring_record *record, uint64_t event)
{
	const struct perf_event_attr *a = &s->attrs.event[event - 1].attr;
	struct ring_sample *r = (struct ring_sample *)record->head;

	if (s->w.unwinder && a->sample_type & PERF_SAMPLE_STACK_USER) {
		if (!session_unwind(s, r, a))
			return NULL;
	} else if (record->fixed) {
		s->sample.n = 0;
		text_bytes(&s->sample, r, r->head.size);
	} else {
		return r;
	}
	return (void *)s->sample.p;
}

static void take_sample(struct session *s, const struct ring_record *record)
{
	const struct ring_sample *r = (const struct ring_sample *)record->head;
	uint64_t event = sources_event(s->sources, r->event);
	struct ring_sample *to;
	const uint64_t *chain;
	size_t before;

	if (!event || event > s->o.nevents || record->time < s->w.begin || !session_wanted(s, r, event))
		return;
	chain = ring_chain(r, s->attrs.event[event - 1].attr.sample_type);
	before = (size_t)((const char *)(chain + 1) - (const char *)r);
	if (r->head.size < before || *chain > (r->head.size - before) / 8)
		return;
	to = complete_record(s, record, event);
	if (!to)
		return;
	to->event = event;
	to->tid = session_thread_of(to);
	openwindow_sample(&s->w, to);
	s->w.report.samples++;
}

static void take_lost(struct session *s, const struct ring_record *record, uint64_t n)
{
	if (record->kind == RING_OF_STATE) {
		s->w.report.loss.records += n;
		rescan_lost(s->rescan, record->time);
	} else if (record->kind == RING_OF_SWITCHES) {
		switches_lost(s->w.switches, n);
	} else {
		s->lost_seen += n;
		if (record->time >= s->w.begin) /* before the first window nothing is recorded, so nothing is lost */
			s->w.report.loss.samples += n;
	}
}

static void take_offcpu(void *to, const struct ring_sample *r)
{
	struct session *s = to;

	if (r->time >= s->w.begin)
		openwindow_sample(&s->w, r);
}

static void session_take(void *to, const struct ring_record *record)
{
	struct session *s = to;
	struct perf_record *r = record->head;
	const char *body = (const char *)(r + 1);

	turn_to(s, record->time);
	if (record->kind == RING_OF_SWITCHES && r->type != RECORD_LOST) {
		switches_record(s->w.switches, record);
		return;
	}
	if (r->type == RECORD_SAMPLE) {
		take_sample(s, record);
		return;
	}
	struct ring_tail *tail = (struct ring_tail *)(void *)((char *)r + r->size - sizeof(*tail));
	tail->event = sources_event(s->sources, tail->event);
	if (r->type == RECORD_MMAP2) /* not asked for, see eventattrs.c */
		r->misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
	bool pass = state_record(s->w.state, r, record->time);
	if (record->kind == RING_OF_STATE)
		switches_record(s->w.switches, record);
	switch (r->type) {
	case RECORD_LOST:
		if (record->kind == RING_OF_SWITCHES) /* in the file there is no such event */
			tail->event = s->o.offcpu;
		take_lost(s, record, load64(body + 8));
		pass = record->kind != RING_OF_SAMPLES;
		if (!pass &&
		    record->time >= s->w.begin) /* all that this ring has is samples: then the file can say so */
			openwindow_lost_samples(&s->w, load64(body + 8), record->time, tail->cpu);
		break;
	case RECORD_LOST_SAMPLES:
		take_lost(s, record, load64(body));
		pass = true;
		break;
	case RECORD_THROTTLE:
		s->w.report.loss.throttled++;
		pass = true;
		break;
	default: break;
	}
	if (pass && record->time >= s->w.begin)
		output_records(&s->w.out, r, r->size);
}

/* Is a mapping of a process to be skipped in the rings? */
static bool skip_mapping(void *to, uint32_t pid)
{
	const struct session *s = to;

	return state_skips(s->w.state, pid, s->now);
}

/* What was lost of switches was lost since the last time; during this one nobody can tell which times it spoils. */
static void drain_rings(struct session *s, uint64_t horizon)
{
	uint64_t broken = rings_broken(s->rings);

	s->held = 0;
	s->now = clock_now();
	unwinder_begin(s->w.unwinder, horizon, s->now, s->flush);
	if (s->w.switches && rings_lossy(s->rings, RING_OF_SWITCHES))
		switches_mark_stale(s->w.switches, s->drained);
	rings_drain(s->rings, horizon, session_take, s);
	if (rings_broken(s->rings) != broken)
		switches_mark_stale(s->w.switches, s->drained);
	switches_sure(s->w.switches);
	s->drained = s->held ? s->held : horizon;
}

/* Takes what is older than horizon; where rings are half full all the same, nearly all there is. */
static void session_drain(struct session *s, uint64_t horizon)
{
	uint64_t late;

	drain_rings(s, horizon);
	unsigned high = rings_high(s->rings);
	if (rings_left(s->rings) > 400) {
		s->flush = true;
		drain_rings(s, clock_now() - SLACK_FULL);
		s->flush = false;
	}
	if (high > s->w.report.loss.ring_high)
		s->w.report.loss.ring_high = high;
	late = rings_late(s->rings);
	s->w.report.loss.late += late - s->late;
	s->late = late;
	if (horizon != UINT64_MAX)
		turn_to(s, s->held && s->held < horizon ? s->held : horizon);
	unwinder_name(s->w.unwinder);
	openwindow_flush(&s->w);
}

static void drain_all(void *to)
{
	struct session *s = to;

	s->flush = true;
	session_drain(s, clock_now());
	s->flush = false;
}

/* ---- the recording ------------------------------------------------------------------------------------------- */

static struct eventattrs_options attrs_options(const struct session_options *o)
{
	return (struct eventattrs_options){
		.event = o->event,
		.nevents = o->nevents,
		.offcpu = o->offcpu,
		.children = o->target == TARGET_THREADS || o->target == TARGET_COMMAND,
		.on_exec = o->target == TARGET_COMMAND,
		.both = o->both,
	};
}

static struct sources *open_sources(struct session *s, struct sources_failure *why)
{
	const struct session_options *o = &s->o;
	struct sources_options so = {
		.target = o->target,
		.pid = o->pid,
		.npids = o->npids,
		.cgroup = o->cgroup,
		.ncgroups = o->ncgroups,
		.event = s->attrs.event,
		.nevents = o->nevents,
		.state = &s->attrs.event[o->nevents].attr,
		.switches = o->offcpu ? &s->attrs.switches : NULL,
		.ring_bytes = o->ring_bytes,
		.ring_wanted = fallback_ring(&s->totals.fallback),
		.ring_least = fallback_ring_least(&s->totals.fallback),
		.large = privileges_has(PRIV_IPC_LOCK),
	};

	return sources_open(&so, s->rings, why);
}

/* Events with all that finding callers needs, or with less. */
static bool open_events(struct session *s, struct sources_failure *why)
{
	struct fallback *f = &s->totals.fallback;
	struct eventattrs_options ao = attrs_options(&s->o);
	struct fallback_options fo = {
		.choose = s->o.both && !s->o.verify,
		.stack_bytes = s->o.stack_bytes,
		.exactly = s->o.exactly,
		.rate = eventattrs_copies(&ao),
		.ring_bytes = s->o.ring_bytes,
	};

	fallback_begin(f, &fo);
	for (;;) {
		ao.stack_bytes = f->bytes;
		eventattrs_make(&s->attrs, &ao);
		s->sources = open_sources(s, why);
		if (s->sources)
			return true;
		if (!fallback_next(f, why))
			return false;
		eventattrs_free(&s->attrs);
	}
}

static void gather_facts(struct session *s)
{
	s->host = host_new();
	s->w.facts = host_facts(s->host);
	s->w.facts.argv = s->o.argv;
	s->w.facts.tracing = s->o.tracing;
	s->w.facts.event = s->attrs.reported;
	s->w.facts.nevents = s->o.nevents + 1;
}

struct session *session_new(const struct session_options *o, struct sources_failure *why)
{
	struct session *s = mem_alloc(sizeof(*s), 1);

	s->o = *o;
	s->w = (struct openwindow){
		.o = &s->o, .attrs = &s->attrs, .totals = &s->totals, .out = { .fd = -1, .pipe = o->pipe }
	};
	s->rings = rings_new();
	if (!open_events(s, why)) {
		session_free(s);
		return NULL;
	}
	eventattrs_opened(&s->attrs);
	gather_facts(s);
	s->totals.no_cgroups = !eventattrs_cgroups(&s->attrs);
	s->totals.cpus = sources_cpus(s->sources);
	s->totals.ring_bytes = rings_bytes(s->rings);
	s->totals.without_kernel = sources_without_kernel(s->sources);
	s->totals.depth_limit = host_max_stack();
	return s;
}

void session_fork(struct session *s)
{
	if (s->totals.fallback.bytes)
		s->w.unwinder = unwinder_fork();
}

void session_output(struct session *s, struct windows *windows, struct symsaver *keep, int fd)
{
	s->w.out.windows = windows;
	s->w.out.fd = fd;
	s->w.keep = keep;
}

static void mark_targets(struct session *s)
{
	for (size_t i = 0; i < s->o.npids; i++)
		processes_make(s->processes, s->o.pid[i])->target = true;
}

/* The first window begins now, or at the next border: then what comes before is left out. Where another run is about to
 * end its window there, its border is ours to the ns. */
static void first_window(struct session *s)
{
	uint64_t now = clock_now(), begin = now, theirs;

	if (s->o.align && s->o.window_ns) {
		begin = clock_next(now, clock_wall(), s->o.window_ns);
		if (s->w.out.windows && windows_predecessor(s->w.out.windows, &theirs) && theirs > now &&
		    theirs != UINT64_MAX && theirs < begin + s->o.window_ns / 2 && begin < theirs + s->o.window_ns / 2)
			begin = theirs;
		s->w.report.loss = (struct pj_loss){ 0 };
	}
	switches_begin(s->w.switches, begin);
	openwindow_begin(&s->w, begin, clock_border(begin, clock_wall_of(begin), s->o.window_ns, begin != now));
}

static struct switches *start_switches(struct session *s)
{
	struct switches_options o = {
		.event = s->o.offcpu,
		.least_ns = s->o.offcpu_least_ns,
		.cgroup = s->attrs.switches.sample_type & PERF_SAMPLE_CGROUP,
		.all = s->o.target != TARGET_COMMAND && s->o.target != TARGET_CGROUPS,
		.processes = s->processes,
		.wanted = is_target,
		.emit = take_offcpu,
		.to = s,
	};

	return switches_new(&o);
}

void session_start(struct session *s)
{
	s->w.budgets = budgets_new(
		budgets_limits(s->attrs.event, s->o.nevents, s->o.stack_bytes, s->totals.cpus, s->o.sample_bytes));
	s->processes = processes_new(budgets_tenants(s->w.budgets));
	s->rescan = rescan_new(s->processes, s->w.budgets, s->o.target != TARGET_COMMAND);
	s->w.cgroups = cgroups_new();
	s->w.kernel = kernel_new();
	s->w.state =
		state_new(s->processes, s->w.cgroups, s->w.kernel, s->w.keep, s->rescan, openwindow_state_event(&s->w));
	rings_skip(s->rings, skip_mapping, s);
	mark_targets(s);
	unwinder_start(s->w.unwinder, s->processes, s->w.budgets, s->o.max_frames);
	if (s->o.verify)
		unwinder_verify(s->w.unwinder, s->o.shown);
	if (s->o.offcpu)
		s->w.switches = start_switches(s);
	s->drained = clock_now();
	sources_enable(s->sources);
	if (s->o.target == TARGET_THREADS)
		rescan_start(s->rescan, s->o.pid, s->o.npids);
	else
		rescan_start(s->rescan, NULL, 0);
	first_window(s);
}

static void wait_for_records(struct session *s, int ms)
{
	ringpoll_for(&s->waiting, s->rings, unwinder_fd(s->w.unwinder), ms);
}

/* Until the next look, or shortly after the border. */
static int time_to_wait(const struct session *s, int ms)
{
	uint64_t now = clock_now(), border = s->w.end == UINT64_MAX ? UINT64_MAX : s->w.end + SLACK;

	if (ms > DRAIN_MS)
		ms = DRAIN_MS;
	if (s->held && ms > HELD_MS)
		ms = HELD_MS;
	if (border <= now)
		return 0;
	return border - now < (uint64_t)ms * 1000000 ? (int)((border - now) / 1000000) + 1 : ms;
}

/* All windows that were asked for are complete. */
static bool session_complete(const struct session *s)
{
	return s->o.count && s->w.done >= s->o.count;
}

/* At what changes now and then: CPUs, and whether the keeper is well. */
static void session_look(struct session *s, uint64_t now)
{
	bool on_cpus = s->o.target != TARGET_COMMAND && s->o.target != TARGET_THREADS;

	if (on_cpus && sources_follow_cpus(s->sources, drain_all, s)) { /* who ran there was not seen */
		switches_mark_stale(s->w.switches, s->polled);
		switches_sure(s->w.switches);
	}
	if (s->w.keep)
		symsaver_tick(s->w.keep);
	unwinder_tick(s->w.unwinder, now);
	sandbox_warn(sandbox_reported());
	s->polled = now;
	s->waiting.known = false;
}

bool session_step(struct session *s, int ms)
{
	uint64_t now;

	wait_for_records(s, time_to_wait(s, ms));
	now = clock_now();
	unwinder_take(s->w.unwinder, now);
	session_drain(s, now - SLACK);
	if (rescan_tick(s->rescan, now))
		switches_mend(s->w.switches);
	/* not of who ended before the sample that waits for tables, however long it waits */
	processes_forget(s->processes, (s->held && s->held < now - SLACK ? s->held : now - SLACK) - SAVED_NS);
	if (now - s->polled > LOOK_NS)
		session_look(s, now);
	if (session_complete(s))
		return false;
	return !output_failed(&s->w.out);
}

/* What the kernel's own counters say beyond the LOST records: what was lost when nothing came after it. */
static void add_hidden_loss(struct session *s)
{
	uint64_t lost = sources_lost(s->sources);

	if (lost <= s->lost_seen)
		return;
	s->w.report.loss.samples += lost - s->lost_seen;
	openwindow_lost_samples(&s->w, lost - s->lost_seen, s->w.last, 0);
}

int session_finish(struct session *s)
{
	uint64_t now = clock_now();
	bool unwanted = s->o.align && now < s->w.begin; /* stopped before the first border */

	sandbox_warn(sandbox_reported());
	if (session_complete(s))
		return 0;
	session_drain(s, now);
	while (s->held && clock_now() < now + SECOND_NS) {
		wait_for_records(s, HELD_MS);
		unwinder_take(s->w.unwinder, clock_now());
		session_drain(s, now);
	}
	s->flush = true;
	session_drain(s, now);
	add_hidden_loss(s);
	if (unwanted && output_discard(&s->w.out, &s->w.report))
		return 0;
	if (s->w.keep)
		symsaver_settle(s->w.keep, SETTLE_MS);
	openwindow_end(&s->w, now < s->w.end ? now : s->w.end);
	return s->w.out.windows ? 0 : s->w.out.error;
}

struct session_totals session_totals(const struct session *s)
{
	struct session_totals t = s->totals;

	t.helpers = unwinder_helpers(s->w.unwinder);
	return t;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	sources_close(s->sources);
	rings_free(s->rings);
	state_free(s->w.state);
	rescan_free(s->rescan);
	switches_free(s->w.switches);
	unwinder_free(s->w.unwinder);
	processes_free(s->processes);
	budgets_free(s->w.budgets);
	cgroups_free(s->w.cgroups);
	kernel_free(s->w.kernel);
	host_free(s->host);
	eventattrs_free(&s->attrs);
	openwindow_free(&s->w);
	ringpoll_free(&s->waiting);
	text_free(&s->sample);
	free(s);
}
