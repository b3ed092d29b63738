/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicall.c - all tools in one program: its name, or else its first argument, selects the tool.
 *
 *	pjfold perf.data        pjfold is a link to pj
 *	pj pjfold perf.data
 *
 * PJ_TOOLS is X(pjdiff) X(pjfetch) ...; the build renames the main of each tool to main_of_NAME. Only the static build
 * has this program.
 */
#include "common/base.h"

#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__
#include <nss.h>
#endif

#define X(tool) int main_of_##tool(int argc, char **argv);
PJ_TOOLS
#undef X

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} tools[] = {
#define X(tool) { #tool, main_of_##tool },
	PJ_TOOLS
#undef X
};

/* Restricts lookups of users and hosts to files and DNS. For other modules (systemd, LDAP), glibc loads libraries of
 * the host, which may not fit the glibc of a static program. */
static void restrict_lookups(void)
{
#ifdef __GLIBC__
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("initgroups", "files");
	__nss_configure_lookup("hosts", "files dns");
	__nss_configure_lookup("services", "files");
#endif
}

static const char *tool_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* Prints the names of the tools to `to`. Returns the exit status: 0 if the output was written, otherwise 1. */
static int list_tools(FILE *to)
{
	fprintf(to, "pj (pj) %s: call it by the name of a tool (ln -s pj pjfold), or pj TOOL [ARGUMENT ...]\ntools:",
		PJ_VERSION);
	for (size_t i = 0; i < countof(tools); i++)
		fprintf(to, " %s", tools[i].name);
	fprintf(to, "\n");
	return fflush(to) != 0 || ferror(to);
}

int main(int argc, char **argv)
{
	const char *name = argc ? tool_name(argv[0]) : "";

	restrict_lookups();
	for (int called = 0; called < 2 && called < argc; called++) {
		name = tool_name(argv[called]);
		for (size_t i = 0; i < countof(tools); i++)
			if (strcmp(name, tools[i].name) == 0)
				return tools[i].main(argc - called, argv + called);
	}
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0))
		return list_tools(stdout);
	list_tools(stderr);
	return 2;
}
