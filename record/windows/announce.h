/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h - prints paths of complete windows on standard output, one in a line, without waiting for the reader.
 *
 * A slow reader gets the lines later, up to 64 kB of them; if the reader is gone, one message reports it and the
 * recorder goes on. One thread uses this module, with SIGPIPE blocked.
 */
#ifndef PJ_ANNOUNCE_H
#define PJ_ANNOUNCE_H

#include "common/text.h"

struct announce {
	/* Lines that are queued and not written yet. */
	struct text waiting;
	/* true: the reader has closed the pipe. */
	bool gone;
	/* true: a message has reported that the reader is slow. */
	bool slow;
	/* Number of paths that were not printed; the caller resets it. */
	uint64_t unprinted;
};

/* Queues a line with a path and writes what the pipe takes. A path beyond 64 kB of queued lines is counted as unprinted
 * instead. */
void announce_path(struct announce *announce, struct str path);

/* Writes queued lines; waits at most wait_ms for the pipe. Returns false if lines remain. */
bool announce_flush(struct announce *announce, int wait_ms);

/* Writes queued lines as announce_flush does, counts the remaining ones as unprinted, and frees the queue. */
void announce_end(struct announce *announce, int wait_ms);

#endif
