/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwinder.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "record/unwind/cfitables.h"
#include "record/unwind/samplestack.h"

#include <stdlib.h>

struct callers {
	struct tables *tables;
	struct javacode *javacode;
	struct javanames *names;
	struct unwinding *unwinding;
	uint64_t now; /* of this look at the rings */
	bool hurry;
};

struct callers *callers_fork(void)
{
	struct callers *c = mem_alloc(sizeof(*c), 1);

	c->tables = tables_start(&(struct tables_options){ .proc = "/proc" });
	c->javacode = javacode_new();
	return c;
}

void callers_start(struct callers *c, const struct processes *p, struct budgets *budgets, uint32_t max_frames)
{
	if (!c)
		return;
	tables_budgets(c->tables, budgets);
	javacode_start(c->javacode, p, budgets);
	c->names = javanames_new();
	c->unwinding = unwinding_new(p, c->tables, c->javacode, c->names);
	unwinding_limit(c->unwinding, max_frames);
}

void callers_verify(struct callers *c, unsigned show)
{
	if (c)
		unwinding_verify(c->unwinding, show);
}

void callers_free(struct callers *c)
{
	if (!c)
		return;
	unwinding_free(c->unwinding);
	javacode_free(c->javacode);
	javanames_free(c->names);
	tables_stop(c->tables);
	free(c);
}

int callers_fd(const struct callers *c)
{
	return c ? tables_fd(c->tables) : -1;
}

void callers_take(struct callers *c, uint64_t now)
{
	if (c)
		tables_take(c->tables, now);
}

void callers_begin(struct callers *c, uint64_t horizon, uint64_t now, bool hurry)
{
	if (!c)
		return;
	c->now = now;
	c->hurry = hurry;
	javacode_begin(c->javacode, horizon, now, hurry);
}

bool callers_sample(struct callers *c, const struct perf_event_attr *a, const struct ring_sample *r, struct text *out)
{
	return unwinding_sample(c->unwinding, a, r, !c->hurry, c->now, out);
}

void callers_name(struct callers *c)
{
	if (c)
		javacode_name(c->javacode, c->names);
}

void callers_tick(struct callers *c, uint64_t now)
{
	if (!c)
		return;
	tables_tick(c->tables, now);
	javacode_tick(c->javacode, now);
}

struct pj_unwinding callers_end(struct callers *c)
{
	struct pj_unwinding counts;

	if (!c)
		return (struct pj_unwinding){ 0 };
	callers_name(c);
	counts = unwinding_counts(c->unwinding);
	unwinding_count_from_here(c->unwinding);
	return counts;
}

void callers_put(struct callers *c, const struct pj_unwinding *counts, struct text *t)
{
	if (!c)
		return;
	chunk_put_item(t, PJ_ITEM_UNWINDING, counts, sizeof(*counts));
	javanames_end(c->names, t);
}

struct helper_counts callers_helpers(const struct callers *c)
{
	return c ? tables_count(c->tables).helpers : (struct helper_counts){ 0 };
}

struct helper_counts callers_jvm_helpers(const struct callers *c)
{
	return c ? javacode_count(c->javacode).helpers : (struct helper_counts){ 0 };
}
