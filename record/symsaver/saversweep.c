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
#define TEMP_AGE 3600 /* age in seconds from which the writer of a temporary file is assumed to have ended */
#define FOLDERS_MAX 4 /* maximum depth of folders below symbols/ or jit/: symbols/tenants/NAME/.build-id/xx */
#define SLACK 60      /* tolerance in seconds for E of windows */
#define AGES 512
#define FILE_LEAST 4096 /* bytes that a file counts at least, because inodes are limited, too */
#define SHARES_MAX 256  /* maximum number of shares; all further tenants have one share together */

enum { SHARE_HOST, SHARE_OTHERS, SHARE_TENANTS };

/* Files of the host, of one tenant, or of all further tenants. */
struct share {
	char name[TENANT_NAME]; /* name of the tenant's folder; empty for the host and the further tenants */
	uint64_t held, max;     /* held: bytes of the files; max: bytes that may stay after the sweep */
	uint64_t age[AGES];     /* bytes of the files by class of modification time; class 0 is the oldest */
	size_t cut;             /* highest class of which files are removed if the share exceeds max */
	uint64_t forced;        /* number of removed files that a window needs */
};

struct sweep {
	struct saverdir *k;
	uint64_t needed; /* time in seconds since 1970: no window needs files that are older */
	uint64_t now, oldest;
	uint64_t total; /* bytes on disk of all files */
	/* true: this pass counts files, and removes those that no window needs; false: it removes files of shares above
	 * max */
	bool counting;
	struct share *share[SHARES_MAX];
	size_t nshares;
	struct saversweep swept;
};

/* ---- shares ----------------------------------------------------------------------------------------------------- */

static struct share *add_share(struct sweep *sweep, const char *name)
{
	struct share *share = mem_alloc(sizeof(*share), 1);

	snprintf(share->name, sizeof(share->name), "%s", name);
	sweep->share[sweep->nshares++] = share;
	return share;
}

/* Returns the share of a tenant's folder; the common one if there are SHARES_MAX shares. */
static struct share *share_of(struct sweep *sweep, const char *folder)
{
	for (size_t i = SHARE_TENANTS; i < sweep->nshares; i++)
		if (strcmp(sweep->share[i]->name, folder) == 0)
			return sweep->share[i];
	if (sweep->nshares == SHARES_MAX || strlen(folder) >= TENANT_NAME)
		return sweep->share[SHARE_OTHERS];
	return add_share(sweep, folder);
}

/* Computes the bytes that each share may keep if all together have `target`, and the class of the newest files to
 * remove. */
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

/* ---- files ------------------------------------------------------------------------------------------------------ */

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

/* Returns the bytes that one link of a file counts: the file's bytes divided by its number of links. A file of a tenant
 * usually has another link in shared/, which does not count. */
static uint64_t part_of(const struct stat *status, bool of_tenant)
{
	uint64_t links = status->st_nlink > (of_tenant ? 2u : 1u) ? (uint64_t)status->st_nlink - of_tenant : 1;

	return saversweep_bytes_of(status) / links;
}

static bool is_orphan(const struct share *share, const struct stat *status)
{
	return !share && status->st_nlink == 1;
}

/* Counts or removes one link of a file. share is NULL for a link in shared/: it is removed when no tenant has another
 * link of the file. */
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

/* Returns the share of the files in the folder `name` of folder `parent`: that of a tenant, or `share`, that of the
 * parent. Returns NULL for symbols/shared, whose links are removed with the last link of a tenant. */
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

/* Counts or removes the files in a folder and below it, and removes empty folders. Closes fd. */
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

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* Returns the smallest E of all files E.data in a folder of DIR, but at most `oldest`. If the folder cannot be read,
 * returns `oldest`. */
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

/* ---- the sweep -------------------------------------------------------------------------------------------------- */

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
	/* E may be slightly later than the start of its window. */
	sweep.needed -= sweep.needed > SLACK ? SLACK : sweep.needed;
	if (sweep.needed + min_age_s > sweep.now)
		sweep.needed = sweep.now > min_age_s ? sweep.now - min_age_s : 0;
	/* Files older than 90 days are all in class 0. */
	sweep.oldest = sweep.now > 90 * 86400u ? sweep.now - 90 * 86400u : 0;
	sweep.oldest = sweep.oldest > sweep.needed ? sweep.oldest : sweep.needed;
	add_share(&sweep, ""); /* share with index SHARE_HOST */
	add_share(&sweep, ""); /* share with index SHARE_OTHERS */
	count_all(&sweep);
	if (max_bytes && sweep.total > max_bytes) {
		cut_shares(&sweep, max_bytes - max_bytes / 10);
		sweep.counting = false;
		sweep_all(&sweep);
		count_all(&sweep); /* also removes those links in shared/ that are the last link of a file now */
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
