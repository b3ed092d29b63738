/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windowcode.h - names of JVM code by address and time, from a window of pjrecord.
 *
 * pjrecord lists the code that the frames of a window are in, with the time in which each code blob existed for certain
 * (PJ_ITEM_CODE). A file has the items in its header; in a pipe they precede the samples that need them. So no pjmap is
 * needed, and the JVM may have ended. The items are hostile input.
 */
#ifndef PJ_WINDOWCODE_H
#define PJ_WINDOWCODE_H

#include "fold/jvm/jitcode.h"

struct windowcode;

struct windowcode *windowcode_new(void);
/* Frees the code and all that windowcode_find returned; accepts NULL. */
void windowcode_free(struct windowcode *windowcode);

/* Read the body of one item, PJ_ITEM_CODE_NAMES or PJ_ITEM_CODE. Return NULL, or a static text with the first error;
 * valid entries are used. */
const char *windowcode_take_names(struct windowcode *windowcode, struct str body);
const char *windowcode_take(struct windowcode *windowcode, struct str body);

/* Returns true if the window lists code of the process. windowcode may be NULL. */
bool windowcode_has(const struct windowcode *windowcode, uint32_t pid);

/* Returns the code that certainly was at an address of a process at a time in ns, with the calls inlined there; NULL if
 * none is listed. The result is valid until windowcode_free. windowcode may be NULL. */
const struct jit_code *windowcode_find(struct windowcode *windowcode, uint32_t pid, uint64_t address, uint64_t time);

/* Return the number of listed code blobs, and the number of lookups of pjrecord whose code the window does not list. */
size_t windowcode_count(const struct windowcode *windowcode);
uint64_t windowcode_left_out(const struct windowcode *windowcode);

#endif
