/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/summary.h"

#include "common/clocks.h"
#include "fold/opener/fileopener.h"
#include "fold/quality.h"
#include "fold/samples/samplekey.h"
#include "fold/troubles.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long long summary_ull(uint64_t value)
{
	return value;
}

static const char *summary_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *summary_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

static uint64_t count_stacks(const struct stacks *stacks)
{
	uint64_t n = 0;

	for (uint32_t id = 1; id < stacks->n; id++)
		n += stacks->self[0][id] != 0 || (stacks->self[1] && stacks->self[1][id] != 0);
	return n;
}

/* ---- samples from perf script text and perf.data ----------------------------------------------------------------- */

static void name_skipped(const struct result *res)
{
	const struct samples_tally *tally = &res->run.script.samples.tally;

	for (uint64_t i = 0; i < tally->skipped && i < SAMPLES_PLACES; i++)
		warn_at(run_place(&res->run, tally->place[i].block, tally->place[i].line),
			"skipped, not recognized: '%s'", tally->place[i].text);
	if (tally->skipped > SAMPLES_PLACES)
		warn("%llu more lines were skipped", summary_ull(tally->skipped - SAMPLES_PLACES));
}

/* Warns of events that were not folded, in descending order of their numbers of samples. */
static void name_other_events(const struct samples *samples)
{
	struct samples_event *other = mem_alloc(sizeof(*other), samples->nevents);
	char text[600];
	size_t n = 0, at = 0;

	/* Events that the user excluded by --only event= are not reported. */
	for (uint32_t i = 0; i < samples->nevents; i++)
		if ((!samples->chosen || !str_eq(samplekey_event_key(samples->event[i].name), samples->event_key)) &&
		    select_event(&samples->options->select, samples->event[i].name))
			other[n++] = samples->event[i];
	qsort(other, n, sizeof(*other), samples_event_cmp);
	for (size_t i = 0; i < n && at < sizeof(text) - 150; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s (%llu sample%s)", i ? ", " : "",
				       (int)(other[i].name.n < 90 ? other[i].name.n : 90), other[i].name.p,
				       summary_ull(other[i].samples), summary_plural(other[i].samples));
	if (n)
		warn("not counted, as one event is folded at a time: %s; choose with --only event=NAME", text);
	free(other);
}

static uint64_t all_samples(const struct samples *samples)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < samples->nevents; i++)
		n += samples->event[i].samples;
	return n;
}

/* Formats the number of lost samples into `text`, a buffer of `cap` bytes. reported: true: the input contains all
 * losses; false: perf script prints losses only on request, so a number of 0 means that losses are unknown. */
static void put_lost(char *text, size_t cap, const struct samples_tally *tally, bool reported)
{
	if (tally->lost && reported)
		snprintf(text, cap, "%llu lost (%.2f %%)", summary_ull(tally->lost),
			 100.0 * (double)tally->lost / (double)(tally->lost + tally->samples + tally->deselected));
	else if (tally->lost || reported)
		snprintf(text, cap, "%llu lost", summary_ull(tally->lost));
	else
		snprintf(text, cap, "losses unknown");
}

/* Returns the number of lost samples that belong to no slice, because their records have no time: recorders write some
 * numbers of lost samples only at the end of the recording. */
static uint64_t lost_without_slice(const struct result *res)
{
	uint64_t all = res->run.script.samples.tally.lost, timed = res->recording.slices.sum;

	return all > timed ? all - timed : 0;
}

/* Prints the statistics of code timelines: number of addresses looked up, and percentages of addresses with an
 * uncertain name and without a name. */
static void print_timelines(const struct recording_timelines *timelines)
{
	uint64_t all = timelines->sure + timelines->likely + timelines->ambiguous + timelines->unknown;
	double percent = all ? 100.0 / (double)all : 0;

	warn("timelines of %llu JVM%s: %llu addresses in compiled code, %.2f %% between two scans (%.2f "
	     "%% ambiguous), %.2f %% unknown",
	     summary_ull(timelines->files), summary_plural(timelines->files), summary_ull(all),
	     (double)(timelines->likely + timelines->ambiguous) * percent, (double)timelines->ambiguous * percent,
	     (double)timelines->unknown * percent);
	if (timelines->left_out)
		warn("pjmap could not read or name up to %llu of their code blobs", summary_ull(timelines->left_out));
	if (timelines->newest)
		warn("the recording's clock is not CLOCK_MONOTONIC: code of JVMs has its newest names; use perf "
		     "record -k CLOCK_MONOTONIC, or pjrecord");
}

/* Shortest time in ns between the first and the last sample that is shown as a duration. */
#define SHORTEST_NS (SECOND_NS / 20)
/* Without --verbose, print_waits() reports a process only if pjfold waited at least this time, in ns, for files of the
 * process to open. */
#define LONG_WAIT (5 * SECOND_NS)

/* Prints the processes with files that were skipped because opening them took too long: with --verbose all of these
 * processes, otherwise only processes for whose files pjfold waited LONG_WAIT or more. */
static void print_waits(const struct request *request, const struct recording_tally *tally)
{
	for (size_t i = 0; i < tally->nwaits; i++) {
		const struct recording_wait *wait = &tally->wait[i];

		if (wait->ns >= LONG_WAIT || request->verbose)
			warn("%s (pid %d): waited %.1f s for its files, then skipped %u: their file system responds "
			     "slowly or not at all",
			     wait->name, (int)wait->pid, (double)wait->ns / (double)SECOND_NS, wait->skipped);
	}
}

/* Prints the number of written time slices, the samples and losses without a slice, and the long waits for files. Then
 * prints a line for each kind of damaged file with names: perf maps, jitdumps, timelines, debug information. */
static void print_files(const struct request *request, const struct result *res)
{
	const struct recording_tally *tally = &res->recording;

	if (res->slices)
		warn("%llu time slice%s written", summary_ull(res->slices), summary_plural(res->slices));
	if (request->recording.slice_ns && (request->header || !res->slices) && lost_without_slice(res))
		warn("%llu lost samples have no time and are in no slice", summary_ull(lost_without_slice(res)));
	if (tally->untimed)
		warn("%llu sample%s no time, as of perf record --no-timestamp: the slice of these is " SLICES_NO_TIME,
		     summary_ull(tally->untimed), tally->untimed == 1 ? " has" : "s have");
	print_waits(request, tally);
	if (tally->maps.n)
		warn("%s; %llu line%s of perf maps %s not used", tally->maps.first, summary_ull(tally->maps.n),
		     summary_plural(tally->maps.n), summary_are(tally->maps.n));
	if (tally->jitdumps.n)
		warn("%s; %llu record%s of jitdumps %s not used", tally->jitdumps.first, summary_ull(tally->jitdumps.n),
		     summary_plural(tally->jitdumps.n), summary_are(tally->jitdumps.n));
	if (tally->timelines.errors.n)
		warn("%s; %llu timeline%s of JVMs %s not used, or only in part", tally->timelines.errors.first,
		     summary_ull(tally->timelines.errors.n), summary_plural(tally->timelines.errors.n),
		     summary_are(tally->timelines.errors.n));
	if (tally->inlined.errors.n)
		warn("%s; some inlined functions of %llu file%s are missing", tally->inlined.errors.first,
		     summary_ull(tally->inlined.errors.n), summary_plural(tally->inlined.errors.n));
}

/* Prints the counts of recordings (perf.data), which text of samples does not have. */
static void print_recording(const struct result *res)
{
	const struct recording_tally *tally = &res->recording;

	if (fileopener_skipped())
		warn("%u file%s skipped, because their file systems do not respond: --unresolved lists them",
		     fileopener_skipped(), fileopener_skipped() == 1 ? " was" : "s were");
	if (tally->throttled)
		warn("the kernel throttled the event %llu time%s: samples are missing there",
		     summary_ull(tally->throttled), summary_plural(tally->throttled));
	if (tally->garbage)
		warn("%llu callchain%s damaged: %s", summary_ull(tally->garbage), tally->garbage == 1 ? " is" : "s are",
		     tally->as_perf ? "their samples have no frames, as in perf script" :
				      "the frames before the damage are used");
	if (tally->copy_cut)
		warn("%llu stack%s longer than the recorded copy, without outer callers: use perf record "
		     "--call-graph dwarf,65528",
		     summary_ull(tally->copy_cut), tally->copy_cut == 1 ? " is" : "s are");
	if (tally->limit_cut)
		warn("%llu stack%s truncated at %llu frames, without outer callers: sysctl "
		     "kernel.perf_event_max_stack=%llu, then record",
		     summary_ull(tally->limit_cut), tally->limit_cut == 1 ? " is" : "s are", summary_ull(tally->limit),
		     summary_ull(tally->limit < 512 ? 1024 : 2 * tally->limit));
	if (tally->event_cut)
		warn("%llu stack%s truncated by perf record --max-stack", summary_ull(tally->event_cut),
		     tally->event_cut == 1 ? " is" : "s are");
	if (tally->methods_left_out)
		warn("%llu interpreted frame%s unknown: there were more methods than pjrecord can name",
		     summary_ull(tally->methods_left_out), tally->methods_left_out == 1 ? " is" : "s are");
	if (tally->code_left_out)
		warn("%llu frame%s in code of JVMs beyond the limit of names of a window: use shorter windows",
		     summary_ull(tally->code_left_out), tally->code_left_out == 1 ? " is" : "s are");
	if (tally->deferred)
		warn("%llu user callchain%s deferred and not joined", summary_ull(tally->deferred),
		     tally->deferred == 1 ? " was" : "s were");
	if (tally->conflicts)
		warn("%llu file%s the build-id of another file with other symbols: each names only code of its "
		     "own user or container",
		     summary_ull(tally->conflicts), tally->conflicts == 1 ? " has" : "s have");
	if (tally->timelines.files)
		print_timelines(&tally->timelines);
	if (tally->inlined.files + tally->inlined.without)
		warn("inlined functions: %llu file%s have debug information or tables of Go, %llu have none",
		     summary_ull(tally->inlined.files), summary_plural(tally->inlined.files),
		     summary_ull(tally->inlined.without));
	if (tally->kernel)
		warn("no kernel symbols: %s", tally->kernel);
	if (res->run.script.samples.tally.deep)
		quality_print(tally, samples_event_name(&res->run.script.samples));
}

/* Prints the line of counts of all samples, and, if there was perf.data, the counts of recordings. */
static void print_script(const struct result *res)
{
	const struct samples *samples = &res->run.script.samples;
	const struct samples_tally *tally = &samples->tally;
	struct str event = samples_event_name(samples);
	uint64_t stacks = count_stacks(&samples->stacks);
	char lost[60], left_out[80] = "", skipped[60] = "", deferred[60] = "";

	put_lost(lost, sizeof(lost), tally, !res->text);
	if (tally->deselected)
		snprintf(left_out, sizeof(left_out), ", %llu not selected", summary_ull(tally->deselected));
	if (tally->skipped)
		snprintf(skipped, sizeof(skipped), ", %llu line%s skipped", summary_ull(tally->skipped),
			 summary_plural(tally->skipped));
	if (tally->deferred)
		snprintf(deferred, sizeof(deferred), ", %llu deferred callchain%s not joined",
			 summary_ull(tally->deferred), summary_plural(tally->deferred));
	warn("%llu sample%s%s%.*s in %llu stack%s: %llu without callchain, %s, %.1f %% of frames resolved%s%s%s",
	     summary_ull(tally->samples), summary_plural(tally->samples), event.n ? " of " : "", (int)event.n, event.p,
	     summary_ull(stacks), summary_plural(stacks), summary_ull(tally->without_frames), lost,
	     tally->frames ? 100.0 * (double)(tally->frames - tally->unresolved) / (double)tally->frames : 0.0,
	     left_out, skipped, deferred);
	if (res->recording.recordings)
		print_recording(res);
}

/* ---- summary sentence -------------------------------------------------------------------------------------------- */

/* Returns the judgement on all inputs: the counts of all samples, and the troubles of the recordings. */
static struct judgement judgement_on_inputs(const struct request *request, const struct result *res)
{
	const struct samples *samples = &res->run.script.samples;
	const struct samples_tally *tally = &samples->tally;
	struct judgement judgement = res->recording.judgement;

	judgement.samples = tally->samples;
	judgement.lost = tally->lost;
	judgement.processes = res->recording.pids.n;
	judgement.ns = tally->first_ns < tally->last_ns ? tally->last_ns - tally->first_ns : 0;
	if (judgement.ns < SHORTEST_NS)
		judgement.ns = 0;
	judgement.frames = tally->frames;
	judgement.unnamed = tally->unresolved;
	/* A program may block only a few times, so a small number of off-CPU samples is no trouble. */
	judgement.may_be_small = samplekey_has_waits(samples_event_name(samples));
	/* `lacking` is a number of threads of all processes of the recording. How many of these threads belong to the
	 * selected processes and times is unknown, so `lacking` is used only if all processes and times are selected.
	 */
	if (judgement.may_be_small && !select_is_partial(&samples->options->select))
		judgement.lacking = res->recording.offcpu.lacking;
	if (res->text && !res->foreign && !res->recording.recordings)
		judgement_add(&judgement, TROUBLE_TEXT, (struct str){ 0 }, tally->unresolved);
	/* a recorded stack of one frame is truncated or broken, which is another trouble */
	if (tally->deep == 0 && res->recording.with_stacks == 0 && !res->foreign)
		judgement_add(&judgement, TROUBLE_NO_CALLCHAIN, (struct str){ 0 }, tally->samples);
	else if (res->recording.recordings && !request->recording.packed)
		/* pjpack does not report troubles of stacks, because it cannot change the stacks. */
		troubles_of_stacks(&res->recording, samples, &judgement);
	return judgement;
}

/* Prints the summary sentence. With --verbose, first prints all counts, and a line for each further trouble. */
static void print_judgement(const struct request *request, struct result *res)
{
	struct text text = { 0 };
	struct str rest, line;

	if (request->verbose)
		print_script(res);
	res->recording.judgement = judgement_on_inputs(request, res);
	if (request->verbose)
		judgement_lines(&text, &res->recording.judgement);
	for (rest = text_view(&text); rest.n;) {
		line = str_cut(&rest, '\n');
		warn("%.*s", (int)line.n, line.p);
	}
	text.n = 0;
	judgement_sentence(&text, &res->recording.judgement);
	warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

/* Prints the sentence of --thread-dump. With --verbose, it first prints all counts. */
static void print_threads(const struct request *request, const struct result *res)
{
	struct text text = { 0 };

	if (request->verbose)
		print_script(res);
	threadtext_sentence(&res->threads.counts, &text);
	warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

/* Warns if an option needs process ids or losses, but the perf script text does not contain them. */
static void summary_print_missing(const struct request *request, const struct result *res)
{
	const struct samples_tally *tally = &res->run.script.samples.tally;
	const struct samples_options *options = &request->script;

	if (!res->text)
		return;
	if (!tally->with_pid && !res->foreign && (options->pid || options->tid || options->select.pid.n))
		warn("the input has no process ids: perf script -F +pid adds them");
	if (!tally->lost && !res->foreign && (request->has_max_lost || request->show_lost))
		warn("the input has no losses: perf script prints them with --show-lost-events");
}

/* Warns that no sample of the input was counted, with the cause and the option that lists the choices. */
static void warn_none_selected(const struct samples *samples)
{
	const struct select *select = &samples->options->select;
	uint64_t all = all_samples(samples);

	if (!all)
		warn("no samples: the input has none");
	else if (samples->tally.deselected)
		warn("no samples: the options select none of %llu%s", summary_ull(samples->tally.deselected),
		     select->comm.n ? " (--top --sort=comm lists the names of threads)" : "");
	else
		warn("no samples: none of %llu is of a chosen event (--list-events lists the events)",
		     summary_ull(all));
}

/* Warns that a recording has no sample. A process that waits all the time has no sample if its stack could not be read.
 */
static void warn_empty(const struct pj_offcpu *offcpu)
{
	if (offcpu->lacking)
		warn("no samples: the recording has none; %llu thread%s waited since before the recording %s not shown",
		     summary_ull(offcpu->lacking), offcpu->lacking == 1 ? " that has" : "s that have",
		     summary_are(offcpu->lacking));
	else
		warn("no samples: the recording has none");
}

/* Returns true if a file with names (perf map, jitdump, timeline, debug information) was damaged, so that not all of
 * its names were used; false if all such files were read completely. */
static bool skipped_target(const struct recording_tally *tally)
{
	return tally->maps.n || tally->jitdumps.n || tally->timelines.errors.n || tally->inlined.errors.n;
}

/* Prints the summary of samples from perf script text and perf.data, and returns the exit status. */
static int finish_script(const struct request *request, struct result *res)
{
	const struct samples *samples = &res->run.script.samples;
	const struct samples_tally *tally = &samples->tally;
	double lost =
		tally->samples + tally->lost ? 100.0 * (double)tally->lost / (double)(tally->samples + tally->lost) : 0;

	name_skipped(res);
	if (!request->list_events)
		name_other_events(samples);
	if (request->list_events) {
		if (!samples->nevents)
			warn("no samples: the %s none", res->text ? "input has" : "recording has");
		return samples->nevents || !res->text ? PJ_OK : PJ_FAILED;
	}
	if (!request->quiet)
		print_files(request, res);
	summary_print_missing(request, res);
	if (!request->quiet && request->thread_dump)
		print_threads(request, res);
	else if (!request->quiet && tally->samples)
		print_judgement(request, res);
	else if (request->verbose)
		print_script(res);
	if (request->thread_dump && !threadtext_stacks(&res->threads.counts)) {
		warn("no thread has a stack: record for longer, or as root");
		return PJ_FAILED;
	}
	if (tally->samples == 0 && all_samples(samples) == 0 && !res->text) {
		warn_empty(&res->recording.offcpu);
		return PJ_OK;
	}
	if (tally->samples == 0) {
		warn_none_selected(samples);
		return PJ_FAILED;
	}
	if (request->strict && (tally->skipped || tally->deferred || skipped_target(&res->recording)))
		return PJ_FAILED;
	if (request->has_max_lost && lost > request->max_lost) {
		warn("%.2f %% of the samples were lost, more than the %.2f %% of --max-lost", lost, request->max_lost);
		return PJ_THRESHOLD;
	}
	return PJ_OK;
}

/* ---- summary of --as-flamegraph ----------------------------------------------------------------------------- */

/* Prints the summary of --as-flamegraph and returns the exit status. */
static int finish_flamegraph(const struct request *request, const struct result *res)
{
	const struct asflamegraph *asflamegraph = &res->flamegraph;

	for (size_t i = 0; i < countof(asflamegraph->first_unrecognized) && asflamegraph->first_unrecognized[i].name;
	     i++)
		warn_at(asflamegraph->first_unrecognized[i],
			"skipped, not recognized by stackcollapse-perf.pl's rules");
	if (asflamegraph->skipped)
		warn("%llu samples of other events than %.*s were not counted, the first of %.*s",
		     summary_ull(asflamegraph->skipped), (int)asflamegraph->event.n, asflamegraph->event.p,
		     (int)asflamegraph->skipped_event.n, asflamegraph->skipped_event.p);
	if (asflamegraph->overflows)
		warn_at(asflamegraph->first_overflow, "%llu samples left out: weights beyond 63 bits",
			summary_ull(asflamegraph->overflows));
	if (!request->quiet)
		warn("%llu samples in %llu stacks: %llu without callchain, %llu lines skipped",
		     summary_ull(asflamegraph->samples), summary_ull(count_stacks(&res->run.script.samples.stacks)),
		     summary_ull(asflamegraph->stackless),
		     summary_ull(asflamegraph->unrecognized + asflamegraph->stray));
	if (asflamegraph->samples == 0) {
		warn("no samples");
		return PJ_FAILED;
	}
	return asflamegraph->overflows || (request->strict && asflamegraph->unrecognized + asflamegraph->stray) ?
		       PJ_FAILED :
		       PJ_OK;
}

/* ---- summary of folded stacks ------------------------------------------------------------------------------- */

/* Prints the summary of folded inputs and returns the exit status. */
static int finish_folded(const struct request *request, const struct result *res)
{
	const struct folded_tally *tally = &res->folded;
	const struct folded_header *header = &res->header;
	uint64_t known = header->samples + header->lost, stacks = count_stacks(&res->run.script.samples.stacks);
	char more[160] = "";

	for (size_t i = 0; i < countof(tally->first_bad) && tally->first_bad[i].name; i++)
		warn_at(tally->first_bad[i], "skipped: %s", tally->why[i]);
	if (tally->bad || tally->rounded)
		snprintf(more, sizeof(more), "; %llu lines skipped, %llu decimals rounded", summary_ull(tally->bad),
			 summary_ull(tally->rounded));
	if (!request->quiet && !res->script)
		warn("%llu line%s in %llu stack%s, weight %llu%s", summary_ull(tally->lines),
		     summary_plural(tally->lines), summary_ull(stacks), summary_plural(stacks),
		     summary_ull(stacks_sum(&res->run.script.samples.stacks, 0)), more);
	else if (!request->quiet)
		warn("%llu lines of folded stacks were added%s", summary_ull(tally->lines), more);
	if (tally->lines == 0 && tally->bad)
		return PJ_FAILED;
	if (request->strict && (tally->bad || tally->rounded))
		return PJ_FAILED;
	if (request->has_max_lost && known && !header->samples_unknown &&
	    100.0 * (double)header->lost > request->max_lost * (double)known) {
		warn("%.2f %% of the samples were lost, more than the %.2f %% of --max-lost",
		     100.0 * (double)header->lost / (double)known, request->max_lost);
		return PJ_THRESHOLD;
	}
	return PJ_OK;
}

static bool any_folded(const struct result *res)
{
	return res->columns || res->folded.bad || res->header.present;
}

int summary(const struct request *request, struct result *res)
{
	int status = PJ_OK;

	if (any_folded(res))
		status = finish_folded(request, res);
	if (res->script) {
		int more = request->as_flamegraph ? finish_flamegraph(request, res) : finish_script(request, res);

		if (status != PJ_FAILED)
			status = more ? more : status;
	} else if (!any_folded(res)) {
		warn("no samples: the input is empty");
		status = PJ_FAILED;
	}
	return res->damaged || res->recording.damaged ? PJ_FAILED : status;
}
