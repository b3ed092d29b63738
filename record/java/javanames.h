/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javanames.h - which interpreted methods a window's stacks have, and how they are called.
 *
 * An interpreted frame is known by the address of HotSpot's Method, which says nothing once the JVM ended. So whoever
 * walks the stacks reports each one here, the names are read while the JVM lives, soon after they were met and once
 * each, and the window says them at its end (PJ_ITEM_METHODS). With the window everything is forgotten: an address may
 * be another method's later. How many there are is bounded; what is beyond is counted.
 */
#ifndef PJ_JAVANAMES_H
#define PJ_JAVANAMES_H

#include "common/text.h"

#define JAVANAMES_MAX 65536u       /* methods of a window */
#define JAVANAMES_BYTES (8u << 20) /* of their names */

struct javanames;

struct javanames *javanames_new(void);
void javanames_free(struct javanames *javanames);

/* A frame of the process is in this method. */
void javanames_note(struct javanames *javanames, uint32_t pid, uint64_t method);

/* Those of a process whose names were not asked for yet, and will be; valid until the next call. */
const uint64_t *javanames_wanted(struct javanames *javanames, uint32_t pid, size_t *n);

/* How such a one is called, as Compiler.perfmap spells it. */
void javanames_named(struct javanames *javanames, uint32_t pid, uint64_t method, struct str name);

/* The window ends: appends its items to text, and begins anew. */
void javanames_end(struct javanames *javanames, struct text *text);

#endif
