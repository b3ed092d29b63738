/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"

/* Limits of is_bomb() for decompressed data. Up to BOMB_BYTES bytes, any compression ratio is accepted. Above, the data
 * may be at most BOMB_RATIO times as large as the part of the file that was read; further data are not used. */
#define BOMB_BYTES ((uint64_t)64 << 20)
#define BOMB_RATIO 4096

/* ---- queue of records -------------------------------------------------------------------------------------------- */

/* Appends `where`, the handle of a record without time, to perfdata->now, whose records are delivered without
 * waiting. */
static void deliver_now(struct perfdata *perfdata, uint64_t where)
{
	if (perfdata->now_at == perfdata->now_n)
		perfdata->now_at = perfdata->now_n = 0;
	if (perfdata->now_n == perfdata->now_cap) {
		perfdata->now_cap = perfdata->now_cap ? perfdata->now_cap * 2 : 1024;
		perfdata->now = mem_grow(perfdata->now, sizeof(*perfdata->now), perfdata->now_cap);
	}
	perfdata->now[perfdata->now_n++] = where;
}

/* Queues a record that perfrecords_parse() parses. `string` is the complete record, at offset `place` in the file
 * (stream is 0) or in the decompressed stream (stream is INNER). A record whose event is unknown is counted as damaged
 * instead. */
static void perfread_queue(struct perfdata *perfdata, uint64_t stream, uint64_t place, const struct perf_record *record,
			   struct str string)
{
	const char *body = string.p + sizeof(*record);
	size_t n = string.n - sizeof(*record);
	uint32_t event = perfevents_of(&perfdata->events, record->type, body, n);
	uint64_t time, where;

	perfdata->started |= record->type == RECORD_SAMPLE;
	if (event == EVENT_NONE) {
		reader_bad(perfdata, place,
			   perfdata->events.n ? "a sample of an event that the file does not list" :
						"a record before the first event");
		return;
	}
	where = stream | bytes_hold(reader_stream(perfdata, stream), place);
	/* Without sample_id_all, only samples have times, so all records are delivered in the order of the file, as in
	 * perf. */
	if (perfdata->events.event[0].sample_id_all &&
	    perfevents_time(&perfdata->events, event, record->type, body, n, &time))
		order_push(&perfdata->order, time, where);
	else
		deliver_now(perfdata, where);
}

/* ---- records about the recording, which perf itself writes ------------------------------------------------------- */

/* Adds the event and ids of an ATTR record, which describes an event in pipe mode. Returns NULL, or the error. */
static const char *take_attr(struct perfdata *perfdata, struct str string)
{
	size_t size = string.n >= 16 ? load32(string.p + 12) : 0;
	uint32_t event;

	if (size < PERF_ATTR_MIN)
		/* The size field 0 means an attr of version 0, which has PERF_ATTR_MIN bytes. */
		size = PERF_ATTR_MIN;
	if (string.n < 8 + size ||
	    (event = perfevents_add(&perfdata->events, (struct str){ string.p + 8, size })) == EVENT_NONE)
		return "an invalid event";
	for (size_t i = 8 + size; i + 8 <= string.n; i += 8)
		perfevents_add_id(&perfdata->events, event, load64(string.p + i));
	return NULL;
}

/* Handles an EVENT_UPDATE record; only new names of events are used. Returns NULL, or the error. */
static const char *take_update(struct perfdata *perfdata, struct str string)
{
	const struct perfevents_id *id;
	ptrdiff_t end;

	if (string.n < 24)
		return "an event update that is too short";
	if (load64(string.p + 8) != UPDATE_NAME)
		return NULL;
	id = perfevents_find(&perfdata->events, load64(string.p + 16));
	if (!id && perfdata->events.n != 1)
		return "the name of an event that the file does not list";
	string = str_from(string, 24);
	end = str_find(string, 0);
	perfevents_set_name(&perfdata->events, id ? id->event - 1 : 0,
			    end >= 0 ? str_head(string, (size_t)end) : string);
	return NULL;
}

static const char *take_feature(struct perfdata *perfdata, struct str string)
{
	uint64_t feature;

	if (string.n < 16)
		return "a feature that is too short";
	feature = load64(string.p + 8);
	if (feature >= FEATURES || !perffeatures_wants((unsigned)feature))
		return NULL;
	return perffeatures_read(&perfdata->features, &perfdata->events, (unsigned)feature, str_from(string, 16));
}

static const char *take_user(struct perfdata *perfdata, uint32_t type, struct str string)
{
	switch (type) {
	case RECORD_ATTR:
		return perfdata->features.info.pipe ? take_attr(perfdata, string) : "an event after the header";
	case RECORD_EVENT_UPDATE: return take_update(perfdata, string);
	case RECORD_FEATURE: return take_feature(perfdata, string);
	case RECORD_BUILD_ID: return perffeatures_build_id(&perfdata->features, string);
	case RECORD_FINISHED_ROUND:
		perfdata->rounds = perfdata->started = true;
		order_round(&perfdata->order);
		return NULL;
	case RECORD_FINISHED_INIT: perfdata->started = true; return NULL;
	default: return NULL;
	}
}

/* Counts the complete record `string` at offset `place` of the file (stream is 0) or of the decompressed stream (stream
 * is INNER), then queues or handles it. */
static void take_record(struct perfdata *perfdata, uint64_t stream, uint64_t place, const struct perf_record *record,
			struct str string)
{
	const char *why = NULL;

	perfdata->tally.records++;
	switch (perfrecords_use(record->type)) {
	case RECORD_USED: perfread_queue(perfdata, stream, place, record, string); break;
	case RECORD_PASSED:
		if (record->type >= RECORD_USER)
			why = take_user(perfdata, record->type, string);
		break;
	case RECORD_UNKNOWN: perfdata->tally.unknown++; break;
	}
	if (why)
		reader_bad(perfdata, place, why);
}

/* ---- compressed records ------------------------------------------------------------------------------------------ */

/* Stores the bytes of a COMPRESSED record for inflate_on(); drops them if the decompressed stream is damaged. offset:
 * of the record in the file. Ends the process if pjfold was built without libzstd. */
static void take_packed(struct perfdata *perfdata, uint64_t offset, struct str packed)
{
	if (!perfzstd_here)
		die("%s@%llu: compressed by zstd, and pjfold was built without it: install libzstd-dev and "
		    "rebuild",
		    perfdata->in->name, (unsigned long long)offset);
	perfdata->features.info.compressed = perfdata->started = true;
	perfdata->tally.records++;
	perfdata->packed = perfdata->inner_lost ? (struct str){ 0 } : packed;
}

/* Drops the rest of the decompressed stream, because damage hides the start of its next record. Counts one damaged
 * part, with the reason `why`. */
static void lose_inner(struct perfdata *perfdata, const char *why)
{
	reader_bad(perfdata, perfdata->inner_at, why);
	perfdata->inner_lost = true;
	perfdata->packed = (struct str){ 0 };
	perfdata->packed_more = false;
	perfdata->inner_at = bytes_end(&perfdata->inner);
}

/* Returns true if the decompressed data exceed both BOMB_BYTES and BOMB_RATIO times the part of the file that was read;
 * the rest of the data is then not used. Otherwise returns false. A few bytes could expand to gigabytes. Even samples
 * with equal stack copies of 64 kB, which differ only in their times, compress to no less than a thousandth of their
 * size. */
static bool is_bomb(const struct perfdata *perfdata)
{
	return bytes_end(&perfdata->inner) > BOMB_BYTES && bytes_end(&perfdata->inner) / BOMB_RATIO > perfdata->at;
}

/* Decompresses the next bytes of the current COMPRESSED record. If is_bomb() returns true, drops the rest of the
 * decompressed stream instead. */
static void inflate_on(struct perfdata *perfdata)
{
	size_t space, made;
	char *to;

	if (is_bomb(perfdata)) {
		lose_inner(perfdata, "compressed data exceed the limit: the rest is not used");
		return;
	}
	to = bytes_space(&perfdata->inner, perfdata->inner_at, &space);
	if (!zstdstream_inflate(&perfdata->zstd, &perfdata->packed, to, space, &made, &perfdata->packed_more))
		reader_bad(perfdata, perfdata->at, "the compressed data before this are damaged");
	bytes_made(&perfdata->inner, made);
}

/* Handles the next record of the decompressed stream, or drops the rest if it is damaged. Returns false if the record
 * is incomplete, so that more bytes must be decompressed first. */
static bool take_inner(struct perfdata *perfdata)
{
	struct str string = bytes_at(&perfdata->inner, perfdata->inner_at, sizeof(struct perf_record));
	struct perf_record record;

	if (string.n < sizeof(record))
		return false;
	memcpy(&record, string.p, sizeof(record));
	if (record.size < sizeof(record) || record.type == RECORD_COMPRESSED || record.type == RECORD_COMPRESSED2) {
		lose_inner(perfdata, "damage inside compressed data: the rest is not used");
		return true;
	}
	if (string.n < record.size)
		return false;
	take_record(perfdata, INNER, perfdata->inner_at, &record, str_head(string, record.size));
	perfdata->inner_at += record.size;
	return true;
}

/* ---- reading of the file ------------------------------------------------------------------------------------- */

/* Stops reading the file at perfdata->at, because the record at this offset is incomplete or damaged; counts a damaged
 * part, with the reason `why`. Always returns false. */
static bool perfread_stop(struct perfdata *perfdata, const char *why)
{
	reader_bad(perfdata, perfdata->at, why);
	perfdata->features.info.unfinished = true;
	if (perfdata->raw.end != NO_END && perfdata->raw.end > perfdata->at)
		perfdata->tally.unread = perfdata->raw.end - perfdata->at;
	perfdata->stopped = true;
	return false;
}

/* Returns true if the next bytes are a message of perf record, "[ perf record: ...", which "perf record -o - 2>&1"
 * mixes into its output. Read as a record, this message would have type 0x6570205b. Returns false for all other
 * bytes. */
static bool perfread_is_message(const struct perfdata *perfdata, struct str header)
{
	return perfdata->features.info.pipe && str_eq(header, STR("[ perf r"));
}

/* Reads the next record of a series of COMPRESSED2 records, whose sizes perf added up in the header of the first
 * record. Returns false if the file ends in the record. */
static bool read_joined(struct perfdata *perfdata)
{
	struct str string = bytes_at(&perfdata->raw, perfdata->at, COMPRESSED2_HEADER);
	size_t size = string.n >= COMPRESSED2_HEADER ? load16(string.p + 6) : 0;

	if (size < COMPRESSED2_HEADER || load32(string.p) != RECORD_COMPRESSED2 ||
	    size > perfdata->joined - perfdata->at) {
		reader_bad(perfdata, perfdata->at, "inconsistent parts of compressed data");
		perfdata->at = perfdata->joined;
		perfdata->joined = 0;
		return true;
	}
	string = bytes_at(&perfdata->raw, perfdata->at, size);
	if (string.n < size)
		return perfread_stop(perfdata, "truncated in the middle of a record");
	take_packed(perfdata, perfdata->at, (struct str){ string.p + COMPRESSED2_HEADER, size - COMPRESSED2_HEADER });
	perfdata->at += size;
	perfdata->joined = perfdata->at < perfdata->joined ? perfdata->joined : 0;
	return true;
}

/* Reads a COMPRESSED2 record. The size of its data has 64 bits; `size`, the size in the record header, has only 16 bits
 * and may have overflowed. Returns false if the record is invalid, or if the file ends within it. */
static bool read_compressed2(struct perfdata *perfdata, size_t size)
{
	struct str string = bytes_at(&perfdata->raw, perfdata->at, COMPRESSED2_HEADER);
	uint64_t data, complete;

	if (string.n < COMPRESSED2_HEADER)
		return perfread_stop(perfdata, "truncated in the middle of a record");
	data = load64(string.p + 8);
	if (data > INNER / 2)
		return perfread_stop(perfdata, "compressed data of an invalid size");
	complete = COMPRESSED2_HEADER + ((data + 7) & ~UINT64_C(7));
	/* the 16 bits of the record's size have overflowed: the data are a series of records (read_joined) */
	if (complete > size) {
		if (data > COMPRESSED2_MAX) {
			perfdata->joined = perfdata->at + COMPRESSED2_HEADER + data;
			data = COMPRESSED2_MAX;
		}
		size = COMPRESSED2_HEADER + (size_t)data;
	}
	string = bytes_at(&perfdata->raw, perfdata->at, COMPRESSED2_HEADER + (size_t)data);
	if (string.n < COMPRESSED2_HEADER + data)
		return perfread_stop(perfdata, "truncated in the middle of a record");
	take_packed(perfdata, perfdata->at, (struct str){ string.p + COMPRESSED2_HEADER, (size_t)data });
	perfdata->at += size;
	return true;
}

/* Returns the number of data bytes that follow the record `string` beyond its own size, if its type is TRACING_DATA or
 * AUXTRACE; 0 for other types. */
static uint64_t perfread_trailing(uint32_t type, struct str string)
{
	uint64_t n = 0;

	if (type == RECORD_TRACING_DATA && string.n >= 12)
		n = ((uint64_t)load32(string.p + 8) + 7) & ~UINT64_C(7);
	else if (type == RECORD_AUXTRACE && string.n >= 16)
		n = load64(string.p + 8);
	return n;
}

/* Reads and handles the next record of the file. Returns false if the file has no further record, or its rest cannot be
 * read. */
static bool read_raw(struct perfdata *perfdata)
{
	struct str string = perfdata->stopped ? (struct str){ 0 } :
						bytes_at(&perfdata->raw, perfdata->at, sizeof(struct perf_record));
	struct perf_record record;
	uint64_t skip;

	if (string.n == 0)
		return false;
	if (string.n < sizeof(record))
		return perfread_stop(perfdata, "truncated in the middle of a record");
	string = str_head(string, sizeof(record));
	if (unlikely(perfread_is_message(perfdata, string))) {
		perfdata->features.info.trailing_messages = perfdata->stopped = true;
		return false;
	}
	memcpy(&record, string.p, sizeof(record));
	if (record.type == RECORD_COMPRESSED2)
		return read_compressed2(perfdata, record.size);
	if (record.size < sizeof(record))
		return perfread_stop(perfdata, "a record without size: nothing after it can be read");
	string = bytes_at(&perfdata->raw, perfdata->at, record.size);
	if (string.n < record.size)
		return perfread_stop(perfdata, "truncated in the middle of a record");
	string = str_head(string, record.size);
	skip = perfread_trailing(record.type, string);
	if (record.type == RECORD_COMPRESSED)
		take_packed(perfdata, perfdata->at, str_from(string, sizeof(record)));
	else
		take_record(perfdata, 0, perfdata->at, &record, string);
	perfdata->at += record.size;
	if (skip > INNER / 2 || perfdata->at + skip > perfdata->raw.end)
		return perfread_stop(perfdata, "the bytes after a record are truncated");
	perfdata->at += skip;
	return true;
}

bool reader_next(struct perfdata *perfdata)
{
	if (perfdata->inner.n && take_inner(perfdata))
		return true;
	if (perfdata->packed.n || perfdata->packed_more) {
		inflate_on(perfdata);
		return true;
	}
	if (perfdata->joined)
		return read_joined(perfdata);
	return read_raw(perfdata);
}
