/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/tracefs.h"

#include "common/arena.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* maximum length of a tracepoint's name in bytes; names in the kernel have fewer than 100 */
#define NAME_BYTES_MAX 256
#define FILE_BYTES_MAX (16u << 20)

/* ---- paths of tracefs ---------------------------------------------------------------------------------------- */

/* Writes the path of a file or directory of tracefs into *text. Returns it as a C string. */
static const char *tracefs_path_of(struct text *text, const char *dir, const char *folder, struct str system,
				   struct str name, const char *file)
{
	text->n = 0;
	text_printf(text, "%s/%s", dir, folder);
	if (system.n)
		text_printf(text, "/%.*s", (int)system.n, system.p);
	if (name.n)
		text_printf(text, "/%.*s", (int)name.n, name.p);
	if (file)
		text_printf(text, "/%s", file);
	text_char(text, 0);
	return text->p;
}

const char *tracefs_dir(void)
{
	static const char *const dir[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int error = ENOENT;

	for (size_t i = 0; i < countof(dir); i++) {
		struct text path = { 0 };
		bool there =
			access(tracefs_path_of(&path, dir[i], "events", (struct str){ 0 }, (struct str){ 0 }, NULL),
			       R_OK | X_OK) == 0;

		text_free(&path);
		if (there)
			return dir[i];
		/* if one of the two paths exists but is not accessible, its errno is more useful than ENOENT of the
		 * other path */
		if (errno != ENOENT)
			error = errno;
	}
	errno = error;
	return NULL;
}

/* ---- search for tracepoints ---------------------------------------------------------------------------------- */

static bool read_id(const char *dir, struct str system, struct str name, uint64_t *id)
{
	struct text path = { 0 }, text = { 0 };
	bool valid = fullio_read_at(AT_FDCWD, tracefs_path_of(&path, dir, "events", system, name, "id"), &text,
				    FILE_BYTES_MAX);

	if (valid &&
	    !str_u64(str_trim((struct str){ text.p, text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n }),
		     id)) {
		errno = EINVAL;
		valid = false;
	}
	text_free(&path);
	text_free(&text);
	return valid;
}

static bool tracefs_add(struct tracepoint **found, size_t *n, struct str system, struct str name, uint64_t id)
{
	struct text text = { 0 };

	if (*n == TRACEFS_MAX) {
		errno = E2BIG;
		return false;
	}
	text_printf(&text, "%.*s:%.*s", (int)system.n, system.p, (int)name.n, name.p);
	text_char(&text, 0);
	*found = mem_grow(*found, sizeof(**found), *n + 1);
	(*found)[(*n)++] = (struct tracepoint){ text.p, id };
	return true;
}

/* Calls fn for each entry of a directory, except those that begin with a dot, until fn returns false. Returns false
 * with errno if the directory cannot be read, or if fn returned false. */
static bool each_entry(const char *path, bool (*fn)(void *to, struct str name), void *to)
{
	DIR *dir = opendir(path);
	bool valid = dir != NULL;
	int error;

	for (struct dirent *entry; valid && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			valid = fn(to, str_of(entry->d_name));
	error = errno;
	if (dir)
		closedir(dir);
	errno = error;
	return valid;
}

/* State of a walk over all tracepoints whose system and name match patterns. */
struct walk {
	const char *dir;
	struct str systems, names; /* systems: pattern for the system; names: pattern for the name */
	struct str system;         /* system whose directory is being read */
	bool (*fn)(void *to, struct str system, struct str name);
	void *to;
	bool denied;
};

static bool visit_name(void *to, struct str name)
{
	struct walk *walk = to;

	return !str_glob(walk->names, name) || name.n > NAME_BYTES_MAX || walk->fn(walk->to, walk->system, name);
}

static bool visit_system(void *to, struct str system)
{
	struct walk *walk = to;
	struct text path = { 0 };
	bool valid = true;

	if (!str_glob(walk->systems, system) || system.n > NAME_BYTES_MAX)
		return true;
	walk->system = system;
	if (!each_entry(tracefs_path_of(&path, walk->dir, "events", system, (struct str){ 0 }, NULL), visit_name,
			walk)) {
		walk->denied |= errno == EACCES || errno == EPERM;
		/* ENOTDIR is no failure: entries such as events/enable are files */
		valid = errno == ENOTDIR || errno == ENOENT || errno == EACCES || errno == EPERM;
	}
	text_free(&path);
	return valid;
}

static bool tracefs_walk(struct walk *walk)
{
	struct text path = { 0 };
	bool valid = each_entry(tracefs_path_of(&path, walk->dir, "events", (struct str){ 0 }, (struct str){ 0 }, NULL),
				visit_system, walk);
	int error = errno;

	text_free(&path);
	errno = error;
	return valid;
}

struct finding {
	const char *dir;
	struct tracepoint **found;
	size_t *n;
};

/* Adds a tracepoint to the list. Skips entries without a readable id: files such as "filter", and events of ftrace that
 * perf cannot open. */
static bool take_found(void *to, struct str system, struct str name)
{
	struct finding *finding = to;
	uint64_t id;

	return !read_id(finding->dir, system, name, &id) || tracefs_add(finding->found, finding->n, system, name, id);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tracepoint *)a)->name, ((const struct tracepoint *)b)->name);
}

static bool is_pattern(struct str string)
{
	return str_find(string, '*') >= 0 || str_find(string, '?') >= 0 || str_find(string, '[') >= 0;
}

bool tracefs_find(const char *dir, struct str pattern, struct tracepoint **found, size_t *n)
{
	struct str name = pattern, system = str_cut(&name, ':');
	size_t before = *n;
	uint64_t id;

	if (!system.n || !name.n || str_find(pattern, '/') >= 0 || system.p[0] == '.' || name.p[0] == '.') {
		errno = ENOENT;
		return false;
	}
	if (!is_pattern(pattern))
		return read_id(dir, system, name, &id) && tracefs_add(found, n, system, name, id);
	struct finding finding = { dir, found, n };
	struct walk walk = { .dir = dir, .systems = system, .names = name, .fn = take_found, .to = &finding };
	if (!tracefs_walk(&walk))
		return false;
	if (*n > before)
		qsort(*found + before, *n - before, sizeof(**found), by_name);
	errno = walk.denied ? EACCES : ENOENT;
	return *n > before;
}

void tracefs_free(struct tracepoint *tracepoint, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(tracepoint[i].name);
	free(tracepoint);
}

/* ---- names of all tracepoints --------------------------------------------------------------------------------- */

static bool take_listed(void *to, struct str system, struct str name)
{
	text_printf(to, "%.*s:%.*s\n", (int)system.n, system.p, (int)name.n, name.p);
	return true;
}

void tracefs_list(const char *dir, struct text *text)
{
	struct walk walk = { .dir = dir, .systems = STR("*"), .names = STR("*"), .fn = take_listed, .to = text };

	tracefs_walk(&walk);
}

/* ---- names similar to an unknown one ----------------------------------------------------------------------------- */

#define NEAREST 3

struct near {
	struct str name; /* name for which no tracepoint was found */
	struct {
		struct text text;
		unsigned far;
	} best[NEAREST];
	size_t n;
};

/* Returns the edit distance of two names: the minimum number of bytes to insert, delete or change. */
static unsigned tracefs_distance(struct str string, struct str other)
{
	unsigned row[NAME_BYTES_MAX * 2 + 2], diagonal, above;

	for (size_t second = 0; second <= other.n; second++)
		row[second] = (unsigned)second;
	for (size_t i = 1; i <= string.n; i++) {
		diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= other.n; j++) {
			unsigned best = diagonal + (string.p[i - 1] != other.p[j - 1]);

			above = row[j];
			best = above + 1 < best ? above + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[other.n];
}

static bool take_near(void *to, struct str system, struct str name)
{
	struct near *near = to;
	struct text text = { 0 };
	unsigned far;
	size_t i;

	text_printf(&text, "%.*s:%.*s", (int)system.n, system.p, (int)name.n, name.p);
	far = tracefs_distance(near->name, text_view(&text));
	if (far > near->name.n / 3 + 1) {
		text_free(&text);
		return true;
	}
	for (i = near->n;
	     i && (near->best[i - 1].far > far ||
		   (near->best[i - 1].far == far && str_cmp(text_view(&text), text_view(&near->best[i - 1].text)) < 0));
	     i--)
		;
	if (i == NEAREST) {
		text_free(&text);
		return true;
	}
	if (near->n == NEAREST)
		text_free(&near->best[--near->n].text);
	memmove(near->best + i + 1, near->best + i, (near->n - i) * sizeof(near->best[0]));
	near->best[i].text = text;
	near->best[i].far = far;
	near->n++;
	return true;
}

void tracefs_nearest(const char *dir, struct str name, struct text *text)
{
	struct near near = { .name = str_head(name, name.n < NAME_BYTES_MAX ? name.n : NAME_BYTES_MAX) };
	struct walk walk = { .dir = dir, .systems = STR("*"), .names = STR("*"), .fn = take_near, .to = &near };

	tracefs_walk(&walk);
	for (size_t i = 0; i < near.n; i++) {
		text_add(text, i ? ", " : "");
		text_str(text, text_view(&near.best[i].text));
		text_free(&near.best[i].text);
	}
}

/* ---- section TRACING_DATA ------------------------------------------------------------------------------------ */

/* Layout of the section TRACING_DATA: tools/perf/util/trace-event-read.c reads it as version 0.6. */

/* Appends the size of a file as a number of `width` bytes (4 or 8), then its content. If the file cannot be read,
 * appends size 0 and returns false. */
static bool tracefs_put_file(struct text *text, const char *path, size_t width)
{
	uint64_t size = 0;
	size_t at = text->n;

	text_bytes(text, &size, width);
	if (!fullio_read_at(AT_FDCWD, path, text, FILE_BYTES_MAX)) {
		text->n = at + width;
		return false;
	}
	size = text->n - at - width;
	memcpy(text->p + at, &size, width);
	return true;
}

static bool put_header_file(struct text *text, const char *dir, const char *name)
{
	struct text path = { 0 };
	bool valid;

	text_bytes(text, name, strlen(name) + 1);
	valid = tracefs_put_file(text,
				 tracefs_path_of(&path, dir, "events", (struct str){ 0 }, (struct str){ 0 }, name), 8);
	text_free(&path);
	return valid;
}

static bool put_formats(struct text *text, const char *dir, const struct tracepoint *tracepoint, size_t n)
{
	uint32_t count = (uint32_t)n;
	struct text path = { 0 };
	bool valid = true;

	text_bytes(text, &count, sizeof(count));
	for (size_t i = 0; valid && i < n; i++) {
		struct str name = str_of(tracepoint[i].name), system = str_cut(&name, ':');

		valid = tracefs_put_file(text, tracefs_path_of(&path, dir, "events", system, name, "format"), 8);
	}
	text_free(&path);
	return valid;
}

static struct str system_of(const struct tracepoint *tracepoint)
{
	struct str name = str_of(tracepoint->name);

	return str_cut(&name, ':');
}

/* Returns the number of tracepoints at the start of a sorted array that belong to the same system. */
static size_t tracefs_run_of(const struct tracepoint *tracepoint, size_t n)
{
	size_t i = 1;

	while (i < n && str_eq(system_of(tracepoint), system_of(tracepoint + i)))
		i++;
	return i;
}

/* Appends the formats of the tracepoints of the system "ftrace". Then appends, for each other system, its name and the
 * formats of its tracepoints. */
static bool put_systems(struct text *text, const char *dir, const struct tracepoint *tracepoint, size_t n)
{
	uint32_t systems = 0;
	size_t ftrace = 0, nftrace = 0;

	for (size_t i = 0, run; i < n; i += run) {
		run = tracefs_run_of(tracepoint + i, n - i);
		if (str_eq(system_of(tracepoint + i), STR("ftrace"))) {
			ftrace = i;
			nftrace = run;
		} else {
			systems++;
		}
	}
	if (!put_formats(text, dir, tracepoint + ftrace, nftrace))
		return false;
	text_bytes(text, &systems, sizeof(systems));
	for (size_t i = 0, run; i < n; i += run) {
		run = tracefs_run_of(tracepoint + i, n - i);
		if (nftrace && i == ftrace)
			continue;
		text_str(text, system_of(tracepoint + i));
		text_char(text, 0);
		if (!put_formats(text, dir, tracepoint + i, run))
			return false;
	}
	return true;
}

bool tracefs_describe(const char *dir, const struct tracepoint *tracepoint, size_t n, struct text *text)
{
	static const char magic[] = "\x17\x08\x44tracing"
				    "0.6";
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE), kallsyms = 0;
	struct tracepoint *sorted = mem_alloc(sizeof(*sorted), n);
	struct text path = { 0 };
	uint64_t cmdlines = 0;
	size_t unique = 0;
	bool valid;

	memcpy(sorted, tracepoint, n * sizeof(*tracepoint));
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < n; i++) /* removes duplicates */
		if (!unique || strcmp(sorted[unique - 1].name, sorted[i].name) != 0)
			sorted[unique++] = sorted[i];
	text_bytes(text, magic, sizeof(magic));
	text_char(text, 0); /* byte order of the section: little endian */
	text_char(text, sizeof(long));
	text_bytes(text, &page, sizeof(page));
	valid = put_header_file(text, dir, "header_page") && put_header_file(text, dir, "header_event") &&
		put_systems(text, dir, sorted, unique);
	/* size 0 for kernel symbols, as perf writes it: readers get them from other sources */
	text_bytes(text, &kallsyms, sizeof(kallsyms));
	/* the file printk_formats may be missing; then its size is 0 */
	if (valid)
		tracefs_put_file(
			text, tracefs_path_of(&path, dir, "printk_formats", (struct str){ 0 }, (struct str){ 0 }, NULL),
			4);
	/* size 0 for names of threads: readers get them from COMM records */
	text_bytes(text, &cmdlines, sizeof(cmdlines));
	text_free(&path);
	free(sorted);
	return valid;
}
