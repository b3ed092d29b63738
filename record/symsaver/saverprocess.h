/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverprocess.h - the symbol saver: takes messages from the ring, opens files, has them reduced, copies, sweeps,
 * counts.
 *
 * It has the recorder's capabilities and parses no file of a target process: symhelper.h. test/suite/openers.sh checks
 * that it is linked with no parser.
 *
 * It ends when the recorder requests it or has ended, after it has processed the ring and copied the JIT files.
 */
#ifndef PJ_SAVERPROCESS_H
#define PJ_SAVERPROCESS_H

#include "record/symsaver/saverring.h"

struct saverprocess_options {
	const char *dir, *proc;
	uint64_t max_bytes, min_age_s;
	double min_free;
	uint64_t hang_ns;          /* the recorder kills the symbol saver after this time at one file */
	void (*parse)(int socket); /* symparser_run, run in a helper process */
};

/* Runs the symbol saver until its end. wake: a pipe from the recorder. */
void saverprocess_run(struct saver_shared *shared, const struct saverprocess_options *options, int wake);

#endif
