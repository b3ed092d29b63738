/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - restores the folded stacks from which a picture was made.
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
	struct stacks stacks; /* the stacks as they are drawn; in the order of time for a flame chart */
	unsigned columns;
	bool reverse;       /* true if the frames of every stack are reversed */
	struct text header; /* the `# pj` line of the input, or empty */
	size_t pictures;    /* number of pictures in the document; the first one was unpacked */
};

/* Fills *unpacked from the first picture in the document. Returns NULL, or the reason of the failure (a static text);
 * *offset is then the place of the error in bytes. Pure. */
const char *unpack_parse(struct unpacked *unpacked, struct str bytes, size_t *offset);

/* Writes folded stacks, as pjfold would have written the input of the picture; those of a flame chart in the order of
 * time. */
void unpack_write(struct out *out, const struct unpacked *unpacked);
void unpack_free(struct unpacked *unpacked);

#endif
