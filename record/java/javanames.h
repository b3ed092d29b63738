/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javanames.h - names of the interpreted methods on the stacks of a window.
 *
 * An interpreted frame is identified by its Method*, which is useless after the end of the JVM. So the stack walker
 * notes each one here, its name is read soon after and while the JVM lives, and the window stores the names at its end
 * (PJ_ITEM_METHODS). HotSpot reuses the address of a Method after its class was unloaded. So names of methods that
 * frames use further are read again each second and at the end of the window: an address that had two names gets none.
 * The table is emptied with each window. Its size is bounded; frames of further methods are counted.
 */
#ifndef PJ_JAVANAMES_H
#define PJ_JAVANAMES_H

#include "common/text.h"

#define JAVANAMES_MAX 65536u       /* maximum number of methods in a window */
#define JAVANAMES_BYTES (8u << 20) /* maximum bytes of the names of a window */

struct javanames;

struct javanames *javanames_new(void);
void javanames_free(struct javanames *javanames);

/* Records that a frame of process pid is in this method. */
void javanames_note(struct javanames *javanames, uint32_t pid, uint64_t method);

/* Returns the methods of a process whose names are to be read at time `now` (ns), *n of them: those whose names have
 * not been requested yet, and once a second those that frames have used since they were. The array is valid until the
 * next call. */
const uint64_t *javanames_wanted(struct javanames *javanames, uint32_t pid, uint64_t now, size_t *n);
/* Lets the next javanames_wanted return names to be read again, for the end of a window. */
void javanames_recheck(struct javanames *javanames);

/* Stores the name of a method, which has the spelling of Compiler.perfmap. If the method has another name already, it
 * gets none in this window. Ignores unknown methods and names beyond the limits. */
void javanames_named(struct javanames *javanames, uint32_t pid, uint64_t method, struct str name);

/* Appends the items of the window (PJ_ITEM_METHODS) to text, and empties the table. */
void javanames_end(struct javanames *javanames, struct text *text);

#endif
