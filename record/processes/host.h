/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - facts about this host for the header of each perf.data: names, sizes, kernel release and boot id.
 *
 * host_new reads the facts once, because they do not change while the recorder runs.
 */
#ifndef PJ_HOST_H
#define PJ_HOST_H

#include "record/perf/chunk.h"

struct host;

/* Reads the facts about the host from /proc and uname, and returns them; never NULL. Facts that cannot be read stay
 * empty. */
struct host *host_new(void);
/* Frees the facts, including the strings of host_facts. */
void host_free(struct host *host);
/* Returns the facts for chunk_begin; their strings live as long as `host`. The caller sets the members event, argv and
 * tracing. */
struct chunk_facts host_facts(const struct host *host);

/* Returns kernel.perf_event_max_stack, the maximum number of frames in a callchain of the kernel; the kernel's default
 * 127 if it cannot be read. */
unsigned host_max_stack(void);

#endif
