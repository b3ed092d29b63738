/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata.h"

#include "perfbytes.h"
#include "perfevents.h"
#include "perffeatures.h"
#include "perforder.h"
#include "perfrecord.h"
#include "perfrecords.h"
#include "perfzstd.h"

#include <stdlib.h>

/* Read, not mapped: read() into a block that stays in the cache costs less than the faults of a mapping, works for pipes
 * alike, and a file that shrinks meanwhile cannot kill us. */

#define INNER (1ull << 63)                /* of `where` (bytes_hold): in the stream that was compressed */
#define EXPECTED 8                        /* records ahead that memory is asked for */
#define PIPE_EVENTS 4096                  /* in pipe mode nobody says how many will come */
#define FILE_EVENTS 65536
#define IDS ((uint64_t)1 << 22)           /* of all events: one for each event and processor */
#define FEATURE_MAX ((uint64_t)64 << 20)  /* a larger one is not looked at */
#define AHEAD ((size_t)64 << 20)          /* at most that much is read before the first sample */
/* What may wait for earlier records. A recorder that ends its rounds needs the buffers of all processors twice; one that
 * does not (perf inject) wrote in order. */
#define WAIT_WITHOUT_ROUNDS ((size_t)64 << 20)
#define WAIT_WITH_ROUNDS ((size_t)512 << 20)

struct perfdata {
	struct in *in;
	struct bytes raw, inner;    /* the data of the file; what COMPRESSED records hold */
	uint64_t at, inner_at;      /* of the next record */
	uint64_t consumed;          /* by in_read, in pipe mode */
	struct str packed;          /* of the COMPRESSED record before `at`, not inflated yet */
	bool packed_more;           /* zstd may hold more of what it got */
	bool inner_lost;            /* its records cannot be told apart any more */
	uint64_t joined;            /* up to here the records of a COMPRESSED2 go whose sizes overflowed */
	struct perfzstd zstd;
	struct perfevents events;
	uint64_t ids;               /* read so far */
	struct perffeatures features;
	struct order order;
	uint64_t *now;              /* without time: go at once */
	size_t now_at, now_n, now_cap;
	bool rounds, started, stopped, ended, pressed;
	bool held;                  /* record below lies at where, and must be given back */
	uint64_t where;
	struct perfdata_record record;
	struct perfrecords_values values; /* those behind value_at become records, too */
	uint64_t value_at;
	uint64_t *aligned;          /* a record that is not, NULL before the first */
	struct perfdata_tally tally;
};

static void bad(struct perfdata *p, uint64_t offset, const char *why)
{
	if (p->tally.bad++ == 0) {
		p->tally.first_bad = offset;
		p->tally.why = why;
	}
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

bool perfdata_is(struct str first)
{
	return str_starts(first, STR(PERF_MAGIC)) || str_starts(first, STR(PERF_MAGIC_SWAPPED)) ||
	       str_starts(first, STR(PERF_MAGIC_1)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED));
}

static struct place place_of(const struct in *in)
{
	return (struct place){ in->name, 0 };
}

static void check_magic(const struct in *in, struct str first)
{
	if (str_starts(first, STR(PERF_MAGIC_SWAPPED)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED)))
		die_at(place_of(in), "perf.data of a machine of the other byte order: use perf script there, or where it can be read");
	if (str_starts(first, STR(PERF_MAGIC_1)))
		die_at(place_of(in), "perf.data of version 1, from before 2010: it cannot be read");
	if (!str_starts(first, STR(PERF_MAGIC)))
		die_at(place_of(in), "this is not perf.data");
	if (first.n < PERF_PIPE_HEADER)
		die_at(place_of(in), "perf.data ends in its header");
}

static size_t more_of_file(void *from, char *to, size_t n, uint64_t at)
{
	struct perfdata *p = from;
	size_t got = in_pread(p->in, to, n, at);

	progress_at(&p->in->progress, at + got);
	return got;
}

static size_t more_of_pipe(void *from, char *to, size_t n, uint64_t at)
{
	struct perfdata *p = from;
	size_t got = 1;

	while (p->consumed < at && got) { /* skipped */
		got = in_read(p->in, to, at - p->consumed < n ? (size_t)(at - p->consumed) : n);
		p->consumed += got;
	}
	got = got ? in_read(p->in, to, n) : 0;
	p->consumed += got;
	return got;
}

/* Ids of one event: u64s somewhere in the file. */
static void read_ids(struct perfdata *p, uint32_t event, struct perf_section s)
{
	char buf[4096];

	/* every event may claim the same large part of the file */
	if (s.size / 8 > IDS - p->ids) {
		bad(p, s.offset, "more ids of events than can be");
		return;
	}
	p->ids += s.size / 8;
	while (s.size >= 8) {
		size_t want = s.size < sizeof(buf) ? (size_t)s.size & ~(size_t)7 : sizeof(buf);
		size_t got = in_pread(p->in, buf, want, s.offset) & ~(size_t)7;

		for (size_t i = 0; i < got; i += 8)
			perfevents_add_id(&p->events, event, load64(buf + i));
		if (got < want)
			break;
		s.offset += got;
		s.size -= got;
	}
	if (s.size)
		bad(p, s.offset, "the ids of an event are cut");
}

static void read_attr(struct perfdata *p, const char *entry, size_t size, uint64_t offset)
{
	size_t attr_size = size - sizeof(struct perf_section), own = load32(entry + 4);
	struct perf_section ids;
	uint32_t event;

	if (own >= PERF_ATTR_MIN && own < attr_size)
		attr_size = own; /* what is behind has no meaning */
	memcpy(&ids, entry + size - sizeof(ids), sizeof(ids));
	event = perfevents_add(&p->events, (struct str){ entry, attr_size });
	if (event == EVENT_NONE)
		bad(p, offset, "an event that cannot be used");
	else
		read_ids(p, event, ids);
}

static void read_attrs(struct perfdata *p, const struct perf_file_header *h, uint64_t file_size)
{
	uint64_t n = h->attr_size ? h->attrs.size / h->attr_size : 0;
	char *entry;

	if (h->attr_size < PERF_ATTR_MIN + sizeof(struct perf_section) || h->attr_size > 65536)
		die_at(place_of(p->in), "perf.data has events of %llu bytes: its header is damaged",
		       (unsigned long long)h->attr_size);
	if (h->attrs.offset > file_size || n > (file_size - h->attrs.offset) / h->attr_size) {
		bad(p, h->attrs.offset, "the events are cut");
		n = h->attrs.offset > file_size ? 0 : (file_size - h->attrs.offset) / h->attr_size;
	}
	if (n == 0)
		die_at(place_of(p->in), "perf.data without events: nothing was recorded, or its header is damaged");
	if (n > FILE_EVENTS) {
		bad(p, h->attrs.offset, "more than 65536 events");
		n = FILE_EVENTS;
	}
	perfevents_init(&p->events, (size_t)n);
	entry = mem_alloc(1, (size_t)h->attr_size);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t offset = h->attrs.offset + i * h->attr_size;

		if (in_pread(p->in, entry, (size_t)h->attr_size, offset) < h->attr_size)
			break; /* it shrinks while we read */
		read_attr(p, entry, (size_t)h->attr_size, offset);
	}
	free(entry);
	if (p->events.n == 0)
		die_at(place_of(p->in), "perf.data without events that can be used");
}

static void read_feature(struct perfdata *p, unsigned feature, struct perf_section s, uint64_t file_size)
{
	const char *why;
	char *body;

	if (s.offset > file_size || s.size > file_size - s.offset || s.size > FEATURE_MAX) {
		bad(p, s.offset, "a feature ends behind the file");
		return;
	}
	body = mem_alloc(1, (size_t)s.size + 1);
	s.size = in_pread(p->in, body, (size_t)s.size, s.offset);
	why = perffeatures_read(&p->features, &p->events, feature, (struct str){ body, (size_t)s.size });
	if (why)
		bad(p, s.offset, why);
	free(body);
}

static bool has_feature(const struct perf_file_header *h, unsigned feature)
{
	return h->features[feature / 64] >> feature % 64 & 1;
}

static void read_features(struct perfdata *p, const struct perf_file_header *h, uint64_t file_size)
{
	uint64_t at = h->data.offset + h->data.size;
	struct perf_section s;
	char entry[sizeof(s)];

	for (unsigned i = 0; i < FEATURES; i++) {
		if (!has_feature(h, i))
			continue;
		if (in_pread(p->in, entry, sizeof(entry), at) < sizeof(entry)) {
			bad(p, at, "the table of features is cut");
			return;
		}
		memcpy(&s, entry, sizeof(s));
		if (perffeatures_wants(i))
			read_feature(p, i, s, file_size);
		at += sizeof(s);
	}
}

static void open_file(struct perfdata *p)
{
	struct perf_file_header h = { 0 };
	char bytes[sizeof(h)] = { 0 };
	uint64_t file_size = 0;
	struct perfdata_info *info = &p->features.info;

	if (!in_seekable(p->in, &file_size)) {
		in_spool(p->in);
		in_seekable(p->in, &file_size);
	}
	if (in_pread(p->in, bytes, sizeof(bytes), 0) < PERF_OLD_FILE_HEADER)
		die_at(place_of(p->in), "perf.data ends in its header");
	memcpy(&h, bytes, sizeof(h));
	if (h.size < sizeof(h))
		memset(h.features, 0, sizeof(h.features));
	if (h.size < PERF_OLD_FILE_HEADER || h.data.offset < PERF_OLD_FILE_HEADER || h.data.offset > INNER / 2 ||
	    h.data.size > INNER / 2)
		die_at(place_of(p->in), "perf.data with a damaged header");
	if (has_feature(&h, FEATURE_DIR_FORMAT))
		die_at(place_of(p->in), "part of a directory of perf record --threads: perf script -i DIRECTORY |");
	read_attrs(p, &h, file_size);
	info->unfinished = h.data.size == 0 || h.data.offset + h.data.size > file_size;
	p->at = h.data.offset;
	p->raw = (struct bytes){ .more = more_of_file, .from = p,
				 .end = info->unfinished ? file_size : h.data.offset + h.data.size };
	if (!info->unfinished)
		read_features(p, &h, file_size);
}

static bool read_on(struct perfdata *p);
static size_t waiting_memory(const struct perfdata *p);

/* Up to where the samples begin, so that the events are known. */
static void open_pipe(struct perfdata *p)
{
	p->at = PERF_PIPE_HEADER;
	p->features.info.pipe = true;
	perfevents_init(&p->events, PIPE_EVENTS);
	p->raw = (struct bytes){ .more = more_of_pipe, .from = p, .end = INNER - 1 };
	while (!p->started && waiting_memory(p) < AHEAD)
		p->started = !read_on(p) || p->started;
	if (p->events.n == 0) {
		struct place place = place_of(p->in);

		perfdata_close(p);
		die_at(place, "perf.data without events: nothing was recorded");
	}
}

struct perfdata *perfdata_open(struct in *in)
{
	struct str first = in_peek(in, PERF_PIPE_HEADER);
	struct perfdata *p;

	check_magic(in, first);
	p = mem_alloc(sizeof(*p), 1);
	p->in = in;
	p->features.info.clock = -1;
	if (load64(first.p + 8) == PERF_PIPE_HEADER)
		open_pipe(p);
	else
		open_file(p);
	if (p->features.info.clock < 0)
		p->features.info.clock = p->events.clock;
	return p;
}

/* ---- records that are to be delivered ------------------------------------------------------------------------ */

static struct bytes *stream_of(struct perfdata *p, uint64_t where)
{
	return where & INNER ? &p->inner : &p->raw;
}

static void deliver_now(struct perfdata *p, uint64_t where)
{
	if (p->now_at == p->now_n)
		p->now_at = p->now_n = 0;
	if (p->now_n == p->now_cap) {
		p->now_cap = p->now_cap ? p->now_cap * 2 : 1024;
		p->now = mem_grow(p->now, sizeof(*p->now), p->now_cap);
	}
	p->now[p->now_n++] = where;
}

/* r: a whole record of the kernel's, at this place of one of the streams. */
static void queue(struct perfdata *p, uint64_t stream, uint64_t place, const struct perf_record *h, struct str r)
{
	const char *body = r.p + sizeof(*h);
	size_t n = r.n - sizeof(*h);
	uint32_t event = perfevents_of(&p->events, h->type, body, n);
	uint64_t time, where;

	p->started |= h->type == RECORD_SAMPLE;
	if (event == EVENT_NONE) {
		bad(p, place, p->events.n ? "a sample of an event that the file does not list" : "a record before the first event");
		return;
	}
	where = stream | bytes_hold(stream_of(p, stream), place);
	/* without times in other records than samples only the order of the file keeps them together, as perf has it */
	if (p->events.event[0].sample_id_all && perfevents_time(&p->events, event, h->type, body, n, &time))
		order_push(&p->order, time, where);
	else
		deliver_now(p, where);
}

/* ---- records of perf's own ----------------------------------------------------------------------------------- */

static const char *take_attr(struct perfdata *p, struct str r)
{
	size_t size = r.n >= 16 ? load32(r.p + 12) : 0;
	uint32_t event;

	if (size < PERF_ATTR_MIN)
		size = PERF_ATTR_MIN; /* version 0 left it empty */
	if (r.n < 8 + size || (event = perfevents_add(&p->events, (struct str){ r.p + 8, size })) == EVENT_NONE)
		return "an event that cannot be used";
	for (size_t i = 8 + size; i + 8 <= r.n; i += 8)
		perfevents_add_id(&p->events, event, load64(r.p + i));
	return NULL;
}

static const char *take_update(struct perfdata *p, struct str r)
{
	const struct perfevents_id *id;
	ptrdiff_t end;

	if (r.n < 24)
		return "an event's update that is too short";
	if (load64(r.p + 8) != UPDATE_NAME)
		return NULL;
	id = perfevents_find(&p->events, load64(r.p + 16));
	if (!id && p->events.n != 1)
		return "the name of an event that the file does not list";
	r = str_from(r, 24);
	end = str_find(r, 0);
	perfevents_set_name(&p->events, id ? id->event - 1 : 0, end >= 0 ? str_head(r, (size_t)end) : r);
	return NULL;
}

static const char *take_feature(struct perfdata *p, struct str r)
{
	uint64_t feature;

	if (r.n < 16)
		return "a feature that is too short";
	feature = load64(r.p + 8);
	if (feature >= FEATURES || !perffeatures_wants((unsigned)feature))
		return NULL;
	return perffeatures_read(&p->features, &p->events, (unsigned)feature, str_from(r, 16));
}

static const char *take_user(struct perfdata *p, uint32_t type, struct str r)
{
	switch (type) {
	case RECORD_ATTR:
		return p->features.info.pipe ? take_attr(p, r) : "an event behind the header";
	case RECORD_EVENT_UPDATE:
		return take_update(p, r);
	case RECORD_FEATURE:
		return take_feature(p, r);
	case RECORD_BUILD_ID:
		return perffeatures_build_id(&p->features, r);
	case RECORD_FINISHED_ROUND:
		p->rounds = p->started = true;
		order_round(&p->order);
		return NULL;
	case RECORD_FINISHED_INIT:
		p->started = true;
		return NULL;
	default:
		return NULL;
	}
}

static void take_record(struct perfdata *p, uint64_t stream, uint64_t place, const struct perf_record *h, struct str r)
{
	const char *why = NULL;

	p->tally.records++;
	switch (perfrecords_use(h->type)) {
	case RECORD_USED:
		queue(p, stream, place, h, r);
		break;
	case RECORD_PASSED:
		if (h->type >= RECORD_USER)
			why = take_user(p, h->type, r);
		break;
	case RECORD_UNKNOWN:
		p->tally.unknown++;
		break;
	}
	if (why)
		bad(p, place, why);
}

/* ---- what was compressed -------------------------------------------------------------------------------------- */

static void take_packed(struct perfdata *p, uint64_t offset, struct str packed)
{
	if (!perfzstd_here)
		die("%s@%llu: compressed by zstd, and this was built without: install libzstd-dev and make again",
		    p->in->name, (unsigned long long)offset);
	p->features.info.compressed = p->started = true;
	p->tally.records++;
	p->packed = p->inner_lost ? (struct str){ 0 } : packed;
}

static void inflate_on(struct perfdata *p)
{
	size_t room, made;
	char *to = bytes_room(&p->inner, p->inner_at, &room);

	if (!perfzstd_inflate(&p->zstd, &p->packed, to, room, &made, &p->packed_more))
		bad(p, p->at, "compressed data before this are damaged");
	bytes_made(&p->inner, made);
}

/* A whole record of what was inflated; false when more must be inflated for it. */
static bool take_inner(struct perfdata *p)
{
	struct str s = bytes_at(&p->inner, p->inner_at, sizeof(struct perf_record));
	struct perf_record h;

	if (s.n < sizeof(h))
		return false;
	memcpy(&h, s.p, sizeof(h));
	if (h.size < sizeof(h) || h.type == RECORD_COMPRESSED || h.type == RECORD_COMPRESSED2) {
		bad(p, p->inner_at, "damaged inside compressed data: the rest of them is not used");
		p->inner_lost = true;
		p->packed = (struct str){ 0 };
		p->packed_more = false;
		p->inner_at = bytes_end(&p->inner);
		return true;
	}
	if (s.n < h.size)
		return false;
	take_record(p, INNER, p->inner_at, &h, str_head(s, h.size));
	p->inner_at += h.size;
	return true;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* No more can be read: what would begin at `at` is not whole, or has no size. */
static bool stop(struct perfdata *p, const char *why)
{
	bad(p, p->at, why);
	p->features.info.unfinished = true;
	if (p->raw.end != INNER - 1 && p->raw.end > p->at)
		p->tally.unread = p->raw.end - p->at;
	p->stopped = true;
	return false;
}

/* One of several records whose sizes perf added up in the first one's header. */
static bool read_joined(struct perfdata *p)
{
	struct str s = bytes_at(&p->raw, p->at, COMPRESSED2_HEADER);
	size_t size = s.n >= COMPRESSED2_HEADER ? load16(s.p + 6) : 0;

	if (size < COMPRESSED2_HEADER || load32(s.p) != RECORD_COMPRESSED2 || size > p->joined - p->at) {
		bad(p, p->at, "compressed data in pieces that do not fit together");
		p->at = p->joined;
		p->joined = 0;
		return true;
	}
	s = bytes_at(&p->raw, p->at, size);
	if (s.n < size)
		return stop(p, "cut in the middle of a record");
	take_packed(p, p->at, (struct str){ s.p + COMPRESSED2_HEADER, size - COMPRESSED2_HEADER });
	p->at += size;
	p->joined = p->at < p->joined ? p->joined : 0;
	return true;
}

static bool read_compressed2(struct perfdata *p, size_t size)
{
	struct str s = bytes_at(&p->raw, p->at, COMPRESSED2_HEADER);
	uint64_t data, whole;

	if (s.n < COMPRESSED2_HEADER)
		return stop(p, "cut in the middle of a record");
	data = load64(s.p + 8);
	if (data > INNER / 2)
		return stop(p, "compressed data of a size that cannot be");
	whole = COMPRESSED2_HEADER + ((data + 7) & ~UINT64_C(7));
	if (whole > size) { /* the size overflowed */
		if (data > COMPRESSED2_MAX) {
			p->joined = p->at + COMPRESSED2_HEADER + data;
			data = COMPRESSED2_MAX;
		}
		size = COMPRESSED2_HEADER + (size_t)data;
	}
	s = bytes_at(&p->raw, p->at, COMPRESSED2_HEADER + (size_t)data);
	if (s.n < COMPRESSED2_HEADER + data)
		return stop(p, "cut in the middle of a record");
	take_packed(p, p->at, (struct str){ s.p + COMPRESSED2_HEADER, (size_t)data });
	p->at += size;
	return true;
}

/* Bytes that follow a record and are not in its size. */
static uint64_t trailing(uint32_t type, struct str r)
{
	uint64_t n = 0;

	if (type == RECORD_TRACING_DATA && r.n >= 12)
		n = ((uint64_t)load32(r.p + 8) + 7) & ~UINT64_C(7);
	else if (type == RECORD_AUXTRACE && r.n >= 16)
		n = load64(r.p + 8);
	return n;
}

static bool read_raw(struct perfdata *p)
{
	struct str s = p->stopped ? (struct str){ 0 } : bytes_at(&p->raw, p->at, sizeof(struct perf_record));
	struct perf_record h;
	uint64_t skip;

	if (s.n == 0)
		return false;
	if (s.n < sizeof(h))
		return stop(p, "cut in the middle of a record");
	memcpy(&h, s.p, sizeof(h));
	if (h.type == RECORD_COMPRESSED2)
		return read_compressed2(p, h.size);
	if (h.size < sizeof(h))
		return stop(p, "a record without size: nothing behind it can be read");
	s = bytes_at(&p->raw, p->at, h.size);
	if (s.n < h.size)
		return stop(p, "cut in the middle of a record");
	s = str_head(s, h.size);
	skip = trailing(h.type, s);
	if (h.type == RECORD_COMPRESSED)
		take_packed(p, p->at, str_from(s, sizeof(h)));
	else
		take_record(p, 0, p->at, &h, s);
	p->at += h.size;
	if (skip > INNER / 2 || p->at + skip > p->raw.end)
		return stop(p, "the bytes behind a record are cut");
	p->at += skip;
	return true;
}

/* One record more, or one piece of what is compressed; false at the end. */
static bool read_on(struct perfdata *p)
{
	if (p->inner.n && take_inner(p))
		return true;
	if (p->packed.n || p->packed_more) {
		inflate_on(p);
		return true;
	}
	if (p->joined)
		return read_joined(p);
	return read_raw(p);
}

static size_t waiting_memory(const struct perfdata *p)
{
	return bytes_memory(&p->raw) + bytes_memory(&p->inner);
}

static void advance(struct perfdata *p)
{
	size_t most = p->rounds ? WAIT_WITH_ROUNDS : WAIT_WITHOUT_ROUNDS;

	if (!read_on(p)) {
		if (p->inner_at < bytes_end(&p->inner))
			bad(p, p->inner_at, "compressed data end in the middle of a record");
		order_all(&p->order);
		p->tally.late = p->order.late;
		p->ended = true;
	} else if (waiting_memory(p) <= most) {
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

static void give_back(struct perfdata *p)
{
	if (!p->held)
		return;
	p->held = false;
	bytes_drop(stream_of(p, p->where), p->where & ~INNER);
	bytes_tidy(&p->raw);
	bytes_tidy(&p->inner);
}

static const char *aligned(struct perfdata *p, const char *record)
{
	if ((uintptr_t)record % 8 == 0)
		return record;
	if (!p->aligned)
		p->aligned = mem_alloc(1, PERF_RECORD_MAX + 1);
	memcpy(p->aligned, record, load16(record + 6));
	return (const char *)p->aligned;
}

/* The next counter of a group, as perf shows them: a sample each, its period what was counted since the sample before. */
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

static bool deliver(struct perfdata *p, uint64_t where)
{
	const char *r = aligned(p, bytes_held(stream_of(p, where), where & ~INNER));
	uint32_t event = perfevents_of(&p->events, load32(r), r + sizeof(struct perf_record),
				       load16(r + 6) - sizeof(struct perf_record));
	const char *why;
	bool skip;

	p->where = where;
	p->held = true;
	p->value_at = p->values.n = 0;
	why = perfrecords_parse(r, &p->events, event == EVENT_NONE ? 0 : event, &p->record, &p->values, &skip);
	p->record.offset = bytes_place(stream_of(p, where), where & ~INNER);
	if (why) {
		p->values.n = 0;
		bad(p, p->record.offset, why);
		return false;
	}
	if (values_are_known(p))
		return next_value(p);
	p->values.n = 0;
	return !skip;
}

/* Records of the processors alternate, so those that come lie in other places: brings them on their way. */
static void expect(struct perfdata *p)
{
	const struct order *o = &p->order;
	const char *next;

	if (o->ready - o->at <= EXPECTED)
		return;
	next = bytes_held(stream_of(p, o->e[o->at + EXPECTED].where), o->e[o->at + EXPECTED].where & ~INNER);
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
		give_back(p);
		if (p->now_at < p->now_n) {
			if (deliver(p, p->now[p->now_at++]))
				return &p->record;
		} else if (order_next(&p->order, &e)) {
			expect(p);
			if (deliver(p, e.where))
				return &p->record;
		} else if (p->ended) {
			return NULL;
		} else {
			advance(p);
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
	perfzstd_free(&p->zstd);
	perfevents_free(&p->events);
	perffeatures_free(&p->features);
	order_free(&p->order);
	free(p->now);
	free(p->aligned);
	free(p);
}
