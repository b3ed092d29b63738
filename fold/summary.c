/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/summary.h"

#include "fold/symbols/fileopener.h"
#include "fold/quality.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long long summary_ull(uint64_t v)
{
	return v;
}

static const char *summary_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *summary_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

static uint64_t count_stacks(const struct stacks *s)
{
	uint64_t n = 0;

	for (uint32_t id = 1; id < s->n; id++)
		n += s->self[0][id] != 0 || (s->self[1] && s->self[1][id] != 0);
	return n;
}

/* ---- perf script text --------------------------------------------------------------------------------------- */

static void name_skipped(const struct result *res)
{
	const struct samples_tally *t = &res->run.script.samples.tally;

	for (uint64_t i = 0; i < t->skipped && i < SAMPLES_PLACES; i++)
		warn_at(run_place(&res->run, t->place[i].block, t->place[i].line), "skipped, not understood: '%s'",
			t->place[i].text);
	if (t->skipped > SAMPLES_PLACES)
		warn("%llu more lines were skipped", summary_ull(t->skipped - SAMPLES_PLACES));
}

/* The events that were there beside the one that is counted, the most frequent first. */
static void name_other_events(const struct samples *p)
{
	struct samples_event *other = mem_alloc(sizeof(*other), p->nevents);
	char text[600];
	size_t n = 0, at = 0;

	for (uint32_t i = 0; i < p->nevents; i++)
		if ((!p->chosen || !str_eq(samplekey_event_key(p->event[i].name), p->event_key)) &&
		    select_event(&p->options->select, p->event[i].name)) /* who chose does not hear of the rest */
			other[n++] = p->event[i];
	qsort(other, n, sizeof(*other), samples_event_cmp);
	for (size_t i = 0; i < n && at < sizeof(text) - 150; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s (%llu sample%s)", i ? ", " : "",
				       (int)(other[i].name.n < 90 ? other[i].name.n : 90), other[i].name.p,
				       summary_ull(other[i].samples), summary_plural(other[i].samples));
	if (n)
		warn("not counted, as one event is folded at a time: %s; choose with --only event=NAME", text);
	free(other);
}

static uint64_t all_samples(const struct samples *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->nevents; i++)
		n += p->event[i].samples;
	return n;
}

/* perf script shows losses only when asked; that none were seen proves nothing. */
static void put_lost(char *text, size_t cap, const struct samples_tally *t, bool reported)
{
	if (t->lost && reported)
		snprintf(text, cap, "%llu lost (%.2f %%)", summary_ull(t->lost),
			 100.0 * (double)t->lost / (double)(t->lost + t->samples + t->deselected));
	else if (t->lost || reported)
		snprintf(text, cap, "%llu lost", summary_ull(t->lost));
	else
		snprintf(text, cap, "losses not told");
}

/* Recorders tell some losses at the end only. */
static uint64_t lost_without_slice(const struct result *res)
{
	uint64_t all = res->run.script.samples.tally.lost, timed = res->recording.slices.sum;

	return all > timed ? all - timed : 0;
}

/* How sure names of Java code are. */
static void print_timelines(const struct recording_timelines *t)
{
	uint64_t all = t->sure + t->likely + t->ambiguous + t->unknown;
	double percent = all ? 100.0 / (double)all : 0;

	warn("timelines of %llu JVM%s: %llu addresses in compiled code, %.2f %% between two scans (%.2f %% ambiguous), %.2f %% not seen",
	     summary_ull(t->files), summary_plural(t->files), summary_ull(all),
	     (double)(t->likely + t->ambiguous) * percent, (double)t->ambiguous * percent,
	     (double)t->unknown * percent);
	if (t->left_out)
		warn("pjmap could not read or name up to %llu pieces of their code", summary_ull(t->left_out));
	if (t->newest)
		warn("the recording's clock is not CLOCK_MONOTONIC: code of JVMs has its newest names (perf record -k CLOCK_MONOTONIC, or pjrecord)");
}

/* What only perf.data tells. */
static void print_recording(const struct request *r, const struct result *res)
{
	const struct recording_tally *t = &res->recording;

	if (res->slices)
		warn("%llu slice%s of time written", summary_ull(res->slices), summary_plural(res->slices));
	if (res->slices && r->header && lost_without_slice(res))
		warn("%llu lost samples have no time, and are in no slice", summary_ull(lost_without_slice(res)));
	if (fileopener_skipped())
		warn("%u file%s left alone, of file systems that do not answer: --unresolved names them",
		     fileopener_skipped(), fileopener_skipped() == 1 ? " was" : "s were");
	if (t->throttled)
		warn("the kernel throttled the event %llu time%s, for want of time: samples are missing there",
		     summary_ull(t->throttled), summary_plural(t->throttled));
	if (t->garbage)
		warn("%llu callchain%s damaged: %s", summary_ull(t->garbage), t->garbage == 1 ? " is" : "s are",
		     t->as_perf ? "their samples have no frames, as in perf script" :
				  "the frames before the damage are used");
	if (t->copy_cut)
		warn("%llu stack%s longer than the recorded copy, the outer callers are missing: perf record --call-graph dwarf,65528",
		     summary_ull(t->copy_cut), t->copy_cut == 1 ? " is" : "s are");
	if (t->limit_cut)
		warn("%llu stack%s cut at %llu frames, the outer callers are missing: sysctl kernel.perf_event_max_stack=%llu, then record",
		     summary_ull(t->limit_cut), t->limit_cut == 1 ? " is" : "s are", summary_ull(t->limit),
		     summary_ull(t->limit < 512 ? 1024 : 2 * t->limit));
	if (t->event_cut)
		warn("%llu stack%s cut where the recorder was told to (perf record --max-stack)",
		     summary_ull(t->event_cut), t->event_cut == 1 ? " is" : "s are");
	if (t->methods_left_out)
		warn("%llu interpreted frame%s unknown: pjrecord met more methods than it can name",
		     summary_ull(t->methods_left_out), t->methods_left_out == 1 ? " is" : "s are");
	if (t->deferred)
		warn("%llu user callchain%s deferred and not joined", summary_ull(t->deferred),
		     t->deferred == 1 ? " was" : "s were");
	if (t->maps.n)
		warn("%s; %llu line%s of perf maps %s not used", t->maps.first, summary_ull(t->maps.n),
		     summary_plural(t->maps.n), summary_are(t->maps.n));
	if (t->jitdumps.n)
		warn("%s; %llu record%s of jitdumps %s not used", t->jitdumps.first, summary_ull(t->jitdumps.n),
		     summary_plural(t->jitdumps.n), summary_are(t->jitdumps.n));
	if (t->conflicts)
		warn("%llu file%s the build-id of another file with other symbols: each named the code of its own user or container only",
		     summary_ull(t->conflicts), t->conflicts == 1 ? " has" : "s have");
	if (t->timelines.errors.n)
		warn("%s; %llu timeline%s of JVMs %s not used, or not to the end", t->timelines.errors.first,
		     summary_ull(t->timelines.errors.n), summary_plural(t->timelines.errors.n),
		     summary_are(t->timelines.errors.n));
	if (t->timelines.files)
		print_timelines(&t->timelines);
	if (t->inlined.files + t->inlined.without)
		warn("inlined functions: %llu file%s have debug information, %llu have none",
		     summary_ull(t->inlined.files), summary_plural(t->inlined.files), summary_ull(t->inlined.without));
	if (t->inlined.errors.n)
		warn("%s; inlined functions of %llu file%s are not all there", t->inlined.errors.first,
		     summary_ull(t->inlined.errors.n), summary_plural(t->inlined.errors.n));
	if (t->kernel)
		warn("no names of the kernel: %s", t->kernel);
	if (res->run.script.samples.tally.deep)
		quality_print(t, samples_event_name(&res->run.script.samples));
}

static void print_script(const struct request *r, const struct result *res)
{
	const struct samples *p = &res->run.script.samples;
	const struct samples_tally *t = &p->tally;
	struct str event = samples_event_name(p);
	uint64_t stacks = count_stacks(&p->stacks);
	char lost[60], left_out[80] = "", skipped[60] = "", deferred[60] = "";

	put_lost(lost, sizeof(lost), t, !res->text);
	if (t->deselected)
		snprintf(left_out, sizeof(left_out), ", %llu not selected", summary_ull(t->deselected));
	if (t->skipped)
		snprintf(skipped, sizeof(skipped), ", %llu line%s skipped", summary_ull(t->skipped),
			 summary_plural(t->skipped));
	if (t->deferred)
		snprintf(deferred, sizeof(deferred), ", %llu deferred callchain%s not joined", summary_ull(t->deferred),
			 summary_plural(t->deferred));
	warn("%llu sample%s%s%.*s in %llu stack%s: %llu without callchain, %s, %.1f %% of frames resolved%s%s%s",
	     summary_ull(t->samples), summary_plural(t->samples), event.n ? " of " : "", (int)event.n, event.p,
	     summary_ull(stacks), summary_plural(stacks), summary_ull(t->fp), lost,
	     t->frames ? 100.0 * (double)(t->frames - t->unresolved) / (double)t->frames : 0.0, left_out, skipped,
	     deferred);
	if (res->recording.recordings)
		print_recording(r, res);
	if (t->samples && t->deep == 0)
		warn("0 callchains of more than one frame: was perf record run without -g?");
}

/* What was asked for, but cannot be answered from this text. */
static void summary_print_missing(const struct request *r, const struct result *res)
{
	const struct samples_tally *t = &res->run.script.samples.tally;
	const struct samples_options *o = &r->script;

	if (!res->text)
		return;
	if (!t->with_pid && (o->pid || o->tid || o->select.pid.n))
		warn("the input names threads only: perf script -F +pid adds process ids");
	if (!t->lost && (r->has_max_lost || r->show_lost))
		warn("the input tells of no losses: perf script shows them with --show-lost-events");
}

/* Was anything left out of the files that tell names? */
static bool skipped_target(const struct recording_tally *t)
{
	return t->maps.n || t->jitdumps.n || t->timelines.errors.n || t->inlined.errors.n;
}

static int finish_script(const struct request *r, const struct result *res)
{
	const struct samples *p = &res->run.script.samples;
	const struct samples_tally *t = &p->tally;
	double lost = t->samples + t->lost ? 100.0 * (double)t->lost / (double)(t->samples + t->lost) : 0;

	name_skipped(res);
	if (!r->list_events)
		name_other_events(p);
	if (r->list_events)
		return p->nevents ? PJ_OK : PJ_FAILED;
	if (!r->quiet)
		print_script(r, res);
	summary_print_missing(r, res);
	if (t->samples == 0 && all_samples(p) == 0 && !res->text) {
		warn("no samples: the recording holds none");
		return PJ_OK;
	}
	if (t->samples == 0) {
		warn("no samples: %llu were seen, %llu of the folded event, none was selected",
		     summary_ull(all_samples(p)), summary_ull(t->deselected));
		return PJ_FAILED;
	}
	if (r->strict && (t->skipped || t->deferred || skipped_target(&res->recording)))
		return PJ_FAILED;
	if (r->has_max_lost && lost > r->max_lost) {
		warn("%.2f %% of the samples were lost, more than the %.2f %% of --max-lost", lost, r->max_lost);
		return PJ_THRESHOLD;
	}
	return PJ_OK;
}

/* ---- --as-flamegraph ---------------------------------------------------------------------------------------- */

static int finish_flamegraph(const struct request *r, const struct result *res)
{
	const struct asflamegraph *f = &res->flamegraph;

	for (size_t i = 0; i < countof(f->first_unrecognized) && f->first_unrecognized[i].name; i++)
		warn_at(f->first_unrecognized[i], "skipped, not recognized by stackcollapse-perf.pl's rules");
	if (f->skipped)
		warn("%llu samples of other events than %.*s were not counted, the first of %.*s",
		     summary_ull(f->skipped), (int)f->event.n, f->event.p, (int)f->skipped_event.n, f->skipped_event.p);
	if (f->overflows)
		warn_at(f->first_overflow, "%llu samples left out: weights beyond 63 bits", summary_ull(f->overflows));
	if (!r->quiet)
		warn("%llu samples in %llu stacks: %llu without callchain, %llu lines skipped", summary_ull(f->samples),
		     summary_ull(count_stacks(&res->run.script.samples.stacks)), summary_ull(f->stackless),
		     summary_ull(f->unrecognized + f->stray));
	if (f->samples == 0) {
		warn("no samples");
		return PJ_FAILED;
	}
	return f->overflows || (r->strict && f->unrecognized + f->stray) ? PJ_FAILED : PJ_OK;
}

/* ---- folded text -------------------------------------------------------------------------------------------- */

static int finish_folded(const struct request *r, const struct result *res)
{
	const struct folded_tally *t = &res->folded;
	const struct folded_header *h = &res->header;
	uint64_t known = h->samples + h->lost, stacks = count_stacks(&res->run.script.samples.stacks);
	char more[160] = "";

	for (size_t i = 0; i < countof(t->first_bad) && t->first_bad[i].name; i++)
		warn_at(t->first_bad[i], "skipped: %s", t->why[i]);
	if (t->bad || t->rounded)
		snprintf(more, sizeof(more), "; %llu lines skipped, %llu decimals rounded", summary_ull(t->bad),
			 summary_ull(t->rounded));
	if (!r->quiet && !res->script)
		warn("%llu line%s in %llu stack%s, weight %llu%s", summary_ull(t->lines), summary_plural(t->lines),
		     summary_ull(stacks), summary_plural(stacks),
		     summary_ull(stacks_sum(&res->run.script.samples.stacks, 0)), more);
	else if (!r->quiet)
		warn("%llu lines of folded stacks were added%s", summary_ull(t->lines), more);
	if (t->lines == 0 && t->bad)
		return PJ_FAILED;
	if (r->strict && (t->bad || t->rounded))
		return PJ_FAILED;
	if (r->has_max_lost && known && 100.0 * (double)h->lost > r->max_lost * (double)known) {
		warn("%.2f %% of the samples were lost, more than the %.2f %% of --max-lost",
		     100.0 * (double)h->lost / (double)known, r->max_lost);
		return PJ_THRESHOLD;
	}
	return PJ_OK;
}

static bool any_folded(const struct result *res)
{
	return res->columns || res->folded.bad || res->header.present;
}

int summary(const struct request *r, const struct result *res)
{
	int status = PJ_OK;

	if (any_folded(res))
		status = finish_folded(r, res);
	if (res->script) {
		int more = r->as_flamegraph ? finish_flamegraph(r, res) : finish_script(r, res);

		if (status != PJ_FAILED)
			status = more ? more : status;
	} else if (!any_folded(res)) {
		warn("no samples: the input is empty");
		status = PJ_FAILED;
	}
	return res->damaged || res->recording.damaged ? PJ_FAILED : status;
}
