/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saversweep.h"

#include "common/arena.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define TEMP_AGE 3600 /* age in s at which a temporary file is removed, because its writer is assumed to have ended */
/* maximum depth of folders below symbols/ or jit/, as in symbols/tenants/NAME/.build-id/xx; deeper ones are ignored */
#define FOLDERS_MAX 4
#define SLACK 60 /* tolerance in s, because the name of a window may be later than its start */
#define AGES 512
/* minimum number of bytes that a file is assumed to use, because inodes are limited, too */
#define FILE_LEAST 4096
#define SHARES_MAX 256 /* maximum number of shares; all further tenants have one common share */

enum { SHARE_HOST, SHARE_OTHERS, SHARE_TENANTS };

/* The share of the disk of the host, of one tenant, or of all tenants beyond SHARES_MAX together. */
struct share {
	char name[TENANT_NAME]; /* name of the tenant's folder; empty for the host and for the common share */
	uint64_t held, max;     /* held: bytes of the share's files. max: bytes that may remain after the sweep. */
	/* bytes of the files by class of modification time; class 0 is the oldest, class AGES - 1 the newest */
	uint64_t age[AGES];
	size_t cut; /* if the share exceeds max, files of this class of age[] and of older classes are removed until it
		       does not */
	/* number of files that were removed because of max, although a window may need them */
	uint64_t forced;
};

struct sweep {
	struct saverdir *k;
	uint64_t needed; /* files with an earlier modification time (s since 1970) are needed by no window */
	/* now: current time; oldest: modification time below which all files are in class 0; s since 1970 */
	uint64_t now, oldest;
	uint64_t total; /* bytes on disk of all files in symbols/ and jit/ */
	/* true: this pass adds up the bytes of files, and removes files that no window needs; false: it removes files
	 * of shares above max */
	bool counting;
	struct share *share[SHARES_MAX];
	size_t nshares;
	struct saversweep swept;
};

/* ---- shares of the disk ----------------------------------------------------------------------------------------- */

static struct share *add_share(struct sweep *sweep, const char *name)
{
	struct share *share = mem_alloc(sizeof(*share), 1);

	snprintf(share->name, sizeof(share->name), "%s", name);
	sweep->share[sweep->nshares++] = share;
	return share;
}

/* Returns the share of a tenant's folder, and adds it if necessary. If there are SHARES_MAX shares, or the name is too
 * long, returns the common share of all further tenants. */
static struct share *share_of(struct sweep *sweep, const char *folder)
{
	for (size_t i = SHARE_TENANTS; i < sweep->nshares; i++)
		if (strcmp(sweep->share[i]->name, folder) == 0)
			return sweep->share[i];
	if (sweep->nshares == SHARES_MAX || strlen(folder) >= TENANT_NAME)
		return sweep->share[SHARE_OTHERS];
	return add_share(sweep, folder);
}

/* Sets max and cut of each share so that all shares together keep at most `target` bytes. */
static void cut_shares(struct sweep *sweep, uint64_t target)
{
	uint64_t held[SHARES_MAX] = { 0 }, floor[SHARES_MAX] = { [SHARE_HOST] = target / 2 }, level;

	for (size_t i = 0; i < sweep->nshares; i++)
		held[i] = sweep->share[i]->held;
	level = tenants_level(held, floor, sweep->nshares, target);
	for (size_t i = 0; i < sweep->nshares; i++) {
		struct share *share = sweep->share[i];
		uint64_t old = 0;

		share->max = level > floor[i] ? level : floor[i];
		for (share->cut = 0; share->cut < AGES - 1; share->cut++) {
			old += share->age[share->cut];
			if (share->held <= share->max + old)
				break;
		}
	}
}

/* ---- files of the symbol store ---------------------------------------------------------------------------------- */

static size_t age_of(const struct sweep *sweep, uint64_t mtime)
{
	uint64_t width = (sweep->now - sweep->oldest) / AGES + 1;

	return mtime <= sweep->oldest ? 0 : mtime >= sweep->now ? AGES - 1 : (size_t)((mtime - sweep->oldest) / width);
}

static uint64_t saversweep_bytes_of(const struct stat *status)
{
	uint64_t bytes = (uint64_t)status->st_blocks * 512;

	return bytes > FILE_LEAST ? bytes : FILE_LEAST;
}

/* Returns the part of a file's bytes that counts for one of its links: the bytes divided by the number of links. A file
 * of a tenant usually has one more link in shared/, which is not included. of_tenant: true: the link is in a tenant's
 * folder. */
static uint64_t part_of(const struct stat *status, bool of_tenant)
{
	uint64_t links = status->st_nlink > (of_tenant ? 2u : 1u) ? (uint64_t)status->st_nlink - of_tenant : 1;

	return saversweep_bytes_of(status) / links;
}

static bool is_orphan(const struct share *share, const struct stat *status)
{
	return !share && status->st_nlink == 1;
}

/* Handles one link of a file. Removes it if no window needs the file or, in the second pass, if its share is above max
 * and the file is old enough. Otherwise adds its bytes to the share in the first pass. share: NULL for a link in
 * shared/, which is removed if it is the last link of the file. */
static void saversweep_sweep_file(struct sweep *sweep, struct share *share, int folder, const char *name,
				  const struct stat *status)
{
	uint64_t mtime = status->st_mtime > 0 ? (uint64_t)status->st_mtime : 0;
	uint64_t part = share ? part_of(status, share != sweep->share[SHARE_HOST]) : 0;

	if (strncmp(name, SAVERDIR_TEMP, strlen(SAVERDIR_TEMP)) == 0) {
		if (mtime + TEMP_AGE < sweep->now)
			unlinkat(folder, name, 0);
		return;
	}
	if (is_orphan(share, status) || (sweep->counting && mtime < sweep->needed)) {
		if (unlinkat(folder, name, 0) == 0) {
			sweep->swept.removed += share != NULL;
			sweep->swept.bytes += saversweep_bytes_of(status) / (status->st_nlink ? status->st_nlink : 1);
			return;
		}
	}
	if (sweep->counting)
		sweep->total += saversweep_bytes_of(status) / (status->st_nlink ? status->st_nlink : 1);
	if (!share)
		return;
	if (sweep->counting) {
		share->age[age_of(sweep, mtime)] += part;
		share->held += part;
	} else if (share->held > share->max && age_of(sweep, mtime) <= share->cut && unlinkat(folder, name, 0) == 0) {
		share->held -= part < share->held ? part : share->held;
		share->forced++;
		sweep->swept.forced++;
	}
}

/* Returns the share of the files in the folder `name` of the folder `parent`: the tenant's share if `name` is the
 * folder of a tenant, otherwise `share`, the parent's share. Returns NULL for symbols/shared: a link there is removed
 * after the last link of a tenant. */
static struct share *share_below(struct sweep *sweep, const char *parent, const char *name, struct share *share)
{
	if (strcmp(parent, "tenants") == 0)
		return share_of(sweep, name);
	if (strcmp(parent, "symbols") == 0 && strcmp(name, "shared") == 0)
		return NULL;
	if (strlen(parent) == BOOT_ID && strchr(parent, '-') && strchr(name, '-') && share == sweep->share[SHARE_HOST])
		return share_of(sweep, name);
	return share;
}

/* Adds up or removes the files in a folder and below it, and removes folders that are then empty. fd: descriptor of the
 * folder, which the call closes. share: share of its files. depth: number of folders above it, from symbols/ or jit/
 * on. */
static void sweep_folder(struct sweep *sweep, struct share *share, int fd, const char *name, unsigned depth)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct stat status;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(status.st_mode) && depth < FOLDERS_MAX) {
			sweep_folder(sweep, share_below(sweep, name, entry->d_name, share),
				     openat(dirfd(dir), entry->d_name, FOLDER), entry->d_name, depth + 1);
			if (strcmp(entry->d_name, sweep->k->boot) != 0)
				/* AT_REMOVEDIR removes the folder only if it is empty */
				unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		} else if (S_ISREG(status.st_mode)) {
			saversweep_sweep_file(sweep, share, dirfd(dir), entry->d_name, &status);
		}
	}
	closedir(dir);
}

static void sweep_all(struct sweep *sweep)
{
	sweep_folder(sweep, sweep->share[SHARE_HOST], openat(sweep->k->dir, "symbols", FOLDER), "symbols", 0);
	sweep_folder(sweep, sweep->share[SHARE_HOST], openat(sweep->k->dir, "jit", FOLDER), "jit", 0);
}

static void count_all(struct sweep *sweep)
{
	sweep->counting = true;
	sweep->total = 0;
	for (size_t i = 0; i < sweep->nshares; i++) {
		sweep->share[i]->held = 0;
		memset(sweep->share[i]->age, 0, sizeof(sweep->share[i]->age));
	}
	sweep_all(sweep);
}

/* ---- age of the oldest window ----------------------------------------------------------------------------------- */

/* Returns the smallest E (s since 1970) of all files E.data in a folder of DIR, but at most `oldest`. Returns `oldest`
 * if the folder cannot be read. */
static uint64_t oldest_window(const struct saverdir *saverdir, const char *folder, uint64_t oldest)
{
	int fd = openat(saverdir->dir, folder, FOLDER);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return oldest;
	}
	while ((entry = readdir(dir))) {
		struct str name = str_of(entry->d_name);
		uint64_t epoch;

		if (str_ends(name, STR(".data")) && str_u64(str_head(name, name.n - 5), &epoch) && epoch < oldest)
			oldest = epoch;
	}
	closedir(dir);
	return oldest;
}

/* ---- sweep of the symbol store ---------------------------------------------------------------------------------- */

static void count_forced(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->nshares; i++) {
		struct tenant tenant = { TENANT_UNKNOWN, 0 };

		if (i >= SHARE_TENANTS)
			tenant_from_folder(str_of(sweep->share[i]->name), &tenant);
		if (i != SHARE_HOST)
			saverbudget_count(&sweep->k->budget, tenant, sweep->share[i]->forced);
	}
}

struct saversweep saversweep_run(struct saverdir *saverdir, uint64_t max_bytes, uint64_t min_age_s)
{
	struct sweep sweep = { .k = saverdir, .now = (uint64_t)time(NULL) };

	sweep.needed = oldest_window(saverdir, "recording", oldest_window(saverdir, "out", sweep.now));
	/* The name of a window may be slightly later than its start: the window may need slightly older files. */
	sweep.needed -= sweep.needed > SLACK ? SLACK : sweep.needed;
	if (sweep.needed + min_age_s > sweep.now)
		sweep.needed = sweep.now > min_age_s ? sweep.now - min_age_s : 0;
	/* Files older than 90 days are all in class 0. */
	sweep.oldest = sweep.now > 90 * 86400u ? sweep.now - 90 * 86400u : 0;
	sweep.oldest = sweep.oldest > sweep.needed ? sweep.oldest : sweep.needed;
	add_share(&sweep, ""); /* index SHARE_HOST */
	add_share(&sweep, ""); /* index SHARE_OTHERS */
	count_all(&sweep);
	if (max_bytes && sweep.total > max_bytes) {
		cut_shares(&sweep, max_bytes - max_bytes / 10);
		sweep.counting = false;
		sweep_all(&sweep);
		count_all(&sweep); /* also removes links in shared/ that are now the last link of their file */
		count_forced(&sweep);
	}
	saverdir->bytes = sweep.total;
	for (size_t i = 0; i < sweep.nshares; i++)
		free(sweep.share[i]);
	return sweep.swept;
}

uint64_t saversweep_unneeded(int dir)
{
	struct saverdir saverdir = { .dir = dir };

	return boot_id("/proc", saverdir.boot) ? saversweep_run(&saverdir, 0, 0).bytes : 0;
}
