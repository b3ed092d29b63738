/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverdir.h - files of DIR/symbols and DIR/jit: names, folders, files that appear complete, and their times.
 *
 * The time of modification of a saved file is that of the last window that needs it (saverdir_touch). So names and
 * times alone decide which files may be removed, whichever run wrote them; no table is needed: see saversweep.h. A file
 * with two names (build-id, and file_id) is one file with two links, so it has one time.
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
	int dir, symbols, jit; /* descriptors of DIR, DIR/symbols and DIR/jit; -1: not created yet */
	int boot_jit;          /* descriptor of DIR/jit/BOOT; -1: not created yet */
	char boot[BOOT_ID + 1];
	unsigned serial;    /* number of temporary files created so far, for their names */
	uint64_t bytes;     /* bytes on disk: the result of the last sweep, plus the bytes added since */
	double min_free;    /* fraction of the file system that must stay free, 0 to 1 */
	bool full;          /* true: at the last check, less than min_free was free */
	uint64_t polled_ns; /* time of the last check of the free space, in ns */
	/* budgets of the tenants; the symbol saver sets them; the zero value has no limits */
	struct saverbudget budget;
};

/* Opens DIR and those of its folders that exist. Returns NULL, or the reason why DIR cannot be used as a static text: a
 * folder in it is a link or belongs to another user. */
const char *saverdir_open(struct saverdir *saverdir, const char *dir, const char *proc, double min_free);
void saverdir_close(struct saverdir *saverdir);

/* These write a folder or a file's path below symbols/. Argument folder is "" for files of root on this host, which all
 * processes share; SAVERDIR_SHARED; or the result of saverdir_tenant. */
#define SAVERDIR_SHARED "shared/"
void saverdir_tenant(char folder[SAVERDIR_FOLDER], const struct tenant *tenant, uint64_t mount_ns);
void saverdir_build_id(char path[SAVERDIR_PATH], const char *folder, const struct build_id *id);
void saverdir_numbers(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
		      const struct file_id *file_id);

/* Sets the modification time of a file to now, because a window needs it. Returns false if the file does not exist. */
bool saverdir_touch(struct saverdir *saverdir, const char *path);

/* Opens a file below symbols/ for reading. Returns a descriptor, or -1 with errno. */
int saverdir_read(struct saverdir *saverdir, const char *path);

/* A new file below symbols/ that has only a temporary name so far. saverdir_begin creates it; it returns false with
 * errno if space or permission is missing. */
struct saverdir_file {
	int fd;
	char temp[48];
};
bool saverdir_begin(struct saverdir *saverdir, struct saverdir_file *file);
/* Compares the bytes of the new file with those of an existing one. SAVERDIR_NONE: there is no such file. */
enum saverdir_likeness { SAVERDIR_NONE, SAVERDIR_SAME, SAVERDIR_OTHER };
enum saverdir_likeness saverdir_compare(struct saverdir *saverdir, const struct saverdir_file *file, const char *path);
/* Gives the new file the name `path` and, unless NULL, the second name `also`. If a file has such a name already, that
 * file stays. Returns false with errno on failure, and removes the new file. */
bool saverdir_commit(struct saverdir *saverdir, struct saverdir_file *file, const char *path, const char *also);
void saverdir_discard(struct saverdir *saverdir, struct saverdir_file *file);
/* Gives the existing file `path` a second name. If a file has that name already, that file stays. */
bool saverdir_link(struct saverdir *saverdir, const char *path, const char *also);

/* Returns a descriptor of DIR/jit/BOOT, which is created if necessary; *saverdir owns the descriptor. Returns -1 with
 * errno on failure. */
int saverdir_jit(struct saverdir *saverdir);

/* Returns true if n more bytes may be written, and adds them to the bytes on disk. */
bool saverdir_has_space(struct saverdir *saverdir, uint64_t n);

#endif
