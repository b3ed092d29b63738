/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/recording.h"

#include "fold/process/callchain.h"
#include "fold/process/deferred.h"
#include "common/formats/folded.h"
#include "fold/perfdata/cgroupnames.h"
#include "fold/stackquality.h"
#include "common/formats/perfrecord.h"
#include "fold/resolve.h"
#include "fold/process/copiedstack.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct recording {
	const struct recording_options *o;
	struct recording_tally *tally;
	struct perfdata *data;
	struct addrspace as;
	struct locations locations;
	struct samples_options samples_options;
	struct samples samples; /* of sites; first frames are names */
	struct locationcache places;
	struct callchain callchain;
	struct deferred deferred;
	struct provenance origin;
	struct symstore symstore;
	uint64_t first_ns, last_ns;
	uint32_t threads_dso, cut_dso;
	struct copiedstack walk;
	uint64_t lost_records, lost_samples;
	struct slices_lost slices_records, slices_samples; /* the same, as far as they have a time */
	bool cgroups;                                      /* are asked for */
	struct cgroupnames groups;
	struct containers containers;
};

/* ---- pass 1: records ---------------------------------------------------------------------------------------- */

/* Registers and a copy of the stack: the callers are in there, but for those that the copy is too short for (false). */
static bool push_walked(struct recording *f, const struct addrspace_thread *t, const struct perfdata_record *r)
{
	walk_stack(&f->walk, &f->as, t, r, &f->origin, f->data);
	for (size_t i = 0; i < f->walk.n; i++) {
		const struct copiedstack_frame *w = &f->walk.frame[i];

		if (w->method)
			samples_push(&f->samples,
				     locations_id(&f->locations, addrspace_methods(&f->as, t->pid), w->ip) |
					     LOCATION_BIT);
		else
			callchain_push_ip(&f->callchain, t, MODE_USER, w->ip, r->time);
	}
	return !f->walk.short_copy;
}

/* The stack of the open sample, all of whose frames are there, goes on outside of what was recorded. */
static void push_cut(struct recording *f, uint64_t why)
{
	samples_push(&f->samples, locations_id(&f->locations, f->cut_dso, why) | LOCATION_BIT);
}

/* The kernel keeps so many addresses of a stack; event: NULL where it is not known. */
static void push_limit(struct recording *f, const struct perfdata_event *event, const uint64_t *ips, uint64_t n)
{
	uint64_t own = event ? event->max_stack : 0, max = own ? own : RECORDING_LIMIT, addresses;

	if (likely(n < max))
		return;
	addresses = callchain_addresses(ips, n);
	if (addresses >= max)
		push_cut(f, own ? CUT_BY_EVENT : addresses);
}

/* What the recorder says of the end of a stack that it walked: see PJ_ITEM_UNWINDING. */
static void push_end(struct recording *f, const uint64_t *ips, uint64_t n)
{
	uint64_t marks = 0;

	while (marks < n && ips[n - 1 - marks] == CONTEXT_USER)
		marks++;
	if (marks == 1)
		push_cut(f, CUT_MARKED);
	for (uint64_t i = n - marks; marks == 0 && i-- > 0;)
		if (ips[i] == CONTEXT_USER) {
			push_cut(f, CUT_NOWHERE);
			return;
		}
}

static bool is_walked(const struct recording *f, const struct perfdata_event *e)
{
	size_t n;

	return recorder_walked(&perfdata_info(f->data)->recorder, (uint64_t)(e - perfdata_events(f->data, &n)) + 1);
}

static void push_frames(struct recording *f, const struct addrspace_thread *t, const struct perfdata_record *r)
{
	bool walks = r->sample.regs_abi && r->sample.stack.n, complete = true;

	if (r->sample.has_chain)
		callchain_push(&f->callchain, t, r);
	else if (!walks || r->sample.mode != MODE_USER) /* else the walk begins there */
		callchain_push_ip(&f->callchain, t, r->sample.mode, r->sample.ip, r->time);
	if (walks)
		complete = push_walked(f, t, r);
	/* an empty callchain has at least the place that was interrupted; perf shows nothing of it */
	if (f->samples.nframes == 0 && (!r->sample.has_chain || !f->o->as_perf) && r->sample.ip)
		callchain_push_ip(&f->callchain, t, r->sample.mode, r->sample.ip, r->time);
	if (!complete)
		push_cut(f, CUT_COPY);
	else if (r->sample.has_chain && !f->o->as_perf && is_walked(f, r->sample.event))
		push_end(f, r->sample.ips, r->sample.nips);
	else if (r->sample.has_chain)
		push_limit(f, r->sample.event, r->sample.ips, r->sample.nips);
}

/* The slice that a time is in. Slices are multiples of their length, on the wall clock where the recording tells it. */
static struct str slice_of(const struct recording *f, uint64_t ns, char name[SLICES_NAME])
{
	const struct perfdata_info *info = perfdata_info(f->data);

	if (info->has_clock_data)
		ns += info->clock_wall - info->clock_record;
	return slices_name(ns, f->o->slice_ns, name);
}

/* How many frames stand in front of all others: of --time-slice, then of --by. */
static unsigned recording_fronts(const struct recording *f)
{
	return (f->o->slice_ns ? 1u : 0u) + (f->o->by ? 1u : 0u);
}

/* The open sample goes below these. */
static void put_fronts(struct recording *f, const struct perfdata_record *r, struct str cgroup)
{
	struct stacks *s = &f->samples.stacks;
	uint32_t root = f->samples.sample.root, node = 0;
	char name[SLICES_NAME];

	if (f->o->slice_ns)
		node = stacks_child(s, node, stacks_frame(s, slice_of(f, r->time, name)));
	if (f->o->by) /* the name of it comes later */
		node = stacks_child(s, node, stacks_frame(s, cgroup));
	f->samples.sample.root = root ? stacks_child(s, node, s->node[root].frame) : node;
}

/* The open sample has its frames. */
static void recording_end_sample(struct recording *f, uint32_t comm)
{
	if (f->o->root == ROOT_BOTH && f->samples_options.comm != COMM_NONE)
		samples_push(&f->samples, locations_id(&f->locations, f->threads_dso, comm) | LOCATION_BIT);
	samples_close(&f->samples, NULL);
}

static void recording_close_sample(struct recording *f, const struct addrspace_thread *t,
				   const struct perfdata_record *r, uint32_t comm)
{
	push_frames(f, t, r);
	recording_end_sample(f, comm);
}

/* ---- deferred callchains ------------------------------------------------------------------------------------ */

/* Samples whose user half is not expected any more end without. */
static void recording_give_up(struct recording *f, bool at_end)
{
	uint32_t comm;

	while (deferred_give_up(&f->deferred, &f->samples, at_end, &comm)) {
		f->tally->deferred++;
		recording_end_sample(f, comm);
	}
}

static void wait_for_user(struct recording *f, const struct addrspace_thread *t, const struct perfdata_record *r,
			  uint32_t comm)
{
	callchain_push(&f->callchain, t, r);
	deferred_put(&f->deferred, &f->samples, r->tid, r->sample.cookie, comm);
	recording_give_up(f, false);
}

/* The user half of all samples of a thread since it entered the kernel. */
static void join_user(struct recording *f, const struct perfdata_record *r)
{
	struct addrspace_thread *t = addrspace_thread(&f->as, r->pid, r->tid);
	uint32_t comm;

	while (deferred_take(&f->deferred, &f->samples, r->tid, r->deferred.cookie, &comm)) {
		callchain_push_part(&f->callchain, t, r->deferred.ips, r->deferred.nips, r->time);
		push_limit(f, NULL, r->deferred.ips, r->deferred.nips);
		recording_end_sample(f, comm);
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

/* Whoever had pjrecord take times off the CPU wants to see them; which of its three events comes first is chance. (Only
 * ours has the second: the first of perf's own is what one expects of perf.) */
static struct str preferred_event(const struct recording *f)
{
	const struct perfdata_event *event;
	unsigned found = 0;
	size_t n;

	event = perfdata_events(f->data, &n);
	for (size_t i = 0; i < n; i++)
		found += str_eq(event[i].name, STR("offcpu-time")) ||
			 str_eq(event[i].name, STR("offcpu-time-preempted"));
	return found == 2 ? STR("offcpu-time") : (struct str){ 0 };
}

static void add_sample(struct recording *f, const struct perfdata_record *r)
{
	const struct samples_options *o = &f->samples_options;
	struct addrspace_thread *t = addrspace_thread(&f->as, r->pid, r->tid);
	struct addrspace_thread *leader = r->pid == r->tid ? t : addrspace_thread(&f->as, r->pid, r->pid);
	uint32_t comm = addrspace_comm(&f->as, t),
		 first = f->o->root == ROOT_THREAD ? comm : addrspace_comm(&f->as, leader);
	const uint32_t label[] = { first, o->pid || o->tid ? r->pid : 0, o->tid ? r->tid : 0 };
	struct sample_key h = {
		.comm = intern_str(&f->as.comms, comm),
		.first = intern_str(&f->as.comms, first),
		.before = { (const char *)label, sizeof(label) },
		.event = r->sample.event->name,
		.pid = (int32_t)r->pid,
		.tid = (int32_t)r->tid,
		.cpu = r->has_cpu ? (int64_t)r->cpu : -1,
		.period = r->sample.period,
		.timed = r->has_time,
		.ns = r->time,
	};

	if (f->cgroups)
		h.cgroup = cgroupnames_path(&f->groups, r->sample.cgroup);

	if (unlikely(!f->samples.chosen))
		f->samples.preferred = preferred_event(f);
	samples_open(&f->samples, &h);
	if (f->samples.sample.state != SAMPLE_OPEN)
		return;
	if (recording_fronts(f))
		put_fronts(f, r, h.cgroup);
	if (unlikely(r->sample.cookie))
		wait_for_user(f, t, r, comm);
	else
		recording_close_sample(f, t, r, comm);
}

/* ---- wall time ---------------------------------------------------------------------------------------------- */

/* A time on the wall clock as one on the record's. */
static void recording_settle(struct select_time *t, const struct perfdata_info *info, const char *name)
{
	if (!t->wall)
		return;
	if (!info->has_clock_data)
		die("'%s' does not tell the wall clock: perf record -k CLOCK_MONOTONIC does; give seconds of the record's "
		    "clock, or +SECONDS from the first sample",
		    name);
	t->wall = false;
	t->ns = t->ns + info->clock_record < info->clock_wall ? 0 : t->ns + info->clock_record - info->clock_wall;
}

/* ---- all records -------------------------------------------------------------------------------------------- */

static void recording_lose(struct recording *f, const struct perfdata_record *r, uint64_t records, uint64_t samples)
{
	char name[SLICES_NAME];

	f->lost_records += records;
	f->lost_samples += samples;
	if (f->o->slice_ns && r->has_time && r->time)
		slices_lose(records ? &f->slices_records : &f->slices_samples, slice_of(f, r->time, name),
			    records + samples);
}

static void add_record(struct recording *f, const struct perfdata_record *r)
{
	if (r->has_time && r->time) {
		if (f->first_ns == 0 || r->time < f->first_ns)
			f->first_ns = r->time;
		if (r->time > f->last_ns)
			f->last_ns = r->time;
	}
	switch (r->kind) {
	case PERFDATA_SAMPLE: add_sample(f, r); break;
	case PERFDATA_LOST:
		if (!r->lost.samples && perfdata_info(f->data)->recorder.is) /* of the state of processes */
			break;
		recording_lose(f, r, r->lost.samples ? 0 : r->lost.count, r->lost.samples ? r->lost.count : 0);
		break;
	case PERFDATA_THROTTLE: f->tally->throttled++; break;
	case PERFDATA_DEFERRED: join_user(f, r); break;
	case PERFDATA_CGROUP:
		if (f->cgroups)
			cgroupnames_add(&f->groups, r->cgroup.id, r->cgroup.path);
		break;
	case PERFDATA_MMAP:
		addrspace_record(&f->as, r);
		if (!f->o->as_perf)
			locationcache_map(&f->places, r, &f->origin, perfdata_info(f->data));
		break;
	default: addrspace_record(&f->as, r); break;
	}
}

static void recording_read_records(struct recording *f, struct in *in)
{
	const struct perfdata_info *info = perfdata_info(f->data);
	const struct perfdata_record *r;
	const struct perfdata_build_id *id;
	size_t n;

	f->origin = provenance_of(info, in, info->first, info->last); /* jitdumps and timelines are asked on the way */
	if (!f->o->as_perf)
		timelines_open(&f->places.timelines, f->o->maps, &f->symstore, &f->origin);
	f->places.monotonic = f->walk.monotonic = info->clock == CLOCK_MONOTONIC;
	f->walk.timelines = f->o->as_perf ? NULL : &f->places.timelines;
	while ((r = perfdata_next(f->data)) != NULL) {
		if (unlikely(r->kind == PERFDATA_SAMPLE && select_needs_wall(&f->samples_options.select))) {
			/* a pipe tells of clocks before the first sample */
			recording_settle(&f->samples_options.select.from, perfdata_info(f->data), in->name);
			recording_settle(&f->samples_options.select.to, perfdata_info(f->data), in->name);
		}
		add_record(f, r);
	}
	recording_give_up(f, true);
	f->origin = provenance_of(perfdata_info(f->data), in, f->first_ns, f->last_ns);
	id = perfdata_build_ids(f->data, &n);
	addrspace_build_ids(&f->as, id, n);
}

/* What stands where a method may be, and is none of those that the recorder tells, is an address without code. */
static void settle_methods(struct recording *f)
{
	for (uint32_t id = 1; id <= f->locations.n && f->origin.recorder->unwound; id++) {
		struct location_key *s = &f->locations.location[id];
		const struct dso *d = &f->as.dso[s->dso];

		if (d->kind == DSO_METHOD && !interpreted_find(&f->origin.recorder->interpreted, d->pid, s->address))
			*s = (struct location_key){ f->places.addresses ? s->address : 0, 0 };
	}
}

/* ---- pass 3: names ------------------------------------------------------------------------------------------ */

/* What --skip-after and --collapse-recursion need to know of a frame. */
struct elf_reduction {
	const struct samples_options *o;
	struct stacks *to;
	uint8_t *skip; /* by frame: 1 its callers are dropped, 2 not, 0 not looked at */
	size_t cap;
};

static bool recording_is_skip_after(struct elf_reduction *r, uint32_t frame)
{
	struct str name;

	if (frame >= r->cap) {
		size_t cap = (size_t)r->to->frames.cap + 1;

		r->skip = mem_grow(r->skip, 1, cap);
		memset(r->skip + r->cap, 0, cap - r->cap);
		r->cap = cap;
	}
	if (r->skip[frame] == 0) {
		name = folded_plain(intern_str(&r->to->frames, frame));
		r->skip[frame] = 2;
		for (size_t i = 0; i < r->o->nskip_after; i++)
			if (str_eq(name, folded_plain(r->o->skip_after[i])))
				r->skip[frame] = 1;
	}
	return r->skip[frame] == 1;
}

/* The node of frame called from node; top: node is a first frame, which is no function. base: what is above of all. */
static uint32_t recording_step(struct elf_reduction *r, uint32_t base, uint32_t node, bool top, uint32_t frame)
{
	const struct intern *names = &r->to->frames;

	if (r->o->nskip_after && recording_is_skip_after(r, frame))
		return stacks_child(r->to, base, frame);
	if (r->o->collapse_recursion && node && !top) {
		uint32_t before = r->to->node[node].frame;

		if (before == frame)
			return node;
		if (str_eq(folded_plain(intern_str(names, before)), folded_plain(intern_str(names, frame))))
			return stacks_child(r->to, r->to->node[node].parent, frame);
	}
	return stacks_child(r->to, node, frame);
}

/* By node: is it one of those that stand in front of all? */
static bool *find_fronts(const struct recording *f)
{
	const struct stacks *s = &f->samples.stacks;
	unsigned n = recording_fronts(f);
	bool *front = mem_alloc(sizeof(*front), (size_t)s->n + 1);

	for (uint32_t id = 1; id < s->n && n; id++) {
		uint32_t parent = s->node[id].parent;

		front[id] = parent == 0 || (n == 2 && front[parent] && s->node[parent].parent == 0);
	}
	return front;
}

/* What a frame in front says: of a cgroup there is the path so far. */
static uint32_t front_frame(struct recording *f, uint32_t id, struct stacks *to)
{
	const struct stacks *from = &f->samples.stacks;
	struct str shown = intern_str(&from->frames, from->node[id].frame);
	struct names names = { 0 };
	struct text t = { 0 };
	uint32_t frame;

	if (!f->o->by || (f->o->slice_ns && from->node[id].parent == 0))
		return stacks_frame(to, shown);
	containers_name(&f->containers, f->o->by, shown, &t);
	frame = stacks_frame(
		to, names_comm(&names, text_view(&t), false)); /* without blanks and what frames must not hold */
	names_free(&names);
	text_free(&t);
	return frame;
}

/* The tree of sites becomes one of names, in to. Parents have smaller numbers than their children. */
static bool rename_tree(struct recording *f, const struct resolved *names, const bool *front, struct stacks *to)
{
	const struct stacks *from = &f->samples.stacks;
	struct elf_reduction r = { .o = f->o->samples, .to = to };
	uint32_t *node = mem_alloc(sizeof(*node), from->n);
	uint32_t *base =
		mem_alloc(sizeof(*base), from->n); /* the last frame in front of all, in to; 0: there are none */
	bool *top = mem_alloc(sizeof(*top), from->n), fits = true;

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t frame = from->node[id].frame, location = frame & ~LOCATION_BIT, parent = from->node[id].parent,
			 at = node[parent];

		base[id] = base[parent];
		if (!(frame & LOCATION_BIT)) {
			top[id] = true;
			at = stacks_child(to, at,
					  front[id] ? front_frame(f, id, to) :
						      stacks_frame(to, intern_str(&from->frames, frame)));
			if (front[id])
				base[id] = at;
		} else {
			bool first = top[parent];
			enum dso_kind kind = f->as.dso[f->locations.location[location].dso].kind;

			top[id] = kind == DSO_THREAD || (kind == DSO_CUT && first);
			for (uint32_t i = names->first[location]; i < names->first[location + 1]; i++, first = false)
				at = recording_step(&r, base[id], at, first, names->frame[i]);
		}
		node[id] = at;
		if (from->self[0][id])
			fits = stacks_add(to, at, 0, from->self[0][id]) && fits;
	}
	free(node);
	free(base);
	free(top);
	free(r.skip);
	return fits;
}

/* ---- one recording ------------------------------------------------------------------------------------------ */

/* What was only said while reading, and what the file says of itself. */
static void take_over(struct recording *f, struct samples *p)
{
	const struct perfdata_info *info = perfdata_info(f->data);
	const struct perfdata_event *event;
	char text[32];
	size_t n;

	/* both count what full buffers lost; a record of samples is exact, the other counts all kinds of records */
	p->tally.lost += f->lost_samples > f->lost_records ? f->lost_samples : f->lost_records;
	f->tally->lost_records += f->lost_records;
	f->tally->lost_samples += f->lost_samples;
	slices_lost_add(&f->tally->slices,
			f->slices_samples.sum > f->slices_records.sum ? &f->slices_samples : &f->slices_records);
	slices_lost_free(&f->slices_samples);
	slices_lost_free(&f->slices_records);
	f->tally->copy_cut += f->walk.cut;
	f->tally->methods_left_out += f->o->as_perf ? 0 : info->recorder.interpreted.left_out;
	f->tally->garbage += f->callchain.garbage;
	if (!p->host.n)
		p->host = arena_copy(&p->text, info->host);
	event = perfdata_events(f->data, &n);
	for (size_t i = 0; i < n && !p->frequency.n; i++) {
		if (!str_eq(event[i].name, p->event_name) || event[i].frequency == 0)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)event[i].frequency);
		p->frequency = arena_copy(&p->text, str_of(text));
	}
}

static void print_input_errors(struct recording *f, struct in *in)
{
	const struct perfdata_tally *t = perfdata_tally(f->data);

	if (t->bad)
		warn("%s@%llu: %s; %llu record%s not used", in->name, (unsigned long long)t->first_bad, t->why,
		     (unsigned long long)t->bad, t->bad == 1 ? " is" : "s are");
	if (perfdata_info(f->data)->unfinished)
		warn("%s: the recorder did not end this file: the whole records in it are used%s", in->name,
		     f->origin.reported || f->o->symfs ? "" : "; names need --symfs /, if it is from this machine");
	f->tally->damaged = f->tally->damaged || t->bad || perfdata_info(f->data)->unfinished;
}

/* Names of pods are those of the recorded machine: of this one only if it is that, and was not started again. */
static void read_pods(struct recording *f)
{
	struct text folder = { 0 };

	if (f->o->by != BY_POD || (!f->o->symfs && !f->origin.boot))
		return;
	text_add(&folder, f->o->symfs ? f->o->symfs : "");
	text_add(&folder, "/var/log/containers");
	text_char(&folder, 0);
	containers_read(&f->containers, folder.p);
	text_free(&folder);
}

static void add_timelines(struct recording_timelines *to, const struct locationcache *p)
{
	to->files += p->timelines.found;
	to->left_out += p->timelines.left_out;
	to->sure += p->is_requested[TIMELINE_SURE];
	to->likely += p->is_requested[TIMELINE_LIKELY];
	to->ambiguous += p->is_requested[TIMELINE_AMBIGUOUS];
	to->unknown += p->is_requested[TIMELINE_NONE];
	to->newest |= p->timelines.found && !p->monotonic;
	inputerrors_add(&to->errors, &p->timelines.errors);
}

static void name_and_add(struct recording *f, struct samples *p)
{
	struct resolve_options o = {
		.as_perf = f->o->as_perf,
		.inlined = f->o->inlined,
		.kallsyms = f->o->kallsyms,
		.symfs = f->o->symfs,
		.symstore = f->o->as_perf ? NULL : &f->symstore,
		.threads = f->o->threads,
		.names = f->o->samples->names,
		.canonical = f->o->samples->comm == COMM_CANONICAL,
	};
	struct resolved names;
	struct stack_quality j;
	bool *front;

	settle_methods(f);
	resolve(&names, &o, &f->origin, &f->as, &f->locations, &p->stacks);
	read_pods(f);
	front = find_fronts(f);
	if (!rename_tree(f, &names, front, &p->stacks))
		p->tally.overflow = true;
	j = (struct stack_quality){ &f->as, &f->locations, &f->samples.stacks, front, &names, &p->stacks };
	stackquality_measure(&j, f->tally, p);
	free(front);
	inputerrors_add(&f->tally->maps, &names.maps);
	f->tally->conflicts += names.conflicts;
	inputerrors_add(&f->tally->jitdumps, &f->places.errors);
	add_timelines(&f->tally->timelines, &f->places);
	if (names.kernel)
		f->tally->kernel = names.kernel;
	resolved_free(&names);
}

static bool has_cgroups(const struct recording *f)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(f->data, &n);
	for (size_t i = 0; i < n; i++)
		if (event[i].sample_type & PERF_SAMPLE_CGROUP)
			return true;
	return n == 0;
}

static void recording_begin(struct recording *f, const struct in *in, struct samples *p)
{
	/* samples of sites: options that look at names come when names are there */
	f->samples_options = *f->o->samples;
	f->samples_options.nskip_after = 0;
	f->samples_options.collapse_recursion = false;
	f->samples_options.names.addresses = false;
	f->samples_options.counts = true;
	samples_init(&f->samples, &f->samples_options);
	f->walk.symfs = f->o->symfs;
	f->walk.as_perf = f->o->as_perf;
	f->walk.symstore = f->o->as_perf ? NULL : &f->symstore;
	f->samples.chosen = p->chosen;
	f->samples.event_key = p->event_key;
	f->samples.event_name = p->event_name;
	f->cgroups = f->o->by || f->o->samples->select.cgroup.n;
	if (f->cgroups && !has_cgroups(f))
		die_usage("%s needs cgroups, which '%s' does not tell: perf record --all-cgroups, or pjrecord",
			  f->o->by ? "--by" : "--only cgroup=", in->name);
	addrspace_init(&f->as, f->o->as_perf);
	f->as.symstore = f->walk.symstore;
	f->threads_dso = addrspace_special(&f->as, DSO_THREAD, STR(""));
	f->cut_dso = addrspace_special(&f->as, DSO_CUT, STR(""));
	f->places = (struct locationcache){ .as = &f->as,
					    .locations = &f->locations,
					    .symfs = f->o->symfs,
					    .symstore = f->walk.symstore,
					    .timelines = { .dir = -1 },
					    .addresses = f->o->samples->names.addresses };
	f->callchain = (struct callchain){ .places = &f->places, .to = &f->samples, .as_perf = f->o->as_perf };
}

void recording_read(const struct recording_options *o, struct in *in, struct samples *p, struct recording_tally *t)
{
	struct recording f = { .o = o, .tally = t };

	t->recordings++;
	t->as_perf = o->as_perf;
	f.data = perfdata_open(in);
	symstore_open(&f.symstore, o->saved, in, &perfdata_info(f.data)->recorder);
	recording_begin(&f, in, p);
	recording_read_records(&f, in);
	samples_merge_counts(p, &f.samples);
	take_over(&f, p);
	name_and_add(&f, p);
	print_input_errors(&f, in);
	deferred_free(&f.deferred);
	cgroupnames_free(&f.groups);
	containers_free(&f.containers);
	locationcache_free(&f.places);
	walk_free(&f.walk);
	samples_free(&f.samples);
	locations_free(&f.locations);
	addrspace_free(&f.as);
	symstore_close(&f.symstore);
	perfdata_close(f.data);
}

void recording_tally_free(struct recording_tally *t)
{
	intern_free(&t->missing_keys);
	intern_free(&t->quality_keys);
	free(t->missing);
	free(t->quality);
	slices_lost_free(&t->slices);
}
