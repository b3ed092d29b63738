/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/mapsdir.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "runtimes/hotspot/discover.h"
#include "common/formats/jmapfile.h"
#include "common/files/outpath.h"
#include "common/process/taskwait.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* number of seconds by which the time span of a window is extended at both ends: a window's name E may be a little
 * later than its start, and clocks may be set */
#define SLACK 60
/* maximum number of tenants with a sum of their own; index 0 is for unknown tenants and those beyond the limit */
#define TENANTS_MAX 256
/* number of bytes at the start of a timeline that are read to find its tenant: magic and first record */
#define START_MAX 512
/* age in seconds above which a sweep deletes a temporary file, since its writer has abandoned it */
#define TEMP_AGE 3600

/* ---- directories and names of timelines -------------------------------------------------------------------------- */

/* Returns fd, the descriptor of a directory, if this user owns the directory. Otherwise closes fd and returns -1 and
 * errno: the contents of another user's directory are untrusted. */
static int mapsdir_own(int fd)
{
	struct stat status;

	if (fd < 0 || (fstat(fd, &status) == 0 && status.st_uid == geteuid()))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Opens a directory, and creates it if necessary. Returns a descriptor, or -1 and errno; EPERM means that another user
 * owns the directory. */
static int mapsdir_enter_folder(int dir, const char *name)
{
	if (mkdirat(dir, name, 0750) < 0 && errno != EEXIST)
		return -1;
	return mapsdir_own(openat(dir, name, FOLDER));
}

int mapsdir_enter(const char *dir, const char *boot)
{
	struct outpath place;
	int at = outpath_directory(&place, dir, 0), maps, folder, error;

	outpath_close(&place);

	if (at < 0)
		return -1;
	maps = mapsdir_enter_folder(at, "maps");
	folder = maps < 0 ? -1 : mapsdir_enter_folder(maps, boot);
	error = errno;
	close(at);
	if (maps >= 0)
		close(maps);
	errno = error;
	return folder;
}

void mapsdir_make(const char *dir)
{
	struct outpath place;
	int fd = outpath_directory(&place, dir, 0750);

	if (place.refused[0])
		die("cannot use the directory '%s': %s: choose another --directory", dir, place.refused);
	if (fd < 0)
		die_errno("cannot create the directory '%s'", dir);
	close(fd);
	outpath_close(&place);
	if (access(dir, W_OK | X_OK) < 0)
		die_errno("cannot write to '%s'", dir);
}

void mapsdir_prepare(const char *dir, const char *boot)
{
	int folder = mapsdir_enter(dir, boot);

	if (folder >= 0)
		close(folder);
}

void mapsdir_name(char name[MAPSDIR_NAME], pid_t pid, uint64_t start)
{
	snprintf(name, MAPSDIR_NAME, "%d-%llu.jmap", (int)pid, (unsigned long long)start);
}

/* Parses the name of a timeline, PID-START.jmap. Returns false if the name has another form. */
static bool mapsdir_parse_name(const char *text, pid_t *pid, uint64_t *start)
{
	struct str name = str_of(text), number;
	char back[MAPSDIR_NAME];
	uint64_t value;

	if (!str_ends(name, STR(".jmap")))
		return false;
	name.n -= strlen(".jmap");
	number = str_cut(&name, '-');
	if (!str_u64(number, &value) || value == 0 || value > INT32_MAX || !str_u64(name, start))
		return false;
	*pid = (pid_t)value;
	mapsdir_name(back, *pid, *start);
	return strcmp(back, text) == 0;
}

/* ---- list of timelines ------------------------------------------------------------------------------------------- */

/* One timeline in DIR/maps. */
struct found {
	char boot[BOOT_ID + 1], name[MAPSDIR_NAME];
	/* time span that contains the lifetime of the JVM, in seconds since 1970; from is 0 for another boot */
	uint64_t from, until;
	uint64_t bytes; /* size of the timeline on disk in bytes */
	bool lives, needed, gone;
	size_t tenant; /* index of the timeline's tenant in sweep.tenant */
};

/* Time span of one recorded window, or of several that overlap, in seconds since 1970, with both ends included. */
struct window {
	uint64_t from, until;
};

/* State of one sweep of DIR/maps. */
struct sweep {
	const char *dir, *proc, *boot;
	int maps;
	uint64_t now;
	struct found *one;
	size_t n, cap;
	struct window *window; /* time spans of all windows; after find_windows sorted and disjoint */
	size_t nwindows, windows_cap;
	struct tenant tenant[TENANTS_MAX];
	uint64_t held[TENANTS_MAX]; /* bytes of each tenant's timelines, by index in `tenant` */
	size_t ntenants;
	struct mapsdir_swept swept;
};

/* Calls f(s, directory, name, arg) for each name in the directory fd, and closes fd. */
static void mapsdir_each(int fd, void (*f)(struct sweep *sweep, int dir, const char *name, const void *arg),
			 struct sweep *s, const void *arg)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			f(s, dirfd(dir), entry->d_name, arg);
	if (dir)
		closedir(dir);
}

/* Returns true if the process with this start time runs (a zombie does not), or if the read of its /proc/PID/stat timed
 * out: the timeline of a process that may still run must stay. start: start time of the process in clock ticks since
 * boot. */
static bool process_lives(const struct sweep *sweep, pid_t pid, uint64_t start)
{
	struct text text = { 0 };
	char path[4200];
	struct taskid id;
	bool zombie, lives;
	int process;

	snprintf(path, sizeof(path), "%s/%d", sweep->proc, (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return false;
	if (taskwait_read(process, "stat", &text, 4096))
		lives = taskid_parse(text_view(&text), &id, &zombie) && id.start == start && !zombie;
	else
		lives = taskwait_is_unanswered(errno);
	text_free(&text);
	close(process);
	return lives;
}

/* Returns the start time of a process of this boot in seconds since 1970. start: the start time in clock ticks since
 * boot. */
static uint64_t wall_of(uint64_t start)
{
	uint64_t boot = clock_wall() - clock_since_boot(), ns = 1000000000u;

	return boot / ns + start / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void mapsdir_take_file(struct sweep *sweep, int dir, const char *name, const void *arg)
{
	const char *boot = arg;
	struct found found = { .lives = false };
	struct stat status;
	uint64_t start;
	pid_t pid;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return;
	if (name[0] == '.' && (uint64_t)status.st_mtime + TEMP_AGE < sweep->now)
		unlinkat(dir, name, 0);
	if (!mapsdir_parse_name(name, &pid, &start))
		return;
	if (strcmp(boot, sweep->boot) == 0) {
		found.lives = process_lives(sweep, pid, start);
		found.from = wall_of(start);
	}
	if (found.lives)
		utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW);
	found.until = found.lives ? sweep->now : (uint64_t)status.st_mtime;
	found.bytes = status.st_blocks ? (uint64_t)status.st_blocks * 512 : (uint64_t)status.st_size;
	snprintf(found.boot, sizeof(found.boot), "%s", boot);
	snprintf(found.name, sizeof(found.name), "%s", name);
	if (sweep->n == sweep->cap) {
		sweep->cap = sweep->cap ? sweep->cap * 2 : 64;
		sweep->one = mem_grow(sweep->one, sizeof(*sweep->one), sweep->cap);
	}
	sweep->swept.bytes += found.bytes;
	sweep->one[sweep->n++] = found;
}

static void take_boot(struct sweep *sweep, int dir, const char *name, const void *arg)
{
	(void)arg;
	if (strlen(name) == BOOT_ID)
		mapsdir_each(openat(dir, name, FOLDER), mapsdir_take_file, sweep, name);
}

/* ---- windows that need timelines --------------------------------------------------------------------------------- */

/* Adds the time span of a window to sweep->window. text: name of its file in `dir`. arg is NULL if the window is still
 * being recorded: then its time span has no end. */
static void mapsdir_take_window(struct sweep *sweep, int dir, const char *text, const void *arg)
{
	struct str name = str_of(text);
	struct stat status;
	uint64_t epoch;

	if (!str_ends(name, STR(".data")) || !str_u64(str_head(name, name.n - strlen(".data")), &epoch) ||
	    fstatat(dir, text, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return;
	if (sweep->nwindows == sweep->windows_cap) {
		sweep->windows_cap = sweep->windows_cap ? sweep->windows_cap * 2 : 64;
		sweep->window = mem_grow(sweep->window, sizeof(*sweep->window), sweep->windows_cap);
	}
	sweep->window[sweep->nwindows++] = (struct window){ epoch > SLACK ? epoch - SLACK : 0,
							    arg ? (uint64_t)status.st_mtime + SLACK : UINT64_MAX };
}

static int mapsdir_by_from(const void *a, const void *b)
{
	const struct window *window = a, *y = b;

	return (window->from > y->from) - (window->from < y->from);
}

static void find_windows(struct sweep *sweep)
{
	int dir = open(sweep->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t retained = 0;

	if (dir < 0)
		return;
	mapsdir_each(openat(dir, "out", FOLDER), mapsdir_take_window, sweep, sweep);
	mapsdir_each(openat(dir, "recording", FOLDER), mapsdir_take_window, sweep, NULL);
	close(dir);
	if (sweep->nwindows)
		qsort(sweep->window, sweep->nwindows, sizeof(*sweep->window), mapsdir_by_from);
	for (size_t i = 0; i < sweep->nwindows; i++) {
		if (retained && sweep->window[i].from <= sweep->window[retained - 1].until) {
			if (sweep->window[i].until > sweep->window[retained - 1].until)
				sweep->window[retained - 1].until = sweep->window[i].until;
		} else {
			sweep->window[retained++] = sweep->window[i];
		}
	}
	sweep->nwindows = retained;
}

/* Returns true if a window was recorded while the JVM of the timeline lived: then the window needs the timeline. */
static bool is_needed(const struct sweep *sweep, const struct found *found)
{
	size_t low = 0, high = sweep->nwindows;

	/* Binary search for the first window that ends at or after the start of the JVM's lifetime. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sweep->window[middle].until < found->from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sweep->nwindows && sweep->window[low].from <= found->until;
}

/* ---- removal of timelines ---------------------------------------------------------------------------------------- */

/* Locks a timeline and deletes it if its name still refers to the locked file. Returns true if it was deleted; false if
 * another process holds the lock, or on an error. */
static bool delete_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status, named;
	bool gone = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 &&
		    fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && status.st_ino == named.st_ino &&
		    status.st_dev == named.st_dev && unlinkat(folder, name, 0) == 0;

	if (fd >= 0)
		close(fd);
	return gone;
}

static void mapsdir_let_go(struct sweep *sweep, struct found *found)
{
	int folder = openat(sweep->maps, found->boot, FOLDER);

	if (folder < 0)
		return;
	found->gone = delete_locked(folder, found->name);
	close(folder);
	if (strcmp(found->boot, sweep->boot) != 0)
		/* AT_REMOVEDIR removes the directory only if it is empty. */
		unlinkat(sweep->maps, found->boot, AT_REMOVEDIR);
	if (!found->gone)
		return;
	sweep->swept.bytes -= found->bytes;
	sweep->held[found->tenant] -=
		found->bytes < sweep->held[found->tenant] ? found->bytes : sweep->held[found->tenant];
	*(found->needed ? &sweep->swept.needed : &sweep->swept.unneeded) += 1;
}

static int mapsdir_by_age(const void *a, const void *b)
{
	const struct found *found = a, *y = b;

	if (found->until != y->until)
		return found->until < y->until ? -1 : 1;
	return strcmp(found->name, y->name);
}

static bool may_matter(const struct sweep *sweep, uint64_t max)
{
	if (max && sweep->swept.bytes > max)
		return true;
	for (size_t i = 0; i < sweep->n; i++)
		if (!sweep->one[i].lives && sweep->one[i].until + MAPSDIR_AGE < sweep->now)
			return true;
	return false;
}

/* Returns the tenant in the first record of a timeline, or TENANT_UNKNOWN if the record has none, as in timelines of
 * earlier versions of pjmap. */
static struct tenant read_tenant(const struct sweep *sweep, const struct found *found)
{
	struct tenant tenant = { TENANT_UNKNOWN, 0 };
	int folder = openat(sweep->maps, found->boot, FOLDER), fd = -1;
	char head[START_MAX];
	struct str rest, body;

	if (folder < 0)
		return tenant;
	fd = openat(folder, found->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	rest = (struct str){ head, fd >= 0 ? fullio_pread(fd, head, sizeof(head), 0) : 0 };
	if (fd >= 0)
		close(fd);
	if (!str_starts(rest, STR(JMAP_MAGIC)))
		return tenant;
	rest = str_from(rest, JMAP_MAGIC_BYTES);
	if (jmap_next(&rest, &body) != 1 || body.n == 0 || body.p[0] != JMAP_START)
		return tenant;
	body = str_from(body, 1);
	while (body.n) {
		struct str pair = str_cut(&body, ' ');

		if (str_eq(str_cut(&pair, '='), STR("tenant"))) {
			tenant_from_folder(pair, &tenant);
			/* Stops before the version, whose text the JVM chooses: it must not be parsed as a tenant. */
			break;
		}
	}
	return tenant;
}

/* Adds the size of each timeline to the sum of its tenant, and finds the tenant that holds most bytes. */
static void sum_tenants(struct sweep *sweep)
{
	sweep->ntenants = 1;
	for (size_t i = 0; i < sweep->n; i++) {
		struct tenant tenant = read_tenant(sweep, &sweep->one[i]);
		size_t t = tenant.kind == TENANT_UNKNOWN ? 0 : 1;

		while (t && t < sweep->ntenants && !tenant_same(sweep->tenant[t], tenant))
			t++;
		if (t == TENANTS_MAX)
			t = 0;
		if (t == sweep->ntenants)
			sweep->tenant[sweep->ntenants++] = tenant;
		sweep->one[i].tenant = t;
		sweep->held[t] += sweep->one[i].bytes;
		if (sweep->held[t] > sweep->swept.largest_bytes) {
			sweep->swept.largest_bytes = sweep->held[t];
			sweep->swept.largest = sweep->tenant[t];
		}
	}
}

/* Removes timelines, oldest first, until all timelines together have at most `target` bytes. Removes only those of
 * unknown tenants and of tenants that hold more than their fair share of `target`. needed: true removes timelines that
 * windows need; false removes those that no window needs. */
static void cut_tenants(struct sweep *sweep, bool needed, uint64_t target)
{
	uint64_t level = tenants_level(sweep->held, NULL, sweep->ntenants, target);

	for (size_t i = 0; i < sweep->n && sweep->swept.bytes > target; i++) {
		struct found *found = &sweep->one[i];

		if (!found->lives && !found->gone && found->needed == needed &&
		    (found->tenant == 0 || sweep->held[found->tenant] > level))
			mapsdir_let_go(sweep, found);
	}
}

static void mapsdir_choose(struct sweep *sweep, uint64_t max)
{
	bool too_much = max && sweep->swept.bytes > max;

	find_windows(sweep);
	if (sweep->n)
		qsort(sweep->one, sweep->n, sizeof(*sweep->one), mapsdir_by_age);
	if (too_much)
		sum_tenants(sweep);
	for (size_t i = 0; i < sweep->n; i++) {
		struct found *found = &sweep->one[i];

		found->needed = is_needed(sweep, found);
		if (!found->lives && !found->needed && found->until + MAPSDIR_AGE < sweep->now)
			mapsdir_let_go(sweep, found);
	}
	if (!too_much || sweep->swept.bytes <= max)
		return;
	cut_tenants(sweep, false, max - max / 10);
	cut_tenants(sweep, true, max);
}

struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max)
{
	struct sweep sweep = { .dir = dir, .proc = proc, .boot = boot, .now = clock_wall() / 1000000000u };
	uint64_t began = clock_now();
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	sweep.maps = at < 0 ? -1 : mapsdir_own(openat(at, "maps", FOLDER));
	if (at >= 0)
		close(at);
	if (sweep.maps >= 0) {
		mapsdir_each(openat(sweep.maps, ".", FOLDER), take_boot, &sweep, NULL);
		if (may_matter(&sweep, max))
			mapsdir_choose(&sweep, max);
		close(sweep.maps);
	}
	free(sweep.one);
	free(sweep.window);
	sweep.swept.took = clock_now() - began;
	return sweep.swept;
}
