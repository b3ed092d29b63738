/* SPDX-License-Identifier: Apache-2.0 */
/* foldedwrite.h - writes a tree as folded text, depth first, siblings in byte order: so equal profiles give equal
 * bytes. */
#ifndef PJ_FOLDEDWRITE_H
#define PJ_FOLDEDWRITE_H

#include "common/formats/foldedhead.h"
#include "common/filter/out.h"

/* Writes all stacks that have weight, with 1 or 2 columns. header NULL: without a header. */
void folded_write(struct out *out, const struct stacks *stacks, unsigned columns, const struct folded_header *header);

#endif
