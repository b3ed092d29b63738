/* SPDX-License-Identifier: Apache-2.0 */
#include "conflicts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILES_MAX 65536u /* that are looked at, of a tenant */
#define TENANTS_MAX 256
#define SUFFIX ".debug"

struct search {
	const struct attic *attic;
	struct conflicts found;
	unsigned looked_at;
};

static DIR *open_folder(int at, const char *path)
{
	int fd = openat(at, path, FOLDER);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Is there another file with this name below a folder of symbols/? */
static bool differs(const struct search *s, const char *folder, const char *start, const char *rest, ino_t own)
{
	char path[192];
	struct stat st;

	snprintf(path, sizeof(path), "symbols/%s.build-id/%.2s/%.64s", folder, start, rest);
	return fstatat(s->attic->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_ino != own;
}

static void look_at(struct search *s, int folder, const char *start, const char *name)
{
	struct str rest = str_of(name);
	char id[sizeof(s->found.first)];
	struct stat st;

	if (!str_ends(rest, STR(SUFFIX)) || rest.n > 2 * BUILD_ID_MAX - 2 + strlen(SUFFIX) ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (!differs(s, "", start, name, st.st_ino) && !differs(s, "shared/", start, name, st.st_ino))
		return;
	snprintf(id, sizeof(id), "%.2s%.*s", start, (int)(rest.n - strlen(SUFFIX)), name);
	for (const char *p = id; *p; p++)
		if (!byte_is_hex(*p))
			return;
	if (s->found.files++ == 0 || strcmp(id, s->found.first) < 0)
		memcpy(s->found.first, id, sizeof(id));
}

static void search_tenant(struct search *s, const char *tenant)
{
	char path[TENANT_NAME + 40];
	struct dirent *e, *file;
	DIR *ids, *dir;

	snprintf(path, sizeof(path), "symbols/tenants/%s/.build-id", tenant);
	ids = open_folder(s->attic->dir, path);
	while (ids && (e = readdir(ids)) && s->looked_at < FILES_MAX) {
		if (strlen(e->d_name) != 2 || e->d_name[0] == '.')
			continue;
		dir = open_folder(dirfd(ids), e->d_name);
		while (dir && (file = readdir(dir)) && s->looked_at++ < FILES_MAX)
			look_at(s, dirfd(dir), e->d_name, file->d_name);
		if (dir)
			closedir(dir);
	}
	if (ids)
		closedir(ids);
}

void conflicts_each(const struct attic *k, void (*f)(void *arg, const struct conflicts *of), void *arg)
{
	char seen[TENANTS_MAX][TENANT_NAME], name[TENANT_NAME];
	size_t n = 0;

	for (size_t i = 0; k->dir >= 0 && i < k->who->nprocesses && n < TENANTS_MAX; i++) {
		const struct pj_process *p = &k->who->process[i];
		struct search s = { .attic = k, .found.tenant = { (enum tenant_kind)p->tenant_kind, p->tenant } };
		size_t j = 0;

		tenant_folder(&s.found.tenant, p->mount_ns, name);
		while (j < n && strcmp(seen[j], name) != 0)
			j++;
		if (j < n)
			continue;
		memcpy(seen[n++], name, sizeof(name));
		search_tenant(&s, name);
		if (s.found.files)
			f(arg, &s.found);
	}
}
