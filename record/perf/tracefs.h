/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefs.h - finds tracepoints of the kernel by name, and collects the descriptions of their fields for readers of
 * perf.data.
 *
 * A tracepoint is a directory events/SYSTEM/NAME of tracefs. Its id is the config of perf_event_open. perf script and
 * other readers print the raw bytes of a sample by the tracepoint's format. The file stores these formats as the
 * feature TRACING_DATA.
 */
#ifndef PJ_TRACEFS_H
#define PJ_TRACEFS_H

#include "common/text.h"

struct tracepoint {
	/* name such as "sched:sched_switch", freed by tracefs_free */
	char *name;
	uint64_t id;
};

#define TRACEFS_MAX 4096 /* maximum number of tracepoints in a list */

/* Returns the mount point of tracefs; NULL with errno if it is not mounted or not accessible. */
const char *tracefs_dir(void);

/* Appends the tracepoints that match "SYSTEM:NAME", where both parts may be shell patterns, to the array *found with *n
 * entries, in order of name. The caller frees the array with tracefs_free. Returns false with errno on failure: ENOENT
 * if none matches, E2BIG if the array would exceed TRACEFS_MAX, EACCES or EPERM if permission is missing. */
bool tracefs_find(const char *dir, struct str pattern, struct tracepoint **found, size_t *n);
/* Frees an array of tracepoints with their names. */
void tracefs_free(struct tracepoint *tracepoint, size_t n);

/* Appends the names of all tracepoints, one per line, unordered; nothing if they cannot be read. */
void tracefs_list(const char *dir, struct text *text);

/* Appends up to three names of tracepoints that are similar to `name`, separated by ", "; nothing if there are none. */
void tracefs_nearest(const char *dir, struct str name, struct text *text);

/* Appends the TRACING_DATA section with the formats of the n tracepoints, which may be in any order. Returns false with
 * errno on failure. */
bool tracefs_describe(const char *dir, const struct tracepoint *tracepoint, size_t n, struct text *text);

#endif
