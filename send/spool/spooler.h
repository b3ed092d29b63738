/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spooler.h - windows of out/ are folded into the spool, each once, whatever the store does; and limits are kept.
 *
 * A window is folded as soon as pjmap has looked at every JVM after its end, or when that takes too long. What cannot
 * be folded goes to bad/. Room is made in this order: recordings that are folded, old refused windows, the oldest of
 * the spool.
 */
#ifndef PJ_SPOOLER_H
#define PJ_SPOOLER_H

#include "send/spool/folding.h"
#include "send/spool/spool.h"

#include <stdatomic.h>

struct spooler {
	struct spool *spool;
	const struct folding *folding;
	const char *dir;
	bool keep_spool;    /* recordings go as soon as they are folded */
	double min_free;    /* share of the file system */
	uint64_t max_bytes; /* of the spool and what is refused; 0: no limit */
	uint64_t map_wait_ms;
	void (*spooled)(void *to, struct spool_name name); /* may be NULL */
	void *to;
	const atomic_bool *stop; /* between two windows */

	struct spooler_done {
		uint64_t epoch, due; /* due: of a failed one, ms */
		unsigned tries;
		bool folded;
	} * done; /* sorted by epoch: what is to be left alone, for now or for ever */
	size_t n, cap;
	uint64_t bytes, bad_bytes, counted, shown;
	uint64_t unreadable; /* windows that went to bad/ */
};

void spooler_begin(struct spooler *spooler);
bool spooler_pass(struct spooler *spooler); /* folds what is ready; true: some window waits for pjmap */
bool spooler_left(struct spooler *spooler); /* is a window in out/ that is not folded? */
void spooler_end(struct spooler *spooler);

#endif
