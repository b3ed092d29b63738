/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h - prints the paths of complete windows on standard output, one path in a line, without waiting for the
 * reader of the pipe.
 *
 * If the reader is slow, up to 64 kB of lines are queued; further paths are dropped and counted as unprinted. If the
 * reader has closed the pipe, one message reports that and the recording continues. One thread uses this module, with
 * SIGPIPE blocked.
 */
#ifndef PJ_ANNOUNCE_H
#define PJ_ANNOUNCE_H

#include "common/text.h"

struct announce {
	/* Lines that are queued, and not written to the pipe yet. */
	struct text waiting;
	/* true: the reader has closed the pipe, so no more paths are printed */
	bool gone;
	/* true: a message has reported that the reader is slow; false again after a line was written */
	bool slow;
	/* number of paths that were not printed; the caller resets it */
	uint64_t unprinted;
};

/* Queues a line with a path, and writes as many queued lines as the pipe accepts without waiting. Drops the path and
 * counts it as unprinted instead if the queue would exceed 64 kB, or if the reader has closed the pipe. */
void announce_path(struct announce *announce, struct str path);

/* Writes queued lines, and waits at most wait_ms for the pipe before each of them. Returns false if lines remain in the
 * queue. If a write fails, counts the remaining lines as unprinted and returns true. */
bool announce_flush(struct announce *announce, int wait_ms);

/* Writes queued lines, and waits at most wait_ms for the pipe before each of them. Then counts the remaining lines as
 * unprinted and frees the queue. */
void announce_end(struct announce *announce, int wait_ms);

#endif
