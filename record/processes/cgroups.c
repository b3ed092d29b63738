/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/cgroups.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 4096 /* cgroups_forget removes cgroups only if the table has more than this number */
#define AGAIN_NS UINT64_C(2000000000)
/* pause after a reading of the hierarchy, as a multiple of the reading's duration, so that readings use at most 5 % of
 * a CPU */
#define BACK_OFF 20
/* limit for the bytes of all entries of the table; beyond it entries of earlier windows are removed */
#define BYTES_MAX (16u << 20)
/* limit for the bytes of the entries that CGROUP records added; beyond it the entries that are in no window are
 * removed */
#define UNSEEN_MAX (4u << 20)
/* limit for the bytes of the paths of directories that are still to be read; directories beyond it are ignored */
#define TODO_MAX (4u << 20)
/* maximum number of cgroups of root in one reading of the hierarchy; further ones are ignored */
#define ROOT_CGROUPS_MAX 20000
/* maximum number of cgroups of other users in one reading of the hierarchy; further ones are ignored */
#define DELEGATED_CGROUPS_MAX 4000

struct cgroups {
	struct cgroup **slot; /* hash table by id, with open addressing */
	/* n: number of cgroups; mask: number of slots - 1 */
	size_t n, mask;
	/* bytes: bytes of all entries of the table. unseen: bytes of the entries that CGROUP records added since
	 * limit_cgroups last removed the announced entries that are in no window. */
	size_t bytes, unseen;
	char *point; /* mount point of the hierarchy; NULL if it is not mounted */
	struct text root;
	uint64_t again_ns; /* earliest time of the next reading of the hierarchy, in ns of CLOCK_MONOTONIC */
};

/* ---- table of cgroups ------------------------------------------------------------------------------------------- */

static struct cgroup **cgroups_place(const struct cgroups *cgroups, uint64_t id)
{
	size_t i = (size_t)hash_mix(id, 0x9E3779B97F4A7C15u) & cgroups->mask;

	while (cgroups->slot[i] && cgroups->slot[i]->id != id)
		i = (i + 1) & cgroups->mask;
	return cgroups->slot + i;
}

static size_t cgroup_bytes(const struct cgroup *cgroup)
{
	return sizeof(*cgroup) + cgroup->path.n + 1;
}

/* Rebuilds the table with `wide` slots (a power of two). The cgroups with `window` (1 + serial number) of keep_from or
 * later stay. If `read` is true, all cgroups that were read from the hierarchy stay, too. Frees the other cgroups. */
static void cgroups_rebuild(struct cgroups *cgroups, size_t wide, uint64_t keep_from, bool read)
{
	struct cgroups new = { .slot = mem_alloc(sizeof(*new.slot), wide), .mask = wide - 1 };

	for (size_t i = 0; cgroups->slot && i <= cgroups->mask; i++) {
		struct cgroup *cgroup = cgroups->slot[i];

		if (cgroup && (cgroup->window >= keep_from || (read && !cgroup->announced))) {
			*cgroups_place(&new, cgroup->id) = cgroup;
			new.n++;
			new.bytes += cgroup_bytes(cgroup);
		} else {
			free(cgroup);
		}
	}
	free(cgroups->slot);
	cgroups->slot = new.slot;
	cgroups->mask = new.mask;
	cgroups->n = new.n;
	cgroups->bytes = new.bytes;
}

static void put_cgroup(struct cgroups *cgroups, uint64_t id, struct str path, bool announced)
{
	struct cgroup **at, *cgroup;

	if (!cgroups->slot || 2 * cgroups->n > cgroups->mask)
		cgroups_rebuild(cgroups, cgroups->slot ? 2 * (cgroups->mask + 1) : 64, 0, true);
	at = cgroups_place(cgroups, id);
	if (*at && str_eq((*at)->path, path))
		return;
	cgroup = mem_alloc(1, sizeof(*cgroup) + path.n + 1);
	memcpy(cgroup + 1, path.p, path.n);
	*cgroup = (struct cgroup){ .id = id, .path = { (char *)(cgroup + 1), path.n }, .announced = announced };
	cgroups->n += !*at;
	cgroups->bytes += cgroup_bytes(cgroup);
	if (*at)
		cgroups->bytes -= cgroup_bytes(*at);
	free(*at);
	*at = cgroup;
}

/* Returns the largest `window` (1 + serial number) of all cgroups; 0 if no window has a record of a cgroup. */
static uint64_t latest_window(const struct cgroups *cgroups)
{
	uint64_t latest = 0;

	for (size_t i = 0; i <= cgroups->mask; i++)
		if (cgroups->slot[i] && cgroups->slot[i]->window > latest)
			latest = cgroups->slot[i]->window;
	return latest;
}

/* Removes cgroups until the table is within its limits of bytes. A removed cgroup that still exists is read again from
 * the hierarchy when a sample has its id. */
static void limit_cgroups(struct cgroups *cgroups)
{
	uint64_t latest;

	if (cgroups->unseen > UNSEEN_MAX) {
		cgroups->unseen = 0;
		cgroups_rebuild(cgroups, cgroups->mask + 1, 1, true);
	}
	if (cgroups->bytes <= BYTES_MAX)
		return;
	latest = latest_window(cgroups);
	cgroups_rebuild(cgroups, cgroups->mask + 1, latest ? latest : UINT64_MAX, false);
	if (cgroups->bytes > BYTES_MAX / 2)
		cgroups_rebuild(cgroups, cgroups->mask + 1, UINT64_MAX, false);
}

void cgroups_add(struct cgroups *cgroups, uint64_t id, struct str path)
{
	put_cgroup(cgroups, id, path, true);
	cgroups->unseen += sizeof(struct cgroup) + path.n;
	limit_cgroups(cgroups);
}

size_t cgroups_bytes(const struct cgroups *cgroups)
{
	return cgroups->bytes;
}

void cgroups_forget(struct cgroups *cgroups, uint64_t serial)
{
	if (cgroups->n > MANY)
		cgroups_rebuild(cgroups, cgroups->mask + 1, serial + 1, false);
}

/* ---- reading of the hierarchy ----------------------------------------------------------------------------------- */

bool cgroups_parse_mountinfo(struct str all, struct str *point, struct str *root)
{
	bool found = false;

	/* format of a line: 36 35 98:0 /root /point options [tags] - type source super-options */
	while (all.n) {
		struct str line = str_cut(&all, '\n'), string, p, type, super;
		ptrdiff_t dash = str_find_str(line, STR(" - "));

		if (dash < 0)
			continue;
		super = str_from(line, (size_t)dash + 3);
		for (int i = 0; i < 3; i++)
			str_cut(&line, ' ');
		string = str_cut(&line, ' ');
		p = str_cut(&line, ' ');
		type = str_cut(&super, ' ');
		str_cut(&super, ' ');
		bool own = str_eq(type, STR("cgroup")) && str_find_str(super, STR("perf_event")) >= 0;
		if (!own && (found || !str_eq(type, STR("cgroup2"))))
			continue;
		*point = p;
		*root = string;
		found = true;
		if (own)
			break;
	}
	return found;
}

static void find_hierarchy(struct cgroups *cgroups)
{
	struct text text = { 0 };
	struct str point, root;

	fullio_read_at(AT_FDCWD, "/proc/self/mountinfo", &text, SIZE_MAX);
	if (cgroups_parse_mountinfo(text_view(&text), &point, &root)) {
		cgroups->point = mem_alloc(1, point.n + 1);
		memcpy(cgroups->point, point.p, point.n);
		if (!str_eq(root, STR("/")))
			text_str(&cgroups->root, root);
	}
	text_free(&text);
}

struct hierarchy {
	struct cgroups *g;
	/* paths of directories to read, each with its NUL, relative to the mount point; the mount point itself is "" */
	struct text todo;
	/* root: number of cgroups of root that may still be read. delegated: the same for the cgroups of all other
	 * users together. */
	size_t root, delegated;
};

/* Appends the paths of the subdirectories of `path` to hierarchy->todo, until todo exceeds TODO_MAX. */
static void read_subfolders(struct hierarchy *hierarchy, DIR *dir, const char *path)
{
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (hierarchy->todo.n > TODO_MAX)
			break;
		text_add(&hierarchy->todo, path);
		text_char(&hierarchy->todo, '/');
		text_bytes(&hierarchy->todo, entry->d_name, strlen(entry->d_name) + 1);
	}
}

/* Counts a cgroup of this owner that is about to be read, and returns true. Returns false if the owner's limit is
 * reached: root has one limit, and all other users together have another. */
static bool may_read_cgroup(struct hierarchy *hierarchy, uid_t owner)
{
	size_t *left = owner == 0 ? &hierarchy->root : &hierarchy->delegated;

	if (*left == 0)
		return false;
	--*left;
	return true;
}

static void read_cgroup(struct hierarchy *hierarchy, int top, const char *path)
{
	int fd = openat(top, *path ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct text complete = { 0 };
	struct stat status;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fstat(fd, &status) == 0 && may_read_cgroup(hierarchy, status.st_uid)) {
		text_str(&complete, text_view(&hierarchy->g->root));
		text_add(&complete, path);
		put_cgroup(hierarchy->g, status.st_ino, complete.n ? text_view(&complete) : STR("/"), false);
		text_free(&complete);
		read_subfolders(hierarchy, dir, path);
	}
	closedir(dir);
}

/* Reads the paths and ids of cgroups into the table. Reads them level by level from the root, because a user with a
 * delegated cgroup can make any number of cgroups below it, with paths of 4 kB. */
static void read_hierarchy(struct cgroups *cgroups)
{
	struct hierarchy hierarchy = { .g = cgroups, .root = ROOT_CGROUPS_MAX, .delegated = DELEGATED_CGROUPS_MAX };
	int top = open(cgroups->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct text path = { 0 };

	text_bytes(&hierarchy.todo, "", 1);
	for (size_t at = 0; top >= 0 && at < hierarchy.todo.n && cgroups->bytes <= BYTES_MAX; at += path.n) {
		path.n = 0;
		text_bytes(&path, hierarchy.todo.p + at, strlen(hierarchy.todo.p + at) + 1);
		read_cgroup(&hierarchy, top, path.p);
	}
	if (top >= 0)
		close(top);
	text_free(&hierarchy.todo);
	text_free(&path);
}

struct cgroups *cgroups_new(void)
{
	struct cgroups *cgroups = mem_alloc(sizeof(*cgroups), 1);

	find_hierarchy(cgroups);
	if (cgroups->point)
		read_hierarchy(cgroups);
	return cgroups;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	for (size_t i = 0; cgroups->slot && i <= cgroups->mask; i++)
		free(cgroups->slot[i]);
	free(cgroups->slot);
	free(cgroups->point);
	text_free(&cgroups->root);
	free(cgroups);
}

struct cgroup *cgroups_find(struct cgroups *cgroups, uint64_t id, uint64_t now_ns)
{
	struct cgroup *cgroup = cgroups->slot ? *cgroups_place(cgroups, id) : NULL;
	uint64_t began, cost;

	if (cgroup || !cgroups->point || now_ns < cgroups->again_ns)
		return cgroup;
	began = clock_now();
	read_hierarchy(cgroups);
	cost = clock_now() - began;
	limit_cgroups(cgroups);
	cgroups->again_ns = now_ns + (cost * BACK_OFF > AGAIN_NS ? cost * BACK_OFF : AGAIN_NS);
	return cgroups->slot ? *cgroups_place(cgroups, id) : NULL;
}
