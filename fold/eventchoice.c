/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/eventchoice.h"

#include "fold/samples/samplekey.h"

#include <linux/perf_event.h>

/* Returns true if an event samples CPU time: cycles, cpu-clock or task-clock; false for all other events. */
static bool samples_cpu_time(const struct perfdata_event *event)
{
	/* The upper 32 bits of config select the PMU of a hybrid CPU. */
	return event->is_time ||
	       (event->type == PERF_TYPE_HARDWARE && (uint32_t)event->config == PERF_COUNT_HW_CPU_CYCLES);
}

static bool has_event(const struct perfdata *data, struct str name)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(data, &n);
	for (size_t i = 0; i < n; i++)
		if (str_eq(event[i].name, name))
			return true;
	return false;
}

bool eventchoice_has_offcpu(const struct perfdata *data)
{
	return has_event(data, STR("offcpu-time")) && has_event(data, STR("offcpu-time-preempted"));
}

struct str eventchoice_default(const struct perfdata *data)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(data, &n);
	if (has_event(data, STR("wall-time-blocked")))
		return STR("wall-time");
	if (eventchoice_has_offcpu(data))
		return STR("offcpu-time");
	return n > 1 && samples_cpu_time(&event[0]) ? samplekey_event_key(event[0].name) : (struct str){ 0 };
}
