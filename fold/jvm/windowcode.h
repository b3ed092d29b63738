/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windowcode.h - finds names of JVM code by address and time in a window of pjrecord.
 *
 * pjrecord lists the code blobs of the frames in a window, with the time in which each blob certainly existed
 * (PJ_ITEM_CODE). In a file the list is in the header; in a pipe the items of the list precede the samples that need
 * them. Names from this list need no pjmap, and the JVM may have ended. The items are hostile input.
 */
#ifndef PJ_WINDOWCODE_H
#define PJ_WINDOWCODE_H

#include "fold/jvm/jitcode.h"

struct windowcode;

struct windowcode *windowcode_new(void);
/* Frees the code and all results of windowcode_find(). Accepts NULL. */
void windowcode_free(struct windowcode *windowcode);

/* windowcode_take_names reads the body of a PJ_ITEM_CODE_NAMES item, windowcode_take that of a PJ_ITEM_CODE item. Each
 * returns NULL, or a static text with the first error; valid entries are used nevertheless. */
const char *windowcode_take_names(struct windowcode *windowcode, struct str body);
const char *windowcode_take(struct windowcode *windowcode, struct str body);

/* Returns true if the window lists code of process `pid`; false if not, or if windowcode is NULL. */
bool windowcode_has(const struct windowcode *windowcode, uint32_t pid);

/* Returns the code that certainly was at an address of process `pid` at a time in ns, with the calls inlined at the
 * address; NULL if the window lists no code for this address and time. The result is valid until windowcode_free().
 * windowcode may be NULL. */
const struct jit_code *windowcode_find(struct windowcode *windowcode, uint32_t pid, uint64_t address, uint64_t time);

/* windowcode_count() returns the number of listed code blobs. windowcode_left_out() returns the number of lookups of
 * pjrecord whose code the window does not list. */
size_t windowcode_count(const struct windowcode *windowcode);
uint64_t windowcode_left_out(const struct windowcode *windowcode);

#endif
