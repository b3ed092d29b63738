/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jcmdmap.h - maps that a JVM writes about itself, on request or by configuration.
 *
 * A request affects the JVM, so pjmap makes one only with an option of the user. --method=jcmd makes a HotSpot of JDK
 * 17 or later write a map. --method=agent loads a small library into any HotSpot; the library writes a map, and then
 * stays mapped without any effect. No file remains. The map is untrusted input (untrustedmap.h).
 */
#ifndef PJ_JCMDMAP_H
#define PJ_JCMDMAP_H

#include "runtimes/hotspot/discover.h"
#include "jmap/attach/mapparser.h"

enum jcmdmap_method { JCMDMAP_NOT, JCMDMAP_JCMD, JCMDMAP_AGENT };

/* Tests if `method` can be used for this JVM, as far as that is visible without a request. Returns code NULL if so,
 * else the reason why not. */
struct hotspot_reason jcmdmap_check(const struct jvm_process *process, enum jcmdmap_method method);

/* Requests the map from the JVM and parses it into *map (mapparser.h). Returns code NULL, or a reason with map->fd -1.
 * The caller closes map->fd. */
struct hotspot_reason jcmdmap_map(struct mapparser_map *map, const struct jvm_process *process,
				  enum jcmdmap_method method, enum method_style style);

/* Reads the map that the JVM maintains by itself: /tmp/perf-PID.map in its root directory, where PID is its pid in its
 * own PID namespace. Returns false and *why if there is no valid map of this JVM. Sets *same if it is the same file as
 * path same_as (NULL: none), which the caller then must not replace. */
bool jcmdmap_own(struct mapparser_map *map, const struct jvm_process *process, const char *same_as, bool *same,
		 enum method_style style, const char **why);

#endif
