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

#define TEXT_BYTES_MAX ((size_t)64 << 20) /* /proc/PID/maps of 500,000 mappings */

/* A file of a process, whole. False and errno: not there, not allowed, too long. */
static bool discover_read_file(int folder, const char *name, struct text *t)
{
	t->n = 0;
	return fullio_read_at(folder, name, t, TEXT_BYTES_MAX);
}

/* ---- what the texts say ---------------------------------------------------------------------------------------- */

bool discover_is_libjvm(struct str path)
{
	if (str_ends(path, STR(" (deleted)")))
		path.n -= strlen(" (deleted)");
	return str_ends(path, STR("/libjvm.so"));
}

/* Of a line behind its addresses: "r-xp 00000000 08:01 1234 /path". False: it is not of the file's first byte. */
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
	return kind == JVM_NONE && hotspot ? JVM_HOTSPOT : kind; /* OpenJ9 and Zing have a libjvm.so, too */
}

#define LAST UINT32_MAX

/* A number in the line that begins so: in a column from 1, or the last. */
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

static void read_status(struct jvm_process *p, struct str status)
{
	uint64_t value;

	if (status_number(status, STR("Uid:\t"), 2, &value))
		p->uid = (uid_t)value;
	if (status_number(status, STR("Gid:\t"), 2, &value))
		p->gid = (gid_t)value;
	p->inner = p->pid;
	if (status_number(status, STR("NStgid:\t"), LAST, &value))
		p->inner = (pid_t)value;
}

/* "4:cpu:/docker/ab..." or "0::/system.slice/..." */
static void choose_cgroup(struct text *to, struct str cgroup)
{
	while (cgroup.n) {
		struct str line = str_cut(&cgroup, '\n');

		str_cut(&line, ':');
		str_cut(&line, ':');
		if (line.n < 2 && to->n)
			continue;
		if (to->n > 1 && (containers_id(text_view(to)).n || !containers_id(line).n))
			continue;
		to->n = 0;
		text_str(to, line);
	}
}

/* ---- processes ------------------------------------------------------------------------------------------------- */

void jvm_process_close(struct jvm_process *p)
{
	if (p->folder >= 0)
		close(p->folder);
	p->folder = -1;
	text_free(&p->cgroup);
}

uint64_t jvm_process_age_ns(const struct jvm_process *p)
{
	uint64_t now = clock_since_boot(), start = p->start * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));

	return now > start ? now - start : 0;
}

static bool discover_look_at(const char *proc, pid_t pid, struct jvm_process *p, struct text *t)
{
	char path[4200];
	bool zombie = false;

	snprintf(path, sizeof(path), "%s/%d", proc, (int)pid);
	*p = (struct jvm_process){ .folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
				   .pid = pid,
				   .inner = pid,
				   .uid = (uid_t)-1,
				   .gid = (gid_t)-1 };
	if (p->folder < 0)
		return false;
	t->n = 0;
	if (!taskwait_read(p->folder, "stat", t, TEXT_BYTES_MAX) && errno == ETIMEDOUT) {
		p->kind = JVM_STALLED;
		p->alive = true;
		return true;
	}
	if (!taskid_parse(text_view(t), &p->id, &zombie)) {
		jvm_process_close(p);
		return false;
	}
	p->start = p->id.start;
	p->alive = !zombie;
	t->n = 0;
	if (!taskwait_read(p->folder, "maps", t, TEXT_BYTES_MAX)) {
		p->kind = errno == ETIMEDOUT ? JVM_STALLED : JVM_UNKNOWN;
		if (errno == ENOENT || errno == ESRCH)
			p->alive = false;
		return true;
	}
	if (t->n == 0)
		p->alive = false; /* a thread of the kernel, or a process at its end */
	p->kind = discover_maps(text_view(t), &p->library);
	return true;
}

static void look_closer(struct jvm_process *p, struct text *t)
{
	if (discover_read_file(p->folder, "comm", t)) {
		struct str comm = str_trim_right(text_view(t));

		if (comm.n && comm.p[comm.n - 1] == '\n')
			comm.n--;
		snprintf(p->comm, sizeof(p->comm), "%.*s", (int)comm.n, comm.p);
	}
	if (discover_read_file(p->folder, "status", t))
		read_status(p, text_view(t));
	if (discover_read_file(p->folder, "cgroup", t))
		choose_cgroup(&p->cgroup, text_view(t));
}

bool discover_one(const char *proc, pid_t pid, struct jvm_process *p)
{
	struct text t = { 0 };
	bool found = discover_look_at(proc, pid, p, &t);

	if (found)
		look_closer(p, &t);
	text_free(&t);
	return found;
}

bool discover_candidate(const char *proc, pid_t pid, struct jvm_process *p)
{
	struct text t = { 0 };
	bool found = discover_look_at(proc, pid, p, &t);

	if (found && p->alive && p->kind != JVM_NONE && p->kind != JVM_UNKNOWN && p->kind != JVM_STALLED)
		look_closer(p, &t);
	text_free(&t);
	return found;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Numbers of all processes, in order; caller frees. */
static pid_t *all_pids(const char *proc, size_t *n)
{
	DIR *dir = opendir(proc);
	pid_t *pid = NULL;
	size_t cap = 0;

	*n = 0;
	if (!dir)
		die_errno("cannot read '%s'", proc);
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		uint64_t number;

		if (!str_u64(str_of(e->d_name), &number) || number == 0 || number > INT32_MAX)
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

struct discovery discover(const char *proc, bool (*f)(void *arg, struct jvm_process *p), void *arg)
{
	struct discovery d = { 0 };
	struct text t = { 0 };
	size_t n;
	pid_t *pid = all_pids(proc, &n);

	for (size_t i = 0; i < n; i++) {
		struct jvm_process p;
		bool is_java;

		if (!discover_look_at(proc, pid[i], &p, &t))
			continue;
		d.processes += p.alive;
		if (p.alive && p.kind == JVM_UNKNOWN)
			d.forbidden++;
		d.stalled += p.kind == JVM_STALLED;
		is_java = p.alive && p.kind != JVM_NONE && p.kind != JVM_STALLED;
		if (is_java)
			look_closer(&p, &t);
		if (p.kind == JVM_UNKNOWN && strcmp(p.comm, "java") != 0)
			is_java = false;
		if (!is_java || !f(arg, &p))
			jvm_process_close(&p);
	}
	free(pid);
	text_free(&t);
	return d;
}
