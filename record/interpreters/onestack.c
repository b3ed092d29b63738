/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/onestack.h"

#include "common/arena.h"

#include <stdlib.h>

/* Maximum number of activations in a stack that have no segment (onestack_match_register). */
#define STRANGERS_MAX 8u

static bool onestack_in_range(const struct onestack_lists *lists, size_t i, enum onestack_code code)
{
	uint64_t address = walk_frame_lookup(&lists->native[i]);

	for (size_t k = 0; k < lists->nevals; k++)
		if (address >= lists->eval[k].start && address < lists->eval[k].end && lists->eval[k].code == code)
			return true;
	return false;
}

/* Returns true if native frame i is in the eval function, or in generated code that runs in a frame of it. */
static bool onestack_is_eval(const struct onestack_lists *lists, size_t i)
{
	return onestack_in_range(lists, i, ONESTACK_EVAL) || lists->native[i].generated == WALK_HOSTED;
}

#define CATCHES_MAX 4u /* maximum number of ONESTACK_CATCH frames between two activations */

/* Returns the number of consecutive ONESTACK_CATCH frames from index i on, at most CATCHES_MAX. */
static size_t onestack_catches(const struct onestack_lists *lists, size_t i)
{
	size_t n = 0;

	while (n < CATCHES_MAX && i + n < lists->nnative && onestack_in_range(lists, i + n, ONESTACK_CATCH))
		n++;
	return n;
}

/* Returns the number of native frames from index i on that continue an activation further out: an eval function and the
 * ONESTACK_CATCH frames that called it. Returns 0 if frame i is not the eval function, or is an activation of its
 * own. */
static size_t onestack_continues(const struct onestack_lists *lists, size_t i)
{
	size_t n = onestack_in_range(lists, i, ONESTACK_EVAL) ? onestack_catches(lists, i + 1) : 0;

	return n && i + 1 + n < lists->nnative && onestack_in_range(lists, i + 1 + n, ONESTACK_EVAL) ? 1 + n : 0;
}

static bool onestack_is_activation(const struct onestack_lists *lists, size_t i)
{
	return onestack_is_eval(lists, i) && !onestack_continues(lists, i);
}

/* Returns true if native frame i is an ONESTACK_INNER function that the activation at i + 1 called. */
static bool onestack_is_inner_function(const struct onestack_lists *lists, size_t i)
{
	return i + 1 < lists->nnative && onestack_in_range(lists, i, ONESTACK_INNER) &&
	       onestack_is_activation(lists, i + 1);
}

/* Returns true if native frame i belongs to an activation further out: an ONESTACK_INNER function that the activation
 * called, or generated code that either of them called. */
static bool onestack_is_inner(const struct onestack_lists *lists, size_t i)
{
	if (i + 1 < lists->nnative && lists->native[i].generated == WALK_CALLED)
		return onestack_is_activation(lists, i + 1) || onestack_is_inner_function(lists, i + 1);
	return onestack_is_inner_function(lists, i);
}

/* Returns true if the thread is switching between two native stacks. */
static bool onestack_switches(const struct onestack_lists *lists)
{
	for (size_t i = 0; i < lists->nnative; i++)
		if (onestack_in_range(lists, i, ONESTACK_SWITCH))
			return true;
	return false;
}

static size_t onestack_activations(const struct onestack_lists *lists)
{
	size_t n = 0;

	for (size_t i = 0; i < lists->nnative; i++)
		n += onestack_is_activation(lists, i);
	return n;
}

static size_t onestack_segments(const struct onestack_lists *lists)
{
	size_t n = 0;

	for (size_t i = 0; i < lists->n; i++)
		n += lists->frame[i].entry;
	return n;
}

void onestack_put(struct onestack *onestack, struct walk_frame frame, size_t max)
{
	if (onestack->n == max) {
		onestack->end = UNWIND_MORE;
		return;
	}
	if (onestack->n == onestack->capacity) {
		onestack->capacity = onestack->capacity ? 2 * onestack->capacity : 128;
		onestack->frame = mem_grow(onestack->frame, sizeof(*onestack->frame), onestack->capacity);
	}
	onestack->frame[onestack->n++] = frame;
}

/* Appends interpreted frames from index *at on: all remaining frames if `all`, otherwise the rest of one segment. Sets
 * *at to the index after the last appended frame. */
static void onestack_put_segment(struct onestack *onestack, const struct onestack_lists *lists, size_t *at, bool all,
				 size_t max)
{
	bool entry = false;

	for (; *at < lists->n && (all || !entry); ++*at) {
		entry = lists->frame[*at].entry;
		onestack_put(onestack, (struct walk_frame){ .address = lists->frame[*at].address, .exact = true }, max);
	}
}

/* Compares the numbers of activations and segments. Sets *native to 1 if the innermost activation stays native,
 * otherwise to 0. Sets *early to 1 if the innermost segment is left out because its activation has not begun, otherwise
 * to 0. Returns false if the lists do not match. */
static bool onestack_match(const struct onestack *onestack, const struct onestack_lists *lists, size_t *native,
			   size_t *early)
{
	size_t activations = onestack->activations, segments = onestack->segments;
	bool leaf = lists->nnative && (onestack_is_activation(lists, 0) || onestack_is_inner(lists, 0));

	*native = *early = 0;
	if ((lists->complete && lists->n && !lists->frame[lists->n - 1].entry) || onestack_switches(lists))
		return false;
	if (!lists->has_activations && (lists->end == UNWIND_STACK_CUT || lists->end == UNWIND_MORE))
		return activations <= segments && (!leaf || lists->leaf_sure) && !lists->frames_lead;
	/* A broken walk may have missed an activation, and the leaf may have no frame yet: equal numbers prove nothing
	 * then. */
	if (!lists->has_activations && lists->end != UNWIND_ROOT && leaf && !lists->leaf_sure)
		return false;
	*native = leaf && activations == segments + 1 && !lists->frames_lead;
	*early =
		(lists->end == UNWIND_ROOT || lists->has_activations) && lists->entering && activations + 1 == segments;
	return lists->complete && activations + *early == segments + *native;
}

/* ---- matching by a register -------------------------------------------------------------------------------------- */

/* Returns the index of the interpreted frame that an activation runs, as its register shows (walk_frame.value).
 * Searches from index `at` on; returns lists->n if the frame is not there. */
static size_t onestack_frame_of(const struct onestack_lists *lists, size_t activation, size_t at)
{
	uint64_t frame = lists->native[activation].value;

	while (at < lists->n && lists->frame[at].frame != frame)
		at++;
	return at;
}

/* Returns the index after the segment that contains the frame at index `at`. */
static size_t onestack_segment_end(const struct onestack_lists *lists, size_t at)
{
	while (at < lists->n && !lists->frame[at].entry)
		at++;
	return at < lists->n ? at + 1 : at;
}

/* Returns true if the frames with indexes `at` to `of` belong to one segment. */
static bool onestack_in_segment(const struct onestack_lists *lists, size_t at, size_t of)
{
	return onestack_segment_end(lists, at) > of;
}

/* Matches each activation with the segment that contains the frame its register shows (walk_frame.value). Returns true
 * if each activation has a segment, in the same order, and each segment an activation. In a stack that reached a root,
 * up to STRANGERS_MAX activations may have no segment; in a truncated stack, segments beyond its end may have no
 * activation. Sets *early to 1 if the activation of the innermost segment has not begun, otherwise to 0. */
static bool onestack_match_register(const struct onestack_lists *lists, size_t *early)
{
	bool root = lists->end == UNWIND_ROOT;
	size_t strangers = 0, at = 0;

	*early = 0;
	if (!lists->has_register || !lists->complete || lists->end == UNWIND_MORE || onestack_switches(lists) ||
	    (lists->n && !lists->frame[lists->n - 1].entry))
		return false;
	for (size_t i = 0; i < lists->nnative; i++) {
		size_t of = onestack_is_activation(lists, i) ? onestack_frame_of(lists, i, at) : lists->n;

		if (!onestack_is_activation(lists, i))
			continue;
		if (of == lists->n) {
			if (!root || ++strangers > STRANGERS_MAX || !lists->native[i].value ||
			    onestack_frame_of(lists, i, 0) < lists->n)
				return false;
			continue;
		}
		if (at == 0 && strangers == 0 && lists->entering && !onestack_in_segment(lists, at, of))
			at = *early = 1;
		if (!onestack_in_segment(lists, at, of))
			return false;
		at = onestack_segment_end(lists, of);
	}
	return (at > 0 || lists->n == 0) && (at == lists->n || lists->end == UNWIND_STACK_CUT);
}

/* Returns true if the activation of the innermost segment has not begun while another activation has no segment: the
 * numbers of activations and segments are then equal although the lists do not match. */
static bool onestack_contradicts(const struct onestack_lists *lists)
{
	size_t i = 0;

	if (!lists->has_register || !lists->entering || onestack_is_activation(lists, 0))
		return false;
	while (i < lists->nnative && !onestack_is_activation(lists, i))
		i++;
	return i < lists->nnative && onestack_frame_of(lists, i, 0) > 0;
}

/* Returns true if the register of an activation, other than the leaf, shows a frame outside of the segment that a match
 * by number gives the activation: the numbers are then equal by chance. At the leaf, the register may have another
 * value. */
static bool onestack_misplaces(const struct onestack_lists *lists, size_t native, size_t early)
{
	size_t at = 0;

	if (!lists->has_register)
		return false;
	for (; early; early--)
		at = onestack_segment_end(lists, at);
	for (size_t i = 0; i < lists->nnative; i++) {
		if (!onestack_is_activation(lists, i))
			continue;
		if (native) {
			native--;
			continue;
		}
		if (i && lists->native[i].value && !onestack_in_segment(lists, at, onestack_frame_of(lists, i, at)))
			return true;
		at = onestack_segment_end(lists, at);
	}
	return false;
}

/* ---- merging of stacks ------------------------------------------------------------------------------------------- */

static bool onestack_is_trampoline(const struct onestack_lists *lists, size_t i)
{
	return lists->is_trampoline && i < lists->nnative && !lists->native[i].generated &&
	       lists->is_trampoline(lists->owner, &lists->native[i]);
}

static bool onestack_compare(struct onestack *onestack, const struct onestack_lists *lists, size_t *native,
			     size_t *early)
{
	onestack->activations = onestack_activations(lists);
	onestack->segments = onestack_segments(lists);
	onestack->by_register = false;
	/* A broken walk may have missed activations, so their number proves nothing. */
	if ((lists->end == UNWIND_ROOT || !lists->has_register) && onestack_match(onestack, lists, native, early) &&
	    !onestack_contradicts(lists) && !onestack_misplaces(lists, *native, *early))
		return true;
	*native = 0;
	onestack->by_register = onestack_match_register(lists, early);
	return onestack->by_register;
}

bool onestack_matches(struct onestack *onestack, const struct onestack_lists *lists)
{
	size_t native, early;

	return onestack_compare(onestack, lists, &native, &early);
}

bool onestack_merge(struct onestack *onestack, const struct onestack_lists *lists, size_t max)
{
	bool cut = lists->end == UNWIND_STACK_CUT || lists->end == UNWIND_MORE;
	size_t native, early, at = 0;

	if (!onestack_compare(onestack, lists, &native, &early))
		return false;
	/* a segment whose activation has not begun has exactly one frame, because nothing was called from it */
	at += early;
	onestack->n = 0;
	onestack->end = cut && lists->complete ? UNWIND_ROOT : lists->end;
	for (size_t i = 0; i < lists->nnative; i++) {
		for (size_t n; (n = onestack_continues(lists, i)) > 0; i += n)
			;
		if (onestack_is_inner(lists, i)) {
			if (native)
				onestack_put(onestack, lists->native[i], max);
		} else if (!onestack_is_activation(lists, i)) {
			onestack_put(onestack, lists->native[i], max);
		} else if (native || (onestack->by_register && onestack_frame_of(lists, i, at) == lists->n)) {
			onestack_put(onestack, lists->native[i], max);
			native -= native > 0;
		} else {
			onestack_put_segment(onestack, lists, &at, false, max);
			i += onestack_is_trampoline(lists, i + 1);
		}
	}
	if (cut)
		onestack_put_segment(onestack, lists, &at, true, max);
	return true;
}

/* Adds a function that calls generated code or its host. */
static void onestack_add_caller(struct hostframe *hostframe, const struct onestack_range *range)
{
	if (hostframe->ncallers == HOSTFRAME_CALLERS_MAX)
		return;
	hostframe->caller[hostframe->ncallers].start = range->start;
	hostframe->caller[hostframe->ncallers++].end = range->end;
}

void onestack_hostframe(struct hostframe *hostframe, const struct onestack_range *range, size_t n)
{
	*hostframe = (struct hostframe){ 0 };
	for (size_t i = 0; i < n; i++) {
		switch ((enum onestack_code)range[i].code) {
		case ONESTACK_COMPILED:
			hostframe->kind = HOSTFRAME_SHARED;
			hostframe->start = range[i].start;
			hostframe->end = range[i].end;
			break;
		case ONESTACK_HOST: hostframe->host = range[i].start; break;
		case ONESTACK_CALLER: onestack_add_caller(hostframe, &range[i]); break;
		case ONESTACK_CALLED: hostframe->kind = HOSTFRAME_OWN; break;
		default: break;
		}
	}
	for (size_t i = 0; i < n && hostframe->kind == HOSTFRAME_OWN; i++)
		if (range[i].code == ONESTACK_EVAL || range[i].code == ONESTACK_INNER)
			onestack_add_caller(hostframe, &range[i]);
}

void onestack_free(struct onestack *onestack)
{
	free(onestack->frame);
	*onestack = (struct onestack){ 0 };
}
