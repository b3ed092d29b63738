/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreted.h - names, files and lines of the functions of interpreted frames, from pjrecord's items PJ_ITEM_METHODS
 * (Java: names alone) and PJ_ITEM_FUNCTIONS (other languages).
 *
 * An interpreted frame has no code of its own: its address in a callchain is that of HotSpot's Method, or that of the
 * interpreted instruction. pjrecord read the names while the process was alive. If one address is recorded with two
 * different names, its memory was freed and reused; no frame can then be assigned to one of the names, and the function
 * has no name. The same holds for the file and line of an address that is recorded with one name and several lines.
 *
 * Call interpreted_take() or interpreted_take_functions() for each item, interpreted_sort() once, then
 * interpreted_find().
 */
#ifndef PJ_INTERPRETED_H
#define PJ_INTERPRETED_H

#include "common/arena.h"

struct interpreted {
	/* Sorted by pid, then address; each pair occurs once after interpreted_sort(). */
	struct interpreted_method {
		/* Address of the Method, or of the instruction, in the process with this pid. */
		uint64_t method;
		uint32_t pid;
		/* enum pj_language; 0: Java */
		uint32_t language;
		/* Name as HotSpot spells it, or as it is shown if `language` is set. Empty if pjrecord could not read
		 * it, if the address is no Method, or if it was reused. */
		struct str name;
		/* File and line of the instruction, both as pjrecord read them. Empty and 0 if one of them, or the
		 * name, is unknown. */
		struct str file;
		uint32_t line;
	} * method;
	size_t n;
	/* Number of interpreted frames whose methods pjrecord did not list, because its list was full. */
	uint64_t left_out;
};

/* Adds the methods of `body`, the body of one PJ_ITEM_METHODS item. Names and files are copied into `arena`. Returns
 * NULL, or a static text with the error; methods before the error stay in the list. */
const char *interpreted_take(struct interpreted *interpreted, struct arena *arena, struct str body);
/* The same for a PJ_ITEM_FUNCTIONS item. */
const char *interpreted_take_functions(struct interpreted *interpreted, struct arena *arena, struct str body);

/* Sorts the methods and removes duplicates. The caller calls it after the last item, before the first lookup. */
void interpreted_sort(struct interpreted *interpreted);

/* Returns the method at address `method` of process `pid`; NULL if the recording has no such method. The pointer is
 * valid until the next interpreted_take(). */
const struct interpreted_method *interpreted_find(const struct interpreted *interpreted, uint32_t pid, uint64_t method);

/* Frees the list; names and files belong to the arena of interpreted_take(). */
void interpreted_free(struct interpreted *interpreted);

#endif
