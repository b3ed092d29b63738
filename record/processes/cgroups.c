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

#define MANY 4096 /* cgroups that are kept whatever they are used for */
#define AGAIN_NS UINT64_C(2000000000)
#define BACK_OFF 20                /* times the cost of reading the hierarchy: at most 5 % of a CPU */
#define BYTES_MAX (16u << 20)      /* of all that are known, */
#define UNSEEN_MAX (4u << 20)      /* and of those that records announced and no window has */
#define TODO_MAX (4u << 20)        /* of paths that wait to be read */
#define ROOT_CGROUPS_MAX 20000     /* that are read from the hierarchy, of root */
#define DELEGATED_CGROUPS_MAX 4000 /* and of users */

struct cgroups {
	struct cgroup **slot; /* open addressing, by id */
	size_t n, mask;
	size_t bytes,
		unseen; /* of entries; of those that were added from records since unseen ones were last forgotten */
	char *point;    /* NULL: not mounted */
	struct text root;
	uint64_t again_ns; /* the hierarchy is not read again before */
};

/* ---- table --------------------------------------------------------------------------------------------------- */

static struct cgroup **cgroups_place(const struct cgroups *g, uint64_t id)
{
	size_t i = (size_t)hash_mix(id, 0x9E3779B97F4A7C15u) & g->mask;

	while (g->slot[i] && g->slot[i]->id != id)
		i = (i + 1) & g->mask;
	return g->slot + i;
}

static size_t cgroup_bytes(const struct cgroup *c)
{
	return sizeof(*c) + c->path.n + 1;
}

/* Keeps those that a window since keep_from has; with `read` those that were read from the hierarchy, too. */
static void cgroups_rebuild(struct cgroups *g, size_t wide, uint64_t keep_from, bool read)
{
	struct cgroups new = { .slot = mem_alloc(sizeof(*new.slot), wide), .mask = wide - 1 };

	for (size_t i = 0; g->slot && i <= g->mask; i++) {
		struct cgroup *c = g->slot[i];

		if (c && (c->window >= keep_from || (read && !c->announced))) {
			*cgroups_place(&new, c->id) = c;
			new.n++;
			new.bytes += cgroup_bytes(c);
		} else {
			free(c);
		}
	}
	free(g->slot);
	g->slot = new.slot;
	g->mask = new.mask;
	g->n = new.n;
	g->bytes = new.bytes;
}

static void put_cgroup(struct cgroups *g, uint64_t id, struct str path, bool announced)
{
	struct cgroup **at, *c;

	if (!g->slot || 2 * g->n > g->mask)
		cgroups_rebuild(g, g->slot ? 2 * (g->mask + 1) : 64, 0, true);
	at = cgroups_place(g, id);
	if (*at && str_eq((*at)->path, path))
		return;
	c = mem_alloc(1, sizeof(*c) + path.n + 1);
	memcpy(c + 1, path.p, path.n);
	*c = (struct cgroup){ .id = id, .path = { (char *)(c + 1), path.n }, .announced = announced };
	g->n += !*at;
	g->bytes += cgroup_bytes(c);
	if (*at)
		g->bytes -= cgroup_bytes(*at);
	free(*at);
	*at = c;
}

/* The latest window that has one of them; 0: none has. */
static uint64_t latest_window(const struct cgroups *g)
{
	uint64_t latest = 0;

	for (size_t i = 0; i <= g->mask; i++)
		if (g->slot[i] && g->slot[i]->window > latest)
			latest = g->slot[i]->window;
	return latest;
}

/* Those that are forgotten and still there are found again when they are sampled. */
static void limit_cgroups(struct cgroups *g)
{
	uint64_t latest;

	if (g->unseen > UNSEEN_MAX) {
		g->unseen = 0;
		cgroups_rebuild(g, g->mask + 1, 1, true);
	}
	if (g->bytes <= BYTES_MAX)
		return;
	latest = latest_window(g);
	cgroups_rebuild(g, g->mask + 1, latest ? latest : UINT64_MAX, false);
	if (g->bytes > BYTES_MAX / 2)
		cgroups_rebuild(g, g->mask + 1, UINT64_MAX, false);
}

void cgroups_add(struct cgroups *g, uint64_t id, struct str path)
{
	put_cgroup(g, id, path, true);
	g->unseen += sizeof(struct cgroup) + path.n;
	limit_cgroups(g);
}

size_t cgroups_bytes(const struct cgroups *g)
{
	return g->bytes;
}

void cgroups_forget(struct cgroups *g, uint64_t serial)
{
	if (g->n > MANY)
		cgroups_rebuild(g, g->mask + 1, serial + 1, false);
}

/* ---- reading the hierarchy ----------------------------------------------------------------------------------- */

bool cgroups_parse_mountinfo(struct str all, struct str *point, struct str *root)
{
	bool found = false;

	/* 36 35 98:0 /root /point options [tags] - type source super-options */
	while (all.n) {
		struct str line = str_cut(&all, '\n'), r, p, type, super;
		ptrdiff_t dash = str_find_str(line, STR(" - "));

		if (dash < 0)
			continue;
		super = str_from(line, (size_t)dash + 3);
		for (int i = 0; i < 3; i++)
			str_cut(&line, ' ');
		r = str_cut(&line, ' ');
		p = str_cut(&line, ' ');
		type = str_cut(&super, ' ');
		str_cut(&super, ' ');
		bool own = str_eq(type, STR("cgroup")) && str_find_str(super, STR("perf_event")) >= 0;
		if (!own && (found || !str_eq(type, STR("cgroup2"))))
			continue;
		*point = p;
		*root = r;
		found = true;
		if (own)
			break;
	}
	return found;
}

static void find_hierarchy(struct cgroups *g)
{
	struct text t = { 0 };
	struct str point, root;

	fullio_read_at(AT_FDCWD, "/proc/self/mountinfo", &t, SIZE_MAX);
	if (cgroups_parse_mountinfo(text_view(&t), &point, &root)) {
		g->point = mem_alloc(1, point.n + 1);
		memcpy(g->point, point.p, point.n);
		if (!str_eq(root, STR("/")))
			text_str(&g->root, root);
	}
	text_free(&t);
}

struct hierarchy {
	struct cgroups *g;
	struct text todo;       /* paths of folders below the top, NUL behind each; "" is the top */
	size_t root, delegated; /* cgroups that may still be read */
};

/* The folders in one, at the end of those to be read. */
static void read_subfolders(struct hierarchy *h, DIR *d, const char *path)
{
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (h->todo.n > TODO_MAX)
			break;
		text_add(&h->todo, path);
		text_char(&h->todo, '/');
		text_bytes(&h->todo, e->d_name, strlen(e->d_name) + 1);
	}
}

/* False: the user, or root, has too many. */
static bool may_read_cgroup(struct hierarchy *h, uid_t owner)
{
	size_t *left = owner == 0 ? &h->root : &h->delegated;

	if (*left == 0)
		return false;
	--*left;
	return true;
}

static void read_cgroup(struct hierarchy *h, int top, const char *path)
{
	int fd = openat(top, *path ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct text complete = { 0 };
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fstat(fd, &st) == 0 && may_read_cgroup(h, st.st_uid)) {
		text_str(&complete, text_view(&h->g->root));
		text_add(&complete, path);
		put_cgroup(h->g, st.st_ino, complete.n ? text_view(&complete) : STR("/"), false);
		text_free(&complete);
		read_subfolders(h, d, path);
	}
	closedir(d);
}

/* All cgroups, those near the root first: users to whom a cgroup was delegated can make any number below it, with paths
 * of 4 kB. */
static void read_hierarchy(struct cgroups *g)
{
	struct hierarchy h = { .g = g, .root = ROOT_CGROUPS_MAX, .delegated = DELEGATED_CGROUPS_MAX };
	int top = open(g->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct text path = { 0 };

	text_bytes(&h.todo, "", 1);
	for (size_t at = 0; top >= 0 && at < h.todo.n && g->bytes <= BYTES_MAX; at += path.n) {
		path.n = 0;
		text_bytes(&path, h.todo.p + at, strlen(h.todo.p + at) + 1);
		read_cgroup(&h, top, path.p);
	}
	if (top >= 0)
		close(top);
	text_free(&h.todo);
	text_free(&path);
}

struct cgroups *cgroups_new(void)
{
	struct cgroups *g = mem_alloc(sizeof(*g), 1);

	find_hierarchy(g);
	if (g->point)
		read_hierarchy(g);
	return g;
}

void cgroups_free(struct cgroups *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->slot && i <= g->mask; i++)
		free(g->slot[i]);
	free(g->slot);
	free(g->point);
	text_free(&g->root);
	free(g);
}

struct cgroup *cgroups_find(struct cgroups *g, uint64_t id, uint64_t now_ns)
{
	struct cgroup *c = g->slot ? *cgroups_place(g, id) : NULL;
	uint64_t began, cost;

	if (c || !g->point || now_ns < g->again_ns)
		return c;
	began = clock_now();
	read_hierarchy(g);
	cost = clock_now() - began;
	limit_cgroups(g);
	g->again_ns = now_ns + (cost * BACK_OFF > AGAIN_NS ? cost * BACK_OFF : AGAIN_NS);
	return g->slot ? *cgroups_place(g, id) : NULL;
}
