/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include "arena.h"
#include "diag.h"
#include "hints.h"
#include "rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE

static const struct known {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	bool ticks; /* sampled by frequency */
} known[] = {
	{ "cycles", "cpu-cycles", HW, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "instructions", NULL, HW, PERF_COUNT_HW_INSTRUCTIONS, true },
	{ "cache-references", NULL, HW, PERF_COUNT_HW_CACHE_REFERENCES, true },
	{ "cache-misses", NULL, HW, PERF_COUNT_HW_CACHE_MISSES, true },
	{ "branches", "branch-instructions", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true },
	{ "branch-misses", NULL, HW, PERF_COUNT_HW_BRANCH_MISSES, true },
	{ "bus-cycles", NULL, HW, PERF_COUNT_HW_BUS_CYCLES, true },
	{ "ref-cycles", NULL, HW, PERF_COUNT_HW_REF_CPU_CYCLES, true },
	{ "stalled-cycles-frontend", NULL, HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, true },
	{ "stalled-cycles-backend", NULL, HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, true },
	{ "cpu-clock", NULL, SW, PERF_COUNT_SW_CPU_CLOCK, true },
	{ "task-clock", NULL, SW, PERF_COUNT_SW_TASK_CLOCK, true },
	{ "page-faults", "faults", SW, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "minor-faults", NULL, SW, PERF_COUNT_SW_PAGE_FAULTS_MIN, false },
	{ "major-faults", NULL, SW, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false },
	{ "context-switches", "cs", SW, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cpu-migrations", "migrations", SW, PERF_COUNT_SW_CPU_MIGRATIONS, false },
	{ "alignment-faults", NULL, SW, PERF_COUNT_SW_ALIGNMENT_FAULTS, false },
	{ "emulation-faults", NULL, SW, PERF_COUNT_SW_EMULATION_FAULTS, false },
};

bool events_try(const struct perf_event_attr *a)
{
	struct perf_event_attr plain = { .type = a->type,
					 .size = sizeof(plain),
					 .config = a->config,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &plain, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static struct perf_event_attr common_attr(const struct known *k, const struct events_options *o)
{
	struct perf_event_attr a = {
		.type = k->type,
		.size = sizeof(a),
		.config = k->config,
		.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_CGROUP,
		.read_format = FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = o->inherit,
		.enable_on_exec = o->on_exec,
		.exclude_guest = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(o->ring_bytes / 2),
	};

	if (k->ticks) {
		a.freq = 1;
		a.sample_freq = o->frequency;
	} else {
		a.sample_period = o->period ? o->period : 1;
	}
	if (k->type == SW && k->config == PERF_COUNT_SW_CPU_CLOCK)
		a.exclude_idle = !o->idle; /* others stop with the CPU, or cannot tell */
	if (k->type == HW)
		a.precise_ip = 2;
	return a;
}

/* "cycles:u": :u :k, as perf writes them; what else perf knows there is refused. */
static void take_modifiers(struct perf_event_attr *a, struct str m, struct str spec)
{
	bool user = false, kernel = false;

	for (size_t i = 0; i < m.n; i++) {
		if (m.p[i] == 'u')
			user = true;
		else if (m.p[i] == 'k')
			kernel = true;
		else if (m.p[i] == 'p' && a->type == HW)
			a->precise_ip = 2;
		else
			die_usage("-e: '%.*s': behind the colon may stand u (user space) or k (kernel)", (int)spec.n,
				  spec.p);
	}
	if (user && !kernel)
		a->exclude_kernel = a->exclude_hv = 1;
	if (kernel && !user)
		a->exclude_user = 1;
}

static void add_event(struct events *e, const struct perf_event_attr *a, struct str name)
{
	struct chunk_event *event;
	char *copy = mem_alloc(1, name.n + 1);

	memcpy(copy, name.p, name.n);
	e->event = mem_grow(e->event, sizeof(*e->event), e->n + 1);
	event = e->event + e->n++;
	*event = (struct chunk_event){ .attr = *a, .name = copy };
}

static const struct known *find(struct str name)
{
	for (size_t i = 0; i < countof(known); i++)
		if (str_eq(name, str_of(known[i].name)) || (known[i].alias && str_eq(name, str_of(known[i].alias))))
			return known + i;
	return NULL;
}

static void parse_one(struct events *e, struct str spec, const struct events_options *o)
{
	struct str modifiers = spec, name = str_cut(&modifiers, ':');
	struct known raw = { .type = PERF_TYPE_RAW, .ticks = true };
	const struct known *k = find(name);
	struct perf_event_attr a;

	if (str_eq(name, STR("auto"))) {
		struct perf_event_attr cycles = { .type = HW, .config = PERF_COUNT_HW_CPU_CYCLES };

		e->by_clock = !events_try(&cycles) && hint_no_pmu(errno);
		k = find(e->by_clock ? STR("cpu-clock") : STR("cycles"));
		name = str_of(k->name);
	}
	if (!k && name.n > 1 && name.p[0] == 'r' && str_hex(str_from(name, 1), &raw.config))
		k = &raw;
	if (!k)
		die_usage(
			"-e: '%.*s' is no event that pjrecord knows: cpu-clock, cycles, page-faults, context-switches, ..., or r1a8",
			(int)spec.n, spec.p);
	a = common_attr(k, o);
	take_modifiers(&a, modifiers, spec);
	add_event(e, &a, str_eq(name, STR("auto")) ? name : modifiers.n ? spec : name);
}

void events_parse(struct events *e, const char *list, const struct events_options *o)
{
	struct str all = str_of(list);

	*e = (struct events){ 0 };
	while (all.n) {
		struct str one = str_cut(&all, ',');

		if (one.n)
			parse_one(e, one, o);
	}
	if (!e->n)
		die_usage("-e: no event");
}

void events_free(struct events *e)
{
	for (size_t i = 0; i < e->n; i++)
		free((void *)(uintptr_t)e->event[i].name);
	free(e->event);
	*e = (struct events){ 0 };
}
