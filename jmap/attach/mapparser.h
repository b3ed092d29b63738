/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapparser.h - parses a map that a JVM wrote (untrustedmap.h) in a sandboxed process (sandbox.h), which can access
 * only the bytes of the map.
 *
 * pjmap has the right to read other processes, so it parses no untrusted bytes itself. It passes the map to the
 * sandboxed process, which writes a valid map to a file in memory. pjmap copies that file without parsing it.
 */
#ifndef PJ_MAPPARSER_H
#define PJ_MAPPARSER_H

#include "jmap/attach/untrustedmap.h"

/* Result of parsing a map. */
struct mapparser_map {
	/* file in memory with the parsed map, which the caller closes; -1 if there is no map */
	int fd;
	/* size of the file in bytes */
	uint64_t bytes;
	/* lines: number of lines of the parsed map; left_out: number of invalid input lines, which the parsed map
	 * lacks */
	uint64_t lines, left_out;
};

/* Parses `bytes` in a sandboxed process, which writes the valid lines as a map to the new file map->fd. names: spelling
 * of names in the input; read: spelling of method names in the output (untrustedmap_read). style: with METHOD_HOTSPOT,
 * numbers have the format of Compiler.perfmap, otherwise that of perf (codemap_print). Returns false and sets map->fd
 * to -1 if no line is valid, or if the process does not start or fails. */
bool mapparser_run(struct mapparser_map *map, struct str bytes, enum untrustedmap_names names, enum method_style read,
		   enum method_style style);

#endif
