/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - what a file says of the machine: names, numbers and this boot. Read once. */
#ifndef PJ_HOST_H
#define PJ_HOST_H

#include "record/perf/chunk.h"

struct host;

struct host *host_new(void);
void host_free(struct host *host);
struct chunk_facts host_facts(
	const struct host *host); /* its strings live as long as h; events, argv and tracing are not in it */

unsigned host_max_stack(void); /* kernel.perf_event_max_stack */

#endif
