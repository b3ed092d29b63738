/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/discover.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/formats/containers.h"
#include "common/diag.h"
#include "common/process/taskwait.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Limit for the size of a file in /proc, in bytes: enough for /proc/PID/maps with 500,000 mappings. */
#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* Reads a complete file in the /proc directory `folder` of a process. Returns false and sets errno if the file does not
 * exist, is not readable or is too long. */
static bool discover_read_file(int folder, const char *name, struct text *text)
{
	text->n = 0;
	return fullio_read_at(folder, name, text, TEXT_BYTES_MAX);
}

/* ---- parsers ----------------------------------------------------------------------------------------------------- */

bool discover_is_libjvm(struct str path)
{
	if (str_ends(path, STR(" (deleted)")))
		path.n -= strlen(" (deleted)");
	return str_ends(path, STR("/libjvm.so"));
}

/* Parses the part of a line of /proc/PID/maps after the addresses: "r-xp 00000000 08:01 1234 /path". Sets device and
 * inode of *lib. Returns false if the line is malformed or the mapping does not start at file offset 0. */
static bool parse_library(struct str line, struct jvm_library *lib)
{
	struct str offset, major, minor;
	uint64_t zero, numbers[2];

	str_cut(&line, ' ');
	offset = str_cut(&line, ' ');
	major = str_cut(&line, ':');
	minor = str_cut(&line, ' ');
	if (!str_hex(offset, &zero) || zero || !str_hex(major, &numbers[0]) || !str_hex(minor, &numbers[1]) ||
	    !str_u64(str_cut(&line, ' '), &lib->inode))
		return false;
	lib->major = (uint32_t)numbers[0];
	lib->minor = (uint32_t)numbers[1];
	return true;
}

enum jvm_kind discover_maps(struct str maps, struct jvm_library *lib)
{
	enum jvm_kind kind = JVM_NONE;
	bool hotspot = false;

	while (maps.n) {
		struct str line = str_cut(&maps, '\n'), path, start;
		ptrdiff_t slash = str_find(line, '/');

		if (slash < 0)
			continue;
		path = str_from(line, (size_t)slash);
		if (kind == JVM_NONE &&
		    (str_find_str(path, STR("/libj9vm")) >= 0 || str_find_str(path, STR("/libj9jit")) >= 0))
			kind = JVM_OPENJ9;
		if (kind == JVM_NONE &&
		    (str_find_str(path, STR("/libzing")) >= 0 || str_find_str(path, STR("/libazsys")) >= 0))
			kind = JVM_ZING;
		if (hotspot || !discover_is_libjvm(path))
			continue;
		start = str_cut(&line, '-');
		str_cut(&line, ' ');
		hotspot = str_hex(start, &lib->base) && parse_library(line, lib);
	}
	/* OpenJ9 and Zing also have a libjvm.so: their own libraries take precedence. */
	return kind == JVM_NONE && hotspot ? JVM_HOTSPOT : kind;
}

#define LAST UINT32_MAX

/* Sets *value to a number in the line of /proc/PID/status that starts with `key`. column is 1 for the first number,
 * and LAST for the last one. Returns false if there is no such line or number. */
static bool status_number(struct str status, struct str key, unsigned column, uint64_t *value)
{
	while (status.n) {
		struct str line = str_cut(&status, '\n'), word = { 0 };

		if (!str_starts(line, key))
			continue;
		line = str_from(line, key.n);
		for (unsigned i = 0; line.n && i < column; i++)
			word = str_cut(&line, '\t');
		return str_u64(str_trim(word), value);
	}
	return false;
}

static void read_status(struct jvm_process *process, struct str status)
{
	uint64_t value;

	if (status_number(status, STR("Uid:\t"), 2, &value))
		process->uid = (uid_t)value;
	if (status_number(status, STR("Gid:\t"), 2, &value))
		process->gid = (gid_t)value;
	process->inner = process->pid;
	if (status_number(status, STR("NStgid:\t"), LAST, &value))
		process->inner = (pid_t)value;
}

/* Sets text to the path in a line of /proc/PID/cgroup, such as "4:cpu:/docker/ab..." or "0::/system.slice/...".
 * Prefers a path with a container id, then a path other than "/". */
static void choose_cgroup(struct text *text, struct str cgroup)
{
	while (cgroup.n) {
		struct str line = str_cut(&cgroup, '\n');

		str_cut(&line, ':');
		str_cut(&line, ':');
		if (line.n < 2 && text->n)
			continue;
		if (text->n > 1 && (containers_id(text_view(text)).n || !containers_id(line).n))
			continue;
		text->n = 0;
		text_str(text, line);
	}
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

void jvm_process_close(struct jvm_process *process)
{
	if (process->folder >= 0)
		close(process->folder);
	process->folder = -1;
	text_free(&process->cgroup);
}

uint64_t jvm_process_age_ns(const struct jvm_process *process)
{
	uint64_t now = clock_since_boot(), start = process->start * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));

	return now > start ? now - start : 0;
}

static bool discover_look_at(const char *proc, pid_t pid, struct jvm_process *process, struct text *text)
{
	char path[4200];
	bool zombie = false;

	snprintf(path, sizeof(path), "%s/%d", proc, (int)pid);
	*process = (struct jvm_process){ .folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
					 .pid = pid,
					 .inner = pid,
					 .uid = (uid_t)-1,
					 .gid = (gid_t)-1 };
	if (process->folder < 0)
		return false;
	text->n = 0;
	if (!taskwait_read(process->folder, "stat", text, TEXT_BYTES_MAX) && taskwait_is_unanswered(errno)) {
		process->kind = JVM_STALLED;
		process->alive = true;
		return true;
	}
	if (!taskid_parse(text_view(text), &process->id, &zombie)) {
		jvm_process_close(process);
		return false;
	}
	process->start = process->id.start;
	process->alive = !zombie;
	text->n = 0;
	if (!taskwait_read(process->folder, "maps", text, TEXT_BYTES_MAX)) {
		process->kind = taskwait_is_unanswered(errno) ? JVM_STALLED : JVM_UNKNOWN;
		if (errno == ENOENT || errno == ESRCH)
			process->alive = false;
		return true;
	}
	if (text->n == 0)
		/* Kernel threads and exiting processes have no mappings; they do not count as live. */
		process->alive = false;
	process->kind = discover_maps(text_view(text), &process->library);
	return true;
}

static void look_closer(struct jvm_process *process, struct text *text)
{
	if (discover_read_file(process->folder, "comm", text)) {
		struct str comm = str_trim_right(text_view(text));

		if (comm.n && comm.p[comm.n - 1] == '\n')
			comm.n--;
		snprintf(process->comm, sizeof(process->comm), "%.*s", (int)comm.n, comm.p);
	}
	if (discover_read_file(process->folder, "status", text))
		read_status(process, text_view(text));
	if (discover_read_file(process->folder, "cgroup", text))
		choose_cgroup(&process->cgroup, text_view(text));
}

bool discover_one(const char *proc, pid_t pid, struct jvm_process *process)
{
	struct text text = { 0 };
	bool found = discover_look_at(proc, pid, process, &text);

	if (found)
		look_closer(process, &text);
	text_free(&text);
	return found;
}

bool discover_candidate(const char *proc, pid_t pid, struct jvm_process *process)
{
	struct text text = { 0 };
	bool found = discover_look_at(proc, pid, process, &text);

	if (found && process->alive && process->kind != JVM_NONE && process->kind != JVM_UNKNOWN &&
	    process->kind != JVM_STALLED)
		look_closer(process, &text);
	text_free(&text);
	return found;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Returns the pids of all processes in ascending order and sets *n to their number. The caller frees the result.
 * Ends the program if proc cannot be read. */
static pid_t *all_pids(const char *proc, size_t *n)
{
	DIR *dir = opendir(proc);
	pid_t *pid = NULL;
	size_t cap = 0;

	*n = 0;
	if (!dir)
		die_errno("cannot read '%s'", proc);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		uint64_t number;

		if (!str_u64(str_of(entry->d_name), &number) || number == 0 || number > INT32_MAX)
			continue;
		if (*n == cap) {
			cap = cap ? cap * 2 : 256;
			pid = mem_grow(pid, sizeof(*pid), cap);
		}
		pid[(*n)++] = (pid_t)number;
	}
	closedir(dir);
	if (*n)
		qsort(pid, *n, sizeof(*pid), by_number);
	return pid;
}

struct discovery discover(const char *proc, bool (*f)(void *arg, struct jvm_process *process), void *arg)
{
	struct discovery discovery = { 0 };
	struct text text = { 0 };
	size_t n;
	pid_t *pid = all_pids(proc, &n);

	for (size_t i = 0; i < n; i++) {
		struct jvm_process p;
		bool is_java;

		if (!discover_look_at(proc, pid[i], &p, &text))
			continue;
		discovery.processes += p.alive;
		if (p.alive && p.kind == JVM_UNKNOWN)
			discovery.forbidden++;
		discovery.stalled += p.kind == JVM_STALLED;
		is_java = p.alive && p.kind != JVM_NONE && p.kind != JVM_STALLED;
		if (is_java)
			look_closer(&p, &text);
		if (p.kind == JVM_UNKNOWN && strcmp(p.comm, "java") != 0)
			is_java = false;
		if (!is_java || !f(arg, &p))
			jvm_process_close(&p);
	}
	free(pid);
	text_free(&text);
	return discovery;
}
