/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverprocess.h - main loop of the symbol saver: receives messages from the ring, saves reduced copies of files,
 * copies JIT files, sweeps the symbol store, and counts.
 *
 * The symbol saver has the recorder's capabilities and parses no file of a target process; its parser process parses
 * these files (symhelper.h). test/suite/openers.sh checks that this module is linked with no parser.
 *
 * The symbol saver ends when the recorder requests it or has ended. Before that it processes the messages in the ring
 * and copies the rest of the JIT files.
 */
#ifndef PJ_SAVERPROCESS_H
#define PJ_SAVERPROCESS_H

#include "record/symsaver/saverring.h"

struct saverprocess_options {
	/* As in struct symsaver_options, with defaults applied; dir NULL: no files are saved, only build-ids are
	 * read. */
	const char *dir, *proc;
	uint64_t max_bytes, min_age_s;
	double min_free;
	uint64_t hang_ns;          /* ns of access to one file after which the recorder kills the symbol saver */
	void (*parse)(int socket); /* main function of the parser process: symparser_run */
};

/* Runs the symbol saver until it has to end. wake: descriptor that is readable after the recorder has sent a message,
 * and at end of file after the recorder has ended. After the return, the caller must exit. */
void saverprocess_run(struct saver_shared *shared, const struct saverprocess_options *options, int wake);

#endif
