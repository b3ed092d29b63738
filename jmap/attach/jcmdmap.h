/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jcmdmap.h - maps that a JVM writes about itself, on request or by configuration.
 *
 * A request affects the JVM, so it needs an option of the user. --method=jcmd makes a HotSpot of JDK 17 or later write
 * its own map. --method=agent loads a small library into any HotSpot, which writes its code and then stays mapped,
 * inactive. Neither leaves a file. The map is untrusted input (untrustedmap.h).
 */
#ifndef PJ_JCMDMAP_H
#define PJ_JCMDMAP_H

#include "runtimes/hotspot/discover.h"
#include "jmap/attach/mapparser.h"

enum jcmdmap_method { JCMDMAP_NOT, JCMDMAP_JCMD, JCMDMAP_AGENT };

/* Tests if the request is possible, as far as that is visible without it. Returns the reason if not, else code NULL. */
struct hotspot_reason jcmdmap_check(const struct jvm_process *process, enum jcmdmap_method method);

/* Requests the map and parses it into map (mapparser.h); map->fd is -1 if there is none. Returns the reason, else
 * code NULL. The caller closes map->fd. */
struct hotspot_reason jcmdmap_map(struct mapparser_map *map, const struct jvm_process *process,
				  enum jcmdmap_method method, enum method_style style);

/* Gets the map that the JVM maintains itself: /tmp/perf-PID.map in its root directory, with its pid in its
 * namespace. Returns false and *why if there is none that belongs to it. Sets *same if it is the file same_as (may
 * be NULL), which must then not be replaced. */
bool jcmdmap_own(struct mapparser_map *map, const struct jvm_process *process, const char *same_as, bool *same,
		 enum method_style style, const char **why);

#endif
