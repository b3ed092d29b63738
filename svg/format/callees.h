/* SPDX-License-Identifier: Apache-2.0 */
/* callees.h - list of the callees of a function name, most recently used first: the move-to-front list of docs/SVG.md,
 * for the writer and the reader of TREE. The front of the list is the end of the array, so that a move to the front
 * shifts few elements. */
#ifndef PJ_CALLEES_H
#define PJ_CALLEES_H

#include "common/arena.h"

#include <string.h>

struct callees {
	uint32_t *id;
	uint32_t n, cap;
};

/* Adds id at the front. A full array is replaced by one of twice the size, allocated in `memory`. */
static inline void callees_push(struct callees *callees, uint32_t id, struct arena *memory)
{
	if (callees->n == callees->cap) {
		uint32_t cap = callees->cap ? callees->cap * 2 : 4;
		uint32_t *grown = arena_new(memory, uint32_t, cap);
		if (callees->n)
			memcpy(grown, callees->id, callees->n * sizeof(*grown));
		callees->id = grown;
		callees->cap = cap;
	}
	callees->id[callees->n++] = id;
}

/* Elements that callees_find compares in one step. */
enum { CALLEES_STEP = 16 };

/* Returns true if one of the CALLEES_STEP elements from `element` on is id. The loop does not end at a match, so that
 * compilers make vector instructions of it. */
static inline bool callees_any(const uint32_t *element, uint32_t id)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < CALLEES_STEP; i++)
		found |= element[i] == id ? UINT32_MAX : 0;
	return found != 0;
}

/* Returns the position of id in the list, counted from 1 at the front. The list must contain id. */
static inline uint32_t callees_find(const struct callees *callees, uint32_t id)
{
	uint32_t index = 1;

	while (callees->n - index + 1 >= CALLEES_STEP &&
	       !callees_any(callees->id + (callees->n - index + 1 - CALLEES_STEP), id))
		index += CALLEES_STEP;
	while (callees->id[callees->n - index] != id)
		index++;
	return index;
}

/* Moves the id at position `index`, counted from 1 at the front, to the front, and returns the id. The caller checks
 * that 1 <= index <= n. */
static inline uint32_t callees_to_front(struct callees *callees, uint32_t index)
{
	uint32_t at = callees->n - index, id = callees->id[at];

	memmove(callees->id + at, callees->id + at + 1, (index - 1) * sizeof(*callees->id));
	callees->id[callees->n - 1] = id;
	return id;
}

#endif
