/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/info.h"

#include "fold/process/addrspace.h"
#include "fold/symbols/symconflicts.h"
#include "common/diag.h"
#include "common/filter/out.h"
#include "common/process/tenants.h"
#include "common/formats/offcpustats.h"
#include "common/formats/unwindstats.h"
#include "common/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* Maximum number of processes that --info lists; of the others it shows only the number. */
#define TOP 10

struct process {
	uint32_t comm, pid;
	uint64_t samples;
};

struct counts {
	struct addrspace as;
	uint64_t samples, without_chain, lost_records, lost_samples, throttled, first_ns, last_ns;
	uint64_t *of_event;
	/* Set of the processes that have samples. Key: comm id, pid. */
	struct intern keys;
	/* Counts of the processes, indexed by the id of the key in `keys` minus 1. */
	struct process *process;
	/* Modification time of the file, UTC, as text ("2026-11-21T17:42:08"); empty if the time is unknown. */
	char written[64];
};

/* ---- counting of records ------------------------------------------------------------------------------------ */

static void info_count_process(struct counts *counts, const struct perfdata_record *record)
{
	struct addrspace_thread *leader = addrspace_thread(&counts->as, record->pid, record->pid);
	const uint32_t key[] = { addrspace_comm(&counts->as, leader), record->pid };
	uint32_t before = counts->keys.n, id = intern(&counts->keys, (struct str){ (const char *)key, sizeof(key) });

	if (id > before) {
		counts->process = mem_more(counts->process, sizeof(*counts->process), before);
		counts->process[id - 1] = (struct process){ key[0], key[1], 0 };
	}
	counts->process[id - 1].samples++;
}

static void count_sample(struct counts *counts, const struct perfdata_record *record,
			 const struct perfdata_event *events)
{
	counts->samples++;
	counts->without_chain += !record->sample.has_chain || record->sample.nips == 0;
	counts->of_event[record->sample.event - events]++;
	if (record->has_time && (counts->first_ns == 0 || record->time < counts->first_ns))
		counts->first_ns = record->time;
	if (record->has_time && record->time > counts->last_ns)
		counts->last_ns = record->time;
	info_count_process(counts, record);
}

/* Reads all records. Counts samples by event and by process, losses and THROTTLE records; stores the times of the first
 * and the last sample. */
static void count_records(struct counts *counts, struct perfdata *data)
{
	const struct perfdata_record *record;
	const struct perfdata_event *events;
	size_t n, had = 0;

	while ((record = perfdata_next(data)) != NULL) {
		events = perfdata_events(data, &n);
		/* In pipe mode, the file may define further events between the records: add counters for new events. */
		if (n > had) {
			counts->of_event = mem_grow(counts->of_event, sizeof(*counts->of_event), n);
			memset(counts->of_event + had, 0, (n - had) * sizeof(*counts->of_event));
			had = n;
		}
		switch (record->kind) {
		case PERFDATA_SAMPLE: count_sample(counts, record, events); break;
		case PERFDATA_LOST:
			if (record->lost.samples)
				counts->lost_samples += record->lost.count;
			else if (!perfdata_info(data)->recorder.is)
				counts->lost_records += record->lost.count;
			break;
		case PERFDATA_THROTTLE: counts->throttled++; break;
		default: addrspace_record(&counts->as, record); break;
		}
	}
}

/* ---- text of the description -------------------------------------------------------------------------------- */

static unsigned long long info_ull(uint64_t value)
{
	return value;
}

static void info_put_line(struct out *out, const char *key, struct str value)
{
	if (value.n == 0)
		return;
	out_printf(out, "%-10s ", key);
	out_visible(out, value);
	out_char(out, '\n');
}

static void put_command(struct out *out, const struct perfdata_info *info)
{
	if (info->narguments == 0)
		return;
	out_printf(out, "%-10s", "command");
	for (size_t i = 0; i < info->narguments; i++) {
		out_char(out, ' ');
		out_visible(out, info->argument[i]);
	}
	out_char(out, '\n');
}

/* Formats a time (seconds since 1970, UTC) as "2026-11-21T17:42:08" into `text`. Returns false if the year cannot be
 * represented. */
static bool format_time(time_t seconds, char text[64])
{
	struct tm calendar;

	return gmtime_r(&seconds, &calendar) && strftime(text, 64, "%Y-%m-%dT%H:%M:%S", &calendar);
}

/* Writes `ns`, a time of the recording's clock, as wall-clock time in parentheses. Writes nothing if the file does not
 * relate its clock to the wall clock. */
static void put_wall(struct out *out, const struct perfdata_info *info, uint64_t ns)
{
	uint64_t wall = info->clock_wall + (ns - info->clock_record);
	char text[64];

	if (info->has_clock_data && format_time((time_t)(wall / 1000000000u), text))
		out_printf(out, " (%s.%03lluZ)", text, info_ull(wall / 1000000u % 1000u));
}

/* Stores the modification time of the file as text. It is the end of the recording, unless the file was copied. Most
 * files have no other wall-clock time. */
static void note_written(struct counts *counts, const struct in *input)
{
	struct stat status;

	if (!input->regular || fstat(input->fd, &status) < 0 || !format_time(status.st_mtime, counts->written))
		counts->written[0] = 0;
}

static void put_times(struct out *out, const struct counts *counts, const struct perfdata_info *info)
{
	static const char *const clocks[] = {
		"CLOCK_REALTIME", "CLOCK_MONOTONIC", NULL, NULL, "CLOCK_MONOTONIC_RAW", NULL, NULL, "CLOCK_BOOTTIME"
	};
	const char *clock = info->clock >= 0 && (size_t)info->clock < countof(clocks) ? clocks[info->clock] : NULL;

	if (counts->last_ns) {
		out_printf(out, "%-10s %llu.%09llu", "from", info_ull(counts->first_ns / 1000000000u),
			   info_ull(counts->first_ns % 1000000000u));
		put_wall(out, info, counts->first_ns);
		out_printf(out, "\n%-10s %llu.%09llu", "to", info_ull(counts->last_ns / 1000000000u),
			   info_ull(counts->last_ns % 1000000000u));
		put_wall(out, info, counts->last_ns);
		out_printf(out, "\n%-10s %.3f s\n", "duration", (double)(counts->last_ns - counts->first_ns) / 1e9);
	}
	if (info->clock < 0)
		out_printf(out, "%-10s perf's own; -k CLOCK_MONOTONIC adds wall time\n", "clock");
	else
		out_printf(out, "%-10s %s\n", "clock", clock ? clock : "another");
}

static void put_events(struct out *out, const struct counts *counts, const struct perfdata_event *event, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t samples = counts->of_event ? counts->of_event[i] : 0;

		out_printf(out, "%-10s ", "event");
		out_visible(out, event[i].name);
		if (event[i].frequency)
			out_printf(out, ", %llu Hz", info_ull(event[i].frequency));
		else if (event[i].period)
			out_printf(out, ", every %llu", info_ull(event[i].period));
		out_printf(out, ", %llu sample%s%s%s\n", info_ull(samples), samples == 1 ? "" : "s",
			   event[i].sample_type & 1u << 13 ? ", stack copies" : "",
			   event[i].sample_type & 1u << 11 ? ", branches" : "");
	}
}

static int info_process_cmp(const void *left, const void *right)
{
	const struct process *process = left, *b = right;

	if (process->samples != b->samples)
		return process->samples < b->samples ? 1 : -1;
	return process->pid < b->pid ? -1 : process->pid > b->pid;
}

/* Writes up to TOP processes, those with the most samples first, then the number of remaining processes. Sorts
 * counts->process. */
static void put_processes(struct out *out, struct counts *counts)
{
	uint32_t n = counts->keys.n;

	if (n)
		qsort(counts->process, n, sizeof(*counts->process), info_process_cmp);
	for (uint32_t i = 0; i < n && i < TOP; i++) {
		out_printf(out, "%-10s %llu sample%s, %.1f %%, pid %u, ", "process",
			   info_ull(counts->process[i].samples), counts->process[i].samples == 1 ? "" : "s",
			   100.0 * (double)counts->process[i].samples / (double)counts->samples,
			   (unsigned)counts->process[i].pid);
		out_visible(out, intern_str(&counts->as.comms, counts->process[i].comm));
		out_char(out, '\n');
	}
	if (n > TOP)
		out_printf(out, "%-10s and %u more\n", "process", (unsigned)(n - TOP));
}

static void put_seconds(struct out *out, uint64_t ns)
{
	out_printf(out, "%llu.%03llu s", info_ull(ns / 1000000000u), info_ull(ns / 1000000u % 1000u));
}

static void info_put_window(struct out *out, const struct perfdata_info *info)
{
	const struct pj_window *window = &info->recorder.window;

	out_printf(out, "%-10s %llu, from %llu.%09llu", "window", info_ull(window->serial),
		   info_ull(window->begin / 1000000000u), info_ull(window->begin % 1000000000u));
	put_wall(out, info, window->begin);
	if (window->end != UINT64_MAX && window->end >= window->begin) {
		out_text(out, ", planned for ");
		put_seconds(out, window->end - window->begin);
	}
	out_char(out, '\n');
}

/* Writes the loss counters of pjrecord that are not 0, and the highest fill level of its rings. */
static void put_loss(struct out *out, const struct pj_loss *loss)
{
	const struct {
		uint64_t n;
		const char *what;
	} losses[] = {
		{ loss->samples, "samples" },           { loss->records, "records of processes" },
		{ loss->throttled, "times throttled" }, { loss->unknown, "samples of unknown processes" },
		{ loss->late, "late records" },         { loss->depth, "callchains truncated at the kernel's limit" }
	};
	bool any = false;

	out_printf(out, "%-10s ", "loss");
	for (size_t i = 0; i < countof(losses); i++) {
		if (!losses[i].n)
			continue;
		out_printf(out, "%s%llu %s", any ? ", " : "", info_ull(losses[i].n), losses[i].what);
		any = true;
	}
	out_printf(out, "%s; rings were up to %llu.%llu %% full\n", any ? "" : "none", info_ull(loss->ring_high / 10),
		   info_ull(loss->ring_high % 10));
}

static void info_put_tenant(struct out *out, const struct pj_tenant *row, const char *name)
{
	out_printf(out,
		   "%-10s %s: %llu samples without their stacks, %llu changes of mappings or names left out, "
		   "%llu processes not read again, %llu files not saved, ",
		   "over budget", name, info_ull(row->samples), info_ull(row->mappings), info_ull(row->reads),
		   info_ull(row->files));
	out_printf(out, "%llu lookups in JVMs and %llu of unwind tables left out\n", info_ull(row->jvms),
		   info_ull(row->tables));
}

static void info_put_tenants(struct out *out, const struct pj_tenants *tenants)
{
	const struct pj_tenant *others = &tenants->others;
	char name[TENANT_NAME];

	for (size_t i = 0; i < tenants->n; i++) {
		struct tenant tenant = { (enum tenant_kind)tenants->row[i].kind, tenants->row[i].key };

		info_put_tenant(out, &tenants->row[i], tenant_name(&tenant, name));
	}
	if (others->samples || others->mappings || others->reads || others->files || others->jvms || others->tables)
		info_put_tenant(out, others, "others");
}

/* Writes a line for each kind of helper process of pjrecord that failed: for unwind tables, JVMs, symbols,
 * interpreters, stacks off the CPU. */
static void info_put_helpers(struct out *out, const struct recorder *recorder)
{
	static const char *const name[PJ_HELPERS] = { [PJ_HELPER_TABLES] = "unwind tables",
						      [PJ_HELPER_JVM] = "JVMs",
						      [PJ_HELPER_SAVER] = "symbols",
						      [PJ_HELPER_INTERPRETER] = "interpreters",
						      [PJ_HELPER_WAIT] = "stacks off the CPU" };

	for (uint32_t i = 0; i < PJ_HELPERS; i++) {
		const struct pj_helper *helper = &recorder->helper[i];

		if (helper->hung || helper->crashed || helper->avoided || helper->lingering || helper->off)
			out_printf(
				out,
				"%-10s for %s: %llu hung, %llu crashed, %llu lookups left out after that, %llu not ended%s\n",
				"helpers", name[i], info_ull(helper->hung), info_ull(helper->crashed),
				info_ull(helper->avoided), info_ull(helper->lingering),
				helper->off ? ", none runs" : "");
	}
}

/* Writes the numbers of interpreted Java methods, and of classes of allocated objects, in pjrecord's list, and the
 * number of its entries with functions of other languages. */
static void info_put_interpreted(struct out *out, const struct interpreted *interpreted)
{
	size_t methods = 0, named = 0, functions = 0, classes = 0, named_classes = 0;

	for (size_t i = 0; i < interpreted->n; i++) {
		uint32_t language = interpreted->method[i].language;
		bool name = interpreted->method[i].name.n;

		methods += !language;
		named += !language && name;
		classes += language == PJ_LANGUAGE_JAVA_CLASS;
		named_classes += language == PJ_LANGUAGE_JAVA_CLASS && name;
		functions += language && language != PJ_LANGUAGE_JAVA_CLASS && name;
	}
	if (classes)
		out_printf(out, "%-10s %zu classes of allocated Java objects, %zu with a name\n", "classes", classes,
			   named_classes);
	if (functions)
		out_printf(out, "%-10s %zu instructions of interpreted functions\n", "functions", functions);
	if (methods)
		out_printf(out, "%-10s %zu interpreted Java methods, %zu with a name\n", "methods", methods, named);
}

/* Writes statistics of the stacks that pjrecord unwound, and of the interpreted functions and JVM code that it listed.
 */
static void put_unwinding(struct out *out, const struct recorder *recorder)
{
	struct text shown = { 0 };

	if (recorder->unwinding.stacks) {
		unwindstats_text(&shown, &recorder->unwinding);
		info_put_line(out, "stacks", text_view(&shown));
	}
	shown.n = 0;
	if (recorder->offcpu.read || recorder->offcpu.unread) {
		offcpustats_text(&shown, &recorder->offcpu);
		info_put_line(out, "off CPU", text_view(&shown));
	}
	info_put_interpreted(out, &recorder->interpreted);
	if (recorder->code)
		out_printf(out, "%-10s %zu code blobs of JVMs, %llu frames beyond the limit of names\n", "code",
			   windowcode_count(recorder->code), (unsigned long long)windowcode_left_out(recorder->code));
	text_free(&shown);
}

/* Writes the contents of pjrecord's own sections of the file; nothing for a file of another recorder. */
static void put_recorder(struct out *out, const struct perfdata_info *info)
{
	const struct recorder *recorder = &info->recorder;
	size_t elsewhere = 0;

	if (!recorder->is)
		return;
	info_put_line(out, "pjrecord", recorder->version);
	info_put_line(out, "boot", recorder->boot);
	if (recorder->has_window)
		info_put_window(out, info);
	for (size_t i = 0; i < recorder->nidle; i++) {
		out_printf(out, "%-10s cpu %u, ", "idle", (unsigned)recorder->idle[i].cpu);
		put_seconds(out, recorder->idle[i].ns);
		out_char(out, '\n');
	}
	if (recorder->has_loss)
		put_loss(out, &recorder->loss);
	info_put_tenants(out, &recorder->tenants);
	info_put_helpers(out, recorder);
	put_unwinding(out, recorder);
	for (size_t i = 0; i < recorder->nprocesses; i++)
		elsewhere += recorder->process[i].flags & PJ_PROCESS_ELSEWHERE;
	if (recorder->nprocesses)
		out_printf(out, "%-10s %zu, %zu of them in other mount namespaces\n", "processes", recorder->nprocesses,
			   elsewhere);
	for (size_t i = 0; i < recorder->nkallsyms; i++)
		info_put_line(out, "kallsyms", recorder->kallsyms[i]);
}

/* Writes the complete description of one file. name: name of the file in the output. */
static void put_info(struct out *out, const char *name, struct counts *counts, struct perfdata *data)
{
	const struct perfdata_info *info = perfdata_info(data);
	uint64_t lost = counts->lost_samples > counts->lost_records ? counts->lost_samples : counts->lost_records;
	const struct perfdata_event *event;
	size_t n;

	info_put_line(out, "file", str_of(name));
	if (counts->written[0])
		out_printf(out, "%-10s %sZ (the file's time)\n", "written", counts->written);
	if (info->compressed)
		info_put_line(out, "packed", STR("zstd"));
	put_command(out, info);
	info_put_line(out, "host", info->host);
	info_put_line(out, "kernel", info->kernel);
	info_put_line(out, "perf", info->version);
	put_recorder(out, info);
	if (info->recorder.symbolized)
		out_printf(out, "%-10s of %zu DSOs and JIT processes, added by pjpack; %llu left out\n", "names",
			   symbolized_count(info->recorder.symbolized),
			   info_ull(symbolized_left_out(info->recorder.symbolized)));
	info_put_line(out, "machine", info->arch);
	info_put_line(out, "cpu", info->cpu);
	if (info->cpus)
		out_printf(out, "%-10s %u of %u online\n", "cpus", (unsigned)info->cpus_online, (unsigned)info->cpus);
	if (info->memory)
		out_printf(out, "%-10s %llu MiB\n", "memory", info_ull(info->memory >> 20));
	event = perfdata_events(data, &n);
	put_events(out, counts, event, n);
	out_printf(out, "%-10s %llu, %llu without callchain\n", "samples", info_ull(counts->samples),
		   info_ull(counts->without_chain));
	out_printf(out, "%-10s %llu, %.2f %%\n", "lost", info_ull(lost),
		   counts->samples + lost ? 100.0 * (double)lost / (double)(counts->samples + lost) : 0);
	out_printf(out, "%-10s %llu times\n", "throttled", info_ull(counts->throttled));
	put_times(out, counts, info);
	put_processes(out, counts);
}

static void put_conflicts(void *out, const struct symconflicts *symconflicts)
{
	char name[TENANT_NAME];

	out_printf(out,
		   "%-10s %s: %llu saved file%s the build-id of another file with other symbols, and name%s "
		   "only code of this tenant; first %s\n",
		   "conflicts", tenant_name(&symconflicts->tenant, name), info_ull(symconflicts->files),
		   symconflicts->files == 1 ? " has" : "s have", symconflicts->files == 1 ? "s" : "",
		   symconflicts->first);
}

/* Writes the description of the file at `path` (NULL: standard input). saved: DIR of the symbol store; NULL: the DIR
 * that contains the file. Returns false if the file is damaged or unfinished. Dies if the file is not perf.data. */
static bool info_of(struct out *out, const char *saved, const char *path)
{
	struct counts counts = { 0 };
	const struct perfdata_tally *tally;
	struct perfdata *data;
	struct symstore symstore;
	struct in input;
	bool good;

	in_open(&input, path);
	if (!perfdata_is(in_peek(&input, 16)))
		die("'%s' is not perf.data", input.name);
	/* Read the modification time first: perfdata_open() replaces input that is not seekable by a temporary file. */
	note_written(&counts, &input);
	data = perfdata_open(&input);
	addrspace_init(&counts.as, false);
	count_records(&counts, data);
	put_info(out, input.name, &counts, data);
	symstore_open(&symstore, saved, &input, &perfdata_info(data)->recorder);
	symconflicts_each(&symstore, put_conflicts, out);
	symstore_close(&symstore);
	tally = perfdata_tally(data);
	if (tally->bad)
		warn("%s@%llu: %s; %llu record%s not used", input.name, info_ull(tally->first_bad), tally->why,
		     info_ull(tally->bad), tally->bad == 1 ? " is" : "s are");
	if (perfdata_info(data)->unfinished)
		warn("%s: the recorder did not complete this file", input.name);
	good = !tally->bad && !perfdata_info(data)->unfinished;
	addrspace_free(&counts.as);
	intern_free(&counts.keys);
	free(counts.process);
	free(counts.of_event);
	perfdata_close(data);
	in_close(&input);
	return good;
}

int info(const struct request *request, char **paths)
{
	struct out *out = mem_alloc(sizeof(*out), 1);
	bool good = true;

	out_open(out, request->out);
	if (!paths[0])
		good = info_of(out, request->recording.saved, NULL);
	for (size_t i = 0; paths[i]; i++) {
		if (i)
			out_char(out, '\n');
		good = info_of(out, request->recording.saved, paths[i]) && good;
	}
	out_close(out);
	free(out);
	return good ? PJ_OK : PJ_FAILED;
}
