/* SPDX-License-Identifier: Apache-2.0 */
/* pjrecord - sample this host into standard perf.data windows. */
#include "common/clocks.h"
#include "record/command.h"
#include "common/diag.h"
#include "record/perf/events.h"
#include "record/perf/hints.h"
#include "record/hostcheck.h"
#include "record/symsaver/symsaver.h"
#include "common/process/fdmessage.h"
#include "common/process/parent.h"
#include "record/portable.h"
#include "record/perf/privileges.h"
#include "record/recordopts.h"
#include "common/process/sandbox.h"
#include "common/process/taskid.h"
#include "record/session.h"
#include "record/single.h"
#include "record/takeover.h"
#include "common/text.h"
#include "common/process/urgency.h"
#include "record/windows/windows.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AGAIN_MS 500                   /* ms; a signal after this time counts as a second one */
#define SAVER_MS 10000                 /* ms for the symbol saver to finish its current work at the end */
#define HANDOVER_MOST (60 * SECOND_NS) /* ns between now and the end that a signal may ask for */
#define SHOWN_DIFFERENT 3              /* number of differing stacks that --unwind=verify prints */

static volatile sig_atomic_t stop_requested;

/* CLOCK_MONOTONIC at which the recorder that replaces this one begins; 0: none does. */
static volatile _Atomic uint64_t handover_ns;

/* Returns true if the signal is the request of another pjrecord (recorderlock.h), and stores its time. */
static bool is_handover(const siginfo_t *info)
{
	uint64_t end = (uintptr_t)info->si_value.sival_ptr, now = clock_now();

	if (info->si_code != SI_QUEUE || end < now - HANDOVER_MOST || end > now + HANDOVER_MOST || handover_ns)
		return false;
	handover_ns = end;
	return true;
}

/* The first signal ends the window and the recording; a second one kills the recorder. A signal within AGAIN_MS of
 * the first counts as the same one, because timeout(1) signals both the process and its group. */
static void pjrecord_on_signal(int sig, siginfo_t *info, void *context)
{
	static uint64_t first;

	(void)context;
	if (sig == SIGTERM && is_handover(info))
		return;
	if (!stop_requested)
		first = clock_now_ms();
	stop_requested = 1;
	if (clock_now_ms() - first < AGAIN_MS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Installs the handlers of signals. An ignored SIGHUP stays ignored, so that nohup(1) works. An ignored SIGINT is
 * caught all the same: shell scripts ignore it for background processes, but must be able to end the recorder with
 * it. */
static void pjrecord_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = pjrecord_on_signal, .sa_flags = SA_SIGINFO }, hup;

	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaddset(&action.sa_mask, SIGHUP);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static NORETURN void die_of(const struct sources_failure *why)
{
	struct text text = { 0 };
	struct hint hint;

	hint_failure(&hint, why);
	hint_text(&text, &hint);
	die("%.*s", (int)text.n, text.p);
}

/* Leaves out the requested processes that are gone: a list of several, as of a container, may be old when pjrecord
 * starts. Dies if all are gone. */
static void leave_out_gone(struct request *request)
{
	size_t n = 0, gone = 0;

	for (size_t i = 0; i < request->npids; i++)
		if (kill((pid_t)request->pid[i], 0) && errno == ESRCH)
			gone = i;
		else
			request->pid[n++] = request->pid[i];
	if (request->npids && n == 0)
		die("--pid=%u: no such process", request->pid[gone]);
	if (n < request->npids)
		warn("--pid: %zu of %zu processes are gone", request->npids - n, request->npids);
	request->npids = n;
}

/* Warns if --interpreters=all has the effect of `on`, as the recorder is not root: privileges are dropped. */
static void warn_not_root(const struct request *request)
{
	if (request->interpreters == INTERPRETERS_ALL && privileges_realtime() == 0 &&
	    taskid_reader() != TASKID_FOR_ROOT)
		warn("--interpreters=all acts as on: processes that changed their user are read for root alone");
}

/* Raises the priority, drops privileges and binds the recorder to its parent, in this order: the kernel resets the
 * parent-death signal when credentials change, so it is set last. */
static void pjrecord_become(const struct request *request, uid_t uid, gid_t gid)
{
	if (request->unwind != UNWIND_BY_POINTERS)
		urgency_raise();
	if (request->interpreters)
		privileges_keep_realtime();
	privileges_drop(uid, gid);
	warn_not_root(request);
	if (request->with_parent)
		parent_bind(request->parent);
}

/* Returns the processes whose interpreters are read: OFF, ON or ALL. Warns if the user requests it without the right to
 * it, also with --quiet, which pjflame and pjprofile pass: an option without effect is not a matter of summaries. With
 * AUTO the right is optional, so only --verbose prints the reason. */
static enum interpreters_choice read_interpreters(const struct request *request)
{
	struct text text = { 0 };
	struct hint hint = { .step = HINT_REALTIME };
	bool automatic = request->interpreters == INTERPRETERS_AUTO;

	if (!request->interpreters)
		return INTERPRETERS_OFF;
	hint.error = privileges_realtime();
	if (hint.error == 0)
		return automatic ? INTERPRETERS_ON : request->interpreters;
	if (automatic && !request->verbose)
		return INTERPRETERS_OFF;
	hint_gather(&hint.facts);
	hint_text(&text, &hint);
	warn("--interpreters=%s has no effect: %.*s",
	     automatic                                 ? "auto" :
	     request->interpreters == INTERPRETERS_ALL ? "all" :
							 "on",
	     (int)text.n, text.p);
	text_free(&text);
	return INTERPRETERS_OFF;
}

static enum target target_of(const struct request *request)
{
	return request->npids    ? TARGET_PROCESSES :
	       request->ncgroups ? TARGET_CGROUPS :
	       request->host     ? TARGET_HOST :
	       request->command  ? TARGET_COMMAND :
				   TARGET_HOST;
}

/* Makes the hint for missing rights that of a uprobe if there is one, because it needs more than the event that failed
 * first. */
static void blame_uprobe(struct sources_failure *why, const struct events *events)
{
	for (size_t i = 0; i < events->n && why->step == SOURCES_OPEN && why->error == EACCES; i++)
		if (events->event[i].attr.type >= PERF_TYPE_MAX)
			why->attr = events->event[i].attr;
}

/* Opens the events and the session. With -p, it first opens CPU-wide events, one descriptor for each CPU. If the
 * permission for that is missing, it opens events for each thread. Exits with a hint if that fails, too. */
static struct session *open_session(const struct request *request, struct session_options *options,
				    struct events *events)
{
	struct events_options eo = { request->frequency,
				     request->period,
				     options->target == TARGET_COMMAND || options->target == TARGET_THREADS,
				     options->target == TARGET_COMMAND,
				     request->idle,
				     request->offcpu,
				     request->wall,
				     request->pid,
				     request->npids,
				     &stop_requested };
	struct sources_failure why;
	struct session *session;

	events_parse(events, request->events, &eo);
	options->event = events->event;
	options->nevents = events->n;
	options->tracing = text_view(&events->tracing);
	options->offcpu = events->offcpu;
	options->wall = request->wall;
	options->offcpu_least_ns = request->offcpu_least_us * 1000;
	session = session_new(options, &why);
	if (session)
		return session;
	blame_uprobe(&why, events);
	if (options->target != TARGET_PROCESSES || events->nuprobes || (why.error != EACCES && why.error != EPERM))
		die_of(&why);
	events_free(events);
	options->target = TARGET_THREADS;
	return open_session(request, options, events);
}

/* Warns at the start, not at the end, that kernel symbols are hidden: a recording may run for months. */
static void report_hidden_symbols(void)
{
	struct text text = { 0 };
	struct hint hint = { 0 };

	hint_gather(&hint.facts);
	if (hint_kallsyms(&hint)) {
		hint_text(&text, &hint);
		warn("kernel functions will have no names: %.*s", (int)text.n, text.p);
	}
	text_free(&text);
}

/* Warns that stacks are unwound with less than the default. If the user chose the way with --unwind, exits with that
 * message instead. */
static void report_fallback(const struct request *request, const struct fallback *fallback)
{
	struct text text = { 0 };

	fallback_text(&text, fallback);
	if (text.n && request->unwind != UNWIND_BY_BOTH)
		die("%.*s", (int)text.n, text.p);
	if (text.n)
		warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

static void report_start(const struct request *request, const struct session *session, const struct events *events)
{
	struct session_totals totals = session_totals(session);

	report_fallback(request, &totals.fallback);

	if (events->by_clock && request->verbose)
		warn("no hardware counters: sampling by cpu-clock");
	if (totals.without_kernel)
		warn("user space only: kernel stacks need CAP_PERFMON, or kernel.perf_event_paranoid below 2");
	else
		report_hidden_symbols();
	if (totals.no_cgroups && !request->quiet)
		warn("this kernel has no cgroup in samples: pjfold --by=container will not work on these files");
}

/* ---- the run ------------------------------------------------------------------------------------------------- */

/* Returns true if all processes of -p have ended, so that no further samples will come. */
static bool targets_gone(const struct request *request)
{
	for (size_t i = 0; i < request->npids; i++)
		if (kill((pid_t)request->pid[i], 0) == 0 || errno == EPERM)
			return false;
	return request->npids;
}

/* Waits for the end of a command that still runs; ends one that only determines the length of the recording. Call it
 * after the recording is written: unread events would count as lost. */
static void end_command(const struct request *request, struct command *command, int *status)
{
	bool is_timer = target_of(request) != TARGET_COMMAND;

	if (!request->command || command->ended)
		return;
	if (is_timer)
		kill(command->pid, SIGTERM);
	/* a signal from the terminal reaches the command, too, so it ends soon */
	command_wait(command, status);
	if (is_timer)
		*status = 0;
}

/* Returns the longest time in ms that the next step of the recording may take, so that --seconds is kept; 0: the
 * recording must end. */
static int step_ms(const struct request *request, uint64_t start_ms)
{
	uint64_t end = start_ms + request->length_s * 1000, now = clock_now_ms();

	return !request->length_s || end > now + 500 ? 500 : end > now ? (int)(end - now) : 0;
}

/* Records until a signal, the last window, the end of the targets or of --seconds. takeover: that of the
 * directory, or NULL. Returns false if the command could not be run, so that nothing was recorded; *status is the exit
 * status of the command. */
static bool pjrecord_run(const struct request *request, struct session *session, struct takeover *takeover,
			 struct command *command, int *status)
{
	bool ended = false;
	uint64_t start;
	int ms;

	session_start(session);
	start = clock_now_ms(); /* not before session_start: on a busy host that took over 1 s, and --seconds counts
				 * from the first sample */
	if (request->command) {
		int error = command_exec(command);

		if (error) {
			warn("%s: %s", request->command[0], strerror(error));
			command_wait(command, status);
			return false;
		}
	}
	while (!ended && (ms = step_ms(request, start)) && session_step(session, ms) && !stop_requested) {
		ended = (request->command && command_ended(command, status)) || targets_gone(request);
		if (takeover)
			takeover_tick(takeover);
	}
	return true;
}

static void report_end(const struct request *request, const struct session *session)
{
	struct session_totals totals = session_totals(session);
	struct text text = { 0 };

	if (request->quiet || !request->output)
		return;
	if (request->verbose)
		metrics_summary(&text, &totals.last);
	else
		metrics_sentence(&text, &totals.last);
	warn("%s: %.*s", str_eq(str_of(request->output), STR("-")) ? "standard output" : request->output, (int)text.n,
	     text.p);
	if (totals.loss.depth && request->verbose)
		warn("stacks are deeper than kernel.perf_event_max_stack=%u and truncated: sysctl "
		     "kernel.perf_event_max_stack=%u first",
		     totals.depth_limit, totals.depth_limit < 512 ? 1024 : 2 * totals.depth_limit);
	text_free(&text);
}

static bool lost_too_much(const struct request *request, const struct session *session)
{
	struct session_totals totals = session_totals(session);
	uint64_t all = totals.samples + totals.loss.samples;
	uint64_t times = totals.offcpu.blocked_ns + totals.offcpu.preempted_ns + totals.offcpu.brief_ns +
			 totals.offcpu.unknown_ns + totals.oncpu_ns;
	double share = all ? (double)totals.loss.samples / (double)all : 0;
	double unknown = times ? (double)totals.offcpu.unknown_ns / (double)times : 0;

	if (request->max_lost < 0 || (share <= request->max_lost && unknown <= request->max_lost))
		return false;
	warn("%.2f %% of the %s, more than --max-lost=%g%%: try a larger --ring-size",
	     100 * (share > request->max_lost ? share : unknown),
	     share > request->max_lost ? "samples were lost" :
	     request->wall             ? "wall-clock time is unknown" :
					 "off-CPU times are unknown",
	     100 * request->max_lost);
	return true;
}

static int end_status(const struct request *request, const struct session *session, bool written, int of_command)
{
	if (request->command && of_command)
		return of_command;
	if (!written)
		return request->command ? 125 : PJ_FAILED;
	return lost_too_much(request, session) ? PJ_THRESHOLD : of_command;
}

static void report_saved(const struct request *request, const struct symsaver_counts *counts)
{
	struct text text = { 0 };

	symsaver_text(&text, counts);
	if (text.n && request->verbose)
		warn("symbol store: %.*s", (int)text.n, text.p);
	text_free(&text);
}

/* Starts the symbol saver, the helper that opens files of target processes. dir: directory of the symbol store; if it
 * is NULL, or the store cannot be used, the saver only finds build-ids. Prints a warning and returns NULL if the saver
 * cannot be started. */
static struct symsaver *pjrecord_start_saver(const struct request *request, const char *dir)
{
	struct symsaver_options options = {
		.dir = dir, .all = request->keep_all, .max_bytes = request->keep_symbols, .min_free = request->min_free
	};
	const char *why = NULL;
	struct symsaver *saver;

	sandbox_watch();
	saver = symsaver_start(&options, &why);
	if (!saver && dir) {
		warn("%s: symbols will not be saved: %s", dir, why);
		return pjrecord_start_saver(request, NULL);
	}
	if (!saver)
		warn("mappings will have no build-ids: %s", why);
	return saver;
}

static struct symsaver_counts stop_saver(struct symsaver *saver)
{
	return saver ? symsaver_stop(saver, SAVER_MS) : (struct symsaver_counts){ 0 };
}

static void report_makers(const struct session *session)
{
	struct session_totals totals = session_totals(session);

	if (totals.helpers.hung + totals.helpers.crashed)
		warn("the process that reads unwind tables hung or crashed, and was replaced (%llu): stacks "
		     "through its files may be broken",
		     (unsigned long long)(totals.helpers.hung + totals.helpers.crashed));
}

/* Warns if no stack of a thread off the CPU could be read, for lack of a right. */
static void report_waits(const struct request *request, const struct session *session)
{
	struct hint hint = { .step = HINT_MEMORY, .error = EPERM };
	struct text text = { 0 };

	if (request->quiet || !session_totals(session).waits_denied)
		return;
	hint_gather(&hint.facts);
	hint_text(&text, &hint);
	warn("callers of waits are found by frame pointers only: %.*s", (int)text.n, text.p);
	text_free(&text);
}

/* Prints that a recording has no end if its only number is the operand SECONDS, which perf's users may mean as the
 * duration. */
static void report_endless(const struct request *request)
{
	unsigned long long seconds = request->seconds;

	if (request->window_operand && !request->count && !request->length_s && !request->command && !request->quiet)
		warn("windows of %llu s go to %s/out until Ctrl-C; -s %llu records for %llu s", seconds, request->dir,
		     seconds, seconds);
}

/* Records windows into a directory. Returns the exit status of pjrecord. */
static int record_windows(const struct request *request, struct session_options *options, struct events *events,
			  struct command *command)
{
	struct windows_options wo = { .dir = request->dir,
				      .keep_bytes = request->keep_bytes,
				      .keep_age_s = request->keep_age_s,
				      .min_free = request->min_free,
				      .print = true,
				      .quiet = request->quiet,
				      .verbose = request->verbose };
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct takeover takeover = { .lock = { .fd = -1 } };
	struct session *session;
	struct windows *windows;
	struct symsaver_counts counts;
	struct symsaver *saver;
	int status = 0;

	if (request->user)
		privileges_user(request->user, &uid, &gid);
	windows_prepare(request->dir, &uid, &gid);
	report_endless(request);
	options->replaced = request->replace ? &takeover.lock : NULL;
	options->until = &handover_ns;
	session = open_session(request, options, events);
	pjrecord_become(request, uid, gid);
	takeover_begin(&takeover, request);
	report_start(request, session, events);
	saver = pjrecord_start_saver(request, request->keep ? request->dir : NULL);
	session_fork(session);
	/* windows_open starts a thread, so all helper processes are forked before */
	windows = windows_open(&wo);
	session_output(session, windows, saver, -1);
	pjrecord_run(request, session, &takeover, command, &status);
	session_finish(session);
	takeover_release(&takeover);
	bool written = windows_close(windows);
	counts = stop_saver(saver);
	if (request->keep)
		report_saved(request, &counts);
	report_makers(session);
	report_waits(request, session);
	end_command(request, command, &status);
	status = end_status(request, session, written, status);
	session_free(session);
	return status;
}

/* Records into one file or a pipe. Returns the exit status of pjrecord. */
static int record_single(const struct request *request, struct session_options *options, struct events *events,
			 struct command *command)
{
	bool pipe = str_eq(str_of(request->output), STR("-"));
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct portable portable = { 0 };
	struct symsaver_counts counts;
	struct single single;
	struct session *session;
	struct symsaver *saver;
	int status = 0, error;
	bool ran, written = true;

	if (request->user)
		privileges_user(request->user, &uid, &gid);
	if (request->portable)
		portable_find(&portable);
	options->pipe = pipe;
	options->window_ns = 0;
	session = open_session(request, options, events);
	/* the file is created only now, so that a failure of the events leaves none */
	single_open(&single, pipe ? NULL : request->output);
	report_start(request, session, events);
	pjrecord_become(request, uid, gid);
	if (request->portable)
		portable_begin(&portable, &single, request->verbose);
	saver = pjrecord_start_saver(request, portable.symbols);
	session_fork(session);
	session_output(session, NULL, saver, single.fd);
	ran = pjrecord_run(request, session, NULL, command, &status);
	error = session_finish(session);
	counts = stop_saver(saver);
	if (request->portable)
		report_saved(request, &counts);
	if (request->portable && (!ran || error))
		portable_abandon(&portable);
	else if (request->portable)
		written = portable_pack(&portable);
	if (!ran) {
		single_abandon(&single);
		session_free(session);
		return status;
	}
	single_close(&single, error);
	report_end(request, session);
	report_makers(session);
	report_waits(request, session);
	end_command(request, command, &status);
	status = end_status(request, session, written, status);
	session_free(session);
	return status;
}

static uint32_t stack_bytes(const struct request *request)
{
	return request->unwind == UNWIND_BY_POINTERS ? 0 : (uint32_t)request->stack_bytes;
}

int main(int argc, char **argv)
{
	struct command command = { .go = -1 };
	struct events events = { 0 };
	struct request request;
	int status;

	diag_tool("pjrecord");
	record_parse(&request, argc, argv);
	request.parent = getppid();
	if (request.check) {
		struct hostcheck_options options = { .dir = request.dir,
						     .dir_unspecified = request.dir_unspecified,
						     .frequency = request.frequency,
						     .ring_bytes = request.ring_bytes,
						     .stack_bytes = stack_bytes(&request),
						     .both = request.unwind >= UNWIND_BY_BOTH,
						     .exactly = request.stack_given,
						     .min_free = request.min_free };

		fdmessage_prepare();
		status = hostcheck(&options) ? PJ_OK : PJ_FAILED;
		record_free(&request);
		return status;
	}
	leave_out_gone(&request);
	struct session_options o = {
		.target = target_of(&request),
		.pid = request.pid,
		.npids = request.npids,
		.cgroup = request.cgroup,
		.ncgroups = request.ncgroups,
		.parent = request.with_parent ? (uint32_t)request.parent : 0,
		.ring_bytes = request.ring_bytes,
		.idle = request.idle,
		.both = request.unwind >= UNWIND_BY_BOTH,
		.verify = request.unwind == UNWIND_VERIFIED,
		.interpreters = read_interpreters(&request),
		.shown = request.quiet ? 0 : SHOWN_DIFFERENT,
		.stack_bytes = stack_bytes(&request),
		.exactly = request.stack_given,
		.max_frames = (uint32_t)request.max_frames,
		.sample_bytes = request.tenant_bytes,
		.argv = request.cmdline ? request.argv : NULL,
		.window_ns = request.seconds * UINT64_C(1000000000),
		.align = request.align,
		.count = request.count,
	};
	uint32_t child = 0;
	if (request.command) {
		/* failures of pjrecord exit with 125, as those of timeout(1); other statuses are those of the
		 * command */
		diag_failure_is(125);
		command_fork(&command, request.command, request.output && str_eq(str_of(request.output), STR("-")));
		o.command = child = (uint32_t)command.pid;
	}
	fdmessage_prepare(); /* the command keeps its own limit */
	if (o.target == TARGET_COMMAND) {
		o.pid = &child;
		o.npids = 1;
	}
	pjrecord_catch_signals();
	status = request.output ? record_single(&request, &o, &events, &command) :
				  record_windows(&request, &o, &events, &command);
	events_free(&events);
	record_free(&request);
	return status;
}
