/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a tenant with the build-id of a file of root or of the shared folder, but with other symbols. */
/* covers: fold/symbols/symconflicts.c */
#include "fold/symbols/symconflicts.h"

#include "fold/symbols/symstoreindex.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MOST = 40 };

static char made[NAMES_MOST][96]; /* files and folders, in the order in which they were made */
static size_t nmade;

static const char *note(const char *path)
{
	if (nmade == NAMES_MOST)
		abort();
	snprintf(made[nmade], sizeof(made[0]), "%s", path);
	return made[nmade++];
}

static void make_parents(const char *path)
{
	char folder[96];

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
		if (mkdir(folder, 0700) == 0)
			note(folder);
	}
}

static void make_file(const char *path)
{
	make_parents(path);
	close(open(note(path), O_WRONLY | O_CREAT | O_EXCL, 0600));
}

/* Makes `path` a second name of a file, as pjrecord does for equal symbols. */
static void make_link(const char *file, const char *path)
{
	make_parents(path);
	if (link(file, note(path)) < 0)
		abort();
}

#define OWN "symbols/tenants/user-1000/.build-id/"

static void make_store(void)
{
	make_file("symbols/.build-id/ab/01.debug");
	make_file("symbols/.build-id/ab/02.debug");
	make_file("symbols/.build-id/ab/zz.debug");
	make_file("symbols/.build-id/ab/05.other");
	make_file("symbols/shared/.build-id/aa/03.debug");
	make_file(OWN "ab/01.debug");
	make_link("symbols/.build-id/ab/02.debug", OWN "ab/02.debug");
	make_file(OWN "ab/zz.debug");
	make_file(OWN "ab/05.other");
	make_file(OWN "aa/03.debug");
	make_file(OWN "ef/04.debug");
	make_link("symbols/.build-id/ab/01.debug", "symbols/tenants/user-1001/.build-id/ab/01.debug");
}

static struct symconflicts last;
static unsigned calls;

static void take(void *arg, const struct symconflicts *symconflicts)
{
	(void)arg;
	last = *symconflicts;
	calls++;
}

int main(void)
{
	static struct pj_process process[] = { { .tenant_kind = TENANT_USER, .tenant = 1001 },
					       { .tenant_kind = TENANT_USER, .tenant = 1000 },
					       { .tenant_kind = TENANT_USER, .tenant = 1000 },
					       { .tenant_kind = TENANT_USER, .tenant = 1002 } };
	struct recorder who = { .process = process, .nprocesses = countof(process) };
	struct symstore symstore = { .who = &who };
	char folder[] = "/tmp/pj-symconflicts.XXXXXX";

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	make_store();
	symstore.dir = open(".", O_RDONLY | O_DIRECTORY);
	symstore.index = symstoreindex_new(symstore.dir);
	symconflicts_each(&symstore, take, NULL);
	is_u64(calls, 1, "one tenant has conflicts, and is reported once for all its processes");
	is_u64(last.tenant.key, 1000, "  the one whose files are others than those of root");
	is_u64(last.files, 2, "  files beside one of root and one of the shared folder; none with equal symbols");
	is_str(str_of(last.first), STR("aa03"), "  the lowest build-id");
	symstoreindex_free(symstore.index);
	close(symstore.dir);
	symstore.dir = -1;
	calls = 0;
	symconflicts_each(&symstore, take, NULL);
	is_u64(calls, 0, "no symbol store");
	while (nmade > 0)
		remove(made[--nmade]);
	ok(rmdir(folder) == 0, "nothing else is left in its folder");
	return done();
}
