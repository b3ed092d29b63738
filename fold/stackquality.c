/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/stackquality.h"

#include "fold/names/waitreason.h"
#include "common/formats/folded.h"
#include "fold/process/copiedstack.h"
#include "fold/process/sampleframes.h"

#include <stdio.h>
#include <stdlib.h>

static struct recording_missing *missing_of(struct recording_tally *tally, struct str dso, const char *why)
{
	char key[4400];
	uint32_t before = tally->missing_keys.n, id;
	int got = snprintf(key, sizeof(key), "%s%c%.*s", why, 0, (int)(dso.n < 4096 ? dso.n : 4096), dso.p);

	id = intern(&tally->missing_keys, (struct str){ key, (size_t)got });
	if (id > before) {
		struct str saved = intern_str(&tally->missing_keys, id);

		tally->missing = mem_more(tally->missing, sizeof(*tally->missing), before);
		tally->missing[id - 1] = (struct recording_missing){ str_from(saved, strlen(why) + 1), why, 0 };
	}
	return &tally->missing[id - 1];
}

static struct recording_quality *quality_of(struct recording_tally *tally, struct str name)
{
	uint32_t before = tally->quality_keys.n, id = intern(&tally->quality_keys, name);

	if (id > before) {
		tally->quality = mem_more(tally->quality, sizeof(*tally->quality), before);
		tally->quality[id - 1] = (struct recording_quality){ .name = intern_str(&tally->quality_keys, id) };
	}
	return &tally->quality[id - 1];
}

/* Returns true if `name` is the name of a root frame, the outermost frame of a complete stack. main is treated as a
 * root frame, too (result true): the frames outside of main are of no interest, and often have no frame pointer.
 * Returns false for all other names. */
static bool is_beginning(struct str name)
{
	static const struct str names[] = {
		STR("_start"),
		STR("__libc_start_main"),
		STR("__libc_start_main_impl"),
		STR("__libc_start_call_main"),
		STR("main"),
		STR("start_thread"),
		STR("clone"),
		STR("clone3"),
		STR("__clone"),
		STR("__clone3"),
		STR("__GI___clone"),
		STR("__GI___clone3"),
		STR("thread_start"),
		STR("_dl_start"),
		STR("runtime.goexit"),
		STR("runtime.mstart"),
		STR("runtime.rt0_go"),
		STR("ret_from_fork"),
		STR("ret_from_fork_asm"),
		STR("common_startup_64"),
		STR("start_kernel"),
		STR("secondary_startup_64"),
		STR("secondary_startup_64_no_verify"),
		STR("x86_64_start_kernel"),
	};
	struct str string = folded_plain(names_shown(name));

	string = str_cut(&string, '@');
	for (size_t i = 0; i < countof(names); i++)
		if (str_eq(string, names[i]))
			return true;
	return false;
}

/* Properties of the stack that ends at a node, computed from the properties of its parent node. */
struct stack_facts {
	/* Index in tally->quality of the first frame of the stack, plus 1; 0: the stack has no first frame. */
	uint32_t quality;
	/* depth: number of frames; user: number of frames of user code */
	uint32_t depth, user;
	bool reaches_root, java, v8, generated, unsymbolized_root;
	/* True if a frame inside of the root frame is in code that is not known to keep frame pointers. */
	bool unproven;
	/* ends: true: the stack has a location that describes its end. end: kind of the end. addresses:
	 * location.addresses, if end is STACK_KERNEL_LIMIT. */
	bool ends;
	enum stack_end end;
	uint64_t addresses;
};

/* Returns the DSO of a location; NULL if the location is not in a DSO. */
static const struct dso *stackquality_dso(const struct stack_quality *quality, const struct location *location)
{
	return location->kind == LOCATION_IN_DSO ? &quality->as->dso[location->dso] : NULL;
}

static bool is_user(const struct dso *dso)
{
	return !dso || (dso->kind != DSO_KERNEL && dso->kind != DSO_SYMBOL);
}

/* Returns true if the recorder, or pjfold's walk of the stack copy, determined how the stack ends; the name of the
 * outermost frame is not used then. False: the name determines if the stack is complete. */
static bool stackquality_is_walked(const struct stack_facts *facts)
{
	return facts->ends && facts->end != STACK_EVENT_LIMIT && facts->end != STACK_KERNEL_LIMIT;
}

/* Returns true if the code at location `id` is known to keep a frame pointer, so that frame-pointer unwinding finds its
 * caller. Also returns true for code of the kernel and of JIT compilers; stackquality_is_unknown() decides about JIT
 * code when all frames of the stack are known. Returns false for all other code. */
static bool has_frame_pointer(const struct stack_quality *quality, uint32_t id)
{
	const struct location *location = &quality->locations->location[id];
	const struct dso *dso = stackquality_dso(quality, location);

	if (!is_user(dso) || location->kind == LOCATION_CODE || (dso && dso->kind == DSO_JIT))
		return true;
	if (!dso || dso->kind != DSO_FILE)
		return false;
	if (!quality->frame_pointer[id])
		quality->frame_pointer[id] =
			1 + copiedstack_keeps_pointer(quality->copied, quality->as, location->dso, location->address,
						      quality->origin, quality->data);
	return quality->frame_pointer[id] == 2;
}

/* Returns the properties of a stack that consists of the stack with the properties `above` and, inside of it, the
 * location `id`: a frame or the end of the stack. */
static struct stack_facts facts_of(const struct stack_quality *quality, struct stack_facts above, uint32_t id)
{
	const struct location *location = &quality->locations->location[id];
	const struct dso *dso = stackquality_dso(quality, location);

	if (location->kind == LOCATION_STACK_END) {
		above.ends = true;
		above.end = location->end;
		above.addresses = location->addresses;
		above.reaches_root = location->end == STACK_COMPLETE;
	}
	if (!location_is_code(location))
		return above;
	if (above.depth == 0 && !stackquality_is_walked(&above) &&
	    quality->names->first[id] < quality->names->first[id + 1])
		above.reaches_root = is_beginning(
			intern_str(&quality->to->frames, quality->names->frame[quality->names->first[id]]));
	if (above.depth == 0)
		above.unsymbolized_root = !above.ends && dso && dso->kind == DSO_FILE && !quality->names->named[id];
	if (above.depth && above.reaches_root && !stackquality_is_walked(&above))
		above.unproven = above.unproven || !has_frame_pointer(quality, id);
	above.depth++;
	above.user += is_user(dso);
	above.java = above.java || (dso && str_ends(dso->path, STR("/libjvm.so")));
	above.v8 = above.v8 || (dso && dso->v8);
	above.generated = above.generated || location->kind == LOCATION_CODE || (dso && dso->kind == DSO_JIT);
	return above;
}

/* Returns the kernel's limit for the number of addresses in a callchain; 0 if no callchain may be that long. The limit
 * is the largest `addresses` of all STACK_KERNEL_LIMIT locations: the limit that pjrecord recorded or, without it, the
 * length of the longest callchain. */
static uint64_t find_limit(const struct stack_quality *quality)
{
	uint64_t limit = 0;

	for (uint32_t id = 1; id <= quality->locations->n; id++) {
		const struct location *location = &quality->locations->location[id];

		if (location->kind == LOCATION_STACK_END && location->end == STACK_KERNEL_LIMIT &&
		    location->addresses > limit)
			limit = location->addresses;
	}
	return limit;
}

/* Adds the samples and the weight of a stack to the tally if the limit of its event or of the kernel truncated it.
 * limit: the kernel's limit in addresses. Returns true if the stack is truncated for any reason, otherwise false. The
 * kernel's limit has not truncated a callchain shorter than `limit`. */
static bool count_cut(struct recording_tally *tally, const struct stack_facts *facts, uint64_t limit, uint64_t samples,
		      uint64_t weight)
{
	if (!facts->ends || facts->reaches_root)
		return false;
	switch (facts->end) {
	case STACK_COPY_CUT:
	case STACK_TRUNCATED: return true;
	case STACK_EVENT_LIMIT:
		tally->event_cut += samples;
		tally->event_cut_weight += weight;
		return true;
	case STACK_KERNEL_LIMIT:
		if (facts->addresses < limit)
			return false;
		tally->limit_cut += samples;
		tally->limit_cut_weight += weight;
		tally->limit = limit;
		return true;
	default: return false;
	}
}

/* Returns true if it is unknown whether the stack is complete, false if its completeness is known. Frame-pointer
 * unwinding skips callers where code does not keep frame pointers. Code of V8 keeps frame pointers. Code of HotSpot
 * keeps frame pointers only with -XX:+PreserveFramePointer, and a recording does not contain this option, so the
 * completeness of stacks with HotSpot code is unknown. */
static bool stackquality_is_unknown(const struct stack_facts *facts)
{
	if (stackquality_is_walked(facts))
		return facts->end == STACK_UNKNOWN;
	return (facts->unsymbolized_root && facts->user > 1) ||
	       (facts->reaches_root && (facts->unproven || (facts->generated && !facts->v8)));
}

/* Completeness of a stack; the members are as in struct recording_counts. */
struct stack_verdict {
	bool reaches_root, cut, copy_cut, unknown, unsymbolized_root, not_copied, other_stack;
};

/* Adds n samples, or the weight n, of a stack with user code to the counts of its completeness. */
static void add_verdict(struct recording_counts *sum, struct stack_verdict verdict, uint64_t n)
{
	sum->user += n;
	sum->reaches_root += verdict.reaches_root ? n : 0;
	sum->cut += verdict.cut ? n : 0;
	sum->copy_cut += verdict.copy_cut ? n : 0;
	sum->unknown += verdict.unknown ? n : 0;
	sum->unsymbolized_root += verdict.unsymbolized_root ? n : 0;
	sum->not_copied += verdict.not_copied ? n : 0;
	sum->other_stack += verdict.other_stack ? n : 0;
}

bool stackquality_is_wait(const struct stack_quality *quality, uint32_t id)
{
	uint32_t frame = quality->from->node[id].frame;

	if (quality->waits)
		return true;
	if (frame & LOCATION_BIT || quality->front[id] || is_first_frame(quality, id))
		return false;
	return waitreason_is_wait(intern_str(&quality->from->frames, frame));
}

/* Adds one stack to the counts of its first frame. samples: number of the stack's samples. weight: sum of the weights
 * of these samples. limit: the kernel's limit for callchains, in addresses. wait: true if the samples are waits. */
static void add_quality(struct recording_tally *tally, const struct stack_facts *facts, uint64_t limit, bool wait,
			uint64_t samples, uint64_t weight)
{
	bool unknown = stackquality_is_unknown(facts), complete = facts->reaches_root && !unknown,
	     cut = facts->user && count_cut(tally, facts, limit, samples, weight);
	struct stack_verdict verdict = { .reaches_root = complete,
					 .cut = cut,
					 .copy_cut =
						 cut && (facts->end == STACK_COPY_CUT || facts->end == STACK_TRUNCATED),
					 .unknown = unknown,
					 .unsymbolized_root = unknown && facts->unsymbolized_root,
					 .not_copied = facts->ends && facts->end == STACK_NOT_COPIED,
					 .other_stack = facts->ends && facts->end == STACK_OTHER_STACK };
	struct recording_quality *quality =
		facts->quality ? &tally->quality[facts->quality - 1] : quality_of(tally, STR("[unknown]"));

	quality->samples += samples;
	if (facts->depth > tally->depth)
		tally->depth = facts->depth;
	if (!facts->user)
		return;
	quality->single += facts->user == 1 && !complete ? samples : 0;
	quality->java += facts->java ? samples : 0;
	add_verdict(&quality->counts, verdict, samples);
	add_verdict(&quality->weights, verdict, weight);
	if (wait) {
		add_verdict(&quality->waits, verdict, samples);
		add_verdict(&quality->wait_weights, verdict, weight);
	}
}

/* Returns the text of the reason why a location has no name. */
static const char *why_unnamed(const struct stack_quality *quality, const struct location *location)
{
	const struct dso *dso = stackquality_dso(quality, location);

	if (!dso)
		return resolve_why(quality->names, WHY_METHOD);
	if (dso->kind == DSO_KERNEL && quality->names->kernel)
		return quality->names->kernel;
	return resolve_why(quality->names, (enum resolve_why)quality->names->why[location->dso]);
}

/* Adds the number of frames of all samples to samples->tally. Adds the number of unnamed frames, by DSO and reason, to
 * `tally`. hits: number of samples by location. */
static void count_frames(const struct stack_quality *quality, const uint64_t *hits, struct recording_tally *tally,
			 struct samples *samples)
{
	for (uint32_t id = 1; id <= quality->locations->n; id++) {
		const struct location *location = &quality->locations->location[id];

		if (!location_is_code(location))
			continue;
		samples->tally.frames += hits[id];
		if (quality->names->named[id] || hits[id] == 0)
			continue;
		samples->tally.unresolved += hits[id];
		missing_of(tally, resolve_dso(quality->as, location), why_unnamed(quality, location))->frames +=
			hits[id];
	}
}

/* Counts the files in which inlined calls were looked up, with and without debug information. */
static void count_inlined(const struct stack_quality *quality, struct recording_inlined *inlined)
{
	for (uint32_t d = 0; quality->names->inlined && d <= quality->as->keys.n; d++) {
		const struct dso *dso = &quality->as->dso[d];

		if (dso->kind != DSO_FILE || !quality->names->inlined[d].is_requested)
			continue;
		inlined->files += quality->names->inlined[d].found;
		inlined->without += !quality->names->inlined[d].found;
		inputerrors_note(&inlined->errors, quality->names->inlined[d].why != NULL, "%.*s: %s",
				 (int)(dso->path.n < 160 ? dso->path.n : 160), dso->path.p,
				 quality->names->inlined[d].why);
	}
}

void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *p)
{
	const struct stacks *from = quality->from;
	uint64_t *samples = stacks_totals(from, 1), *hits = mem_alloc(sizeof(*hits), (size_t)quality->locations->n + 1);
	struct stack_facts *facts = mem_alloc(sizeof(*facts), from->n);
	uint64_t limit = find_limit(quality);

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t frame = from->node[id].frame, location = frame & ~LOCATION_BIT;

		facts[id] = facts[from->node[id].parent];
		if (!(frame & LOCATION_BIT)) {
			if (quality->front[id])
				continue;
			/* other nodes are leaf frames of --wall, such as [blocked], which end a stack */
			if (is_first_frame(quality, id))
				facts[id].quality = (uint32_t)(quality_of(tally, intern_str(&from->frames, frame)) -
							       tally->quality) +
						    1;
		} else {
			facts[id] = facts_of(quality, facts[id], location);
			hits[location] += samples[id];
			if (facts[id].quality && location_is_code(&quality->locations->location[location])) {
				tally->quality[facts[id].quality - 1].frames += samples[id];
				tally->quality[facts[id].quality - 1].unresolved +=
					quality->names->named[location] ? 0 : samples[id];
			}
		}
		if (from->self[1] && from->self[1][id])
			add_quality(tally, &facts[id], limit, stackquality_is_wait(quality, id), from->self[1][id],
				    from->self[0][id]);
	}
	count_frames(quality, hits, tally, p);
	count_inlined(quality, &tally->inlined);
	free(samples);
	free(hits);
	free(facts);
}
