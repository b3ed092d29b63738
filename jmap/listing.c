/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/listing.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/formats/containers.h"
#include "jmap/reader/jvmhandle.h"
#include "common/filter/out.h"
#include "common/visible.h"

#include <pwd.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

/* HotSpot had numbers of its own until JDK 8: 25.504-b01 is 8u504-b01. */
static void put_version(struct text *t, const char *version)
{
	if (strncmp(version, "25.", 3) == 0 && strstr(version, "-b"))
		text_printf(t, "8u%s", version + 3);
	else
		text_add(t, version[0] ? version : "-");
}

static void listing_put_container(struct text *t, struct str cgroup)
{
	struct str id = containers_id(cgroup);

	if (id.n)
		text_str(t, str_head(id, 12)); /* as docker and crictl print it */
	else
		text_char(t, '-');
}

/* Seconds since a process started at so many clock ticks after boot. */
static uint64_t listing_age(uint64_t start)
{
	uint64_t now = clock_since_boot() / SECOND_NS, since = start / (uint64_t)sysconf(_SC_CLK_TCK);

	return now > since ? now - since : 0;
}

enum { COLUMNS = 10 };

/* A row of cells that end in \0. */
struct table {
	struct text cells;
	size_t width[COLUMNS];
};

/* Versions and commands are read from the memory of the JVM, and a comm is chosen by its process: any of them may hold
 * what a terminal obeys. A blank would begin the next column of the table, where there is one. */
static void end_cell(struct table *t, unsigned column, size_t *from)
{
	struct text shown = { 0 };

	visible_str(&shown, str_from(text_view(&t->cells), *from));
	for (size_t i = 0; i < shown.n && column + 1 < COLUMNS - 1; i++)
		if (shown.p[i] == ' ')
			shown.p[i] = '?';
	t->cells.n = *from;
	text_str(&t->cells, text_view(&shown));
	if (shown.n > t->width[column])
		t->width[column] = shown.n;
	text_char(&t->cells, 0);
	*from = t->cells.n;
	text_free(&shown);
}

static void listing_add_row(struct table *t, const struct jvm_process *p, uint64_t uptime, enum jcmdmap_method method)
{
	struct read_answer a;
	struct hotspot_reason why =
		jvmhandle_once(p, method == JCMDMAP_NOT ? READ_SUMMARY : READ_LAYOUT, METHOD_JAVA, &a, NULL);
	struct text *c = &t->cells;
	size_t from = c->n;
	unsigned column = 0;

	if (method != JCMDMAP_NOT)
		why = jcmdmap_check(p, method);
	text_u64(c, (uint64_t)p->pid);
	end_cell(t, column++, &from);
	text_u64(c, (uint64_t)p->inner);
	end_cell(t, column++, &from);
	put_user(c, p->uid);
	end_cell(t, column++, &from);
	listing_put_container(c, text_view(&p->cgroup));
	end_cell(t, column++, &from);
	put_uptime(c, uptime);
	end_cell(t, column++, &from);
	put_version(c, a.version);
	end_cell(t, column++, &from);
	text_add(c, a.collector[0] ? a.collector : "-");
	end_cell(t, column++, &from);
	text_add(c, a.frame_pointers < 0 ? "-" : a.frame_pointers ? "yes" : "no");
	end_cell(t, column++, &from);
	if (why.code)
		text_add(c, why.code);
	else if (method != JCMDMAP_NOT)
		text_add(c, "ok -");
	else
		text_printf(c, "ok %llu", (unsigned long long)a.code_n);
	end_cell(t, column++, &from);
	text_add(c, why.code ? why.why : a.command[0] ? a.command : p->comm);
	end_cell(t, column++, &from);
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

void listing(const struct jvm_process *one, size_t n, enum jcmdmap_method method)
{
	static const char *const head[COLUMNS] = { "PID",     "NSPID", "USER", "CONTAINER", "UP",
						   "VERSION", "GC",    "FP",   "CODE",      "COMMAND" };
	struct table t = { 0 };
	struct out *o;

	for (unsigned i = 0; i < COLUMNS; i++) {
		size_t from = t.cells.n;

		text_add(&t.cells, head[i]);
		end_cell(&t, i, &from);
	}
	for (size_t i = 0; i < n; i++)
		listing_add_row(&t, &one[i], listing_age(one[i].start), method);
	o = mem_alloc(sizeof(*o), 1);
	out_open(o, NULL);
	print_table(&t, o);
	out_close(o);
	free(o);
	text_free(&t.cells);
}
