/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapparser.h - parses a map that a JVM wrote of itself (untrustedmap.h), in a sandboxed process (sandbox.h) that has
 * nothing but its bytes.
 *
 * pjmap, which may look into other processes, reads the bytes, and gets a file in memory back, which it copies byte by
 * byte.
 */
#ifndef PJ_MAPPARSER_H
#define PJ_MAPPARSER_H

#include "jmap/attach/untrustedmap.h"

struct mapparser_map {
	int fd;         /* a file in memory, of the caller; -1: none */
	uint64_t bytes; /* of it */
	uint64_t lines, left_out;
};

/* Returns false if no line makes sense, or if the process cannot be started or fails: map->fd is -1 then. style: of the
 * map that is written; the names are read as those of `read`. */
bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style);

#endif
