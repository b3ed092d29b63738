/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreted.h - the methods that interpreted frames of JVMs are in, as the recorder told (PJ_ITEM_METHODS).
 *
 * Such a frame has no code of its own: in a callchain its address is that of HotSpot's Method. Who recorded read the
 * names while the JVM lived. A Method* that is told twice with different names was freed and used again: nobody can say
 * which frame was which, so it has none.
 */
#ifndef PJ_INTERPRETED_H
#define PJ_INTERPRETED_H

#include "common/arena.h"

struct interpreted {
	struct interpreted_method {
		uint64_t method;
		uint32_t pid;
		struct str name; /* as HotSpot spells it; empty: it could not be read, or is not one */
	} * method;              /* by pid, then method, each once */
	size_t n;
	uint64_t left_out; /* frames of methods that there was no room for */
};

/* The body of an item; names are copied into a. NULL, or what is wrong with it: what is before that is kept. */
const char *interpreted_take(struct interpreted *interpreted, struct arena *arena, struct str body);

/* To be called after the last item of a feature: then methods are found. */
void interpreted_sort(struct interpreted *interpreted);

/* NULL: no frame of that process was told by this address. */
const struct interpreted_method *interpreted_find(const struct interpreted *interpreted, uint32_t pid, uint64_t method);

void interpreted_free(struct interpreted *interpreted);

#endif
