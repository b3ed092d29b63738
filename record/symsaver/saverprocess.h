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
	uint64_t hang_ns;          /* time in ns with one file after which the recorder kills the symbol saver */
	void (*parse)(int socket); /* function of the parser process: symparser_run */
};

/* Runs the symbol saver until it has to end. wake is a descriptor that becomes readable when the recorder has sent a
 * message, and has end of file when the recorder has ended. */
void saverprocess_run(struct saver_shared *shared, const struct saverprocess_options *options, int wake);

#endif
