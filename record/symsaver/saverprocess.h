/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverprocess.h - the process that keeps: takes messages from the ring, opens files, has them reduced, copies, sweeps,
 * counts.
 *
 * It has the recorder's capabilities and parses no file of a stranger: symhelper.h. test/suite/openers.sh shows that it
 * is linked with no parser.
 *
 * It ends when the recorder asks it to or is gone, after what is in the ring and what JITs wrote until then is kept.
 */
#ifndef PJ_SAVERPROCESS_H
#define PJ_SAVERPROCESS_H

#include "record/symsaver/saverring.h"

struct saverprocess_options {
	const char *dir, *proc;
	uint64_t max_bytes, min_age_s;
	double min_free;
	uint64_t hang_ns;          /* after which at one file the recorder ends it */
	void (*parse)(int socket); /* symparser_run: parses what the keeper opens, in a process of its own */
};

/* wake: a pipe from the recorder. Returns when there is nothing more to do. */
void saverprocess_run(struct saver_shared *shared, const struct saverprocess_options *options, int wake);

#endif
