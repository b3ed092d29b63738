/* SPDX-License-Identifier: Apache-2.0 */
/* pjmap - map code addresses to Java methods in running JVMs, without touching them. */
#include "common/arena.h"
#include "jmap/attach/jcmdmap.h"
#include "common/diag.h"
#include "jmap/follow.h"
#include "jmap/reader/jvmhandle.h"
#include "jmap/listing.h"
#include "jmap/mapopts.h"
#include "common/filter/out.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct jvms {
	struct jvm_process *one;
	size_t n, cap;
};

static bool pjmap_take(void *arg, struct jvm_process *process)
{
	struct jvms *jvms = arg;

	if (jvms->n == jvms->cap) {
		jvms->cap = jvms->cap ? jvms->cap * 2 : 16;
		jvms->one = mem_grow(jvms->one, sizeof(*jvms->one), jvms->cap);
	}
	jvms->one[jvms->n++] = *process;
	return true;
}

/* ---- selection of JVMs ----------------------------------------------------------------------------------------- */

/* Stores the JVMs that the command line selects in *jvms. Returns false if one of the given pids is not a JVM. */
static bool find_jvms(const struct request *request, struct jvms *jvms)
{
	struct discovery discovery;
	bool all = true;

	for (size_t i = 0; i < request->npids; i++) {
		struct jvm_process process;

		if (!discover_one(request->proc, request->pid[i], &process) || !process.alive) {
			warn("%d: no such process", (int)request->pid[i]);
			all = false;
		} else if (process.kind == JVM_NONE) {
			warn("%d: '%s' is not a JVM: it has no libjvm.so mapped", (int)request->pid[i], process.comm);
			jvm_process_close(&process);
			all = false;
		} else {
			pjmap_take(jvms, &process);
		}
	}
	if (request->npids)
		return all;
	discovery = discover(request->proc, pjmap_take, jvms);
	if (discovery.forbidden)
		warn("no permission to examine %u of %u processes%s", discovery.forbidden, discovery.processes,
		     geteuid() ? ": run as root, or with CAP_SYS_PTRACE" :
				 ", not even as root: CAP_SYS_PTRACE is missing, or a security module forbids it");
	if (discovery.stalled)
		warn("%u of %u processes do not respond and were left out", discovery.stalled, discovery.processes);
	return true;
}

/* ---- writing maps (--once, --stdout) ----------------------------------------------------------------------------- */

static bool print_map(const struct mapparser_map *map)
{
	struct out *out = mem_alloc(sizeof(*out), 1);
	char part[4096];
	uint64_t at = 0;
	size_t n;

	out_open(out, NULL);
	for (; at < map->bytes && (n = fullio_pread(map->fd, part, sizeof(part), at)) > 0; at += n)
		out_str(out, (struct str){ part, n });
	out_close(out);
	free(out);
	return at >= map->bytes;
}

static bool pjmap_write_map(const struct request *request, const struct jvm_process *process,
			    const struct mapparser_map *map, const struct taskid_user *owner)
{
	const char *what =
		publisher_put(request->publisher, process->pid, map->fd, map->bytes, owner, request->to != NULL);

	if (what)
		warn("%d: %s '%s': %s", (int)process->pid, what, request->to ? request->to : "/tmp", strerror(errno));
	return what == NULL;
}

/* Reads the perf-PID.map that the JVM itself maintains, for a JVM whose memory pjmap cannot read. Sets *in_place to
 * true if that file is already at the path at which pjmap would write the map, otherwise to false. Returns false if
 * there is no valid map. */
static bool take_own(const struct request *request, const struct jvm_process *process, struct mapparser_map *map,
		     bool *in_place)
{
	struct text path = { 0 };
	const char *why;
	bool good;

	text_printf(&path, "%s/perf-%d.map", request->to ? request->to : "/tmp", (int)process->pid);
	text_char(&path, 0);
	good = jcmdmap_own(map, process, request->to_stdout ? NULL : path.p, in_place, request->style, &why);
	if (!good)
		warn("%d: %s", (int)process->pid, why);
	text_free(&path);
	return good;
}

/* Makes the map of a JVM by the selected method. Returns a reason with code NULL on success. */
static struct hotspot_reason make_map(const struct request *request, const struct jvm_process *process,
				      struct mapparser_map *map)
{
	struct read_answer answer;
	struct hotspot_reason why;

	*map = (struct mapparser_map){ .fd = -1 };
	if (request->method == JCMDMAP_NOT) {
		why = jvmhandle_once(process, READ_MAP, request->style, &answer, &map->fd);
		map->bytes = answer.map_bytes;
		map->lines = answer.code_n;
		map->left_out = answer.torn + answer.unnamed;
		return why;
	}
	return jcmdmap_map(map, process, request->method, request->style);
}

/* Returns true if the reason with this code is permanent: pjmap will never read this JVM's memory, so only a map that
 * the JVM itself maintains may help. Returns false if a later attempt may succeed. */
static bool reports_nothing(const char *code)
{
	static const char *const codes[] = { "openj9", "zing", "no-vmstructs", "unsupported" };

	for (size_t i = 0; i < countof(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

static void print_done(const struct request *request, const struct jvm_process *process,
		       const struct mapparser_map *map, bool in_place)
{
	if (request->quiet)
		return;
	if (map->left_out)
		warn("%d: %llu code blobs left out, because they changed meanwhile or were invalid", (int)process->pid,
		     (unsigned long long)map->left_out);
	if (!request->to_stdout)
		warn("%d: %llu entries in %s/perf-%d.map%s", (int)process->pid, (unsigned long long)map->lines,
		     request->to ? request->to : "/tmp", (int)process->pid, in_place ? ", its own" : "");
}

static bool map_one(const struct request *request, const struct jvm_process *process)
{
	struct mapparser_map map;
	struct hotspot_reason why = make_map(request, process, &map);
	struct taskid_user owner;
	bool in_place = false, done;

	if (why.code)
		warn("%d: %s: %s", (int)process->pid, why.code, why.why);
	done = !why.code;
	if (why.code && request->method == JCMDMAP_NOT && reports_nothing(why.code))
		done = take_own(request, process, &map, &in_place);
	if (done && !in_place) {
		why = hotspot_may_show(process->folder, &process->id, &owner);
		if (why.code)
			warn("%d: %s: %s", (int)process->pid, why.code, why.why);
		done = !why.code &&
		       (request->to_stdout ? print_map(&map) : pjmap_write_map(request, process, &map, &owner));
	}
	if (done)
		print_done(request, process, &map, in_place);
	if (map.fd >= 0)
		close(map.fd);
	return done;
}

/* Warns if the interval in a command such as "pjmap 4711" is the pid of a JVM: the user probably meant the JVM. */
static void query_plain(const struct request *request)
{
	struct jvm_process process;

	if (!request->fp || !discover_one(request->proc, request->fp, &process))
		return;
	if (process.alive && process.kind != JVM_NONE && process.kind != JVM_STALLED &&
	    (process.kind != JVM_UNKNOWN || strcmp(process.comm, "java") == 0))
		warn("%d, used as seconds, is the PID of a JVM: did you mean 'pjmap --once %d'?", (int)request->fp,
		     (int)request->fp);
	jvm_process_close(&process);
}

int main(int argc, char **argv)
{
	struct request request;
	struct jvms jvms = { 0 };
	bool all;

	diag_tool("pjmap");
	mapopts_parse(&request, argc, argv);
	sandbox_watch();
	if (request.quiet)
		/* A missing layer of the sandbox is not an error, so --quiet suppresses the message about it. */
		setenv(SANDBOX_REPORTED, "1", 0);
	if (request.interval ? request.perf_map : !request.list && !request.to_stdout)
		request.publisher = publisher_start(request.to ? request.to : "/tmp");
	if (request.interval) {
		query_plain(&request);
		all = follow(&request);
		publisher_end(request.publisher);
		mapopts_free(&request);
		return all ? PJ_OK : PJ_FAILED;
	}
	mapopts_limit(&request);
	all = find_jvms(&request, &jvms);
	if (jvms.n == 0 && !request.npids)
		warn("no JVM here can be examined");
	if (request.list)
		listing(jvms.one, jvms.n, request.method);
	for (size_t i = 0; i < jvms.n && !request.list; i++)
		all = map_one(&request, &jvms.one[i]) && all;
	for (size_t i = 0; i < jvms.n; i++)
		jvm_process_close(&jvms.one[i]);
	free(jvms.one);
	publisher_end(request.publisher);
	mapopts_free(&request);
	return all ? PJ_OK : PJ_FAILED;
}
