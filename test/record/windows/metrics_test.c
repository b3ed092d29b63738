/* metrics_test - counters go on from what the file says, whoever wrote it; the summary names all that was lost. */
/* covers: record/windows/metrics.c */
#include "record/processes/budgets.h"
#include "record/windows/metrics.h"

#include "common/diag.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-metrics-test.XXXXXX";
static int dir_fd;

static struct str content(void)
{
	static char buf[65536];
	int fd = openat(dir_fd, "pjrecord.prom", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	return (struct str){ buf, n > 0 ? (size_t)n : 0 };
}

/* The value of a series, as it stands there; empty: it is not there. */
static struct str value(struct str text, const char *series)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_starts(line, str_of(series)) && line.n > strlen(series) && line.p[strlen(series)] == ' ')
			return str_from(line, strlen(series) + 1);
	}
	return (struct str){ 0 };
}

static bool well_formed(void)
{
	char command[1000];
	const char *top = getenv("PJ_TOP");

	fflush(stdout);
	snprintf(
		command, sizeof(command),
		"awk -f '%s/test/lib/prom.awk' %s/pjrecord.prom | sed 's/^/# /'; awk -f '%s/test/lib/prom.awk' %s/pjrecord.prom >/dev/null",
		top ? top : ".", dir, top ? top : ".", dir);
	return system(command) == 0;
}

static struct metrics one(void)
{
	struct window_report r = {
		.begin = 1500000000,
		.end = 31500000001,
		.samples = 1000,
		.bytes = 123456,
		.processes = 3,
		.loss = { .samples = 10,
			  .records = 2,
			  .throttled = 3,
			  .unknown = 4,
			  .late = 5,
			  .ring_high = 70,
			  .depth = 6 },
		.unwinding = { .stacks = 9,
			       .complete = 5,
			       .cut = 1,
			       .broken = 3,
			       .no_stack = 1,
			       .other_stack = 7,
			       .no_rule = 2,
			       .late = 4 },
		.saved = { .binaries = 3, .maps = 2, .failed[SYMSAVER_GONE] = 7, .dropped = 8, .crashed = 1 },
		.helpers = { .hung = 3, .avoided = 5, .lingering = 2 }
	};
	struct metrics m = { 0 };

	metrics_add(&m, &r);
	m.dropped[DROPPED_DISK] = 1;
	m.dropped[DROPPED_IO] = 2;
	m.deleted[DELETED_FREE] = 7;
	m.cpu_us = 1500;
	m.last_success = 1700000000;
	m.rss = 4096;
	return m;
}

static void adds_up(void)
{
	struct metrics m = one();
	struct stat st;

	ok(metrics_write(&m, dir_fd), "a first file");
	ok(m.windows == 0 && m.loss.samples == 0, "what was written is not new any more");
	ok(well_formed(), "well formed");
	is_str(value(content(), "pj_record_samples_total"), STR("1000"), "samples");
	is_str(value(content(), "pj_record_seconds_total"), STR("30.000000001"), "seconds, exactly");
	is_str(value(content(), "pj_record_windows_dropped_total{reason=\"io\"}"), STR("2"), "a series with a label");
	is_str(value(content(), "pj_record_windows_deleted_total{reason=\"age\"}"), STR("0"),
	       "one that never happened is there");
	is_str(value(content(), "pj_record_ring_high_ratio"), STR("0.070"), "a share");
	m = one();
	m.last_success = 0;
	m.rss = 8192;
	ok(metrics_write(&m, dir_fd) && well_formed(), "a second window");
	is_str(value(content(), "pj_record_samples_total"), STR("2000"), "counters add up");
	is_str(value(content(), "pj_record_seconds_total"), STR("60.000000002"), "seconds, too");
	is_str(value(content(), "pj_record_cpu_seconds_total"), STR("0.003000"), "and processor time");
	is_str(value(content(), "pj_record_lost_samples_total"), STR("20"), "and losses");
	is_str(value(content(), "pj_record_cut_stacks_total"), STR("12"), "of all kinds");
	is_str(value(content(), "pj_record_stacks_total{end=\"root\"}"), STR("10"), "how stacks ended");
	is_str(value(content(), "pj_record_broken_stacks_total{reason=\"rule\"}"), STR("4"), "and why");
	is_str(value(content(), "pj_record_stacks_without_tables_total"), STR("8"), "tables that came too late");
	is_str(value(content(), "pj_record_kept_for_fold_total{kind=\"jit\"}"), STR("4"), "what was kept");
	is_str(value(content(), "pj_record_not_kept_total{reason=\"gone\"}"), STR("14"), "what was not");
	is_str(value(content(), "pj_record_not_kept_total{reason=\"busy\"}"), STR("16"), "what was not even told");
	is_str(value(content(), "pj_record_keepers_lost_total{reason=\"crashed\"}"), STR("2"), "who did not keep it");
	is_str(value(content(), "pj_record_helpers_lost_total{helper=\"tables\",reason=\"hung\"}"), STR("6"),
	       "helper processes that hung");
	is_str(value(content(), "pj_record_helpers_avoided_total{helper=\"tables\"}"), STR("10"),
	       "  and what they were not asked for");
	is_str(value(content(), "pj_record_helpers_lingering{helper=\"tables\"}"), STR("2"),
	       "  and those that have not ended");
	is_str(value(content(), "pj_record_resident_bytes"), STR("8192"), "gauges do not");
	is_str(value(content(), "pj_record_last_success_timestamp_seconds"), STR("1700000000"),
	       "but the last success stays");
	ok(fstatat(dir_fd, "pjrecord.prom", &st, 0) == 0 && (st.st_mode & 07777) == 0640, "its mode");
	ok(faccessat(dir_fd, ".pjrecord.prom.tmp", F_OK, 0) < 0, "nothing is left over");
}

static void put(const char *text)
{
	int fd = openat(dir_fd, "pjrecord.prom", O_WRONLY | O_CREAT | O_TRUNC, 0640);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void tenants(void)
{
	struct window_report r = { .samples = 1, .tenants = { .n = 2 } };
	struct metrics m = { 0 };

	r.tenants.row[0] = (struct pj_tenant){ .kind = TENANT_USER, .key = 1000, .samples = 5, .reads = 2 };
	r.tenants.row[1] = (struct pj_tenant){ .kind = TENANT_CONTAINER, .key = 0x0123456789abcdef, .mappings = 7 };
	r.tenants.others.samples = 1;
	r.tenants.row[0].jvms = 3;
	r.tenants.row[0].tables = 4;
	r.jvm_helpers = (struct helper_counts){ .hung = 6, .lingering = 1 };
	put("pj_record_over_budget_total{tenant=\"user 1000\",what=\"samples\"} 10\n"
	    "pj_record_over_budget_total{tenant=\"container 0123456789ab\",what=\"mappings\"} 100\n"
	    "pj_record_over_budget_total{tenant=\"nonsense\",what=\"mappings\"} 100\n");
	metrics_add(&m, &r);
	ok(metrics_write(&m, dir_fd), "tenants over budget are written");
	is_str(value(content(), "pj_record_over_budget_total{tenant=\"user 1000\",what=\"samples\"}"), STR("15"),
	       "  a user's count goes on");
	is_str(value(content(), "pj_record_over_budget_total{tenant=\"container 0123456789ab\",what=\"mappings\"}"),
	       STR("107"), "  a container's, too");
	is_str(value(content(), "pj_record_over_budget_total{tenant=\"user 1000\",what=\"jvms\"}"), STR("3"),
	       "  lookups in JVMs");
	is_str(value(content(), "pj_record_over_budget_total{tenant=\"user 1000\",what=\"tables\"}"), STR("4"),
	       "  and of unwind tables");
	is_str(value(content(), "pj_record_helpers_lost_total{helper=\"jvm\",reason=\"hung\"}"), STR("6"),
	       "  and helpers that read JVMs");
	is_str(value(content(), "pj_record_helpers_lingering{helper=\"jvm\"}"), STR("1"), "  that have not ended");
	is_str(value(content(), "pj_record_over_budget_total{tenant=\"others\",what=\"samples\"}"), STR("1"),
	       "  and that of all others");
	ok(str_find_str(content(), STR("nonsense")) < 0, "  what is no tenant is dropped");
}

static void damaged(void)
{
	static const struct {
		const char *line, *want, *what;
	} row[] = {
		{ "pj_record_samples_total 5", "1005", "without a newline" },
		{ "pj_record_samples_total -5\n", "1000", "a negative value starts again" },
		{ "pj_record_samples_total 5.5\n", "1000", "so does a fraction where there is none" },
		{ "pj_record_samples_total 99999999999999999999999\n", "1000", "one that does not fit" },
		{ "pj_record_samples_total 18446744073709551614\n", "18446744073709551615", "no counter wraps" },
		{ "pj_record_samples_totally 5\n", "1000", "another name" },
		{ "pj_record_samples_total\n\n \n# pj_record_samples_total 7\n", "1000", "garbage" },
		{ "pj_record_samples_total  5\n", "1000", "blanks" },
	};

	for (size_t i = 0; i < countof(row); i++) {
		struct metrics m = one();

		put(row[i].line);
		metrics_write(&m, dir_fd);
		is_str(value(content(), "pj_record_samples_total"), str_of(row[i].want), row[i].what);
	}
	for (size_t i = 0; i < 2; i++) {
		struct metrics m = one();

		put(i ? "pj_record_seconds_total 1.12345678901\n" : "pj_record_seconds_total 1.5\n");
		metrics_write(&m, dir_fd);
		is_str(value(content(), "pj_record_seconds_total"), i ? STR("30.000000001") : STR("31.500000001"),
		       "digits behind the point");
	}
}

static void elsewhere(void)
{
	struct metrics m = one();
	int nowhere = open("/proc/self", O_RDONLY | O_DIRECTORY);

	unlinkat(dir_fd, "pjrecord.prom", 0);
	if (symlinkat("/etc/passwd", dir_fd, "pjrecord.prom") < 0 ||
	    symlinkat("target", dir_fd, ".pjrecord.prom.tmp") < 0)
		abort();
	ok(metrics_write(&m, dir_fd) && well_formed(), "links are replaced, not followed");
	ok(faccessat(dir_fd, "target", F_OK, 0) < 0, "in either place");
	m = one();
	errno = 0;
	ok(!metrics_write(&m, nowhere) && errno != 0 && m.windows == 1, "a failure is one, and nothing is forgotten");
	close(nowhere);
}

/* Processes at once, as runs that overlap. metrics_write() gives up if it does not get the lock for 1000 attempts,
 * which happens on a busy machine, and leaves the metrics for the next call. */
static void together(void)
{
	bool good = true;
	pid_t pid[4];

	unlinkat(dir_fd, "pjrecord.prom", 0);
	fflush(stdout);
	for (size_t i = 0; i < countof(pid); i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			int own = open(dir, O_RDONLY | O_DIRECTORY);

			for (int k = 0; k < 50; k++) {
				struct metrics m = one();

				while (!metrics_write(&m, own))
					if (errno != EWOULDBLOCK)
						_exit(1);
			}
			_exit(0);
		}
	}
	for (size_t i = 0; i < countof(pid); i++) {
		int status = 1;

		good = waitpid(pid[i], &status, 0) == pid[i] && status == 0 && good;
	}
	ok(good, "runs at the same time write their counts");
	is_str(value(content(), "pj_record_samples_total"), STR("200000"), "  and lose none");
	unlinkat(dir_fd, "pjrecord.prom", 0);
}

/* While another process has the lock, nothing is written; the next call adds what the first one did not. */
static void locked(void)
{
	int other = open(dir, O_RDONLY | O_DIRECTORY), own = open(dir, O_RDONLY | O_DIRECTORY);
	struct metrics m = one();

	ok(flock(other, LOCK_EX) == 0 && !metrics_write(&m, own) && errno == EWOULDBLOCK && m.windows == 1,
	   "a lock that is held for long is a failure, and nothing is forgotten");
	flock(other, LOCK_UN);
	ok(metrics_write(&m, own) && m.windows == 0, "the next call writes");
	is_str(value(content(), "pj_record_samples_total"), STR("1000"), "  all of it");
	close(other);
	close(own);
	unlinkat(dir_fd, "pjrecord.prom", 0);
}

static struct str summary(const struct window_report *report)
{
	static struct text t;

	t.n = 0;
	metrics_summary(&t, report);
	return text_view(&t);
}

static void sentences(void)
{
	struct window_report r = { .end = 30000000000, .samples = 10, .processes = 2 };
	struct text t = { 0 };

	metrics_sentence(&t, &r);
	is_str(text_view(&t), STR("10 samples, 2 processes, 30 s"), "an idle host is no trouble");
	t.n = 0;
	r.samples = 1000;
	r.has_unwinding = true;
	r.unwinding = (struct pj_unwinding){ .stacks = 1000, .complete = 700, .cut = 250, .broken = 50 };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 70 % of stacks complete; 25 % of stacks truncated: longer than the "
		   "stack copy (a larger --stack-size of pjrecord helps)"),
	       "truncated stacks");
	t.n = 0;
	r.unwinding = (struct pj_unwinding){ .stacks = 1000, .complete = 860, .cut = 10, .broken = 130 };
	r.incomplete.broken.row[0] = (struct namecounts_row){ "php", 100 };
	r.incomplete.broken.row[1] = (struct namecounts_row){ "beam.smp", 30 };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 86 % of stacks complete; 13 % of stacks broken: php, beam.smp have "
		   "code without unwind tables"),
	       "broken stacks are the larger trouble, and have the names of processes");
	t.n = 0;
	r.unwinding.late = 130;
	metrics_sentence(&t, &r);
	ok(str_find_str(text_view(&t), STR("have code without unwind tables")) > 0,
	   "  all of the late ones may be complete");
	t.n = 0;
	r.unwinding.broken_late = 65;
	metrics_sentence(&t, &r);
	ok(str_find_str(text_view(&t), STR("php, beam.smp were sampled before their unwind tables were loaded")) > 0,
	   "  half of them came before the tables");
	t.n = 0;
	r.unwinding.broken_late = 0;
	r.unwinding.no_stack = 60;
	r.unwinding.other_stack = 55;
	r.incomplete.no_stack.row[0] = (struct namecounts_row){ "bash", 60 };
	r.incomplete.other_stack.row[0] = (struct namecounts_row){ "dockerd", 55 };
	r.incomplete.broken = (struct namecounts){ .row[0] = { "php", 15 } };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 86 % of stacks complete; 6 % of stacks broken: bash was sampled in "
		   "exec or exit (no action needed: a process has no user stack then)"),
	       "  each reason has its own processes");
	t.n = 0;
	r.unwinding.other_stack = 70;
	metrics_sentence(&t, &r);
	ok(str_find_str(text_view(&t),
			STR("7 % of stacks broken: dockerd, other processes changed to another stack in Go's "
			    "runtime")) > 0,
	   "  and its own share");
	r.incomplete.no_stack = r.incomplete.other_stack = (struct namecounts){ 0 };
	t.n = 0;
	r.unwinding = (struct pj_unwinding){ .stacks = 1000, .complete = 700, .unknown = 300 };
	r.incomplete.unknown.row[0] = (struct namecounts_row){ "php", 100 };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 70 % of stacks complete; 30 % of stacks of unknown completeness: "
		   "other processes, php have code that may not keep frame pointers"),
	       "names that were not counted");
	t.n = 0;
	r.unwinding.unknown = 50;
	r.unwinding.complete = 950;
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 95 % of stacks complete; 5 % of stacks of unknown completeness: "
		   "php has code that may not keep frame pointers"),
	       "stacks that were counted elsewhere since");
	t.n = 0;
	r.unwinding = (struct pj_unwinding){ .stacks = 1000, .complete = 700, .cut = 250, .broken = 50 };
	r.loss = (struct pj_loss){ .samples = 1000, .depth = 1 };
	r.unrecorded_ns = 2500000000;
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("1,000 samples, 2 processes, 30 s; 70 % of stacks complete; 50 % of samples lost: rings were full (a "
		   "larger ring (pjrecord -m, perf record -m), a lower frequency (-F) or a larger period (-c) helps); nothing was recorded for "
		   "2.5 s before"),
	       "losses are larger; a time without recording is always reported");
	t.n = 0;
	r = (struct window_report){ .samples = 200, .loss.depth = 100 };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("200 samples; 50 % of stacks truncated: deeper than the kernel's limit (a larger sysctl "
		   "kernel.perf_event_max_stack before recording helps)"),
	       "the kernel's limit");
	t.n = 0;
	r = (struct window_report){ .samples = 200, .tenants = { .n = 1, .row[0].samples = 30, .others.samples = 10 } };
	metrics_sentence(&t, &r);
	is_str(text_view(&t),
	       STR("200 samples; 20 % of samples without stacks: a container or user was over budget (a larger "
		   "--tenant-bytes of pjrecord helps)"),
	       "over budget");
	t.n = 0;
	r = (struct window_report){ .samples = 1000,
				    .has_offcpu = true,
				    .offcpu = { .read = 200,
						.read_ns = 9000000000,
						.complete = 190,
						.complete_ns = 8600000000,
						.unread = 800,
						.unread_ns = 1000000000 } };
	metrics_sentence(&t, &r);
	is_str(text_view(&t), STR("1,000 samples; at least 86 % of the time off the CPU has complete stacks"),
	       "stacks of off-CPU times are judged by time: 810 of 1,000 have none");
	t.n = 0;
	r.offcpu.preempted_read_ns = 4000000000;
	r.offcpu.preempted_complete_ns = 3800000000;
	r.offcpu.preempted_unread_ns = 1000000000;
	metrics_sentence(&t, &r);
	is_str(text_view(&t), STR("1,000 samples; 96 % of the time off the CPU has complete stacks"),
	       "  of the event that pjfold folds: without the times of preempted threads");
	text_free(&t);
}

static void summaries(void)
{
	struct window_report r = {
		.end = 30000000000, .samples = 18180, .processes = 212, .bytes = 2400000, .loss.ring_high = 65
	};

	is_str(summary(&r), STR("18,180 samples of 212 processes in 30.0 s, 2.4 MB, rings up to 7 % full"),
	       "nothing lost");
	r = (struct window_report){ .end = 1000000000, .samples = 1, .processes = 1, .bytes = 999 };
	is_str(summary(&r), STR("1 sample of 1 process in 1.0 s, 999 bytes, rings up to 0 % full"), "one of each");
	r.loss = (struct pj_loss){
		.samples = 1, .records = 2, .throttled = 3, .unknown = 4, .late = 5, .ring_high = 1000, .depth = 1
	};
	r.unrecorded_ns = 2500000000;
	r.depth_limit = 127;
	is_str(summary(&r),
	       STR("1 sample of 1 process in 1.0 s, 999 bytes, rings up to 100 % full; LOST 1 sample (50.0 %); "
		   "LOST 2 records of processes; nothing was recorded for 2.5 s before; throttled 3 times; "
		   "4 samples of unknown processes; 5 late records; "
		   "1 stack (100.0 %) truncated at 127 frames"),
	       "everything at once");
	r = (struct window_report){ .end = 1, .samples = 1000000, .loss.samples = 1 };
	ok(str_find_str(summary(&r), STR("LOST 1 sample (under 0.1 %)")) > 0, "little is not nothing");
	r = (struct window_report){ .end = 1, .samples = 0, .loss.samples = 5, .bytes = UINT64_MAX };
	ok(str_find_str(summary(&r), STR("LOST 5 samples (100.0 %)")) > 0 &&
		   str_find_str(summary(&r), STR("18.4 EB")) > 0,
	   "everything");
	r.helpers = (struct helper_counts){ .hung = 1, .crashed = 2, .avoided = 3, .off = 1 };
	ok(str_ends(
		   summary(&r),
		   STR("; 1 helper process hung; 2 helper processes crashed; 3 lookups avoided after that; no helper process loads unwind tables")),
	   "helper processes that failed");
	r.jvm_helpers = (struct helper_counts){ .hung = 1, .avoided = 4, .off = 1 };
	ok(str_ends(
		   summary(&r),
		   STR("; 2 helper processes hung; 2 helper processes crashed; 7 lookups avoided after that; no helper process loads unwind tables"
		       "; no helper process reads JVMs")),
	   "  those that read JVMs among them");
}

/* Rules of monitoring systems name series: those of older versions stay until 1.0. */
static void older_series(void)
{
	const char *top = getenv("PJ_TOP");
	struct metrics m = one();
	char path[4096], series[200];
	size_t n = 0, missing = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/suite/older/metrics", top ? top : ".");
	file = fopen(path, "re");
	ok(file && metrics_write(&m, dir_fd), "the series of commit 1aeb687");
	for (; file && fgets(series, sizeof(series), file); n++) {
		series[strcspn(series, "\n")] = 0;
		if (value(content(), series).n == 0) {
			printf("# %s is not written any more\n", series);
			missing++;
		}
	}
	ok(n > 60 && missing == 0, "  are all written");
	if (file)
		fclose(file);
	unlinkat(dir_fd, "pjrecord.prom", 0);
}

int main(void)
{
	diag_tool("pjtest");
	umask(022);
	if (!mkdtemp(dir))
		abort();
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	adds_up();
	tenants();
	damaged();
	elsewhere();
	together();
	locked();
	sentences();
	summaries();
	older_series();
	close(dir_fd);
	rmdir(dir);
	return done();
}
