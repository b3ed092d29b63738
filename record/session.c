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
#include "record/ownprocesses.h"
#include "record/unwind/samplestack.h"
#include "record/perf/ringpoll.h"
#include "record/waitstacks.h"

#include <stdlib.h>

#define SLACK (SECOND_NS / 10)       /* ns after the time of a record until the record is certainly in its ring */
#define SLACK_FULL (SECOND_NS / 500) /* the same delay in ns while rings are filling up */
#define DRAIN_MS 500
#define SAVED_NS (2 * SECOND_NS)  /* ns for which ended processes are stored, for samples that come late */
#define SETTLE_MS 300             /* longest wait in ms for build-ids at the end */
#define LOOK_NS (2 * SECOND_NS)   /* ns between checks of CPUs and helper processes */
#define FLUSH_NS (SECOND_NS / 20) /* ns between writes while the rings are drained more often */
#define HANDOVER_NS SECOND_NS     /* ns from the request to other recorders to their end */
#define WAITS_MS 50               /* ms between drains while stacks are read: copies wait in limited space */
#define HELD_MS 20                /* ms between retries while a sample waits for unwind tables */

struct session {
	struct session_options o;
	struct eventattrs attrs;
	struct openwindow w;
	struct host *host;
	struct rings *rings;
	struct sources *sources;
	struct processes *processes;
	struct rescan *rescan;
	uint64_t until;     /* end of the last window as it was read from o.until; 0 if there is none */
	bool ended;         /* the last window has ended there */
	uint64_t held;      /* time of the sample that waits for unwind tables; 0 if none waits */
	bool flush;         /* samples do not wait for helpers */
	bool cpus_changed;  /* the CPUs changed since the last look: session_look is due */
	struct text sample; /* sample that is being composed */
	struct session_totals totals;
	uint64_t polled, late, lost_seen, drained;
	uint64_t now;     /* time when the rings were last drained */
	uint64_t flushed; /* time of the last openwindow_flush */
	struct ringpoll waiting;
};

/* ---- windows ------------------------------------------------------------------------------------------------- */

/* Returns true if all requested windows are complete. */
static bool session_complete(const struct session *session)
{
	return session->ended || (session->o.count && session->w.done >= session->o.count);
}

/* Returns the end of a window that begins at begin. */
static uint64_t border_after(const struct session *session, uint64_t begin, bool align)
{
	uint64_t border = clock_border(begin, clock_wall_of(begin), session->o.window_ns, align);

	return session->until && session->until < border ? session->until : border;
}

/* Ends the open window and begins the next one until the open window contains ns. After the last requested window,
 * begin and end are UINT64_MAX. */
static void turn_to(struct session *session, uint64_t ns)
{
	while (ns >= session->w.end && session->w.end != UINT64_MAX) {
		uint64_t border = session->w.end;

		waitstacks_settle(session->w.waits, border);
		openwindow_end(&session->w, border);
		session->ended = session->until && border >= session->until;
		if (session_complete(session)) {
			session->w.begin = session->w.end = UINT64_MAX;
			return;
		}
		openwindow_begin(&session->w, border, border_after(session, border, session->o.align));
	}
}

/* Reads the time at which the last window ends, once it is set. If records after it have been taken already, the
 * window ends behind them. A window that has not begun by then is left out. */
static void read_until(struct session *session)
{
	uint64_t until = session->o.until ? *session->o.until : 0;

	if (session->until || !until || session->w.end == UINT64_MAX)
		return;
	if (until <= session->w.begin) {
		if (output_discard(&session->w.out, &session->w.report)) {
			session->ended = true;
			session->w.begin = session->w.end = UINT64_MAX;
			return;
		}
		until = session->w.begin + 1;
	}
	session->until = until > session->drained ? until : session->drained;
	if (session->until < session->w.end)
		session->w.end = session->until;
}

/* ---- records ------------------------------------------------------------------------------------------------- */

/* Returns true if samples of this process are recorded: with -p, those of the requested processes and their children;
 * otherwise all. */
static bool is_target(void *to, uint32_t pid)
{
	const struct session *session = to;
	const struct process *process =
		session->o.target == TARGET_PROCESSES ? processes_find(session->processes, pid) : NULL;

	return session->o.target != TARGET_PROCESSES || (process && process->target);
}

/* Returns true if a sample is to be recorded. Events with a frequency also sample idle CPUs; these samples are dropped
 * and counted, unless --idle is given. Counted events really happened in the idle task, so they are recorded. */
static bool session_wanted(struct session *session, const struct ring_sample *sample, uint64_t event)
{
	if (sample->pid == 0 && sample->tid == 0 && !session->o.idle && session->attrs.event[event - 1].attr.freq) {
		session->totals.idle_samples++;
		return false;
	}
	return is_target(session, sample->pid);
}

/* Returns the tid of a sample. A thread that is about to end has no tid any more (UINT32_MAX); the result is its pid
 * then. */
static uint32_t session_thread_of(const struct ring_sample *sample)
{
	return sample->tid == UINT32_MAX ? sample->pid : sample->tid;
}

/* Composes a sample with its unwound callchain in session->sample. Stacks of tenants over budget, or of processes with
 * stale mappings, are not unwound. Returns false if the sample waits for unwind tables or is malformed. */
static bool session_unwind(struct session *session, const struct ring_sample *sample,
			   const struct perf_event_attr *attr)
{
	struct tenant tenant = state_tenant(session->w.state, sample->pid);

	state_note(session->w.state, sample->pid, session_thread_of(sample), sample->ip);
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

/* Returns the sample to write, in writable memory. Returns NULL if the sample is malformed, or waits for unwind
 * tables. */
static struct ring_sample *complete_record(struct session *session, const struct ring_record *record, uint64_t event)
{
	const struct perf_event_attr *attr = &session->attrs.event[event - 1].attr;
	struct ring_sample *sample = (struct ring_sample *)record->head;

	if (session->w.unwinder && attr->sample_type & PERF_SAMPLE_STACK_USER) {
		if (!session_unwind(session, sample, attr))
			return NULL;
	} else if (record->fixed) {
		session->sample.n = 0;
		text_bytes(&session->sample, sample, sample->head.size);
	} else {
		return sample;
	}
	return (void *)session->sample.p;
}

/* Returns the cgroup id of a sample; 0 if it has none. */
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

	if (!event || event > session->o.nevents || record->time < session->w.begin ||
	    !session_wanted(session, sample, event))
		return;
	chain = ring_chain(sample, session->attrs.event[event - 1].attr.sample_type);
	before = (size_t)((const char *)(chain + 1) - (const char *)sample);
	if (sample->head.size < before || *chain > (sample->head.size - before) / 8)
		return;
	to = complete_record(session, record, event);
	if (!to)
		return;
	if (session->o.wall && !switches_weigh(session->w.switches, to, cgroup_of(session, to, event)))
		return;
	to->event = event;
	to->tid = session_thread_of(to);
	openwindow_sample(&session->w, to);
	session->w.report.samples++;
}

static void take_lost(struct session *session, const struct ring_record *record, uint64_t n)
{
	if (record->kind == RING_OF_STATE) {
		session->w.report.loss.records += n;
		switches_newcomers(session->w.switches);
		rescan_lost(session->rescan, record->time);
	} else if (record->kind == RING_OF_SWITCHES) {
		switches_lost(session->w.switches, n);
	} else {
		session->lost_seen += n;
		/* losses before the first window do not count, because nothing is recorded then */
		if (record->time >= session->w.begin)
			session->w.report.loss.samples += n;
	}
}

static void take_offcpu(void *to, struct ring_sample *sample)
{
	struct session *session = to;

	if (sample->time < session->w.begin)
		return;
	/* its stack was unwound for an earlier window, maybe */
	unwinder_note(session->w.unwinder, sample);
	openwindow_sample(&session->w, sample);
}

/* Takes a record of a context switch, which waits if unwind tables for the thread's stack are being made. */
static void session_switch(struct session *session, const struct ring_record *record)
{
	if (waitstacks_record(session->w.waits, record)) {
		switches_record(session->w.switches, record);
		waitstacks_recorded(session->w.waits, record);
	} else {
		session->held = record->time;
		rings_hold(session->rings);
	}
}

static void session_take(void *to, const struct ring_record *record)
{
	struct session *session = to;
	struct perf_record *perf_record = record->head;
	const char *body = (const char *)(perf_record + 1);

	turn_to(session, record->time);
	if (record->kind == RING_OF_SWITCHES && perf_record->type != RECORD_LOST) {
		session_switch(session, record);
		return;
	}
	if (perf_record->type == RECORD_SAMPLE) {
		take_sample(session, record);
		return;
	}
	struct ring_sample_id *sample_id =
		(struct ring_sample_id *)(void *)((char *)perf_record + perf_record->size - sizeof(*sample_id));
	sample_id->event = sources_event(session->sources, sample_id->event);
	/* ignore build-ids in records: other recorders may have requested them, pjrecord does not (eventattrs.c) */
	if (perf_record->type == RECORD_MMAP2)
		perf_record->misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
	bool pass = state_record(session->w.state, perf_record, record->time);
	if (record->kind == RING_OF_STATE) {
		waitstacks_record(session->w.waits, record);
		switches_record(session->w.switches, record);
		waitstacks_recorded(session->w.waits, record);
		unwinder_state(session->w.unwinder, record);
	}
	switch (perf_record->type) {
	case RECORD_LOST:
		/* assign the loss to the off-CPU event, as files do not contain the event context-switches */
		if (record->kind == RING_OF_SWITCHES)
			sample_id->event = session->o.offcpu;
		take_lost(session, record, load64(body + 8));
		pass = record->kind != RING_OF_SAMPLES;
		/* the ring of samples carries nothing else, so the file can contain the loss as lost samples */
		if (!pass && record->time >= session->w.begin)
			openwindow_lost_samples(&session->w, load64(body + 8), record->time, sample_id->cpu);
		break;
	case RECORD_LOST_SAMPLES:
		take_lost(session, record, load64(body));
		pass = true;
		break;
	case RECORD_THROTTLE:
		session->w.report.loss.throttled++;
		pass = true;
		break;
	default: break;
	}
	if (pass && record->time >= session->w.begin)
		output_records(&session->w.out, perf_record, perf_record->size);
}

/* Returns true if a mapping, name or namespace record of this process is skipped in the rings (during a storm). */
static bool skip_mapping(void *to, uint32_t pid)
{
	const struct session *session = to;

	return state_skips(session->w.state, pid, session->now);
}

/* Delivers the records before horizon. If switch records were lost since the previous drain, marks all off-CPU times
 * since then as uncertain, because it is unknown which of them the loss affects. */
static void drain_rings(struct session *session, uint64_t horizon)
{
	uint64_t broken = rings_broken(session->rings);

	session->held = 0;
	session->now = clock_now();
	unwinder_begin(session->w.unwinder, horizon, session->now, session->flush);
	session->cpus_changed |= waitstacks_begin(session->w.waits, session->now);
	if (session->w.switches && rings_lossy(session->rings, RING_OF_SWITCHES))
		switches_mark_stale(session->w.switches, session->drained);
	rings_drain(session->rings, horizon, session_take, session);
	if (rings_broken(session->rings) != broken)
		switches_mark_stale(session->w.switches, session->drained);
	switches_sure(session->w.switches);
	session->drained = session->held ? session->held : horizon;
	waitstacks_settle(session->w.waits, session->drained);
}

/* Drains the rings: delivers the records before horizon. If a ring is still more than 60 % full after that, delivers
 * nearly all records, without waiting for helpers. */
static void session_drain(struct session *session, uint64_t horizon)
{
	uint64_t late;

	read_until(session);
	drain_rings(session, horizon);
	unsigned high = rings_high(session->rings);
	if (rings_left(session->rings) > 600) {
		session->flush = true;
		unwinder_flush(session->w.unwinder);
		drain_rings(session, clock_now() - SLACK_FULL);
		session->flush = false;
	}
	if (high > session->w.report.loss.ring_high)
		session->w.report.loss.ring_high = high;
	late = rings_late(session->rings);
	session->w.report.loss.late += late - session->late;
	session->late = late;
	if (horizon != UINT64_MAX)
		turn_to(session, session->held && session->held < horizon ? session->held : horizon);
	unwinder_name(session->w.unwinder);
	if (session->flush || session->now - session->flushed >= FLUSH_NS) {
		openwindow_flush(&session->w);
		session->flushed = session->now;
	}
}

static void drain_all(void *to)
{
	struct session *session = to;

	session->flush = true;
	unwinder_flush(session->w.unwinder);
	session_drain(session, clock_now());
	session->flush = false;
}

/* ---- the recording ------------------------------------------------------------------------------------------- */

static struct eventattrs_options attrs_options(const struct session_options *options)
{
	return (struct eventattrs_options){
		.event = options->event,
		.nevents = options->nevents,
		.offcpu = options->offcpu,
		.made = options->offcpu ? 2 + options->wall : 0,
		.children = options->target == TARGET_THREADS || options->target == TARGET_COMMAND,
		.on_exec = options->target == TARGET_COMMAND,
		.both = options->both,
	};
}

static struct sources *open_sources(struct session *session, struct sources_failure *why)
{
	const struct session_options *options = &session->o;
	struct sources_options so = {
		.target = options->target,
		.pid = options->pid,
		.npids = options->npids,
		.cgroup = options->cgroup,
		.ncgroups = options->ncgroups,
		.event = session->attrs.event,
		.nevents = options->nevents,
		.state = &session->attrs.event[options->nevents].attr,
		.switches = options->offcpu ? &session->attrs.switches : NULL,
		.ring_bytes = options->ring_bytes,
		.ring_wanted = fallback_ring(&session->totals.fallback),
		.ring_least = fallback_ring_least(&session->totals.fallback),
		.large = privileges_has(PRIV_IPC_LOCK),
		.twins = options->interpreters && !options->verify && session->totals.fallback.bytes,
	};

	return sources_open(&so, session->rings, why);
}

/* Opens the events with the requested unwinding. If the host refuses that, retries with less, as fallback.h decides. */
static bool open_events(struct session *session, struct sources_failure *why)
{
	struct fallback *fallback = &session->totals.fallback;
	struct eventattrs_options options = attrs_options(&session->o);
	struct fallback_options fo = {
		.choose = session->o.both && !session->o.verify,
		.stack_bytes = session->o.stack_bytes,
		.exactly = session->o.exactly,
		.rate = eventattrs_copies(&options),
		.ring_bytes = session->o.ring_bytes,
	};

	fallback_begin(fallback, &fo);
	for (;;) {
		options.stack_bytes = fallback->bytes;
		eventattrs_make(&session->attrs, &options);
		session->sources = open_sources(session, why);
		if (session->sources)
			return true;
		if (!fallback_next(fallback, why))
			return false;
		eventattrs_free(&session->attrs);
	}
}

static void gather_facts(struct session *session)
{
	session->host = host_new();
	session->w.facts = host_facts(session->host);
	session->w.facts.argv = session->o.argv;
	session->w.facts.tracing = session->o.tracing;
	session->w.facts.event = session->attrs.reported;
	session->w.facts.nevents = session->o.nevents + 1;
}

struct session *session_new(const struct session_options *options, struct sources_failure *why)
{
	struct session *session = mem_alloc(sizeof(*session), 1);

	session->o = *options;
	session->w = (struct openwindow){ .o = &session->o,
					  .attrs = &session->attrs,
					  .totals = &session->totals,
					  .out = { .fd = -1, .pipe = options->pipe } };
	session->rings = rings_new();
	if (!open_events(session, why)) {
		session_free(session);
		return NULL;
	}
	eventattrs_opened(&session->attrs);
	gather_facts(session);
	session->totals.no_cgroups = !eventattrs_cgroups(&session->attrs);
	session->totals.cpus = sources_cpus(session->sources);
	session->totals.ring_bytes = rings_bytes(session->rings);
	session->totals.without_kernel = sources_without_kernel(session->sources);
	session->totals.depth_limit = host_max_stack();
	return session;
}

void session_fork(struct session *session)
{
	bool interpreters = session->o.interpreters && !session->o.verify;

	if (session->totals.fallback.bytes)
		session->w.unwinder = unwinder_fork(session->o.verify ? INTERPRETERS_OFF : session->o.interpreters);
	if (session->w.unwinder && eventattrs_waits(&session->attrs))
		session->w.waits =
			waitstacks_new(&session->attrs.switches, session->rings, session->sources, interpreters);
}

void session_output(struct session *session, struct windows *windows, struct symsaver *keep, int fd)
{
	session->w.out.windows = windows;
	session->w.out.fd = fd;
	session->w.keep = keep;
}

static void mark_targets(struct session *session)
{
	for (size_t i = 0; i < session->o.npids; i++)
		processes_make(session->processes, session->o.pid[i])->target = true;
}

/* Returns the time at which the first window begins: that at which the recorders end that this one replaces, now if
 * there are none. */
static uint64_t begin_after(const struct recorderlock *replaced, uint64_t now)
{
	pid_t pid = 0;
	int asked = replaced ? recorderlock_ask(replaced, now + HANDOVER_NS, &pid) : 0;

	if (asked < 0 && !pid)
		die("the recorder of this directory runs in another PID namespace, so --replace cannot end it: stop it "
		    "there");
	if (asked < 0)
		die_errno("cannot end process %ld, which records into the same directory", (long)pid);
	return asked ? now + HANDOVER_NS : now;
}

/* Opens the first window: now, or with --align at the next border; earlier samples are dropped. If another run is
 * about to end its window near that border, this run starts at exactly that ns. If it replaces other recorders, it
 * starts where they end. */
static void first_window(struct session *session)
{
	uint64_t now = clock_now(), begin = begin_after(session->o.replaced, now), theirs;

	if (begin != now) {
		session->w.report.loss = (struct pj_loss){ 0 };
	} else if (session->o.align && session->o.window_ns) {
		begin = clock_next(now, clock_wall(), session->o.window_ns);
		if (session->w.out.windows && windows_predecessor(session->w.out.windows, &theirs) && theirs > now &&
		    theirs != UINT64_MAX && theirs < begin + session->o.window_ns / 2 &&
		    begin < theirs + session->o.window_ns / 2)
			begin = theirs;
		session->w.report.loss = (struct pj_loss){ 0 };
	}
	switches_begin(session->w.switches, begin);
	openwindow_begin(&session->w, begin, border_after(session, begin, session->o.align));
}

static struct switches *start_switches(struct session *session)
{
	struct switches_options options = {
		.event = session->o.offcpu,
		.least_ns = session->o.offcpu_least_ns,
		.wall = session->o.wall,
		.cgroup = session->attrs.switches.sample_type & PERF_SAMPLE_CGROUP,
		.marks = eventattrs_waits(&session->attrs),
		.all = session->o.target != TARGET_COMMAND && session->o.target != TARGET_CGROUPS,
		.early = session->o.target != TARGET_COMMAND && session->o.target != TARGET_CGROUPS,
		.targets = session->o.target == TARGET_PROCESSES || session->o.target == TARGET_THREADS,
		.own = session->o.target == TARGET_HOST,
		.processes = session->processes,
		.wanted = is_target,
		.emit = take_offcpu,
		.to = session,
	};

	return switches_new(&options);
}

static void leave_out_own_processes(struct session *session)
{
	if (session->o.target == TARGET_HOST || session->o.target == TARGET_CGROUPS)
		ownprocesses_leave_out(session->w.switches, session->o.parent, session->o.command);
}

void session_start(struct session *session)
{
	session->w.budgets =
		budgets_new(budgets_limits(session->attrs.event, session->o.nevents, session->o.stack_bytes,
					   session->totals.cpus, session->o.sample_bytes));
	session->processes = processes_new(budgets_tenants(session->w.budgets));
	session->rescan = rescan_new(session->processes, session->w.budgets, session->o.target != TARGET_COMMAND);
	session->w.cgroups = cgroups_new();
	session->w.kernel = kernel_new();
	session->w.state = state_new(session->processes, session->w.cgroups, session->w.kernel, session->w.keep,
				     session->rescan, openwindow_state_event(&session->w));
	rings_skip(session->rings, skip_mapping, session);
	mark_targets(session);
	unwinder_start(session->w.unwinder, &(struct unwinder_options){ .processes = session->processes,
									.budgets = session->w.budgets,
									.sources = session->sources,
									.rings = session->rings,
									.max_frames = session->o.max_frames,
									.waits = session->w.waits,
									.frames = waitstacks_frames(session->w.waits),
									.verify = session->o.verify,
									.shown = session->o.shown });
	if (session->o.offcpu)
		session->w.switches = start_switches(session);
	waitstacks_start(session->w.waits,
			 &(struct waitstacks_options){ .switches = session->w.switches,
						       .unwinder = session->w.unwinder,
						       .state = session->w.state,
						       .budgets = session->w.budgets,
						       .max_frames = session->o.max_frames,
						       .some = session->o.target == TARGET_PROCESSES });
	session->drained = clock_now();
	sources_enable(session->sources);
	leave_out_own_processes(session);
	if (session->o.target == TARGET_THREADS)
		rescan_start(session->rescan, session->o.pid, session->o.npids);
	else
		rescan_start(session->rescan, NULL, 0);
	first_window(session);
	switches_begin_early(session->w.switches, clock_now());
}

static void wait_for_records(struct session *session, int wait_ms)
{
	ringpoll_for(&session->waiting, session->rings, unwinder_fd(session->w.unwinder), wait_ms);
}

/* Returns the time in ms to wait for records: at most wait_ms and DRAIN_MS, less if a sample waits for unwind tables,
 * and not beyond SLACK after the end of the window. */
static int time_to_wait(const struct session *session, int wait_ms)
{
	uint64_t now = clock_now(), border = session->w.end == UINT64_MAX ? UINT64_MAX : session->w.end + SLACK;

	if (wait_ms > (session->w.waits ? WAITS_MS : DRAIN_MS))
		wait_ms = session->w.waits ? WAITS_MS : DRAIN_MS;
	if (session->held && wait_ms > HELD_MS)
		wait_ms = HELD_MS;
	if (border <= now)
		return 0;
	return border - now < (uint64_t)wait_ms * 1000000 ? (int)((border - now) / 1000000) + 1 : wait_ms;
}

/* Opens events on CPUs that came online. Warns once of those that need a right that was dropped: a CPU on which another
 * event fails is tried again at each look. Returns true if a CPU was added. */
static bool session_follow_cpus(struct session *session)
{
	size_t before = sources_refused(session->sources);
	bool came = sources_follow_cpus(session->sources, drain_all, session);

	if (!before && sources_refused(session->sources))
		warn("a CPU came online, on which uprobes are not counted: pjrecord has dropped CAP_SYS_ADMIN: start "
		     "it again");
	return came;
}

/* Checks, each LOOK_NS and when the CPUs changed, what changes rarely: CPUs that come and go, and the helper processes.
 */
static void session_look(struct session *session, uint64_t now)
{
	bool on_cpus = session->o.target != TARGET_COMMAND && session->o.target != TARGET_THREADS;

	/* switches on a new CPU were not recorded until now, so off-CPU times since the last check are uncertain */
	if (on_cpus && session_follow_cpus(session)) {
		switches_mark_stale(session->w.switches, session->polled);
		switches_sure(session->w.switches);
	}
	if (session->cpus_changed)
		waitstacks_follow(session->w.waits);
	session->cpus_changed = false;
	if (session->w.keep)
		symsaver_tick(session->w.keep);
	unwinder_tick(session->w.unwinder, now);
	sandbox_warn(sandbox_reported());
	session->polled = now;
	session->waiting.known = false;
}

bool session_step(struct session *session, int wait_ms)
{
	uint64_t now;

	wait_for_records(session, time_to_wait(session, wait_ms));
	now = clock_now();
	unwinder_take(session->w.unwinder, now);
	session_drain(session, now - SLACK);
	switches_tick(session->w.switches, now);
	if (rescan_tick(session->rescan, now)) {
		switches_mend(session->w.switches);
		leave_out_own_processes(session);
	}
	/* While a sample waits for unwind tables, processes that ended after its time are not forgotten, however long
	 * it waits. */
	processes_forget(session->processes,
			 (session->held && session->held < now - SLACK ? session->held : now - SLACK) - SAVED_NS);
	if (session->cpus_changed || now - session->polled > LOOK_NS)
		session_look(session, now);
	if (session_complete(session))
		return false;
	return !output_failed(&session->w.out);
}

/* Adds samples that the kernel counted as lost without a LOST record: it writes that record only before a later record
 * in the same ring. */
static void add_hidden_loss(struct session *session)
{
	uint64_t lost = sources_lost(session->sources);

	if (lost <= session->lost_seen)
		return;
	session->w.report.loss.samples += lost - session->lost_seen;
	openwindow_lost_samples(&session->w, lost - session->lost_seen, session->w.last, 0);
}

int session_finish(struct session *session)
{
	uint64_t now = clock_now();
	/* true: with --align, the recording was stopped before the first border */
	bool unwanted = session->o.align && now < session->w.begin;

	sandbox_warn(sandbox_reported());
	if (session_complete(session))
		return 0;
	unwinder_flush(session->w.unwinder);
	session_drain(session, now);
	while (session->held && clock_now() < now + SECOND_NS) {
		wait_for_records(session, HELD_MS);
		unwinder_take(session->w.unwinder, clock_now());
		session_drain(session, now);
	}
	session->flush = true;
	session_drain(session, now);
	add_hidden_loss(session);
	if (unwanted && output_discard(&session->w.out, &session->w.report))
		return 0;
	if (session->w.keep)
		symsaver_settle(session->w.keep, SETTLE_MS);
	openwindow_end(&session->w, now < session->w.end ? now : session->w.end);
	return session->w.out.windows ? 0 : session->w.out.error;
}

struct session_totals session_totals(const struct session *session)
{
	struct session_totals totals = session->totals;
	struct waitcounters waits = waitstacks_counters(session->w.waits);

	totals.waits_denied = waits.denied && !waits.copies;
	totals.oncpu_ns = switches_oncpu_ns(session->w.switches);
	totals.helpers = unwinder_helpers(session->w.unwinder);
	return totals;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	/* first, as it parks the readers of CPUs: it uses sources and rings for that */
	unwinder_free(session->w.unwinder);
	sources_close(session->sources);
	rings_free(session->rings);
	state_free(session->w.state);
	rescan_free(session->rescan);
	waitstacks_free(session->w.waits);
	switches_free(session->w.switches);
	processes_free(session->processes);
	budgets_free(session->w.budgets);
	cgroups_free(session->w.cgroups);
	kernel_free(session->w.kernel);
	host_free(session->host);
	eventattrs_free(&session->attrs);
	openwindow_free(&session->w);
	ringpoll_free(&session->waiting);
	text_free(&session->sample);
	free(session);
}
