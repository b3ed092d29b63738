/* SPDX-License-Identifier: Apache-2.0 */
/* ringpoll.h - to sleep until a ring has records, somebody answers, the command ends or the time is over. */
#ifndef PJ_RINGPOLL_H
#define PJ_RINGPOLL_H

#include "record/perf/rings.h"

struct ringpoll {
	struct pollfd *poll;
	size_t n;
	uint64_t skipped, pause; /* rings_skipped at the last call; ns: of a pause in a storm */
	bool known;              /* poll has the rings as they are; to be cleared when they change, and now and then */
};

/* fd: of who answers, or -1. SIGCHLD gets through. In a storm of mappings (rings_skip) rings do not wake us, but are
 * looked at after a pause: 140,000 records a second of 1.5 kB woke us 1,300 times a second, which took 2 % of a CPU. A
 * pause is at most 2 ms, and shorter where the fullest ring is more than half full after it. */
void ringpoll_for(struct ringpoll *ringpoll, const struct rings *rings, int fd, int wait_ms);
void ringpoll_free(struct ringpoll *ringpoll);

#endif
