/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/events.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "common/similar.h"
#include "record/perf/allocevents.h"
#include "record/perf/hints.h"
#include "record/perf/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE
#define SHORTEST_NS 1000 /* minimum period of a clock in ns, at the maximum frequency of 1 MHz */

static const struct known {
	const char *name, *alias;
	struct event_kind kind;
} known[] = {
	{ "cycles", "cpu-cycles", { HW, PERF_COUNT_HW_CPU_CYCLES, true } },
	{ "instructions", NULL, { HW, PERF_COUNT_HW_INSTRUCTIONS, true } },
	{ "cache-references", NULL, { HW, PERF_COUNT_HW_CACHE_REFERENCES, true } },
	{ "cache-misses", NULL, { HW, PERF_COUNT_HW_CACHE_MISSES, true } },
	{ "branches", "branch-instructions", { HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true } },
	{ "branch-misses", NULL, { HW, PERF_COUNT_HW_BRANCH_MISSES, true } },
	{ "bus-cycles", NULL, { HW, PERF_COUNT_HW_BUS_CYCLES, true } },
	{ "ref-cycles", NULL, { HW, PERF_COUNT_HW_REF_CPU_CYCLES, true } },
	{ "stalled-cycles-frontend", NULL, { HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, true } },
	{ "stalled-cycles-backend", NULL, { HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, true } },
	{ "cpu-clock", NULL, { SW, PERF_COUNT_SW_CPU_CLOCK, true } },
	{ "task-clock", NULL, { SW, PERF_COUNT_SW_TASK_CLOCK, true } },
	{ "page-faults", "faults", { SW, PERF_COUNT_SW_PAGE_FAULTS, false } },
	{ "minor-faults", NULL, { SW, PERF_COUNT_SW_PAGE_FAULTS_MIN, false } },
	{ "major-faults", NULL, { SW, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false } },
	{ "context-switches", "cs", { SW, PERF_COUNT_SW_CONTEXT_SWITCHES, false } },
	{ "cpu-migrations", "migrations", { SW, PERF_COUNT_SW_CPU_MIGRATIONS, false } },
	{ "alignment-faults", NULL, { SW, PERF_COUNT_SW_ALIGNMENT_FAULTS, false } },
	{ "emulation-faults", NULL, { SW, PERF_COUNT_SW_EMULATION_FAULTS, false } },
};

bool events_try(const struct perf_event_attr *attr)
{
	struct perf_event_attr plain = { .type = attr->type,
					 .size = sizeof(plain),
					 .config = attr->config,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &plain, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Applies the letters after the colon in "cycles:u" to the attribute: u and k with perf's meaning, and p for hardware
 * events. Exits with a message on other letters. */
static void take_modifiers(struct perf_event_attr *attr, struct str string, struct str spec)
{
	bool user = false, kernel = false;

	for (size_t i = 0; i < string.n; i++) {
		if (string.p[i] == 'u')
			user = true;
		else if (string.p[i] == 'k')
			kernel = true;
		else if (string.p[i] == 'p' && attr->type == HW)
			attr->precise_ip = 2;
		else
			die_usage("-e: '%.*s': the colon must be followed by u (user space) or k (kernel)", (int)spec.n,
				  spec.p);
	}
	if (user && !kernel && attr->type == SW &&
	    (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr->config == PERF_COUNT_SW_CPU_MIGRATIONS))
		die_usage("-e: '%.*s': threads are switched in the kernel only, so no sample would be left",
			  (int)spec.n, spec.p);
	if (kernel && !user && attr->type >= PERF_TYPE_MAX)
		die_usage("-e: '%.*s': a uprobe is in user space, so no sample would be left", (int)spec.n, spec.p);
	if (user && !kernel)
		attr->exclude_kernel = attr->exclude_hv = 1;
	if (kernel && !user)
		attr->exclude_user = 1;
}

static const struct known *events_find(struct str name)
{
	for (size_t i = 0; i < countof(known); i++)
		if (str_eq(name, str_of(known[i].name)) || (known[i].alias && str_eq(name, str_of(known[i].alias))))
			return known + i;
	return NULL;
}

/* ---- tracepoints --------------------------------------------------------------------------------------------- */

static NORETURN void die_of_tracefs(struct str name)
{
	struct hint hint = { .step = HINT_TRACEFS, .error = errno };
	struct text text = { 0 }, of = { 0 };

	text_str(&of, name);
	text_char(&of, 0);
	hint.name = of.p;
	hint_gather(&hint.facts);
	hint_text(&text, &hint);
	die("%.*s", (int)text.n, text.p);
}

static NORETURN void die_of_name(const char *dir, struct str name)
{
	struct text near = { 0 };

	tracefs_nearest(dir, name, &near);
	die_usage("-e: no tracepoint '%.*s' on this host%s%.*s", (int)name.n, name.p, near.n ? "; there is " : "",
		  (int)near.n, near.n ? near.p : "");
}

/* Adds an event for each tracepoint that matches a specification such as "sched:sched_switch:u", with modifiers after
 * the second colon. System and name may be shell patterns. */
static void parse_tracepoint(struct events *events, struct str spec, const struct events_options *options)
{
	struct str modifiers = spec, system = str_cut(&modifiers, ':'), part = str_cut(&modifiers, ':');
	struct str name = str_head(spec, system.n + 1 + part.n);
	const char *dir = tracefs_dir();
	size_t before = events->ntracepoints;

	if (!dir)
		die_of_tracefs(name);
	if (!tracefs_find(dir, name, &events->tracepoint, &events->ntracepoints)) {
		if (errno == ENOENT)
			die_of_name(dir, name);
		if (errno == E2BIG)
			die_usage("-e: '%.*s' matches more than %d tracepoints", (int)name.n, name.p, TRACEFS_MAX);
		die_of_tracefs(name);
	}
	for (size_t i = before; i < events->ntracepoints; i++) {
		const struct event_kind kind = { .type = PERF_TYPE_TRACEPOINT, .config = events->tracepoint[i].id };
		struct perf_event_attr attr = events_common_attr(&kind, options);
		struct text full = { 0 };

		attr.sample_type |= PERF_SAMPLE_RAW;
		take_modifiers(&attr, modifiers, spec);
		text_add(&full, events->tracepoint[i].name);
		if (modifiers.n)
			text_printf(&full, ":%.*s", (int)modifiers.n, modifiers.p);
		events_add_event(events, &attr, text_view(&full));
		text_free(&full);
	}
}

static void describe_tracepoints(struct events *events)
{
	const char *dir = tracefs_dir();

	if (!dir || !tracefs_describe(dir, events->tracepoint, events->ntracepoints, &events->tracing))
		die_of_tracefs(str_of(events->tracepoint[0].name));
}

/* ---- uprobes --------------------------------------------------------------------------------------------------- */

/* Returns the name of a uprobe event: "uprobe:", then `place` with '_' for each byte that would end a name in the
 * output of perf script. */
static struct text uprobe_name(struct str place)
{
	struct text name = { 0 };

	text_add(&name, "uprobe:");
	for (size_t i = 0; i < place.n; i++)
		text_char(&name, (char)(place.p[i] > ' ' && place.p[i] < 127 ? place.p[i] : '_'));
	return name;
}

/* Removes the modifiers and their colon from the end of *place, such as "FILE:SYMBOL:u", and returns the modifiers; if
 * there are none, or if they have other letters than u and k, returns an empty string and leaves *place as it is. */
static struct str cut_modifiers(struct str *place)
{
	ptrdiff_t last = str_rfind(*place, ':');
	struct str modifiers = str_from(*place, last < 0 ? place->n : (size_t)last + 1);

	if (!modifiers.n || str_rfind(str_head(*place, (size_t)last), ':') < 0)
		return (struct str){ 0 };
	for (size_t i = 0; i < modifiers.n; i++)
		if (modifiers.p[i] != 'u' && modifiers.p[i] != 'k')
			return (struct str){ 0 };
	place->n = (size_t)last;
	return modifiers;
}

static void warn_of_others(const struct uprobe *uprobe, struct str spec)
{
	if (uprobe->nwithout == 1)
		warn("process %" PRIu32 " has not mapped the file of '%.*s': it has no samples until it does",
		     uprobe->without, (int)spec.n, spec.p);
	else if (uprobe->nwithout)
		warn("%zu processes, %" PRIu32
		     " first, have not mapped the file of '%.*s': they have no samples until they do",
		     uprobe->nwithout, uprobe->without, (int)spec.n, spec.p);
}

/* Adds the uprobe event of `spec`; `place` is its part "FILE:SYMBOL". The event has a fixed period, because periods
 * that the kernel adapts to a frequency are wrong for bursts: they added up to 31,929 for 20,000 calls in 0.4 s. */
static void parse_uprobe(struct events *events, struct str spec, struct str place, const struct events_options *options)
{
	const struct event_kind kind = { .type = uprobes_type() };
	struct perf_event_attr attr = events_common_attr(&kind, options);
	struct text why = { 0 }, name = uprobe_name(place);
	struct uprobe *uprobe;

	if (!kind.type)
		events_die_of_probes(spec);
	/* a thread that inherits the event opens it again, and the kernel then reads the path from the memory of that
	 * thread, so fork() of the target fails (EFAULT, seen with 6.18) */
	if (options->inherit)
		die_usage(
			"-e: '%.*s': a uprobe cannot follow a command: start it before and use -p PID, or record the host "
			"with -a",
			(int)spec.n, spec.p);
	take_modifiers(&attr, cut_modifiers(&place), spec);
	events->uprobe = mem_grow(events->uprobe, sizeof(*events->uprobe), events->nuprobes + 1);
	uprobe = events->uprobe + events->nuprobes++;
	if (!uprobes_find(uprobe, place, options->pid, options->npids, options->stop, &why)) {
		if (*options->stop)
			die("-e: %.*s", (int)why.n, why.p);
		die_usage("-e: %.*s", (int)why.n, why.p);
	}
	warn_of_others(uprobe, spec);
	attr.config1 = (uintptr_t)uprobe->path;
	attr.config2 = uprobe->offset;
	events_add_event(events, &attr, text_view(&name));
	text_free(&name);
}

/* ---- events of off-CPU times ---------------------------------------------------------------------------------- */

/* Adds the events of off-CPU samples: two, or three with options->wall. They are never opened, because the recorder
 * makes their samples. The first one has the name and numbers of perf record --off-cpu. */
static void add_offcpu(struct events *events, const struct events_options *options)
{
	const struct event_kind kind = { .type = SW, .config = PERF_COUNT_SW_BPF_OUTPUT };
	struct perf_event_attr attr = events_common_attr(&kind, options);

	attr.sample_period = 1;
	events->offcpu = events->n + 1;
	events_add_event(events, &attr, options->wall ? STR("wall-time-blocked") : STR("offcpu-time"));
	events_add_event(events, &attr, options->wall ? STR("wall-time-preempted") : STR("offcpu-time-preempted"));
	if (options->wall)
		events_add_event(events, &attr, STR("wall-time-unsampled"));
}

/* Names the sampled event wall-time, because its periods become on-CPU times. Exits with a message if the event does
 * not sample CPU time. */
static void name_wall_time(struct events *events)
{
	const struct perf_event_attr attr = events->event[0].attr;
	bool clock = attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_CPU_CLOCK,
	     cycles = attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES;

	if (events->n != 1 || !attr.freq || (!clock && !cycles) || attr.exclude_user || attr.exclude_kernel)
		die_usage("--wall: -e can only be cycles or cpu-clock, of user and kernel code");
	free((void *)(uintptr_t)events->event[0].name);
	events->n = 0;
	events_add_event(events, &attr, STR("wall-time"));
}

/* ---- names of events ------------------------------------------------------------------------------------------ */

static NORETURN void die_of_event(struct str spec, struct str name)
{
	struct similar similar = similar_to(name);

	for (size_t i = 0; i < countof(known); i++) {
		similar_offer(&similar, str_of(known[i].name));
		if (known[i].alias)
			similar_offer(&similar, str_of(known[i].alias));
	}
	if (similar.found.n)
		die_usage("-e: unknown event '%.*s': did you mean %.*s?", (int)spec.n, spec.p, (int)similar.found.n,
			  similar.found.p);
	die_usage("-e: unknown event '%.*s': use cpu-clock, cycles, page-faults, context-switches, ..., "
		  "sched:sched_switch, uprobe:FILE:FUNCTION, r1a8; pjrecord --values=event lists the others",
		  (int)spec.n, spec.p);
}

void events_list(struct text *text)
{
	text_add(text, "auto\n");
	for (size_t i = 0; i < countof(known); i++)
		text_printf(text, "%s\n", known[i].name);
	text_add(text, "java:alloc\n");
	if (tracefs_dir())
		tracefs_list(tracefs_dir(), text);
}

/* ---- list of events ------------------------------------------------------------------------------------------ */

static bool is_raw(struct str name, uint64_t *config)
{
	return name.n > 1 && name.p[0] == 'r' && str_hex(str_from(name, 1), config);
}

/* Returns true if `spec` is java:alloc. Exits with a message if modifiers follow. */
static bool is_allocations(struct str spec)
{
	struct str modifiers = spec, system = str_cut(&modifiers, ':'), name = str_cut(&modifiers, ':');

	if (!str_eq(system, STR("java")) || !str_eq(name, STR("alloc")))
		return false;
	if (modifiers.n)
		die_usage("-e: '%.*s': java:alloc has no modifiers: leave ':%.*s' out", (int)spec.n, spec.p,
			  (int)modifiers.n, modifiers.p);
	return true;
}

/* Exits with a usage message if there is no tracepoint for a specification such as "sched:sched_switch:u". */
static void check_tracepoint(struct str spec)
{
	struct str rest = spec, system = str_cut(&rest, ':'), part = str_cut(&rest, ':');
	struct str name = str_head(spec, system.n + 1 + part.n);
	struct tracepoint *tracepoint = NULL;
	const char *dir = tracefs_dir();
	size_t n = 0;

	if (dir && !tracefs_find(dir, name, &tracepoint, &n) && errno == ENOENT)
		die_of_name(dir, name);
	tracefs_free(tracepoint, n);
}

void events_check(const char *list)
{
	struct str all = str_of(list);

	while (all.n) {
		struct str spec = str_cut(&all, ','), modifiers = spec, name = str_cut(&modifiers, ':');
		uint64_t config;

		if (!spec.n || events_find(name) || is_raw(name, &config) || str_eq(name, STR("auto")) ||
		    str_eq(name, STR("uprobe")) || is_allocations(spec))
			continue;
		if (!modifiers.n)
			die_of_event(spec, name);
		check_tracepoint(spec);
	}
}

static void parse_one(struct events *events, struct str spec, const struct events_options *options)
{
	struct str modifiers = spec, name = str_cut(&modifiers, ':');
	struct known raw = { .kind = { .type = PERF_TYPE_RAW, .ticks = true } };
	const struct known *k = events_find(name);
	struct perf_event_attr attr;

	if (str_eq(name, STR("auto"))) {
		struct perf_event_attr cycles = { .type = HW, .config = PERF_COUNT_HW_CPU_CYCLES };

		events->by_clock = !events_try(&cycles) && hint_no_pmu(errno);
		k = events_find(events->by_clock ? STR("cpu-clock") : STR("cycles"));
		name = str_of(k->name);
	}
	if (!k && is_raw(name, &raw.kind.config))
		k = &raw;
	if (is_allocations(spec)) {
		allocevents_add(events, spec, options);
		return;
	}
	if (str_eq(name, STR("uprobe"))) {
		parse_uprobe(events, spec, modifiers, options);
		return;
	}
	if (!k && modifiers.n) {
		parse_tracepoint(events, spec, options);
		return;
	}
	if (!k)
		die_of_event(spec, name);
	attr = events_common_attr(&k->kind, options);
	take_modifiers(&attr, modifiers, spec);
	events_add_event(events, &attr, str_eq(name, STR("auto")) ? name : modifiers.n ? spec : name);
}

/* Exits with a message if -c applies to no event, because all events of the list are sampled by frequency. period:
 * argument of -c. Events that are sampled by frequency do not support -c: stack copies, and the limits for their bytes,
 * need a known rate. */
static void check_period(const struct events *events, uint64_t period)
{
	for (size_t i = 0; i < events->n; i++)
		if (!events->event[i].attr.freq)
			return;
	if (events->event[0].attr.type == SW && period >= SHORTEST_NS && period <= SECOND_NS)
		die_usage("-c: %s is sampled by frequency: -F %" PRIu64 " is a sample every %" PRIu64 " ns",
			  events->event[0].name, SECOND_NS / period, period);
	die_usage("-c: %s is sampled by frequency: -F HZ sets it", events->event[0].name);
}

void events_parse(struct events *events, const char *list, const struct events_options *options)
{
	struct str all = str_of(list);

	*events = (struct events){ 0 };
	while (all.n) {
		struct str one = str_cut(&all, ',');

		if (one.n)
			parse_one(events, one, options);
	}
	if (!events->n)
		die_usage("-e: no event");
	if (options->period)
		check_period(events, options->period);
	if (events->ntracepoints)
		describe_tracepoints(events);
	if (options->wall)
		name_wall_time(events);
	if (options->offcpu)
		add_offcpu(events, options);
}
