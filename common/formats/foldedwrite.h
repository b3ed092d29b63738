/* SPDX-License-Identifier: Apache-2.0 */
/* foldedwrite.h - writes a tree as folded text: depth first, siblings sorted by bytes, so equal profiles give equal
 * bytes. */
#ifndef PJ_FOLDEDWRITE_H
#define PJ_FOLDEDWRITE_H

#include "common/formats/foldedhead.h"
#include "common/filter/out.h"

/* Writes all stacks that have a weight, with 1 or 2 columns. Writes no header if header is NULL. */
void folded_write(struct out *out, const struct stacks *stacks, unsigned columns, const struct folded_header *header);

#endif
