/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - prints the JVMs of this host as a table for people and scripts (pjmap --list).
 *
 * Each column is one word, except the last two (CODE, COMMAND), so scripts can split lines at blanks. Untrusted text is
 * made printable.
 */
#ifndef PJ_LISTING_H
#define PJ_LISTING_H

#include "jmap/attach/jcmdmap.h"

/* Writes a table of the n JVMs in `one` to stdout. With JCMDMAP_NOT, column CODE has the number of code blobs; with
 * another method, the result of jcmdmap_check. */
void listing(const struct jvm_process *one, size_t n, enum jcmdmap_method method);

#endif
