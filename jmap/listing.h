/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h - the JVMs of this host as a table for people and scripts: columns are words, but for the last one. */
#ifndef PJ_LISTING_H
#define PJ_LISTING_H

#include "jmap/attach/jcmdmap.h"

/* Writes it to stdout. method: how many pieces of code there are is not said, but whether it could be asked that way.
 */
void listing(const struct jvm_process *one, size_t n, enum jcmdmap_method method);

#endif
