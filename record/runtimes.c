/* SPDX-License-Identifier: Apache-2.0 */
#include "record/runtimes.h"

#include "common/process/helperprocess.h"
#include "runtimes/hotspot/discover.h"
#include "common/files/targetfile.h"
#include "record/jvms.h"
#include "record/processes/processes.h"
#include "record/processes/procfs.h"
#include "common/process/taskid.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
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
static bool runtimes_is_anonymous(struct str path)
{
	return str_eq(path, STR("//anon")) || str_starts(path, STR("[anon")) || str_starts(path, STR("[heap]")) ||
	       str_starts(path, STR("/memfd:doublemapper"));
}

static bool runtimes_is_jitdump(struct str path)
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
		r->map = r->map || runtimes_is_jitdump(f.path);
		r->code += runtimes_is_anonymous(f.path) ? m.length : 0;
	}
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Up to most bytes in t; of more, those. */
static bool read_some(int fd, struct text *t, size_t max)
{
	return t->n < max && (fullio_read(fd, t, max - t->n) || errno == EFBIG);
}

/* A file of /proc/PID; false with errno. */
static bool runtimes_read_proc(int process, const char *name, struct text *t, size_t max)
{
	return t->n < max && (fullio_read_at(process, name, t, max - t->n) || errno == EFBIG);
}

/* A regular file of that process. */
static int open_inside(int process, const char *path)
{
	int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC),
	    fd = root >= 0 ? targetfile_open(root, str_of(path), true) : -1;

	if (root >= 0)
		close(root);
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

static void runtimes_copy(char *to, size_t space, struct str s)
{
	size_t n = s.n < space - 1 ? s.n : space - 1;

	if (n)
		memcpy(to, s.p, n);
	to[n] = 0;
}

static bool can_read_memory(int process)
{
	struct taskid_user user;
	struct taskid id;
	int fd = -1;

	if (!taskid_read(process, &id) || taskid_open_memory(process, &id, &user, &fd) != TASKID_SAME)
		return false;
	close(fd);
	return true;
}

static void look_at_jvm(struct runtime *r, int process)
{
	struct text cmdline = { 0 }, variables = { 0 };
	struct jvm j;

	r->readable = can_read_memory(process);
	r->is_requested = runtimes_read_proc(process, "cmdline", &cmdline, OPTIONS_MAX);
	r->is_requested = runtimes_read_proc(process, "environ", &variables, OPTIONS_MAX) && r->is_requested;
	j = jvm_options(text_view(&cmdline), text_view(&variables), read_option_file, &process);
	r->frame_pointers = j.frame_pointers;
	runtimes_copy(r->main, sizeof(r->main), str_from(j.main, (size_t)(str_rfind(j.main, '/') + 1)));
	text_free(&cmdline);
	text_free(&variables);
}

static void runtimes_read_names(struct runtime *r, int process, struct text *t)
{
	struct str status;

	t->n = 0;
	runtimes_read_proc(process, "comm", t, 64);
	runtimes_copy(r->comm, sizeof(r->comm),
		      str_trim(str_head(text_view(t), t->n && t->p[t->n - 1] == '\n' ? t->n - 1 : t->n)));
	t->n = 0;
	r->inner_pid = r->pid;
	runtimes_read_proc(process, "status", t, 65536);
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

/* ---- the child ------------------------------------------------------------------------------------------------ */

/* What the child writes: before each process at which it looks (kind AT), of each runtime, and at the end. */
struct report {
	enum { REPORT_AT, REPORT_RUNTIME, REPORT_END } kind;
	struct runtime runtime;      /* AT: pid only */
	struct runtimes_count count; /* so far, of this child */
};

struct survey {
	int out;
	struct runtimes_count count;
	struct text maps, names;
};

static void put_report(struct survey *s, struct report *r)
{
	r->count = s->count;
	if (write(s->out, r, sizeof(*r)) != (ssize_t)sizeof(*r))
		_exit(1); /* the parent is gone */
}

static void runtimes_look_at(struct survey *s, int process, pid_t pid)
{
	struct report report = { .kind = REPORT_AT, .runtime.pid = pid };
	struct runtime *r = &report.runtime;

	put_report(s, &report);
	report.kind = REPORT_RUNTIME;
	s->maps.n = 0;
	if (!runtimes_read_proc(process, "maps", &s->maps, TEXT_MAX)) {
		s->count.processes += errno == EACCES || errno == EPERM;
		s->count.forbidden += errno == EACCES || errno == EPERM;
		return;
	}
	if (!s->maps.n)
		return; /* a thread of the kernel */
	s->count.processes++;
	runtime_maps(r, text_view(&s->maps));
	if (!r->jvm && r->code < RUNTIME_CODE)
		return;
	runtimes_read_names(r, process, &s->names);
	r->map = r->map || has_map(r, process);
	if (r->jvm)
		look_at_jvm(r, process);
	put_report(s, &report);
}

/* Looks at all processes with numbers above `last`, but ours. */
static NORETURN void survey_processes(int out, pid_t parent, pid_t last)
{
	struct survey s = { .out = out };
	struct report end = { .kind = REPORT_END };
	DIR *d = opendir("/proc");
	const struct dirent *e;

	while (d && (e = readdir(d))) { /* in the order of their numbers */
		uint64_t pid;
		int process;

		if (!str_u64(str_of(e->d_name), &pid) || pid > INT32_MAX || (pid_t)pid <= last ||
		    (pid_t)pid == parent || (pid_t)pid == getpid())
			continue;
		process = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		runtimes_look_at(&s, process, (pid_t)pid);
		close(process);
	}
	put_report(&s, &end);
	_exit(0);
}

/* ---- the parent ----------------------------------------------------------------------------------------------- */

/* The next report; false: the child did not write one in time, or ended. */
static bool get_report(int in, struct report *r)
{
	struct pollfd p = { .fd = in, .events = POLLIN };

	return poll(&p, 1, RUNTIMES_STALL_MS) == 1 && read(in, r, sizeof(*r)) == (ssize_t)sizeof(*r);
}

/* One child; *last is the number of the process that it looked at last. True: it looked at all. */
static bool run_survey(struct runtimes_count *n, pid_t *last, void (*f)(void *arg, const struct runtime *r), void *arg)
{
	struct report r = { .kind = REPORT_AT };
	struct runtimes_count count = { 0 };
	pid_t parent = getpid(), child;
	int reports[2];

	if (pipe2(reports, O_CLOEXEC) < 0)
		return false;
	child = fork();
	if (child == 0) {
		helperprocess_become("pjrecord-check", reports[1]);
		survey_processes(HELPERPROCESS_FD, parent, *last);
	}
	close(reports[1]);
	while (child > 0 && r.kind != REPORT_END && get_report(reports[0], &r)) {
		count = r.count;
		if (r.kind == REPORT_AT)
			*last = r.runtime.pid;
		else if (r.kind == REPORT_RUNTIME)
			f(arg, &r.runtime);
	}
	close(reports[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, r.kind == REPORT_END ? 0 : WNOHANG); /* one that hangs may not even be killable */
	}
	n->processes += count.processes;
	n->forbidden += count.forbidden;
	return r.kind == REPORT_END;
}

struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *r), void *arg)
{
	struct runtimes_count n = { 0 };
	pid_t last = 0;

	while (n.stalled < RUNTIMES_STALLS_MAX && !run_survey(&n, &last, f, arg))
		n.stalled++;
	return n;
}
