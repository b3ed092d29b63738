/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapparser.h - parses the map that a JVM wrote (untrustedmap.h), in a sandboxed process (sandbox.h) that can access
 * nothing but the bytes of the map.
 *
 * pjmap has the right to read other processes and does not parse the map itself: it passes the bytes to the sandboxed
 * process, which returns a valid map in a file in memory. pjmap copies that file.
 */
#ifndef PJ_MAPPARSER_H
#define PJ_MAPPARSER_H

#include "jmap/attach/untrustedmap.h"

/* Result of parsing a map. */
struct mapparser_map {
	/* file in memory with the parsed map, which the caller closes; -1: there is none */
	int fd;
	/* size of the file in bytes */
	uint64_t bytes;
	/* lines: number of lines in the parsed map; left_out: number of invalid lines, which it lacks */
	uint64_t lines, left_out;
};

/* Parses the map in `bytes` in a sandboxed process, which writes the valid lines as a map to the file map->fd. names
 * and read: spelling of names in the input (untrustedmap_read). style: spelling of names in the output. Returns false,
 * with map->fd -1, if no line is valid, or if the process cannot be started or fails. */
bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style);

#endif
