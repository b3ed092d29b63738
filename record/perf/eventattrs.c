/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/eventattrs.h"

#include "common/arena.h"
#include "record/perf/rings.h"
#include "unwind/processor.h"

#include <stdlib.h>
#include <time.h>

/* No build_id: while any recorder asks for it, the kernel (seen with 6.18) marks the mappings that it tells to all
 * others, too, as if they had one in place of device and inode, and perf record dies of that. */
static struct perf_event_attr state_attr(const struct eventattrs_options *o)
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
		.inherit = o->children,
		.enable_on_exec = o->on_exec,
	};
}

/* Each time a thread leaves a CPU: its callchain, and why; and when it is back. Its ring wakes us when it is half full.
 */
static struct perf_event_attr switch_attr(const struct eventattrs_options *o)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_CGROUP,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = 1,
		.exclude_guest = 1,
		.watermark = 1,
		.inherit = o->children,
		.enable_on_exec = o->on_exec,
	};
}

/* Of samples that the kernel makes, of code of users. What is counted may come ten thousands of times a second, 24 kB
 * each: where the choice is ours, frame pointers must do. */
static bool has_copy(const struct eventattrs_options *o, const struct perf_event_attr *e)
{
	return !e->exclude_user && (e->freq || !o->both) &&
	       (e->type != PERF_TYPE_SOFTWARE || e->config != PERF_COUNT_SW_BPF_OUTPUT);
}

uint64_t eventattrs_copies(const struct eventattrs_options *o)
{
	uint64_t max = 0;

	for (size_t i = 0; i < o->nevents; i++) {
		const struct perf_event_attr *e = &o->event[i].attr;
		uint64_t rate = e->freq ? e->sample_freq : 1;

		if (has_copy(o, e) && rate > max)
			max = rate;
	}
	return max;
}

void eventattrs_request_stack(struct perf_event_attr *a, uint32_t stack_bytes, bool both)
{
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = processor_here()->perf;
	a->sample_stack_user = stack_bytes;
	a->exclude_callchain_user = !both;
}

/* Files hold the callchain that the recorder made of registers and stack, not these two. */
static void omit_stack(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	a->sample_regs_user = 0;
	a->sample_stack_user = 0;
	a->exclude_callchain_user = 0;
}

void eventattrs_make(struct eventattrs *a, const struct eventattrs_options *o)
{
	*a = (struct eventattrs){ .o = *o, .switches = switch_attr(o) };
	a->event = mem_alloc(sizeof(*a->event), o->nevents + 1);
	memcpy(a->event, o->event, o->nevents * sizeof(*a->event));
	a->event[o->nevents].attr = state_attr(o);
	a->event[o->nevents].name = "dummy:u";
	for (size_t i = 0; i < o->nevents && o->stack_bytes; i++)
		if (has_copy(o, &a->event[i].attr))
			eventattrs_request_stack(&a->event[i].attr, o->stack_bytes, o->both);
}

/* Samples that we make are what the kernel's are. */
static void follow_switches(struct eventattrs *a)
{
	for (size_t i = a->o.offcpu - 1; i < a->o.offcpu + 1; i++)
		a->event[i].attr.sample_type = a->switches.sample_type;
}

/* Events have our numbers in the files, one each. */
static void eventattrs_number(struct eventattrs *a)
{
	for (size_t i = 0; i <= a->o.nevents; i++) {
		uint64_t *id = mem_alloc(sizeof(*id), 1);

		*id = i + 1;
		a->event[i].ids = id;
		a->event[i].nids = 1;
	}
}

void eventattrs_opened(struct eventattrs *a)
{
	if (a->o.offcpu)
		follow_switches(a);
	eventattrs_number(a);
	a->reported = mem_alloc(sizeof(*a->reported), a->o.nevents + 1);
	memcpy(a->reported, a->event, (a->o.nevents + 1) * sizeof(*a->reported));
	for (size_t i = 0; i < a->o.nevents; i++)
		if (a->reported[i].attr.sample_type & PERF_SAMPLE_STACK_USER) {
			omit_stack(&a->reported[i].attr);
			a->reported[i].unwound = true;
		}
}

bool eventattrs_cgroups(const struct eventattrs *a)
{
	for (size_t i = 0; i < a->o.nevents; i++)
		if (!(a->event[i].attr.sample_type & PERF_SAMPLE_CGROUP))
			return false;
	return true;
}

void eventattrs_free(struct eventattrs *a)
{
	for (size_t i = 0; a->event && i <= a->o.nevents; i++)
		free((void *)(uintptr_t)a->event[i].ids);
	free(a->event);
	free(a->reported);
	*a = (struct eventattrs){ 0 };
}
