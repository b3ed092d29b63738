/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverfiles.h - saves ELF files of target processes for the symbol saver: opens them, lets a process without rights
 * parse them (symhelper.h), and saves the results under their names (savernames.h).
 *
 * A file may take its parser over. So the results of a tenant's parser count for that tenant only. Files of root on
 * this host name code of all tenants, so they have a parser that reads no other files.
 */
#ifndef PJ_SAVERFILES_H
#define PJ_SAVERFILES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"
#include "record/symsaver/symhelper.h"

struct saverfiles {
	struct saver_shared *shared; /* receives counts and build-ids for the recorder */
	struct saverdir *dir;
	struct targetfiles_roots *roots;
	const char *proc;
	uint64_t largest; /* maximum number of bytes that are saved of one file */
	struct symhelper parser;
};

/* Returns the tenant to which the files of a message's process belong. */
struct tenant saverfiles_owner(const struct saver_message *message);

/* Returns true if the file is saved already, perhaps by an earlier run. Then also reports its build-id to the
 * recorder. */
bool saverfiles_are_saved(struct saverfiles *files, const struct saver_message *message);

/* Saves the file of a message, or reads its build-id, as message->kind requires. Call it after symhelper_enter. process
 * is a descriptor of /proc/PID, or -1 if the process has ended. Returns -1 if the file is saved or need not be; else an
 * enum symsaver_reason. */
int saverfiles_save(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now);

/* Translates a failure of the parser to the reason why a file is not saved. */
enum symsaver_reason saverfiles_reason(enum symparser_answer answer);

#endif
