/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jcmdmap.h - maps that a JVM makes of itself: because we asked it to, or because it does so anyway.
 *
 * To ask is to touch: only when the user said so. --method=jcmd lets a HotSpot of JDK 17 or later write its own map,
 * --method=agent loads a small library into any HotSpot, which tells of its code and does nothing afterwards, but stays
 * mapped. Both leave no file. What comes back is a stranger's (untrustedmap.h).
 */
#ifndef PJ_JCMDMAP_H
#define PJ_JCMDMAP_H

#include "runtimes/hotspot/discover.h"
#include "jmap/attach/mapparser.h"

enum jcmdmap_method { JCMDMAP_NOT, JCMDMAP_JCMD, JCMDMAP_AGENT };

/* Could it be asked that way, as far as can be told without doing it? */
struct hotspot_reason jcmdmap_check(const struct jvm_process *process, enum jcmdmap_method method);

/* Asks. map is its map (mapparser.h); map->fd is -1 if there is none. */
struct hotspot_reason jcmdmap_map(struct mapparser_map *map, const struct jvm_process *process,
				  enum jcmdmap_method method, enum method_style style);

/* The map that it keeps of its own accord: /tmp/perf-PID.map in its root, with its own number. False, and why: there is
 * none that may be its own. same_as: is it this file? Then it must not be replaced. */
bool jcmdmap_own(struct mapparser_map *map, const struct jvm_process *process, const char *same_as, bool *same,
		 enum method_style style, const char **why);

#endif
