/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process that keeps: takes messages from the ring, opens, reduces, copies, sweeps, counts.
 *
 * It ends when the recorder asks it to or is gone, after what is in the ring and what JITs wrote until then is kept.
 */
#ifndef PJ_KEEPER_H
#define PJ_KEEPER_H

#include "keepring.h"

struct keeper_options {
	const char *dir, *proc;
	uint64_t max_bytes, min_age_s;
	double min_free;
	bool jit_dumps_here; /* jitdumps of processes that are not elsewhere, too */
};

/* wake: a pipe from the recorder. Returns when there is nothing more to do. */
void keeper_run(struct keep_shared *s, const struct keeper_options *o, int wake);

#endif
