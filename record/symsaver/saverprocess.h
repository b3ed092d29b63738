/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverprocess.h - main loop of the symbol saver: takes messages from the ring, saves reduced copies of files, copies
 * JIT files, sweeps the symbol store, and counts.
 *
 * The symbol saver has the recorder's capabilities and parses no file of a target process; the parser does
 * (symhelper.h). test/suite/openers.sh checks that this module is linked with no parser.
 *
 * The symbol saver ends when the recorder requests it or has ended, after it has processed the messages in the ring and
 * copied the JIT files.
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
