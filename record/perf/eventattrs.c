/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/eventattrs.h"

#include "common/arena.h"
#include "record/perf/rings.h"
#include "unwind/dwarf/processor.h"

#include <stdlib.h>
#include <time.h>

/* Assumed number of stack copies per second for an event with a fixed period, whose rate is unknown; the size of rings
 * depends on it. At 600 per second, rings of 1 MB lost up to 0.9 % of the copies. */
#define COUNTED_RATE 1000

/* Returns the attributes of the event that carries process state. They do not request build_id. While any recorder
 * requests it, the kernel (seen with 6.18) marks the mappings in the records of all other recorders, too, as if they
 * had a build-id instead of device and inode; perf record then dies. */
static struct perf_event_attr state_attr(const struct eventattrs_options *options)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RING_SAMPLE_TYPE,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.namespaces = 1,
		.cgroup = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.inherit = options->children,
		.enable_on_exec = options->on_exec,
	};
}

/* Returns the attributes of the event that reports context switches of threads: a switch-out has the callchain and the
 * reason, a switch-in has neither. If stacks are unwound by tables, the samples include user registers, so that the
 * stack can be read while the thread is off the CPU. */
static struct perf_event_attr switch_attr(const struct eventattrs_options *options)
{
	bool registers = options->stack_bytes && processor_here();

	return (struct perf_event_attr){
		.sample_regs_user = registers ? processor_here()->perf : 0,
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_CGROUP | (registers ? PERF_SAMPLE_REGS_USER : 0),
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = 1,
		.exclude_guest = 1,
		.watermark = 1,
		.inherit = options->children,
		.enable_on_exec = options->on_exec,
	};
}

/* Returns true if samples of this event have a stack copy; false for events whose samples the recorder makes itself,
 * and for events of kernel code only. Events with a fixed period may occur tens of thousands of times per second, and
 * each copy has 24 kB: with `both` they have frame-pointer callchains instead. Allocations have a copy even with
 * `both`: they occur only once for each TLAB of hundreds of kB, and their samples need registers. */
static bool has_copy(const struct eventattrs_options *options, const struct chunk_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return !attr->exclude_user && (attr->freq || event->allocates || !options->both) &&
	       (attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_BPF_OUTPUT);
}

uint64_t eventattrs_copies(const struct eventattrs_options *options)
{
	uint64_t max = 0;

	for (size_t i = 0; i < options->nevents; i++) {
		const struct perf_event_attr *attr = &options->event[i].attr;
		uint64_t rate = attr->freq ? attr->sample_freq : COUNTED_RATE;

		if (has_copy(options, &options->event[i]) && rate > max)
			max = rate;
	}
	return max;
}

void eventattrs_request_stack(struct perf_event_attr *attr, uint32_t stack_bytes, bool both)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = processor_here()->perf;
	attr->sample_stack_user = stack_bytes;
	attr->exclude_callchain_user = !both;
}

/* Removes user registers and stack copy from an attribute for files, because the files have the callchain that the
 * recorder unwound from registers and stack copy. */
static void omit_stack(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->exclude_callchain_user = 0;
}

void eventattrs_make(struct eventattrs *eventattrs, const struct eventattrs_options *options)
{
	*eventattrs = (struct eventattrs){ .o = *options, .switches = switch_attr(options) };
	eventattrs->event = mem_alloc(sizeof(*eventattrs->event), options->nevents + 1);
	memcpy(eventattrs->event, options->event, options->nevents * sizeof(*eventattrs->event));
	eventattrs->event[options->nevents].attr = state_attr(options);
	eventattrs->event[options->nevents].name = "dummy:u";
	for (size_t i = 0; i < options->nevents && options->stack_bytes; i++)
		if (has_copy(options, &eventattrs->event[i]))
			eventattrs_request_stack(&eventattrs->event[i].attr, options->stack_bytes, options->both);
}

/* Gives the off-CPU events the sample type of the context-switch event, because the kernel may have refused parts of
 * the type that was requested. */
static void follow_switches(struct eventattrs *eventattrs)
{
	for (size_t i = eventattrs->o.offcpu - 1; i < eventattrs->o.offcpu - 1 + eventattrs->o.made; i++)
		eventattrs->event[i].attr.sample_type =
			eventattrs->switches.sample_type & ~(uint64_t)PERF_SAMPLE_REGS_USER;
}

bool eventattrs_waits(const struct eventattrs *eventattrs)
{
	return eventattrs->o.offcpu && eventattrs->switches.sample_type & PERF_SAMPLE_REGS_USER;
}

/* Sets the id of each event for the files: its index, counted from 1. */
static void eventattrs_number(struct eventattrs *eventattrs)
{
	for (size_t i = 0; i <= eventattrs->o.nevents; i++) {
		uint64_t *id = mem_alloc(sizeof(*id), 1);

		*id = i + 1;
		eventattrs->event[i].ids = id;
		eventattrs->event[i].nids = 1;
	}
}

void eventattrs_opened(struct eventattrs *eventattrs)
{
	if (eventattrs->o.offcpu)
		follow_switches(eventattrs);
	eventattrs_number(eventattrs);
	eventattrs->reported = mem_alloc(sizeof(*eventattrs->reported), eventattrs->o.nevents + 1);
	memcpy(eventattrs->reported, eventattrs->event, (eventattrs->o.nevents + 1) * sizeof(*eventattrs->reported));
	for (size_t i = 0; i < eventattrs->o.nevents; i++)
		if (eventattrs->reported[i].attr.sample_type & PERF_SAMPLE_STACK_USER) {
			omit_stack(&eventattrs->reported[i].attr);
			eventattrs->reported[i].unwound = true;
		}
	for (size_t i = 0; i < eventattrs->o.nevents; i++)
		if (eventattrs->reported[i].attr.type >= PERF_TYPE_MAX)
			/* for a uprobe, config1 is a pointer into this process's memory: files get 0 instead */
			eventattrs->reported[i].attr.config1 = 0;
	for (size_t i = 0; i < eventattrs->o.made && eventattrs_waits(eventattrs); i++)
		eventattrs->reported[eventattrs->o.offcpu - 1 + i].unwound = true;
}

bool eventattrs_cgroups(const struct eventattrs *eventattrs)
{
	for (size_t i = 0; i < eventattrs->o.nevents; i++)
		if (!(eventattrs->event[i].attr.sample_type & PERF_SAMPLE_CGROUP))
			return false;
	return true;
}

void eventattrs_free(struct eventattrs *eventattrs)
{
	for (size_t i = 0; eventattrs->event && i <= eventattrs->o.nevents; i++)
		free((void *)(uintptr_t)eventattrs->event[i].ids);
	free(eventattrs->event);
	free(eventattrs->reported);
	*eventattrs = (struct eventattrs){ 0 };
}
