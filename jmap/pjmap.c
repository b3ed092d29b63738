/* SPDX-License-Identifier: Apache-2.0 */
/* pjmap - see what code lives where in every running JVM, without touching it. */
#include "allowance.h"
#include "arena.h"
#include "asked.h"
#include "diag.h"
#include "follow.h"
#include "listing.h"
#include "mapopts.h"
#include "out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct jvms {
	struct jvm_process *one;
	size_t n, cap;
};

static bool take(void *arg, struct jvm_process *p)
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
			take(j, &p);
		}
	}
	if (r->npids)
		return all;
	d = discover(r->proc, take, j);
	if (d.forbidden)
		warn("%u of %u processes may not be looked into%s", d.forbidden, d.processes,
		     geteuid() ? ": run as root, or with CAP_SYS_PTRACE"
			       : ", not even as root: CAP_SYS_PTRACE is missing, or a security module forbids it");
	return true;
}

/* ---- --once ---------------------------------------------------------------------------------------------------- */

static bool print_map(const struct text *t)
{
	struct out *o = mem_alloc(sizeof(*o), 1);

	out_open(o, NULL);
	out_str(o, text_view(t));
	out_close(o);
	free(o);
	return true;
}

static bool write_map(const struct request *r, const struct jvm_process *p, const struct text *t, const struct taskid_user *owner)
{
	const char *what = publisher_put(r->publisher, p->pid, text_view(t), owner, r->to != NULL);

	if (what)
		warn("%d: %s '%s': %s", (int)p->pid, what, r->to ? r->to : "/tmp", strerror(errno));
	return what == NULL;
}

/* The map of a JVM that does not tell its layout, if it writes one itself. */
static bool take_own(const struct request *r, const struct jvm_process *p, struct codemap *c, bool *in_place)
{
	struct text path = { 0 };
	const char *why;
	bool good;

	text_printf(&path, "%s/perf-%d.map", r->to ? r->to : "/tmp", (int)p->pid);
	text_char(&path, 0);
	good = asked_own(c, p, r->to_stdout ? NULL : path.p, in_place, &why);
	if (!good)
		warn("%d: %s", (int)p->pid, why);
	text_free(&path);
	return good;
}

/* Its map by the method that was asked for; *torn: pieces that made no sense. */
static struct hotspot_reason make_map(const struct request *r, const struct jvm_process *p, struct codemap *c, uint64_t *torn)
{
	struct budget budget = allowance_once();
	struct hotspot h;
	struct hotspot_reason why;

	*torn = 0;
	if (r->method != ASKED_NOT)
		return asked_map(c, p, r->method, r->style);
	why = hotspot_open_within(&h, p, &budget);
	if (!why.code)
		why = codemap_make(c, &h, r->style);
	*torn = h.code.torn;
	hotspot_close(&h);
	return why;
}

/* Some reasons are not the moment's: there is only what it says of itself. */
static bool tells_nothing(const char *code)
{
	static const char *const codes[] = { "openj9", "zing", "no-vmstructs", "unsupported" };

	for (size_t i = 0; i < countof(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

static void say_done(const struct request *r, const struct jvm_process *p, const struct codemap *c, uint64_t torn, bool in_place)
{
	if (r->quiet)
		return;
	if (c->left_out || torn)
		warn("%d: %llu pieces of code left out, which changed meanwhile or made no sense", (int)p->pid,
		     (unsigned long long)(c->left_out + torn));
	if (!r->to_stdout)
		warn("%d: %zu pieces of code in %s/perf-%d.map%s", (int)p->pid, c->n, r->to ? r->to : "/tmp", (int)p->pid,
		     in_place ? ", its own" : "");
}

static bool map_one(const struct request *r, const struct jvm_process *p)
{
	struct codemap c = { 0 };
	struct text t = { 0 };
	uint64_t torn;
	struct hotspot_reason why = make_map(r, p, &c, &torn);
	struct taskid_user owner;
	bool in_place = false, done;

	if (why.code)
		warn("%d: %s: %s", (int)p->pid, why.code, why.why);
	done = !why.code || (r->method == ASKED_NOT && tells_nothing(why.code) && take_own(r, p, &c, &in_place));
	if (done && !in_place) {
		why = hotspot_may_show(p->folder, &p->id, &owner);
		if (why.code)
			warn("%d: %s: %s", (int)p->pid, why.code, why.why);
		codemap_print(&c, r->style == METHOD_HOTSPOT, &t);
		done = !why.code && (r->to_stdout ? print_map(&t) : write_map(r, p, &t, &owner));
	}
	if (done)
		say_done(r, p, &c, torn, in_place);
	text_free(&t);
	codemap_free(&c);
	return done;
}

/* pjmap 4711: is meant so? */
static void ask_bare(const struct request *r)
{
	struct jvm_process p;

	if (!r->bare || !discover_one(r->proc, r->bare, &p))
		return;
	if (p.alive && p.kind != JVM_NONE && (p.kind != JVM_UNKNOWN || strcmp(p.comm, "java") == 0))
		warn("%d is the PID of a JVM, and was taken for seconds: did you mean 'pjmap --once %d'?", (int)r->bare, (int)r->bare);
	jvm_process_close(&p);
}

int main(int argc, char **argv)
{
	struct request r;
	struct jvms j = { 0 };
	bool all;

	diag_tool("pjmap");
	mapopts_parse(&r, argc, argv);
	if (r.interval ? r.perf_map : !r.list && !r.to_stdout)
		r.publisher = publisher_start(r.to ? r.to : "/tmp");
	if (r.interval) {
		ask_bare(&r);
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
