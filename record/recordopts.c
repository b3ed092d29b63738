/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recordopts.h"

#include "common/arena.h"
#include "record/perf/events.h"
#include "record/perf/hints.h"
#include "record/processes/cgroups.h"
#include "common/text.h"
#include "record/unwind/samplestack.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_PAGE 4096
/* operands SECONDS up to this value, in s, are never taken for a PID */
#define OPERAND_USUAL 3600
/* shortest recording in ns */
#define SHORTEST_NS (SECOND_NS / 100)
/* DIR of the systemd units, the cron line and the manifests in examples/ */
#define INSTALLED_DIR "/var/lib/pj"

/* ---- values of options ------------------------------------------------------------------------------------------ */

static void opt_age(void *to, const char *value, const char *name)
{
	*(uint64_t *)to = opt_duration(value, name, 0, OPT_TIME_MOST) / SECOND_NS;
}

/* Sets a path. Exits with a message if it looks like an option: perf record has -d without a value. */
static void opt_path(void *to, const char *value, const char *name)
{
	if (value[0] == '-' && value[1])
		die_usage("%s: '%s' is an option in place of a value; ./%s would be a path", name, value, value);
	*(const char **)to = value;
}

static void opt_length(void *to, const char *value, const char *name)
{
	*(uint64_t *)to = opt_duration(value, name, SHORTEST_NS, 365 * 86400 * SECOND_NS);
}

/* Parses the length of a window, in s: windows are named by the second at which they begin. */
static void opt_window(void *to, const char *value, const char *name)
{
	uint64_t ns = opt_duration(value, name, SECOND_NS, 86400 * SECOND_NS);

	if (ns % SECOND_NS)
		die_usage("%s: '%s' is not a whole number of seconds: -s %s records for that time", name, value, value);
	*(uint64_t *)to = ns / SECOND_NS;
}

static void opt_share(void *to, const char *value, const char *name)
{
	char *end;
	double share = strtod(value, &end);

	if (end == value || !(byte_is_digit(*value) || *value == '.') || (*end == '%' ? end[1] : *end) ||
	    !(share >= 0 && share <= 100))
		die_usage("%s: '%s' is not a percentage such as 5%%", name, value);
	*(double *)to = share / 100;
}

static void opt_pids(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct str all = str_of(value);

	/* without this check, `-p "$(pgrep NAME)"` of a program that does not run would record the whole host */
	if (!all.n || all.p[0] == '-')
		die_usage("%s: there is no PID: pgrep -d, NAME prints those of a program that runs", name);
	while (all.n) {
		struct str one = str_cut(&all, ',');
		uint64_t pid;

		if (!str_u64(one, &pid) || pid == 0 || pid > INT32_MAX)
			die_usage("%s: '%s' is not a list of PIDs such as 123,456; pgrep -d, NAME prints those of a "
				  "program",
				  name, value);
		request->pid = mem_grow(request->pid, sizeof(*request->pid), request->npids + 1);
		request->pid[request->npids++] = (uint32_t)pid;
	}
}

/* Appends the events to the events of earlier --event options, separated by a comma. */
static void opt_events(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct text text = { 0 };

	(void)name;
	events_check(value);
	text_printf(&text, "%s,%s", request->events ? request->events : "", value);
	text_char(&text, 0);
	free(request->event_list);
	request->events = request->event_list = text.p;
}

static void opt_offcpu(void *to, const char *value, const char *name)
{
	struct request *request = to;

	request->offcpu = true;
	if (value && (!str_u64(str_of(value), &request->offcpu_least_us) || request->offcpu_least_us > 3600000000))
		die_usage("%s: '%s' is not a number of microseconds such as 50", name, value);
}

static void opt_wall(void *to, const char *value, const char *name)
{
	struct request *request = to;

	(void)value;
	(void)name;
	request->offcpu = request->wall = true;
}

#define WAYS "fp|tables|auto|verify" /* values of --unwind, in the order of enum request_unwind */

static void opt_unwind(void *to, const char *value, const char *name)
{
	*(enum request_unwind *)to = (enum request_unwind)opt_choice(value, name, WAYS);
}

#define INTERPRETERS "off|on|all|auto" /* values of --interpreters, in the order of enum interpreters_choice */

static void opt_interpreters(void *to, const char *value, const char *name)
{
	*(enum interpreters_choice *)to = (enum interpreters_choice)opt_choice(value, name, INTERPRETERS);
}

/* Returns the path of a cgroup's directory, from malloc. If `name` is an absolute path that exists, returns it;
 * otherwise the path below the mount point of the hierarchy that perf events use. */
static char *cgroup_dir(struct str name)
{
	struct text text = { 0 }, path = { 0 };
	struct str point, root;
	struct stat status;

	text_str(&path, name);
	text_char(&path, 0);
	fullio_read_at(AT_FDCWD, "/proc/self/mountinfo", &text, SIZE_MAX);
	if ((name.p[0] != '/' || name.n == 1 || stat(path.p, &status)) &&
	    cgroups_parse_mountinfo(text_view(&text), &point, &root)) {
		path.n = 0;
		text_str(&path, point);
		text_add(&path, name.p[0] == '/' ? "" : "/");
		text_str(&path, name);
		text_char(&path, 0);
	}
	text_free(&text);
	return path.p;
}

static void opt_cgroups(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct str all = str_of(value);

	if (!all.n)
		die_usage("%s: there is no name of a cgroup", name);
	while (all.n) {
		struct str one = str_cut(&all, ',');

		if (!one.n)
			die_usage("%s: '%s' has an empty name", name, value);
		request->cgroup = mem_grow(request->cgroup, sizeof(*request->cgroup), request->ncgroups + 1);
		request->cgroup[request->ncgroups++] = cgroup_dir(one);
	}
}

/* Parses --call-graph as in perf record: fp, dwarf[,BYTES] or lbr. */
static void opt_call_graph(void *to, const char *value, const char *name)
{
	struct request *request = to;
	struct str size = str_of(value), how = str_cut(&size, ',');

	if (str_eq(how, STR("fp"))) {
		request->unwind = UNWIND_BY_POINTERS;
	} else if (str_eq(how, STR("dwarf"))) {
		if (size.n)
			opt_bytes(&request->stack_bytes, value + how.n + 1, name);
	} else if (str_eq(how, STR("lbr"))) {
		die_usage("%s=lbr: pjrecord has no branch stacks: leave it out, stacks are complete without", name);
	} else {
		die_usage("%s: '%s' is neither fp nor dwarf[,BYTES]", name, value);
	}
}

/* Parses -F as in perf record: a number of Hz, or "max", the highest frequency that the kernel allows. */
static void opt_frequency(void *to, const char *value, const char *name)
{
	struct hint_facts facts;

	if (str_eq(str_of(value), STR("max"))) {
		hint_gather(&facts);
		if (facts.max_sample_rate <= 0)
			die_usage("%s=max: kernel.perf_event_max_sample_rate cannot be read: give a number of Hz",
				  name);
		*(uint64_t *)to = (uint64_t)facts.max_sample_rate;
	} else if (!str_u64(str_of(value), to)) {
		die_usage("%s: '%s' is neither a whole number of Hz nor max", name, value);
	}
}

/* ---- options of perf record ------------------------------------------------------------------------------------- */

static NORETURN void opt_threads(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	die_usage("%s: pjrecord records all threads of a process: -p PID; pjfold --by=thread separates them", name);
}

/* Options of perf record without an equivalent of the same form, and what there is instead. */
static const struct {
	const char *letter, *name, *advice;
} of_perf[] = {
	{ "-C", "--cpu", "pjrecord records all CPUs: leave it out" },
	{ "-b", "--branch-any", "pjrecord has no branch stacks: leave it out, stacks are complete without" },
	{ "-i", "--no-inherit", "pjrecord records the threads and processes that a target starts: leave it out" },
	{ "-D", "--delay", "start the program first, and record it later: -p PID" },
	{ "-k", "--clockid", "times are those of CLOCK_MONOTONIC: leave it out" },
	{ "", "--switch-output", "-d DIR -w SECONDS writes a file for each window" },
};

static NORETURN void opt_of_perf(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	for (size_t i = 0; i < countof(of_perf); i++)
		if (strcmp(name, of_perf[i].letter) == 0 || strcmp(name, of_perf[i].name) == 0)
			die_usage("%s: %s", name, of_perf[i].advice);
	die_usage("unknown option '%s'", name);
}

static NORETURN void opt_user_only(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	die_usage("%s: a modifier of the event does this: -e cycles:u, or -e cpu-clock:u without hardware counters",
		  name);
}

static NORETURN void opt_kernel_only(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	die_usage("%s: a modifier of the event does this: -e cycles:k, or -e cpu-clock:k without hardware counters",
		  name);
}

static void opt_nothing(void *to, const char *value, const char *name)
{
	(void)to;
	(void)value;
	(void)name;
}

static void opt_once(void *to, const char *value, const char *name)
{
	(void)value;
	(void)name;
	((struct request *)to)->count = 1;
}

static void opt_keep_symbols(void *to, const char *value, const char *name)
{
	struct request *request = to;

	if (str_eq(str_of(value), STR("none")))
		request->keep = false;
	else if (str_eq(str_of(value), STR("all")))
		request->keep_all = true;
	else
		opt_bytes(&request->keep_symbols, value, name);
}

/* ---- operands of the command line ------------------------------------------------------------------------------- */

/* Returns true if an operand is not SECONDS, so that the command begins with it, as in perf record: it does not begin
 * with a digit, or contains '/'. */
static bool recordopts_is_command(const char *operand)
{
	return !byte_is_digit(operand[0]) || strchr(operand, '/');
}

/* Exits with a message if the operand SECONDS is probably meant as a PID: it is larger than OPERAND_USUAL, and a
 * process with this PID exists. */
static void check_no_pid(const struct request *request)
{
	uint64_t number = request->seconds;

	if (request->window_operand && number > OPERAND_USUAL && number <= INT32_MAX &&
	    (kill((pid_t)number, 0) == 0 || errno == EPERM))
		die_usage("'%llu': the operand is the length of a window in s; -p %llu records the process, -w %llu is "
			  "that length",
			  (unsigned long long)number, (unsigned long long)number, (unsigned long long)number);
}

/* Reads the operands SECONDS and FREQUENCY, in this order (that of the script that pjrecord replaces), and the command
 * after them. command: number of words of the command, which are the last operands; 0: no command. */
static void recordopts_take_operands(struct request *request, char **operand, size_t command)
{
	size_t n = 0, plain;

	while (operand[n])
		n++;
	plain = command <= n ? n - command : n;
	if (command && command <= n)
		request->command = operand + plain;
	request->window_operand = plain > 0;
	for (size_t i = 0; i < plain; i++) {
		uint64_t ns;

		if (i == 0 && plain == 1 && !str_u64(str_of(operand[i]), &ns) &&
		    opt_is_duration(str_of(operand[i]), &ns))
			die_usage("'%s': -s %s records for this time", operand[i], operand[i]);
		if (i == 2 || !str_u64(str_of(operand[i]), i ? &request->frequency : &request->seconds))
			die_usage("'%s': operands are SECONDS of a window and FREQUENCY, or a command: pjrecord -- %s",
				  operand[i], operand[i]);
	}
	check_no_pid(request);
}

/* Limits the number of windows to as many as fit into --seconds. The first window starts a moment after the start of
 * the recording. So without the limit, the end of the recording would fall into an additional window of some ms. */
static void limit_windows(struct request *request, bool in_windows)
{
	uint64_t window_ns = request->seconds * SECOND_NS, windows = (request->length_ns + window_ns - 1) / window_ns;

	if (in_windows && windows && !request->align && (!request->count || request->count > windows))
		request->count = windows;
}

static void recordopts_check(struct request *request, bool in_windows)
{
	if (request->host + (request->npids > 0) + (request->ncgroups > 0) > 1)
		die_usage("-a, -p and -G exclude each other");
	if (request->wall && request->offcpu_least_us)
		die_usage("--wall includes the shortest waits: leave out --off-cpu=%llu",
			  (unsigned long long)request->offcpu_least_us);
	if (request->wall && request->idle)
		die_usage("--wall records the times of threads: leave out --idle");
	if (request->wall && request->ncgroups)
		die_usage(
			"--wall: no record shows that a thread leaves a cgroup: record its processes (-p) or the host (-a)");
	request->events = request->events ? request->events : "auto";
	request->seconds = request->seconds == UINT64_MAX ? 30 : request->seconds;
	if (!request->seconds || request->seconds > 86400)
		die_usage("--window: from 1 to 86400 seconds");
	if (!request->frequency || request->frequency > 1000000)
		die_usage("--frequency: from 1 to 1000000 Hz");
	if (request->ring_bytes && request->ring_bytes < 2 * RING_PAGE)
		die_usage("--ring-size: at least 8K: it is in bytes, and %llu pages of perf are %lluK",
			  (unsigned long long)request->ring_bytes,
			  (unsigned long long)request->ring_bytes * RING_PAGE / 1024);
	if (request->ring_bytes &&
	    (request->ring_bytes & (request->ring_bytes - 1) || request->ring_bytes > (UINT64_C(1) << 30)))
		die_usage("--ring-size: a power of two, from 8K to 1G");
	request->stack_given = request->stack_bytes != UINT64_MAX;
	request->stack_bytes = request->stack_given ? request->stack_bytes : SAMPLESTACK_STACK;
	if (request->stack_bytes % 8 || request->stack_bytes < 1024 || request->stack_bytes > SAMPLESTACK_STACK_MOST)
		die_usage("--stack-size, --call-graph=dwarf,BYTES: a multiple of 8, from 1K to 56K");
	limit_windows(request, in_windows);
	if (request->max_frames < 16 || request->max_frames > MAX_FRAMES_LIMIT)
		die_usage("--max-frames: from 16 to %u", MAX_FRAMES_LIMIT);
	/* as perf record does, a recording with an end but without a destination is written to perf.data */
	if ((request->command || request->length_ns) && !request->output && !in_windows)
		request->output = "perf.data";
	if (!request->output && !request->dir && !request->count && !request->length_ns && !request->check &&
	    isatty(STDOUT_FILENO))
		die_usage("a recording without an end writes to a directory: add -d DIR; or a length or a command: "
			  "pjrecord -s 10, pjrecord ./program");
	request->verbose = request->verbose && !request->quiet;
	request->dir_unspecified = !request->dir && (!request->check || access(INSTALLED_DIR, F_OK) != 0);
	if (!request->dir)
		request->dir = request->dir_unspecified ? "." : INSTALLED_DIR;
	if (request->output && in_windows)
		die_usage("--output writes one recording and excludes --window, --dir, --windows, --once, --align and "
			  "--replace");
	if (request->portable && (!request->output || str_eq(str_of(request->output), STR("-"))))
		die_usage("--portable needs -o FILE: names are looked up in the complete recording%s",
			  request->output ? ", which a pipe does not keep" : "; for windows use pjpack");
	if (request->portable && !request->keep)
		die_usage("--portable needs a symbol store: it excludes --keep-symbols=none");
	if (request->replace && request->align && request->count)
		die_usage("--replace begins at once: it excludes --align with --once or --windows");
}

static void recordopts_print_values(struct out *out, const char *option)
{
	struct text text = { 0 };

	if (strcmp(option, "event") == 0)
		events_list(&text);
	out_str(out, text_view(&text));
	text_free(&text);
}

/* ---- the table of options --------------------------------------------------------------------------------------- */

static void recordopts_add_targets(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Targets"),
		{ 'a', "all", NULL, OPT_FLAG, &request->host, NULL,
		  "record the whole host (the default without a command)" },
		{ 'p', "pid", "PID,...", OPT_CALL, request, opt_pids,
		  "record these processes and those that they start" },
		{ 'G', "cgroup", "CGROUP,...", OPT_CALL, request, opt_cgroups,
		  "record these cgroups: a path, or a name below /sys/fs/cgroup" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void recordopts_add_events(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Events"),
		{ 'F', "frequency", "HZ", OPT_CALL, &request->frequency, opt_frequency,
		  "samples a second on each busy CPU, or max (303)" },
		{ 'e', "event", "EVENT,...", OPT_CALL, request, opt_events,
		  "events: auto (cycles or cpu-clock), page-faults, java:alloc, ... (auto)" },
		{ 'c', "count", "N", OPT_U64, &request->period, NULL,
		  "sample every Nth occurrence of a counted event (1)" },
		{ 0, "off-cpu", "[=US]", OPT_CALL, request, opt_offcpu,
		  "also record off-CPU times of US microseconds or more" },
		{ 0, "wall", NULL, OPT_CALL_FLAG, request, opt_wall,
		  "record on-CPU and off-CPU times of each thread as one profile, in ns" },
		{ 0, "idle", NULL, OPT_FLAG, &request->idle, NULL, "also sample idle CPUs" },
		{ 't', "tid", "TID", OPT_CALL, request, opt_threads, NULL },
		{ 0, "all-user", NULL, OPT_CALL_FLAG, request, opt_user_only, NULL },
		{ 0, "all-kernel", NULL, OPT_CALL_FLAG, request, opt_kernel_only, NULL },
		/* no effect: perf compresses its perf.data; windows have callchains, which are much smaller than stack
		 * copies */
		{ 'z', NULL, NULL, OPT_CALL_FLAG, request, opt_nothing, NULL },
		/* no effect: samples have their times and periods */
		{ 'T', "timestamp", NULL, OPT_CALL_FLAG, request, opt_nothing, NULL },
		{ 'P', "period", NULL, OPT_CALL_FLAG, request, opt_nothing, NULL },
		{ 'C', "cpu", "[=CPU]", OPT_CALL, request, opt_of_perf, NULL },
		{ 'b', "branch-any", NULL, OPT_CALL_FLAG, request, opt_of_perf, NULL },
		{ 'i', "no-inherit", NULL, OPT_CALL_FLAG, request, opt_of_perf, NULL },
		{ 'D', "delay", "[=MS]", OPT_CALL, request, opt_of_perf, NULL },
		{ 'k', "clockid", "[=CLOCK]", OPT_CALL, request, opt_of_perf, NULL },
		{ 0, "switch-output", "[=SIZE]", OPT_CALL, request, opt_of_perf, NULL },
	};

	opt_table_add(table, rows, countof(rows));
}

static void recordopts_add_stacks(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Stacks"),
		{ 'g', NULL, NULL, OPT_CALL_FLAG, request, opt_nothing, NULL },
		{ 0, "call-graph", "HOW", OPT_CALL, request, opt_call_graph,
		  "as in perf record: fp, or dwarf[,BYTES] (stacks are always recorded)" },
		{ 0, "unwind", WAYS, OPT_CALL, &request->unwind, opt_unwind,
		  "auto (both), tables (unwind tables), fp (frame pointers), verify (auto)" },
		{ 0, "interpreters", INTERPRETERS, OPT_CALL, &request->interpreters, opt_interpreters,
		  "show functions of Python, node, Ruby, PHP, Perl (auto)" },
		{ 0, "stack-size", "SIZE", OPT_CALL, &request->stack_bytes, opt_bytes,
		  "bytes of the stack copied with each sample, for unwind tables (24K)" },
		{ 0, "max-frames", "N", OPT_U64, &request->max_frames, NULL,
		  "most frames unwound by unwind tables (2048)" },
		{ 0, "tenant-bytes", "SIZE", OPT_CALL, &request->tenant_bytes, opt_bytes,
		  "limit of samples of a container or user a second (enough for all CPUs)" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void recordopts_add_output(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Output"),
		{ 's', "seconds", "SECONDS", OPT_CALL, &request->length_ns, opt_length,
		  "record so long; without -d or -w into one file, perf.data" },
		{ 'w', "window", "SECONDS", OPT_CALL, &request->seconds, opt_window, "length of a window (30)" },
		{ 'd', "dir", "DIR", OPT_CALL, &request->dir, opt_path, "write windows to DIR/out/EPOCH.data (.)" },
		{ 0, "directory", "DIR", OPT_CALL, &request->dir, opt_path, NULL },
		{ 'n', "windows", "N", OPT_U64, &request->count, NULL, "end after N windows" },
		{ '1', "once", NULL, OPT_CALL_FLAG, request, opt_once,
		  "record one window, as --windows=1; with --align for cron" },
		{ 0, "align", NULL, OPT_FLAG, &request->align, NULL,
		  "start windows at multiples of their length on the wall clock" },
		{ 0, "replace", NULL, OPT_FLAG, &request->replace, NULL,
		  "end the recorder of the same DIR and continue without a gap" },
		{ 'o', "output", "FILE", OPT_CALL, &request->output, opt_path,
		  "write one recording, no windows; - is standard output, for a pipe" },
		{ 0, "portable", NULL, OPT_FLAG, &request->portable, NULL,
		  "with -o: add the names of functions, so that any machine can fold it" },
		{ 0, "max-lost", "PCT", OPT_CALL, &request->max_lost, opt_share,
		  "exit with status 3 if more samples were lost, or off-CPU time unknown" },
		{ 0, "no-cmdline", NULL, OPT_NOFLAG, &request->cmdline, NULL,
		  "leave the command line out of the files" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "print no summary of each window" },
		{ 'v', "verbose", NULL, OPT_FLAG, &request->verbose, NULL,
		  "print all counts of each window, not one sentence" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void recordopts_add_retention(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Retention"),
		{ 0, "keep-bytes", "SIZE", OPT_CALL, &request->keep_bytes, opt_bytes,
		  "delete the oldest windows beyond SIZE, such as 2G" },
		{ 0, "keep-age", "TIME", OPT_CALL, &request->keep_age_s, opt_age,
		  "delete windows older than TIME, such as 7d" },
		{ 0, "min-free", "PCT", OPT_CALL, &request->min_free, opt_share,
		  "delete the oldest windows if less of the file system is free (5%)" },
		{ 0, "keep-symbols", "SIZE", OPT_CALL, request, opt_keep_symbols,
		  "limit of the symbol store: containers, JITs, kernel (1G); none; all" },
	};

	opt_table_add(table, rows, countof(rows));
}

static void recordopts_add_operation(struct opt_table *table, struct request *request)
{
	const struct opt rows[] = {
		OPT_GROUP("Operation"),
		{ 'm', "ring-size", "SIZE", OPT_CALL, &request->ring_bytes, opt_bytes,
		  "size of each CPU's ring of samples (as the host allows)" },
		{ 'u', "user", "USER", OPT_STR, &request->user, NULL, "become this user when started as root" },
		{ 0, "with-parent", NULL, OPT_FLAG, &request->with_parent, NULL, "end when the parent process ends" },
		{ 0, "foreground", NULL, OPT_FLAG, &request->foreground, NULL,
		  "let Ctrl-C end the command, also from a script's background job" },
		{ 0, "check", NULL, OPT_FLAG, &request->check, NULL,
		  "report which features work on this host and in DIR, and exit" },
	};

	opt_table_add(table, rows, countof(rows));
}

/* Sets the default values of all options. */
static void recordopts_set_defaults(struct request *request)
{
	*request = (struct request){
		.frequency = 303,
		.unwind = UNWIND_BY_BOTH,
		.interpreters = INTERPRETERS_AUTO,
		.stack_bytes = UINT64_MAX,
		.max_frames = MAX_FRAMES,
		.seconds = UINT64_MAX,
		.min_free = 0.05,
		.max_lost = -1,
		.keep = true,
		.cmdline = true,
	};
}

void record_parse(struct request *request, int argc, char **argv)
{
	struct opt_table table = { 0 };
	size_t command = 0;
	char **operand;
	struct tool tool = {
		.name = "pjrecord",
		.does = "sample this host into standard perf.data windows",
		.synopsis = "[options] [SECONDS [FREQUENCY]]\n       pjrecord [options] [--] COMMAND [ARGUMENT ...]",
		.example =
			"SECONDS is the length of a window (-w) without an end, FREQUENCY is -F; -s records for a time.\n\n"
			"example: pjrecord -s 10                  # this host, into perf.data\n"
			"         pjrecord -p 4711 -o - sleep 5 | pjfold | pjsvg > 4711.svg\n"
			"         pjrecord -d /var/lib/pj | while read w; do pjfold \"$w\" | pjsvg -o \"${w%.data}.svg\"; done\n"
			"         pjrecord -o - -- make | pjfold | pjsvg > make.svg",
		.libraries = LIBRARY_ZLIB,
		.command = &command,
		.starts_command = recordopts_is_command,
		.print_values = recordopts_print_values,
	};

	recordopts_add_targets(&table, request);
	recordopts_add_events(&table, request);
	recordopts_add_stacks(&table, request);
	recordopts_add_output(&table, request);
	recordopts_add_retention(&table, request);
	recordopts_add_operation(&table, request);
	tool.opts = table.opt;
	tool.nopts = table.n;
	recordopts_set_defaults(request);
	request->argv = mem_alloc(sizeof(*request->argv), (size_t)argc + 1);
	memcpy(request->argv, argv, (size_t)argc * sizeof(*argv));
	operand = opt_parse(&tool, argc, argv);
	free(table.opt);
	recordopts_take_operands(request, operand, command);
	recordopts_check(request, request->dir || request->seconds != UINT64_MAX || request->count || request->align ||
					  request->replace);
}

void record_free(struct request *request)
{
	for (size_t i = 0; i < request->ncgroups; i++)
		free(request->cgroup[i]);
	free(request->cgroup);
	free(request->pid);
	free(request->argv);
	free(request->event_list);
	*request = (struct request){ 0 };
}
