/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroups.h"

#include "arena.h"
#include "hash.h"
#include "text.h"
#include "whole.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 4096 /* cgroups that are kept whatever they are used for */
#define AGAIN_NS UINT64_C(2000000000)

struct cgroups {
	struct cgroup **slot; /* open addressing, by id */
	size_t n, mask;
	char *point; /* NULL: not mounted */
	struct text root;
	uint64_t read_ns;
};

/* ---- table --------------------------------------------------------------------------------------------------- */

static struct cgroup **place(const struct cgroups *g, uint64_t id)
{
	size_t i = (size_t)hash_mix(id, 0x9E3779B97F4A7C15u) & g->mask;

	while (g->slot[i] && g->slot[i]->id != id)
		i = (i + 1) & g->mask;
	return g->slot + i;
}

static void rebuild(struct cgroups *g, size_t wide, uint64_t keep_from)
{
	struct cgroups new = { .slot = mem_alloc(sizeof(*new.slot), wide), .mask = wide - 1 };

	for (size_t i = 0; g->slot && i <= g->mask; i++) {
		struct cgroup *c = g->slot[i];

		if (c && c->window >= keep_from) {
			*place(&new, c->id) = c;
			new.n++;
		} else {
			free(c);
		}
	}
	free(g->slot);
	g->slot = new.slot;
	g->mask = new.mask;
	g->n = new.n;
}

void cgroups_add(struct cgroups *g, uint64_t id, struct str path)
{
	struct cgroup **at, *c;

	if (!g->slot || 2 * g->n > g->mask)
		rebuild(g, g->slot ? 2 * (g->mask + 1) : 64, 0);
	at = place(g, id);
	if (*at && str_eq((*at)->path, path))
		return;
	c = mem_alloc(1, sizeof(*c) + path.n + 1);
	memcpy(c + 1, path.p, path.n);
	*c = (struct cgroup){ .id = id, .path = { (char *)(c + 1), path.n } };
	g->n += !*at;
	free(*at);
	*at = c;
}

void cgroups_forget(struct cgroups *g, uint64_t serial)
{
	if (g->n > MANY)
		rebuild(g, g->mask + 1, serial + 1);
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

	whole_read_at(AT_FDCWD, "/proc/self/mountinfo", &t, SIZE_MAX);
	if (cgroups_parse_mountinfo(text_view(&t), &point, &root)) {
		g->point = mem_alloc(1, point.n + 1);
		memcpy(g->point, point.p, point.n);
		if (!str_eq(root, STR("/")))
			text_str(&g->root, root);
	}
	text_free(&t);
}

/* All directories, each told by its path below the root of the hierarchy; what waits is in `todo`, NUL behind each. */
static void read_hierarchy(struct cgroups *g)
{
	int top = open(g->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct text todo = { 0 }, path = { 0 };

	text_bytes(&todo, "", 1);
	while (top >= 0 && todo.n) {
		struct stat st;
		size_t start = todo.n - 1;

		while (start && todo.p[start - 1])
			start--;
		path.n = 0;
		text_bytes(&path, todo.p + start, todo.n - start);
		todo.n = start;
		int fd = openat(top, path.n > 1 ? path.p + 1 : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		DIR *d = fd < 0 ? NULL : fdopendir(fd);

		if (!d) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		if (fstat(fd, &st) == 0) {
			struct text whole = { 0 };

			text_str(&whole, text_view(&g->root));
			text_bytes(&whole, path.p, path.n - 1);
			cgroups_add(g, st.st_ino, whole.n ? text_view(&whole) : STR("/"));
			text_free(&whole);
		}
		for (struct dirent *e; (e = readdir(d));) {
			if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			text_bytes(&todo, path.p, path.n - 1);
			text_char(&todo, '/');
			text_bytes(&todo, e->d_name, strlen(e->d_name) + 1);
		}
		closedir(d);
	}
	if (top >= 0)
		close(top);
	text_free(&todo);
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
	struct cgroup *c = g->slot ? *place(g, id) : NULL;

	if (c || !g->point || now_ns < g->read_ns + AGAIN_NS)
		return c;
	g->read_ns = now_ns;
	read_hierarchy(g);
	return g->slot ? *place(g, id) : NULL;
}
