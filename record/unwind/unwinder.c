/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwinder.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "record/unwind/cfitables.h"
#include "record/unwind/samplestack.h"

#include <stdlib.h>

struct unwinder {
	struct cfitables *tables;
	struct javacode *javacode;
	struct javanames *names;
	struct samplestack *unwinding;
	uint64_t now; /* time in ns of the current poll of the rings */
	bool flush;
};

struct unwinder *unwinder_fork(void)
{
	struct unwinder *unwinder = mem_alloc(sizeof(*unwinder), 1);

	unwinder->tables = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	unwinder->javacode = javacode_new();
	return unwinder;
}

void unwinder_start(struct unwinder *unwinder, const struct processes *processes, struct budgets *budgets,
		    uint32_t max_frames)
{
	if (!unwinder)
		return;
	cfitables_budgets(unwinder->tables, budgets);
	javacode_start(unwinder->javacode, processes, budgets);
	unwinder->names = javanames_new();
	unwinder->unwinding = samplestack_new(processes, unwinder->tables, unwinder->javacode, unwinder->names);
	samplestack_limit(unwinder->unwinding, max_frames);
}

void unwinder_verify(struct unwinder *unwinder, unsigned show)
{
	if (unwinder)
		samplestack_verify(unwinder->unwinding, show);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	samplestack_free(unwinder->unwinding);
	javacode_free(unwinder->javacode);
	javanames_free(unwinder->names);
	cfitables_stop(unwinder->tables);
	free(unwinder);
}

int unwinder_fd(const struct unwinder *unwinder)
{
	return unwinder ? cfitables_fd(unwinder->tables) : -1;
}

void unwinder_take(struct unwinder *unwinder, uint64_t now)
{
	if (unwinder)
		cfitables_take(unwinder->tables, now);
}

void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush)
{
	if (!unwinder)
		return;
	unwinder->now = now;
	unwinder->flush = flush;
	javacode_begin(unwinder->javacode, horizon, now, flush);
}

bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out)
{
	return samplestack_sample(unwinder->unwinding, attr, sample, !unwinder->flush, unwinder->now, out);
}

bool unwinder_skip(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct text *out)
{
	return samplestack_skip(unwinder->unwinding, attr, sample, out);
}

void unwinder_recount(struct unwinder *unwinder, const uint64_t *ips, uint64_t nips)
{
	samplestack_recount(unwinder->unwinding, ips, nips);
}

void unwinder_name(struct unwinder *unwinder)
{
	if (unwinder)
		javacode_name(unwinder->javacode, unwinder->names);
}

void unwinder_tick(struct unwinder *unwinder, uint64_t now)
{
	if (!unwinder)
		return;
	cfitables_tick(unwinder->tables, now);
	javacode_tick(unwinder->javacode, now);
}

struct pj_unwinding unwinder_end(struct unwinder *unwinder)
{
	struct pj_unwinding counts;

	if (!unwinder)
		return (struct pj_unwinding){ 0 };
	javanames_recheck(unwinder->names);
	unwinder_name(unwinder);
	counts = samplestack_counts(unwinder->unwinding);
	samplestack_reset_counts(unwinder->unwinding);
	return counts;
}

void unwinder_put_code(struct unwinder *unwinder, struct text *text)
{
	if (unwinder)
		javacode_put_names(unwinder->javacode, true, text);
}

void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, bool stream, struct text *text)
{
	if (!unwinder)
		return;
	javacode_put_names(unwinder->javacode, stream, text);
	chunk_put_item(text, PJ_ITEM_UNWINDING, counts, sizeof(*counts));
	javanames_end(unwinder->names, text);
}

struct helper_counts unwinder_helpers(const struct unwinder *unwinder)
{
	return unwinder ? cfitables_count(unwinder->tables).helpers : (struct helper_counts){ 0 };
}

struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder)
{
	return unwinder ? javacode_count(unwinder->javacode).helpers : (struct helper_counts){ 0 };
}
