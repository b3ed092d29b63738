/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes.h"

#include "discover.h"
#include "jvms.h"
#include "processes.h"
#include "procfs.h"
#include "whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)16 << 20) /* of maps; of options far less is enough */
#define OPTIONS_MAX ((size_t)1 << 20)

static const struct {
	const char *comm, *advice;
} advice[] = {
	{ "node", "start it with node --perf-basic-prof (or NODE_OPTIONS)" },
	{ "dotnet", "start it with DOTNET_PerfMapEnabled=1" },
	{ "beam.smp", "start it with erl +JPperf true" },
	{ "php", "start it with opcache.jit_debug=0x10" },
	{ "ruby", "start it with --yjit-perf" },
};

const char *runtime_advice(const char *comm)
{
	for (size_t i = 0; i < countof(advice); i++)
		if (str_starts(str_of(comm), str_of(advice[i].comm)))
			return advice[i].advice;
	return NULL;
}

/* Memory that no file backs; .NET maps its code twice, as a memfd of that name. Others run programs from one. */
static bool is_anonymous(struct str path)
{
	return str_eq(path, STR("//anon")) || str_starts(path, STR("[anon")) || str_starts(path, STR("[heap]")) ||
	       str_starts(path, STR("/memfd:doublemapper"));
}

static bool is_jitdump(struct str path)
{
	struct str name = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return path.n && path.p[0] == '/' && str_starts(name, STR("jit-")) && str_ends(name, STR(".dump"));
}

void runtime_maps(struct runtime *r, struct str maps)
{
	while (maps.n) {
		struct str line = str_cut(&maps, '\n');
		struct mapped_file f = { 0 };
		struct mapping m = { 0 };

		if (!procfs_parse_map(line, &m, &f))
			continue;
		r->jvm = r->jvm || discover_is_libjvm(f.path);
		r->map = r->map || is_jitdump(f.path);
		r->code += is_anonymous(f.path) ? m.length : 0;
	}
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Up to most bytes in t; of more, those. */
static bool read_some(int fd, struct text *t, size_t most)
{
	return t->n < most && (whole_read(fd, t, most - t->n) || errno == EFBIG);
}

/* A file of /proc/PID; false with errno. */
static bool read_proc(int process, const char *name, struct text *t, size_t most)
{
	return t->n < most && (whole_read_at(process, name, t, most - t->n) || errno == EFBIG);
}

/* A path of that process, whatever links are on the way. */
static int open_inside(int process, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int root = openat(process, "root", O_PATH | O_CLOEXEC), fd;
	struct stat st;

	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	close(root);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* jvm_read: names are relative to where the process is now, which is where it was, for nearly all of them. */
static bool read_option_file(void *process, struct str name, struct text *t)
{
	struct text path = { 0 };
	char cwd[4096];
	ssize_t n = 0;
	bool good;
	int fd;

	if (name.n && name.p[0] != '/' && (n = readlinkat(*(int *)process, "cwd", cwd, sizeof(cwd))) < 0)
		return false;
	text_bytes(&path, cwd, (size_t)n);
	text_char(&path, '/');
	text_str(&path, name);
	text_char(&path, 0);
	fd = open_inside(*(int *)process, path.p);
	good = read_some(fd, t, OPTIONS_MAX);
	if (fd >= 0)
		close(fd);
	text_free(&path);
	return good;
}

static void copy(char *to, size_t room, struct str s)
{
	size_t n = s.n < room - 1 ? s.n : room - 1;

	if (n)
		memcpy(to, s.p, n);
	to[n] = 0;
}

static bool can_read_memory(int process)
{
	int fd = openat(process, "mem", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void look_at_jvm(struct runtime *r, int process)
{
	struct text cmdline = { 0 }, variables = { 0 };
	struct jvm j;

	r->readable = can_read_memory(process);
	r->asked = read_proc(process, "cmdline", &cmdline, OPTIONS_MAX);
	r->asked = read_proc(process, "environ", &variables, OPTIONS_MAX) && r->asked;
	j = jvm_options(text_view(&cmdline), text_view(&variables), read_option_file, &process);
	r->frame_pointers = j.frame_pointers;
	copy(r->main, sizeof(r->main), str_from(j.main, (size_t)(str_rfind(j.main, '/') + 1)));
	text_free(&cmdline);
	text_free(&variables);
}

static void read_names(struct runtime *r, int process, struct text *t)
{
	struct str status;

	t->n = 0;
	read_proc(process, "comm", t, 64);
	copy(r->comm, sizeof(r->comm),
	     str_trim(str_head(text_view(t), t->n && t->p[t->n - 1] == '\n' ? t->n - 1 : t->n)));
	t->n = 0;
	r->inner_pid = r->pid;
	read_proc(process, "status", t, 65536);
	status = text_view(t);
	while (status.n) {
		struct str line = str_cut(&status, '\n');
		uint64_t inner;

		if (str_starts(line, STR("NSpid:")) &&
		    str_u64(str_from(line, (size_t)(str_rfind(line, '\t') + 1)), &inner))
			r->inner_pid = (pid_t)inner;
	}
}

static bool has_map(const struct runtime *r, int process)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)r->inner_pid);
	fd = open_inside(process, path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct all {
	void (*f)(void *arg, const struct runtime *r);
	void *arg;
	struct runtimes_count count;
	struct text maps, names;
};

static void look_at(struct all *a, int process, pid_t pid)
{
	struct runtime r = { .pid = pid };

	a->maps.n = 0;
	if (!read_proc(process, "maps", &a->maps, TEXT_MAX)) {
		a->count.processes += errno == EACCES || errno == EPERM;
		a->count.forbidden += errno == EACCES || errno == EPERM;
		return;
	}
	if (!a->maps.n)
		return; /* a thread of the kernel */
	a->count.processes++;
	runtime_maps(&r, text_view(&a->maps));
	if (!r.jvm && r.code < RUNTIME_CODE)
		return;
	read_names(&r, process, &a->names);
	r.map = r.map || has_map(&r, process);
	if (r.jvm)
		look_at_jvm(&r, process);
	a->f(a->arg, &r);
}

struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *r), void *arg)
{
	struct all a = { .f = f, .arg = arg };
	DIR *d = opendir("/proc");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		uint64_t pid;
		int process;

		if (!str_u64(str_of(e->d_name), &pid) || pid > INT32_MAX || (pid_t)pid == getpid())
			continue;
		process = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		look_at(&a, process, (pid_t)pid);
		close(process);
	}
	if (d)
		closedir(d);
	text_free(&a.maps);
	text_free(&a.names);
	return a.count;
}
