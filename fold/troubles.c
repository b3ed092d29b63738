/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/troubles.h"

#include "common/formats/folded.h"
#include "fold/samples/samplekey.h"

#include <stdio.h>
#include <stdlib.h>

enum runtime_kind {
	RUNTIME_NONE,
	RUNTIME_JVM,
	RUNTIME_NODE,
	RUNTIME_DOTNET,
	RUNTIME_ERLANG,
	RUNTIME_PHP,
	RUNTIME_PYTHON,
	RUNTIME_RUBY,
	RUNTIME_PERL,
	RUNTIMES
};

/* ---- recognition of runtimes ------------------------------------------------------------------------------------- */

/* Runtimes by the start of the file name of a program or library. */
static const struct {
	const char *begins;
	enum runtime_kind kind;
} programs[] = {
	{ "libjvm.so", RUNTIME_JVM },    { "java", RUNTIME_JVM },      { "libnode.so", RUNTIME_NODE },
	{ "node", RUNTIME_NODE },        { "dotnet", RUNTIME_DOTNET }, { "libcoreclr.so", RUNTIME_DOTNET },
	{ "beam.smp", RUNTIME_ERLANG },  { "php", RUNTIME_PHP },       { "libphp", RUNTIME_PHP },
	{ "python", RUNTIME_PYTHON },    { "ruby", RUNTIME_RUBY },     { "perl", RUNTIME_PERL },
	{ "libpython", RUNTIME_PYTHON }, { "libruby", RUNTIME_RUBY },  { "libperl.so", RUNTIME_PERL },
};

/* Runtimes by the name of the function that interprets their code. Debian's Ruby and Perl have no symbol of this
 * function, so any frame in their program or library is treated as the interpreting function. */
static const struct {
	const char *name;
	enum runtime_kind kind;
} evaluators[] = {
	{ "_PyEval_EvalFrameDefault", RUNTIME_PYTHON },
	{ "PyEval_EvalFrameEx", RUNTIME_PYTHON },
	{ "execute_ex", RUNTIME_PHP },
	{ "Builtins_InterpreterEntryTrampoline", RUNTIME_NODE },
};

static enum runtime_kind runtime_of_program(struct str path)
{
	struct str name = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	for (size_t i = 0; i < countof(programs); i++)
		if (str_starts(name, str_of(programs[i].begins)))
			return programs[i].kind;
	return RUNTIME_NONE;
}

static enum runtime_kind runtime_of_function(struct str name)
{
	for (size_t i = 0; i < countof(evaluators); i++)
		if (str_eq(folded_plain(names_shown(name)), str_of(evaluators[i].name)))
			return evaluators[i].kind;
	return RUNTIME_NONE;
}

/* ---- walk through the call tree ---------------------------------------------------------------------------------- */

/* Properties of the stack that ends at a node, computed from the properties of its parent node. */
struct trouble_facts {
	/* Frame id of the first frame, mostly the name of the process; 0: none yet. */
	uint32_t process;
	/* Index of the DSO of the innermost JIT code on the stack; 0: there is none. */
	uint32_t jit;
	/* Values of enum runtime_kind; 0: none. runtime: runtime of the innermost frame whose file belongs to a
	 * runtime. interprets: runtime of the innermost function that interprets code. */
	uint8_t runtime, interprets;
	/* True if an interpreted function is on the stack. Frames in files of its interpreter then are C functions that
	 * the interpreted function calls. */
	bool interpreted;
	/* True if JIT code with a name is on the stack. */
	bool named_jit;
};

struct trouble_walk {
	const struct stack_quality *quality;
	/* Values of enum runtime_kind. of_dso: by DSO, runtime of the file; for JIT code, runtime of the stacks that
	 * contain it. of_function: by location, runtime whose code the function interprets. 0: none. */
	uint8_t *of_dso, *of_function;
	enum trouble_kind python; /* trouble of unnamed Python code; depends on recorder and event */
	/* trouble of unnamed code of Ruby, PHP, Perl and node; 0: each of these languages has a trouble of its own */
	enum trouble_kind others;
	/* By DSO of JIT code: frame id of the first frame of a stack with this code, mostly the name of the process. */
	uint32_t *process;
};

static struct trouble_facts trouble_step(const struct trouble_walk *walk, struct trouble_facts above, uint32_t id)
{
	const struct location *location = &walk->quality->locations->location[id];
	const struct dso *dso = location->kind == LOCATION_IN_DSO ? &walk->quality->as->dso[location->dso] : NULL;

	above.interpreted |= location->kind == LOCATION_METHOD;
	if (walk->of_function[id])
		above.interprets = walk->of_function[id];
	if (dso && dso->kind == DSO_JIT) {
		above.jit = location->dso;
		above.named_jit |= walk->quality->names->named[id];
	} else if (dso && walk->of_dso[location->dso]) {
		above.runtime = walk->of_dso[location->dso];
		if (above.runtime == RUNTIME_RUBY || above.runtime == RUNTIME_PERL)
			above.interprets = above.runtime;
	}
	if (above.jit && above.runtime)
		walk->of_dso[above.jit] = above.runtime;
	if (above.jit && !walk->process[above.jit])
		walk->process[above.jit] = above.process;
	return above;
}

/* Returns true if a stack belongs to the troubles of JIT code, false if it belongs to the troubles of interpreters. It
 * belongs to JIT code if it contains JIT code, with one exception: a stack of node without any named function, in a
 * recording in which pjrecord read interpreters. Code of node has names in such a recording, so pjrecord did not read
 * the interpreter of this process. */
static bool is_of_jit(const struct trouble_walk *walk, const struct trouble_facts *facts)
{
	bool unread = walk->others == TROUBLE_PYTHON_UNREAD && facts->interprets == RUNTIME_NODE;

	return facts->jit && (!unread || facts->named_jit || facts->interpreted);
}

/* Adds the samples of the stack that ends at node `id` to the trouble of an interpreter, if the stack has frames of
 * this interpreter whose functions have no names. */
static void add_interpreted(const struct trouble_walk *walk, const struct trouble_facts *facts, uint32_t id,
			    struct judgement *judgement)
{
	static const uint8_t kinds[RUNTIMES] = {
		[RUNTIME_RUBY] = TROUBLE_RUBY,
		[RUNTIME_PHP] = TROUBLE_PHP,
		[RUNTIME_PERL] = TROUBLE_PERL,
		[RUNTIME_NODE] = TROUBLE_NODE_INTERPRETED,
	};

	enum trouble_kind kind =
		facts->interprets == RUNTIME_PYTHON ? walk->python : (enum trouble_kind)kinds[facts->interprets];

	if (facts->interpreted && (facts->interprets == RUNTIME_RUBY || facts->interprets == RUNTIME_PHP ||
				   facts->interprets == RUNTIME_PERL))
		return;
	if (walk->others &&
	    (kind == TROUBLE_RUBY || kind == TROUBLE_PHP || kind == TROUBLE_PERL || kind == TROUBLE_NODE_INTERPRETED))
		kind = walk->others;
	else if (kind == TROUBLE_NODE_INTERPRETED && stackquality_is_wait(walk->quality, id))
		kind = TROUBLE_INTERPRETER_OFFCPU;
	if (facts->interprets && !is_of_jit(walk, facts) && facts->process)
		judgement_add(judgement, kind, intern_str(&walk->quality->from->frames, facts->process),
			      walk->quality->from->self[1][id]);
}

/* Sets the runtimes of all files from their file names, and of all functions that interpret code from their names. */
static void walk_begin(struct trouble_walk *walk)
{
	const struct stack_quality *quality = walk->quality;

	for (uint32_t d = 1; d <= quality->as->keys.n; d++)
		if (quality->as->dso[d].kind == DSO_FILE)
			walk->of_dso[d] = (uint8_t)runtime_of_program(quality->as->dso[d].path);
	for (uint32_t id = 1; id <= quality->locations->n; id++)
		if (quality->names->named[id] && quality->names->first[id] < quality->names->first[id + 1])
			walk->of_function[id] = (uint8_t)runtime_of_function(
				intern_str(&quality->to->frames, quality->names->frame[quality->names->first[id]]));
}

/* Walks over all stacks. Adds samples in interpreters whose functions have no names to the judgement, and finds the
 * runtimes of JIT code. */
static void walk_stacks(struct trouble_walk *walk, struct judgement *judgement)
{
	const struct stacks *from = walk->quality->from;
	struct trouble_facts *facts = mem_alloc(sizeof(*facts), from->n);

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t frame = from->node[id].frame;

		facts[id] = facts[from->node[id].parent];
		if (frame & LOCATION_BIT)
			facts[id] = trouble_step(walk, facts[id], frame & ~LOCATION_BIT);
		else if (!walk->quality->front[id] && is_first_frame(walk->quality, id))
			facts[id].process = frame;
		if (from->self[1] && from->self[1][id])
			add_interpreted(walk, &facts[id], id, judgement);
	}
	free(facts);
}

/* ---- troubles of frames without names ---------------------------------------------------------------------------- */

/* Returns true if `path` is the path of a file that distributions install: a -dbgsym package may exist for the file.
 * Returns false for all other paths. */
static bool is_of_package(struct str path)
{
	return (str_starts(path, STR("/usr/")) && !str_starts(path, STR("/usr/local/"))) ||
	       str_starts(path, STR("/lib")) || str_starts(path, STR("/bin/")) || str_starts(path, STR("/sbin/"));
}

static enum trouble_kind trouble_of_file(const struct dso *dso, enum resolve_why why)
{
	switch (why) {
	case WHY_STRIPPED: return is_of_package(dso->path) ? TROUBLE_STRIPPED_PACKAGE : TROUBLE_STRIPPED;
	case WHY_NO_FILE: return TROUBLE_NO_FILE;
	case WHY_OTHER_BUILD:
	case WHY_OTHER_FILE: return TROUBLE_OTHER_BUILD;
	case WHY_FORBIDDEN: return TROUBLE_FORBIDDEN;
	case WHY_SILENT: return TROUBLE_SILENT;
	case WHY_NOT_RECORDED:
	case WHY_UNPROVEN:
	case WHY_OTHER_MACHINE: return TROUBLE_OTHER_MACHINE;
	default: return TROUBLE_NO_SYMBOL;
	}
}

static enum trouble_kind trouble_of_jvm(const struct recorder *recorder, enum resolve_why why)
{
	if (recorder->is && recorder->unwound)
		return recorder->unwinding.jvms_unread ? TROUBLE_JVM_UNREAD : TROUBLE_JVM;
	if (why == WHY_ENDED)
		return TROUBLE_JVM_ENDED;
	return recorder->is ? TROUBLE_JVM_FP : TROUBLE_JVM_PERF;
}

static enum trouble_kind trouble_of_jit(const struct recorder *recorder, enum runtime_kind runtime,
					enum resolve_why why)
{
	static const uint8_t kinds[RUNTIMES] = {
		[RUNTIME_NONE] = TROUBLE_JIT,          [RUNTIME_NODE] = TROUBLE_NODE,
		[RUNTIME_DOTNET] = TROUBLE_DOTNET,     [RUNTIME_ERLANG] = TROUBLE_ERLANG,
		[RUNTIME_PHP] = TROUBLE_PHP_JIT,       [RUNTIME_RUBY] = TROUBLE_RUBY_JIT,
		[RUNTIME_PYTHON] = TROUBLE_PYTHON_JIT, [RUNTIME_PERL] = TROUBLE_JIT,
	};

	if (runtime == RUNTIME_JVM && why != WHY_SILENT)
		return trouble_of_jvm(recorder, why);
	if (why == WHY_NOT_RECORDED || why == WHY_OTHER_MACHINE)
		return TROUBLE_OTHER_MACHINE;
	if (why == WHY_SILENT)
		return TROUBLE_SILENT;
	/* A perf map exists but lacks the address, so the option that makes the runtime write a map does not help. */
	return why == WHY_NOT_IN_TABLE ? TROUBLE_NO_SYMBOL : (enum trouble_kind)kinds[runtime];
}

/* Appends the name of a process and its pid, as in "node 4711"; without a name, "pid 4711". */
static void put_named_process(struct text *text, struct str name, uint32_t pid)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", (unsigned)pid);
	text_str(text, name);
	/* With --pid, the name already ends with the pid. */
	if (!str_ends(name, str_of(digits)))
		text_printf(text, "%s%s", name.n ? " " : "pid ", digits);
}

static void add_jit(const struct trouble_walk *walk, uint32_t d, const struct recorder *recorder, uint64_t frames,
		    struct judgement *judgement)
{
	const struct stack_quality *quality = walk->quality;
	struct str name = { 0 };
	enum runtime_kind runtime = (enum runtime_kind)walk->of_dso[d];
	struct text process = { 0 };

	if (walk->process[d])
		name = intern_str(&quality->from->frames, walk->process[d]);
	if (!runtime)
		runtime = runtime_of_program(name);
	if (quality->names->why[d] == WHY_SILENT)
		text_add(&process, "perf map of ");
	put_named_process(&process, name, quality->as->dso[d].pid);
	judgement_add(judgement, trouble_of_jit(recorder, runtime, (enum resolve_why)quality->names->why[d]),
		      text_view(&process), frames);
	text_free(&process);
}

/* Adds a trouble for `frames` unnamed frames at one location. */
static void add_unnamed(const struct trouble_walk *walk, const struct location *location,
			const struct recorder *recorder, uint64_t frames, struct judgement *judgement)
{
	const struct stack_quality *quality = walk->quality;
	const struct dso *dso = location->kind == LOCATION_IN_DSO ? &quality->as->dso[location->dso] : NULL;
	struct str path = resolve_dso(quality->as, location);

	if (!dso || dso->kind == DSO_NOWHERE || dso->kind == DSO_DATA) {
		if (str_eq(path, STR(PJ_OVER_BUDGET_PATH)))
			judgement_add(judgement, TROUBLE_OVER_BUDGET, (struct str){ 0 }, frames);
		else
			judgement_add(judgement, TROUBLE_NO_MAPPING, (struct str){ 0 }, frames);
	} else if (dso->kind == DSO_KERNEL) {
		judgement_add(judgement, TROUBLE_KERNEL,
			      quality->names->kernel ? str_of(quality->names->kernel) : STR("no symbols there"),
			      frames);
	} else if (dso->kind == DSO_JIT) {
		add_jit(walk, location->dso, recorder, frames, judgement);
	} else {
		judgement_add(judgement, trouble_of_file(dso, (enum resolve_why)quality->names->why[location->dso]),
			      str_from(path, (size_t)(str_rfind(path, '/') + 1)), frames);
	}
}

static bool troubles_offcpu(const struct samples *samples)
{
	return samplekey_has_waits(samples_event_name(samples));
}

/* Returns true if pjrecord read frames of interpreters: then it is no advice to record with them. Returns false if that
 * advice may help. */
static bool troubles_were_read(const struct recorder *recorder)
{
	return recorder->unwinding.interpreters || recorder->unwinding.interpreted;
}

/* Returns the trouble of an interpreter whose frames pjrecord did not read although it read other interpreters. */
static enum trouble_kind troubles_unread(const struct recorder *recorder)
{
	return recorder->unwinding.interpreters_private ? TROUBLE_INTERPRETER_PRIVATE : TROUBLE_PYTHON_UNREAD;
}

/* Returns the trouble of unnamed Python code. */
static enum trouble_kind trouble_of_python(const struct recorder *recorder)
{
	if (troubles_were_read(recorder))
		return troubles_unread(recorder);
	return recorder->is && !recorder->unwound ? TROUBLE_PYTHON_FP : TROUBLE_PYTHON;
}

/* Returns the common trouble of unnamed Ruby, PHP, Perl and node code, if pjrecord read interpreters: the advice for
 * the single languages, to read interpreters, then does not help. Otherwise returns 0. */
static enum trouble_kind trouble_of_others(const struct recorder *recorder)
{
	return troubles_were_read(recorder) ? troubles_unread(recorder) : (enum trouble_kind)0;
}

void troubles_of_names(const struct stack_quality *quality, const struct recorder *recorder,
		       struct judgement *judgement)
{
	const struct stacks *from = quality->from;
	uint64_t *totals = stacks_totals(from, 1);
	uint64_t *frames = mem_alloc(sizeof(*frames), (size_t)quality->locations->n + 1);
	struct trouble_walk walk = { .quality = quality,
				     .python = trouble_of_python(recorder),
				     .others = trouble_of_others(recorder) };

	walk.of_dso = mem_alloc(sizeof(*walk.of_dso), (size_t)quality->as->keys.n + 1);
	walk.process = mem_alloc(sizeof(*walk.process), (size_t)quality->as->keys.n + 1);
	walk.of_function = mem_alloc(sizeof(*walk.of_function), (size_t)quality->locations->n + 1);
	walk_begin(&walk);
	walk_stacks(&walk, judgement);
	for (uint32_t id = 1; id < from->n; id++)
		if (from->node[id].frame & LOCATION_BIT)
			frames[from->node[id].frame & ~LOCATION_BIT] += totals[id];
	for (uint32_t id = 1; id <= quality->locations->n; id++) {
		const struct location *location = &quality->locations->location[id];

		if (location_is_code(location) && !quality->names->named[id])
			add_unnamed(&walk, location, recorder, frames[id], judgement);
	}
	free(totals);
	free(frames);
	free(walk.of_dso);
	free(walk.process);
	free(walk.of_function);
}

/* ---- troubles of incomplete stacks ------------------------------------------------------------------------------- */

/* Returns the trouble of waits whose stack is not complete. */
static enum trouble_kind trouble_of_waits(const struct recording_tally *tally)
{
	const struct pj_offcpu *offcpu = &tally->offcpu;
	uint64_t incomplete = offcpu->read_ns - offcpu->complete_ns,
		 early = offcpu->early_ns - offcpu->early_complete_ns;

	if (!offcpu->read)
		return TROUBLE_BROKEN_OFFCPU;
	if (early > offcpu->unread_ns && early >= incomplete / 2)
		return TROUBLE_EARLY_OFFCPU;
	return offcpu->unread_ns && incomplete <= offcpu->unread_ns ? TROUBLE_UNREAD_OFFCPU : TROUBLE_BROKEN;
}

/* Returns the trouble of samples on the CPU whose stack is broken. */
static enum trouble_kind trouble_of_broken(const struct recording_tally *tally)
{
	return tally->unwound ? judgement_broken(tally->broken, tally->late, tally->in_exec) : TROUBLE_BROKEN_FP;
}

/* Returns the counts by which the stacks of a first frame are judged: off-CPU times in ns if by_time, otherwise numbers
 * of samples. */
static struct recording_counts judged_counts(const struct recording_quality *quality, bool by_time)
{
	return by_time ? quality->weights : quality->counts;
}

/* Returns the counts of the waits of a first frame: in ns if by_time, otherwise numbers of samples. */
static struct recording_counts judged_waits(const struct recording_quality *quality, bool by_time)
{
	return by_time ? quality->wait_weights : quality->waits;
}

/* Returns the counts of the samples that are not waits: `all` minus `waits`, for the members that the troubles use. */
static struct recording_counts without_waits(struct recording_counts all, struct recording_counts waits)
{
	return (struct recording_counts){ .user = all.user - waits.user,
					  .reaches_root = all.reaches_root - waits.reaches_root,
					  .cut = all.cut - waits.cut,
					  .unknown = all.unknown - waits.unknown,
					  .unsymbolized_root = all.unsymbolized_root - waits.unsymbolized_root,
					  .not_copied = all.not_copied - waits.not_copied,
					  .other_stack = all.other_stack - waits.other_stack };
}

/* Adds the stacks with the first frame `name` to their troubles: broken stacks to the trouble of their reason, or to
 * `broken` if the reason is not known; stacks of unknown completeness, except those with an unsymbolized root, to
 * `unknown`. */
static void add_incomplete(struct recording_counts counts, struct str name, enum trouble_kind broken,
			   enum trouble_kind unknown, struct judgement *judgement)
{
	uint64_t known = counts.reaches_root + counts.cut + counts.unknown + counts.not_copied + counts.other_stack;

	judgement_add(judgement, TROUBLE_BROKEN_EXEC, name, counts.not_copied);
	judgement_add(judgement, TROUBLE_BROKEN_OTHER_STACK, name, counts.other_stack);
	if (known < counts.user)
		judgement_add(judgement, broken, name, counts.user - known);
	if (counts.unknown > counts.unsymbolized_root)
		judgement_add(judgement, unknown, name, counts.unknown - counts.unsymbolized_root);
}

/* Adds the troubles of truncated stacks, by cause. All counts are ns if judgement->by_time, otherwise numbers of
 * samples. cut: count of all truncated stacks. waits: count of truncated stacks that are waits and were not truncated
 * by a limit of frames. */
static void add_truncated(const struct recording_tally *tally, uint64_t cut, uint64_t waits,
			  struct judgement *judgement)
{
	uint64_t limit = judgement->by_time ? tally->limit_cut_weight : tally->limit_cut,
		 event = judgement->by_time ? tally->event_cut_weight : tally->event_cut;

	judgement_add(judgement, TROUBLE_TRUNCATED_LIMIT, (struct str){ 0 }, limit);
	judgement_add(judgement, TROUBLE_TRUNCATED_EVENT, (struct str){ 0 }, event);
	judgement_add(judgement, TROUBLE_TRUNCATED_WAIT, (struct str){ 0 }, waits);
	judgement_add(judgement, tally->unwound ? TROUBLE_TRUNCATED_COPY : TROUBLE_TRUNCATED_PERF_COPY,
		      (struct str){ 0 }, cut - limit - event - waits);
}

void troubles_of_stacks(const struct recording_tally *tally, const struct samples *samples, struct judgement *judgement)
{
	enum trouble_kind of_waits = trouble_of_waits(tally), broken = trouble_of_broken(tally),
			  unknown = tally->unwound ? TROUBLE_UNKNOWN_END : TROUBLE_UNKNOWN_FP;
	struct recording_counts sum = { 0 };
	uint64_t waits_cut = 0;

	judgement->by_time =
		troubles_offcpu(samples) && str_eq(samples_unit(samples, samples->options->weight), STR("ns"));
	judgement->wall =
		judgement->by_time && str_eq(samplekey_event_key(samples_event_name(samples)), STR("wall-time"));
	for (uint32_t i = 0; i < tally->quality_keys.n; i++) {
		const struct recording_quality *quality = &tally->quality[i];
		struct recording_counts counts = judged_counts(quality, judgement->by_time),
					waits = judged_waits(quality, judgement->by_time);

		sum.user += counts.user;
		sum.reaches_root += counts.reaches_root;
		sum.cut += counts.cut;
		waits_cut += waits.copy_cut;
		add_incomplete(without_waits(counts, waits), quality->name, broken, unknown, judgement);
		add_incomplete(waits, quality->name, of_waits, TROUBLE_UNKNOWN_END, judgement);
	}
	*(judgement->by_time ? &judgement->offcpu_ns : &judgement->stacks) += sum.user;
	*(judgement->by_time ? &judgement->offcpu_complete_ns : &judgement->complete) += sum.reaches_root;
	add_truncated(tally, sum.cut, waits_cut, judgement);
}
