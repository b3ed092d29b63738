/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symconflicts.h"

#include "fold/symbols/symstoreindex.h"
#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define FILES_MAX 65536u /* that are looked at, of a tenant */
#define TENANTS_MAX 256
#define SUFFIX ".debug"

struct search {
	const struct symstore *symstore;
	struct symconflicts found;
	unsigned polled_at;
};

/* Names in a folder below DIR, each with a 0 after it. */
static void symconflicts_list(const struct search *s, const char *folder, struct text *names)
{
	int fd = broker_open(s->symstore->dir, folder, O_DIRECTORY | O_NOFOLLOW);

	names->n = 0;
	if (fd < 0)
		return;
	broker_names(fd, names);
	close(fd);
}

/* The inode of the file with this name below a folder of symbols/; 0: there is none. */
static uint64_t inode_in(const struct search *s, const char *folder, const char *start, struct str rest)
{
	char path[192];

	snprintf(path, sizeof(path), "symbols/%s.build-id/%.2s/%.*s", folder, start, (int)rest.n, rest.p);
	return symstoreindex_inode(s->symstore->index, path);
}

static void symconflicts_look_at(struct search *s, const char *folder, const char *start, struct str rest)
{
	uint64_t own, all, shared;
	char id[sizeof(s->found.first)];

	if (!str_ends(rest, STR(SUFFIX)) || rest.n > 2 * BUILD_ID_MAX - 2 + strlen(SUFFIX))
		return;
	all = inode_in(s, "", start, rest);
	shared = inode_in(s, "shared/", start, rest);
	own = all || shared ? inode_in(s, folder, start, rest) : 0;
	if (!own || ((!all || all == own) && (!shared || shared == own)))
		return;
	snprintf(id, sizeof(id), "%.2s%.*s", start, (int)(rest.n - strlen(SUFFIX)), rest.p);
	for (const char *p = id; *p; p++)
		if (!byte_is_hex(*p))
			return;
	if (s->found.files++ == 0 || strcmp(id, s->found.first) < 0)
		memcpy(s->found.first, id, sizeof(id));
}

static void search_tenant(struct search *s, const char *tenant)
{
	char folder[TENANT_NAME + 16], path[TENANT_NAME + 64];
	struct text ids = { 0 }, names = { 0 };

	snprintf(folder, sizeof(folder), "tenants/%s/", tenant);
	snprintf(path, sizeof(path), "symbols/%s.build-id", folder);
	symconflicts_list(s, path, &ids);
	for (struct str left = text_view(&ids); left.n && s->polled_at < FILES_MAX;) {
		struct str id = str_cut(&left, 0);

		if (id.n != 2 || id.p[0] == '.')
			continue;
		snprintf(path, sizeof(path), "symbols/%s.build-id/%.2s", folder, id.p);
		symconflicts_list(s, path, &names);
		for (struct str files = text_view(&names); files.n && s->polled_at++ < FILES_MAX;)
			symconflicts_look_at(s, folder, id.p, str_cut(&files, 0));
	}
	text_free(&ids);
	text_free(&names);
}

void symconflicts_each(const struct symstore *k, void (*f)(void *arg, const struct symconflicts *of), void *arg)
{
	char seen[TENANTS_MAX][TENANT_NAME], name[TENANT_NAME];
	size_t n = 0;

	for (size_t i = 0; k->dir >= 0 && i < k->who->nprocesses && n < TENANTS_MAX; i++) {
		const struct pj_process *p = &k->who->process[i];
		struct search s = { .symstore = k, .found.tenant = { (enum tenant_kind)p->tenant_kind, p->tenant } };
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
