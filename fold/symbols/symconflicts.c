/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symconflicts.h"

#include "fold/symbols/symstoreindex.h"
#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* maximum number of files of a tenant that are compared with other files; conflicts of further files are not found */
#define FILES_MAX 65536u
#define TENANTS_MAX 256
#define SUFFIX ".debug"

struct search {
	const struct symstore *symstore;
	struct symconflicts found;
	unsigned polled_at;
};

/* Sets `names` to the names of the files in a folder below DIR, each ended by NUL. */
static void symconflicts_list(const struct search *search, const char *folder, struct text *names)
{
	int fd = broker_open(search->symstore->dir, folder, O_DIRECTORY | O_NOFOLLOW);

	names->n = 0;
	if (fd < 0)
		return;
	broker_names(fd, names);
	close(fd);
}

/* Returns the inode of symbols/FOLDER.build-id/START/REST; 0 if there is no such file. START is the first two
 * characters of `start`; empty `folder`: files of root on the host. */
static uint64_t inode_in(const struct search *search, const char *folder, const char *start, struct str rest)
{
	char path[192];

	snprintf(path, sizeof(path), "symbols/%s.build-id/%.2s/%.*s", folder, start, (int)rest.n, rest.p);
	return symstoreindex_inode(search->symstore->index, path);
}

static void symconflicts_look_at(struct search *search, const char *folder, const char *start, struct str rest)
{
	uint64_t own, all, shared;
	char id[sizeof(search->found.first)];

	if (!str_ends(rest, STR(SUFFIX)) || rest.n > 2 * BUILD_ID_MAX - 2 + strlen(SUFFIX))
		return;
	all = inode_in(search, "", start, rest);
	shared = inode_in(search, "shared/", start, rest);
	own = all || shared ? inode_in(search, folder, start, rest) : 0;
	if (!own || ((!all || all == own) && (!shared || shared == own)))
		return;
	snprintf(id, sizeof(id), "%.2s%.*s", start, (int)(rest.n - strlen(SUFFIX)), rest.p);
	for (const char *p = id; *p; p++)
		if (!byte_is_hex(*p))
			return;
	if (search->found.files++ == 0 || strcmp(id, search->found.first) < 0)
		memcpy(search->found.first, id, sizeof(id));
}

static void search_tenant(struct search *search, const char *tenant)
{
	char folder[TENANT_NAME + 16], path[TENANT_NAME + 64];
	struct text ids = { 0 }, names = { 0 };

	snprintf(folder, sizeof(folder), "tenants/%s/", tenant);
	snprintf(path, sizeof(path), "symbols/%s.build-id", folder);
	symconflicts_list(search, path, &ids);
	for (struct str left = text_view(&ids); left.n && search->polled_at < FILES_MAX;) {
		struct str id = str_cut(&left, 0);

		if (id.n != 2 || id.p[0] == '.')
			continue;
		snprintf(path, sizeof(path), "symbols/%s.build-id/%.2s", folder, id.p);
		symconflicts_list(search, path, &names);
		for (struct str files = text_view(&names); files.n && search->polled_at++ < FILES_MAX;)
			symconflicts_look_at(search, folder, id.p, str_cut(&files, 0));
	}
	text_free(&ids);
	text_free(&names);
}

void symconflicts_each(const struct symstore *symstore, void (*f)(void *arg, const struct symconflicts *symconflicts),
		       void *arg)
{
	char seen[TENANTS_MAX][TENANT_NAME], name[TENANT_NAME];
	size_t n = 0;

	for (size_t i = 0; symstore->dir >= 0 && i < symstore->who->nprocesses && n < TENANTS_MAX; i++) {
		const struct pj_process *process = &symstore->who->process[i];
		struct search search = { .symstore = symstore,
					 .found.tenant = { (enum tenant_kind)process->tenant_kind, process->tenant } };
		size_t second = 0;

		tenant_folder(&search.found.tenant, process->mount_ns, name);
		while (second < n && strcmp(seen[second], name) != 0)
			second++;
		if (second < n)
			continue;
		memcpy(seen[n++], name, sizeof(name));
		search_tenant(&search, name);
		if (search.found.files)
			f(arg, &search.found);
	}
}
