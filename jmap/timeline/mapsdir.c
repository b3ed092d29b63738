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
#define SLACK 60        /* s: E may be a little later than its window began, and clocks are set */
#define TENANTS_MAX 256 /* with a share of their own; the first one: unknown, and all others */
#define START_MAX 512   /* bytes of a timeline in which its first record ends */
#define TEMP_AGE 3600   /* s: whoever wrote it is gone */

/* ---- folders --------------------------------------------------------------------------------------------------- */

/* Takes a folder; -1 and errno when it is somebody else's: what it holds could be anything. */
static int mapsdir_own(int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid()))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* A folder of ours below another one; -1 and errno. */
static int mapsdir_enter_folder(int dir, const char *name)
{
	if (mkdirat(dir, name, 0750) < 0 && errno != EEXIST)
		return -1;
	return mapsdir_own(openat(dir, name, FOLDER));
}

int mapsdir_enter(const char *dir, const char *boot)
{
	struct outpath place;
	int at = outpath_directory(&place, dir, 0), maps, folder, saved;

	outpath_close(&place);

	if (at < 0)
		return -1;
	maps = mapsdir_enter_folder(at, "maps");
	folder = maps < 0 ? -1 : mapsdir_enter_folder(maps, boot);
	saved = errno;
	close(at);
	if (maps >= 0)
		close(maps);
	errno = saved;
	return folder;
}

void mapsdir_make(const char *dir)
{
	struct outpath place;
	int fd = outpath_directory(&place, dir, 0750);

	if (place.refused[0])
		die("cannot use the directory '%s': %s: choose another --dir", dir, place.refused);
	if (fd < 0)
		die_errno("cannot make the directory '%s'", dir);
	close(fd);
	outpath_close(&place);
	if (access(dir, W_OK | X_OK) < 0)
		die_errno("cannot write into '%s'", dir);
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

/* False: another file. */
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

/* ---- what there is --------------------------------------------------------------------------------------------- */

struct found {
	char boot[BOOT_ID + 1], name[MAPSDIR_NAME];
	uint64_t from, until; /* s since 1970: the JVM lived not before, not behind */
	uint64_t bytes;       /* on disk */
	bool lives, needed, gone;
	size_t tenant; /* in sweep.tenant */
};

/* s since 1970, both included. */
struct window {
	uint64_t from, until;
};

struct sweep {
	const char *dir, *proc, *boot;
	int maps;
	uint64_t now;
	struct found *one;
	size_t n, cap;
	struct window *window; /* by time, apart from each other */
	size_t nwindows, windows_cap;
	struct tenant tenant[TENANTS_MAX];
	uint64_t held[TENANTS_MAX]; /* bytes */
	size_t ntenants;
	struct mapsdir_swept swept;
};

/* Calls f for each name in a folder, which it takes. */
static void mapsdir_each(int fd, void (*f)(struct sweep *s, int dir, const char *name, const void *arg),
			 struct sweep *s, const void *arg)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			f(s, dirfd(dir), e->d_name, arg);
	if (dir)
		closedir(dir);
}

/* True also if the process does not answer: its timeline stays. */
static bool process_lives(const struct sweep *s, pid_t pid, uint64_t start)
{
	struct text t = { 0 };
	char path[4200];
	struct taskid id;
	bool zombie, lives;
	int process;

	snprintf(path, sizeof(path), "%s/%d", s->proc, (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return false;
	if (taskwait_read(process, "stat", &t, 4096))
		lives = taskid_parse(text_view(&t), &id, &zombie) && id.start == start && !zombie;
	else
		lives = errno == ETIMEDOUT;
	text_free(&t);
	close(process);
	return lives;
}

/* When a process of this boot began, in s since 1970. */
static uint64_t wall_of(uint64_t start)
{
	uint64_t boot = clock_wall() - clock_since_boot(), ns = 1000000000u;

	return boot / ns + start / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void mapsdir_take_file(struct sweep *s, int dir, const char *name, const void *arg)
{
	const char *boot = arg;
	struct found f = { .lives = false };
	struct stat st;
	uint64_t start;
	pid_t pid;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (name[0] == '.' && (uint64_t)st.st_mtime + TEMP_AGE < s->now)
		unlinkat(dir, name, 0);
	if (!mapsdir_parse_name(name, &pid, &start))
		return;
	if (strcmp(boot, s->boot) == 0) {
		f.lives = process_lives(s, pid, start);
		f.from = wall_of(start);
	}
	if (f.lives)
		utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW);
	f.until = f.lives ? s->now : (uint64_t)st.st_mtime;
	f.bytes = st.st_blocks ? (uint64_t)st.st_blocks * 512 : (uint64_t)st.st_size;
	snprintf(f.boot, sizeof(f.boot), "%s", boot);
	snprintf(f.name, sizeof(f.name), "%s", name);
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->one = mem_grow(s->one, sizeof(*s->one), s->cap);
	}
	s->swept.bytes += f.bytes;
	s->one[s->n++] = f;
}

static void take_boot(struct sweep *s, int dir, const char *name, const void *arg)
{
	(void)arg;
	if (strlen(name) == BOOT_ID)
		mapsdir_each(openat(dir, name, FOLDER), mapsdir_take_file, s, name);
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* arg: they are complete. */
static void mapsdir_take_window(struct sweep *s, int dir, const char *text, const void *arg)
{
	struct str name = str_of(text);
	struct stat st;
	uint64_t epoch;

	if (!str_ends(name, STR(".data")) || !str_u64(str_head(name, name.n - strlen(".data")), &epoch) ||
	    fstatat(dir, text, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (s->nwindows == s->windows_cap) {
		s->windows_cap = s->windows_cap ? s->windows_cap * 2 : 64;
		s->window = mem_grow(s->window, sizeof(*s->window), s->windows_cap);
	}
	s->window[s->nwindows++] =
		(struct window){ epoch > SLACK ? epoch - SLACK : 0, arg ? (uint64_t)st.st_mtime + SLACK : UINT64_MAX };
}

static int mapsdir_by_from(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void find_windows(struct sweep *s)
{
	int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t saved = 0;

	if (dir < 0)
		return;
	mapsdir_each(openat(dir, "out", FOLDER), mapsdir_take_window, s, s);
	mapsdir_each(openat(dir, "recording", FOLDER), mapsdir_take_window, s, NULL);
	close(dir);
	if (s->nwindows)
		qsort(s->window, s->nwindows, sizeof(*s->window), mapsdir_by_from);
	for (size_t i = 0; i < s->nwindows; i++) {
		if (saved && s->window[i].from <= s->window[saved - 1].until) {
			if (s->window[i].until > s->window[saved - 1].until)
				s->window[saved - 1].until = s->window[i].until;
		} else {
			s->window[saved++] = s->window[i];
		}
	}
	s->nwindows = saved;
}

/* Was one recorded while the JVM lived? */
static bool is_needed(const struct sweep *s, const struct found *f)
{
	size_t low = 0, high = s->nwindows;

	while (low < high) { /* the first that ends when it lived, or later */
		size_t middle = low + (high - low) / 2;

		if (s->window[middle].until < f->from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->nwindows && s->window[low].from <= f->until;
}

/* ---- what goes ------------------------------------------------------------------------------------------------- */

/* Under its lock, and only what the name still means. */
static bool delete_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st, named;
	bool gone = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		    fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == named.st_ino &&
		    st.st_dev == named.st_dev && unlinkat(folder, name, 0) == 0;

	if (fd >= 0)
		close(fd);
	return gone;
}

static void mapsdir_let_go(struct sweep *s, struct found *f)
{
	int folder = openat(s->maps, f->boot, FOLDER);

	if (folder < 0)
		return;
	f->gone = delete_locked(folder, f->name);
	close(folder);
	if (strcmp(f->boot, s->boot) != 0)
		unlinkat(s->maps, f->boot, AT_REMOVEDIR); /* succeeds when it is empty */
	if (!f->gone)
		return;
	s->swept.bytes -= f->bytes;
	s->held[f->tenant] -= f->bytes < s->held[f->tenant] ? f->bytes : s->held[f->tenant];
	*(f->needed ? &s->swept.needed : &s->swept.unneeded) += 1;
}

static int mapsdir_by_age(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->until != y->until)
		return x->until < y->until ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool may_matter(const struct sweep *s, uint64_t max)
{
	if (max && s->swept.bytes > max)
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (!s->one[i].lives && s->one[i].until + MAPSDIR_AGE < s->now)
			return true;
	return false;
}

/* The tenant that the first record of a timeline names; unknown in those of earlier versions. */
static struct tenant read_tenant(const struct sweep *s, const struct found *f)
{
	struct tenant of = { TENANT_UNKNOWN, 0 };
	int folder = openat(s->maps, f->boot, FOLDER), fd = -1;
	char head[START_MAX];
	struct str rest, body;

	if (folder < 0)
		return of;
	fd = openat(folder, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	rest = (struct str){ head, fd >= 0 ? fullio_pread(fd, head, sizeof(head), 0) : 0 };
	if (fd >= 0)
		close(fd);
	if (!str_starts(rest, STR(JMAP_MAGIC)))
		return of;
	rest = str_from(rest, JMAP_MAGIC_BYTES);
	if (jmap_next(&rest, &body) != 1 || body.n == 0 || body.p[0] != JMAP_START)
		return of;
	body = str_from(body, 1);
	while (body.n) {
		struct str pair = str_cut(&body, ' ');

		if (str_eq(str_cut(&pair, '='), STR("tenant"))) {
			tenant_from_folder(pair, &of);
			break; /* what follows is the version, which the JVM chose */
		}
	}
	return of;
}

/* Adds the bytes of each timeline to those of its tenant. */
static void sum_tenants(struct sweep *s)
{
	s->ntenants = 1;
	for (size_t i = 0; i < s->n; i++) {
		struct tenant of = read_tenant(s, &s->one[i]);
		size_t t = of.kind == TENANT_UNKNOWN ? 0 : 1;

		while (t && t < s->ntenants && !tenant_same(s->tenant[t], of))
			t++;
		if (t == TENANTS_MAX)
			t = 0;
		if (t == s->ntenants)
			s->tenant[s->ntenants++] = of;
		s->one[i].tenant = t;
		s->held[t] += s->one[i].bytes;
		if (s->held[t] > s->swept.largest_bytes) {
			s->swept.largest_bytes = s->held[t];
			s->swept.largest = s->tenant[t];
		}
	}
}

/* Removes the oldest timelines, needed ones or not, of tenants that hold more than the level at which all fit into
 * `target`, and those whose tenant is unknown. */
static void cut_tenants(struct sweep *s, bool needed, uint64_t target)
{
	uint64_t level = tenants_level(s->held, NULL, s->ntenants, target);

	for (size_t i = 0; i < s->n && s->swept.bytes > target; i++) {
		struct found *f = &s->one[i];

		if (!f->lives && !f->gone && f->needed == needed && (f->tenant == 0 || s->held[f->tenant] > level))
			mapsdir_let_go(s, f);
	}
}

static void mapsdir_choose(struct sweep *s, uint64_t max)
{
	bool too_much = max && s->swept.bytes > max;

	find_windows(s);
	if (s->n)
		qsort(s->one, s->n, sizeof(*s->one), mapsdir_by_age);
	if (too_much)
		sum_tenants(s);
	for (size_t i = 0; i < s->n; i++) {
		struct found *f = &s->one[i];

		f->needed = is_needed(s, f);
		if (!f->lives && !f->needed && f->until + MAPSDIR_AGE < s->now)
			mapsdir_let_go(s, f);
	}
	if (!too_much || s->swept.bytes <= max)
		return;
	cut_tenants(s, false, max - max / 10);
	cut_tenants(s, true, max);
}

struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max)
{
	struct sweep s = { .dir = dir, .proc = proc, .boot = boot, .now = clock_wall() / 1000000000u };
	uint64_t began = clock_now();
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	s.maps = at < 0 ? -1 : mapsdir_own(openat(at, "maps", FOLDER));
	if (at >= 0)
		close(at);
	if (s.maps >= 0) {
		mapsdir_each(openat(s.maps, ".", FOLDER), take_boot, &s, NULL);
		if (may_matter(&s, max))
			mapsdir_choose(&s, max);
		close(s.maps);
	}
	free(s.one);
	free(s.window);
	s.swept.took = clock_now() - began;
	return s.swept;
}
