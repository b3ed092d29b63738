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
#include "runtimes/v8/v8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* maximum number of bytes that are read: TEXT_MAX of /proc/PID/maps, OPTIONS_MAX of a file with options; the rest is
 * ignored */
#define TEXT_MAX ((size_t)16 << 20)
#define OPTIONS_MAX ((size_t)1 << 20)

static const struct {
	const char *comm, *advice;
} advice[] = {
	{ "node", "record as root, or start it with node --perf-basic-prof (or NODE_OPTIONS)" },
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

/* Returns true if the path of a mapping stands for memory without a file. .NET's code is included: it is mapped twice
 * through a memfd named doublemapper. Other memfds are not, as they may hold programs that were started from them. */
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

void runtime_maps(struct runtime *runtime, struct str maps)
{
	while (maps.n) {
		struct str line = str_cut(&maps, '\n');
		struct mapped_file file = { 0 };
		struct mapping mapping = { 0 };

		if (!procfs_parse_map(line, &mapping, &file))
			continue;
		runtime->jvm = runtime->jvm || discover_is_libjvm(file.path);
		runtime->node = runtime->node || v8_is_library(file.path);
		runtime->map = runtime->map || runtimes_is_jitdump(file.path);
		runtime->code += runtimes_is_anonymous(file.path) ? mapping.length : 0;
	}
}

/* ---- reading of a process --------------------------------------------------------------------------------------- */

/* Appends the content of the file fd to text, up to max bytes in total; ignores the rest of a longer file. Returns
 * false if reading fails, or if text has max bytes already. */
static bool read_some(int fd, struct text *text, size_t max)
{
	return text->n < max && (fullio_read(fd, text, max - text->n) || errno == EFBIG);
}

/* Appends the content of a file in /proc/PID to text, up to max bytes in total; ignores the rest of a longer file.
 * Returns false with errno on failure, or if text has max bytes already. */
static bool runtimes_read_proc(int process, const char *name, struct text *text, size_t max)
{
	return text->n < max && (fullio_read_at(process, name, text, max - text->n) || errno == EFBIG);
}

/* Opens a regular file by its path inside the root directory of a target process. Returns a descriptor; -1 on
 * failure. */
static int open_inside(int process, const char *path)
{
	int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC),
	    fd = root >= 0 ? targetfile_open(root, str_of(path), true) : -1;

	if (root >= 0)
		close(root);
	return fd;
}

/* Implements jvm_read. process: pointer to a descriptor of /proc/PID. A relative name is resolved in the process's
 * current directory: for nearly all JVMs it is the directory in which they were started. */
static bool read_option_file(void *process, struct str name, struct text *text)
{
	struct text path = { 0 };
	char cwd[4096];
	ssize_t got = 0;
	bool good;
	int fd;

	if (name.n && name.p[0] != '/' && (got = readlinkat(*(int *)process, "cwd", cwd, sizeof(cwd))) < 0)
		return false;
	text_bytes(&path, cwd, (size_t)got);
	text_char(&path, '/');
	text_str(&path, name);
	text_char(&path, 0);
	fd = open_inside(*(int *)process, path.p);
	good = read_some(fd, text, OPTIONS_MAX);
	if (fd >= 0)
		close(fd);
	text_free(&path);
	return good;
}

static void runtimes_copy(char *to, size_t space, struct str string)
{
	size_t n = string.n < space - 1 ? string.n : space - 1;

	if (n)
		memcpy(to, string.p, n);
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

static void look_at_jvm(struct runtime *runtime, int process)
{
	struct text cmdline = { 0 }, variables = { 0 };
	struct jvm jvm;

	runtime->readable = can_read_memory(process);
	runtime->options_readable = runtimes_read_proc(process, "cmdline", &cmdline, OPTIONS_MAX);
	runtime->options_readable =
		runtimes_read_proc(process, "environ", &variables, OPTIONS_MAX) && runtime->options_readable;
	jvm = jvm_options(text_view(&cmdline), text_view(&variables), read_option_file, &process);
	runtime->frame_pointers = jvm.frame_pointers;
	runtimes_copy(runtime->main, sizeof(runtime->main), str_from(jvm.main, (size_t)(str_rfind(jvm.main, '/') + 1)));
	text_free(&cmdline);
	text_free(&variables);
}

static void runtimes_read_names(struct runtime *runtime, int process, struct text *text)
{
	struct str status;

	text->n = 0;
	runtimes_read_proc(process, "comm", text, 64);
	runtimes_copy(
		runtime->comm, sizeof(runtime->comm),
		str_trim(str_head(text_view(text), text->n && text->p[text->n - 1] == '\n' ? text->n - 1 : text->n)));
	text->n = 0;
	runtime->inner_pid = runtime->pid;
	runtimes_read_proc(process, "status", text, 65536);
	status = text_view(text);
	while (status.n) {
		struct str line = str_cut(&status, '\n');
		uint64_t inner;

		if (str_starts(line, STR("NSpid:")) &&
		    str_u64(str_from(line, (size_t)(str_rfind(line, '\t') + 1)), &inner))
			runtime->inner_pid = (pid_t)inner;
	}
}

static bool has_map(const struct runtime *runtime, int process)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)runtime->inner_pid);
	fd = open_inside(process, path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- functions of the helper process ---------------------------------------------------------------------------- */

/* Message of the helper process to its parent. REPORT_AT comes before the helper examines a process, REPORT_RUNTIME for
 * each process that generates code, REPORT_END at the end. */
struct report {
	enum { REPORT_AT, REPORT_RUNTIME, REPORT_END } kind;
	/* the examined process; for REPORT_AT, only its pid is set */
	struct runtime runtime;
	/* counts of this helper process so far */
	struct runtimes_count count;
};

struct survey {
	int out;
	struct runtimes_count count;
	struct text maps, names;
};

static void put_report(struct survey *survey, struct report *report)
{
	report->count = survey->count;
	if (write(survey->out, report, sizeof(*report)) != (ssize_t)sizeof(*report))
		_exit(1); /* the parent has ended */
}

static void runtimes_look_at(struct survey *survey, int process, pid_t pid)
{
	struct report report = { .kind = REPORT_AT, .runtime.pid = pid };
	struct runtime *runtime = &report.runtime;

	put_report(survey, &report);
	report.kind = REPORT_RUNTIME;
	survey->maps.n = 0;
	if (!runtimes_read_proc(process, "maps", &survey->maps, TEXT_MAX)) {
		survey->count.processes += errno == EACCES || errno == EPERM;
		survey->count.forbidden += errno == EACCES || errno == EPERM;
		return;
	}
	if (!survey->maps.n)
		return; /* a kernel thread, which has no mappings */
	survey->count.processes++;
	runtime_maps(runtime, text_view(&survey->maps));
	if (!runtime->jvm && runtime->code < RUNTIME_CODE)
		return;
	runtimes_read_names(runtime, process, &survey->names);
	runtime->map = runtime->map || has_map(runtime, process);
	if (runtime->jvm)
		look_at_jvm(runtime, process);
	put_report(survey, &report);
}

/* Runs in the helper process: examines all processes with pids above `last`, except the parent and itself, and exits.
 * out: pipe for the messages to the parent. */
static NORETURN void survey_processes(int out, pid_t parent, pid_t last)
{
	struct survey survey = { .out = out };
	struct report end = { .kind = REPORT_END };
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	/* /proc lists processes in order of their pids, so `last` is the process at which the previous helper
	 * stopped */
	while (dir && (entry = readdir(dir))) {
		uint64_t pid;
		int process;

		if (!str_u64(str_of(entry->d_name), &pid) || pid > INT32_MAX || (pid_t)pid <= last ||
		    (pid_t)pid == parent || (pid_t)pid == getpid())
			continue;
		process = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		runtimes_look_at(&survey, process, (pid_t)pid);
		close(process);
	}
	put_report(&survey, &end);
	_exit(0);
}

/* ---- functions of the parent ------------------------------------------------------------------------------------ */

/* Reads the next message of the helper process. Returns false if no message came within RUNTIMES_STALL_MS, or if the
 * helper process has ended. */
static bool get_report(int in, struct report *report)
{
	struct pollfd polled = { .fd = in, .events = POLLIN };

	return poll(&polled, 1, RUNTIMES_STALL_MS) == 1 &&
	       read(in, report, sizeof(*report)) == (ssize_t)sizeof(*report);
}

/* Runs one helper process for the processes with pids above *last. Sets *last to the pid of the last process that it
 * began to examine. Adds its counts to *n. Returns true if the helper process examined all processes; false if it hung
 * or failed. */
static bool run_survey(struct runtimes_count *n, pid_t *last, void (*f)(void *arg, const struct runtime *runtime),
		       void *arg)
{
	struct report report = { .kind = REPORT_AT };
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
	while (child > 0 && report.kind != REPORT_END && get_report(reports[0], &report)) {
		count = report.count;
		if (report.kind == REPORT_AT)
			*last = report.runtime.pid;
		else if (report.kind == REPORT_RUNTIME)
			f(arg, &report.runtime);
	}
	close(reports[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL,
			/* does not wait for a helper process that hangs: even SIGKILL may not end it */
			report.kind == REPORT_END ? 0 : WNOHANG);
	}
	n->processes += count.processes;
	n->forbidden += count.forbidden;
	return report.kind == REPORT_END;
}

struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *runtime), void *arg)
{
	struct runtimes_count n = { 0 };
	pid_t last = 0;

	while (n.stalled < RUNTIMES_STALLS_MAX && !run_survey(&n, &last, f, arg))
		n.stalled++;
	return n;
}
