/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - restores the folded stacks from a picture that pjsvg made of them.
 *
 * The module reads the blocks pj-c and pj-d (docs/SVG.md) of an SVG, or of an HTML page that contains one. The document
 * is untrusted: every number is checked before use, and memory is limited to a small multiple of the document's size.
 */
#ifndef PJ_UNPACK_H
#define PJ_UNPACK_H

#include "common/filter/out.h"
#include "common/stacks.h"
#include "common/text.h"

struct unpacked {
	struct stacks stacks; /* stacks as drawn; in the order of time for a flame chart */
	unsigned columns;     /* number of weights of a stack: 1, or 2 in a difference */
	bool reverse;         /* true if the frames of all stacks are reversed */
	struct text header;   /* `# pj` line of the input of the picture; empty: none */
	size_t pictures;      /* number of pictures in the document; the first picture is unpacked */
};

/* Fills *unpacked from the first picture in the document; the caller frees it by unpack_free, also after an error.
 * Returns NULL on success; else the reason (a static text), and sets *offset to the position of the error in bytes, or
 * to 0 if there is none. Does no input or output. */
const char *unpack_parse(struct unpacked *unpacked, struct str bytes, size_t *offset);

/* Writes folded stacks in the form in which pjfold wrote the input of the picture; the stacks of a flame chart in the
 * order of time. */
void unpack_write(struct out *out, const struct unpacked *unpacked);
void unpack_free(struct unpacked *unpacked);

#endif
