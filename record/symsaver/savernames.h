/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savernames.h - chooses the names under which a reduced ELF file is saved. The name determines for which processes
 * the file is used.
 *
 * A build-id is only a claim of the file. A file that only root of this host can write is trusted, and saved for all
 * processes. Any other file is saved in the folder of the tenant whose process mapped it, and is used for code of that
 * tenant only. So a program that claims the build-id of libc changes no names of other tenants. Equal files of several
 * tenants are one file with several links. A name in use is never given to another file.
 */
#ifndef PJ_SAVERNAMES_H
#define PJ_SAVERNAMES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"

/* Returns true if the file of the message is saved already, for its tenant or for all. In this case stores the saved
 * file's name in `path`, and sets its modification time to now, because the current window needs it. */
bool savernames_find(struct saverdir *saverdir, const struct saver_message *message, char path[SAVERDIR_PATH]);

/* Looks up the file of the message by its build-id *id, for its tenant or for all. id: read from the file. Returns true
 * if the file is saved already; then also gives the saved file its name by file_id. Returns false if the mapping has a
 * build-id. */
bool savernames_find_id(struct saverdir *saverdir, const struct saver_message *message, const struct build_id *id);

/* Returns true if all of this holds for the file fd: it belongs to root and to this host, no other user can write it,
 * and its file system is not mounted nosuid. (File systems that users mount are nosuid.) */
bool savernames_trusted(const struct saver_message *message, int fd);

/* Gives a new file its names and removes its temporary name. id: build-id from the segments, as the kernel reads it;
 * id->n 0: none. trusted: result of savernames_trusted; true: the names are valid for all processes. Sets *conflict to
 * true if a saved file with this build-id has other symbols, otherwise to false. Returns false with errno on
 * failure. */
bool savernames_commit(struct saverdir *saverdir, const struct saver_message *message, struct saverdir_file *file,
		       const struct build_id *id, bool trusted, bool *conflict);

#endif
