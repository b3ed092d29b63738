/* SPDX-License-Identifier: Apache-2.0 */
/* pjmap - see what code lives where in every running JVM, without touching it. */
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

static bool pjmap_take(void *arg, struct jvm_process *p)
{
	struct jvms *j = arg;

	if (j->n == j->cap) {
		j->cap = j->cap ? j->cap * 2 : 16;
		j->one = mem_grow(j->one, sizeof(*j->one), j->cap);
	}
	j->one[j->n++] = *p;
	return true;
}

/* ---- which ----------------------------------------------------------------------------------------------------- */

/* True: all that were named are there. */
static bool find_jvms(const struct request *r, struct jvms *j)
{
	struct discovery d;
	bool all = true;

	for (size_t i = 0; i < r->npids; i++) {
		struct jvm_process p;

		if (!discover_one(r->proc, r->pid[i], &p) || !p.alive) {
			warn("%d: there is no such process", (int)r->pid[i]);
			all = false;
		} else if (p.kind == JVM_NONE) {
			warn("%d: '%s' is no JVM: it has no libjvm.so mapped", (int)r->pid[i], p.comm);
			jvm_process_close(&p);
			all = false;
		} else {
			pjmap_take(j, &p);
		}
	}
	if (r->npids)
		return all;
	d = discover(r->proc, pjmap_take, j);
	if (d.forbidden)
		warn("%u of %u processes may not be looked into%s", d.forbidden, d.processes,
		     geteuid() ? ": run as root, or with CAP_SYS_PTRACE" :
				 ", not even as root: CAP_SYS_PTRACE is missing, or a security module forbids it");
	if (d.stalled)
		warn("%u of %u processes do not answer, and were left out", d.stalled, d.processes);
	return true;
}

/* ---- --once ---------------------------------------------------------------------------------------------------- */

static bool print_map(const struct mapparser_map *m)
{
	struct out *o = mem_alloc(sizeof(*o), 1);
	char part[4096];
	uint64_t at = 0;
	size_t n;

	out_open(o, NULL);
	for (; at < m->bytes && (n = fullio_pread(m->fd, part, sizeof(part), at)) > 0; at += n)
		out_str(o, (struct str){ part, n });
	out_close(o);
	free(o);
	return at >= m->bytes;
}

static bool pjmap_write_map(const struct request *r, const struct jvm_process *p, const struct mapparser_map *m,
			    const struct taskid_user *owner)
{
	const char *what = publisher_put(r->publisher, p->pid, m->fd, m->bytes, owner, r->to != NULL);

	if (what)
		warn("%d: %s '%s': %s", (int)p->pid, what, r->to ? r->to : "/tmp", strerror(errno));
	return what == NULL;
}

/* The map of a JVM that does not tell its layout, if it writes one itself. */
static bool take_own(const struct request *r, const struct jvm_process *p, struct mapparser_map *m, bool *in_place)
{
	struct text path = { 0 };
	const char *why;
	bool good;

	text_printf(&path, "%s/perf-%d.map", r->to ? r->to : "/tmp", (int)p->pid);
	text_char(&path, 0);
	good = jcmdmap_own(m, p, r->to_stdout ? NULL : path.p, in_place, r->style, &why);
	if (!good)
		warn("%d: %s", (int)p->pid, why);
	text_free(&path);
	return good;
}

/* Its map by the method that was asked for. */
static struct hotspot_reason make_map(const struct request *r, const struct jvm_process *p, struct mapparser_map *m)
{
	struct read_answer a;
	struct hotspot_reason why;

	*m = (struct mapparser_map){ .fd = -1 };
	if (r->method == JCMDMAP_NOT) {
		why = jvmhandle_once(p, READ_MAP, r->style, &a, &m->fd);
		m->bytes = a.map_bytes;
		m->lines = a.code_n;
		m->left_out = a.torn + a.unnamed;
		return why;
	}
	return jcmdmap_map(m, p, r->method, r->style);
}

/* Some reasons are not the moment's: there is only what it says of itself. */
static bool reports_nothing(const char *code)
{
	static const char *const codes[] = { "openj9", "zing", "no-vmstructs", "unsupported" };

	for (size_t i = 0; i < countof(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

static void print_done(const struct request *r, const struct jvm_process *p, const struct mapparser_map *m,
		       bool in_place)
{
	if (r->quiet)
		return;
	if (m->left_out)
		warn("%d: %llu pieces of code left out, which changed meanwhile or made no sense", (int)p->pid,
		     (unsigned long long)m->left_out);
	if (!r->to_stdout)
		warn("%d: %llu pieces of code in %s/perf-%d.map%s", (int)p->pid, (unsigned long long)m->lines,
		     r->to ? r->to : "/tmp", (int)p->pid, in_place ? ", its own" : "");
}

static bool map_one(const struct request *r, const struct jvm_process *p)
{
	struct mapparser_map m;
	struct hotspot_reason why = make_map(r, p, &m);
	struct taskid_user owner;
	bool in_place = false, done;

	if (why.code)
		warn("%d: %s: %s", (int)p->pid, why.code, why.why);
	done = !why.code;
	if (why.code && r->method == JCMDMAP_NOT && reports_nothing(why.code))
		done = take_own(r, p, &m, &in_place);
	if (done && !in_place) {
		why = hotspot_may_show(p->folder, &p->id, &owner);
		if (why.code)
			warn("%d: %s: %s", (int)p->pid, why.code, why.why);
		done = !why.code && (r->to_stdout ? print_map(&m) : pjmap_write_map(r, p, &m, &owner));
	}
	if (done)
		print_done(r, p, &m, in_place);
	if (m.fd >= 0)
		close(m.fd);
	return done;
}

/* pjmap 4711: is meant so? */
static void query_plain(const struct request *r)
{
	struct jvm_process p;

	if (!r->fp || !discover_one(r->proc, r->fp, &p))
		return;
	if (p.alive && p.kind != JVM_NONE && p.kind != JVM_STALLED &&
	    (p.kind != JVM_UNKNOWN || strcmp(p.comm, "java") == 0))
		warn("%d is the PID of a JVM, and was taken for seconds: did you mean 'pjmap --once %d'?", (int)r->fp,
		     (int)r->fp);
	jvm_process_close(&p);
}

int main(int argc, char **argv)
{
	struct request r;
	struct jvms j = { 0 };
	bool all;

	diag_tool("pjmap");
	mapopts_parse(&r, argc, argv);
	sandbox_watch();
	if (r.quiet)
		setenv(SANDBOX_REPORTED, "1", 0); /* a missing layer is nothing that went wrong */
	if (r.interval ? r.perf_map : !r.list && !r.to_stdout)
		r.publisher = publisher_start(r.to ? r.to : "/tmp");
	if (r.interval) {
		query_plain(&r);
		all = follow(&r);
		publisher_end(r.publisher);
		mapopts_free(&r);
		return all ? PJ_OK : PJ_FAILED;
	}
	mapopts_limit(&r);
	all = find_jvms(&r, &j);
	if (j.n == 0 && !r.npids)
		warn("no JVM runs here that may be looked into");
	if (r.list)
		listing(j.one, j.n, r.method);
	for (size_t i = 0; i < j.n && !r.list; i++)
		all = map_one(&r, &j.one[i]) && all;
	for (size_t i = 0; i < j.n; i++)
		jvm_process_close(&j.one[i]);
	free(j.one);
	publisher_end(r.publisher);
	mapopts_free(&r);
	return all ? PJ_OK : PJ_FAILED;
}
