/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/metrics.h"

#include "record/processes/budgets.h"
#include "common/diag.h"
#include "record/offcpu/offcpu.h"
#include "common/formats/judgement.h"
#include "common/formats/offcpustats.h"
#include "common/formats/unwindstats.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME "pjrecord.prom"
#define FILE_MAX 65536
#define SHOWN_TENANTS 3 /* maximum number of tenants in a summary line */
#define ATTEMPTS 1000   /* maximum number of attempts, 1 ms apart, to get the lock of DIR; then metrics_write fails */

/* ---- rows of pjrecord.prom -------------------------------------------------------------------------------------- */

enum kind {
	COUNTER,
	GAUGE,
	GAUGE_SAVED /* gauge for which the value 0 in struct metrics means: keep the value of the earlier file */
};

/* One line of pjrecord.prom. Rows with the same name are adjacent and share one HELP and TYPE (help NULL: not the first
 * row of that name). digits: number of decimals of the value. at: offset of the value, a uint64_t, in struct
 * metrics. */
static const struct row {
	const char *name, *label, *help;
	enum kind kind;
	unsigned digits;
	size_t at;
} rows[] = {
#define AT(field) offsetof(struct metrics, field)
	{ "windows_total", "", "Complete windows.", COUNTER, 0, AT(windows) },
	{ "windows_rescued_total", "", "Of these, left by killed runs.", COUNTER, 0, AT(rescued) },
	{ "windows_bad_total", "", "Windows of killed runs without a sample or beyond rescue, in bad/.", COUNTER, 0,
	  AT(bad) },
	{ "windows_dropped_total", "reason=\"disk\"", "Windows that were recorded and lost.", COUNTER, 0,
	  AT(dropped[DROPPED_DISK]) },
	{ "windows_dropped_total", "reason=\"io\"", NULL, COUNTER, 0, AT(dropped[DROPPED_IO]) },
	{ "windows_deleted_total", "reason=\"bytes\"", "Complete windows that were deleted for space.", COUNTER, 0,
	  AT(deleted[DELETED_BYTES]) },
	{ "windows_deleted_total", "reason=\"age\"", NULL, COUNTER, 0, AT(deleted[DELETED_AGE]) },
	{ "windows_deleted_total", "reason=\"free\"", NULL, COUNTER, 0, AT(deleted[DELETED_FREE]) },
	{ "windows_delayed_total", "", "Windows left in recording/ for rescue because of a slow disk.", COUNTER, 0,
	  AT(delayed) },
	{ "paths_unprinted_total", "", "Paths of complete windows that were not read from standard output.", COUNTER, 0,
	  AT(unprinted) },
	{ "samples_total", "", "Samples in complete windows.", COUNTER, 0, AT(samples) },
	{ "bytes_total", "", "Bytes of complete windows.", COUNTER, 0, AT(bytes) },
	{ "seconds_total", "", "Time covered by complete windows.", COUNTER, 9, AT(recorded_ns) },
	{ "unrecorded_seconds_total", "", "Time between windows in which nothing was recorded.", COUNTER, 9,
	  AT(unrecorded_ns) },
	{ "lost_samples_total", "", "Samples that the kernel could not store.", COUNTER, 0, AT(loss.samples) },
	{ "lost_records_total", "", "Records of the state of processes that the kernel could not store.", COUNTER, 0,
	  AT(loss.records) },
	{ "throttled_total", "", "Times that the kernel stopped an event for the rest of a tick.", COUNTER, 0,
	  AT(loss.throttled) },
	{ "unknown_samples_total", "", "Samples of unknown processes.", COUNTER, 0, AT(loss.unknown) },
	{ "late_records_total", "", "Records that came after later ones had been written.", COUNTER, 0, AT(loss.late) },
	{ "cut_stacks_total", "", "Samples whose callchain reached kernel.perf_event_max_stack.", COUNTER, 0,
	  AT(loss.depth) },
	{ "offcpu_seconds_total", "state=\"blocked\"", "With --off-cpu: off-CPU times of threads.", COUNTER, 9,
	  AT(offcpu.blocked_ns) },
	{ "offcpu_seconds_total", "state=\"preempted\"", NULL, COUNTER, 9, AT(offcpu.preempted_ns) },
	{ "offcpu_seconds_total", "state=\"brief\"", NULL, COUNTER, 9, AT(offcpu.brief_ns) },
	{ "offcpu_seconds_total", "state=\"unknown\"", NULL, COUNTER, 9, AT(offcpu.unknown_ns) },
	{ "offcpu_stacks_seconds_total", "stack=\"complete\"",
	  "With --off-cpu: off-CPU times of user threads, by the origin of their stacks.", COUNTER, 9,
	  AT(offcpu.complete_ns) },
	{ "offcpu_stacks_seconds_total", "stack=\"incomplete\"", NULL, COUNTER, 9, AT(offcpu_incomplete_ns) },
	{ "offcpu_stacks_seconds_total", "stack=\"unread\"", NULL, COUNTER, 9, AT(offcpu.unread_ns) },
	{ "offcpu_unread_total", "reason=\"space\"",
	  "With --off-cpu: waits whose stack was not read, for lack of space for copies, by a limit, or by permission.",
	  COUNTER, 0, AT(unread_waits.space) },
	{ "offcpu_unread_total", "reason=\"budget\"", NULL, COUNTER, 0, AT(unread_waits.budget) },
	{ "offcpu_unread_total", "reason=\"permission\"", NULL, COUNTER, 0, AT(unread_waits.denied) },
	{ "offcpu_early_seconds_total", "",
	  "With --off-cpu: of these times, those of waits that began before the recording.", COUNTER, 9,
	  AT(offcpu.early_ns) },
	{ "offcpu_lacking_threads", "", "Threads whose wait since before the recording is in no sample of the window.",
	  GAUGE, 0, AT(offcpu.lacking) },
	{ "offcpu_lost_records_total", "", "Records of switches that the kernel could not store.", COUNTER, 0,
	  AT(offcpu.lost) },
	{ "stacks_total", "end=\"root\"", "With --unwind: user stacks, by their end.", COUNTER, 0,
	  AT(unwinding.complete) },
	{ "stacks_total", "end=\"unknown\"", NULL, COUNTER, 0, AT(unwinding.unknown) },
	{ "stacks_total", "end=\"copy\"", NULL, COUNTER, 0, AT(unwinding.cut) },
	{ "stacks_total", "end=\"broken\"", NULL, COUNTER, 0, AT(unwinding.broken) },
	{ "broken_stacks_total", "reason=\"stack\"", "Broken stacks, by the reason why no caller was found.", COUNTER,
	  0, AT(unwinding.no_stack) },
	{ "broken_stacks_total", "reason=\"switch\"", NULL, COUNTER, 0, AT(unwinding.other_stack) },
	{ "broken_stacks_total", "reason=\"mapping\"", NULL, COUNTER, 0, AT(unwinding.unmapped) },
	{ "broken_stacks_total", "reason=\"table\"", NULL, COUNTER, 0, AT(unwinding.no_table) },
	{ "broken_stacks_total", "reason=\"rule\"", NULL, COUNTER, 0, AT(unwinding.no_rule) },
	{ "broken_stacks_total", "reason=\"astray\"", NULL, COUNTER, 0, AT(unwinding.astray) },
	{ "broken_stacks_total", "reason=\"jvm\"", NULL, COUNTER, 0, AT(unwinding.no_caller) },
	{ "broken_stacks_total", "reason=\"narrow\"", NULL, COUNTER, 0, AT(unwinding.narrow) },
	{ "joined_stacks_total", "", "Stacks continued above the copy by frame pointers.", COUNTER, 0,
	  AT(unwinding.joined) },
	{ "stacks_without_tables_total", "", "Stacks with code whose unwind tables were not loaded in time.", COUNTER,
	  0, AT(unwinding.late) },
	{ "damaged_samples_total", "", "Invalid samples with a copy of a stack.", COUNTER, 0, AT(unwinding.damaged) },
	{ "kept_for_fold_total", "kind=\"binary\"",
	  "Files saved to the symbol store: symbols, files of JITs, kernel symbols.", COUNTER, 0, AT(saved.binaries) },
	{ "kept_for_fold_total", "kind=\"jit\"", NULL, COUNTER, 0, AT(saved.maps) },
	{ "kept_for_fold_total", "kind=\"kernel\"", NULL, COUNTER, 0, AT(saved.kernels) },
	{ "not_kept_total", "reason=\"gone\"", "Files not saved to the symbol store, each once a window.", COUNTER, 0,
	  AT(saved.failed[SYMSAVER_GONE]) },
	{ "not_kept_total", "reason=\"forbidden\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_FORBIDDEN]) },
	{ "not_kept_total", "reason=\"replaced\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_OTHER]) },
	{ "not_kept_total", "reason=\"nameless\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_NOT_ELF]) },
	{ "not_kept_total", "reason=\"large\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_LARGE]) },
	{ "not_kept_total", "reason=\"untrusted\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_UNTRUSTED]) },
	{ "not_kept_total", "reason=\"disk\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_DISK]) },
	{ "not_kept_total", "reason=\"hung\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_HUNG]) },
	{ "not_kept_total", "reason=\"slow\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_SLOW]) },
	{ "not_kept_total", "reason=\"budget\"", NULL, COUNTER, 0, AT(saved.failed[SYMSAVER_BUDGET]) },
	{ "not_kept_total", "reason=\"busy\"", NULL, COUNTER, 0, AT(saved.dropped) },
	{ "kept_conflicts_total", "",
	  "Saved files with the build-id of another file and other symbols; used for their own "
	  "tenant only.",
	  COUNTER, 0, AT(saved.conflicts) },
	{ "kept_removed_total", "needed=\"no\"",
	  "Saved files that were removed: no window needs them, or the limit was exceeded.", COUNTER, 0,
	  AT(saved.removed) },
	{ "kept_removed_total", "needed=\"yes\"", NULL, COUNTER, 0, AT(saved.forced) },
	{ "keepers_lost_total", "reason=\"hung\"", "Symbol savers that were replaced.", COUNTER, 0, AT(saved.hung) },
	{ "keepers_lost_total", "reason=\"crashed\"", NULL, COUNTER, 0, AT(saved.crashed) },
	{ "helpers_lost_total", "helper=\"tables\",reason=\"hung\"", "Helper processes that were replaced.", COUNTER, 0,
	  AT(helpers.hung) },
	{ "helpers_lost_total", "helper=\"tables\",reason=\"crashed\"", NULL, COUNTER, 0, AT(helpers.crashed) },
	{ "helpers_lost_total", "helper=\"jvm\",reason=\"hung\"", NULL, COUNTER, 0, AT(jvm_helpers.hung) },
	{ "helpers_lost_total", "helper=\"jvm\",reason=\"crashed\"", NULL, COUNTER, 0, AT(jvm_helpers.crashed) },
	{ "helpers_lost_total", "helper=\"interpreter\",reason=\"hung\"", NULL, COUNTER, 0,
	  AT(interpreter_helpers.hung) },
	{ "helpers_lost_total", "helper=\"interpreter\",reason=\"crashed\"", NULL, COUNTER, 0,
	  AT(interpreter_helpers.crashed) },
	{ "helpers_lost_total", "helper=\"wait\",reason=\"hung\"", NULL, COUNTER, 0, AT(wait_helpers.hung) },
	{ "helpers_lost_total", "helper=\"wait\",reason=\"crashed\"", NULL, COUNTER, 0, AT(wait_helpers.crashed) },
	{ "helpers_avoided_total", "helper=\"tables\"",
	  "Lookups in files that are avoided for a while, because helper processes failed at files "
	  "of that tenant.",
	  COUNTER, 0, AT(helpers.avoided) },
	{ "helpers_avoided_total", "helper=\"jvm\"", NULL, COUNTER, 0, AT(jvm_helpers.avoided) },
	{ "helpers_avoided_total", "helper=\"interpreter\"", NULL, COUNTER, 0, AT(interpreter_helpers.avoided) },
	{ "helpers_avoided_total", "helper=\"wait\"", NULL, COUNTER, 0, AT(wait_helpers.avoided) },
	{ "cpu_seconds_total", "", "Processor time of pjrecord itself.", COUNTER, 6, AT(cpu_us) },
	{ "ring_high_ratio", "", "Fullest ring in the last window.", GAUGE, 3, AT(loss.ring_high) },
	{ "helpers_off", "helper=\"tables\"", "1: helper processes of this kind are not running.", GAUGE, 0,
	  AT(helpers.off) },
	{ "helpers_off", "helper=\"jvm\"", NULL, GAUGE, 0, AT(jvm_helpers.off) },
	{ "helpers_off", "helper=\"interpreter\"", NULL, GAUGE, 0, AT(interpreter_helpers.off) },
	{ "helpers_off", "helper=\"wait\"", NULL, GAUGE, 0, AT(wait_helpers.off) },
	{ "helpers_off", "helper=\"keeper\"", NULL, GAUGE, 0, AT(saved.off) },
	{ "helpers_lingering", "helper=\"tables\"", "Helper processes that were killed and wait for a file system.",
	  GAUGE, 0, AT(helpers.lingering) },
	{ "helpers_lingering", "helper=\"jvm\"", NULL, GAUGE, 0, AT(jvm_helpers.lingering) },
	{ "helpers_lingering", "helper=\"interpreter\"", NULL, GAUGE, 0, AT(interpreter_helpers.lingering) },
	{ "helpers_lingering", "helper=\"wait\"", NULL, GAUGE, 0, AT(wait_helpers.lingering) },
	{ "helpers_lingering", "helper=\"keeper\"", NULL, GAUGE, 0, AT(saved.lingering) },
	{ "resident_bytes", "", "Memory of pjrecord itself.", GAUGE, 0, AT(rss) },
	{ "last_success_timestamp_seconds", "", "When the last window became complete.", GAUGE_SAVED, 0,
	  AT(last_success) },
	{ "kept_for_fold_bytes", "", "Symbols and maps in the directory.", GAUGE, 0, AT(saved.bytes) },
	{ "kept_windows", "", "Complete windows in the directory.", GAUGE, 0, AT(retained_windows) },
	{ "kept_bytes", "", "Their bytes.", GAUGE, 0, AT(saved_bytes) },
	{ "free_bytes", "", "Free space of the file system.", GAUGE, 0, AT(free_bytes) },
#undef AT
};

static uint64_t metrics_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t power_of_ten(unsigned n)
{
	uint64_t value = 1;

	while (n--)
		value *= 10;
	return value;
}

/* Parses a value with at most `digits` decimals, and returns it times 10^digits: "12.5" with 3 digits is 12500. Returns
 * 0 for any other text, so that the counter starts at 0 again. */
static uint64_t parse_value(struct str string, unsigned digits)
{
	struct str complete = str_cut(&string, '.');
	uint64_t value, fraction = 0, scale = power_of_ten(digits);

	if (!str_u64(complete, &value) || value > UINT64_MAX / scale - 1)
		return 0;
	if (string.n && (string.n > digits || !str_u64(string, &fraction)))
		return 0;
	return value * scale + fraction * power_of_ten(digits - (unsigned)string.n);
}

static void metrics_put_name(struct text *text, const struct row *row)
{
	text_printf(text, "pj_record_%s", row->name);
	if (*row->label)
		text_printf(text, "{%s}", row->label);
}

/* Returns the value of a row in `before`, the text of the earlier pjrecord.prom; 0 if the row is missing there. */
static uint64_t value_before(const struct row *row, struct str before)
{
	struct text name = { 0 };
	uint64_t value = 0;

	metrics_put_name(&name, row);
	text_char(&name, ' ');
	while (before.n) {
		struct str line = str_cut(&before, '\n');

		if (str_starts(line, text_view(&name)))
			value = parse_value(str_from(line, name.n), row->digits);
	}
	text_free(&name);
	return value;
}

static uint64_t metrics_value_of(const struct row *row, const struct metrics *metrics, struct str before)
{
	uint64_t value;

	memcpy(&value, (const char *)metrics + row->at, sizeof(value));
	if (row->kind == COUNTER)
		return metrics_sum(value, value_before(row, before));
	return row->kind == GAUGE_SAVED && !value ? value_before(row, before) : value;
}

/* ---- counters of tenants over a budget -------------------------------------------------------------------------- */

#define OVER_METRIC "pj_record_over_budget_total"
/* number of low bits of a container's 64-bit key that its name, of 12 hex digits, omits */
#define CONTAINER_OMITTED_BITS 16

/* Sets kind and key of *row from the name of a tenant; key bits that the name omits become 0. Returns false if the text
 * is not the name of a tenant. Returns true without setting *row for "others". */
static bool parse_tenant(struct str name, struct pj_tenant *row)
{
	static const struct {
		struct str before;
		enum tenant_kind kind;
	} kinds[] = { { STR("container "), TENANT_CONTAINER },
		      { STR("user "), TENANT_USER },
		      { STR("mount namespace "), TENANT_MOUNT_NS },
		      { STR("namespace "), TENANT_NAMESPACE } };

	for (size_t i = 0; i < countof(kinds); i++) {
		struct str key = str_from(name, kinds[i].before.n);

		if (!str_starts(name, kinds[i].before))
			continue;
		row->kind = kinds[i].kind;
		if (row->kind != TENANT_CONTAINER)
			return str_u64(key, &row->key);
		if (!str_hex(key, &row->key) || row->key >> (64 - CONTAINER_OMITTED_BITS))
			return false;
		row->key <<= CONTAINER_OMITTED_BITS;
		return true;
	}
	return str_eq(name, STR("others"));
}

static const char *const over_what[] = { "samples", "mappings", "reads", "files", "jvms", "tables" };

static uint64_t *over_count(struct pj_tenant *row, size_t what)
{
	uint64_t *const count[] = { &row->samples, &row->mappings, &row->reads, &row->files, &row->jvms, &row->tables };

	return count[what];
}

/* Adds the counters of tenants in `before`, the text of the earlier pjrecord.prom, to *sum. */
static void read_tenants(struct pj_tenants *sum, struct str before)
{
	while (before.n) {
		struct str line = str_cut(&before, '\n'), name, what;
		struct pj_tenants one = { 0 };

		if (!str_starts(line, STR(OVER_METRIC "{tenant=\"")))
			continue;
		line = str_from(line, STR(OVER_METRIC "{tenant=\"").n);
		name = str_cut(&line, '"');
		if (!parse_tenant(name, &one.row[0]) || !str_starts(line, STR(",what=\"")))
			continue;
		line = str_from(line, STR(",what=\"").n);
		what = str_cut(&line, '"');
		for (size_t i = 0; i < countof(over_what); i++)
			if (str_eq(what, str_of(over_what[i])) && str_starts(line, STR("} ")))
				*over_count(&one.row[0], i) = parse_value(str_from(line, 2), 0);
		one.n = 1;
		budgets_add(sum, &one);
	}
}

static void metrics_put_tenant(struct text *text, struct pj_tenant *row, const char *name)
{
	for (size_t i = 0; i < countof(over_what); i++)
		text_printf(text, OVER_METRIC "{tenant=\"%s\",what=\"%s\"} %" PRIu64 "\n", name, over_what[i],
			    *over_count(row, i));
}

static void add_tenants(struct pj_tenants *sum, const struct pj_tenants *more)
{
	struct pj_tenants named = *more;

	for (size_t i = 0; i < named.n; i++)
		if (named.row[i].kind == TENANT_CONTAINER)
			named.row[i].key = named.row[i].key >> CONTAINER_OMITTED_BITS << CONTAINER_OMITTED_BITS;
	budgets_add(sum, &named);
}

static void metrics_put_tenants(struct text *text, const struct metrics *metrics, struct str before)
{
	struct pj_tenants sum = { 0 };
	char name[TENANT_NAME];

	read_tenants(&sum, before);
	budgets_add(&sum, &metrics->tenants);
	text_printf(text, "# HELP " OVER_METRIC " Losses of tenants over a budget.\n# TYPE " OVER_METRIC " counter\n");
	for (size_t i = 0; i < sum.n; i++) {
		struct tenant tenant = { (enum tenant_kind)sum.row[i].kind, sum.row[i].key };

		metrics_put_tenant(text, &sum.row[i], tenant_name(&tenant, name));
	}
	metrics_put_tenant(text, &sum.others, "others");
}

/* ---- text of pjrecord.prom -------------------------------------------------------------------------------------- */

void metrics_text(struct text *text, const struct metrics *metrics, struct str before)
{
	for (size_t i = 0; i < countof(rows); i++) {
		const struct row *row = rows + i;
		uint64_t value = metrics_value_of(row, metrics, before), scale = power_of_ten(row->digits);

		if (row->help)
			text_printf(text, "# HELP pj_record_%s %s\n# TYPE pj_record_%s %s\n", row->name, row->help,
				    row->name, row->kind == COUNTER ? "counter" : "gauge");
		metrics_put_name(text, row);
		text_printf(text, " %" PRIu64, value / scale);
		if (row->digits)
			text_printf(text, ".%0*" PRIu64, (int)row->digits, value % scale);
		text_char(text, '\n');
	}
	metrics_put_tenants(text, metrics, before);
}

static void read_before(int dir, struct text *text)
{
	int fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	ssize_t got;

	if (fd < 0)
		return;
	text_reserve(text, FILE_MAX);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (got = pread(fd, text->p, FILE_MAX, 0)) > 0)
		text->n = (size_t)got;
	close(fd);
}

/* Takes the lock of DIR, under which pjrecord.prom is replaced. Other runs hold the lock briefly. Returns false with
 * errno if locking fails; with EWOULDBLOCK if another process holds the lock for about a second, so that it cannot stop
 * the recorder. */
static bool metrics_lock(int dir)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < ATTEMPTS; i++) {
		if (flock(dir, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		nanosleep(&moment, NULL);
	}
	errno = EWOULDBLOCK;
	return false;
}

bool metrics_write(struct metrics *metrics, int dir)
{
	struct text before = { 0 }, now = { 0 };
	bool good;
	int error;

	if (!metrics_lock(dir))
		return false;
	read_before(dir, &before);
	metrics_text(&now, metrics, text_view(&before));
	good = fullio_replace(dir, FILE_NAME, text_view(&now));
	error = errno;
	flock(dir, LOCK_UN);
	text_free(&before);
	text_free(&now);
	if (good)
		*metrics = (struct metrics){ 0 };
	errno = error;
	return good;
}

void metrics_add(struct metrics *metrics, const struct window_report *report)
{
	metrics->windows++;
	metrics->samples = metrics_sum(metrics->samples, report->samples);
	metrics->bytes = metrics_sum(metrics->bytes, report->bytes);
	metrics->recorded_ns =
		metrics_sum(metrics->recorded_ns, report->end > report->begin ? report->end - report->begin : 0);
	metrics->unrecorded_ns = metrics_sum(metrics->unrecorded_ns, report->unrecorded_ns);
	metrics_add_dropped(metrics, report);
	metrics->offcpu.blocked_ns = metrics_sum(metrics->offcpu.blocked_ns, report->offcpu.blocked_ns);
	metrics->offcpu.preempted_ns = metrics_sum(metrics->offcpu.preempted_ns, report->offcpu.preempted_ns);
	metrics->offcpu.brief_ns = metrics_sum(metrics->offcpu.brief_ns, report->offcpu.brief_ns);
	metrics->offcpu.unknown_ns = metrics_sum(metrics->offcpu.unknown_ns, report->offcpu.unknown_ns);
	metrics->offcpu.lost = metrics_sum(metrics->offcpu.lost, report->offcpu.lost);
	metrics->offcpu.complete_ns = metrics_sum(metrics->offcpu.complete_ns, report->offcpu.complete_ns);
	metrics->offcpu.unread_ns = metrics_sum(metrics->offcpu.unread_ns, report->offcpu.unread_ns);
	metrics->offcpu.early_ns = metrics_sum(metrics->offcpu.early_ns, report->offcpu.early_ns);
	metrics->offcpu.lacking = report->offcpu.lacking;
	metrics->offcpu_incomplete_ns =
		metrics_sum(metrics->offcpu_incomplete_ns, report->offcpu.read_ns - report->offcpu.complete_ns);
	unwindstats_add(&metrics->unwinding, &report->unwinding);
	add_tenants(&metrics->tenants, &report->tenants);
}

static void add_saved(struct metrics *metrics, const struct symsaver_counts *counts)
{
	struct symsaver_counts *k = &metrics->saved;

	k->binaries = metrics_sum(k->binaries, counts->binaries);
	k->maps = metrics_sum(k->maps, counts->maps);
	k->kernels = metrics_sum(k->kernels, counts->kernels);
	for (size_t i = 0; i < SYMSAVER_REASONS; i++)
		k->failed[i] = metrics_sum(k->failed[i], counts->failed[i]);
	k->dropped = metrics_sum(k->dropped, counts->dropped);
	k->conflicts = metrics_sum(k->conflicts, counts->conflicts);
	k->removed = metrics_sum(k->removed, counts->removed);
	k->forced = metrics_sum(k->forced, counts->forced);
	k->hung = metrics_sum(k->hung, counts->hung);
	k->crashed = metrics_sum(k->crashed, counts->crashed);
	k->lingering = counts->lingering;
	k->off = counts->off;
}

void metrics_add_loss(struct pj_loss *sum, const struct pj_loss *more)
{
	sum->samples = metrics_sum(sum->samples, more->samples);
	sum->records = metrics_sum(sum->records, more->records);
	sum->throttled = metrics_sum(sum->throttled, more->throttled);
	sum->unknown = metrics_sum(sum->unknown, more->unknown);
	sum->late = metrics_sum(sum->late, more->late);
	sum->depth = metrics_sum(sum->depth, more->depth);
	if (more->ring_high > sum->ring_high)
		sum->ring_high = more->ring_high;
}

static void add_helpers(struct helper_counts *sum, const struct helper_counts *more)
{
	sum->hung = metrics_sum(sum->hung, more->hung);
	sum->crashed = metrics_sum(sum->crashed, more->crashed);
	sum->avoided = metrics_sum(sum->avoided, more->avoided);
	sum->lingering = more->lingering;
	sum->off = more->off;
}

void metrics_add_dropped(struct metrics *metrics, const struct window_report *report)
{
	add_helpers(&metrics->helpers, &report->helpers);
	add_helpers(&metrics->jvm_helpers, &report->jvm_helpers);
	add_helpers(&metrics->interpreter_helpers, &report->interpreter_helpers);
	add_helpers(&metrics->wait_helpers, &report->wait_helpers);
	metrics->unread_waits.space = metrics_sum(metrics->unread_waits.space, report->unread_waits.space);
	metrics->unread_waits.budget = metrics_sum(metrics->unread_waits.budget, report->unread_waits.budget);
	metrics->unread_waits.denied = metrics_sum(metrics->unread_waits.denied, report->unread_waits.denied);
	add_saved(metrics, &report->saved);
	metrics_add_loss(&metrics->loss, &report->loss);
	metrics->loss.ring_high = report->loss.ring_high;
}

/* ---- summary of a window ---------------------------------------------------------------------------------------- */

void metrics_bytes(struct text *text, uint64_t bytes)
{
	static const char *const unit[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 999.95 && i + 1 < countof(unit)) {
		value /= 1000;
		i++;
	}
	text_printf(text, i ? "%.1f %s" : "%.0f %s", value, unit[i]);
}

static void put_count(struct text *text, const char *before, uint64_t n, const char *one, const char *many)
{
	text_add(text, before);
	text_grouped(text, n);
	text_char(text, ' ');
	text_add(text, n == 1 ? one : many);
}

static void metrics_put_share(struct text *text, uint64_t part, uint64_t all)
{
	double share = all ? 100 * (double)part / (double)all : 0;

	text_printf(text,
		    share < 0.1                ? " (under 0.1 %%)" :
		    share > 99.9 && part < all ? " (over 99.9 %%)" :
						 " (%.1f %%)",
		    share);
}

static void put_losses(struct text *text, const struct window_report *report)
{
	const struct pj_loss *loss = &report->loss;

	if (loss->samples) {
		put_count(text, "; LOST ", loss->samples, "sample", "samples");
		metrics_put_share(text, loss->samples, metrics_sum(loss->samples, report->samples));
	}
	if (loss->records)
		put_count(text, "; LOST ", loss->records, "record of processes", "records of processes");
	if (report->unrecorded_ns)
		text_printf(text, "; nothing was recorded for %.1f s before", (double)report->unrecorded_ns / 1e9);
	if (loss->throttled)
		put_count(text, "; throttled ", loss->throttled, "time", "times");
	if (loss->unknown)
		put_count(text, "; ", loss->unknown, "sample of an unknown process", "samples of unknown processes");
	if (loss->late)
		put_count(text, "; ", loss->late, "late record", "late records");
	if (loss->depth) {
		put_count(text, "; ", loss->depth, "stack", "stacks");
		metrics_put_share(text, loss->depth, report->samples);
		text_add(text, " truncated");
		if (report->depth_limit)
			text_printf(text, " at %u frames", report->depth_limit);
	}
}

static void metrics_put_helpers(struct text *text, const struct window_report *report)
{
	struct helper_counts sum = report->helpers;

	add_helpers(&sum, &report->jvm_helpers);
	add_helpers(&sum, &report->interpreter_helpers);
	add_helpers(&sum, &report->wait_helpers);
	if (sum.hung)
		put_count(text, "; ", sum.hung, "helper process hung", "helper processes hung");
	if (sum.crashed)
		put_count(text, "; ", sum.crashed, "helper process crashed", "helper processes crashed");
	if (sum.avoided)
		put_count(text, "; ", sum.avoided, "lookup avoided after that", "lookups avoided after that");
	if (report->helpers.off)
		text_add(text, "; no helper process loads unwind tables");
	if (report->jvm_helpers.off)
		text_add(text, "; no helper process reads JVMs");
	if (report->interpreter_helpers.off)
		text_add(text, "; no helper process reads interpreters");
	if (report->wait_helpers.off)
		text_add(text, "; no helper process reads stacks off the CPU");
}

static uint64_t samples_over_budget(const struct pj_tenants *tenants)
{
	uint64_t n = tenants->others.samples;

	for (uint32_t i = 0; i < tenants->n; i++)
		n += tenants->row[i].samples;
	return n;
}

/* Adds n incomplete stacks of one kind of trouble to the judgement, by the names of their processes. Counts by name are
 * lower bounds. So the remaining stacks are added as "other processes", or as "a process" if no name was counted. */
static void add_stacks(struct judgement *judgement, enum trouble_kind kind, const struct namecounts *names, uint64_t n)
{
	uint64_t all = n;

	for (size_t i = 0; i < NAMECOUNTS && n; i++) {
		uint64_t named = names->row[i].n < n ? names->row[i].n : n;

		judgement_add(judgement, kind, str_of(names->row[i].name), named);
		n -= named;
	}
	judgement_add(judgement, kind, n == all ? STR("a process") : STR("other processes"), n);
}

/* Adds the troubles of broken stacks, by reason. */
static void add_broken(struct judgement *judgement, const struct pj_unwinding *unwinding,
		       const struct stacks_by_name *names)
{
	uint64_t known = unwinding->no_stack + unwinding->other_stack,
		 others = unwinding->broken > known ? unwinding->broken - known : 0;

	add_stacks(judgement, TROUBLE_BROKEN_EXEC, &names->no_stack, unwinding->no_stack);
	add_stacks(judgement, TROUBLE_BROKEN_OTHER_STACK, &names->other_stack, unwinding->other_stack);
	add_stacks(judgement, judgement_broken(others, unwinding->broken_late, 0), &names->broken, others);
}

void metrics_sentence(struct text *text, const struct window_report *report)
{
	struct offcpu_share blocked = offcpustats_blocked(&report->offcpu);
	struct judgement judgement = {
		.samples = report->samples,
		.processes = report->processes,
		.ns = report->end > report->begin ? report->end - report->begin : 0,
		.lost = report->loss.samples,
		.stacks = report->has_unwinding ? report->unwinding.stacks : 0,
		.complete = report->unwinding.complete,
		.offcpu_ns = report->has_offcpu ? blocked.all : 0,
		.offcpu_complete_ns = blocked.complete,
		.offcpu_unread = blocked.unread > 0,
		.lacking = report->offcpu.lacking,
		/* a window of an idle host has few samples, which is no trouble */
		.may_be_small = true,
	};

	if (report->has_unwinding)
		judgement_add(&judgement, TROUBLE_TRUNCATED_COPY, (struct str){ 0 }, report->unwinding.cut);
	if (report->has_unwinding)
		add_broken(&judgement, &report->unwinding, &report->incomplete);
	if (report->has_unwinding)
		add_stacks(&judgement, TROUBLE_UNKNOWN_END, &report->incomplete.unknown, report->unwinding.unknown);
	judgement_add(&judgement, TROUBLE_TRUNCATED_LIMIT, (struct str){ 0 }, report->loss.depth);
	judgement_add(&judgement, TROUBLE_OVER_BUDGET, (struct str){ 0 }, samples_over_budget(&report->tenants));
	judgement_sentence(text, &judgement);
	judgement_free(&judgement);
	if (report->unrecorded_ns)
		text_printf(text, "; nothing was recorded for %.1f s before", (double)report->unrecorded_ns / 1e9);
}

void metrics_summary(struct text *text, const struct window_report *report)
{
	put_count(text, "", report->samples, "sample", "samples");
	put_count(text, " of ", report->processes, "process", "processes");
	text_printf(text, " in %.1f s, ",
		    report->end > report->begin ? (double)(report->end - report->begin) / 1e9 : 0);
	metrics_bytes(text, report->bytes);
	text_printf(text, ", rings up to %" PRIu64 " %% full", (report->loss.ring_high + 9) / 10);
	put_losses(text, report);
	if (report->tenants.n || budgets_lost(&report->tenants.others)) {
		text_add(text, "; ");
		budgets_text(text, &report->tenants, SHOWN_TENANTS);
	}
	if (report->has_unwinding && report->unwinding.stacks) {
		text_add(text, "; ");
		unwindstats_text(text, &report->unwinding);
	}
	metrics_put_helpers(text, report);
	if (report->has_offcpu) {
		text_add(text, "; off the CPU: ");
		offcpu_text(text, &report->offcpu);
	}
}
