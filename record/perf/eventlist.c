/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/eventlist.h"

#include "common/arena.h"
#include "common/diag.h"
#include "record/perf/rings.h"
#include "record/perf/tracefs.h"

#include <stdlib.h>
#include <time.h>

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE

struct perf_event_attr events_common_attr(const struct event_kind *kind, const struct events_options *options)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.size = sizeof(attr),
		.config = kind->config,
		.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_CGROUP,
		.read_format = FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = options->inherit,
		.enable_on_exec = options->on_exec,
		.exclude_guest = 1,
		/* the kernel wakes readers after a number of bytes, which sources_open sets by the size of the ring */
		.watermark = 1,
	};

	if (kind->ticks) {
		attr.freq = 1;
		attr.sample_freq = options->frequency;
	} else {
		attr.sample_period = options->period ? options->period : 1;
		if (attr.sample_period > 1)
			/* with a period above 1, PERIOD must not be requested: see RING_SAMPLE_TYPE in rings.h */
			attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	}
	/* excludes idle samples of cpu-clock only: other clocks and counters stop on an idle CPU, or do not support
	 * exclude_idle */
	if (kind->type == SW && kind->config == PERF_COUNT_SW_CPU_CLOCK)
		attr.exclude_idle = !options->idle;
	if (kind->type == HW)
		attr.precise_ip = 2;
	return attr;
}

void events_add_event(struct events *events, const struct perf_event_attr *attr, struct str name)
{
	struct chunk_event *event;
	char *copy = mem_alloc(1, name.n + 1);

	memcpy(copy, name.p, name.n);
	events->event = mem_grow(events->event, sizeof(*events->event), events->n + 1);
	event = events->event + events->n++;
	*event = (struct chunk_event){ .attr = *attr, .name = copy };
}

NORETURN void events_die_of_probes(struct str spec)
{
	die_usage("-e: '%.*s': this kernel has no uprobe PMU (CONFIG_UPROBE_EVENTS, Linux 4.17), or /sys is hidden: "
		  "record on the host",
		  (int)spec.n, spec.p);
}

void events_free(struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free((void *)(uintptr_t)events->event[i].name);
	free(events->event);
	for (size_t i = 0; i < events->nuprobes; i++)
		uprobes_free(events->uprobe + i);
	free(events->uprobe);
	tracefs_free(events->tracepoint, events->ntracepoints);
	text_free(&events->tracing);
	*events = (struct events){ 0 };
}
