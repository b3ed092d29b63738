/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverdir.h - files of DIR/symbols and DIR/jit: their names, folders and times; new files appear only when they are
 * complete.
 *
 * The modification time of a saved file is the time of the last window that needs it (saverdir_touch). So names and
 * times alone decide which files may be removed, whichever run wrote the files, without a stored table (saversweep.h).
 * A file with two names (build-id and file_id) is one file with two links, so it has one time.
 */
#ifndef PJ_SAVERDIR_H
#define PJ_SAVERDIR_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/filter/boot.h"
#include "record/symsaver/saverbudget.h"
#include "common/str.h"
#include "common/process/tenants.h"

#define SAVERDIR_PATH 160
#define SAVERDIR_TEMP ".keep-" /* prefix of the names of temporary files */
#define SAVERDIR_FOLDER (TENANT_NAME + 12)

struct saverdir {
	int dir, symbols, jit; /* descriptors of DIR, DIR/symbols and DIR/jit; -1: the folder is not created yet */
	int boot_jit;          /* descriptor of DIR/jit/BOOT; -1: the folder is not created yet */
	char boot[BOOT_ID + 1];
	unsigned serial; /* number of temporary files created so far; part of the name of the next one */
	/* bytes on disk of symbols/ and jit/: result of the last sweep, plus the bytes added since */
	uint64_t bytes;
	double min_free;    /* fraction of the file system that must stay free, 0 to 1; 0: no limit */
	bool full;          /* true: less than min_free was free at the last check, so no file is written */
	uint64_t polled_ns; /* time in ns (clock_now) of the last check of the free space */
	/* budgets of the tenants, set by the symbol saver; a zeroed struct has no limits */
	struct saverbudget budget;
};

/* Opens DIR and the folders in it that exist. proc: directory of procfs. min_free: fraction of the file system that
 * must stay free; 0: no limit. Returns NULL on success, otherwise the reason as a static text: for instance, a folder
 * in DIR is a link or belongs to another user. After a failure, too, the caller must call saverdir_close. */
const char *saverdir_open(struct saverdir *saverdir, const char *dir, const char *proc, double min_free);
void saverdir_close(struct saverdir *saverdir);

/* saverdir_tenant writes the path of a tenant's folder below symbols/ to `folder`. saverdir_build_id and
 * saverdir_numbers write the path of a file, by build-id and by file_id, to `path`. Their parameter folder: "" for
 * files of root on this host, which all processes share; SAVERDIR_SHARED; or the result of saverdir_tenant. */
#define SAVERDIR_SHARED "shared/"
void saverdir_tenant(char folder[SAVERDIR_FOLDER], const struct tenant *tenant, uint64_t mount_ns);
void saverdir_build_id(char path[SAVERDIR_PATH], const char *folder, const struct build_id *id);
void saverdir_numbers(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
		      const struct file_id *file_id);

/* Sets the modification time of the file `path` below symbols/ to now, because the current window needs it. Returns
 * false if the file does not exist. */
bool saverdir_touch(struct saverdir *saverdir, const char *path);

/* Opens the file `path` below symbols/ for reading. Returns a descriptor; -1 with errno on failure. */
int saverdir_read(struct saverdir *saverdir, const char *path);

/* A new file below symbols/ that has only the temporary name `temp` so far. saverdir_begin creates it, and returns
 * false with errno if space or permission is missing. */
struct saverdir_file {
	int fd;
	char temp[48];
};
bool saverdir_begin(struct saverdir *saverdir, struct saverdir_file *file);
/* Result of saverdir_compare, which compares the bytes of the new file with the bytes of the existing file `path`.
 * SAVERDIR_SAME: the bytes are equal. SAVERDIR_OTHER: they differ. SAVERDIR_NONE: `path` cannot be opened. */
enum saverdir_likeness { SAVERDIR_NONE, SAVERDIR_SAME, SAVERDIR_OTHER };
enum saverdir_likeness saverdir_compare(struct saverdir *saverdir, const struct saverdir_file *file, const char *path);
/* Gives the new file the name `path` and, unless `also` is NULL, a second name, and removes its temporary name. If
 * another file already has one of the names, that file keeps the name. Returns false with errno on failure; then the
 * file may have no name, or only the name `path`. */
bool saverdir_commit(struct saverdir *saverdir, struct saverdir_file *file, const char *path, const char *also);
void saverdir_discard(struct saverdir *saverdir, struct saverdir_file *file);
/* Gives the existing file `path` a second name `also`. If another file already has that name, that file keeps it.
 * Returns false with errno on failure. */
bool saverdir_link(struct saverdir *saverdir, const char *path, const char *also);

/* Returns a descriptor of DIR/jit/BOOT, which *saverdir owns, and creates the folder if necessary. Returns -1 with
 * errno on failure. */
int saverdir_jit(struct saverdir *saverdir);

/* Returns true and adds n (bytes) to saverdir->bytes. Returns false with errno ENOSPC if less than min_free of the file
 * system was free at the last check, which is at most a second old. */
bool saverdir_has_space(struct saverdir *saverdir, uint64_t n);

#endif
