/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/mapopts.h"

#include "common/arena.h"
#include "common/process/capabilities.h"
#include "common/diag.h"
#include "common/filter/opt.h"

#include <linux/capability.h>
#include <stdlib.h>

#define STYLES "java|hotspot|flamegraph"
#define METHODS "vmstructs|jcmd|agent"

static void mapopts_opt_names(void *to, const char *value, const char *name)
{
	static const enum method_style style[] = { METHOD_JAVA, METHOD_HOTSPOT, METHOD_FLAMEGRAPH };

	((struct request *)to)->style = style[opt_choice(value, name, STYLES)];
}

static void opt_method(void *to, const char *value, const char *name)
{
	static const enum jcmdmap_method method[] = { JCMDMAP_NOT, JCMDMAP_JCMD, JCMDMAP_AGENT };

	((struct request *)to)->method = method[opt_choice(value, name, METHODS)];
}

static void set_interval(struct request *request, const char *value, const char *name)
{
	request->interval = opt_duration(value, name, SECOND_NS / 100, 86400 * SECOND_NS);
}

static void opt_interval(void *to, const char *value, const char *name)
{
	set_interval(to, value, name);
}

/* Parses the interval in "pjmap 10", the form without -i. A number above 60 may be meant as a pid, so it is also stored
 * in request->fp. */
static void take_fp(struct request *request, const char *value)
{
	uint64_t number;

	set_interval(request, value, "the interval");
	if (str_u64(str_of(value), &number) && number > 60)
		request->fp = (pid_t)number;
}

static void take_pids(struct request *request, char **operand)
{
	for (; *operand; operand++) {
		struct str list = str_of(*operand);

		/* an empty list would select all JVMs */
		if (!list.n)
			die_usage("'' is not a PID: does the program run?");
		while (list.n) {
			struct str one = str_cut(&list, ',');
			uint64_t pid;

			if (!str_u64(one, &pid) || pid == 0 || pid > INT32_MAX)
				die_usage("'%s' is not a PID", *operand);
			request->pid = mem_grow(request->pid, sizeof(*request->pid), request->npids + 1);
			request->pid[request->npids++] = (pid_t)pid;
		}
	}
}

/* Exits with a message if options exclude each other, or if a required option is missing. */
static void mapopts_check(const struct request *request)
{
	if (request->interval && (request->list || request->once || request->to_stdout))
		die_usage("-i excludes --list, --once and --stdout");
	if (request->interval && request->method != JCMDMAP_NOT)
		die_usage("-i reads memory only: --method=jcmd and agent are for --once and --list");
	if (request->with_parent && !request->interval)
		die_usage("--with-parent needs -i");
	if (request->list && (request->once || request->to || request->to_stdout))
		die_usage("--list writes no maps: omit --to and --stdout");
	if (!request->list && !request->once && !request->to_stdout && !request->interval)
		die_usage("give -i SECONDS to follow JVMs, --once to write maps, or --list to list JVMs");
	if (!*request->dir)
		die_usage("the name of the directory is empty");
	if (request->to && request->to_stdout)
		die_usage("--to and --stdout exclude each other");
	if (request->to_stdout && request->npids != 1)
		die_usage("--stdout prints the map of one JVM: give its PID");
	if (request->to && !*request->to)
		die_usage("the name of the directory is empty");
}

void mapopts_parse(struct request *request, int argc, char **argv)
{
	const struct opt opts[] = {
		OPT_GROUP("Modes"),
		{ 'l', "list", NULL, OPT_FLAG, &request->list, NULL,
		  "list the JVMs of this host, and the reason if one cannot be read" },
		{ '1', "once", NULL, OPT_FLAG, &request->once, NULL, "write a perf-PID.map for each JVM, and exit" },
		{ 0, "stdout", NULL, OPT_FLAG, &request->to_stdout, NULL, "print the map of one JVM instead" },
		{ 'i', "interval", "SECONDS", OPT_CALL, request, opt_interval,
		  "follow all JVMs: append code changes to timelines in DIR/maps" },
		OPT_GROUP("Maps"),
		{ 0, "to", "DIR", OPT_STR, &request->to, NULL, "write the maps to DIR (/tmp, where perf reads them)" },
		{ 0, "no-perf-map", NULL, OPT_NOFLAG, &request->perf_map, NULL,
		  "with -i: do not maintain perf-PID.map" },
		{ 'd', "directory", "DIR", OPT_STR, &request->dir, NULL,
		  "directory of maps/ and of pjrecord's out/ (.)" },
		{ 0, "dir", "DIR", OPT_STR, &request->dir, NULL, NULL },
		{ 0, "keep-bytes", "SIZE", OPT_CALL, &request->keep_bytes, opt_bytes,
		  "limit of DIR/maps (1G), 0: no limit; k, M, G" },
		OPT_GROUP("Names"),
		{ 0, "names", STYLES, OPT_CALL, request, mapopts_opt_names,
		  "spelling: java (pkg/Class.method), hotspot (as jcmd), flamegraph (java)" },
		{ 0, "method", METHODS, OPT_CALL, request, opt_method,
		  "vmstructs: read memory only; jcmd, agent: attach (vmstructs)" },
		OPT_GROUP("Operation"),
		{ 0, "with-parent", NULL, OPT_FLAG, &request->with_parent, NULL,
		  "with -i: end when the parent process ends" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "print errors only" },
	};
	const struct tool tool = {
		.name = "pjmap",
		.does = "map code addresses to Java methods in running JVMs, without touching them",
		.synopsis =
			"-i SECONDS [options] [PID ...]\n       pjmap --once [options] [PID ...]\n       pjmap --list [PID ...]",
		.example = "example: pjmap --list\n"
			   "         pjmap -i 1 -d /var/lib/pj\n"
			   "         pjmap --once && perf report\n"
			   "         pjmap --once --stdout 4711 | grep HashMap",
		.opts = opts,
		.nopts = countof(opts),
		.libraries = LIBRARY_ZLIB,
	};

	char **operand;

	*request = (struct request){
		.proc = "/proc", .style = METHOD_JAVA, .perf_map = true, .dir = ".", .keep_bytes = (uint64_t)1 << 30
	};
	operand = opt_parse(&tool, argc, argv);
	if (!request->list && !request->once && !request->to_stdout && !request->interval && operand[0] &&
	    !operand[1]) {
		take_fp(request, operand[0]);
		operand++;
	}
	take_pids(request, operand);
	mapopts_check(request);
}

void mapopts_limit(const struct request *request)
{
	uint64_t needed =
		CAPABILITY_BIT(CAP_SYS_PTRACE) | CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_SYS_RESOURCE);

	if (request->method != JCMDMAP_NOT)
		needed |= CAPABILITY_BIT(CAP_SETUID) | CAPABILITY_BIT(CAP_SETGID);
	if (!capabilities_limit(needed))
		die_errno("cannot drop capabilities");
}

void mapopts_free(struct request *request)
{
	free(request->pid);
}
