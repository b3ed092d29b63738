/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h - paths of complete windows on standard output, one a line, without ever waiting for who reads them.
 *
 * A reader that is busy gets them later, up to 64 kB; one that is gone is named once, and the recorder goes on. To be
 * used by one thread, which does not get SIGPIPE.
 */
#ifndef PJ_ANNOUNCE_H
#define PJ_ANNOUNCE_H

#include "common/text.h"

struct announce {
	struct text waiting;
	bool gone;          /* nobody reads any more */
	bool slow;          /* said that the reader is slow */
	uint64_t unprinted; /* paths that nobody got, since somebody emptied this */
};

void announce_path(struct announce *announce, struct str path);
bool announce_flush(struct announce *announce,
		    int wait_ms); /* waits at most so long for room; false: something still waits */
void announce_end(struct announce *announce, int wait_ms); /* what still waits then is unprinted */

#endif
