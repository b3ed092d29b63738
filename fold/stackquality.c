/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/stackquality.h"

#include "common/formats/folded.h"

#include <stdio.h>
#include <stdlib.h>

static struct recording_missing *missing_of(struct recording_tally *t, struct str dso, const char *why)
{
	char key[4400];
	uint32_t before = t->missing_keys.n, id;
	int n = snprintf(key, sizeof(key), "%s%c%.*s", why, 0, (int)(dso.n < 4096 ? dso.n : 4096), dso.p);

	id = intern(&t->missing_keys, (struct str){ key, (size_t)n });
	if (id > before) {
		struct str saved = intern_str(&t->missing_keys, id);

		t->missing = mem_more(t->missing, sizeof(*t->missing), before);
		t->missing[id - 1] = (struct recording_missing){ str_from(saved, strlen(why) + 1), why, 0 };
	}
	return &t->missing[id - 1];
}

static struct recording_quality *quality_of(struct recording_tally *t, struct str name)
{
	uint32_t before = t->quality_keys.n, id = intern(&t->quality_keys, name);

	if (id > before) {
		t->quality = mem_more(t->quality, sizeof(*t->quality), before);
		t->quality[id - 1] = (struct recording_quality){ .name = intern_str(&t->quality_keys, id) };
	}
	return &t->quality[id - 1];
}

/* Where threads begin: the outermost frame of a whole stack. Above main there is nothing to see, and often no frame
 * pointer. */
static bool is_beginning(struct str name)
{
	static const struct str names[] = {
		STR("_start"),
		STR("__libc_start_main"),
		STR("__libc_start_main_impl"),
		STR("__libc_start_call_main"),
		STR("main"),
		STR("start_thread"),
		STR("clone"),
		STR("clone3"),
		STR("__clone"),
		STR("__clone3"),
		STR("__GI___clone"),
		STR("__GI___clone3"),
		STR("thread_start"),
		STR("_dl_start"),
		STR("runtime.goexit"),
		STR("runtime.goexit.abi0"),
		STR("runtime.mstart"),
		STR("runtime.rt0_go"),
		STR("ret_from_fork"),
		STR("ret_from_fork_asm"),
		STR("common_startup_64"),
		STR("start_kernel"),
		STR("secondary_startup_64"),
		STR("secondary_startup_64_no_verify"),
		STR("x86_64_start_kernel"),
	};
	struct str fp = folded_plain(name);

	fp = str_cut(&fp, '@');
	for (size_t i = 0; i < countof(names); i++)
		if (str_eq(fp, names[i]))
			return true;
	return false;
}

/* What is known of a stack by its node. */
struct stack_facts {
	uint32_t quality; /* of the first frame, from 1; 0: there is none */
	uint32_t depth, user;
	bool reaches_root, java, cut, unsymbolized_root;
	uint64_t cut_at; /* where it is cut */
};

static bool is_no_frame(enum dso_kind kind)
{
	return kind == DSO_THREAD || kind == DSO_CUT;
}

static bool is_user(enum dso_kind kind)
{
	return kind != DSO_KERNEL && kind != DSO_SYMBOL && kind != DSO_THREAD;
}

static struct stack_facts facts_of(const struct stack_quality *j, struct stack_facts above, uint32_t location)
{
	const struct dso *d = &j->as->dso[j->locations->location[location].dso];

	if (d->kind == DSO_CUT && j->locations->location[location].address == CUT_NOWHERE) {
		above.reaches_root = true;
	} else if (d->kind == DSO_CUT) {
		above.cut = true;
		above.cut_at = j->locations->location[location].address;
	}
	if (is_no_frame(d->kind))
		return above;
	if (above.depth == 0 && !above.reaches_root && j->names->first[location] < j->names->first[location + 1])
		above.reaches_root =
			is_beginning(intern_str(&j->to->frames, j->names->frame[j->names->first[location]]));
	if (above.depth == 0)
		above.unsymbolized_root = d->kind == DSO_FILE && !j->names->named[location];
	above.depth++;
	above.user += is_user(d->kind);
	above.java = above.java || str_ends(d->path, STR("/libjvm.so"));
	return above;
}

/* The kernel's limit, as nothing but the deepest callchains tell it. */
static uint64_t find_limit(const struct stack_quality *j)
{
	uint64_t limit = RECORDING_LIMIT;

	for (uint32_t id = 1; id <= j->locations->n; id++) {
		const struct location_key *s = &j->locations->location[id];

		if (j->as->dso[s->dso].kind == DSO_CUT && s->address < CUT_NOWHERE && s->address > limit)
			limit = s->address;
	}
	return limit;
}

/* Counts samples of a stack that goes on outside of what was recorded; false: it does not, or enough of it is there. */
static bool count_cut(struct recording_tally *t, const struct stack_facts *s, uint64_t limit, uint64_t samples)
{
	if (!s->cut || s->reaches_root)
		return false;
	if (s->cut_at == CUT_COPY || s->cut_at == CUT_MARKED)
		return true;
	if (s->cut_at == CUT_BY_EVENT) {
		t->event_cut += samples;
		return true;
	}
	if (s->cut_at < limit)
		return false;
	t->limit_cut += samples;
	t->limit = limit;
	return true;
}

static void add_quality(struct recording_tally *t, const struct stack_facts *s, uint64_t limit, uint64_t samples)
{
	struct recording_quality *q = s->quality ? &t->quality[s->quality - 1] : quality_of(t, STR("[unknown]"));

	q->samples += samples;
	q->reaches_root += s->reaches_root ? samples : 0;
	q->cut += count_cut(t, s, limit, samples) ? samples : 0;
	q->user += s->user ? samples : 0;
	q->unsymbolized_root += s->unsymbolized_root && s->user > 1 && !s->cut ? samples : 0;
	q->single += s->user == 1 && !s->reaches_root ? samples : 0;
	q->java += s->java ? samples : 0;
	if (s->depth > t->depth)
		t->depth = s->depth;
}

/* Frames by the sites that have them: how many have no name, and why. */
static void count_frames(const struct stack_quality *j, const uint64_t *hits, struct recording_tally *t,
			 struct samples *p)
{
	for (uint32_t id = 1; id <= j->locations->n; id++) {
		uint32_t dso = j->locations->location[id].dso;
		const struct dso *d = &j->as->dso[dso];
		const char *why = d->kind == DSO_KERNEL && j->names->kernel ?
					  j->names->kernel :
					  resolve_why(j->names, (enum resolve_why)j->names->why[dso]);

		if (is_no_frame(d->kind))
			continue;
		p->tally.frames += hits[id];
		if (j->names->named[id] || hits[id] == 0)
			continue;
		p->tally.unresolved += hits[id];
		missing_of(t, d->path, why)->frames += hits[id];
	}
}

static void count_inlined(const struct stack_quality *j, struct recording_inlined *t)
{
	for (uint32_t d = 0; j->names->inlined && d <= j->as->keys.n; d++) {
		const struct dso *dso = &j->as->dso[d];

		if (dso->kind != DSO_FILE || !j->names->inlined[d].is_requested)
			continue;
		t->files += j->names->inlined[d].found;
		t->without += !j->names->inlined[d].found;
		inputerrors_note(&t->errors, j->names->inlined[d].why != NULL, "%.*s: %s",
				 (int)(dso->path.n < 160 ? dso->path.n : 160), dso->path.p, j->names->inlined[d].why);
	}
}

void stackquality_measure(const struct stack_quality *j, struct recording_tally *t, struct samples *p)
{
	const struct stacks *from = j->from;
	uint64_t *samples = stacks_totals(from, 1), *hits = mem_alloc(sizeof(*hits), (size_t)j->locations->n + 1);
	struct stack_facts *facts = mem_alloc(sizeof(*facts), from->n);
	uint64_t limit = find_limit(j);

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t frame = from->node[id].frame, location = frame & ~LOCATION_BIT;

		facts[id] = facts[from->node[id].parent];
		if (!(frame & LOCATION_BIT)) {
			if (j->front[id])
				continue;
			facts[id].quality =
				(uint32_t)(quality_of(t, intern_str(&from->frames, frame)) - t->quality) + 1;
		} else {
			facts[id] = facts_of(j, facts[id], location);
			hits[location] += samples[id];
			if (facts[id].quality && !is_no_frame(j->as->dso[j->locations->location[location].dso].kind)) {
				t->quality[facts[id].quality - 1].frames += samples[id];
				t->quality[facts[id].quality - 1].unresolved +=
					j->names->named[location] ? 0 : samples[id];
			}
		}
		if (from->self[1] && from->self[1][id])
			add_quality(t, &facts[id], limit, from->self[1][id]);
	}
	count_frames(j, hits, t, p);
	count_inlined(j, &t->inlined);
	free(samples);
	free(hits);
	free(facts);
}
