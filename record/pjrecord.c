/* SPDX-License-Identifier: Apache-2.0 */
/* pjrecord - sample what runs on this host into standard perf.data windows. */
#include "common/clocks.h"
#include "record/command.h"
#include "common/diag.h"
#include "record/perf/events.h"
#include "record/perf/hints.h"
#include "record/hostcheck.h"
#include "record/symsaver/symsaver.h"
#include "common/process/parent.h"
#include "record/perf/privileges.h"
#include "record/recordopts.h"
#include "common/process/sandbox.h"
#include "record/session.h"
#include "record/single.h"
#include "common/text.h"
#include "common/process/urgency.h"
#include "record/windows/windows.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AGAIN_MS 500      /* later it is another signal */
#define SAVER_MS 10000    /* what is in hand when the recording ends is finished */
#define SHOWN_DIFFERENT 3 /* stacks, of --unwind=verify */

static volatile sig_atomic_t stop_requested;

/* The first signal ends the window and the recording, a second one ends us. At once it is the same one: timeout(1)
 * sends to the process and to its group. */
static void pjrecord_on_signal(int sig)
{
	static uint64_t first;

	if (!stop_requested)
		first = clock_now_ms();
	stop_requested = 1;
	if (clock_now_ms() - first < AGAIN_MS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

/* nohup(1) stays in force; SIGINT is ignored by what scripts run beside them, which must be able to end it. */
static void pjrecord_catch_signals(void)
{
	struct sigaction a = { .sa_handler = pjrecord_on_signal }, hup;

	sigaddset(&a.sa_mask, SIGINT);
	sigaddset(&a.sa_mask, SIGTERM);
	sigaddset(&a.sa_mask, SIGHUP);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &a, NULL);
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static NORETURN void die_of(const struct sources_failure *why)
{
	struct text t = { 0 };
	struct hint h;

	hint_failure(&h, why);
	hint_text(&t, &h);
	die("%.*s", (int)t.n, t.p);
}

static void check_pids(const struct request *r)
{
	for (size_t i = 0; i < r->npids; i++)
		if (kill((pid_t)r->pid[i], 0) && errno == ESRCH)
			die("--pid=%u: there is no such process", r->pid[i]);
}

/* The last that changes who we are: what the kernel forgets then comes behind it. */
static void pjrecord_become(const struct request *r, uid_t uid, gid_t gid)
{
	if (r->unwind != UNWIND_BY_POINTERS)
		urgency_raise();
	privileges_drop(uid, gid);
	if (r->with_parent)
		parent_bind(r->parent);
}

static enum target target_of(const struct request *r)
{
	return r->command ? TARGET_COMMAND : r->npids ? TARGET_PROCESSES : r->ncgroups ? TARGET_CGROUPS : TARGET_HOST;
}

/* Processes are sampled on CPUs, with one descriptor for each, if that is allowed; else thread by thread. */
static struct session *open_session(const struct request *r, struct session_options *o, struct events *e)
{
	struct events_options eo = { r->frequency,
				     r->period,
				     o->target == TARGET_COMMAND || o->target == TARGET_THREADS,
				     o->target == TARGET_COMMAND,
				     r->idle,
				     r->ring_bytes ? r->ring_bytes : RING_MAX,
				     r->offcpu };
	struct sources_failure why;
	struct session *s;

	events_parse(e, r->events, &eo);
	o->event = e->event;
	o->nevents = e->n;
	o->tracing = text_view(&e->tracing);
	o->offcpu = e->offcpu;
	o->offcpu_least_ns = r->offcpu_least_us * 1000;
	s = session_new(o, &why);
	if (s)
		return s;
	if (o->target != TARGET_PROCESSES || (why.error != EACCES && why.error != EPERM))
		die_of(&why);
	events_free(e);
	o->target = TARGET_THREADS;
	return open_session(r, o, e);
}

/* Those who record for months are told when it begins, not when it ends. */
static void report_hidden_symbols(void)
{
	struct text t = { 0 };
	struct hint h = { 0 };

	hint_gather(&h.facts);
	if (hint_kallsyms(&h)) {
		hint_text(&t, &h);
		warn("the kernel's functions will have no names: %.*s", (int)t.n, t.p);
	}
	text_free(&t);
}

/* Whoever names a way other than auto wants no other. */
static void report_fallback(const struct request *r, const struct fallback *f)
{
	struct text t = { 0 };

	fallback_text(&t, f);
	if (t.n && r->unwind != UNWIND_BY_BOTH)
		die("%.*s", (int)t.n, t.p);
	if (t.n)
		warn("%.*s", (int)t.n, t.p);
	text_free(&t);
}

static void report_start(const struct request *r, const struct session *s, const struct events *e)
{
	struct session_totals t = session_totals(s);

	report_fallback(r, &t.fallback);

	if (e->by_clock && !r->quiet)
		warn("no hardware counters here: sampling by cpu-clock");
	if (t.without_kernel)
		warn("user space only: the kernel's part of stacks needs CAP_PERFMON, or kernel.perf_event_paranoid below 2");
	else
		report_hidden_symbols();
	if (t.no_cgroups && !r->quiet)
		warn("this kernel does not tell the cgroup of a sample: pjfold --by=container will not work on these files");
}

/* ---- the run ------------------------------------------------------------------------------------------------- */

/* Whoever is recorded has ended: nothing more will come. */
static bool targets_gone(const struct request *r)
{
	for (size_t i = 0; i < r->npids; i++)
		if (kill((pid_t)r->pid[i], 0) == 0 || errno == EPERM)
			return false;
	return r->npids;
}

/* False: there is nothing to record, the command could not be run. */
static bool pjrecord_run(const struct request *r, struct session *s, struct command *c, int *status)
{
	bool ended = false;

	session_start(s);
	if (r->command) {
		int error = command_exec(c);

		if (error) {
			warn("%s: %s", r->command[0], strerror(error));
			command_wait(c, status);
			return false;
		}
	}
	while (!ended && session_step(s, 500) && !stop_requested)
		ended = r->command ? command_ended(c, status) : targets_gone(r);
	if (r->command && !ended) /* a signal from the terminal is its, too */
		command_wait(c, status);
	return true;
}

static void report_end(const struct request *r, const struct session *s)
{
	struct session_totals t = session_totals(s);
	struct text text = { 0 };

	if (r->quiet || !r->output)
		return;
	metrics_summary(&text, &t.last);
	warn("%s: %.*s", str_eq(str_of(r->output), STR("-")) ? "standard output" : r->output, (int)text.n, text.p);
	if (t.loss.depth)
		warn("stacks are deeper than kernel.perf_event_max_stack=%u, and cut: sysctl kernel.perf_event_max_stack=%u first",
		     t.depth_limit, t.depth_limit < 512 ? 1024 : 2 * t.depth_limit);
	text_free(&text);
}

static bool lost_too_much(const struct request *r, const struct session *s)
{
	struct session_totals t = session_totals(s);
	uint64_t all = t.samples + t.loss.samples;
	uint64_t times = t.offcpu.blocked_ns + t.offcpu.preempted_ns + t.offcpu.brief_ns + t.offcpu.unknown_ns;
	double share = all ? (double)t.loss.samples / (double)all : 0;
	double unknown = times ? (double)t.offcpu.unknown_ns / (double)times : 0;

	if (r->max_lost < 0 || (share <= r->max_lost && unknown <= r->max_lost))
		return false;
	warn("%.2f %% of the %s, more than --max-lost=%g%%: try a larger --ring-size",
	     100 * (share > r->max_lost ? share : unknown),
	     share > r->max_lost ? "samples were lost" : "times off the CPU are not known", 100 * r->max_lost);
	return true;
}

static int end_status(const struct request *r, const struct session *s, bool written, int of_command)
{
	if (r->command && of_command)
		return of_command;
	if (!written)
		return r->command ? 125 : PJ_FAILED;
	return lost_too_much(r, s) ? PJ_THRESHOLD : of_command;
}

static void report_saved(const struct request *r, const struct symsaver_counts *c)
{
	struct text t = { 0 };

	symsaver_text(&t, c);
	if (t.n && !r->quiet)
		warn("kept for the fold: %.*s", (int)t.n, t.p);
	text_free(&t);
}

/* The process that opens files of those who are profiled. dir: where it keeps symbols; NULL: it finds build-ids only.
 */
static struct symsaver *pjrecord_start_saver(const struct request *r, const char *dir)
{
	struct symsaver_options o = {
		.dir = dir, .all = r->keep_all, .max_bytes = r->keep_symbols, .min_free = r->min_free
	};
	const char *why = NULL;
	struct symsaver *k;

	sandbox_watch();
	k = symsaver_start(&o, &why);
	if (!k && dir) {
		warn("%s: symbols will not be kept: %s", dir, why);
		return pjrecord_start_saver(r, NULL);
	}
	if (!k)
		warn("mappings will have no build-ids: %s", why);
	return k;
}

static struct symsaver_counts stop_saver(struct symsaver *k)
{
	return k ? symsaver_stop(k, SAVER_MS) : (struct symsaver_counts){ 0 };
}

static void report_makers(const struct session *s)
{
	struct session_totals t = session_totals(s);

	if (t.helpers.hung + t.helpers.crashed)
		warn("the process that reads tables for --unwind hung or crashed, and was replaced (%llu): "
		     "stacks through the files that it was at may be broken",
		     (unsigned long long)(t.helpers.hung + t.helpers.crashed));
}

/* Windows in a directory. */
static int record_windows(const struct request *r, struct session_options *o, struct events *e, struct command *c)
{
	struct windows_options wo = { .dir = r->dir,
				      .keep_bytes = r->keep_bytes,
				      .keep_age_s = r->keep_age_s,
				      .min_free = r->min_free,
				      .print = true,
				      .quiet = r->quiet };
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct session *s;
	struct windows *w;
	struct symsaver_counts counts;
	struct symsaver *k;
	int status = 0;

	if (r->user)
		privileges_user(r->user, &uid, &gid);
	windows_prepare(r->dir, &uid, &gid);
	s = open_session(r, o, e);
	report_start(r, s, e);
	pjrecord_become(r, uid, gid);
	k = pjrecord_start_saver(r, r->keep ? r->dir : NULL);
	session_fork(s);
	w = windows_open(&wo); /* starts a thread, so all helper processes are forked before it */
	session_output(s, w, k, -1);
	pjrecord_run(r, s, c, &status);
	session_finish(s);
	bool written = windows_close(w);
	counts = stop_saver(k);
	if (r->keep)
		report_saved(r, &counts);
	report_makers(s);
	status = end_status(r, s, written, status);
	session_free(s);
	return status;
}

/* One file, or a pipe. */
static int record_single(const struct request *r, struct session_options *o, struct events *e, struct command *c)
{
	bool pipe = str_eq(str_of(r->output), STR("-"));
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct single single;
	struct session *s;
	struct symsaver *k;
	int status = 0, error;
	bool ran;

	if (r->user)
		privileges_user(r->user, &uid, &gid);
	o->pipe = pipe;
	o->window_ns = 0;
	s = open_session(r, o, e);
	single_open(&single, pipe ? NULL : r->output); /* not before: what fails leaves no file */
	report_start(r, s, e);
	pjrecord_become(r, uid, gid);
	k = pjrecord_start_saver(r, NULL);
	session_fork(s);
	session_output(s, NULL, k, single.fd);
	ran = pjrecord_run(r, s, c, &status);
	error = session_finish(s);
	stop_saver(k);
	if (!ran) {
		single_abandon(&single);
		session_free(s);
		return status;
	}
	single_close(&single, error);
	report_end(r, s);
	report_makers(s);
	status = end_status(r, s, true, status);
	session_free(s);
	return status;
}

static uint32_t stack_bytes(const struct request *r)
{
	return r->unwind == UNWIND_BY_POINTERS ? 0 : (uint32_t)r->stack_bytes;
}

int main(int argc, char **argv)
{
	struct command c = { .go = -1 };
	struct events e = { 0 };
	struct request r;
	int status;

	diag_tool("pjrecord");
	record_parse(&r, argc, argv);
	r.parent = getppid();
	if (r.check) {
		struct hostcheck_options o = { .dir = r.dir,
					       .frequency = r.frequency,
					       .ring_bytes = r.ring_bytes,
					       .stack_bytes = stack_bytes(&r),
					       .both = r.unwind >= UNWIND_BY_BOTH,
					       .exactly = r.stack_given,
					       .min_free = r.min_free };

		status = hostcheck(&o) ? PJ_OK : PJ_FAILED;
		record_free(&r);
		return status;
	}
	struct session_options o = {
		.target = target_of(&r),
		.pid = r.pid,
		.npids = r.npids,
		.cgroup = r.cgroup,
		.ncgroups = r.ncgroups,
		.ring_bytes = r.ring_bytes,
		.idle = r.idle,
		.both = r.unwind >= UNWIND_BY_BOTH,
		.verify = r.unwind == UNWIND_VERIFIED,
		.shown = r.quiet ? 0 : SHOWN_DIFFERENT,
		.stack_bytes = stack_bytes(&r),
		.exactly = r.stack_given,
		.max_frames = (uint32_t)r.max_frames,
		.sample_bytes = r.tenant_bytes,
		.argv = r.cmdline ? r.argv : NULL,
		.window_ns = r.seconds * UINT64_C(1000000000),
		.align = r.align,
		.count = r.count,
	};
	uint32_t child;
	if (r.command) {
		diag_failure_is(125); /* as timeout(1) does: the others are the command's */
		command_fork(&c, r.command, r.output && str_eq(str_of(r.output), STR("-")));
		child = (uint32_t)c.pid;
		o.pid = &child;
		o.npids = 1;
	}
	check_pids(&r);
	pjrecord_catch_signals();
	status = r.output ? record_single(&r, &o, &e, &c) : record_windows(&r, &o, &e, &c);
	events_free(&e);
	record_free(&r);
	return status;
}
