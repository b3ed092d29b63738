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
	uint64_t now; /* of this look at the rings */
	bool flush;
};

struct unwinder *unwinder_fork(void)
{
	struct unwinder *c = mem_alloc(sizeof(*c), 1);

	c->tables = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	c->javacode = javacode_new();
	return c;
}

void unwinder_start(struct unwinder *c, const struct processes *p, struct budgets *budgets, uint32_t max_frames)
{
	if (!c)
		return;
	cfitables_budgets(c->tables, budgets);
	javacode_start(c->javacode, p, budgets);
	c->names = javanames_new();
	c->unwinding = samplestack_new(p, c->tables, c->javacode, c->names);
	samplestack_limit(c->unwinding, max_frames);
}

void unwinder_verify(struct unwinder *c, unsigned show)
{
	if (c)
		samplestack_verify(c->unwinding, show);
}

void unwinder_free(struct unwinder *c)
{
	if (!c)
		return;
	samplestack_free(c->unwinding);
	javacode_free(c->javacode);
	javanames_free(c->names);
	cfitables_stop(c->tables);
	free(c);
}

int unwinder_fd(const struct unwinder *c)
{
	return c ? cfitables_fd(c->tables) : -1;
}

void unwinder_take(struct unwinder *c, uint64_t now)
{
	if (c)
		cfitables_take(c->tables, now);
}

void unwinder_begin(struct unwinder *c, uint64_t horizon, uint64_t now, bool flush)
{
	if (!c)
		return;
	c->now = now;
	c->flush = flush;
	javacode_begin(c->javacode, horizon, now, flush);
}

bool unwinder_sample(struct unwinder *c, const struct perf_event_attr *a, const struct ring_sample *r, struct text *out)
{
	return samplestack_sample(c->unwinding, a, r, !c->flush, c->now, out);
}

void unwinder_name(struct unwinder *c)
{
	if (c)
		javacode_name(c->javacode, c->names);
}

void unwinder_tick(struct unwinder *c, uint64_t now)
{
	if (!c)
		return;
	cfitables_tick(c->tables, now);
	javacode_tick(c->javacode, now);
}

struct pj_unwinding unwinder_end(struct unwinder *c)
{
	struct pj_unwinding counts;

	if (!c)
		return (struct pj_unwinding){ 0 };
	unwinder_name(c);
	counts = samplestack_counts(c->unwinding);
	samplestack_reset_counts(c->unwinding);
	return counts;
}

void unwinder_put(struct unwinder *c, const struct pj_unwinding *counts, struct text *t)
{
	if (!c)
		return;
	chunk_put_item(t, PJ_ITEM_UNWINDING, counts, sizeof(*counts));
	javanames_end(c->names, t);
}

struct helper_counts unwinder_helpers(const struct unwinder *c)
{
	return c ? cfitables_count(c->tables).helpers : (struct helper_counts){ 0 };
}

struct helper_counts unwinder_jvm_helpers(const struct unwinder *c)
{
	return c ? javacode_count(c->javacode).helpers : (struct helper_counts){ 0 };
}
