/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"

#include <stdlib.h>

/* Number of records ahead of the current one whose memory is prefetched. */
#define EXPECTED 8
/* Limit in bytes for the blocks with records that wait for records of earlier times. Above it, waiting records are
 * delivered, and a record that then arrives with an earlier time is counted in tally.late. WAIT_WITHOUT_ROUNDS is for a
 * file without rounds (perf inject), which is in order of time. In a file with rounds (PERF_RECORD_FINISHED_ROUND), a
 * record may wait for all records of two rounds, and in a round the recorder reads the rings of all CPUs. */
#define WAIT_WITHOUT_ROUNDS ((size_t)64 << 20)
#define WAIT_WITH_ROUNDS ((size_t)512 << 20)

void reader_bad(struct perfdata *perfdata, uint64_t offset, const char *why)
{
	if (perfdata->tally.bad++ == 0) {
		perfdata->tally.first_bad = offset;
		perfdata->tally.why = why;
	}
}

bool perfdata_is(struct str first)
{
	return str_starts(first, STR(PERF_MAGIC)) || str_starts(first, STR(PERF_MAGIC_SWAPPED)) ||
	       str_starts(first, STR(PERF_MAGIC_1)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED));
}

struct perfdata *perfdata_open(struct in *input)
{
	struct perfdata *perfdata = mem_alloc(sizeof(*perfdata), 1);

	perfdata->in = input;
	perfdata->features.info.clock = -1;
	reader_open(perfdata);
	return perfdata;
}

/* ---- reading records into the queue -------------------------------------------------------------------------- */

/* Reads one more record into the queue. If the waiting records exceed the memory limit, makes the waiting records in
 * the earlier half of their time span ready for delivery. If the limit is exceeded again later, makes all waiting
 * records ready. */
static void perfdata_advance(struct perfdata *perfdata)
{
	size_t max = perfdata->rounds ? WAIT_WITH_ROUNDS : WAIT_WITHOUT_ROUNDS;
	bool more = reader_next(perfdata);

	/* releases the blocks of delivered records, and those in which no record was put into the queue */
	bytes_tidy(&perfdata->raw);
	bytes_tidy(&perfdata->inner);
	if (!more) {
		if (perfdata->inner_at < bytes_end(&perfdata->inner))
			reader_bad(perfdata, perfdata->inner_at, "compressed data end in the middle of a record");
		order_all(&perfdata->order);
		perfdata->tally.late = perfdata->order.late;
		perfdata->ended = true;
	} else if (reader_memory(perfdata) <= max) {
		perfdata->pressed = false;
	} else if (perfdata->order.ready == perfdata->order.at) {
		/* If the limit is exceeded again after order_half(), make all records ready: a single waiting record
		 * keeps its entire block in memory. */
		if (perfdata->pressed)
			order_all(&perfdata->order);
		else
			order_half(&perfdata->order);
		perfdata->pressed = !perfdata->pressed;
	}
}

/* ---- delivering records -------------------------------------------------------------------------------------- */

/* Releases the record that the last call of perfdata_next() returned. */
static void perfdata_give_back(struct perfdata *perfdata)
{
	if (!perfdata->held)
		return;
	perfdata->held = false;
	bytes_drop(reader_stream(perfdata, perfdata->where), perfdata->where & ~INNER);
}

/* Returns the record at an address that is a multiple of 8: the record itself, or a copy, which the next call of
 * perfdata_aligned() overwrites. */
static const char *perfdata_aligned(struct perfdata *perfdata, const char *record)
{
	if ((uintptr_t)record % 8 == 0)
		return record;
	if (!perfdata->aligned)
		perfdata->aligned = mem_alloc(1, PERF_RECORD_MAX + 1);
	memcpy(perfdata->aligned, record, load16(record + 6));
	return (const char *)perfdata->aligned;
}

/* Puts the next counter of a sample with PERF_SAMPLE_READ into perfdata->record. As in perf, each counter is a sample
 * of its own event, whose period is the increase since the previous sample. Skips counters without increase and
 * counters of unknown events. Returns true if there is a counter to deliver, false if none is left. */
static bool next_value(struct perfdata *perfdata)
{
	while (perfdata->value_at < perfdata->values.n) {
		const uint64_t *word = perfdata->values.word + perfdata->value_at++ * perfdata->values.step;
		struct perfevents_id *id = perfevents_find(&perfdata->events, word[perfdata->values.id_at]);
		uint64_t since = id ? word[0] - id->last : 0;

		if (!since)
			continue;
		id->last = word[0];
		perfdata->record.sample.event = &perfdata->events.event[id->event - 1];
		perfdata->record.sample.period = since;
		return true;
	}
	return false;
}

/* Returns true if at least one counter of the sample has the id of an event of the recording; false if none has. */
static bool values_are_known(const struct perfdata *perfdata)
{
	bool known = false;

	for (uint64_t i = 0; perfdata->values.has_id && i < perfdata->values.n && !known; i++)
		known = perfevents_find(&perfdata->events,
					perfdata->values.word[i * perfdata->values.step + perfdata->values.id_at]) !=
			NULL;
	return known;
}

/* Parses the record with handle `where` into perfdata->record. Returns true if perfdata_next() must return the record,
 * false if the record is damaged (then counts it in the tally) or of a kind that is not delivered. */
static bool perfdata_deliver(struct perfdata *perfdata, uint64_t where)
{
	const char *r = perfdata_aligned(perfdata, bytes_held(reader_stream(perfdata, where), where & ~INNER));
	uint32_t event = perfevents_of(&perfdata->events, load32(r), r + sizeof(struct perf_record),
				       load16(r + 6) - sizeof(struct perf_record));
	const char *why;
	bool skip;

	perfdata->where = where;
	perfdata->held = true;
	perfdata->value_at = perfdata->values.n = 0;
	why = perfrecords_parse(r, &perfdata->events, event == EVENT_NONE ? 0 : event, &perfdata->record,
				&perfdata->values, &skip);
	perfdata->record.offset = bytes_place(reader_stream(perfdata, where), where & ~INNER);
	if (why) {
		perfdata->values.n = 0;
		reader_bad(perfdata, perfdata->record.offset, why);
		return false;
	}
	if (values_are_known(perfdata))
		return next_value(perfdata);
	perfdata->values.n = 0;
	return !skip;
}

/* Prefetches the memory of a later record of the queue: records of different CPUs alternate, so consecutive records are
 * far apart in memory. */
static void perfdata_expect(struct perfdata *perfdata)
{
	const struct order *order = &perfdata->order;
	const char *next;

	if (order->ready - order->at <= EXPECTED)
		return;
	next = bytes_held(reader_stream(perfdata, order->e[order->at + EXPECTED].where),
			  order->e[order->at + EXPECTED].where & ~INNER);
	__builtin_prefetch(next);
	__builtin_prefetch(next + 64);
	__builtin_prefetch(next + 128);
}

const struct perfdata_record *perfdata_next(struct perfdata *perfdata)
{
	struct order_entry entry;

	if (next_value(perfdata))
		return &perfdata->record;
	for (;;) {
		perfdata_give_back(perfdata);
		if (perfdata->now_at < perfdata->now_n) {
			if (perfdata_deliver(perfdata, perfdata->now[perfdata->now_at++]))
				return &perfdata->record;
		} else if (order_next(&perfdata->order, &entry)) {
			perfdata_expect(perfdata);
			if (perfdata_deliver(perfdata, entry.where))
				return &perfdata->record;
		} else if (perfdata->ended) {
			return NULL;
		} else {
			perfdata_advance(perfdata);
		}
	}
}

/* ---- description, tally and end of a recording ------------------------------------------------------------------- */

const struct perfdata_info *perfdata_info(const struct perfdata *perfdata)
{
	return &perfdata->features.info;
}

const struct perfdata_event *perfdata_events(const struct perfdata *perfdata, size_t *n)
{
	*n = perfdata->events.n;
	return perfdata->events.event;
}

const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *perfdata, size_t *n)
{
	*n = perfdata->features.nbuild_ids;
	return perfdata->features.build_id;
}

const struct perfdata_tally *perfdata_tally(const struct perfdata *perfdata)
{
	return &perfdata->tally;
}

void perfdata_close(struct perfdata *perfdata)
{
	bytes_free(&perfdata->raw);
	bytes_free(&perfdata->inner);
	zstdstream_free(&perfdata->zstd);
	perfevents_free(&perfdata->events);
	perffeatures_free(&perfdata->features);
	order_free(&perfdata->order);
	free(perfdata->now);
	free(perfdata->aligned);
	free(perfdata);
}
