/* SPDX-License-Identifier: Apache-2.0 */
/* pjfold - fold stack samples of perf into one line per distinct stack. */
#include "fold/foldopts.h"
#include "fold/foldrights.h"
#include "fold/info.h"
#include "fold/perfdata/perfdata.h"
#include "fold/quality.h"
#include "fold/report.h"
#include "fold/run.h"
#include "fold/slices.h"
#include "fold/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void read_folded(const struct request *r, struct in *in, struct result *res)
{
	unsigned columns;

	if (r->sample_option[0])
		die_usage("%s needs samples, but '%s' holds folded stacks", r->sample_option, in->name);
	columns = folded_read(in, &res->run.script.samples.stacks, &res->header, &res->folded);
	if (columns == 0)
		columns = res->columns;
	if (res->columns && columns != res->columns)
		die("'%s' has %u column%s, the inputs before have %u: they cannot be added", in->name, columns,
		    columns == 1 ? "" : "s", res->columns);
	res->columns = columns;
}

static void read_flamegraph(struct in *in, struct result *res)
{
	struct str line;

	while (in_line(in, &line))
		asflamegraph_line(&res->flamegraph, line, in_place(in), &res->run.script.samples.stacks);
}

static void read_input(const struct request *r, const char *path, struct result *res)
{
	struct in in;

	in_open(&in, path);
	if (r->as_flamegraph && perfdata_is(in_peek(&in, 16)))
		die_usage(
			"--as-flamegraph is about text, but '%s' is perf.data: perf script -i FILE | pjfold --as-flamegraph",
			in.name);
	/* stackcollapse-perf.pl takes everything for samples */
	switch (r->as_flamegraph ? INPUT_SCRIPT : run_kind(&in)) {
	case INPUT_RECORDING:
		res->script = true;
		recording_read(&r->recording, &in, &res->run.script.samples, &res->recording);
		break;
	case INPUT_SCRIPT:
		if (r->recording_option[0])
			die_usage("%s needs perf.data, but '%s' is text", r->recording_option, in.name);
		if (r->script.select.cgroup.n)
			die_usage("--only cgroup=: perf script text does not tell the cgroup, perf.data does");
		if (select_needs_wall(&r->script.select))
			die_usage("--from and --to: perf script text does not tell the wall clock; give seconds of the "
				  "record's clock, or +SECONDS from the first sample");
		res->script = true;
		res->text = true;
		if (r->as_flamegraph)
			read_flamegraph(&in, res);
		else
			run_script(&res->run, &in);
		break;
	case INPUT_FOLDED: read_folded(r, &in, res); break;
	case INPUT_EMPTY: break;
	}
	if (in.errors) {
		warn_at((struct place){ in.name, 0 }, "%s: the whole samples before are used", in.errors);
		res->damaged = true;
	}
	in_close(&in);
}

static void read_inputs(const struct request *r, char **paths, struct result *res)
{
	if (!paths[0])
		read_input(r, NULL, res);
	for (; paths[0]; paths++)
		read_input(r, paths[0], res);
	run_end(&res->run);
	if (res->script && r->as_flamegraph && !res->damaged)
		asflamegraph_end(&res->flamegraph, &res->run.script.samples.stacks);
	if (res->run.script.samples.tally.overflow)
		die("the sum of all weights does not fit into 63 bits");
	if (res->script && res->columns == 2)
		die("samples cannot be added to folded stacks of two columns");
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static struct folded_header pjfold_header_of(const struct request *r, const struct result *res, struct arena *a)
{
	const struct samples *p = &res->run.script.samples;
	struct folded_header h = res->header;
	char text[32];

	if (!h.unit.n)
		h.unit = res->script ? samples_unit(p, r->script.weight) : STR("samples");
	/* folded text without a header counts samples, and does not tell what was lost */
	h.samples += res->folded.headerless;
	h.lost_known =
		res->header.lost_known || (res->script && (p->tally.lost > 0 || !res->text)); /* perf.data tells all */
	if (!res->script)
		return h;
	if (!h.event.n)
		h.event = samples_event_name(p);
	if (!h.host.n)
		h.host = p->host;
	if (!h.frequency.n)
		h.frequency = p->frequency;
	if (p->tally.first_ns <= p->tally.last_ns && !h.from.n) {
		snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(p->tally.first_ns / 1000000000u),
			 (unsigned long long)(p->tally.first_ns % 1000000000u));
		h.from = arena_copy(a, str_of(text));
		snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(p->tally.last_ns / 1000000000u),
			 (unsigned long long)(p->tally.last_ns % 1000000000u));
		h.to = arena_copy(a, str_of(text));
	}
	h.samples += p->tally.samples;
	h.lost += p->tally.lost;
	return h;
}

/* --show-lost: what is missing has its place in the picture, too. */
static void add_lost(struct result *res)
{
	struct samples *p = &res->run.script.samples;
	uint64_t lost = p->tally.lost + res->header.lost;

	if (lost &&
	    !stacks_add(&p->stacks, stacks_child(&p->stacks, 0, stacks_frame(&p->stacks, STR("[lost]"))), 0, lost))
		die("the sum of all weights does not fit into 63 bits");
}

static void pjfold_write_result(const struct request *r, struct result *res)
{
	struct samples *p = &res->run.script.samples;
	struct folded_header header;
	struct stacks few = { 0 }, *s = &p->stacks;
	struct arena a = { 0 };
	struct out *o = mem_alloc(sizeof(*o), 1);

	if (r->recording.slice_ns) {
		header = pjfold_header_of(r, res, &a);
		res->slices =
			slices_write(r->out, s, r->header ? &header : NULL, &res->recording.slices, r->min_samples);
		free(o);
		arena_free(&a);
		return;
	}
	if (r->show_lost && res->columns != 2)
		add_lost(res);
	if (r->min_samples > 1 && res->columns != 2) {
		report_min(&few, s, r->min_samples);
		s = &few;
	}
	header = pjfold_header_of(r, res, &a);
	out_open(o, r->out);
	if (r->list_events)
		report_events(o, p->event, p->nevents);
	else if (r->top)
		report_top(o, s, r->top);
	else if (r->unresolved)
		quality_missing(o, &res->recording, p);
	else if (r->stacks)
		quality_stacks(o, &res->recording);
	else if (r->as_flamegraph && res->script)
		asflamegraph_write(o, s);
	else
		folded_write(o, s, res->columns == 2 ? 2 : 1, r->header || res->header.present ? &header : NULL);
	out_close(o);
	free(o);
	arena_free(&a);
	stacks_free(&few);
}

/* Is there anything to write? A file that is there is not replaced by nothing. */
static bool pjfold_usable(const struct result *res)
{
	const struct samples *p = &res->run.script.samples;

	return p->tally.samples || p->nevents || res->recording.recordings || res->flamegraph.samples ||
	       res->folded.lines || res->header.present;
}

int main(int argc, char **argv)
{
	struct request r = { 0 };
	struct result res = { 0 };
	int status;

	diag_tool("pjfold");
	foldopts_parse(&r, argc, &argv);
	foldrights_give_up(&r, argv);
	if (r.info)
		return info(&r, argv);
	res.flamegraph.options = r.flamegraph;
	run_init(&res.run, &r.script, (unsigned)r.threads);
	read_inputs(&r, argv, &res);
	if (pjfold_usable(&res) || !r.out)
		pjfold_write_result(&r, &res);
	status = summary(&r, &res);
	asflamegraph_free(&res.flamegraph);
	run_free(&res.run);
	recording_tally_free(&res.recording);
	foldopts_free(&r);
	return status;
}
