/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverfiles.h - ELF files of others, for the keeper: opened here, parsed by a process without rights (symhelper.h),
 * kept under their names (savernames.h).
 *
 * What the parser of a tenant reads is believed for that tenant only, as one of his files may have taken it over. Files
 * of root on this host, which name code of all tenants, have a parser that reads no others.
 */
#ifndef PJ_SAVERFILES_H
#define PJ_SAVERFILES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"
#include "record/symsaver/symhelper.h"

struct saverfiles {
	struct saver_shared *shared; /* for counts, and build-ids that were found */
	struct saverdir *dir;
	struct targetfiles_roots *roots;
	const char *proc;
	uint64_t largest; /* bytes that are kept of one file */
	struct symhelper parser;
};

/* The tenant of a message's files. */
struct tenant saverfiles_owner(const struct saver_message *message);

/* True if the file is kept already, maybe since before the recorder began; the recorder gets its build-id from what was
 * kept. */
bool saverfiles_are_saved(struct saverfiles *files, const struct saver_message *message);

/* Keeps the file, or finds its build-id, as the message asks. To be called after symhelper_enter. process: -1 if it
 * ended. Returns -1 if it is kept, or need not be; else enum symsaver_reason. */
int saverfiles_save(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now);

enum symsaver_reason saverfiles_reason(enum symparser_answer answer);

#endif
