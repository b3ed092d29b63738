/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javanames.h - names of the interpreted methods on the stacks of a window.
 *
 * An interpreted frame is identified by its Method*, which is useless after the end of the JVM. So the stack walker
 * notes each one here, its name is read once, soon after and while the JVM lives, and the window stores the names at
 * its end (PJ_ITEM_METHODS). The table is emptied with each window, as an address may later be that of another method.
 * Its size is bounded; frames of further methods are counted.
 */
#ifndef PJ_JAVANAMES_H
#define PJ_JAVANAMES_H

#include "common/text.h"

#define JAVANAMES_MAX 65536u       /* methods in a window */
#define JAVANAMES_BYTES (8u << 20) /* bytes of their names */

struct javanames;

struct javanames *javanames_new(void);
void javanames_free(struct javanames *javanames);

/* Notes that a frame of process pid is in this method. */
void javanames_note(struct javanames *javanames, uint32_t pid, uint64_t method);

/* Returns the methods of a process whose names have not been requested, and marks them as requested. Valid until the
 * next call. */
const uint64_t *javanames_wanted(struct javanames *javanames, uint32_t pid, size_t *n);

/* Stores the name of a method, in the spelling of Compiler.perfmap. */
void javanames_named(struct javanames *javanames, uint32_t pid, uint64_t method, struct str name);

/* Appends the items of the window to text, and empties the table. */
void javanames_end(struct javanames *javanames, struct text *text);

#endif
