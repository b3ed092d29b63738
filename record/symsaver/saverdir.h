/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverdir.h - DIR/symbols and DIR/jit as files: names, folders, files that appear whole, and which may go.
 *
 * A kept file's time of modification is that of the last window that needed it (keepdir_touch), so what may be removed
 * follows from names and times alone, whoever wrote them, and needs no table: see saversweep.h. A file that has two
 * names (build-id, and numbers of the file) is one file with two links, so it has one time.
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
#define SAVERDIR_TEMP ".keep-" /* how names of temporary files start */
#define SAVERDIR_FOLDER (TENANT_NAME + 12)

struct saverdir {
	int dir, symbols, jit; /* descriptors; -1: not made yet */
	int boot_jit;          /* jit/BOOT */
	char boot[BOOT_ID + 1];
	unsigned serial;           /* of temporary files */
	uint64_t bytes;            /* on disk, as of the last sweep and what was added since */
	double min_free;           /* share of the file system that stays free */
	bool full;                 /* it is not, for now */
	uint64_t polled_ns;        /* when that was found out */
	struct saverbudget budget; /* by the keeper; none: nothing is refused */
};

/* NULL, or why DIR cannot be used, a static text: a folder in it is a link or somebody else's. Nothing is made. */
const char *saverdir_open(struct saverdir *saverdir, const char *dir, const char *proc, double min_free);
void saverdir_close(struct saverdir *saverdir);

/* Names below symbols/. folder: "" for files of root on this host, which all processes share; KEEPDIR_SHARED; or
 * keepdir_tenant's. */
#define SAVERDIR_SHARED "shared/"
void saverdir_tenant(char folder[SAVERDIR_FOLDER], const struct tenant *tenant, uint64_t mount_ns);
void saverdir_build_id(char path[SAVERDIR_PATH], const char *folder, const struct build_id *id);
void saverdir_numbers(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
		      const struct file_id *file_id);

/* Is it there? Then it is needed now. */
bool saverdir_touch(struct saverdir *saverdir, const char *path);

/* It, to be read; -1 and errno. */
int saverdir_read(struct saverdir *saverdir, const char *path);

/* A file below symbols/ in the making: -1 and errno when there is no room or no permission. */
struct saverdir_file {
	int fd;
	char temp[48];
};
bool saverdir_begin(struct saverdir *saverdir, struct saverdir_file *file);
/* Has the file with that name the same bytes? */
enum saverdir_likeness { SAVERDIR_NONE, SAVERDIR_SAME, SAVERDIR_OTHER };
enum saverdir_likeness saverdir_compare(struct saverdir *saverdir, const struct saverdir_file *file, const char *path);
/* It takes its name, and also another one (or NULL), unless there is a file with that name already, which stays. False
 * and errno: it is gone. */
bool saverdir_commit(struct saverdir *saverdir, struct saverdir_file *file, const char *path, const char *also);
void saverdir_discard(struct saverdir *saverdir, struct saverdir_file *file);
/* Another name for what is there; a file that has it already stays. */
bool saverdir_link(struct saverdir *saverdir, const char *path, const char *also);

/* jit/BOOT, made when need be; -1 and errno. Not the caller's. */
int saverdir_jit(struct saverdir *saverdir);

/* May n bytes more be written? Counts them. */
bool saverdir_has_space(struct saverdir *saverdir, uint64_t n);

#endif
