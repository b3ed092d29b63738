/* SPDX-License-Identifier: Apache-2.0 */
/* pjmap - see what code lives where in every running JVM, without touching it. */
#include "arena.h"
#include "codemap.h"
#include "containers.h"
#include "diag.h"
#include "follow.h"
#include "mapopts.h"
#include "out.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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

/* ---- --list ---------------------------------------------------------------------------------------------------- */

static void put_user(struct text *t, uid_t uid)
{
	struct passwd *known = uid == (uid_t)-1 ? NULL : getpwuid(uid);

	if (uid == (uid_t)-1)
		text_char(t, '-');
	else if (known)
		text_add(t, known->pw_name);
	else
		text_u64(t, uid);
}

static void put_uptime(struct text *t, uint64_t seconds)
{
	if (seconds < 120)
		text_printf(t, "%llus", (unsigned long long)seconds);
	else if (seconds < 7200)
		text_printf(t, "%llum", (unsigned long long)seconds / 60);
	else if (seconds < 172800)
		text_printf(t, "%lluh", (unsigned long long)seconds / 3600);
	else
		text_printf(t, "%llud", (unsigned long long)seconds / 86400);
}

static void put_container(struct text *t, struct str cgroup)
{
	struct str id = containers_id(cgroup);

	if (id.n)
		text_str(t, str_head(id, 12)); /* as docker and crictl print it */
	else
		text_char(t, '-');
}

/* Seconds since a process started at so many clock ticks after boot. */
static uint64_t age(uint64_t start)
{
	struct timespec now;
	uint64_t since = start / (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec > since ? (uint64_t)now.tv_sec - since : 0;
}

enum { COLUMNS = 10 };

/* A row of cells that end in \0. */
struct table {
	struct text cells;
	size_t width[COLUMNS];
};

static void end_cell(struct table *t, unsigned column, size_t *from)
{
	size_t n = t->cells.n - *from;

	for (size_t i = *from; i < t->cells.n; i++)
		if (t->cells.p[i] == '\n' || t->cells.p[i] == 0)
			t->cells.p[i] = '?';
	if (n > t->width[column])
		t->width[column] = n;
	text_char(&t->cells, 0);
	*from = t->cells.n;
}

static void add_row(struct table *t, const struct jvm_process *p, uint64_t uptime)
{
	struct hotspot h;
	struct hotspot_reason why = hotspot_open(&h, p);
	struct text *c = &t->cells;
	size_t from = c->n;
	unsigned column = 0;

	if (!why.code)
		why = hotspot_scan(&h);
	text_u64(c, (uint64_t)p->pid);
	end_cell(t, column++, &from);
	text_u64(c, (uint64_t)p->inner);
	end_cell(t, column++, &from);
	put_user(c, p->uid);
	end_cell(t, column++, &from);
	put_container(c, text_view(&p->cgroup));
	end_cell(t, column++, &from);
	put_uptime(c, uptime);
	end_cell(t, column++, &from);
	text_add(c, h.version[0] ? h.version : "-");
	end_cell(t, column++, &from);
	text_add(c, h.collector ? h.collector : "-");
	end_cell(t, column++, &from);
	text_add(c, h.frame_pointers < 0 ? "-" : h.frame_pointers ? "yes" : "no");
	end_cell(t, column++, &from);
	if (why.code)
		text_add(c, why.code);
	else
		text_printf(c, "ok %zu", h.code.n);
	end_cell(t, column++, &from);
	text_add(c, why.code ? why.why : h.command[0] ? h.command : p->comm);
	end_cell(t, column++, &from);
	hotspot_close(&h);
}

static void print_table(const struct table *t, struct out *o)
{
	const char *cell = t->cells.p, *end = t->cells.p + t->cells.n;

	for (unsigned column = 0; cell < end; column = (column + 1) % COLUMNS, cell += strlen(cell) + 1) {
		out_text(o, cell);
		for (size_t i = strlen(cell); column + 1 < COLUMNS && i < t->width[column] + 2; i++)
			out_char(o, ' ');
		if (column + 1 == COLUMNS)
			out_char(o, '\n');
	}
}

static void list(const struct jvms *j)
{
	static const char *const head[COLUMNS] = { "PID", "NSPID", "USER", "CONTAINER", "UP", "VERSION", "GC", "FP", "CODE", "COMMAND" };
	struct table t = { 0 };
	struct out *o;

	for (unsigned i = 0; i < COLUMNS; i++) {
		size_t from = t.cells.n;

		text_add(&t.cells, head[i]);
		end_cell(&t, i, &from);
	}
	for (size_t i = 0; i < j->n; i++)
		add_row(&t, &j->one[i], age(j->one[i].start));
	o = mem_alloc(sizeof(*o), 1);
	out_open(o, NULL);
	print_table(&t, o);
	out_close(o);
	free(o);
	text_free(&t.cells);
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

static bool write_map(const struct request *r, const struct jvm_process *p, const struct text *t)
{
	const char *dir = r->to ? r->to : "/tmp", *what;
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)p->pid);
	what = codemap_put(dir, name, text_view(t), r->to != NULL);
	if (what)
		warn("%d: %s '%s': %s", (int)p->pid, what, dir, strerror(errno));
	return what == NULL;
}

static bool map_one(const struct request *r, const struct jvm_process *p)
{
	struct hotspot h;
	struct codemap c = { 0 };
	struct text t = { 0 };
	struct hotspot_reason why = hotspot_open(&h, p);
	bool done = false;

	if (!why.code)
		why = codemap_make(&c, &h, r->style);
	if (why.code) {
		warn("%d: %s: %s", (int)p->pid, why.code, why.why);
	} else {
		codemap_print(&c, r->style == METHOD_HOTSPOT, &t);
		done = r->to_stdout ? print_map(&t) : write_map(r, p, &t);
	}
	if (done && (c.left_out || h.code.torn) && !r->quiet)
		warn("%d: %llu pieces of code left out, which changed meanwhile or made no sense", (int)p->pid,
		     (unsigned long long)(c.left_out + h.code.torn));
	if (done && !r->quiet && !r->to_stdout)
		warn("%d: %zu pieces of code in %s/perf-%d.map", (int)p->pid, c.n, r->to ? r->to : "/tmp", (int)p->pid);
	text_free(&t);
	codemap_free(&c);
	hotspot_close(&h);
	return done;
}

int main(int argc, char **argv)
{
	struct request r;
	struct jvms j = { 0 };
	bool all;

	diag_tool("pjmap");
	mapopts_parse(&r, argc, argv);
	if (r.interval) {
		all = follow(&r);
		mapopts_free(&r);
		return all ? PJ_OK : PJ_FAILED;
	}
	all = find_jvms(&r, &j);
	if (j.n == 0 && !r.npids)
		warn("no JVM runs here that may be looked into");
	if (r.list)
		list(&j);
	for (size_t i = 0; i < j.n && !r.list; i++)
		all = map_one(&r, &j.one[i]) && all;
	for (size_t i = 0; i < j.n; i++)
		jvm_process_close(&j.one[i]);
	free(j.one);
	mapopts_free(&r);
	return all ? PJ_OK : PJ_FAILED;
}
