/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlinetree.h - calls inlined in a code blob of a JVM: a tree of calls, and the address range of each node.
 *
 * Node 0 is the compiled method itself. Code timelines and windows of pjrecord have the same encoding of the tree
 * (pj-jmap(5), PJ_ITEM_CODE). The bytes are hostile input.
 */
#ifndef PJ_INLINETREE_H
#define PJ_INLINETREE_H

#include "common/arena.h"
#include "fold/jvm/jitcode.h"

struct inlinetree;

/* Parses a tree, which must be all of `body`. The nodes refer to their names by numbers below nnames. Sets *tree, whose
 * memory is in the arena. Returns NULL, or a static text with the error. */
const char *inlinetree_parse(struct arena *arena, struct str body, uint64_t nnames, struct inlinetree **tree);

/* Returns the code at an offset in bytes from the start of `code`: `code` itself, or a copy in the arena with the calls
 * inlined at this offset. The copy is made at the first lookup of its node. An offset belongs to the first range that
 * ends at or after it. names: names of the tree, by number. tree NULL: no calls are inlined. */
const struct jit_code *inlinetree_at(struct inlinetree *tree, const struct jit_code *code, uint64_t offset,
				     const struct str *names, struct arena *arena);

#endif
