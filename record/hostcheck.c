/* SPDX-License-Identifier: Apache-2.0 */
#include "record/hostcheck.h"

#include "common/arena.h"
#include "common/diag.h"
#include "record/checkreport.h"
#include "record/installcheck.h"
#include "record/perf/events.h"
#include "record/perf/hints.h"
#include "record/processes/host.h"
#include "record/windows/retention.h"
#include "record/perf/privileges.h"
#include "record/runtimes.h"
#include "record/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SERVER_STACK 512   /* usual depth in frames of the stacks of Java servers */
#define SAMPLE_BYTES 150   /* average size in bytes of a sample with frame-pointer unwinding, measured */
#define COMPLETE_BYTES 250 /* average size in bytes of a sample with a complete stack, unwound by tables */
#define SHOWN 20

struct check {
	const struct hostcheck_options *o;
	struct hint_facts facts;
	struct events events;
	/* all: true: the whole host can be recorded. own: true: only own processes can be recorded. kernel: true:
	 * kernel stacks can be recorded. */
	bool all, own, kernel;
	uint32_t copies;   /* size in bytes of a sample's stack copy; 0: frame-pointer unwinding */
	bool interpreters; /* true: functions of interpreters can be read */
};

/* ---- output of lines -------------------------------------------------------------------------------------------- */

static void hint_line(enum verdict verdict, const char *what, const struct hint *hint)
{
	struct text text = { 0 };

	hint_text(&text, hint);
	checkreport_text(verdict, what, &text);
	text_free(&text);
}

/* ---- opening of events ------------------------------------------------------------------------------------------ */

static int hostcheck_open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct events_options events_options(const struct check *check)
{
	return (struct events_options){ .frequency = check->o->frequency };
}

/* Prints how stacks are unwound; if the requested unwinding is not possible, also the reason. Sets check->copies. */
static void check_callers(struct check *check, const struct fallback *fallback)
{
	struct text text = { 0 };

	check->copies = fallback->bytes;
	if (fallback->by != FALLBACK_NONE) {
		fallback_text(&text, fallback);
		checkreport_text(CHECK_LIMITED, "callers", &text);
	} else if (fallback->bytes) {
		checkreport_line(CHECK_OK, "callers", "by unwind tables%s, in copies of %u kB of each stack",
				 check->o->both ? " and frame pointers" : "", fallback->bytes / 1024);
	} else {
		checkreport_line(CHECK_OK, "callers", "by frame pointers (--unwind=fp)");
	}
	text_free(&text);
}

static void check_rings(const struct session *session)
{
	struct session_totals totals = session_totals(session);
	struct text size = { 0 };

	metrics_bytes(&size, totals.ring_bytes);
	checkreport_line(CHECK_OK, "rings", "%.*s of memory for %zu CPUs", (int)size.n, size.p, totals.cpus);
	text_free(&size);
}

static struct session_options hostcheck_session(struct check *check, enum target target)
{
	return (struct session_options){ .target = target,
					 .event = check->events.event,
					 .nevents = check->events.n,
					 .ring_bytes = check->o->ring_bytes,
					 .stack_bytes = check->o->stack_bytes,
					 .both = check->o->both,
					 .exactly = check->o->exactly };
}

/* Opens a session that records this process, as a recording of any process of the user does. Prints if and how the user
 * can record own processes. To be called if system-wide recording is not possible. Sets check->own and
 * check->kernel. */
static void check_own(struct check *check)
{
	struct session_options options = hostcheck_session(check, TARGET_THREADS);
	struct sources_failure why = { 0 };
	uint32_t self = (uint32_t)getpid();
	struct session *session;

	options.pid = &self;
	options.npids = 1;
	session = session_new(&options, &why);
	check->own = session;
	if (!session) {
		struct hint hint;

		hint_failure(&hint, &why);
		hint_line(CHECK_NO, "own processes", &hint);
		return;
	}
	struct session_totals totals = session_totals(session);
	check->kernel = !totals.without_kernel;
	checkreport_line(check->kernel ? CHECK_OK : CHECK_LIMITED, "own processes",
			 "pjrecord -p PID and pjrecord -- COMMAND will work%s",
			 check->kernel ? "" : ", without kernel stacks, which need kernel.perf_event_paranoid below 2");
	check_callers(check, &totals.fallback);
	check_rings(session);
	session_free(session);
}

/* Prints, without a remedy, that a feature needs the rights for the whole system: recordings of own processes do not
 * need it. */
static void hostcheck_more(const char *what)
{
	checkreport_line(CHECK_LIMITED, what, "not with the rights for own processes; those for the whole system help");
}

/* Opens a session as a system-wide recording does, with all its events and rings on all CPUs. Prints which of these the
 * host allows. Sets check->all and check->kernel. */
static void check_system(struct check *check)
{
	struct session_options options = hostcheck_session(check, TARGET_HOST);
	struct sources_failure why = { 0 };
	struct session *session = session_new(&options, &why);

	check->all = session;
	if (!session) {
		struct hint hint;

		hint_failure(&hint, &why);
		hint_line(CHECK_NO, "whole system", &hint);
		check_own(check);
		return;
	}
	check->kernel = !session_totals(session).without_kernel;
	checkreport_line(
		check->kernel ? CHECK_OK : CHECK_LIMITED, "whole system", "all threads on %zu CPUs%s",
		session_totals(session).cpus,
		check->kernel ?
			", with kernel stacks" :
			", without kernel stacks, which need CAP_PERFMON, or kernel.perf_event_paranoid below 2");
	struct session_totals totals = session_totals(session);
	check_callers(check, &totals.fallback);
	check_rings(session);
	if (session_totals(session).no_cgroups)
		checkreport_line(
			CHECK_LIMITED, "cgroups",
			"this kernel has no cgroups in samples (before 5.7, or without CONFIG_CGROUP_PERF): pjfold "
			"--by=container knows only processes that run at the start");
	else
		checkreport_line(CHECK_OK, "cgroups", "samples have their cgroup, version %d",
				 check->facts.cgroup2 ? 2 : 1);
	session_free(session);
}

static void check_counters(const struct check *check)
{
	if (check->events.by_clock)
		checkreport_line(
			CHECK_LIMITED, "event",
			"cpu-clock, without hardware counters: code that runs with interrupts off is sampled when "
			"they are on again");
	else
		checkreport_line(CHECK_OK, "event", "%s", check->events.event[0].name);
}

static void check_rate(const struct check *check)
{
	int64_t max = check->facts.max_sample_rate;

	if (max > 0 && check->o->frequency > (uint64_t)max)
		checkreport_line(CHECK_NO, "rate",
				 "%" PRIu64 " Hz are more than %" PRId64
				 ": sudo sysctl kernel.perf_event_max_sample_rate=%" PRIu64,
				 check->o->frequency, max, check->o->frequency);
	else if (max > 0)
		checkreport_line(CHECK_OK, "rate",
				 "%" PRIu64 " Hz of at most %" PRId64 " (kernel.perf_event_max_sample_rate)",
				 check->o->frequency, max);
}

static void check_depth(const struct check *check)
{
	unsigned max = host_max_stack();

	/* the limit applies only to callchains from the kernel, not to stacks that pjrecord unwinds */
	if (!max || check->copies)
		return;
	if (max < SERVER_STACK)
		checkreport_line(CHECK_LIMITED, "stacks",
				 "of up to %u frames; deeper ones, as of Java servers, are truncated: while nothing "
				 "records: sudo sysctl kernel.perf_event_max_stack=1024",
				 max);
	else
		checkreport_line(CHECK_OK, "stacks", "of up to %u frames (kernel.perf_event_max_stack)", max);
}

static void check_descriptors(const struct check *check)
{
	uint64_t needed = 2 * (uint64_t)check->facts.cpus + 64;
	struct hint hint = { .step = HINT_FILES, .error = EMFILE, .needed = needed, .facts = check->facts };

	if (check->facts.files_hard >= 0 && needed > (uint64_t)check->facts.files_hard)
		hint_line(check->all || check->own ? CHECK_LIMITED : CHECK_NO, "descriptors", &hint);
	else
		checkreport_line(CHECK_OK, "descriptors", "%" PRIu64 " are needed, of %" PRId64, needed,
				 check->facts.files_hard);
}

/* ---- names of kernel functions ---------------------------------------------------------------------------------- */

static void check_kallsyms(const struct check *check)
{
	struct hint hint = { .facts = check->facts };

	if (check->own && !check->kernel)
		checkreport_line(CHECK_OK, "kernel symbols", "are not needed without kernel stacks");
	else if (hint_kallsyms(&hint))
		hint_line(CHECK_LIMITED, "kernel symbols", &hint);
	else
		checkreport_line(CHECK_OK, "kernel symbols", "can be read");
}

/* ---- tracepoints --------------------------------------------------------------------------------------------- */

static bool tracepoint_id(uint64_t *id)
{
	static const char *const path[] = { "/sys/kernel/tracing/events/sched/sched_switch/id",
					    "/sys/kernel/debug/tracing/events/sched/sched_switch/id" };
	int error = ENOENT;

	for (size_t i = 0; i < countof(path); i++) {
		int fd = open(path[i], O_RDONLY | O_CLOEXEC);
		char buf[32];
		ssize_t got = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

		if (fd < 0 && errno != ENOENT)
			error = errno;
		if (fd >= 0)
			close(fd);
		if (got > 0 &&
		    str_u64(str_trim(str_head((struct str){ buf, (size_t)got }, (size_t)got - (buf[got - 1] == '\n'))),
			    id))
			return true;
	}
	errno = error;
	return false;
}

static void check_tracepoints(const struct check *check)
{
	struct hint hint = {
		.step = HINT_TRACEFS, .name = "sched:sched_switch", .cpu_wide = true, .facts = check->facts
	};
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.size = sizeof(attr),
					.sample_period = 1,
					.disabled = 1,
					.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME };
	uint64_t id;
	int fd;

	if (check->own) {
		hostcheck_more("tracepoints");
		return;
	}
	if (!tracepoint_id(&id)) {
		hint.error = errno;
		hint_line(CHECK_LIMITED, "tracepoints", &hint);
		return;
	}
	attr.config = id;
	fd = hostcheck_open_event(&attr, -1, 0);
	if (fd < 0) {
		hint.step = HINT_OPEN;
		hint.error = errno;
		hint.attr = &attr;
		hint_line(CHECK_LIMITED, "tracepoints", &hint);
		return;
	}
	close(fd);
	checkreport_line(CHECK_OK, "tracepoints", "sched:sched_switch can be recorded");
}

/* ---- interpreters -------------------------------------------------------------------------------------------- */

static void check_interpreters(struct check *check)
{
#if !defined(__x86_64__)
	(void)check;
	checkreport_line(CHECK_LIMITED, "interpreters",
			 "functions of Python, node, Ruby, PHP and Perl can be shown on x86-64 only");
#else
	struct hint hint = { .step = HINT_REALTIME, .error = privileges_realtime(), .facts = check->facts };
	struct text text = { 0 };

	if (hint.error == 0) {
		hint.step = HINT_MEMORY;
		hint.error = privileges_memory();
	}
	check->interpreters = hint.error == 0;
	if (check->interpreters) {
		checkreport_line(CHECK_OK, "interpreters", "functions of Python, node, Ruby, PHP and Perl are shown");
	} else {
		text_add(&text, "functions of Python, node, Ruby, PHP and Perl are not shown: ");
		hint_text(&text, &hint);
		checkreport_text(CHECK_LIMITED, "interpreters", &text);
	}
	text_free(&text);
#endif
}

/* ---- off-CPU times ------------------------------------------------------------------------------------------- */

static void check_waits(const struct check *check)
{
	struct hint hint = { .step = HINT_MEMORY, .facts = check->facts };
	struct text text = { 0 };

	bool more = check->own && !check->kernel;

	if (more)
		hostcheck_more("off-CPU times");
	if (more || !check->copies)
		return;
	hint.error = privileges_memory();
	if (hint.error == 0) {
		checkreport_line(CHECK_OK, "off-CPU times", "with complete stacks, with --off-cpu");
	} else {
		text_add(&text, "callers of waits are found by frame pointers only: ");
		hint_text(&text, &hint);
		checkreport_text(CHECK_LIMITED, "off-CPU times", &text);
	}
	text_free(&text);
}

/* ---- rights and disk -------------------------------------------------------------------------------------------- */

static void check_place(const struct check *check)
{
	const struct hint_facts *facts = &check->facts;
	struct text text = { 0 };

	text_add(&text, facts->container == 1 ? "in a container" : "on the host");
	if (facts->pid_ns == 1)
		text_add(&text, ", in a PID namespace: processes beyond it have no names (hostPID: true, --pid=host)");
	if (facts->user_ns == 1)
		text_add(&text, ", in a user namespace: its capabilities do not count");
	if (facts->lockdown == 2)
		text_add(&text, ", and the kernel is locked down (confidentiality): no tracepoints");
	text_printf(&text, "; user %lu, with ", (unsigned long)facts->uid);
	privileges_text(&text);
	checkreport_text(facts->pid_ns == 1 || facts->user_ns == 1 || facts->lockdown == 2 ? CHECK_LIMITED : CHECK_OK,
			 "place", &text);
	text_free(&text);
}

static bool check_disk(const struct check *check)
{
	const char *dir = check->o->dir;
	struct windir windir = { .dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	uint64_t all = 0, left, day = 86400 * check->o->frequency * (uint64_t)check->facts.cpus;
	struct text text = { 0 };
	enum verdict verdict = CHECK_OK;

	if (windir.dir < 0) {
		checkreport_line(CHECK_NO, "disk", "cannot open '%s': %s: %s", dir, strerror(errno),
				 errno == EACCES ? "run this check as root" :
						   "make it (pj.tmpfiles makes /var/lib/pj), or choose another --dir");
		return false;
	}
	left = retention_free(&windir, &all);
	day *= check->copies ? COMPLETE_BYTES : SAMPLE_BYTES;
	metrics_bytes(&text, left);
	text_add(&text, " of ");
	metrics_bytes(&text, all);
	text_printf(&text, " are free in '%s'; ", dir);
	metrics_bytes(&text, day);
	text_add(&text, " a day if all CPUs are always busy");
	if ((double)left < check->o->min_free * (double)all) {
		verdict = CHECK_LIMITED;
		text_printf(&text, "; this is below --min-free %.0f%%, so only the newest window would be kept",
			    100 * check->o->min_free);
	}
	/* Checks with the effective ids. Without CAP_DAC_OVERRIDE, root can write only to a directory that it owns or
	 * that others may write to. So the remedy is to make the recording user the owner. */
	if (faccessat(windir.dir, ".", W_OK, AT_EACCESS) < 0) {
		verdict = CHECK_NO;
		text_printf(&text, "; but there is no permission to write: %s: sudo chown %lu '%s'", strerror(errno),
			    (unsigned long)check->facts.uid, dir);
	}
	checkreport_text(verdict, "disk", &text);
	text_free(&text);
	close(windir.dir);
	return verdict != CHECK_NO;
}

/* ---- processes that generate code ------------------------------------------------------------------------------- */

struct seen {
	const struct check *c;
	struct runtime *bad; /* processes whose generated code will have no names, or whose stacks will be incomplete */
	size_t nbad, cap;
	unsigned jvms, jits;
};

/* Returns true if stacks of this JVM will be complete. Unwinding by tables needs readable memory; frame-pointer
 * unwinding needs -XX:+PreserveFramePointer. */
static bool has_complete_stacks(const struct check *check, const struct runtime *runtime)
{
	return (check->copies && runtime->readable) || (runtime->options_readable && runtime->frame_pointers);
}

/* Returns true if frames of the process's generated code will have names. The names come from a perf map or jitdump.
 * For a JVM or node whose stacks are unwound by tables, they come from the window: the recorder reads them from the
 * process. */
static bool has_named_frames(const struct check *check, const struct runtime *runtime)
{
	bool read = runtime->jvm ? runtime->readable : runtime->node && check->interpreters;

	return runtime->map || (check->copies && read);
}

static void hostcheck_see(void *arg, const struct runtime *runtime)
{
	struct seen *seen = arg;

	seen->jvms += runtime->jvm;
	seen->jits += !runtime->jvm;
	if (has_named_frames(seen->c, runtime) && (!runtime->jvm || has_complete_stacks(seen->c, runtime)))
		return;
	if (seen->nbad == seen->cap) {
		seen->cap = seen->cap ? 2 * seen->cap : 16;
		seen->bad = mem_grow(seen->bad, sizeof(*seen->bad), seen->cap);
	}
	seen->bad[seen->nbad++] = *runtime;
}

static void show_jvm(const struct check *check, const struct runtime *runtime)
{
	struct text text = { 0 };
	bool complete = has_complete_stacks(check, runtime);

	text_printf(&text, "%ld %s%s%s ", (long)runtime->pid, runtime->comm, *runtime->main ? " " : "", runtime->main);
	if (!complete && !runtime->options_readable)
		text_add(&text, "has a command line or environment that cannot be read");
	else if (!complete && check->copies)
		text_add(
			&text,
			"has memory that cannot be read, and runs without -XX:+PreserveFramePointer, so its stacks end at the first "
			"Java frame: record with CAP_SYS_PTRACE, or add the flag");
	else if (!complete)
		text_add(&text,
			 "runs without -XX:+PreserveFramePointer, so its stacks end at the first Java frame: use "
			 "--unwind=auto, or add the flag to the command line or JAVA_TOOL_OPTIONS");
	if (!has_named_frames(check, runtime))
		text_printf(&text, "%s no map of its code: jcmd %ld Compiler.perfmap (JDK 17 and later)",
			    complete ? "has" : "; and it has", (long)runtime->pid);
	checkreport_text(CHECK_LIMITED, "JVM", &text);
	text_free(&text);
}

/* Prints one process with a JIT, and the number `more` of other processes with the same name: some programs run in
 * dozens of processes. */
static void show_jit(const struct runtime *runtime, size_t more)
{
	const char *advice = runtime_advice(runtime->comm);
	char others[40] = "";

	if (more)
		snprintf(others, sizeof(others), " and %zu more", more);
	checkreport_line(CHECK_LIMITED, "JIT",
			 "%ld %s%s: generates code without a /tmp/perf-%ld.map, so without names%s%s",
			 (long)runtime->pid, runtime->comm, others, (long)runtime->inner_pid, advice ? ": " : "",
			 advice ? advice : "");
}

static int by_kind(const void *a, const void *b)
{
	const struct runtime *runtime = a, *y = b;

	if (runtime->jvm != y->jvm)
		return runtime->jvm ? -1 : 1;
	if (!runtime->jvm && strcmp(runtime->comm, y->comm) != 0)
		return strcmp(runtime->comm, y->comm);
	return runtime->pid < y->pid ? -1 : runtime->pid > y->pid;
}

static void show_bad(struct seen *seen)
{
	size_t i = 0, shown = 0;

	if (seen->nbad)
		qsort(seen->bad, seen->nbad, sizeof(*seen->bad), by_kind);
	for (; i < seen->nbad && shown < SHOWN; shown++) {
		size_t first = i++;

		if (seen->bad[first].jvm) {
			show_jvm(seen->c, seen->bad + first);
			continue;
		}
		while (i < seen->nbad && strcmp(seen->bad[i].comm, seen->bad[first].comm) == 0)
			i++;
		show_jit(seen->bad + first, i - first - 1);
	}
	if (i < seen->nbad)
		checkreport_line(CHECK_LIMITED, "JVM, JIT", "%zu more processes", seen->nbad - i);
}

static void show_forbidden(const struct check *check, struct runtimes_count n)
{
	struct text text = { 0 };

	if (!n.forbidden) {
		checkreport_line(CHECK_OK, "other users", "the mappings of all %u processes can be read", n.processes);
		return;
	}
	if (check->own) {
		hostcheck_more("other users");
		return;
	}
	text_printf(&text,
		    "the mappings of %u of %u processes cannot be read, so their present code may have no "
		    "names: ",
		    n.forbidden, n.processes);
	if (privileges_has(PRIV_SYS_PTRACE) && check->facts.user_ns != 1)
		text_add(&text, "a security module forbids it");
	else
		hint_capability(&text, &check->facts, "cap_sys_ptrace");
	checkreport_text(CHECK_LIMITED, "other users", &text);
	text_free(&text);
}

static void check_processes(const struct check *check)
{
	struct seen seen = { .c = check };
	struct runtimes_count n = runtimes_each(hostcheck_see, &seen);

	show_bad(&seen);
	checkreport_line(seen.nbad ? CHECK_LIMITED : CHECK_OK, "generated code",
			 "%u JVM%s and %u other process%s; %zu will have complete stacks with names", seen.jvms,
			 seen.jvms == 1 ? "" : "s", seen.jits, seen.jits == 1 ? "" : "es",
			 seen.jvms + seen.jits - seen.nbad);
	if (n.stalled)
		checkreport_line(
			CHECK_LIMITED, "slow processes",
			"%u process%s left out, since their files did not respond: look for a network or FUSE file "
			"system that is down",
			n.stalled, n.stalled == 1 ? " was" : "es were");
	show_forbidden(check, n);
	free(seen.bad);
}

bool hostcheck(const struct hostcheck_options *options)
{
	struct check check = { .o = options };
	struct events_options eo = events_options(&check);
	bool disk, installed, complete;

	hint_gather(&check.facts);
	events_parse(&check.events, "auto", &eo);
	check_system(&check);
	check_counters(&check);
	check_rate(&check);
	check_depth(&check);
	check_descriptors(&check);
	check_kallsyms(&check);
	check_tracepoints(&check);
	check_interpreters(&check);
	check_waits(&check);
	check_place(&check);
	disk = check_disk(&check);
	check_processes(&check);
	events_free(&check.events);
	installed = options->dir_unspecified ? installcheck_records(options->dir) : installcheck_is(options->dir);
	complete = !installed || installcheck(options->dir);
	if (check.own && disk)
		puts("pjrecord cannot record the whole host, but your own processes: pjrecord -p PID, pjrecord -- COMMAND.");
	else if (!check.all || !disk)
		puts("pjrecord cannot record the whole host: see 'no' above.");
	else if (!installed)
		puts("pjrecord can record the whole host.");
	else
		puts(complete ?
			     "pjrecord can record the whole host, and this installation works." :
			     "pjrecord can record the whole host, but this installation does not work: see 'no' above.");
	if (fflush(stdout) || ferror(stdout))
		die_errno("cannot write standard output");
	return check.all && disk && complete;
}
