/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverfiles.h - ELF files of target processes, for the symbol saver: opened here, parsed by a process without rights
 * (symhelper.h), saved under their names (savernames.h).
 *
 * A file may take its parser over. So results of the parser of a tenant count for that tenant only; files of root on
 * this host, which name code of all tenants, have a parser that reads no other files.
 */
#ifndef PJ_SAVERFILES_H
#define PJ_SAVERFILES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"
#include "record/symsaver/symhelper.h"

struct saverfiles {
	struct saver_shared *shared; /* receives counts and build-ids */
	struct saverdir *dir;
	struct targetfiles_roots *roots;
	const char *proc;
	uint64_t largest; /* limit of the bytes saved of one file */
	struct symhelper parser;
};

/* Returns the tenant of the files of a message. */
struct tenant saverfiles_owner(const struct saver_message *message);

/* Returns true if the file is already saved, perhaps by an earlier run; reports its build-id to the recorder then. */
bool saverfiles_are_saved(struct saverfiles *files, const struct saver_message *message);

/* Saves the file, or reads its build-id, by the kind of the message. To be called after symhelper_enter. process: -1 if
 * it has ended. Returns -1 if the file is saved or need not be; otherwise an enum symsaver_reason. */
int saverfiles_save(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now);

/* Returns the reason for a failure of the parser. */
enum symsaver_reason saverfiles_reason(enum symparser_answer answer);

#endif
