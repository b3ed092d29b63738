/* SPDX-License-Identifier: Apache-2.0 */
#include "record/hostcheck.h"

#include "common/arena.h"
#include "common/diag.h"
#include "record/perf/events.h"
#include "record/perf/hints.h"
#include "record/processes/host.h"
#include "record/windows/retention.h"
#include "record/perf/privileges.h"
#include "record/runtimes.h"
#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SERVER_STACK 512   /* frames; what Java servers reach */
#define SAMPLE_BYTES 150   /* measured, with chains of usual depth, by frame pointers; */
#define COMPLETE_BYTES 250 /* by tables, where they are whole */
#define SHOWN 20

enum verdict { OK, LIMITED, NO };

struct check {
	const struct hostcheck_options *o;
	struct hint_facts facts;
	struct events events;
	bool all, kernel; /* the whole system can be recorded; with its kernel */
	uint32_t copies;  /* of stacks; 0: by frame pointers */
};

/* ---- lines --------------------------------------------------------------------------------------------------- */

/* Bytes of names may be anything: what a terminal might obey is not shown. */
static void hostcheck_print(enum verdict v, const char *what, const struct text *t)
{
	static const char *const word[] = { "ok", "limited", "no" };

	printf("%-8s %s: ", word[v], what);
	for (size_t i = 0; i < t->n; i++)
		putchar((unsigned char)t->p[i] < 0x20 || t->p[i] == 0x7F ? '?' : t->p[i]);
	putchar('\n');
}

static void hostcheck_line(enum verdict v, const char *what, const char *fmt, ...) PRINTF(3, 4);
static void hostcheck_line(enum verdict v, const char *what, const char *fmt, ...)
{
	struct text t = { 0 };
	char buf[1000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	text_add(&t, buf);
	hostcheck_print(v, what, &t);
	text_free(&t);
}

static void hint_line(enum verdict v, const char *what, const struct hint *h)
{
	struct text t = { 0 };

	hint_text(&t, h);
	hostcheck_print(v, what, &t);
	text_free(&t);
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static int hostcheck_open_event(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct events_options events_options(const struct check *c)
{
	return (struct events_options){ .frequency = c->o->frequency, .ring_bytes = RING_MAX };
}

/* What is left for who may not record everything. */
static void check_own(struct check *c)
{
	struct perf_event_attr a = c->events.event[0].attr;
	bool kernel = true;
	int fd;

	a.sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	a.precise_ip = 0;
	a.read_format = 0;
	fd = hostcheck_open_event(&a, 0, -1);
	if (fd < 0) {
		a.exclude_kernel = a.exclude_hv = 1;
		kernel = false;
		fd = hostcheck_open_event(&a, 0, -1);
	}
	if (fd < 0) {
		struct hint h = { .step = HINT_OPEN, .error = errno, .attr = &a, .facts = c->facts };

		hint_line(NO, "own processes", &h);
		return;
	}
	close(fd);
	hostcheck_line(kernel ? OK : LIMITED, "own processes", "pjrecord -p PID and pjrecord -- COMMAND will work%s",
		       kernel ? "" : ", without the kernel's part of stacks");
}

/* How callers are found, and what hinders it. */
static void check_callers(struct check *c, const struct fallback *f)
{
	struct text t = { 0 };

	c->copies = f->bytes;
	if (f->by != FALLBACK_NONE) {
		fallback_text(&t, f);
		hostcheck_print(LIMITED, "callers", &t);
	} else if (f->bytes) {
		hostcheck_line(OK, "callers", "by tables%s, in copies of %u kB of each stack",
			       c->o->both ? " and frame pointers" : "", f->bytes / 1024);
	} else {
		hostcheck_line(OK, "callers", "by frame pointers (--unwind=fp)");
	}
	text_free(&t);
}

static void check_rings(const struct session *s)
{
	struct session_totals t = session_totals(s);
	struct text size = { 0 };

	metrics_bytes(&size, t.ring_bytes);
	hostcheck_line(OK, "rings", "%.*s of memory for %zu CPUs", (int)size.n, size.p, t.cpus);
	text_free(&size);
}

/* As a recording does it, with all its events and rings on all CPUs. */
static void check_system(struct check *c)
{
	struct session_options so = { .target = TARGET_HOST,
				      .event = c->events.event,
				      .nevents = c->events.n,
				      .ring_bytes = c->o->ring_bytes,
				      .stack_bytes = c->o->stack_bytes,
				      .both = c->o->both,
				      .exactly = c->o->exactly };
	struct sources_failure why = { 0 };
	struct session *s = session_new(&so, &why);

	c->all = s;
	if (!s) {
		struct hint h;

		hint_failure(&h, &why);
		hint_line(NO, "whole system", &h);
		check_own(c);
		return;
	}
	c->kernel = !session_totals(s).without_kernel;
	hostcheck_line(
		c->kernel ? OK : LIMITED, "whole system", "all that runs on %zu CPUs%s", session_totals(s).cpus,
		c->kernel ?
			", with the kernel's part of stacks" :
			", without the kernel's part of stacks: it needs CAP_PERFMON, or kernel.perf_event_paranoid below 2");
	struct session_totals t = session_totals(s);
	check_callers(c, &t.fallback);
	check_rings(s);
	if (session_totals(s).no_cgroups)
		hostcheck_line(
			LIMITED, "cgroups",
			"this kernel does not tell those of samples (before 5.7, or without CONFIG_CGROUP_PERF): "
			"pjfold --by=container knows only what runs at the start");
	else
		hostcheck_line(OK, "cgroups", "samples tell theirs, version %d", c->facts.cgroup2 ? 2 : 1);
	session_free(s);
}

static void check_counters(const struct check *c)
{
	if (c->events.by_clock)
		hostcheck_line(
			LIMITED, "event",
			"cpu-clock, as there are no hardware counters here: code that runs with interrupts off is "
			"seen where they are on again");
	else
		hostcheck_line(OK, "event", "%s", c->events.event[0].name);
}

static void check_rate(const struct check *c)
{
	int64_t max = c->facts.max_sample_rate;

	if (max > 0 && c->o->frequency > (uint64_t)max)
		hostcheck_line(NO, "rate",
			       "%" PRIu64 " Hz are more than %" PRId64
			       ": sudo sysctl kernel.perf_event_max_sample_rate=%" PRIu64,
			       c->o->frequency, max, c->o->frequency);
	else if (max > 0)
		hostcheck_line(OK, "rate", "%" PRIu64 " Hz of at most %" PRId64 " (kernel.perf_event_max_sample_rate)",
			       c->o->frequency, max);
}

static void check_depth(const struct check *c)
{
	unsigned max = host_max_stack();

	if (!max || c->copies) /* that holds for the kernel's callchains only */
		return;
	if (max < SERVER_STACK)
		hostcheck_line(
			LIMITED, "stacks",
			"of up to %u frames; deeper ones, as of Java servers, are cut: while nothing records: sudo sysctl "
			"kernel.perf_event_max_stack=1024",
			max);
	else
		hostcheck_line(OK, "stacks", "of up to %u frames (kernel.perf_event_max_stack)", max);
}

static void check_descriptors(const struct check *c)
{
	uint64_t needed = 2 * (uint64_t)c->facts.cpus + 64;
	struct hint h = { .step = HINT_FILES, .error = EMFILE, .needed = needed, .facts = c->facts };

	if (c->facts.files_hard >= 0 && needed > (uint64_t)c->facts.files_hard)
		hint_line(c->all ? LIMITED : NO, "descriptors", &h);
	else
		hostcheck_line(OK, "descriptors", "%" PRIu64 " are needed, of %" PRId64, needed, c->facts.files_hard);
}

/* ---- names --------------------------------------------------------------------------------------------------- */

static void check_kallsyms(const struct check *c)
{
	struct hint h = { .facts = c->facts };

	if (hint_kallsyms(&h))
		hint_line(LIMITED, "kernel symbols", &h);
	else
		hostcheck_line(OK, "kernel symbols", "can be read");
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
		ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

		if (fd < 0 && errno != ENOENT)
			error = errno;
		if (fd >= 0)
			close(fd);
		if (n > 0 &&
		    str_u64(str_trim(str_head((struct str){ buf, (size_t)n }, (size_t)n - (buf[n - 1] == '\n'))), id))
			return true;
	}
	errno = error;
	return false;
}

static void check_tracepoints(const struct check *c)
{
	struct hint h = { .step = HINT_TRACEFS, .name = "sched:sched_switch", .cpu_wide = true, .facts = c->facts };
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT,
				     .size = sizeof(a),
				     .sample_period = 1,
				     .disabled = 1,
				     .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME };
	uint64_t id;
	int fd;

	if (!tracepoint_id(&id)) {
		h.error = errno;
		hint_line(LIMITED, "tracepoints, off-CPU time", &h);
		return;
	}
	a.config = id;
	fd = hostcheck_open_event(&a, -1, 0);
	if (fd < 0) {
		h.step = HINT_OPEN;
		h.error = errno;
		h.attr = &a;
		hint_line(LIMITED, "tracepoints, off-CPU time", &h);
		return;
	}
	close(fd);
	hostcheck_line(OK, "tracepoints, off-CPU time", "sched:sched_switch can be recorded");
}

/* ---- place --------------------------------------------------------------------------------------------------- */

static void check_place(const struct check *c)
{
	const struct hint_facts *f = &c->facts;
	struct text t = { 0 };

	text_add(&t, f->container == 1 ? "in a container" : "on the host");
	if (f->pid_ns == 1)
		text_add(&t, ", in a PID namespace: processes beyond it have no names (hostPID: true, --pid=host)");
	if (f->user_ns == 1)
		text_add(&t, ", in a user namespace: its capabilities do not count");
	if (f->lockdown == 2)
		text_add(&t, ", and the kernel is locked down (confidentiality): no tracepoints");
	text_printf(&t, "; user %lu, with ", (unsigned long)f->uid);
	privileges_text(&t);
	hostcheck_print(f->pid_ns == 1 || f->user_ns == 1 || f->lockdown == 2 ? LIMITED : OK, "place", &t);
	text_free(&t);
}

static bool check_disk(const struct check *c)
{
	const char *dir = c->o->dir;
	struct windir r = { .dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	uint64_t all = 0, left, day = 86400 * c->o->frequency * (uint64_t)c->facts.cpus;
	struct text t = { 0 };
	enum verdict v = OK;

	if (r.dir < 0) {
		hostcheck_line(NO, "disk", "cannot open '%s': %s", dir, strerror(errno));
		return false;
	}
	left = retention_free(&r, &all);
	day *= c->copies ? COMPLETE_BYTES : SAMPLE_BYTES;
	metrics_bytes(&t, left);
	text_add(&t, " of ");
	metrics_bytes(&t, all);
	text_printf(&t, " are free in '%s'; ", dir);
	metrics_bytes(&t, day);
	text_add(&t, " a day when all CPUs are always busy");
	if ((double)left < c->o->min_free * (double)all) {
		v = LIMITED;
		text_printf(&t, "; this is less than --min-free %.0f%%, so only the newest window would be kept",
			    100 * c->o->min_free);
	}
	/* as root only who owns it may write: who records may be that user */
	if (faccessat(r.dir, ".", W_OK, AT_EACCESS) < 0) {
		v = NO;
		text_printf(&t, "; but it may not be written: %s: sudo chown %lu '%s'", strerror(errno),
			    (unsigned long)c->facts.uid, dir);
	}
	hostcheck_print(v, "disk", &t);
	text_free(&t);
	close(r.dir);
	return v != NO;
}

/* ---- processes ----------------------------------------------------------------------------------------------- */

struct seen {
	const struct check *c;
	struct runtime *bad; /* those without names, or with short stacks */
	size_t nbad, cap;
	unsigned jvms, jits;
};

/* Of a JVM. By tables its memory must be read. */
static bool has_complete_stacks(const struct check *c, const struct runtime *r)
{
	return (c->copies && r->readable) || (r->is_requested && r->frame_pointers);
}

static void hostcheck_see(void *arg, const struct runtime *r)
{
	struct seen *s = arg;

	s->jvms += r->jvm;
	s->jits += !r->jvm;
	if (r->map && (!r->jvm || has_complete_stacks(s->c, r)))
		return;
	if (s->nbad == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		s->bad = mem_grow(s->bad, sizeof(*s->bad), s->cap);
	}
	s->bad[s->nbad++] = *r;
}

static void show_jvm(const struct check *c, const struct runtime *r)
{
	struct text t = { 0 };
	bool complete = has_complete_stacks(c, r);

	text_printf(&t, "%ld %s%s%s ", (long)r->pid, r->comm, *r->main ? " " : "", r->main);
	if (!complete && !r->is_requested)
		text_add(&t, "has a command line or environment that cannot be read");
	else if (!complete && c->copies)
		text_add(
			&t,
			"has memory that cannot be read, and runs without -XX:+PreserveFramePointer, so its stacks end at the first "
			"Java frame: record with CAP_SYS_PTRACE, or add the flag");
	else if (!complete)
		text_add(
			&t,
			"runs without -XX:+PreserveFramePointer, so its stacks end at the first Java frame: --unwind=auto, or add it "
			"to the command line or JAVA_TOOL_OPTIONS");
	if (!r->map)
		text_printf(&t, "%s no map of its code: jcmd %ld Compiler.perfmap (JDK 17 and later)",
			    complete ? "has" : "; and it has", (long)r->pid);
	hostcheck_print(LIMITED, "JVM", &t);
	text_free(&t);
}

/* One of each name, as some come in dozens. */
static void show_jit(const struct runtime *r, size_t more)
{
	const char *advice = runtime_advice(r->comm);
	char others[40] = "";

	if (more)
		snprintf(others, sizeof(others), " and %zu more", more);
	hostcheck_line(LIMITED, "JIT",
		       "%ld %s%s: code that is made at run time, and no /tmp/perf-%ld.map, so no names%s%s",
		       (long)r->pid, r->comm, others, (long)r->inner_pid, advice ? ": " : "", advice ? advice : "");
}

static int by_kind(const void *a, const void *b)
{
	const struct runtime *x = a, *y = b;

	if (x->jvm != y->jvm)
		return x->jvm ? -1 : 1;
	if (!x->jvm && strcmp(x->comm, y->comm) != 0)
		return strcmp(x->comm, y->comm);
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void show_bad(struct seen *s)
{
	size_t i = 0, shown = 0;

	if (s->nbad)
		qsort(s->bad, s->nbad, sizeof(*s->bad), by_kind);
	for (; i < s->nbad && shown < SHOWN; shown++) {
		size_t first = i++;

		if (s->bad[first].jvm) {
			show_jvm(s->c, s->bad + first);
			continue;
		}
		while (i < s->nbad && strcmp(s->bad[i].comm, s->bad[first].comm) == 0)
			i++;
		show_jit(s->bad + first, i - first - 1);
	}
	if (i < s->nbad)
		hostcheck_line(LIMITED, "JVM, JIT", "%zu more processes", s->nbad - i);
}

static void show_forbidden(const struct check *c, struct runtimes_count n)
{
	struct text t = { 0 };

	if (!n.forbidden) {
		hostcheck_line(OK, "other users", "the mappings of all %u processes can be read", n.processes);
		return;
	}
	text_printf(
		&t,
		"the mappings of %u of %u processes cannot be read, so code that they run now may stay without names: ",
		n.forbidden, n.processes);
	if (privileges_has(PRIV_SYS_PTRACE) && c->facts.user_ns != 1)
		text_add(&t, "a security module forbids it");
	else
		hint_capability(&t, &c->facts, "cap_sys_ptrace");
	hostcheck_print(LIMITED, "other users", &t);
	text_free(&t);
}

static void check_processes(const struct check *c)
{
	struct seen s = { .c = c };
	struct runtimes_count n = runtimes_each(hostcheck_see, &s);

	show_bad(&s);
	hostcheck_line(s.nbad ? LIMITED : OK, "code made at run time",
		       "%u JVMs and %u other processes; %zu of them will have whole stacks with names", s.jvms, s.jits,
		       s.jvms + s.jits - s.nbad);
	if (n.stalled)
		hostcheck_line(
			LIMITED, "slow processes",
			"%u process%s left out, since files there did not answer: look for a network or FUSE file system that is down",
			n.stalled, n.stalled == 1 ? " was" : "es were");
	show_forbidden(c, n);
	free(s.bad);
}

bool hostcheck(const struct hostcheck_options *options)
{
	struct check c = { .o = options };
	struct events_options eo = events_options(&c);
	bool disk;

	hint_gather(&c.facts);
	events_parse(&c.events, "auto", &eo);
	check_system(&c);
	check_counters(&c);
	check_rate(&c);
	check_depth(&c);
	check_descriptors(&c);
	check_kallsyms(&c);
	check_tracepoints(&c);
	check_place(&c);
	disk = check_disk(&c);
	check_processes(&c);
	events_free(&c.events);
	if (c.all && disk)
		puts("pjrecord will record all that runs on this host.");
	else
		puts("pjrecord cannot record all that runs on this host: see 'no' above.");
	if (fflush(stdout) || ferror(stdout))
		die_errno("cannot write 'standard output'");
	return c.all && disk;
}
