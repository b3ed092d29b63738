/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savernames.h - decides under which names a reduced ELF file is kept, and so whose code it may name.
 *
 * A build-id is what the file claims. A file that only root of this host can write is believed, and kept for all
 * processes. Any other file is kept in the folder of the tenant whose process mapped it, and names code of that tenant
 * only: a program that claims the build-id of libc changes no name of anybody else. Equal files of several tenants are
 * one file with several links. A name that is taken is never given to another file.
 */
#ifndef PJ_SAVERNAMES_H
#define PJ_SAVERNAMES_H

#include "record/symsaver/saverdir.h"
#include "record/symsaver/saverring.h"

/* Is the file of this message kept already, for its process? Then it is needed now. Its name in path. */
bool savernames_find(struct saverdir *saverdir, const struct saver_message *message, char path[SAVERDIR_PATH]);

/* The same once its build-id was read from the file; its numbers become a further name. */
bool savernames_find_id(struct saverdir *saverdir, const struct saver_message *message, const struct build_id *id);

/* True if the file is one of this host that only root can write: on a file system that was not mounted by or for a
 * user. */
bool savernames_trusted(const struct saver_message *message, int fd);

/* Gives file its names. id: as the kernel reads it, in segments; n 0: none. *conflict: another file with that build-id
 * has other symbols. */
bool savernames_commit(struct saverdir *saverdir, const struct saver_message *message, struct saverdir_file *file,
		       const struct build_id *id, bool trusted, bool *conflict);

#endif
