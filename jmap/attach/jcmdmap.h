/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jcmdmap.h - gets maps that a JVM writes about itself, on request or by its configuration.
 *
 * A request affects the JVM, so pjmap sends one only if the user selects it. --method=jcmd makes HotSpot of JDK 17 or
 * later write a map. --method=agent loads a small library into any HotSpot; the library writes a map, then stays mapped
 * without further effect. pjmap removes all files that it created. The map is untrusted input (untrustedmap.h).
 */
#ifndef PJ_JCMDMAP_H
#define PJ_JCMDMAP_H

#include "runtimes/hotspot/discover.h"
#include "jmap/attach/mapparser.h"

/* How pjmap gets the map of a JVM. JCMDMAP_NOT: it reads the JVM's memory, without a request; JCMDMAP_JCMD:
 * --method=jcmd; JCMDMAP_AGENT: --method=agent. */
enum jcmdmap_method { JCMDMAP_NOT, JCMDMAP_JCMD, JCMDMAP_AGENT };

/* Checks, without a request to the JVM, if `method` can work. Returns a reason with code NULL if it can. */
struct hotspot_reason jcmdmap_check(const struct jvm_process *process, enum jcmdmap_method method);

/* Requests a map from the JVM and parses it into *map (mapparser.h); the caller closes map->fd. Returns a reason with
 * code NULL on success; otherwise map->fd is -1. */
struct hotspot_reason jcmdmap_map(struct mapparser_map *map, const struct jvm_process *process,
				  enum jcmdmap_method method, enum method_style style);

/* Reads the map that the JVM itself maintains into *map, as jcmdmap_map: /tmp/perf-PID.map below its root directory,
 * where PID is the pid in its own PID namespace. Returns false and sets *why (static text) if this JVM has no valid map
 * there. Sets *same to true if that file is the file at path same_as, which the caller then must not replace; otherwise
 * to false. same_as may be NULL. */
bool jcmdmap_own(struct mapparser_map *map, const struct jvm_process *process, const char *same_as, bool *same,
		 enum method_style style, const char **why);

#endif
