/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/recording.h"

#include "fold/process/jvmthreads.h"
#include "fold/process/callchain.h"
#include "fold/threads/threadstacks.h"
#include "fold/process/deferred.h"
#include "fold/perfdata/cgroupnames.h"
#include "fold/process/losses.h"
#include "fold/nametree.h"
#include "fold/process/sampleframes.h"
#include "fold/stackquality.h"
#include "fold/troubles.h"
#include "common/formats/offcpustats.h"
#include "common/formats/perfrecord.h"
#include "fold/resolve.h"
#include "fold/threads/threadtext.h"
#include "fold/process/copiedstack.h"
#include "fold/opener/fileopener.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* State of one recording while it is read: options, caches, open samples and counts. */
struct recording {
	const struct recording_options *o;
	struct recording_tally *tally;
	struct perfdata *data;
	struct addrspace as;
	struct locations locations;
	struct samples_options samples_options;
	/* Call tree of the recording: first frames are names, all other frames are locations (LOCATION_BIT). */
	struct samples samples;
	struct locationcache locationcache;
	struct callchain callchain;
	struct sampleframes frames;
	struct deferred deferred;
	struct provenance origin;
	struct symstore symstore;
	uint64_t first_ns, last_ns;
	struct copiedstack copied;
	struct losses losses;
	/* True if --by or --only cgroup= needs the cgroups of samples. */
	bool cgroups;
	struct cgroupnames groups;
	struct containers containers;
	struct threadstacks newest; /* newest stack of each thread, for --thread-dump */
};

/* ---- pass 1: records and their stacks ----------------------------------------------------------------------- */

/* Returns the name of the time slice that contains `ns`, a time of the recording's clock. Slices begin at multiples of
 * their length: on the wall clock if the recording relates its clock to the wall clock, otherwise on the recording's
 * clock. */
static struct str slice_of(const struct recording *recording, uint64_t ns, char name[SLICES_NAME])
{
	const struct perfdata_info *info = perfdata_info(recording->data);

	if (info->has_clock_data)
		ns += info->clock_wall - info->clock_record;
	return slices_name(ns, recording->o->slice_ns, name);
}

/* Returns the number of frames (0 to 2) outside of the first frame: one for --time-slice, one for --by. */
static unsigned recording_fronts(const struct recording *recording)
{
	return (recording->o->slice_ns ? 1u : 0u) + (recording->o->by ? 1u : 0u);
}

/* Puts frames for --time-slice and --by outside of the first frame of the open sample. */
static void put_fronts(struct recording *recording, const struct perfdata_record *record, struct str cgroup)
{
	struct stacks *stacks = &recording->samples.stacks;
	uint32_t root = recording->samples.sample.root, node = 0;
	char name[SLICES_NAME];

	if (recording->o->slice_ns) {
		struct str slice = record->has_time ? slice_of(recording, record->time, name) : STR(SLICES_NO_TIME);

		node = stacks_child(stacks, node, stacks_frame(stacks, slice));
		recording->tally->untimed += !record->has_time;
	}
	/* The frame has the path of the cgroup in pass 1; in pass 3, nametree_make() replaces it by the name of the
	 * cgroup, container or pod. */
	if (recording->o->by)
		node = stacks_child(stacks, node, stacks_frame(stacks, cgroup));
	recording->samples.sample.root = root ? stacks_child(stacks, node, stacks->node[root].frame) : node;
}

/* Bit that is set in the comm id of a thread if its process is a JVM. */
#define OF_JVM (UINT32_C(1) << 31)

/* Adds to the open sample the outer frames that depend on the thread (--root=both, --root=groups), and closes the
 * sample. comm: comm id of the thread; bit OF_JVM is set for a thread of a JVM. */
static void recording_end_sample(struct recording *recording, uint32_t comm)
{
	enum recording_root root = recording->samples_options.comm != COMM_NONE ? recording->o->root : ROOT_PROCESS;
	enum jvmthreads_group group = JVMTHREADS_NONE;

	if ((comm & OF_JVM) && (root == ROOT_BOTH || root == ROOT_GROUPS))
		group = jvmthreads_group(intern_str(&recording->as.comms, comm & ~OF_JVM));
	if (root == ROOT_BOTH)
		sampleframes_location(&recording->frames, location_of_thread(comm & ~OF_JVM));
	if (group)
		sampleframes_location(&recording->frames, location_of_group(group));
	samples_close(&recording->samples);
}

/* Stores the stack of the open sample for --thread-dump, unless a newer stack of the thread is stored. comm: id of the
 * name of the thread. */
static void store_thread(struct recording *recording, const struct addrspace_thread *thread,
			 const struct perfdata_record *record, uint32_t comm)
{
	const struct samples *samples = &recording->samples;
	uint32_t last = samples->nframes ? samples->frame[samples->nframes - 1] & ~LOCATION_BIT : 0;
	const struct location *end = last ? &recording->locations.location[last] : NULL;
	bool complete = end && end->kind == LOCATION_STACK_END && end->end == STACK_COMPLETE;

	threadstacks_sample(&recording->newest, record, comm, !maps_empty(&thread->space->maps->maps), complete,
			    samples->frame, samples->nframes);
}

static void recording_close_sample(struct recording *recording, const struct addrspace_thread *thread,
				   const struct perfdata_record *record, uint32_t comm)
{
	sampleframes_push(&recording->frames, thread, record);
	if (recording->o->thread_report)
		store_thread(recording, thread, record, comm & ~OF_JVM);
	recording_end_sample(recording, comm);
}

/* ---- deferred callchains ------------------------------------------------------------------------------------ */

/* Closes samples whose deferred user callchain is missing, and adds their number to tally->deferred. at_end: false:
 * only the oldest ones, if too many samples wait; true: all that wait. */
static void recording_give_up(struct recording *recording, bool at_end)
{
	uint32_t comm;

	while (deferred_give_up(&recording->deferred, &recording->samples, at_end, &comm)) {
		recording->tally->deferred++;
		recording_end_sample(recording, comm);
	}
}

/* Adds the kernel frames to the open sample and suspends it until the record with its user callchain follows. comm: id
 * of the name of the thread. */
static void wait_for_user(struct recording *recording, const struct addrspace_thread *thread,
			  const struct perfdata_record *record, uint32_t comm)
{
	callchain_push(&recording->callchain, thread, record);
	deferred_put(&recording->deferred, &recording->samples, record->tid, record->sample.cookie, comm);
	recording_give_up(recording, false);
}

/* Completes all samples that wait for the user callchain of this record: the samples of the same thread since it last
 * entered the kernel. */
static void join_user(struct recording *recording, const struct perfdata_record *record)
{
	struct addrspace_thread *thread = addrspace_thread(&recording->as, record->pid, record->tid);
	uint32_t comm;

	while (deferred_take(&recording->deferred, &recording->samples, record->tid, record->deferred.cookie, &comm)) {
		callchain_push_part(&recording->callchain, thread, record->deferred.ips, record->deferred.nips,
				    record->time);
		sampleframes_limit(&recording->frames, NULL, record->deferred.ips, record->deferred.nips);
		recording_end_sample(recording, comm);
	}
}

/* ---- adding of samples -------------------------------------------------------------------------------------- */

/* Returns true if an event samples CPU time: cycles, cpu-clock or task-clock; false for all other events. */
static bool samples_cpu_time(const struct perfdata_event *event)
{
	/* The upper 32 bits of config select the PMU of a hybrid CPU. */
	return event->is_time ||
	       (event->type == PERF_TYPE_HARDWARE && (uint32_t)event->config == PERF_COUNT_HW_CPU_CYCLES);
}

static bool has_event(const struct recording *recording, struct str name)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(recording->data, &n);
	for (size_t i = 0; i < n; i++)
		if (str_eq(event[i].name, name))
			return true;
	return false;
}

/* Returns true for a recording of pjrecord --off-cpu, by its events offcpu-time and offcpu-time-preempted; false for
 * all other recordings. */
static bool has_offcpu(const struct recording *recording)
{
	return has_event(recording, STR("offcpu-time")) && has_event(recording, STR("offcpu-time-preempted"));
}

/* Returns the name of the event to fold if the user chose none. For a recording of pjrecord --wall: "wall-time". For a
 * recording of pjrecord --off-cpu: "offcpu-time", since its three events are in random order. For any other file with
 * several events: the first event, if it samples CPU time. In all other cases the name is empty, and the event of the
 * first sample is folded: the first event may have no samples, as in perf mem. */
static struct str preferred_event(const struct recording *recording)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(recording->data, &n);
	if (has_event(recording, STR("wall-time-blocked")))
		return STR("wall-time");
	if (has_offcpu(recording))
		return STR("offcpu-time");
	return n > 1 && samples_cpu_time(&event[0]) ? samplekey_event_key(event[0].name) : (struct str){ 0 };
}

static bool takes_all_events(const struct recording *recording)
{
	return recording->o->packed || recording->o->thread_report;
}

/* Adds a sample if the options select it. A sample with a deferred user callchain is suspended until the record with
 * that callchain follows. */
static void add_sample(struct recording *recording, const struct perfdata_record *record)
{
	const struct samples_options *options = &recording->samples_options;
	struct addrspace_thread *thread = addrspace_thread(&recording->as, record->pid, record->tid);
	struct addrspace_thread *leader =
		record->pid == record->tid ? thread : addrspace_thread(&recording->as, record->pid, record->pid);
	uint32_t comm = addrspace_comm(&recording->as, thread),
		 first = recording->o->root == ROOT_THREAD ? comm : addrspace_comm(&recording->as, leader);
	const uint32_t label[] = { first, options->pid || options->tid ? record->pid : 0,
				   options->tid ? record->tid : 0 };
	struct sample_key key = {
		.comm = intern_str(&recording->as.comms, comm),
		.first = intern_str(&recording->as.comms, first),
		.before = { (const char *)label, sizeof(label) },
		/* pjpack needs the names of all events; --thread-dump needs the newest stack of a thread, whatever the
		 * event. */
		.event = takes_all_events(recording) ? STR("all events") : record->sample.event->name,
		.pid = (int32_t)record->pid,
		.tid = (int32_t)record->tid,
		.cpu = record->has_cpu ? (int64_t)record->cpu : -1,
		.period = record->sample.period,
		.zero_period = record->sample.period == 0,
		.timed = record->has_time,
		.ns = record->time,
	};

	if (recording->cgroups)
		key.cgroup = cgroupnames_path(&recording->groups, record->sample.cgroup);

	if (unlikely(!recording->samples.chosen) && !takes_all_events(recording))
		recording->samples.preferred = preferred_event(recording);
	if (thread->space->maps->jvm)
		comm |= OF_JVM;
	samples_open(&recording->samples, &key);
	if (recording->samples.sample.state != SAMPLE_OPEN) {
		/* A packed recording has no stack for a sample with a deferred user callchain. */
		if (sampleframes_walks(record) && !record->sample.cookie)
			copiedstack_skip(&recording->copied);
		return;
	}
	if (unlikely(!thread->counted)) {
		intern(&recording->tally->pids, (struct str){ (const char *)&record->pid, sizeof(record->pid) });
		thread->counted = true;
	}
	if (recording_fronts(recording))
		put_fronts(recording, record, key.cgroup);
	recording->tally->with_stacks += record->sample.nips || sampleframes_walks(record);
	if (unlikely(record->sample.cookie))
		wait_for_user(recording, thread, record, comm);
	else
		recording_close_sample(recording, thread, record, comm);
}

/* ---- wall-clock times of options ---------------------------------------------------------------------------- */

/* Converts *time, the value of --from or --to, to the recording's clock if it is a wall-clock time. Dies if the
 * recording does not relate its clock to the wall clock. name: name of the recording, for the message. */
static void recording_settle(struct select_time *time, const struct perfdata_info *info, const char *name)
{
	if (!time->wall)
		return;
	if (!info->has_clock_data)
		die("'%s' has no wall clock (perf record -k CLOCK_MONOTONIC): give seconds of the recording's "
		    "clock, or +SECONDS from the first sample",
		    name);
	time->wall = false;
	time->ns =
		time->ns + info->clock_record < info->clock_wall ? 0 : time->ns + info->clock_record - info->clock_wall;
}

/* ---- dispatch of records ----------------------------------------------------------------------------------------- */

/* Returns the name of the time slice of a record of losses; empty if there are no slices, or if the record has no
 * time. */
static struct str slice_of_loss(const struct recording *recording, const struct perfdata_record *record,
				char name[SLICES_NAME])
{
	return recording->o->slice_ns && record->has_time && record->time ? slice_of(recording, record->time, name) :
									    (struct str){ 0 };
}

static void add_record(struct recording *recording, const struct perfdata_record *record)
{
	char name[SLICES_NAME];

	if (record->has_time && record->time) {
		if (recording->first_ns == 0 || record->time < recording->first_ns)
			recording->first_ns = record->time;
		if (record->time > recording->last_ns)
			recording->last_ns = record->time;
	}
	switch (record->kind) {
	case PERFDATA_SAMPLE: add_sample(recording, record); break;
	case PERFDATA_LOST:
		/* LOST records of pjrecord have numbers of lost side-band records, not of lost samples: ignore them. */
		if (!record->lost.samples && perfdata_info(recording->data)->recorder.is)
			break;
		losses_add(&recording->losses, record, slice_of_loss(recording, record, name));
		break;
	case PERFDATA_THROTTLE: recording->tally->throttled++; break;
	case PERFDATA_DEFERRED: join_user(recording, record); break;
	case PERFDATA_CGROUP:
		if (recording->cgroups)
			cgroupnames_add(&recording->groups, record->cgroup.id, record->cgroup.path);
		break;
	case PERFDATA_MMAP:
		addrspace_record(&recording->as, record);
		if (!recording->o->as_perf)
			locationcache_map(&recording->locationcache, record, &recording->origin,
					  perfdata_info(recording->data));
		break;
	default: addrspace_record(&recording->as, record); break;
	}
	if (recording->o->thread_report)
		threadstacks_record(&recording->newest, record);
}

/* Pass 1: reads all records. It computes the provenance twice: before the first record, for jitdumps and code
 * timelines, and after the last record, when the times of all records are known. */
static void recording_read_records(struct recording *recording, struct in *input)
{
	const struct perfdata_info *info = perfdata_info(recording->data);
	const struct perfdata_record *record;
	const struct perfdata_build_id *id;
	size_t n;

	/* First provenance: lookups in jitdumps and code timelines need it while records are read. */
	recording->origin = provenance_of(info, input, info->first, info->last);
	if (!recording->o->as_perf)
		timelines_open(&recording->locationcache.timelines, recording->o->maps, &recording->symstore,
			       &recording->origin);
	recording->locationcache.monotonic = recording->copied.monotonic = info->clock == CLOCK_MONOTONIC;
	recording->copied.timelines = recording->o->as_perf ? NULL : &recording->locationcache.timelines;
	while ((record = perfdata_next(recording->data)) != NULL) {
		if (unlikely(record->kind == PERFDATA_SAMPLE &&
			     select_needs_wall(&recording->samples_options.select))) {
			/* Convert at each sample until it is done: in pipe mode, the relation of the clocks comes after
			 * the header but before the samples. */
			recording_settle(&recording->samples_options.select.from, perfdata_info(recording->data),
					 input->name);
			recording_settle(&recording->samples_options.select.to, perfdata_info(recording->data),
					 input->name);
		}
		add_record(recording, record);
	}
	recording_give_up(recording, true);
	recording->origin =
		provenance_of(perfdata_info(recording->data), input, recording->first_ns, recording->last_ns);
	id = perfdata_build_ids(recording->data, &n);
	addrspace_build_ids(&recording->as, id, n);
}

/* Replaces each LOCATION_METHOD whose address is not in pjrecord's list by an address outside of all mappings. The list
 * was not yet known when the location was made. */
static void settle_methods(struct recording *recording)
{
	for (uint32_t id = 1; id <= recording->locations.n && recording->origin.recorder->unwound; id++) {
		struct location *location = &recording->locations.location[id];

		if (location->kind == LOCATION_METHOD &&
		    !interpreted_find(&recording->origin.recorder->interpreted, location->pid, location->method))
			*location = location_in_dso(0, recording->locationcache.addresses ? location->method : 0);
	}
}

/* ---- reading of one recording ------------------------------------------------------------------------------- */

/* Adds the numbers of broken stacks to the tally. */
static void take_broken(struct recording_tally *tally, const struct recorder *recorder)
{
	const struct pj_unwinding *unwinding = &recorder->unwinding;
	uint64_t known = recorder->ends_have_reasons ? unwinding->no_stack + unwinding->other_stack : 0;

	tally->broken += unwinding->broken > known ? unwinding->broken - known : 0;
	tally->late += unwinding->broken_late;
	tally->in_exec += recorder->ends_have_reasons ? 0 : unwinding->no_stack;
}

/* Adds the losses and other counts of the recording to `samples` and to the tally. Adds its host to those in `samples`,
 * and sets the frequency unless an earlier recording has set it. */
static void take_over(struct recording *recording, struct samples *samples)
{
	const struct perfdata_info *info = perfdata_info(recording->data);
	const struct perfdata_event *event;
	char text[32];
	size_t n;

	losses_take(&recording->losses, recording->data, &recording->samples, &samples->tally.lost,
		    &recording->tally->slices);
	recording->tally->lost_records += recording->losses.records;
	recording->tally->lost_samples += recording->losses.samples;
	recording->tally->copy_cut += recording->copied.cut;
	recording->tally->methods_left_out += recording->o->as_perf ? 0 : info->recorder.interpreted.left_out;
	recording->tally->code_left_out += recording->o->as_perf ? 0 : windowcode_left_out(info->recorder.code);
	recording->tally->garbage += recording->callchain.garbage;
	recording->tally->unwound |= info->recorder.is && info->recorder.unwound;
	take_broken(recording->tally, &info->recorder);
	offcpustats_add(&recording->tally->offcpu, &info->recorder.offcpu);
	folded_header_join(&samples->text, &samples->host, info->host);
	event = perfdata_events(recording->data, &n);
	for (size_t i = 0; i < n && !samples->frequency.n; i++) {
		if (!str_eq(event[i].name, samples->event_name) || event[i].frequency == 0)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)event[i].frequency);
		samples->frequency = arena_copy(&samples->text, str_of(text));
	}
}

static void print_input_errors(struct recording *recording, struct in *input)
{
	const struct perfdata_tally *tally = perfdata_tally(recording->data);

	if (tally->bad)
		warn("%s@%llu: %s; %llu record%s not used", input->name, (unsigned long long)tally->first_bad,
		     tally->why, (unsigned long long)tally->bad, tally->bad == 1 ? " is" : "s are");
	if (perfdata_info(recording->data)->unfinished)
		warn("%s: the recorder did not complete this file: its complete records are used%s", input->name,
		     recording->origin.reported || recording->o->symfs ?
			     "" :
			     "; if it is from this machine, use --symfs / for names");
	if (perfdata_info(recording->data)->trailing_messages)
		warn("%s: messages of perf record follow the last record (was its stderr redirected, too?): all "
		     "records are used",
		     input->name);
	recording->tally->damaged =
		recording->tally->damaged || tally->bad || perfdata_info(recording->data)->unfinished;
}

/* Reads the names of pods from /var/log/containers, below the directory of --symfs if that option is given. Without
 * --symfs the directory describes the running system, so it is read only if the recording is from the current boot. */
static void read_pods(struct recording *recording)
{
	struct text folder = { 0 };

	if (recording->o->by != BY_POD || (!recording->o->symfs && !recording->origin.boot))
		return;
	text_add(&folder, recording->o->symfs ? recording->o->symfs : "");
	text_add(&folder, "/var/log/containers");
	text_char(&folder, 0);
	containers_read(&recording->containers, folder.p);
	text_free(&folder);
}

/* Stores in the tally the processes for whose files pjfold waited longest over all recordings. A process without a name
 * in the tally gets the name that it has in this recording. */
static void name_waits(struct recording *recording)
{
	struct recording_tally *tally = recording->tally;
	struct recording_wait named[RECORDING_WAITS] = { 0 };
	struct fileopener_wait wait[RECORDING_WAITS];
	size_t n = fileopener_waits(wait, RECORDING_WAITS);

	for (size_t i = 0; i < n; i++) {
		uint32_t pid = (uint32_t)wait[i].pid;
		struct str comm;

		for (size_t k = 0; k < tally->nwaits; k++)
			if (tally->wait[k].pid == wait[i].pid)
				named[i] = tally->wait[k];
		comm = intern_str(&recording->as.comms,
				  addrspace_comm(&recording->as, addrspace_thread(&recording->as, pid, pid)));
		if (!named[i].name[0])
			snprintf(named[i].name, sizeof(named[i].name), "%.*s", (int)(comm.n < 31 ? comm.n : 31),
				 comm.p);
		named[i].pid = wait[i].pid;
		named[i].skipped = wait[i].skipped;
		named[i].ns = wait[i].ns;
	}
	memcpy(tally->wait, named, sizeof(named));
	tally->nwaits = n;
}

static void add_timelines(struct recording_timelines *timelines, const struct locationcache *locations)
{
	timelines->files += locations->timelines.found;
	timelines->left_out += locations->timelines.left_out;
	timelines->sure += locations->lookups[TIMELINE_SURE];
	timelines->likely += locations->lookups[TIMELINE_LIKELY];
	timelines->ambiguous += locations->lookups[TIMELINE_AMBIGUOUS];
	timelines->unknown += locations->lookups[TIMELINE_NONE];
	timelines->newest |= locations->timelines.found && !locations->monotonic;
	inputerrors_add(&timelines->errors, &locations->timelines.errors);
}

/* Makes the report of --thread-dump, if it is requested. */
static void write_threads(struct recording *recording, const struct resolved *names, const struct stacks *stacks)
{
	const struct recorder *recorder = &perfdata_info(recording->data)->recorder;
	struct threadreport *report = recording->o->thread_report;
	const struct threadtext threadtext = {
		.addrspace = &recording->as,
		.locations = &recording->locations,
		.first = names->first,
		.frame = names->frame,
		.stacks = stacks,
		.dso = resolve_dso,
		.list = report && report->listed ? &report->list : NULL,
		.border = recorder->border,
		.last = recording->last_ns,
		.lost_switches = recorder->offcpu.lost,
		.lost_records = recorder->loss.records,
		.lost_samples = recording->losses.samples,
		.uncertain = recorder->offcpu.lost || recorder->offcpu.unknown || recorder->offcpu.without_chain,
		.over_budget = recording->newest.over_budget,
		.left_out = recorder->offcpu.own,
	};

	if (report)
		threadtext_write(&threadtext, &recording->newest, &report->text, &report->counts);
}

/* Returns true for an event whose samples are all off-CPU times; false if some or all are not. */
static bool samples_are_waits(struct str event)
{
	return samplekey_has_waits(event) && !str_eq(samplekey_event_key(event), STR("wall-time"));
}

/* Passes 2 and 3: finds the names of the locations, adds the tree of names to `samples`, and measures the quality of
 * the stacks. */
static void name_and_add(struct recording *recording, struct samples *samples)
{
	struct resolve_options options = {
		.as_perf = recording->o->as_perf,
		.inlined = recording->o->inlined,
		.srcline = recording->o->samples->srcline,
		.kallsyms = recording->o->kallsyms,
		.symfs = recording->o->symfs,
		.symstore = recording->o->as_perf ? NULL : &recording->symstore,
		.named_source = recording->o->saved || recording->o->maps,
		.packed = recording->o->packed,
		.threads = recording->o->threads,
		.names = recording->o->samples->names,
		.canonical = recording->o->samples->comm == COMM_CANONICAL,
	};
	struct resolved names;
	struct nametree tree = {
		.o = recording->o->samples,
		.from = &recording->samples.stacks,
		.locations = &recording->locations,
		.names = &names,
		.slices = recording->o->slice_ns != 0,
		.by = recording->o->by,
		.containers = &recording->containers,
	};
	struct stack_quality quality;
	bool *front;

	settle_methods(recording);
	resolve(&names, &options, &recording->origin, &recording->as, &recording->locations, &samples->stacks);
	write_threads(recording, &names, &samples->stacks);
	read_pods(recording);
	front = nametree_fronts(&tree);
	if (!nametree_make(&tree, front, &samples->stacks))
		samples->tally.overflow = true;
	quality = (struct stack_quality){ .as = &recording->as,
					  .locations = &recording->locations,
					  .from = &recording->samples.stacks,
					  .front = front,
					  .names = &names,
					  .to = &samples->stacks,
					  .copied = &recording->copied,
					  .origin = &recording->origin,
					  .data = recording->data,
					  .waits = samples_are_waits(samples_event_name(samples)),
					  .frame_pointer = mem_alloc(1, (size_t)recording->locations.n + 1) };
	stackquality_measure(&quality, recording->tally, samples);
	free(quality.frame_pointer);
	troubles_of_names(&quality, &perfdata_info(recording->data)->recorder, &recording->tally->judgement);
	free(front);
	inputerrors_add(&recording->tally->maps, &names.maps);
	recording->tally->conflicts += names.conflicts;
	inputerrors_add(&recording->tally->jitdumps, &recording->locationcache.errors);
	copiedstack_errors(&recording->copied, &recording->as, &recording->tally->jitdumps);
	add_timelines(&recording->tally->timelines, &recording->locationcache);
	if (names.kernel)
		recording->tally->kernel = names.kernel;
	resolved_free(&names);
}

static bool has_cgroups(const struct recording *recording)
{
	const struct perfdata_event *event;
	size_t n;

	event = perfdata_events(recording->data, &n);
	for (size_t i = 0; i < n; i++)
		if (event[i].sample_type & PERF_SAMPLE_CGROUP)
			return true;
	return n == 0;
}

/* Initializes the state for one recording: options, address spaces, caches. */
static void recording_begin(struct recording *recording, const struct in *input, struct samples *samples)
{
	/* Frames are locations in pass 1. Options that depend on names (--skip-after, --collapse-recursion, --addrs)
	 * are off in this pass, and apply in passes 2 and 3. */
	recording->samples_options = *recording->o->samples;
	recording->samples_options.nskip_after = 0;
	recording->samples_options.collapse_recursion = false;
	recording->samples_options.names.addresses = false;
	recording->samples_options.counts = true;
	recording->samples_options.times = true;
	samples_init(&recording->samples, &recording->samples_options);
	recording->samples.locations = true;
	recording->copied.symfs = recording->o->symfs;
	recording->copied.as_perf = recording->o->as_perf;
	recording->copied.symstore = recording->o->as_perf ? NULL : &recording->symstore;
	recording->copied.symbolized = perfdata_info(recording->data)->recorder.symbolized;
	recording->copied.packed = recording->o->packed;
	recording->samples.chosen = samples->chosen;
	recording->samples.event_key = samples->event_key;
	recording->samples.event_name = samples->event_name;
	recording->cgroups = recording->o->by || recording->o->samples->select.cgroup.n;
	if (recording->cgroups && !has_cgroups(recording))
		die_usage("%s needs cgroups, which '%s' lacks: use perf record --all-cgroups, or pjrecord",
			  recording->o->by ? "--by" : "--only cgroup=", input->name);
	if (recording->o->thread_report && !(perfdata_info(recording->data)->recorder.is && has_offcpu(recording)))
		die_usage("--thread-dump needs the waits of threads, which '%s' lacks: record with pjrecord --off-cpu",
			  input->name);
	if (recording->o->thread_report && recording->tally->recordings > 1)
		die_usage("--thread-dump takes one recording: '%s' is the second", input->name);
	addrspace_init(&recording->as, recording->o->as_perf);
	recording->as.symstore = recording->copied.symstore;
	recording->locationcache =
		(struct locationcache){ .as = &recording->as,
					.locations = &recording->locations,
					.symfs = recording->o->symfs,
					.symstore = recording->copied.symstore,
					.recorder = recording->o->as_perf ? NULL :
									    &perfdata_info(recording->data)->recorder,
					.packed = recording->o->packed,
					.timelines = { .dir = -1 },
					.addresses = recording->o->samples->names.addresses,
					.piped = perfdata_info(recording->data)->pipe };
	recording->callchain = (struct callchain){ .locationcache = &recording->locationcache,
						   .to = &recording->samples,
						   .as_perf = recording->o->as_perf,
						   .info = perfdata_info(recording->data) };
	recording->frames = (struct sampleframes){ .samples = &recording->samples,
						   .locations = &recording->locations,
						   .callchain = &recording->callchain,
						   .copied = &recording->copied,
						   .addrspace = &recording->as,
						   .origin = &recording->origin,
						   .data = recording->data,
						   .as_perf = recording->o->as_perf };
}

void recording_read(const struct recording_options *options, struct in *input, struct samples *samples,
		    struct recording_tally *tally)
{
	struct recording recording = { .o = options, .tally = tally };

	tally->recordings++;
	tally->as_perf = options->as_perf;
	recording.data = perfdata_open(input);
	symstore_open(&recording.symstore, options->saved, input, &perfdata_info(recording.data)->recorder);
	recording.symstore.by_tenant = options->packed || perfdata_info(recording.data)->recorder.symbolized;
	recording_begin(&recording, input, samples);
	recording_read_records(&recording, input);
	samples_merge_counts(samples, &recording.samples);
	take_over(&recording, samples);
	name_and_add(&recording, samples);
	name_waits(&recording);
	print_input_errors(&recording, input);
	threadstacks_free(&recording.newest);
	losses_free(&recording.losses);
	deferred_free(&recording.deferred);
	cgroupnames_free(&recording.groups);
	containers_free(&recording.containers);
	copiedstack_free(&recording.copied);
	locationcache_free(&recording.locationcache);
	samples_free(&recording.samples);
	locations_free(&recording.locations);
	addrspace_free(&recording.as);
	symstore_close(&recording.symstore);
	perfdata_close(recording.data);
}

void recording_tally_free(struct recording_tally *tally)
{
	intern_free(&tally->missing_keys);
	intern_free(&tally->quality_keys);
	intern_free(&tally->pids);
	judgement_free(&tally->judgement);
	free(tally->missing);
	free(tally->quality);
	slices_lost_free(&tally->slices);
}
