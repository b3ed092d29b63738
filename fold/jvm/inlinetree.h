/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlinetree.h - the calls inlined in a code blob of a JVM: a tree of calls, and the address ranges of its nodes.
 *
 * Node 0 is the compiled method itself. Code timelines and windows of pjrecord encode it in the same way (pj-jmap(5),
 * PJ_ITEM_CODE); the bytes are hostile input.
 */
#ifndef PJ_INLINETREE_H
#define PJ_INLINETREE_H

#include "common/arena.h"
#include "fold/jvm/jitcode.h"

struct inlinetree;

/* Parses a tree, which is all of `body`. Its nodes refer to names by numbers below nnames. Sets the result, whose
 * memory is in the arena. Returns NULL, or a static text with the error. */
const char *inlinetree_parse(struct arena *arena, struct str body, uint64_t nnames, struct inlinetree **tree);

/* Returns the code at an offset in bytes from the start of `code`: `code` itself, or a copy with the inlined calls at
 * that offset, which is in the arena and made once. An address belongs to the first range that ends at or after it.
 * names has the names that the tree refers to; tree may be NULL. */
const struct jit_code *inlinetree_at(struct inlinetree *tree, const struct jit_code *code, uint64_t offset,
				     const struct str *names, struct arena *arena);

#endif
