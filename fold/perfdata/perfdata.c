/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"

#include <stdlib.h>

#define EXPECTED 8 /* records ahead that memory is asked for */
/* What may wait for earlier records. A recorder that ends its rounds needs the buffers of all processors twice; one
 * that does not (perf inject) wrote in order. */
#define WAIT_WITHOUT_ROUNDS ((size_t)64 << 20)
#define WAIT_WITH_ROUNDS ((size_t)512 << 20)

void reader_bad(struct perfdata *p, uint64_t offset, const char *why)
{
	if (p->tally.bad++ == 0) {
		p->tally.first_bad = offset;
		p->tally.why = why;
	}
}

bool perfdata_is(struct str first)
{
	return str_starts(first, STR(PERF_MAGIC)) || str_starts(first, STR(PERF_MAGIC_SWAPPED)) ||
	       str_starts(first, STR(PERF_MAGIC_1)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED));
}

struct perfdata *perfdata_open(struct in *in)
{
	struct perfdata *p = mem_alloc(sizeof(*p), 1);

	p->in = in;
	p->features.info.clock = -1;
	reader_open(p);
	return p;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static void perfdata_advance(struct perfdata *p)
{
	size_t max = p->rounds ? WAIT_WITH_ROUNDS : WAIT_WITHOUT_ROUNDS;

	if (!reader_next(p)) {
		if (p->inner_at < bytes_end(&p->inner))
			reader_bad(p, p->inner_at, "compressed data end in the middle of a record");
		order_all(&p->order);
		p->tally.late = p->order.late;
		p->ended = true;
	} else if (reader_memory(p) <= max) {
		p->pressed = false;
	} else if (p->order.ready == p->order.at) {
		if (p->pressed) /* half was not enough: a block is kept by its latest record */
			order_all(&p->order);
		else
			order_half(&p->order);
		p->pressed = !p->pressed;
	}
}

/* ---- delivering ---------------------------------------------------------------------------------------------- */

static void perfdata_give_back(struct perfdata *p)
{
	if (!p->held)
		return;
	p->held = false;
	bytes_drop(reader_stream(p, p->where), p->where & ~INNER);
	bytes_tidy(&p->raw);
	bytes_tidy(&p->inner);
}

static const char *perfdata_aligned(struct perfdata *p, const char *record)
{
	if ((uintptr_t)record % 8 == 0)
		return record;
	if (!p->aligned)
		p->aligned = mem_alloc(1, PERF_RECORD_MAX + 1);
	memcpy(p->aligned, record, load16(record + 6));
	return (const char *)p->aligned;
}

/* The next counter of a group, as perf shows them: a sample each, its period what was counted since the sample before.
 */
static bool next_value(struct perfdata *p)
{
	while (p->value_at < p->values.n) {
		const uint64_t *word = p->values.word + p->value_at++ * p->values.step;
		struct perfevents_id *id = perfevents_find(&p->events, word[p->values.id_at]);
		uint64_t since = id ? word[0] - id->last : 0;

		if (!since)
			continue;
		id->last = word[0];
		p->record.sample.event = &p->events.event[id->event - 1];
		p->record.sample.period = since;
		return true;
	}
	return false;
}

static bool values_are_known(const struct perfdata *p)
{
	bool known = false;

	for (uint64_t i = 0; p->values.has_id && i < p->values.n && !known; i++)
		known = perfevents_find(&p->events, p->values.word[i * p->values.step + p->values.id_at]) != NULL;
	return known;
}

static bool perfdata_deliver(struct perfdata *p, uint64_t where)
{
	const char *r = perfdata_aligned(p, bytes_held(reader_stream(p, where), where & ~INNER));
	uint32_t event = perfevents_of(&p->events, load32(r), r + sizeof(struct perf_record),
				       load16(r + 6) - sizeof(struct perf_record));
	const char *why;
	bool skip;

	p->where = where;
	p->held = true;
	p->value_at = p->values.n = 0;
	why = perfrecords_parse(r, &p->events, event == EVENT_NONE ? 0 : event, &p->record, &p->values, &skip);
	p->record.offset = bytes_place(reader_stream(p, where), where & ~INNER);
	if (why) {
		p->values.n = 0;
		reader_bad(p, p->record.offset, why);
		return false;
	}
	if (values_are_known(p))
		return next_value(p);
	p->values.n = 0;
	return !skip;
}

/* Records of the processors alternate, so those that come lie in other places: brings them on their way. */
static void perfdata_expect(struct perfdata *p)
{
	const struct order *o = &p->order;
	const char *next;

	if (o->ready - o->at <= EXPECTED)
		return;
	next = bytes_held(reader_stream(p, o->e[o->at + EXPECTED].where), o->e[o->at + EXPECTED].where & ~INNER);
	__builtin_prefetch(next);
	__builtin_prefetch(next + 64);
	__builtin_prefetch(next + 128);
}

const struct perfdata_record *perfdata_next(struct perfdata *p)
{
	struct order_entry e;

	if (next_value(p))
		return &p->record;
	for (;;) {
		perfdata_give_back(p);
		if (p->now_at < p->now_n) {
			if (perfdata_deliver(p, p->now[p->now_at++]))
				return &p->record;
		} else if (order_next(&p->order, &e)) {
			perfdata_expect(p);
			if (perfdata_deliver(p, e.where))
				return &p->record;
		} else if (p->ended) {
			return NULL;
		} else {
			perfdata_advance(p);
		}
	}
}

/* ---- the rest ------------------------------------------------------------------------------------------------ */

const struct perfdata_info *perfdata_info(const struct perfdata *p)
{
	return &p->features.info;
}

const struct perfdata_event *perfdata_events(const struct perfdata *p, size_t *n)
{
	*n = p->events.n;
	return p->events.event;
}

const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *p, size_t *n)
{
	*n = p->features.nbuild_ids;
	return p->features.build_id;
}

const struct perfdata_tally *perfdata_tally(const struct perfdata *p)
{
	return &p->tally;
}

void perfdata_close(struct perfdata *p)
{
	bytes_free(&p->raw);
	bytes_free(&p->inner);
	zstdstream_free(&p->zstd);
	perfevents_free(&p->events);
	perffeatures_free(&p->features);
	order_free(&p->order);
	free(p->now);
	free(p->aligned);
	free(p);
}
