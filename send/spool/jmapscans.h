/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jmapscans.h - tests if pjmap has scanned every JVM since the end of a window: then the names of all code in the
 * window are known.
 *
 * pjmap updates the modification time of each code timeline file at each scan, even if nothing changed. Files of
 * processes that ended are ignored. A file whose modification time is more than a minute before the end of the window
 * is ignored, too, as no pjmap was running at the end of the window.
 */
#ifndef PJ_JMAPSCANS_H
#define PJ_JMAPSCANS_H

#include "common/base.h"

/* Returns the number of code timelines in DIR/maps/BOOT, without the ignored ones, that pjmap last scanned before
 * `end`, the end of the window in ns since 1970. dir: descriptor of DIR. Returns 0 if there are none, or DIR/maps/BOOT
 * cannot be read. */
unsigned jmapscans_missing(int dir, const char *boot, uint64_t end);

#endif
