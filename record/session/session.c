/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/session.h"

#include "common/arena.h"
#include "record/perf/eventattrs.h"
#include "record/unwind/unwinder.h"
#include "record/processes/cgroups.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "record/processes/host.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/session/openwindow.h"
#include "record/processes/processes.h"
#include "common/process/sandbox.h"
#include "record/processes/state.h"
#include "record/offcpu/switches.h"
#include "record/session/ownprocesses.h"
#include "record/session/sessionevents.h"
#include "record/session/sessionrecords.h"
#include "record/unwind/samplestack.h"
#include "record/perf/ringpoll.h"
#include "record/session/waitstacks.h"

#include <errno.h>
#include <stdlib.h>

/* time in ns after which a record is assumed to be in its ring: only older records are processed */
#define SLACK (SECOND_NS / 10)
/* like SLACK, in ns, but while rings are filling up: nearly all records are processed */
#define SLACK_FULL (SECOND_NS / 500)
#define DRAIN_MS 500
/* time in ns for which the state of ended processes is kept, for samples that come late */
#define SAVED_NS (2 * SECOND_NS)
/* maximum time in ms to wait for build-ids of the symbol saver at the end */
#define SETTLE_MS 300
#define LOOK_NS (2 * SECOND_NS)   /* time in ns between two checks of CPUs and helper processes */
#define FLUSH_NS (SECOND_NS / 20) /* minimum time in ns between two flushes of the file */
#define HANDOVER_NS SECOND_NS     /* time in ns from the request to replaced recorders until they end */
/* maximum time in ms between two drains while stacks of threads off the CPU are read, because space for their copies is
 * limited */
#define WAITS_MS 50
/* Maximum time in ms between two drains, and age of records that are processed, during the first BRIEF_NS of a
 * recording, whose command may be a short one. With 500 ms and SLACK instead, 5 of 150 JVMs that ran for 0.4 s had
 * ended before their code was read, so their stacks were broken. */
#define BRIEF_MS 25
#define BRIEF_NS SECOND_NS
#define HELD_MS 20 /* maximum time in ms between retries while a sample waits for unwind tables */

/* ---- borders of windows ----------------------------------------------------------------------------------------- */

/* Returns true if all requested windows are complete, or the window that ends at `until` is. */
static bool session_complete(const struct session *session)
{
	return session->ended || (session->o.count && session->w.done >= session->o.count);
}

/* Returns the end of a window that starts at `begin`; both in ns of CLOCK_MONOTONIC. align: true: at a multiple of
 * window_ns on the wall clock. */
static uint64_t border_after(const struct session *session, uint64_t begin, bool align)
{
	uint64_t border = clock_border(begin, clock_wall_of(begin), session->o.window_ns, align);

	return session->until && session->until < border ? session->until : border;
}

/* Ends windows and begins further ones until the open window contains the time `ns` (CLOCK_MONOTONIC). After the last
 * requested window, begin and end of the open window are UINT64_MAX. */
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

/* Reads the time at which the last window must end, once it is set. If later records have been processed already, the
 * window ends after them. An open window in a directory that would begin only after this time is discarded. */
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

/* ---- draining of the rings -------------------------------------------------------------------------------------- */

static void session_take(void *to, const struct ring_record *record)
{
	turn_to(to, record->time);
	sessionrecords_take(to, record);
}

/* Returns true if mapping, name and namespace records of this process must be skipped in the rings, as during a
 * storm. */
static bool skip_mapping(void *to, uint32_t pid)
{
	const struct session *session = to;

	return state_skips(session->w.state, pid, session->now);
}

/* Processes the records before time `horizon` (ns). If switch records were lost since the previous drain, makes all
 * off-CPU times since then uncertain, as it is unknown which ones the loss affects. */
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

/* Processes the records before time `horizon` (ns). If a ring is still more than 60 % full after that, processes nearly
 * all records, without waiting for helper processes. */
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

/* ---- start of a recording --------------------------------------------------------------------------------------- */

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
	session->sources = sessionevents_open(options, &session->totals.fallback, &session->attrs, session->rings, why);
	if (!session->sources) {
		session_free(session);
		return NULL;
	}
	eventattrs_opened(&session->attrs);
	gather_facts(session);
	session->totals.no_cgroups = !eventattrs_cgroups(&session->attrs);
	session->totals.cpus = sources_cpus(session->sources);
	session->totals.ring_bytes = rings_bytes(session->rings);
	session->totals.without_kernel = sources_without_kernel(session->sources);
	session->totals.changed = sources_changed(session->sources);
	session->totals.depth_limit = (unsigned)session->w.facts.max_stack;
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

/* Requests the replaced recorders to end, and returns the time in ns at which they end and the first window begins;
 * `now` if there are none. Exits with a message if one cannot be signalled. */
static uint64_t begin_after(const struct recorderlock *replaced, uint64_t now)
{
	pid_t pid = 0;
	int signalled = replaced ? recorderlock_end_holders(replaced, now + HANDOVER_NS, &pid) : 0;

	if (signalled < 0 && !pid)
		die("the recorder of this directory runs in another PID namespace, so --replace cannot end it: stop it "
		    "there");
	if (signalled < 0)
		die_errno("cannot end process %ld, which records into the same directory", (long)pid);
	return signalled ? now + HANDOVER_NS : now;
}

/* Opens the first window: at once, or with --align at the next border; earlier samples are dropped. If another run
 * plans to end its window near that border, the first window starts at exactly that planned end. If this run replaces
 * other recorders, it starts when they end. */
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
		.wanted = sessionrecords_is_target,
		.emit = sessionrecords_take_offcpu,
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
									.max_stack = session->totals.depth_limit,
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
	session->drained = session->started = clock_now();
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

/* Returns true during the first BRIEF_NS of a recording that unwinds stacks. */
static bool drains_soon(const struct session *session, uint64_t now)
{
	return session->w.unwinder && now - session->started < BRIEF_NS;
}

/* Returns the time in ns before which records are processed. This time does not go back when drains_soon becomes false.
 * Off-CPU times always need SLACK: a record of a switch that comes late would contradict a stack that was accepted
 * before. */
static uint64_t horizon_at(const struct session *session, uint64_t now)
{
	bool soon = !session->o.offcpu && drains_soon(session, now);
	uint64_t horizon = now - (soon ? BRIEF_MS * (SECOND_NS / 1000) : SLACK);

	return horizon < session->drained && !session->held ? session->drained : horizon;
}

/* Returns the time in ms to wait for records: at most wait_ms and DRAIN_MS (WAITS_MS while stacks are read off the CPU,
 * BRIEF_MS during drains_soon), at most HELD_MS if a record waits for unwind tables, and at most until SLACK after
 * the end of the window. */
static int time_to_wait(const struct session *session, int wait_ms)
{
	uint64_t now = clock_now(), border = session->w.end == UINT64_MAX ? UINT64_MAX : session->w.end + SLACK;
	int drain_ms = drains_soon(session, now) ? BRIEF_MS : session->w.waits ? WAITS_MS : DRAIN_MS;

	if (wait_ms > drain_ms)
		wait_ms = drain_ms;
	if (session->held && wait_ms > HELD_MS)
		wait_ms = HELD_MS;
	/* while a sample of the ending window is held, the window cannot end, and a wait lets the helper process run */
	if (border <= now)
		return session->held ? wait_ms : 0;
	return border - now < (uint64_t)wait_ms * 1000000 ? (int)((border - now) / 1000000) + 1 : wait_ms;
}

/* Warns that a CPU that came online is not recorded, because of an errno of perf_event_open or mmap. */
static void report_unopened(int error)
{
	if (error == EACCES)
		warn("a CPU came online and is not recorded, as pjrecord has dropped the right: set "
		     "kernel.perf_event_paranoid=2");
	else
		warn("a CPU came online and is not recorded (%s): pjrecord tries again every 2 s", strerror(error));
}

/* Opens events on CPUs that came online or whose events are detached. Warns once if a uprobe needs a right that
 * pjrecord has dropped; it stays closed. Tries a CPU on which another event fails again at each call, and warns of the
 * first such CPU. Warns of CPUs that were opened again. Returns true if a CPU was added or opened again. */
static bool session_follow_cpus(struct session *session)
{
	size_t before = sources_refused(session->sources);
	uint64_t reopened = sources_reopened(session->sources);
	int unopened = sources_unopened(session->sources);
	bool came = sources_follow_cpus(session->sources, drain_all, session);

	if (!before && sources_refused(session->sources))
		warn("a CPU came online, on which uprobes are not counted: pjrecord has dropped CAP_SYS_ADMIN: start "
		     "it again");
	if (!unopened && sources_unopened(session->sources))
		report_unopened(sources_unopened(session->sources));
	reopened = sources_reopened(session->sources) - reopened;
	if (reopened)
		warn("%llu CPU%s went offline and returned, as in a suspend: up to 4 s of samples of each are missing",
		     (unsigned long long)reopened, reopened == 1 ? "" : "s");
	return came;
}

/* Checks for CPUs that came or went, and the helper processes. Called each LOOK_NS, and when CPUs changed. */
static void session_look(struct session *session, uint64_t now)
{
	bool on_cpus = session->o.target != TARGET_COMMAND && session->o.target != TARGET_THREADS;
	bool came = on_cpus && session_follow_cpus(session);

	/* Context switches on a new CPU were not recorded while it had no events. detached_find may find a CPU one
	 * check late, so off-CPU times of the last two intervals are uncertain. */
	if (came) {
		switches_mark_stale(session->w.switches, session->polled > LOOK_NS ? session->polled - LOOK_NS : 0);
		switches_sure(session->w.switches);
	}
	/* a CPU whose events could not be opened when it came may have been added now */
	if (came || session->cpus_changed)
		waitstacks_follow(session->w.waits);
	session->cpus_changed = false;
	if (session->w.keep)
		symsaver_tick(session->w.keep);
	unwinder_tick(session->w.unwinder, now);
	sandbox_warn(sandbox_reported());
	session->polled = now;
	session->waiting.known = false;
}

/* Prints the message that interpreted frames are not read (o.unread), once, after a process with an interpreter was
 * sampled. */
static void session_report_unread(struct session *session)
{
	if (!session->o.unread || !unwinder_saw_interpreter(session->w.unwinder))
		return;
	warn("%s", session->o.unread);
	session->o.unread = NULL;
}

bool session_step(struct session *session, int wait_ms)
{
	uint64_t now;

	wait_for_records(session, time_to_wait(session, wait_ms));
	now = clock_now();
	unwinder_take(session->w.unwinder, now);
	session_drain(session, horizon_at(session, now));
	if (!session->o.command)
		session_report_unread(session);
	switches_tick(session->w.switches, now);
	if (rescan_tick(session->rescan, now)) {
		switches_mend(session->w.switches);
		leave_out_own_processes(session);
	}
	/* While a sample waits for unwind tables, the state of processes that ended after it is kept, however long it
	 * waits. */
	processes_forget(session->processes,
			 (session->held && session->held < now - SLACK ? session->held : now - SLACK) - SAVED_NS);
	if (session->cpus_changed || now - session->polled > LOOK_NS)
		session_look(session, now);
	if (session_complete(session))
		return false;
	return !output_failed(&session->w.out);
}

/* Adds to the report the lost samples that the kernel has counted, but for which no LOST record has come: the kernel
 * writes that record only before a later record in the same ring. */
static void add_hidden_loss(struct session *session)
{
	uint64_t lost = sources_lost(session->sources);

	if (lost <= session->lost_seen)
		return;
	lost -= session->lost_seen;
	session->totals.lost_others += lost;
	lost = lostshare_of_all(&session->lostshare, lost);
	session->totals.lost_others -= lost;
	session->w.report.loss.samples += lost;
	if (lost)
		openwindow_lost_samples(&session->w, lost, session->w.last, 0);
}

int session_finish(struct session *session)
{
	uint64_t now = clock_now();
	/* true: the recording was stopped before the first border of --align, so its window must not remain */
	bool unwanted = session->o.align && now < session->w.begin;

	sandbox_warn(sandbox_reported());
	if (session_complete(session)) {
		session_report_unread(session);
		return 0;
	}
	unwinder_flush(session->w.unwinder);
	session_drain(session, now);
	while (session->held && clock_now() < now + SECOND_NS) {
		wait_for_records(session, HELD_MS);
		unwinder_take(session->w.unwinder, clock_now());
		session_drain(session, now);
	}
	session->flush = true;
	session_drain(session, now);
	session_report_unread(session);
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
	totals.allocations = unwinder_allocations(session->w.unwinder);
	return totals;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	/* frees the unwinder first: it parks the synchronous reader on all CPUs, for which it needs sources and rings
	 */
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
	lostshare_free(&session->lostshare);
	free(session);
}
