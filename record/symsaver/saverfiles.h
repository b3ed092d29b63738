/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverfiles.h - saves ELF files of target processes for the symbol saver: opens them, has a process without rights
 * parse them (symhelper.h), and saves the results under their names (savernames.h).
 *
 * A hostile file may take over its parser. So the results of a tenant's parser are used for that tenant only. Symbols
 * from files of root on this host are used for all tenants, so these files have their own parser, which reads no other
 * files.
 */
#ifndef PJ_SAVERFILES_H
#define PJ_SAVERFILES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"
#include "record/symsaver/symhelper.h"

struct saverfiles {
	struct saver_shared *shared; /* memory shared with the recorder: receives counts and build-ids */
	struct saverdir *dir;
	struct targetfiles_roots *roots;
	const char *proc;
	uint64_t largest; /* maximum number of bytes to save of one file; larger files are not saved */
	struct symhelper parser;
};

/* Returns the tenant that owns the files of the message's process; if the tenant is unknown, the mount namespace of the
 * process as a tenant. */
struct tenant saverfiles_owner(const struct saver_message *message);

/* Returns true if the file of the message is saved already, perhaps by an earlier run. In this case also reports the
 * file's build-id to the recorder, if the mapping has none. */
bool saverfiles_are_saved(struct saverfiles *files, const struct saver_message *message);

/* Saves the file of a message, or reads its build-id, depending on message->kind. Call it after symhelper_enter.
 * process: descriptor of /proc/PID; -1: the process has ended. Returns -1 if the file is saved or need not be saved;
 * otherwise an enum symsaver_reason. */
int saverfiles_save(struct saverfiles *files, const struct saver_message *message, int process, uint64_t now);

/* Returns the reason for symsaver_counts.failed that stands for this failure of the parser. answer: not SYMPARSER_DONE.
 */
enum symsaver_reason saverfiles_reason(enum symparser_answer answer);

#endif
