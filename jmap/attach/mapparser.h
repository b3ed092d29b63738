/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapparser.h - parses the map that a JVM wrote (untrustedmap.h), in a sandboxed process (sandbox.h) that has nothing
 * but its bytes.
 *
 * pjmap, which may read other processes, passes the bytes, and gets a file in memory with a valid map, which it copies
 * without parsing.
 */
#ifndef PJ_MAPPARSER_H
#define PJ_MAPPARSER_H

#include "jmap/attach/untrustedmap.h"

/* A parsed map. */
struct mapparser_map {
	/* file in memory, closed by the caller; -1: none */
	int fd;
	/* size of the file */
	uint64_t bytes;
	/* lines of the map; invalid lines, which are left out */
	uint64_t lines, left_out;
};

/* Returns false if no line is valid, or if the process cannot be started or fails: then map->fd is -1. style: of the
 * map that is written; the names in bytes are parsed as those of `read`. */
bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style);

#endif
