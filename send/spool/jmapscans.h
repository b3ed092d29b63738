/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapscans.h - has pjmap looked at every JVM since a moment, so that a window that ended then finds all names?
 *
 * pjmap marks each scan by the time of its file, also one that changed nothing. Not waited for: processes that are
 * gone, and timelines that nobody has looked at for a minute, since then no pjmap runs.
 */
#ifndef PJ_JMAPSCANS_H
#define PJ_JMAPSCANS_H

#include "common/base.h"

/* Timelines in DIR/maps/BOOT that are still to be scanned; end: wall time in ns. */
unsigned jmapscans_missing(int dir, const char *boot, uint64_t end);

#endif
