/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/quality.h"

#include "common/diag.h"
#include "common/formats/unwindstats.h"
#include "common/visible.h"
#include "fold/samples/samplekey.h"

#include <stdlib.h>

/* Minimum number of stacks with a problem for which quality_print() reports their percentage. */
#define FEW 20

/* Returns part / all in percent; 0 if `all` is 0. The result is at most 99.9 unless part equals all: 100.0 means all,
 * as in the report line of pjrecord (unwindstats.h). */
static double quality_percent(uint64_t part, uint64_t all)
{
	double share = all ? 100.0 * (double)part / (double)all : 0;

	return share > 99.9 && part < all ? 99.9 : share;
}

static unsigned long long quality_ull(uint64_t value)
{
	return value;
}

/* ---- unnamed frames ----------------------------------------------------------------------------------------- */

static int missing_cmp(const void *left, const void *right)
{
	const struct recording_missing *missing = left, *b = right;
	int c;

	if (missing->frames != b->frames)
		return missing->frames < b->frames ? 1 : -1;
	c = str_cmp(missing->dso, b->dso);
	return c ? c : strcmp(missing->why, b->why);
}

void quality_missing(struct out *out, const struct recording_tally *tally, const struct samples *samples)
{
	uint32_t n = tally->missing_keys.n;
	struct recording_missing *missing = mem_alloc(sizeof(*missing), n);

	if (n)
		memcpy(missing, tally->missing, n * sizeof(*missing));
	qsort(missing, n, sizeof(*missing), missing_cmp);
	out_printf(out, "%12s %7s  %-40s  %s\n", "frames", "%", "code", "why there is no name");
	for (uint32_t i = 0; i < n; i++) {
		struct text dso = { 0 };

		visible_str(&dso, missing[i].dso);
		out_printf(out, "%12llu %6.2f%%  %-40.*s  %s\n", quality_ull(missing[i].frames),
			   quality_percent(missing[i].frames, samples->tally.frames), (int)dso.n, dso.p,
			   missing[i].why);
		text_free(&dso);
	}
	free(missing);
}

/* ---- completeness of stacks --------------------------------------------------------------------------------- */

static int quality_cmp(const void *left, const void *right)
{
	const struct recording_quality *quality = left, *b = right;

	if (quality->samples != b->samples)
		return quality->samples < b->samples ? 1 : -1;
	return str_cmp(quality->name, b->name);
}

static struct recording_quality quality_sum(const struct recording_tally *tally)
{
	struct recording_quality all = { .name = STR("(all)") };

	for (uint32_t i = 0; i < tally->quality_keys.n; i++) {
		const struct recording_quality *quality = &tally->quality[i];

		all.samples += quality->samples;
		all.counts.reaches_root += quality->counts.reaches_root;
		all.counts.cut += quality->counts.cut;
		all.counts.unknown += quality->counts.unknown;
		all.counts.unsymbolized_root += quality->counts.unsymbolized_root;
		all.single += quality->single;
		all.counts.user += quality->counts.user;
		all.frames += quality->frames;
		all.unresolved += quality->unresolved;
	}
	return all;
}

/* Returns the number of samples with a broken stack: user code, and neither complete, truncated nor unknown. */
static uint64_t quality_broken(const struct recording_quality *quality)
{
	return quality->counts.user - quality->counts.reaches_root - quality->counts.unknown - quality->counts.cut;
}

static void quality_put_row(struct out *out, const struct recording_quality *quality)
{
	const uint64_t part[] = { quality->counts.reaches_root, quality->counts.cut, quality_broken(quality),
				  quality->counts.unknown, quality->single };
	struct text raw = { 0 };

	out_printf(out, "%12llu", quality_ull(quality->samples));
	for (size_t i = 0; i < countof(part); i++)
		if (quality->counts.user)
			out_printf(out, " %7.1f%%", quality_percent(part[i], quality->counts.user));
		else
			out_printf(out, " %8s", "-");
	out_printf(out, " %9.1f%%  ", quality_percent(quality->unresolved, quality->frames));
	/* quality->name is escaped in the tree. Restore its bytes here, because out_visible() escapes them again. */
	visible_bytes(&raw, quality->name);
	out_visible(out, text_view(&raw));
	text_free(&raw);
	out_char(out, '\n');
}

/* Writes the off-CPU time of user threads in three shares: complete stacks, incomplete stacks, stacks not read. Writes
 * nothing if there is no off-CPU time. */
static void quality_put_waits(struct out *out, const struct pj_offcpu *offcpu)
{
	double all = (double)offcpu->read_ns + (double)offcpu->unread_ns;

	if (all <= 0)
		return;
	out_printf(out, "%12s %8s %8s %8s\n", "seconds", "complete", "not", "not read");
	out_printf(
		out,
		"%12.3f %7.1f%% %7.1f%% %7.1f%%  off-CPU time of both events, stacks read while the thread was off the CPU\n",
		all / 1e9, 100 * (double)offcpu->complete_ns / all,
		100 * (double)(offcpu->read_ns - offcpu->complete_ns) / all, 100 * (double)offcpu->unread_ns / all);
}

void quality_stacks(struct out *out, const struct recording_tally *tally, struct str event)
{
	uint32_t n = tally->quality_keys.n;
	struct recording_quality *quality = mem_alloc(sizeof(*quality), n), all = quality_sum(tally);

	if (n)
		memcpy(quality, tally->quality, n * sizeof(*quality));
	qsort(quality, n, sizeof(*quality), quality_cmp);
	out_printf(out, "%12s %8s %8s %8s %8s %8s %10s  %s\n", "samples", "complete", "cut", "broken", "unknown",
		   "1 frame", "no name", "first frame");
	for (uint32_t i = 0; i < n; i++)
		quality_put_row(out, &quality[i]);
	quality_put_row(out, &all);
	free(quality);
	if (samplekey_has_waits(event))
		quality_put_waits(out, &tally->offcpu);
}

/* Returns the first frame (mostly a process) with the most stacks of only one user frame, if stacks of one user frame
 * are more than half of the user stacks with this first frame, and at least FEW; otherwise NULL. In stacks of one user
 * frame the unwinder found no caller. */
static const struct recording_quality *quality_worst(const struct recording_tally *tally)
{
	const struct recording_quality *quality = NULL;

	for (uint32_t i = 0; i < tally->quality_keys.n; i++) {
		const struct recording_quality *q = &tally->quality[i];

		if (q->single >= FEW && 2 * q->single > q->counts.user &&
		    (!quality || q->single > quality->single ||
		     (q->single == quality->single && str_cmp(q->name, quality->name) < 0)))
			quality = q;
	}
	return quality;
}

/* Returns advice for a process whose stacks lack callers. event: name of the event. waits_read: true if stacks were
 * read while threads were off the CPU, so that callers are missing only for waits that were too short, and in processes
 * that pjrecord may not read. unwound: true if pjrecord unwound the stacks with unwind tables. */
static const char *quality_remedy(const struct recording_quality *quality, struct str event, bool waits_read,
				  bool unwound)
{
	if (samplekey_has_waits(event) && waits_read)
		return "its threads were off the CPU too briefly, or may not be read";
	if (samplekey_has_waits(event))
		return quality->java ?
			       "off-CPU callchains need frame pointers: run Java with -XX:+PreserveFramePointer" :
			       "off-CPU callchains need frame pointers: build with -fno-omit-frame-pointer, run Java with "
			       "-XX:+PreserveFramePointer";
	if (unwound)
		return quality->java ? "run Java with -XX:+PreserveFramePointer" :
				       "build with -fasynchronous-unwind-tables or -fno-omit-frame-pointer";
	if (quality->java)
		return "run Java with -XX:+PreserveFramePointer, or record with pjrecord --unwind=auto";
	return "build with -fno-omit-frame-pointer, or record with pjrecord --unwind=tables (perf: --call-graph dwarf)";
}

/* Prints the shares of complete, truncated, broken, unknown and one-frame stacks, in the form of the report line of
 * pjrecord (unwindstats.h). */
static void quality_print_counts(const struct recording_quality *all)
{
	const struct {
		uint64_t n;
		const char *what;
	} part[] = { { all->counts.cut, "are truncated" },
		     { quality_broken(all), "are broken" },
		     { all->counts.unknown, "are of unknown completeness" },
		     { all->single, "have one frame of user code only" } };
	struct text text = { 0 };

	unwindstats_share(&text, all->counts.reaches_root, all->counts.user);
	text_add(&text, " of ");
	text_grouped(&text, all->counts.user);
	text_add(&text, " stacks are complete");
	for (size_t i = 0; i < countof(part); i++) {
		if (!part[i].n)
			continue;
		text_add(&text, ", ");
		unwindstats_share(&text, part[i].n, all->counts.user);
		text_char(&text, ' ');
		text_add(&text, part[i].what);
	}
	warn("%.*s", (int)text.n, text.p);
	text_free(&text);
}

void quality_print(const struct recording_tally *tally, struct str event)
{
	struct recording_quality all = quality_sum(tally);
	const struct recording_quality *quality = quality_worst(tally);

	if (all.counts.user)
		quality_print_counts(&all);
	if (all.counts.unknown > all.counts.unsymbolized_root)
		warn("%.1f %% of the stacks may be complete: they pass code that may keep no frame pointers",
		     quality_percent(all.counts.unknown - all.counts.unsymbolized_root, all.counts.user));
	if (all.counts.unsymbolized_root >= FEW && 10 * all.counts.unsymbolized_root > all.counts.user)
		warn("%.1f %% of the stacks start in code without symbols (--unresolved lists it), and may be "
		     "complete",
		     quality_percent(all.counts.unsymbolized_root, all.counts.user));
	if (quality)
		warn("%.*s: %.0f %% of the stacks have one frame of user code only: %s", (int)quality->name.n,
		     quality->name.p, quality_percent(quality->single, quality->counts.user),
		     quality_remedy(quality, event, tally->offcpu.read, tally->unwound));
}
