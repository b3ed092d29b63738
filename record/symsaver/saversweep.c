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
#define TEMP_AGE 3600 /* s: whoever wrote it is gone */
#define FOLDERS_MAX 4 /* symbols/tenants/NAME/.build-id/xx */
#define SLACK 60      /* s */
#define AGES 512
#define FILE_LEAST 4096 /* bytes that a file counts for, however small: inodes are scarce, too */
#define SHARES_MAX 256  /* tenants with a share of their own; those beyond have one together */

enum { SHARE_HOST, SHARE_OTHERS, SHARE_TENANTS };

/* Files of one tenant. */
struct share {
	char name[TENANT_NAME]; /* of its folder */
	uint64_t held, max;     /* bytes; how many it may hold after the sweep */
	uint64_t age[AGES];     /* bytes by time of modification */
	size_t cut;             /* in the second pass: what is before goes */
	uint64_t forced;        /* files */
};

struct sweep {
	struct saverdir *k;
	uint64_t needed; /* s since 1970: what is older is needed by no window */
	uint64_t now, oldest;
	uint64_t total; /* bytes on disk */
	bool counting;  /* else removing */
	struct share *share[SHARES_MAX];
	size_t nshares;
	struct saversweep swept;
};

/* ---- shares --------------------------------------------------------------------------------------------------------
 */

static struct share *add_share(struct sweep *s, const char *name)
{
	struct share *share = mem_alloc(sizeof(*share), 1);

	snprintf(share->name, sizeof(share->name), "%s", name);
	s->share[s->nshares++] = share;
	return share;
}

/* The share of a tenant's folder. */
static struct share *share_of(struct sweep *s, const char *folder)
{
	for (size_t i = SHARE_TENANTS; i < s->nshares; i++)
		if (strcmp(s->share[i]->name, folder) == 0)
			return s->share[i];
	if (s->nshares == SHARES_MAX || strlen(folder) >= TENANT_NAME)
		return s->share[SHARE_OTHERS];
	return add_share(s, folder);
}

/* How much each share may hold, and which of its files go: the oldest. */
static void cut_shares(struct sweep *s, uint64_t target)
{
	uint64_t held[SHARES_MAX] = { 0 }, floor[SHARES_MAX] = { [SHARE_HOST] = target / 2 }, level;

	for (size_t i = 0; i < s->nshares; i++)
		held[i] = s->share[i]->held;
	level = tenants_level(held, floor, s->nshares, target);
	for (size_t i = 0; i < s->nshares; i++) {
		struct share *share = s->share[i];
		uint64_t old = 0;

		share->max = level > floor[i] ? level : floor[i];
		for (share->cut = 0; share->cut < AGES - 1; share->cut++) {
			old += share->age[share->cut];
			if (share->held <= share->max + old)
				break;
		}
	}
}

/* ---- files ---------------------------------------------------------------------------------------------------------
 */

static size_t age_of(const struct sweep *s, uint64_t mtime)
{
	uint64_t width = (s->now - s->oldest) / AGES + 1;

	return mtime <= s->oldest ? 0 : mtime >= s->now ? AGES - 1 : (size_t)((mtime - s->oldest) / width);
}

static uint64_t saversweep_bytes_of(const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	return bytes > FILE_LEAST ? bytes : FILE_LEAST;
}

/* What a link counts for: its part. A tenant's file usually has one more link, in shared/, which counts for nobody. */
static uint64_t part_of(const struct stat *st, bool of_tenant)
{
	uint64_t links = st->st_nlink > (of_tenant ? 2u : 1u) ? (uint64_t)st->st_nlink - of_tenant : 1;

	return saversweep_bytes_of(st) / links;
}

static bool is_orphan(const struct share *share, const struct stat *st)
{
	return !share && st->st_nlink == 1;
}

/* share NULL: a link in shared/, which goes with the last file of a tenant. */
static void saversweep_sweep_file(struct sweep *s, struct share *share, int folder, const char *name,
				  const struct stat *st)
{
	uint64_t mtime = st->st_mtime > 0 ? (uint64_t)st->st_mtime : 0;
	uint64_t part = share ? part_of(st, share != s->share[SHARE_HOST]) : 0;

	if (strncmp(name, SAVERDIR_TEMP, strlen(SAVERDIR_TEMP)) == 0) {
		if (mtime + TEMP_AGE < s->now)
			unlinkat(folder, name, 0);
		return;
	}
	if (is_orphan(share, st) || (s->counting && mtime < s->needed)) {
		if (unlinkat(folder, name, 0) == 0) {
			s->swept.removed += share != NULL;
			s->swept.bytes += saversweep_bytes_of(st) / (st->st_nlink ? st->st_nlink : 1);
			return;
		}
	}
	if (s->counting)
		s->total += saversweep_bytes_of(st) / (st->st_nlink ? st->st_nlink : 1);
	if (!share)
		return;
	if (s->counting) {
		share->age[age_of(s, mtime)] += part;
		share->held += part;
	} else if (share->held > share->max && age_of(s, mtime) <= share->cut && unlinkat(folder, name, 0) == 0) {
		share->held -= part < share->held ? part : share->held;
		share->forced++;
		s->swept.forced++;
	}
}

/* The share of what is in a folder of symbols/ or jit/BOOT/, one level below `parent`. */
static struct share *share_below(struct sweep *s, const char *parent, const char *name, struct share *share)
{
	if (strcmp(parent, "tenants") == 0)
		return share_of(s, name);
	if (strcmp(parent, "symbols") == 0 && strcmp(name, "shared") == 0)
		return NULL;
	if (strlen(parent) == BOOT_ID && strchr(parent, '-') && strchr(name, '-') && share == s->share[SHARE_HOST])
		return share_of(s, name);
	return share;
}

/* The files of a folder (taken over), of its folders, and of theirs; then what is empty. */
static void sweep_folder(struct sweep *s, struct share *share, int fd, const char *name, unsigned depth)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < FOLDERS_MAX) {
			sweep_folder(s, share_below(s, name, e->d_name, share), openat(dirfd(dir), e->d_name, FOLDER),
				     e->d_name, depth + 1);
			if (strcmp(e->d_name, s->k->boot) != 0)
				unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR); /* succeeds when it is empty */
		} else if (S_ISREG(st.st_mode)) {
			saversweep_sweep_file(s, share, dirfd(dir), e->d_name, &st);
		}
	}
	closedir(dir);
}

static void sweep_all(struct sweep *s)
{
	sweep_folder(s, s->share[SHARE_HOST], openat(s->k->dir, "symbols", FOLDER), "symbols", 0);
	sweep_folder(s, s->share[SHARE_HOST], openat(s->k->dir, "jit", FOLDER), "jit", 0);
}

static void count_all(struct sweep *s)
{
	s->counting = true;
	s->total = 0;
	for (size_t i = 0; i < s->nshares; i++) {
		s->share[i]->held = 0;
		memset(s->share[i]->age, 0, sizeof(s->share[i]->age));
	}
	sweep_all(s);
}

/* ---- windows -------------------------------------------------------------------------------------------------------
 */

/* E of the oldest E.data in a folder of DIR, if it is older than that. */
static uint64_t oldest_window(const struct saverdir *k, const char *folder, uint64_t oldest)
{
	int fd = openat(k->dir, folder, FOLDER);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return oldest;
	}
	while ((e = readdir(dir))) {
		struct str name = str_of(e->d_name);
		uint64_t epoch;

		if (str_ends(name, STR(".data")) && str_u64(str_head(name, name.n - 5), &epoch) && epoch < oldest)
			oldest = epoch;
	}
	closedir(dir);
	return oldest;
}

/* ---- all -----------------------------------------------------------------------------------------------------------
 */

static void count_forced(struct sweep *s)
{
	for (size_t i = 0; i < s->nshares; i++) {
		struct tenant of = { TENANT_UNKNOWN, 0 };

		if (i >= SHARE_TENANTS)
			tenant_from_folder(str_of(s->share[i]->name), &of);
		if (i != SHARE_HOST)
			saverbudget_count(&s->k->budget, of, s->share[i]->forced);
	}
}

struct saversweep saversweep_run(struct saverdir *k, uint64_t max_bytes, uint64_t min_age_s)
{
	struct sweep s = { .k = k, .now = (uint64_t)time(NULL) };

	s.needed = oldest_window(k, "recording", oldest_window(k, "out", s.now));
	s.needed -= s.needed > SLACK ? SLACK : s.needed; /* E may be a little later than the window began */
	if (s.needed + min_age_s > s.now)
		s.needed = s.now > min_age_s ? s.now - min_age_s : 0;
	/* as far as times show: what is older still is in the first of the ages */
	s.oldest = s.now > 90 * 86400u ? s.now - 90 * 86400u : 0;
	s.oldest = s.oldest > s.needed ? s.oldest : s.needed;
	add_share(&s, ""); /* SHARE_HOST */
	add_share(&s, ""); /* SHARE_OTHERS */
	count_all(&s);
	if (max_bytes && s.total > max_bytes) {
		cut_shares(&s, max_bytes - max_bytes / 10);
		s.counting = false;
		sweep_all(&s);
		count_all(&s); /* also removes links in shared/ that are the last ones */
		count_forced(&s);
	}
	k->bytes = s.total;
	for (size_t i = 0; i < s.nshares; i++)
		free(s.share[i]);
	return s.swept;
}

uint64_t saversweep_unneeded(int dir)
{
	struct saverdir k = { .dir = dir };

	return boot_id("/proc", k.boot) ? saversweep_run(&k, 0, 0).bytes : 0;
}
