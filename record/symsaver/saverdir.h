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
	int dir, symbols, jit; /* descriptors; -1: not made yet */
	int boot_jit;          /* jit/BOOT */
	char boot[BOOT_ID + 1];
	unsigned serial;           /* number of temporary files */
	uint64_t bytes;            /* on disk: result of the last sweep, and bytes added since */
	double min_free;           /* share of the file system that must stay free */
	bool full;                 /* less than that is free now */
	uint64_t polled_ns;        /* time of the last check of the free space */
	struct saverbudget budget; /* set by the symbol saver; zero: no limits */
};

/* Opens the folders in DIR; makes none. Returns NULL, or the reason why DIR cannot be used as a static text: a folder
 * in it is a link or belongs to another user. */
const char *saverdir_open(struct saverdir *saverdir, const char *dir, const char *proc, double min_free);
void saverdir_close(struct saverdir *saverdir);

/* Writes names below symbols/. folder: "" for files of root on this host, which all processes share; SAVERDIR_SHARED;
 * or the result of saverdir_tenant. */
#define SAVERDIR_SHARED "shared/"
void saverdir_tenant(char folder[SAVERDIR_FOLDER], const struct tenant *tenant, uint64_t mount_ns);
void saverdir_build_id(char path[SAVERDIR_PATH], const char *folder, const struct build_id *id);
void saverdir_numbers(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
		      const struct file_id *file_id);

/* Returns true if the file exists, and marks it as needed now. */
bool saverdir_touch(struct saverdir *saverdir, const char *path);

/* Opens a file for reading. Returns -1 and errno on failure. */
int saverdir_read(struct saverdir *saverdir, const char *path);

/* A new file below symbols/ without its name. saverdir_begin returns false and errno without space or permission. */
struct saverdir_file {
	int fd;
	char temp[48];
};
bool saverdir_begin(struct saverdir *saverdir, struct saverdir_file *file);
/* Compares the bytes of a new file with those of an existing one. */
enum saverdir_likeness { SAVERDIR_NONE, SAVERDIR_SAME, SAVERDIR_OTHER };
enum saverdir_likeness saverdir_compare(struct saverdir *saverdir, const struct saverdir_file *file, const char *path);
/* Gives the new file its name and a second one (or NULL); an existing file of a name stays. Returns false and errno on
 * failure; the new file is removed then. */
bool saverdir_commit(struct saverdir *saverdir, struct saverdir_file *file, const char *path, const char *also);
void saverdir_discard(struct saverdir *saverdir, struct saverdir_file *file);
/* Adds a name to an existing file; an existing file of that name stays. */
bool saverdir_link(struct saverdir *saverdir, const char *path, const char *also);

/* Returns a descriptor of jit/BOOT, made at first, which stays owned by *saverdir; -1 and errno on failure. */
int saverdir_jit(struct saverdir *saverdir);

/* Returns true if n more bytes may be written, and counts them. */
bool saverdir_has_space(struct saverdir *saverdir, uint64_t n);

#endif
