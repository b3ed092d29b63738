/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/interpreters.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/debug.h"
#include "common/formats/pjsection.h"
#include "record/interpreters/framenames.h"
#include "record/interpreters/jsstacks.h"
#include "record/interpreters/scripts.h"
#include "record/interpreters/waitnames.h"
#include "unwind/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Time in ns for which a CPU stays watched after its last sample of a registered thread. It is long, because a copy on
 * one CPU is not certified if the thread may run on another CPU that is not watched, and because a thread may return to
 * a CPU only after seconds if the host is loaded. */
#define HOLD_NS (5 * SECOND_NS)

struct interpreters {
	struct scripts *scripts;
	struct syncread *syncread;
	struct framestore *store;
	struct framenames *names;
	struct waitframes *waits;    /* NULL: frames of threads off the CPU are not read */
	struct waitnames *waitnames; /* names of the frames of threads off the CPU */
	struct onestack merged;
	struct onestack_frame *frame;  /* interpreted frames of the current sample (array) */
	struct waitnames_frame *named; /* names of the frames in `frame` */
	size_t capacity;
};

void interpreters_take(struct interpreters *interpreters, uint64_t now)
{
	scripts_take(interpreters->scripts, now);
	if (scripts_started(interpreters->scripts))
		syncread_settle(interpreters->syncread);
}

void interpreters_flush(struct interpreters *interpreters)
{
	scripts_flush(interpreters->scripts);
}

void interpreters_state(struct interpreters *interpreters, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));

	if (!scripts_started(interpreters->scripts))
		return;
	syncread_state(interpreters->syncread, record);
	if (head->type == RECORD_EXIT)
		waitframes_remove_thread(interpreters->waits, id->tid);
}

void interpreters_tick(struct interpreters *interpreters, uint64_t now)
{
	scripts_tick(interpreters->scripts, now);
}

/* ---- frames of samples ------------------------------------------------------------------------------------------ */

/* Fills interpreters->frame with the frames of a list, without their addresses for the callchain. Leaves out frames of
 * the interpreter itself; if such a frame is an entry frame, the frame that it called becomes the entry frame. Returns
 * the number of frames. */
static size_t interpreters_frames(struct interpreters *interpreters, const struct framelist *list)
{
	size_t n = 0;

	if (interpreters->capacity < list->n) {
		interpreters->capacity = list->n;
		interpreters->frame =
			mem_grow(interpreters->frame, sizeof(*interpreters->frame), interpreters->capacity);
		interpreters->named =
			mem_grow(interpreters->named, sizeof(*interpreters->named), interpreters->capacity);
	}
	for (uint32_t i = 0; i < list->n; i++) {
		const struct interp_frame *from = &list->frame[i];

		if (from->named == INTERPRETER_INTERNAL) {
			if (n && from->entry)
				interpreters->frame[n - 1].entry = true;
			continue;
		}
		interpreters->frame[n++] = (struct onestack_frame){ .frame = from->frame, .entry = from->entry };
	}
	return n;
}

/* Adds the names of a list's frames to interpreters->names. Sets the addresses in interpreters->frame, and fills
 * interpreters->named. Returns the number of frames. */
static size_t interpreters_name(struct interpreters *interpreters, const struct script *script,
				const struct framelist *list, struct pj_unwinding *counts)
{
	size_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct interp_frame *from = &list->frame[i];
		struct framenames_frame frame = {
			.address = from->address,
			.language = script->language,
			.line = from->line,
			.text = { list->text + from->text, from->bytes },
		};

		if (from->named == INTERPRETER_INTERNAL)
			continue;
		counts->functions++;
		counts->functions_unnamed += from->named == INTERPRETER_UNNAMED;
		interpreters->frame[n].address =
			framenames_note(interpreters->names, script->pid, script->tenant, &frame);
		interpreters->named[n] = (struct waitnames_frame){ frame, interpreters->frame[n].address };
		n++;
	}
	return n;
}

/* Returns true for a frame in code that is not in a file. owner: its process. Implements
 * onestack_lists.is_trampoline. */
static bool interpreters_is_generated(const void *owner, const struct walk_frame *frame)
{
	const struct mapping *mapping = processes_at(owner, walk_frame_lookup(frame));

	return mapping && mapped_file_is_memory(mapping->file);
}

/* Returns true if the thread runs on the native stack that its interpreted frames belong to, or if the bounds of this
 * stack are unknown. */
static bool interpreters_on_stack(const struct interpreters_sample *sample, const struct framelist *list)
{
	return list->stack_high == 0 ||
	       (sample->stack_pointer >= list->stack_low && sample->stack_pointer <= list->stack_high);
}

/* Returns true if the stack copy reaches to the end of the native stack on which the interpreted frames run. */
static bool interpreters_has_stack(const struct interpreters_sample *sample, const struct framelist *list)
{
	return list->stack_high != 0 && interpreters_on_stack(sample, list) &&
	       sample->stack_bytes >= list->stack_high - sample->stack_pointer;
}

/* Replaces the frames of the walk by the frames of the merged stack. */
static void interpreters_put(struct interpreters *interpreters, struct walk *walk)
{
	const struct onestack *merged = &interpreters->merged;

	if (walk->capacity < merged->n) {
		walk->capacity = merged->n;
		walk->frame = mem_grow(walk->frame, sizeof(*walk->frame), walk->capacity);
	}
	if (merged->n)
		memcpy(walk->frame, merged->frame, merged->n * sizeof(*walk->frame));
	walk->n = merged->n;
}

/* Stores the first n names of interpreters->named for a thread that is off the CPU. Returns false if there is no space
 * for the names. */
static bool interpreters_keep(struct interpreters *interpreters, const struct script *script, uint32_t tid, size_t n)
{
	return waitnames_keep(interpreters->waitnames, &(struct waitnames_wait){ .pid = script->pid,
										 .tid = tid,
										 .tenant = script->tenant,
										 .frame = interpreters->named,
										 .n = n });
}

static bool interpreters_join(struct interpreters *interpreters, const struct script *script,
			      const struct interpreters_sample *sample, const struct framelist *list, struct walk *walk,
			      struct pj_unwinding *counts)
{
	struct onestack_lists lists = { .native = walk->frame,
					.nnative = walk->n,
					.end = walk->end,
					.eval = script->eval,
					.nevals = script->nevals,
					.has_activations =
						walk->end == UNWIND_STACK_CUT && interpreters_has_stack(sample, list),
					.frames_lead = script->frames_lead,
					.has_register = script->frame_in_r14,
					.complete = list->end == INTERPRETER_COMPLETE,
					.is_trampoline = interpreters_is_generated,
					.owner = sample->process };
	struct onestack *merged = &interpreters->merged;
	struct pj_unwinding named = { 0 };
	size_t n;

	lists.n = interpreters_frames(interpreters, list);
	lists.frame = interpreters->frame;
	lists.entering = list->n && list->frame[0].entry && list->frame[0].first;
	lists.leaf_sure = list->n && sample->holds(sample->owner, list->frame[0].frame);
	if (!onestack_matches(merged, &lists)) {
		debug(DEBUG_UNWIND,
		      "process %u: %zu segments (%s) do not match %zu activations in %zu native frames from %" PRIx64
		      ", end %d",
		      script->pid, merged->segments, lists.complete ? "all" : "truncated", merged->activations, walk->n,
		      walk->n ? walk->frame[0].address : 0, (int)walk->end);
		return false;
	}
	n = interpreters_name(interpreters, script, list, &named);
	if (sample->until && !interpreters_keep(interpreters, script, sample->tid, n))
		return false;
	counts->functions += named.functions;
	counts->functions_unnamed += named.functions_unnamed;
	onestack_merge(merged, &lists, sample->max);
	interpreters_put(interpreters, walk);
	walk->end = merged->end;
	return true;
}

/* Adds the name of a frame that the helper proposed to interpreters->names. Returns the frame for the callchain. */
static struct walk_frame interpreters_note_native(struct interpreters *interpreters, const struct script *script,
						  const struct framelist *list, const struct interp_frame *from)
{
	const struct framenames_frame frame = {
		.address = from->address,
		.language = script->language + from->tier,
		.line = from->line,
		.text = { list->text + from->text, from->bytes },
	};

	return (struct walk_frame){ .address =
					    framenames_note(interpreters->names, script->pid, script->tenant, &frame),
				    .exact = true };
}

/* Appends the functions of a native frame to the merged stack, and adds their number to the counts. */
static void interpreters_put_functions(struct interpreters *interpreters, const struct script *script,
				       const struct framelist *list, const struct jsstacks_functions *functions,
				       size_t max, struct pj_unwinding *counts)
{
	for (size_t k = functions->first; k < functions->end; k++)
		onestack_put(&interpreters->merged,
			     interpreters_note_native(interpreters, script, list, &list->frame[k]), max);
	counts->functions += functions->end - functions->first + functions->unnamed;
	counts->functions_unnamed += functions->unnamed;
}

/* Replaces each native frame by the functions that it runs, if the helper proposed functions with names for this
 * frame. */
static void interpreters_name_native(struct interpreters *interpreters, const struct script *script,
				     const struct interpreters_sample *sample, const struct framelist *list,
				     struct walk *walk, struct pj_unwinding *counts)
{
	const struct jsstacks stacks = { walk->frame, walk->n, list->frame, list->n };
	struct onestack *merged = &interpreters->merged;

	merged->n = 0;
	merged->end = walk->end;
	for (size_t i = 0; i < walk->n && merged->end != UNWIND_MORE; i++) {
		struct jsstacks_functions functions = jsstacks_at(&stacks, i);

		if (functions.first == functions.end) {
			functions.unnamed |= interpreters_is_generated(sample->process, &walk->frame[i]);
			onestack_put(merged, walk->frame[i], sample->max);
		}
		interpreters_put_functions(interpreters, script, list, &functions, sample->max, counts);
		if (i == 0 && functions.first == functions.end) {
			functions = jsstacks_after_leaf(&stacks);
			interpreters_put_functions(interpreters, script, list, &functions, sample->max, counts);
		}
	}
	walk->end = merged->end;
	interpreters_put(interpreters, walk);
}

/* Counts a sample whose stack shows no interpreted frames, by the reason for it (verdict). */
static void interpreters_drop(enum syncread_verdict verdict, struct pj_unwinding *counts)
{
	switch (verdict) {
	case SYNCREAD_NO_COPY:
	case SYNCREAD_LATE: counts->interpreted_late++; break;
	default: counts->interpreted_unsure++; break;
	}
}

/* Merges frames that are on the native stack (V8). They come from the sample's own stack copy, so they need no
 * certificate. The helper proved that each function is in a V8 frame when it read the objects. */
static void interpreters_merge_native(struct interpreters *interpreters, const struct script *script,
				      const struct interpreters_sample *sample, const struct framelist *list,
				      struct walk *walk, struct pj_unwinding *counts)
{
	if (!list || list->end == INTERPRETER_LATE) {
		counts->interpreted_late++;
	} else if (list->end == INTERPRETER_IMPOSSIBLE) {
		counts->interpreted_invalid++;
	} else {
		interpreters_name_native(interpreters, script, sample, list, walk, counts);
		counts->interpreted_shown++;
	}
}

/* Returns the frames of a thread that was off the CPU, if they were read and named before sample->until; the caller
 * frees them. If they were not, adds the sample to the count for the reason and returns NULL. root: the registered root
 * of the thread. */
static struct framelist *interpreters_take_wait(struct interpreters *interpreters,
						const struct interpreters_sample *sample, uint64_t root,
						struct pj_unwinding *counts)
{
	struct framelist *list = framestore_take(interpreters->store, sample->tid, sample->time);
	bool named = list && list->end != INTERPRETER_LATE && list->root == root;

	if (named && list->read_by < sample->until && list->named_by < sample->until)
		return list;
	++*(named ? &counts->interpreted_unsure : &counts->interpreted_late);
	free(list);
	return NULL;
}

static enum syncread_verdict interpreters_verdict(struct interpreters *interpreters,
						  const struct interpreters_sample *sample)
{
	return syncread_verdict(interpreters->syncread, &(struct syncread_sample){ .cpu = sample->cpu,
										   .tid = sample->tid,
										   .in_kernel = sample->in_kernel,
										   .time = sample->time,
										   .registers = sample->registers,
										   .nregisters = sample->nregisters });
}

/* Returns the frames of a sample if the synchronous reader certifies their copy; the caller frees them. If there is no
 * certified copy, adds the sample to the count for the reason and returns NULL. */
static struct framelist *interpreters_take_sample(struct interpreters *interpreters,
						  const struct interpreters_sample *sample, struct pj_unwinding *counts)
{
	enum syncread_verdict verdict = interpreters_verdict(interpreters, sample);
	struct framelist *list = framestore_take(interpreters->store, sample->tid, sample->time);

	if (verdict == SYNCREAD_CERTIFIED && list)
		return list;
	interpreters_drop(verdict == SYNCREAD_CERTIFIED ? SYNCREAD_NO_COPY : verdict, counts);
	free(list);
	return NULL;
}

/* Merges certified frames into the walk, and adds the result to the counts. */
static void interpreters_place(struct interpreters *interpreters, const struct script *script,
			       const struct interpreters_sample *sample, const struct framelist *list,
			       struct walk *walk, struct pj_unwinding *counts)
{
	if (list->end >= INTERPRETER_IMPOSSIBLE)
		counts->interpreted_invalid++;
	else if (interpreters_on_stack(sample, list) &&
		 interpreters_join(interpreters, script, sample, list, walk, counts))
		counts->interpreted_shown++;
	else
		counts->interpreted_other++;
}

bool interpreters_are_native(const struct interpreters *interpreters, const struct process *process)
{
	const struct script *script = process ? scripts_find(interpreters->scripts, process->pid) : NULL;

	return script && script->state == SCRIPT_OPEN && script->on_stack && script->began == process->since;
}

/* Returns the open script of a process with a file of an interpreter; NULL if there is none. */
static struct script *open_script(const struct interpreters *interpreters, const struct process *process)
{
	struct script *script;

	if (!process || !process->maps || !process->maps->interpreters)
		return NULL;
	script = scripts_find(interpreters->scripts, process->pid);
	return script && script->state == SCRIPT_OPEN && script->began == process->since ? script : NULL;
}

const struct hostframe *interpreters_hostframe(const struct interpreters *interpreters, const struct process *process)
{
	const struct script *script = open_script(interpreters, process);

	return script && script->hostframe.kind ? &script->hostframe : NULL;
}

void interpreters_found_code(struct interpreters *interpreters, const struct process *process, struct str path)
{
	struct script *script = open_script(interpreters, process);
	const struct interpreter *interpreter =
		script && !script->hostframe.kind ? interpreter_of_language(script->language) : NULL;

	if (interpreter && interpreter->is_compiled && interpreter->is_compiled(path))
		script->outdated = true;
}

void interpreters_merge(struct interpreters *interpreters, const struct interpreters_sample *sample, struct walk *walk,
			struct pj_unwinding *counts)
{
	struct script *script = scripts_note(interpreters->scripts, sample->process);
	struct framelist *list;
	uint64_t root;

	if (!script || script->state != SCRIPT_OPEN || (script->on_stack && sample->until))
		return;
	if (!syncread_has_thread(interpreters->syncread, sample->tid, &root)) {
		if (script->on_stack)
			/* the root is not used for frames on the native stack: any value but 0 */
			syncread_add_thread(interpreters->syncread, script->pid, sample->tid, script->pid,
					    sample->time);
		else
			scripts_list(interpreters->scripts, script);
		return;
	}
	if (sample->until && sample->frames == WAITCOPY_NOT_ENTERED &&
	    waitframes_set_thread(interpreters->waits, script->pid, sample->tid, root))
		return; /* pjrecord-wait reads the stack once more, now that the thread is in its table */
	counts->interpreted++;
	if (sample->until && sample->frames == WAITCOPY_NOT_ENTERED) {
		counts->interpreted_late++;
		return;
	}
	if (script->on_stack) {
		interpreters_verdict(interpreters, sample);
		list = framestore_take(interpreters->store, sample->tid, sample->time);
		interpreters_merge_native(interpreters, script, sample, list, walk, counts);
	} else {
		list = sample->until ? interpreters_take_wait(interpreters, sample, root, counts) :
				       interpreters_take_sample(interpreters, sample, counts);
		if (list)
			interpreters_place(interpreters, script, sample, list, walk, counts);
	}
	free(list);
}

bool interpreters_has_wait(const struct interpreters *interpreters, uint32_t tid, uint64_t time, uint64_t until)
{
	return framestore_has(interpreters->store, tid, time, until);
}

void interpreters_rename(struct interpreters *interpreters, uint32_t tid, uint64_t *ips, uint64_t nips)
{
	waitnames_rename(interpreters->waitnames, interpreters->names, tid, ips, nips);
}

void interpreters_resumed(struct interpreters *interpreters, uint32_t tid)
{
	waitnames_forget(interpreters->waitnames, tid);
}

/* With PJ_DEBUG=unwind, prints the counters of the synchronous reader. */
static void interpreters_debug(const struct interpreters *interpreters)
{
	struct syncread_counters counters = syncread_counters(interpreters->syncread);

	debug(DEBUG_UNWIND,
	      "reader: %" PRIu64 " samples, %" PRIu64 " copies, %" PRIu64 " failed, %" PRIu64
	      " us; without a copy: %" PRIu64 " over budget, %" PRIu64 " ring full, %" PRIu64 " records off; %" PRIu64
	      " pauses",
	      counters.samples, counters.copies, counters.failed, counters.ns / 1000, counters.over_budget,
	      counters.ring_full, counters.off, counters.pauses);
	scripts_debug(interpreters->scripts);
	for (unsigned i = 0; i < SYNCREAD_VERDICTS; i++)
		if (counters.verdicts[i])
			debug(DEBUG_UNWIND, "reader: %" PRIu64 " %s", counters.verdicts[i],
			      syncread_verdict_name((enum syncread_verdict)i));
}

void interpreters_end(struct interpreters *interpreters, struct text *text)
{
	if (scripts_started(interpreters->scripts))
		interpreters_debug(interpreters);
	framenames_end(interpreters->names, text);
}

/* ---- creation and release --------------------------------------------------------------------------------------- */

struct interpreters *interpreters_new(enum interpreters_choice choice, const struct interpstarter *starter)
{
	struct interpreters *interpreters = mem_alloc(sizeof(*interpreters), 1);

	interpreters->scripts = scripts_new(choice == INTERPRETERS_ALL, starter);
	return interpreters;
}

void interpreters_start(struct interpreters *interpreters, const struct processes *processes, struct sources *sources,
			struct rings *rings, struct waitframes *waits)
{
	interpreters->waits = waits;
	interpreters->waitnames = waitnames_new();
	interpreters->store = framestore_new();
	interpreters->names = framenames_new();
	interpreters->syncread =
		syncread_new(&(struct syncread_options){ .sources = sources, .rings = rings, .hold_ns = HOLD_NS });
	scripts_start(interpreters->scripts, &(struct scripts_readers){ .processes = processes,
									.syncread = interpreters->syncread,
									.waits = waits,
									.store = interpreters->store });
}

void interpreters_fds(const struct interpreters *interpreters, int fd[INTERPRETERS_FDS])
{
	fd[0] = syncread_fd(interpreters->syncread);
	fd[1] = scripts_fd(interpreters->scripts);
}

void interpreters_free(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	scripts_free(interpreters->scripts);
	syncread_free(interpreters->syncread);
	framestore_free(interpreters->store);
	framenames_free(interpreters->names);
	onestack_free(&interpreters->merged);
	free(interpreters->frame);
	free(interpreters->named);
	waitnames_free(interpreters->waitnames);
	free(interpreters);
}

uint64_t interpreters_private(const struct interpreters *interpreters)
{
	return scripts_private(interpreters->scripts);
}

struct helper_counts interpreters_helpers(const struct interpreters *interpreters)
{
	return scripts_helpers(interpreters->scripts);
}
