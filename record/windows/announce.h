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
	/* Lines that are not written yet. */
	struct text waiting;
	/* The reader has closed the pipe. */
	bool gone;
	/* A message has reported the slow reader. */
	bool slow;
	/* Paths that were not printed; the caller resets the count. */
	uint64_t unprinted;
};

/* Queues the line of a path. Over 64 kB, it is counted as unprinted instead. */
void announce_path(struct announce *announce, struct str path);

/* Writes queued lines; waits at most wait_ms for the pipe. Returns false if lines remain. */
bool announce_flush(struct announce *announce, int wait_ms);

/* As announce_flush; counts remaining lines as unprinted and frees the queue. */
void announce_end(struct announce *announce, int wait_ms);

#endif
