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
#include "fold/threads/threadtext.h"
#include "fold/toptable.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reading of the inputs ---------------------------------------------------------------------------------- */

static void read_folded(const struct request *request, struct in *input, struct result *res)
{
	struct folded_tally before = res->folded;
	unsigned columns;

	if (request->sample_option[0])
		die_usage("%s needs samples, but '%s' has folded stacks", request->sample_option, input->name);
	columns = folded_read(input, &res->run.script.samples.stacks, &res->header, &res->folded);
	folded_check(&before, &res->folded, input->name);
	if (columns == 0)
		columns = res->columns;
	if (res->columns && columns != res->columns)
		die("'%s' has %u column%s, but earlier inputs have %u: they cannot be added", input->name, columns,
		    columns == 1 ? "" : "s", res->columns);
	res->columns = columns;
}

static void read_flamegraph(struct in *input, struct result *res)
{
	struct str line;

	while (in_line(input, &line))
		asflamegraph_line(&res->flamegraph, line, in_place(input), &res->run.script.samples.stacks);
}

/* Reads the list of threads of --thread-dump=FILE from the file at `path`. Dies at an invalid line. */
static void read_thread_list(const char *path, struct threadreport *report)
{
	struct in input;
	struct str line;

	in_open(&input, path);
	while (in_line(&input, &line))
		if (!threadlist_line(&report->list, line))
			die_at(in_place(&input), "no line of a list of threads: PID TID NAME");
	in_close(&input);
	threadlist_sort(&report->list);
	report->listed = true;
}

/* Called for an input of text: dies if an option was given that needs perf.data. name: name of the input, for the
 * message. */
static void refuse_for_text(const struct request *request, const char *name)
{
	if (request->recording_option[0])
		die_usage("%s needs perf.data, but '%s' is text", request->recording_option, name);
	if (request->script.select.cgroup.n)
		die_usage("--only cgroup= needs perf.data: perf script text has no cgroups");
	if (select_needs_wall(&request->script.select))
		die_usage("--from and --to: perf script text has no wall clock: give seconds of the recording's "
			  "clock, or +SECONDS from the first sample");
}

/* Reads the input at `path` (NULL: standard input) according to its kind and adds it to *res. Dies if an option does
 * not apply to this kind of input. */
static void read_input(const struct request *request, const char *path, struct result *res)
{
	struct in input;

	in_open(&input, path);
	if (request->as_flamegraph && perfdata_is(in_peek(&input, 16)))
		die_usage("--as-flamegraph needs text, but '%s' is perf.data: perf script -i FILE | pjfold "
			  "--as-flamegraph",
			  input.name);
	/* --as-flamegraph treats every input as perf script text, as stackcollapse-perf.pl does. */
	switch (request->as_flamegraph ? INPUT_SCRIPT : run_kind(&input)) {
	case INPUT_RECORDING:
		res->script = true;
		recording_read(&request->recording, &input, &res->run.script.samples, &res->recording);
		break;
	case INPUT_SCRIPT:
		refuse_for_text(request, input.name);
		res->script = true;
		res->text = true;
		if (request->as_flamegraph)
			read_flamegraph(&input, res);
		else
			run_script(&res->run, &input);
		break;
	case INPUT_FOREIGN:
		refuse_for_text(request, input.name);
		res->script = res->text = res->foreign = true;
		run_foreign(&res->run, &input);
		break;
	case INPUT_FOLDED: read_folded(request, &input, res); break;
	case INPUT_EMPTY: break;
	}
	if (input.errors) {
		warn_at((struct place){ input.name, 0 }, "%s: the samples before it are used", input.errors);
		res->damaged = true;
	}
	in_close(&input);
}

/* Dies if more lines were skipped than belong to samples (headers and frames): the text is then not from perf
 * script. */
static void check_script(const struct samples *samples)
{
	const struct samples_tally *tally = &samples->tally;
	uint64_t used = tally->frames;

	for (uint32_t i = 0; i < samples->nevents; i++)
		used += samples->event[i].samples;
	if (tally->skipped > used)
		die("this is no text of perf script: %llu lines are not understood, %llu belong to samples",
		    (unsigned long long)tally->skipped, (unsigned long long)used);
}

/* Dies if samples were added to folded stacks whose header has another unit. */
static void check_unit(const struct request *request, const struct result *res)
{
	const struct samples *samples = &res->run.script.samples;
	struct str unit = res->header.unit, sampled = samples_unit(samples, request->script.weight);

	if (res->script && samples->tally.samples && unit.n && !str_eq(unit, sampled))
		die("samples with weights in '%.*s' cannot be added to folded stacks with weights in '%.*s': fold "
		    "them into files of their own",
		    (int)sampled.n, sampled.p, (int)unit.n, unit.p);
}

static void read_inputs(const struct request *request, char **paths, struct result *res)
{
	if (!paths[0])
		read_input(request, NULL, res);
	for (; paths[0]; paths++)
		read_input(request, paths[0], res);
	run_end(&res->run);
	if (res->text && !request->as_flamegraph)
		check_script(&res->run.script.samples);
	if (res->script && request->as_flamegraph && !res->damaged)
		asflamegraph_end(&res->flamegraph, &res->run.script.samples.stacks);
	if (res->run.script.samples.tally.overflow)
		die("the sum of all weights does not fit into 63 bits");
	if (res->script && res->columns == 2)
		die("samples cannot be added to folded stacks of two columns");
	check_unit(request, res);
}

/* ---- writing of the output ---------------------------------------------------------------------------------- */

/* Returns true if the losses of all inputs are known. They are unknown for folded text without a header. */
static bool is_lost_known(const struct result *res)
{
	if (res->folded.headerless || (res->header.present && !res->header.lost_known))
		return false;
	/* perf.data has records of all losses; perf script prints losses only on request. So losses of both are known
	 * only in part. */
	if (res->script)
		return !res->text || (res->run.script.samples.tally.lost > 0 && !res->recording.recordings);
	return res->header.present;
}

/* Returns the header of the output: the sum of the headers of folded inputs and of the counts of samples. `arena` owns
 * the texts of the header. */
static struct folded_header pjfold_header_of(const struct request *request, const struct result *res,
					     struct arena *arena)
{
	const struct samples *samples = &res->run.script.samples;
	struct folded_header header = res->header;
	char from[32], to[32];

	if (!header.unit.n)
		header.unit = res->script ? samples_unit(samples, request->script.weight) : STR("samples");
	/* The sum of the weights of folded text without a header is its number of samples. */
	header.samples += res->folded.headerless;
	header.lost_known = is_lost_known(res);
	if (!res->script)
		return header;
	folded_header_join(arena, &header.event, samples_event_name(samples));
	folded_header_join(arena, &header.host, samples->host);
	folded_header_join(arena, &header.frequency, samples->frequency);
	if (samples->tally.first_ns <= samples->tally.last_ns) {
		snprintf(from, sizeof(from), "%llu.%09llu", (unsigned long long)(samples->tally.first_ns / 1000000000u),
			 (unsigned long long)(samples->tally.first_ns % 1000000000u));
		snprintf(to, sizeof(to), "%llu.%09llu", (unsigned long long)(samples->tally.last_ns / 1000000000u),
			 (unsigned long long)(samples->tally.last_ns % 1000000000u));
		folded_header_times(&header, arena_copy(arena, str_of(from)), arena_copy(arena, str_of(to)));
	}
	header.samples += samples->tally.samples;
	header.lost += samples->tally.lost;
	return header;
}

/* Handles --show-lost: adds a stack [lost] whose weight is the number of lost samples, so that pictures show the
 * loss. */
static void add_lost(struct result *res)
{
	struct samples *samples = &res->run.script.samples;
	uint64_t lost = samples->tally.lost + res->header.lost;

	if (lost &&
	    !stacks_add(&samples->stacks,
			stacks_child(&samples->stacks, 0, stacks_frame(&samples->stacks, STR("[lost]"))), 0, lost))
		die("the sum of all weights does not fit into 63 bits");
}

/* Writes the output of pjfold: the files of --time-slice, or one report, or the folded stacks. */
static void pjfold_write_result(const struct request *request, struct result *res)
{
	static const char *const groups[] = {
		[BY_NONE] = "", [BY_CGROUP] = "cgroup", [BY_CONTAINER] = "container", [BY_POD] = "pod"
	};
	struct toptable_options top = {
		.keys = &request->sort,
		.rows = request->top,
		.by = request->recording.by != BY_NONE,
		.comm = request->script.comm != COMM_NONE,
		.thread = request->recording.root == ROOT_BOTH,
		.group = groups[request->recording.by],
	};
	struct samples *samples = &res->run.script.samples;
	struct folded_header header;
	struct stacks few = { 0 }, *stacks = &samples->stacks;
	struct arena arena = { 0 };
	struct out *out = mem_alloc(sizeof(*out), 1);

	if (slices_name_fits(request->out) && request->recording.slice_ns) {
		header = pjfold_header_of(request, res, &arena);
		res->slices = slices_write(request->out, stacks, request->header ? &header : NULL,
					   &res->recording.slices, request->min_samples);
		free(out);
		arena_free(&arena);
		return;
	}
	if (request->recording.slice_ns)
		slices_complete(stacks, &res->recording.slices);
	if (request->show_lost && res->columns != 2)
		add_lost(res);
	if (request->min_samples > 1 && res->columns != 2) {
		report_min(&few, stacks, request->min_samples);
		stacks = &few;
	}
	header = pjfold_header_of(request, res, &arena);
	top.ns = str_eq(header.unit, STR("ns"));
	out_open(out, request->out);
	if (request->list_events)
		report_events(out, samples->event, samples->nevents);
	else if (request->top)
		toptable_write(out, stacks, &top);
	else if (request->tree)
		report_tree(out, stacks, request->tree_percent, request->sort.order);
	else if (request->unresolved)
		quality_missing(out, &res->recording, samples);
	else if (request->thread_dump)
		out_str(out, text_view(&res->threads.text));
	else if (request->stacks)
		quality_stacks(out, &res->recording, samples_event_name(&res->run.script.samples));
	else if (request->as_flamegraph && res->script)
		asflamegraph_write(out, stacks);
	else
		folded_write(out, stacks, res->columns == 2 ? 2 : 1,
			     request->header || res->header.present ? &header : NULL);
	out_close(out);
	free(out);
	arena_free(&arena);
	stacks_free(&few);
}

/* Returns true if the inputs have anything to write; false: pjfold leaves an existing file of -o as it is. */
static bool pjfold_usable(const struct result *res)
{
	const struct samples *samples = &res->run.script.samples;

	return samples->tally.samples || samples->nevents || res->recording.recordings || res->flamegraph.samples ||
	       res->folded.lines || res->header.present;
}

int main(int argc, char **argv)
{
	struct request request = { 0 };
	struct result res = { 0 };
	int status;

	diag_tool("pjfold");
	foldopts_parse(&request, argc, &argv);
	foldrights_give_up(&request, argv);
	if (request.info)
		return info(&request, argv);
	res.flamegraph.options = request.flamegraph;
	run_init(&res.run, &request.script, (unsigned)request.threads);
	if (request.thread_dump)
		request.recording.thread_report = &res.threads;
	if (request.threads_file)
		read_thread_list(request.threads_file, &res.threads);
	read_inputs(&request, argv, &res);
	if (pjfold_usable(&res) || !request.out)
		pjfold_write_result(&request, &res);
	status = summary(&request, &res);
	asflamegraph_free(&res.flamegraph);
	run_free(&res.run);
	recording_tally_free(&res.recording);
	threadreport_free(&res.threads);
	foldopts_free(&request);
	return status;
}
