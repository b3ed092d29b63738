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
#include "record/recordreport.h"
#include "common/process/sandbox.h"
#include "common/process/taskid.h"
#include "record/session/session.h"
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

/* minimum time in ms between the first signal and a further one that is handled as a second signal */
#define AGAIN_MS 500
/* maximum time in ms for the symbol saver to finish its work at the end; then it is killed */
#define SAVER_MS 10000
/* maximum difference in ns between now and the time at which another recorder's signal requests the end; a signal with
 * another time is no such request */
#define HANDOVER_MOST (60 * SECOND_NS)
#define SHOWN_DIFFERENT 3 /* maximum number of differing stacks that --unwind=verify prints */

static volatile sig_atomic_t stop_requested;

/* True: another process ended the recording by a signal, which ends the command, too, as with perf record. A signal of
 * the terminal reaches the command itself. */
static volatile sig_atomic_t terminate_command;

/* True: the parent process is a shell that passes the signals of its terminal on (--foreground). */
static volatile sig_atomic_t is_passed_on;

/* Time in ns of CLOCK_MONOTONIC at which the recorder that replaces this one begins; 0: no recorder replaces it. */
static volatile _Atomic uint64_t handover_ns;

/* Returns true if the signal is a request of another pjrecord to end (recorderlock.h), and stores the time at which to
 * end in handover_ns. Returns false for a second request, too. */
static bool is_handover(const siginfo_t *info)
{
	uint64_t end = (uintptr_t)info->si_value.sival_ptr, now = clock_now();

	if (info->si_code != SI_QUEUE || end < now - HANDOVER_MOST || end > now + HANDOVER_MOST || handover_ns)
		return false;
	handover_ns = end;
	return true;
}

/* Handles a signal: the first one ends the window and the recording, a second one kills the recorder. Further signals
 * within AGAIN_MS of the first one are ignored, because timeout(1) signals both the process and its group. If the
 * terminal sent the first signal, and the parent passes the signals of its terminal on (--foreground), one signal of
 * the parent is ignored at any time. */
static void pjrecord_on_signal(int sig, siginfo_t *info, void *context)
{
	static uint64_t first;
	static bool by_terminal;

	(void)context;
	if (sig == SIGTERM && is_handover(info))
		return;
	if (!stop_requested) {
		first = clock_now_ms();
		terminate_command = info->si_code <= 0;
		by_terminal = !terminate_command;
	} else if (by_terminal && is_passed_on && info->si_code <= 0 && info->si_pid == getppid()) {
		by_terminal = false;
		return;
	}
	stop_requested = 1;
	if (clock_now_ms() - first < AGAIN_MS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Installs the signal handlers. An ignored SIGHUP remains ignored, so that nohup(1) works. An ignored SIGINT is caught
 * all the same: shell scripts ignore it for background processes, but must be able to end the recorder with it. */
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

/* ---- start of a recording --------------------------------------------------------------------------------------- */

static NORETURN void die_of(const struct sources_failure *why)
{
	struct text text = { 0 };
	struct hint hint;

	hint_failure(&hint, why);
	hint_text(&text, &hint);
	die("%.*s", (int)text.n, text.p);
}

/* Removes from the request the processes that have ended: a list of several processes, such as those of a container,
 * may be old when pjrecord starts. Exits with a message if all have ended. */
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

/* Warns if --interpreters=all has only the effect of `on`, as the recorder is not root after privileges were
 * dropped. */
static void warn_not_root(const struct request *request)
{
	if (request->interpreters == INTERPRETERS_ALL && privileges_realtime() == 0 &&
	    taskid_reader() != TASKID_FOR_ROOT)
		warn("--interpreters=all acts as on: processes that changed their user are read for root alone");
}

/* Returns true if the recording reads interpreters: that needs stack copies, which the host may refuse (fallback.h). */
static bool reads_interpreters(const struct session_options *options, const struct session *session)
{
	return options->interpreters && session_totals(session).fallback.bytes;
}

/* Raises the priority, drops privileges, and binds the recorder to its parent, in this order: the kernel resets the
 * parent-death signal when credentials change. realtime: keeps the right to real-time priority. */
static void pjrecord_become(const struct request *request, bool realtime, uid_t uid, gid_t gid)
{
	if (request->unwind != UNWIND_BY_POINTERS)
		urgency_raise();
	if (realtime)
		privileges_keep_realtime();
	privileges_drop(uid, gid);
	warn_not_root(request);
	if (request->with_parent)
		parent_bind(request->parent);
}

/* Returns true if no interpreters are read, whatever the recorder's rights: because --unwind excludes them or, with
 * AUTO, because the processor is not x86-64. */
static bool excludes_interpreters(const struct request *request)
{
#if !defined(__x86_64__)
	if (request->interpreters == INTERPRETERS_AUTO)
		return true;
#endif
	return request->unwind == UNWIND_BY_POINTERS || request->unwind == UNWIND_VERIFIED;
}

/* Handles the missing right to real-time priority, for the reason `error`. If the user requests interpreters, warns
 * that the option has no effect, even with --quiet (which pjflame and pjprofile pass): --quiet omits the summary, not
 * such warnings. With AUTO the right is optional: appends a message to *unread, as a string, which the recording prints
 * if it samples an interpreter. --quiet omits it, but not for root: root has the right unless a container, unit or
 * kernel removed it, and the advice of pjfold's sentence, to record as root, does not help then. */
static void lack_realtime(const struct request *request, int error, struct text *unread)
{
	struct hint hint = { .step = HINT_REALTIME, .error = error };
	struct text text = { 0 };

	hint_gather(&hint.facts);
	hint_text(&text, &hint);
	if (request->interpreters != INTERPRETERS_AUTO) {
		warn("--interpreters=%s has no effect: %.*s", request->interpreters == INTERPRETERS_ALL ? "all" : "on",
		     (int)text.n, text.p);
	} else if (!request->quiet || geteuid() == 0) {
		text_printf(unread, "functions of Python, node, Ruby, PHP and Perl are not shown: %.*s", (int)text.n,
			    text.p);
		text_char(unread, 0);
	}
	text_free(&text);
}

/* Returns the processes whose interpreters are read: OFF, ON or ALL. If the necessary right is missing, calls
 * lack_realtime and returns OFF. */
static enum interpreters_choice read_interpreters(const struct request *request, struct text *unread)
{
	bool automatic = request->interpreters == INTERPRETERS_AUTO;
	int error;

	if (!request->interpreters)
		return INTERPRETERS_OFF;
	if (excludes_interpreters(request)) {
		if (!automatic)
			warn("--interpreters has no effect with --unwind=%s: leave that out",
			     request->unwind == UNWIND_BY_POINTERS ? "fp" : "verify");
		return INTERPRETERS_OFF;
	}
	error = privileges_realtime();
	if (error) {
		lack_realtime(request, error, unread);
		return INTERPRETERS_OFF;
	}
	return automatic ? INTERPRETERS_ON : request->interpreters;
}

static enum target target_of(const struct request *request)
{
	return request->npids    ? TARGET_PROCESSES :
	       request->ncgroups ? TARGET_CGROUPS :
	       request->host     ? TARGET_HOST :
	       request->command  ? TARGET_COMMAND :
				   TARGET_HOST;
}

/* If an event is a uprobe, makes it the subject of the hint about missing rights, because a uprobe needs more rights
 * than the event that failed first. Changes *why only if the failure is EACCES of an open. */
static void blame_uprobe(struct sources_failure *why, const struct events *events)
{
	for (size_t i = 0; i < events->n && why->step == SOURCES_OPEN && why->error == EACCES; i++)
		if (events->event[i].attr.type >= PERF_TYPE_MAX)
			why->attr = events->event[i].attr;
}

/* Opens the events and the session. With -p, tries CPU-wide events first, which need one descriptor for each CPU. If
 * the permission for CPU-wide events is missing, opens events for each thread. Exits with a hint if that fails, too. */
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
				     request->ncgroups > 0,
				     options->stack_bytes && !options->verify,
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

/* ---- recording and its end -------------------------------------------------------------------------------------- */

/* Returns true if all processes of -p have ended, so that no further samples come. Returns false without -p. */
static bool targets_gone(const struct request *request)
{
	for (size_t i = 0; i < request->npids; i++)
		if (kill((pid_t)request->pid[i], 0) == 0 || errno == EPERM)
			return false;
	return request->npids;
}

/* Waits for the end of a command that still runs, and ends it if terminate_command is true. If the command is not the
 * target, but only determines the length of the recording, ends the command first, and sets *status to 0. Must be
 * called after the recording is written: unread events would be counted as lost. */
static void end_command(const struct request *request, struct command *command, int *status)
{
	bool is_timer = target_of(request) != TARGET_COMMAND;

	if (!request->command || command->ended)
		return;
	if (is_timer)
		terminate_command = 1;
	command_wait(command, &terminate_command, status);
	if (is_timer)
		*status = 0;
}

/* Returns the maximum time in ms for the next step of the recording, at most 500, so that the recording is not longer
 * than --seconds; 0: the recording must end. start_ms: its start, in ms of clock_now_ms(). */
static int step_ms(const struct request *request, uint64_t start_ms)
{
	uint64_t end = start_ms + request->length_ns / 1000000, now = clock_now_ms();

	return !request->length_ns || end > now + 500 ? 500 : end > now ? (int)(end - now) : 0;
}

/* Records until a signal, the last window, the end of the targets, or the end of --seconds. takeover: lock of the
 * directory of windows; NULL: a single file is written. Sets *status to the exit status of the command. Returns false
 * if the command could not be executed, so that nothing was recorded. */
static bool pjrecord_run(const struct request *request, struct session *session, struct takeover *takeover,
			 struct command *command, int *status)
{
	bool ended = false;
	uint64_t start;
	int ms;

	session_start(session);
	/* --seconds begins with the first sample, so the time is taken after session_start, which took over 1 s on a
	 * busy host */
	start = clock_now_ms();
	if (request->command) {
		int error = command_exec(command);

		if (error) {
			recordreport_exec(request->command[0], error);
			command_wait(command, &terminate_command, status);
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

static int end_status(const struct request *request, const struct session *session, bool written, int of_command)
{
	if (request->command && of_command)
		return of_command;
	if (!written)
		return request->command ? 125 : PJ_FAILED;
	return recordreport_loss(request, session) ? PJ_THRESHOLD : of_command;
}

/* Starts the symbol saver, the helper process that opens files of target processes. dir: directory of the symbol store.
 * If it is NULL, or the store cannot be used, the symbol saver only finds build-ids. Prints a warning and returns NULL
 * if the symbol saver cannot be started. */
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
	recordreport_endless(request);
	options->replaced = request->replace ? &takeover.lock : NULL;
	options->until = &handover_ns;
	session = open_session(request, options, events);
	pjrecord_become(request, reads_interpreters(options, session), uid, gid);
	takeover_begin(&takeover, request);
	recordreport_start(request, session, events);
	saver = pjrecord_start_saver(request, request->keep ? request->dir : NULL);
	session_fork(session);
	/* windows_open starts a thread, so all helper processes must have been forked before */
	windows = windows_open(&wo);
	session_output(session, windows, saver, -1);
	pjrecord_run(request, session, &takeover, command, &status);
	session_finish(session);
	takeover_release(&takeover);
	bool written = windows_close(windows);
	counts = stop_saver(saver);
	if (request->keep)
		recordreport_saved(request, &counts);
	recordreport_makers(session);
	recordreport_waits(request, session);
	end_command(request, command, &status);
	status = end_status(request, session, written, status);
	session_free(session);
	return status;
}

/* Records into one file, or into a pipe. Returns the exit status of pjrecord. */
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
	/* The file is created only after the events were opened, so that no file remains if opening the events
	 * fails. */
	sandbox_watch();
	single_open(&single, pipe ? NULL : request->output);
	single.temporary = request->with_parent;
	recordreport_start(request, session, events);
	pjrecord_become(request, reads_interpreters(options, session), uid, gid);
	if (request->portable)
		portable_begin(&portable, &single, request->verbose);
	saver = pjrecord_start_saver(request, portable.symbols);
	session_fork(session);
	session_output(session, NULL, saver, single.fd);
	ran = pjrecord_run(request, session, NULL, command, &status);
	error = session_finish(session);
	counts = stop_saver(saver);
	if (!error)
		single_expect(&single);
	if (request->portable)
		recordreport_saved(request, &counts);
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
	recordreport_end(request, session);
	recordreport_makers(session);
	recordreport_waits(request, session);
	end_command(request, command, &status);
	status = end_status(request, session, written, status);
	session_free(session);
	return status;
}

static uint32_t stack_bytes(const struct request *request)
{
	return request->unwind == UNWIND_BY_POINTERS ? 0 : (uint32_t)request->stack_bytes;
}

/* Performs --check. Returns the exit status of pjrecord. */
static int check_host(const struct request *request)
{
	struct hostcheck_options options = { .dir = request->dir,
					     .dir_unspecified = request->dir_unspecified,
					     .frequency = request->frequency,
					     .ring_bytes = request->ring_bytes,
					     .stack_bytes = stack_bytes(request),
					     .both = request->unwind >= UNWIND_BY_BOTH,
					     .exactly = request->stack_given,
					     .min_free = request->min_free };

	fdmessage_prepare();
	return hostcheck(&options) ? PJ_OK : PJ_FAILED;
}

/* Returns the options of the session that the command line requests, except for the pid of the command, which is set
 * later. *unread: gets the message session_options.unread, if there is one, and must outlive the session. */
static struct session_options session_of(const struct request *request, struct text *unread)
{
	enum interpreters_choice interpreters = read_interpreters(request, unread);

	return (struct session_options){
		.target = target_of(request),
		.pid = request->pid,
		.npids = request->npids,
		.cgroup = request->cgroup,
		.ncgroups = request->ncgroups,
		.parent = request->with_parent ? (uint32_t)request->parent : 0,
		.ring_bytes = request->ring_bytes,
		.idle = request->idle,
		.both = request->unwind >= UNWIND_BY_BOTH,
		.verify = request->unwind == UNWIND_VERIFIED,
		.interpreters = interpreters,
		.unread = unread->n ? unread->p : NULL,
		.shown = request->quiet ? 0 : SHOWN_DIFFERENT,
		.stack_bytes = stack_bytes(request),
		.exactly = request->stack_given,
		.max_frames = (uint32_t)request->max_frames,
		.sample_bytes = request->tenant_bytes,
		.argv = request->cmdline ? request->argv : NULL,
		.window_ns = request->seconds * UINT64_C(1000000000),
		.align = request->align,
		.count = request->count,
	};
}

int main(int argc, char **argv)
{
	struct command command = { .go = -1 };
	struct session_options session;
	struct events events = { 0 };
	struct text unread = { 0 };
	struct request request;
	uint32_t child = 0;
	int status;

	diag_tool("pjrecord");
	signal(SIGCHLD, SIG_DFL); /* if it was ignored when pjrecord started, waitpid would find no exit status */
	record_parse(&request, argc, argv);
	request.parent = getppid();
	if (request.check) {
		status = check_host(&request);
		record_free(&request);
		return status;
	}
	leave_out_gone(&request);
	session = session_of(&request, &unread);
	if (request.command) {
		/* As with timeout(1), pjrecord exits with 125 if it fails itself; other exit statuses come from the
		 * command. */
		diag_failure_is(125);
		command_fork(&command, request.command, request.output && str_eq(str_of(request.output), STR("-")),
			     request.foreground);
		session.command = child = (uint32_t)command.pid;
	}
	fdmessage_prepare(); /* after the fork, so that the command keeps its own limit of descriptors */
	if (session.target == TARGET_COMMAND) {
		session.pid = &child;
		session.npids = 1;
	}
	is_passed_on = request.foreground;
	pjrecord_catch_signals();
	status = request.output ? record_single(&request, &session, &events, &command) :
				  record_windows(&request, &session, &events, &command);
	events_free(&events);
	record_free(&request);
	text_free(&unread);
	return status;
}
