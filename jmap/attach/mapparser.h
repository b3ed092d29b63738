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

/* Parses bytes, a map, in a sandboxed process, which writes the valid lines as a map to map->fd. names and read: the
 * spelling of names in bytes (untrustedmap_read). style: their spelling in the map that is written. Returns false, with
 * map->fd -1, if no line is valid, or if the process cannot be started or fails. */
bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style);

#endif
