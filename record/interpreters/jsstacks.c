/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/jsstacks.h"

/* Returns the index of the first proposal whose frame pointer is at least fp. */
static size_t jsstacks_lower(const struct jsstacks *stacks, uint64_t fp)
{
	size_t low = 0, high = stacks->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stacks->frame[middle].frame < fp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if native frame i has the frame pointer of its caller, because it did not set one of its own. */
static bool jsstacks_shares(const struct jsstacks *stacks, size_t i)
{
	return i + 1 < stacks->nnative && stacks->native[i + 1].bp == stacks->native[i].bp;
}

/* Returns the proposals from `first` on that belong to the same native frame; an empty range if one of these proposals
 * has no name, or is internal code of the interpreter. */
static struct jsstacks_functions jsstacks_take(const struct jsstacks *stacks, size_t first)
{
	const struct interp_frame *begin = &stacks->frame[first];
	struct jsstacks_functions functions = { .first = first, .end = first };
	size_t end = first;

	for (; end < stacks->n && stacks->frame[end].frame == begin->frame && stacks->frame[end].pc == begin->pc;
	     end++) {
		const struct interp_frame *frame = &stacks->frame[end];

		if (frame->named == INTERPRETER_INTERNAL)
			return functions;
		functions.unnamed |= frame->named != INTERPRETER_NAMED || frame->address == 0 || frame->address % 2;
	}
	functions.end = functions.unnamed ? first : end;
	return functions;
}

struct jsstacks_functions jsstacks_at(const struct jsstacks *stacks, size_t i)
{
	const struct walk_frame *native = &stacks->native[i];
	size_t at = jsstacks_lower(stacks, native->bp);

	while (at < stacks->n && stacks->frame[at].frame == native->bp && stacks->frame[at].pc != native->address)
		at++;
	if (native->method || jsstacks_shares(stacks, i) || at == stacks->n || stacks->frame[at].frame != native->bp)
		return (struct jsstacks_functions){ 0 };
	return jsstacks_take(stacks, at);
}

struct jsstacks_functions jsstacks_after_leaf(const struct jsstacks *stacks)
{
	size_t at = stacks->nnative ? jsstacks_lower(stacks, stacks->native[0].bp) : stacks->n;

	while (at < stacks->n && stacks->frame[at].frame == stacks->native[0].bp && !stacks->frame[at].entry)
		at++;
	if (at == stacks->n || stacks->frame[at].frame != stacks->native[0].bp || jsstacks_shares(stacks, 0))
		return (struct jsstacks_functions){ 0 };
	return jsstacks_take(stacks, at);
}
