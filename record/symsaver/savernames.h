/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savernames.h - chooses the names under which a reduced ELF file is saved, and thereby the processes whose code it
 * names.
 *
 * A build-id is only a claim of the file. A file that only root of this host can write is trusted, and saved for all
 * processes. Any other file is saved in the folder of the tenant whose process mapped it, and names code of that tenant
 * only: a program that claims the build-id of libc changes no names of other tenants. Equal files of several tenants
 * are one file with several links. A name in use is never given to another file.
 */
#ifndef PJ_SAVERNAMES_H
#define PJ_SAVERNAMES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"

/* Returns true if the file of this message is saved already for its process. Then stores its name in path, and sets
 * its modification time to now, because a window needs it. */
bool savernames_find(struct saverdir *saverdir, const struct saver_message *message, char path[SAVERDIR_PATH]);

/* As savernames_find, with the build-id that was read from the file. If the file is saved, gives it the name by
 * file_id, too. */
bool savernames_find_id(struct saverdir *saverdir, const struct saver_message *message, const struct build_id *id);

/* Returns true for a file of this host that belongs to root, that no other user can write, and whose file system is not
 * mounted nosuid, as file systems that users mount are. */
bool savernames_trusted(const struct saver_message *message, int fd);

/* Gives a new file its names. id is the build-id from the segments, as the kernel reads it; id->n is 0 if there is
 * none. Sets *conflict if a saved file with this build-id has other symbols. Returns false with errno on failure. */
bool savernames_commit(struct saverdir *saverdir, const struct saver_message *message, struct saverdir_file *file,
		       const struct build_id *id, bool trusted, bool *conflict);

#endif
