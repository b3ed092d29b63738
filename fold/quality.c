/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/quality.h"

#include "common/diag.h"
#include "common/visible.h"

#include <stdlib.h>

#define FEW 20 /* samples, of which no share is worth a word */

static double quality_percent(uint64_t part, uint64_t complete)
{
	return complete ? 100.0 * (double)part / (double)complete : 0;
}

static unsigned long long quality_ull(uint64_t v)
{
	return v;
}

/* ---- names -------------------------------------------------------------------------------------------------- */

static int missing_cmp(const void *va, const void *vb)
{
	const struct recording_missing *a = va, *b = vb;
	int c;

	if (a->frames != b->frames)
		return a->frames < b->frames ? 1 : -1;
	c = str_cmp(a->dso, b->dso);
	return c ? c : strcmp(a->why, b->why);
}

void quality_missing(struct out *o, const struct recording_tally *t, const struct samples *p)
{
	uint32_t n = t->missing_keys.n;
	struct recording_missing *m = mem_alloc(sizeof(*m), n);

	if (n)
		memcpy(m, t->missing, n * sizeof(*m));
	qsort(m, n, sizeof(*m), missing_cmp);
	out_printf(o, "%12s %7s  %-40s  %s\n", "frames", "%", "code", "why there is no name");
	for (uint32_t i = 0; i < n; i++) {
		struct text dso = { 0 };

		visible_str(&dso, m[i].dso);
		out_printf(o, "%12llu %6.2f%%  %-40.*s  %s\n", quality_ull(m[i].frames),
			   quality_percent(m[i].frames, p->tally.frames), (int)dso.n, dso.p, m[i].why);
		text_free(&dso);
	}
	free(m);
}

/* ---- stacks ------------------------------------------------------------------------------------------------- */

static int quality_cmp(const void *va, const void *vb)
{
	const struct recording_quality *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return str_cmp(a->name, b->name);
}

static struct recording_quality quality_sum(const struct recording_tally *t)
{
	struct recording_quality all = { .name = STR("(all)") };

	for (uint32_t i = 0; i < t->quality_keys.n; i++) {
		const struct recording_quality *q = &t->quality[i];

		all.samples += q->samples;
		all.reaches_root += q->reaches_root;
		all.cut += q->cut;
		all.unsymbolized_root += q->unsymbolized_root;
		all.single += q->single;
		all.user += q->user;
		all.frames += q->frames;
		all.unresolved += q->unresolved;
	}
	return all;
}

static void quality_put_row(struct out *o, const struct recording_quality *q)
{
	struct text raw = { 0 };

	out_printf(o, "%12llu %7.1f%% %7.1f%% %7.1f%% %7.1f%% %9.1f%%  ", quality_ull(q->samples),
		   quality_percent(q->reaches_root, q->samples), quality_percent(q->cut, q->samples),
		   quality_percent(q->samples - q->reaches_root - q->cut, q->samples),
		   quality_percent(q->single, q->samples), quality_percent(q->unresolved, q->frames));
	visible_bytes(&raw, q->name); /* names of frames are escaped once already */
	out_visible(o, text_view(&raw));
	text_free(&raw);
	out_char(o, '\n');
}

void quality_stacks(struct out *o, const struct recording_tally *t)
{
	uint32_t n = t->quality_keys.n;
	struct recording_quality *q = mem_alloc(sizeof(*q), n), all = quality_sum(t);

	if (n)
		memcpy(q, t->quality, n * sizeof(*q));
	qsort(q, n, sizeof(*q), quality_cmp);
	out_printf(o, "%12s %8s %8s %8s %8s %10s  %s\n", "samples", "whole", "cut", "broken", "1 frame", "no name",
		   "first frame");
	for (uint32_t i = 0; i < n; i++)
		quality_put_row(o, &q[i]);
	quality_put_row(o, &all);
	free(q);
}

/* The process of which most stacks have one frame of user code: callers were not found. */
static const struct recording_quality *quality_worst(const struct recording_tally *t)
{
	const struct recording_quality *w = NULL;

	for (uint32_t i = 0; i < t->quality_keys.n; i++) {
		const struct recording_quality *q = &t->quality[i];

		if (q->single >= FEW && 2 * q->single > q->user &&
		    (!w || q->single > w->single || (q->single == w->single && str_cmp(q->name, w->name) < 0)))
			w = q;
	}
	return w;
}

/* What would help a process whose callers were not found. Off the CPU, the kernel has no registers to copy for tables.
 */
static const char *quality_remedy(const struct recording_quality *q, struct str event)
{
	if (str_starts(event, STR("offcpu-time")))
		return q->java ?
			       "off the CPU only frame pointers help: run Java with -XX:+PreserveFramePointer" :
			       "off the CPU only frame pointers help: build with -fno-omit-frame-pointer, run Java with -XX:+PreserveFramePointer";
	if (q->java)
		return "run Java with -XX:+PreserveFramePointer, or record with pjrecord --unwind=auto";
	return "build with -fno-omit-frame-pointer, or record with pjrecord --unwind=tables (perf: --call-graph dwarf)";
}

void quality_print(const struct recording_tally *t, struct str event)
{
	struct recording_quality all = quality_sum(t);
	const struct recording_quality *w = quality_worst(t);

	warn("%.1f %% of the stacks are whole, %.1f %% are cut by the recorder, %.1f %% have one frame of user code only",
	     quality_percent(all.reaches_root, all.samples), quality_percent(all.cut, all.samples),
	     quality_percent(all.single, all.samples));
	if (all.unsymbolized_root >= FEW && 10 * all.unsymbolized_root > all.samples)
		warn("%.1f %% of the stacks begin in code that has no names (--unresolved says which), and may be whole",
		     quality_percent(all.unsymbolized_root, all.samples));
	if (w)
		warn("%.*s: %.0f %% of the stacks have one frame of user code only: %s", (int)w->name.n, w->name.p,
		     quality_percent(w->single, w->user), quality_remedy(w, event));
}
