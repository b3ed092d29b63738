/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similar.h - finds the known word that a mistyped word most likely stands for.
 *
 * Usage: similar_to, similar_offer for each known word, then read found; it is empty if no word is similar. A known
 * word is similar if it begins with the typed word, or differs from it by at most 2 bytes (1 in a typed word of less
 * than 5 bytes) that are inserted, deleted, replaced or swapped. Words of 1 byte or of more than 32 bytes are never
 * similar. If several words are equally similar, the first one is found.
 */
#ifndef PJ_SIMILAR_H
#define PJ_SIMILAR_H

#include "common/str.h"

struct similar {
	struct str word;  /* the mistyped word */
	struct str found; /* most similar known word so far; empty if there is none */
	unsigned limit;   /* a known word replaces `found` if it differs from `word` by fewer bytes than this */
};

struct similar similar_to(struct str word);
void similar_offer(struct similar *similar, struct str known);

#endif
