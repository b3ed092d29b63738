/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/info.h"

#include "fold/process/addrspace.h"
#include "fold/symbols/symconflicts.h"
#include "common/diag.h"
#include "common/filter/out.h"
#include "common/process/tenants.h"
#include "common/formats/unwindstats.h"
#include "common/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define TOP 10 /* processes */

struct process {
	uint32_t comm, pid;
	uint64_t samples;
};

struct counts {
	struct addrspace as;
	uint64_t samples, fp, lost_records, lost_samples, throttled, first_ns, last_ns;
	uint64_t *of_event;
	struct intern keys;      /* of processes */
	struct process *process; /* by key - 1 */
	char written[64];
};

/* ---- counting ----------------------------------------------------------------------------------------------- */

static void info_count_process(struct counts *c, const struct perfdata_record *r)
{
	struct addrspace_thread *leader = addrspace_thread(&c->as, r->pid, r->pid);
	const uint32_t key[] = { addrspace_comm(&c->as, leader), r->pid };
	uint32_t before = c->keys.n, id = intern(&c->keys, (struct str){ (const char *)key, sizeof(key) });

	if (id > before) {
		c->process = mem_more(c->process, sizeof(*c->process), before);
		c->process[id - 1] = (struct process){ key[0], key[1], 0 };
	}
	c->process[id - 1].samples++;
}

static void count_sample(struct counts *c, const struct perfdata_record *r, const struct perfdata_event *events)
{
	c->samples++;
	c->fp += !r->sample.has_chain || r->sample.nips == 0;
	c->of_event[r->sample.event - events]++;
	if (r->has_time && (c->first_ns == 0 || r->time < c->first_ns))
		c->first_ns = r->time;
	if (r->has_time && r->time > c->last_ns)
		c->last_ns = r->time;
	info_count_process(c, r);
}

static void count_records(struct counts *c, struct perfdata *data)
{
	const struct perfdata_record *r;
	const struct perfdata_event *events;
	size_t n, had = 0;

	while ((r = perfdata_next(data)) != NULL) {
		events = perfdata_events(data, &n);
		if (n > had) { /* a pipe tells events on the way */
			c->of_event = mem_grow(c->of_event, sizeof(*c->of_event), n);
			memset(c->of_event + had, 0, (n - had) * sizeof(*c->of_event));
			had = n;
		}
		switch (r->kind) {
		case PERFDATA_SAMPLE: count_sample(c, r, events); break;
		case PERFDATA_LOST:
			if (r->lost.samples)
				c->lost_samples += r->lost.count;
			else if (!perfdata_info(data)->recorder.is)
				c->lost_records += r->lost.count;
			break;
		case PERFDATA_THROTTLE: c->throttled++; break;
		default: addrspace_record(&c->as, r); break;
		}
	}
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static unsigned long long info_ull(uint64_t v)
{
	return v;
}

static void info_put_line(struct out *o, const char *key, struct str value)
{
	if (value.n == 0)
		return;
	out_printf(o, "%-10s ", key);
	out_visible(o, value);
	out_char(o, '\n');
}

static void put_command(struct out *o, const struct perfdata_info *info)
{
	if (info->narguments == 0)
		return;
	out_printf(o, "%-10s", "command");
	for (size_t i = 0; i < info->narguments; i++) {
		out_char(o, ' ');
		out_visible(o, info->argument[i]);
	}
	out_char(o, '\n');
}

/* "2026-11-21T17:42:08"; false for times without a year of ours. */
static bool format_time(time_t seconds, char text[64])
{
	struct tm tm;

	return gmtime_r(&seconds, &tm) && strftime(text, 64, "%Y-%m-%dT%H:%M:%S", &tm);
}

/* A time on the record's clock as wall time, where the file tells how they relate. */
static void put_wall(struct out *o, const struct perfdata_info *info, uint64_t ns)
{
	uint64_t wall = info->clock_wall + (ns - info->clock_record);
	char text[64];

	if (info->has_clock_data && format_time((time_t)(wall / 1000000000u), text))
		out_printf(o, " (%s.%03lluZ)", text, info_ull(wall / 1000000u % 1000u));
}

/* When the recorder ended, as far as copies kept it: all that most files tell of the wall clock. */
static void note_written(struct counts *c, const struct in *in)
{
	struct stat st;

	if (!in->regular || fstat(in->fd, &st) < 0 || !format_time(st.st_mtime, c->written))
		c->written[0] = 0;
}

static void put_times(struct out *o, const struct counts *c, const struct perfdata_info *info)
{
	static const char *const clocks[] = {
		"CLOCK_REALTIME", "CLOCK_MONOTONIC", NULL, NULL, "CLOCK_MONOTONIC_RAW", NULL, NULL, "CLOCK_BOOTTIME"
	};
	const char *clock = info->clock >= 0 && (size_t)info->clock < countof(clocks) ? clocks[info->clock] : NULL;

	if (c->last_ns) {
		out_printf(o, "%-10s %llu.%09llu", "from", info_ull(c->first_ns / 1000000000u),
			   info_ull(c->first_ns % 1000000000u));
		put_wall(o, info, c->first_ns);
		out_printf(o, "\n%-10s %llu.%09llu", "to", info_ull(c->last_ns / 1000000000u),
			   info_ull(c->last_ns % 1000000000u));
		put_wall(o, info, c->last_ns);
		out_printf(o, "\n%-10s %.3f s\n", "duration", (double)(c->last_ns - c->first_ns) / 1e9);
	}
	if (info->clock < 0)
		out_printf(o, "%-10s perf's own; -k CLOCK_MONOTONIC tells wall time\n", "clock");
	else
		out_printf(o, "%-10s %s\n", "clock", clock ? clock : "another");
}

static void put_events(struct out *o, const struct counts *c, const struct perfdata_event *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t samples = c->of_event ? c->of_event[i] : 0;

		out_printf(o, "%-10s ", "event");
		out_visible(o, e[i].name);
		if (e[i].frequency)
			out_printf(o, ", %llu Hz", info_ull(e[i].frequency));
		else if (e[i].period)
			out_printf(o, ", every %llu", info_ull(e[i].period));
		out_printf(o, ", %llu sample%s%s%s\n", info_ull(samples), samples == 1 ? "" : "s",
			   e[i].sample_type & 1u << 13 ? ", stack copies" : "",
			   e[i].sample_type & 1u << 11 ? ", branches" : "");
	}
}

static int info_process_cmp(const void *va, const void *vb)
{
	const struct process *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void put_processes(struct out *o, struct counts *c)
{
	uint32_t n = c->keys.n;

	if (n)
		qsort(c->process, n, sizeof(*c->process), info_process_cmp);
	for (uint32_t i = 0; i < n && i < TOP; i++) {
		out_printf(o, "%-10s %llu sample%s, %.1f %%, pid %u, ", "process", info_ull(c->process[i].samples),
			   c->process[i].samples == 1 ? "" : "s",
			   100.0 * (double)c->process[i].samples / (double)c->samples, (unsigned)c->process[i].pid);
		out_visible(o, intern_str(&c->as.comms, c->process[i].comm));
		out_char(o, '\n');
	}
	if (n > TOP)
		out_printf(o, "%-10s and %u more\n", "process", (unsigned)(n - TOP));
}

static void put_seconds(struct out *o, uint64_t ns)
{
	out_printf(o, "%llu.%03llu s", info_ull(ns / 1000000000u), info_ull(ns / 1000000u % 1000u));
}

static void info_put_window(struct out *o, const struct perfdata_info *info)
{
	const struct pj_window *w = &info->recorder.window;

	out_printf(o, "%-10s %llu, from %llu.%09llu", "window", info_ull(w->serial), info_ull(w->begin / 1000000000u),
		   info_ull(w->begin % 1000000000u));
	put_wall(o, info, w->begin);
	if (w->end != UINT64_MAX && w->end >= w->begin) {
		out_text(o, ", planned for ");
		put_seconds(o, w->end - w->begin);
	}
	out_char(o, '\n');
}

/* Each number that is not 0. */
static void put_loss(struct out *o, const struct pj_loss *l)
{
	const struct {
		uint64_t n;
		const char *what;
	} losses[] = { { l->samples, "samples" },           { l->records, "records of processes" },
		       { l->throttled, "times throttled" }, { l->unknown, "samples of unknown processes" },
		       { l->late, "records too late" },     { l->depth, "callchains cut at the kernel's limit" } };
	bool any = false;

	out_printf(o, "%-10s ", "loss");
	for (size_t i = 0; i < countof(losses); i++) {
		if (!losses[i].n)
			continue;
		out_printf(o, "%s%llu %s", any ? ", " : "", info_ull(losses[i].n), losses[i].what);
		any = true;
	}
	out_printf(o, "%s; rings were up to %llu.%llu %% full\n", any ? "" : "none", info_ull(l->ring_high / 10),
		   info_ull(l->ring_high % 10));
}

static void info_put_tenant(struct out *o, const struct pj_tenant *row, const char *name)
{
	out_printf(o,
		   "%-10s %s: %llu samples without their stacks, %llu changes of mappings or names left out, "
		   "%llu processes not read again, %llu files not kept, ",
		   "over budget", name, info_ull(row->samples), info_ull(row->mappings), info_ull(row->reads),
		   info_ull(row->files));
	out_printf(o, "%llu lookups in JVMs and %llu of unwind tables left out\n", info_ull(row->jvms),
		   info_ull(row->tables));
}

static void info_put_tenants(struct out *o, const struct pj_tenants *tenants)
{
	const struct pj_tenant *others = &tenants->others;
	char name[TENANT_NAME];

	for (size_t i = 0; i < tenants->n; i++) {
		struct tenant of = { (enum tenant_kind)tenants->row[i].kind, tenants->row[i].key };

		info_put_tenant(o, &tenants->row[i], tenant_name(&of, name));
	}
	if (others->samples || others->mappings || others->reads || others->files || others->jvms || others->tables)
		info_put_tenant(o, others, "others");
}

/* What happened to helper processes of pjrecord. */
static void info_put_helpers(struct out *o, const struct recorder *r)
{
	static const char *const name[PJ_HELPERS] = {
		[PJ_HELPER_TABLES] = "unwind tables", [PJ_HELPER_JVM] = "JVMs", [PJ_HELPER_SAVER] = "symbols"
	};

	for (uint32_t i = 0; i < PJ_HELPERS; i++) {
		const struct pj_helper *h = &r->helper[i];

		if (h->hung || h->crashed || h->avoided || h->lingering || h->off)
			out_printf(
				o,
				"%-10s for %s: %llu hung, %llu crashed, %llu lookups left out after that, %llu not ended%s\n",
				"helpers", name[i], info_ull(h->hung), info_ull(h->crashed), info_ull(h->avoided),
				info_ull(h->lingering), h->off ? ", none runs" : "");
	}
}

/* Of stacks that pjrecord walked. */
static void put_unwinding(struct out *o, const struct recorder *r)
{
	struct text shown = { 0 };
	size_t named = 0;

	if (r->unwinding.stacks) {
		unwindstats_text(&shown, &r->unwinding);
		info_put_line(o, "stacks", text_view(&shown));
	}
	for (size_t i = 0; i < r->interpreted.n; i++)
		named += r->interpreted.method[i].name.n > 0;
	if (r->interpreted.n)
		out_printf(o, "%-10s %zu of Java were interpreted, %zu of them have a name\n", "methods",
			   r->interpreted.n, named);
	text_free(&shown);
}

/* What pjrecord says of its windows. */
static void put_recorder(struct out *o, const struct perfdata_info *info)
{
	const struct recorder *r = &info->recorder;
	size_t elsewhere = 0;

	if (!r->is)
		return;
	info_put_line(o, "pjrecord", r->version);
	info_put_line(o, "boot", r->boot);
	if (r->has_window)
		info_put_window(o, info);
	for (size_t i = 0; i < r->nidle; i++) {
		out_printf(o, "%-10s cpu %u, ", "idle", (unsigned)r->idle[i].cpu);
		put_seconds(o, r->idle[i].ns);
		out_char(o, '\n');
	}
	if (r->has_loss)
		put_loss(o, &r->loss);
	info_put_tenants(o, &r->tenants);
	info_put_helpers(o, r);
	put_unwinding(o, r);
	for (size_t i = 0; i < r->nprocesses; i++)
		elsewhere += r->process[i].flags & PJ_PROCESS_ELSEWHERE;
	if (r->nprocesses)
		out_printf(o, "%-10s %zu, %zu of them in other mount namespaces\n", "processes", r->nprocesses,
			   elsewhere);
	for (size_t i = 0; i < r->nkallsyms; i++)
		info_put_line(o, "kallsyms", r->kallsyms[i]);
}

static void put_info(struct out *o, const char *name, struct counts *c, struct perfdata *data)
{
	const struct perfdata_info *info = perfdata_info(data);
	uint64_t lost = c->lost_samples > c->lost_records ? c->lost_samples : c->lost_records;
	const struct perfdata_event *e;
	size_t n;

	info_put_line(o, "file", str_of(name));
	if (c->written[0])
		out_printf(o, "%-10s %sZ (the file's time)\n", "written", c->written);
	if (info->compressed)
		info_put_line(o, "packed", STR("zstd"));
	put_command(o, info);
	info_put_line(o, "host", info->host);
	info_put_line(o, "kernel", info->kernel);
	info_put_line(o, "perf", info->version);
	put_recorder(o, info);
	info_put_line(o, "machine", info->arch);
	info_put_line(o, "cpu", info->cpu);
	if (info->cpus)
		out_printf(o, "%-10s %u of %u online\n", "cpus", (unsigned)info->cpus_online, (unsigned)info->cpus);
	if (info->memory)
		out_printf(o, "%-10s %llu MiB\n", "memory", info_ull(info->memory >> 20));
	e = perfdata_events(data, &n);
	put_events(o, c, e, n);
	out_printf(o, "%-10s %llu, %llu without callchain\n", "samples", info_ull(c->samples), info_ull(c->fp));
	out_printf(o, "%-10s %llu, %.2f %%\n", "lost", info_ull(lost),
		   c->samples + lost ? 100.0 * (double)lost / (double)(c->samples + lost) : 0);
	out_printf(o, "%-10s %llu times\n", "throttled", info_ull(c->throttled));
	put_times(o, c, info);
	put_processes(o, c);
}

static void put_conflicts(void *out, const struct symconflicts *of)
{
	char name[TENANT_NAME];

	out_printf(
		out,
		"%-10s %s: %llu kept file%s the build-id of another file with other symbols, and name%s code of this tenant only; "
		"first %s\n",
		"conflicts", tenant_name(&of->tenant, name), info_ull(of->files), of->files == 1 ? " has" : "s have",
		of->files == 1 ? "s" : "", of->first);
}

static bool info_of(struct out *o, const char *saved, const char *path)
{
	struct counts c = { 0 };
	const struct perfdata_tally *t;
	struct perfdata *data;
	struct symstore symstore;
	struct in in;
	bool good;

	in_open(&in, path);
	if (!perfdata_is(in_peek(&in, 16)))
		die("'%s' is not perf.data", in.name);
	note_written(&c, &in); /* before what cannot be read at any place becomes a temporary file */
	data = perfdata_open(&in);
	addrspace_init(&c.as, false);
	count_records(&c, data);
	put_info(o, in.name, &c, data);
	symstore_open(&symstore, saved, &in, &perfdata_info(data)->recorder);
	symconflicts_each(&symstore, put_conflicts, o);
	symstore_close(&symstore);
	t = perfdata_tally(data);
	if (t->bad)
		warn("%s@%llu: %s; %llu record%s not used", in.name, info_ull(t->first_bad), t->why, info_ull(t->bad),
		     t->bad == 1 ? " is" : "s are");
	if (perfdata_info(data)->unfinished)
		warn("%s: the recorder did not end this file", in.name);
	good = !t->bad && !perfdata_info(data)->unfinished;
	addrspace_free(&c.as);
	intern_free(&c.keys);
	free(c.process);
	free(c.of_event);
	perfdata_close(data);
	in_close(&in);
	return good;
}

int info(const struct request *r, char **paths)
{
	struct out *o = mem_alloc(sizeof(*o), 1);
	bool good = true;

	out_open(o, r->out);
	if (!paths[0])
		good = info_of(o, r->recording.saved, NULL);
	for (size_t i = 0; paths[i]; i++) {
		if (i)
			out_char(o, '\n');
		good = info_of(o, r->recording.saved, paths[i]) && good;
	}
	out_close(o);
	free(o);
	return good ? PJ_OK : PJ_FAILED;
}
