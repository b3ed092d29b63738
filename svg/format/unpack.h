/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - the folded stacks that a picture was made of.
 *
 * Reads the blocks pj-c and pj-d as docs/SVG.md has them, out of an SVG or a page that holds one. What comes is a
 * stranger's: every number is checked before it is used, and memory is a small multiple of the bytes given.
 */
#ifndef PJ_UNPACK_H
#define PJ_UNPACK_H

#include "common/filter/out.h"
#include "common/stacks.h"
#include "common/text.h"

struct unpacked {
	struct stacks stacks; /* as drawn; in time: a flame chart */
	unsigned columns;
	bool reverse;       /* the frames of every stack were turned round */
	struct text header; /* the input's `# pj` line, or empty */
	size_t pictures;    /* in these bytes; the first was unpacked */
};

/* NULL; or why not, with the place in the bytes. Pure. */
const char *unpack_parse(struct unpacked *unpacked, struct str bytes, size_t *offset);

/* As pjfold would have written the input; of a flame chart in order of time. */
void unpack_write(struct out *out, const struct unpacked *unpacked);
void unpack_free(struct unpacked *unpacked);

#endif
