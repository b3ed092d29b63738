/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefs.h - the kernel's tracepoints by name, and the text that tells a reader what their fields are.
 *
 * A tracepoint is a folder events/SYSTEM/NAME of tracefs; its number is what perf_event_open takes, and its format is
 * what perf script and others print the raw bytes of a sample with. These formats travel in the file as the feature
 * TRACING_DATA.
 */
#ifndef PJ_TRACEFS_H
#define PJ_TRACEFS_H

#include "common/text.h"

struct tracepoint {
	char *name; /* "sched:sched_switch", of malloc */
	uint64_t id;
};

#define TRACEFS_MAX 4096 /* tracepoints that one pattern may stand for */

/* Where it is mounted; NULL and errno: nowhere, or not for us. */
const char *tracefs_dir(void);

/* Adds the tracepoints that "SYSTEM:NAME" stands for, shell patterns on either side, by name. False and errno when
 * there are none: ENOENT, not allowed, E2BIG more than TRACEFS_MOST in all. */
bool tracefs_find(const char *dir, struct str pattern, struct tracepoint **found, size_t *n);
void tracefs_free(struct tracepoint *tracepoint, size_t n);

/* Appends up to three names that look like it, as ", "-separated list; nothing when none does. */
void tracefs_nearest(const char *dir, struct str name, struct text *text);

/* Appends the feature section for these tracepoints, sorted by name or not. False and errno. */
bool tracefs_describe(const char *dir, const struct tracepoint *tracepoint, size_t n, struct text *text);

#endif
