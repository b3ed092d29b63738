/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapscans.h - tests if pjmap has scanned every JVM since the end of a window, so that all names of its code are
 * known.
 *
 * pjmap updates the time of a timeline's file at each scan, even if nothing changed. Ignored are processes that ended,
 * and timelines that have not been scanned for a minute, as then no pjmap is running.
 */
#ifndef PJ_JMAPSCANS_H
#define PJ_JMAPSCANS_H

#include "common/base.h"

/* Returns the number of timelines in DIR/maps/BOOT that were last scanned before `end`, the wall time in ns since
 * 1970 at which the window ended. dir is a descriptor of DIR. Returns 0 if there are no timelines. */
unsigned jmapscans_missing(int dir, const char *boot, uint64_t end);

#endif
