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

static void put_user(struct text *text, uid_t uid)
{
	struct passwd *known = uid == (uid_t)-1 ? NULL : getpwuid(uid);

	if (uid == (uid_t)-1)
		text_char(text, '-');
	else if (known)
		text_add(text, known->pw_name);
	else
		text_u64(text, uid);
}

static void put_uptime(struct text *text, uint64_t seconds)
{
	if (seconds < 120)
		text_printf(text, "%llus", (unsigned long long)seconds);
	else if (seconds < 7200)
		text_printf(text, "%llum", (unsigned long long)seconds / 60);
	else if (seconds < 172800)
		text_printf(text, "%lluh", (unsigned long long)seconds / 3600);
	else
		text_printf(text, "%llud", (unsigned long long)seconds / 86400);
}

/* Appends the JVM's version in the format of JDK 9 and later. HotSpot of JDK 8 has version numbers of its own:
 * 25.504-b01 becomes 8u504-b01. */
static void put_version(struct text *text, const char *version)
{
	if (strncmp(version, "25.", 3) == 0 && strstr(version, "-b"))
		text_printf(text, "8u%s", version + 3);
	else
		text_add(text, version[0] ? version : "-");
}

static void listing_put_container(struct text *text, struct str cgroup)
{
	struct str id = containers_id(cgroup);

	if (id.n)
		/* Container ids are cut to 12 digits, as docker and crictl print them. */
		text_str(text, str_head(id, 12));
	else
		text_char(text, '-');
}

/* Returns the age of a process in seconds. start: start time of the process in clock ticks since boot. */
static uint64_t listing_age(uint64_t start)
{
	uint64_t now = clock_since_boot() / SECOND_NS, since = start / (uint64_t)sysconf(_SC_CLK_TCK);

	return now > since ? now - since : 0;
}

enum { COLUMNS = 10 };

/* A table under construction. */
struct table {
	/* texts of all cells, row by row, each with a final NUL */
	struct text cells;
	/* width of each column in bytes */
	size_t width[COLUMNS];
};

/* Ends the cell whose text starts at *from, and makes the text printable. Versions and commands come from the memory of
 * the JVM, and a process chooses its comm, so they may contain control sequences for terminals. Replaces blanks by '?'
 * except in the last two columns, because a blank would start the next column. */
static void end_cell(struct table *table, unsigned column, size_t *from)
{
	struct text shown = { 0 };

	visible_str(&shown, str_from(text_view(&table->cells), *from));
	for (size_t i = 0; i < shown.n && column + 1 < COLUMNS - 1; i++)
		if (shown.p[i] == ' ')
			shown.p[i] = '?';
	table->cells.n = *from;
	text_str(&table->cells, text_view(&shown));
	if (shown.n > table->width[column])
		table->width[column] = shown.n;
	text_char(&table->cells, 0);
	*from = table->cells.n;
	text_free(&shown);
}

static void listing_add_row(struct table *table, const struct jvm_process *process, uint64_t uptime,
			    enum jcmdmap_method method)
{
	struct read_answer answer;
	struct hotspot_reason why =
		jvmhandle_once(process, method == JCMDMAP_NOT ? READ_SUMMARY : READ_LAYOUT, METHOD_JAVA, &answer, NULL);
	struct text *text = &table->cells;
	size_t from = text->n;
	unsigned column = 0;

	if (method != JCMDMAP_NOT)
		why = jcmdmap_check(process, method);
	text_u64(text, (uint64_t)process->pid);
	end_cell(table, column++, &from);
	text_u64(text, (uint64_t)process->inner);
	end_cell(table, column++, &from);
	put_user(text, process->uid);
	end_cell(table, column++, &from);
	listing_put_container(text, text_view(&process->cgroup));
	end_cell(table, column++, &from);
	put_uptime(text, uptime);
	end_cell(table, column++, &from);
	put_version(text, answer.version);
	end_cell(table, column++, &from);
	text_add(text, answer.collector[0] ? answer.collector : "-");
	end_cell(table, column++, &from);
	text_add(text, answer.frame_pointers < 0 ? "-" : answer.frame_pointers ? "yes" : "no");
	end_cell(table, column++, &from);
	if (why.code)
		text_add(text, why.code);
	else if (method != JCMDMAP_NOT)
		text_add(text, "ok -");
	else
		text_printf(text, "ok %llu", (unsigned long long)answer.code_n);
	end_cell(table, column++, &from);
	text_add(text, why.code ? why.why : answer.command[0] ? answer.command : process->comm);
	end_cell(table, column++, &from);
}

static void print_table(const struct table *table, struct out *out)
{
	const char *cell = table->cells.p, *end = table->cells.p + table->cells.n;

	for (unsigned column = 0; cell < end; column = (column + 1) % COLUMNS, cell += strlen(cell) + 1) {
		out_text(out, cell);
		for (size_t i = strlen(cell); column + 1 < COLUMNS && i < table->width[column] + 2; i++)
			out_char(out, ' ');
		if (column + 1 == COLUMNS)
			out_char(out, '\n');
	}
}

void listing(const struct jvm_process *one, size_t n, enum jcmdmap_method method)
{
	static const char *const head[COLUMNS] = { "PID",     "NSPID", "USER", "CONTAINER", "UP",
						   "VERSION", "GC",    "FP",   "CODE",      "COMMAND" };
	struct table table = { 0 };
	struct out *out;

	for (unsigned i = 0; i < COLUMNS; i++) {
		size_t from = table.cells.n;

		text_add(&table.cells, head[i]);
		end_cell(&table, i, &from);
	}
	for (size_t i = 0; i < n; i++)
		listing_add_row(&table, &one[i], listing_age(one[i].start), method);
	out = mem_alloc(sizeof(*out), 1);
	out_open(out, NULL);
	print_table(&table, out);
	out_close(out);
	free(out);
	text_free(&table.cells);
}
