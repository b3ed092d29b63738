/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreted.h - names, files and lines of the functions of interpreted frames, from pjrecord's items PJ_ITEM_METHODS
 * (Java: names without files and lines) and PJ_ITEM_FUNCTIONS (other languages), and names of the classes of allocated
 * Java objects, from PJ_ITEM_CLASSES.
 *
 * An interpreted frame has no code of its own: its address in a callchain is the address of HotSpot's Method, or of the
 * interpreted instruction. Compiled and inlined functions of V8, and classes, have addresses of other data in the
 * process (pjsection.h). pjrecord read the names while the process was alive. If one address is recorded with two
 * different names, its memory was freed and reused; frames cannot be assigned to one of the names then, so the function
 * has no name. In the same way, an address that is recorded with one name but several files or lines has no file and
 * line.
 *
 * Call interpreted_take(), interpreted_take_classes() or interpreted_take_functions() for each item, interpreted_sort()
 * once, then interpreted_find().
 */
#ifndef PJ_INTERPRETED_H
#define PJ_INTERPRETED_H

#include "common/arena.h"

struct interpreted {
	/* The functions and classes, n elements. After interpreted_sort(), they are sorted by pid, then address, and
	 * each pair of pid and address occurs once. */
	struct interpreted_method {
		/* Address in process `pid` by which callchains refer to the function or class. */
		uint64_t method;
		uint32_t pid;
		/* enum pj_language; 0: Java */
		uint32_t language;
		/* Name in HotSpot's form or, if `language` is not 0, as it is shown. Empty if pjrecord could not read
		 * the name, if the address is no Method, or if the address was reused. */
		struct str name;
		/* File and line of the instruction (compiled and inlined functions of V8: line of the function), as
		 * pjrecord read them. Empty and 0 if file, line or name is unknown. */
		struct str file;
		uint32_t line;
	} * method;
	size_t n;
	/* Number of frames whose functions or classes pjrecord did not list, because its list was full. */
	uint64_t left_out;
};

/* Adds the methods of `body`, the body of one PJ_ITEM_METHODS item. Names and files are copied into `arena`. Returns
 * NULL, or a static text with the error; methods before the error stay in the list. */
const char *interpreted_take(struct interpreted *interpreted, struct arena *arena, struct str body);
/* Adds the classes of `body`, the body of one PJ_ITEM_CLASSES item, like interpreted_take(); their language is
 * PJ_LANGUAGE_JAVA_CLASS. */
const char *interpreted_take_classes(struct interpreted *interpreted, struct arena *arena, struct str body);
/* Adds the functions of `body`, the body of one PJ_ITEM_FUNCTIONS item. Names and files are copied into `arena`.
 * Returns NULL, or a static text with the error; functions before the error stay in the list. */
const char *interpreted_take_functions(struct interpreted *interpreted, struct arena *arena, struct str body);

/* Sorts the functions and classes, and removes duplicates. To be called after the last item, before the first lookup.
 */
void interpreted_sort(struct interpreted *interpreted);

/* Returns the function, method or class at address `method` of process `pid`; NULL if the recording has none there. The
 * pointer is valid until the next call of a function above. */
const struct interpreted_method *interpreted_find(const struct interpreted *interpreted, uint32_t pid, uint64_t method);

/* Frees the list; names and files belong to the arena of interpreted_take(). */
void interpreted_free(struct interpreted *interpreted);

#endif
