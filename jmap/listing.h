/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - prints the JVMs of this host as a table for people and scripts (pjmap --list).
 *
 * Each column is one word, except the last two (CODE, COMMAND), so scripts can split at blanks. Untrusted text is made
 * printable.
 */
#ifndef PJ_LISTING_H
#define PJ_LISTING_H

#include "jmap/attach/jcmdmap.h"

/* Writes a table of the n processes in `one` to stdout. With a method other than JCMDMAP_NOT, the column CODE has the
 * result of jcmdmap_check instead of the number of code blobs. */
void listing(const struct jvm_process *one, size_t n, enum jcmdmap_method method);

#endif
