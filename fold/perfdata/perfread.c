/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"

#define BOMB_BYTES ((uint64_t)64 << 20) /* this much may be inflated of anything */
#define BOMB_RATIO 4096

/* ---- records that are to be delivered ------------------------------------------------------------------------ */

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
static void perfread_queue(struct perfdata *p, uint64_t stream, uint64_t place, const struct perf_record *h,
			   struct str r)
{
	const char *body = r.p + sizeof(*h);
	size_t n = r.n - sizeof(*h);
	uint32_t event = perfevents_of(&p->events, h->type, body, n);
	uint64_t time, where;

	p->started |= h->type == RECORD_SAMPLE;
	if (event == EVENT_NONE) {
		reader_bad(p, place,
			   p->events.n ? "a sample of an event that the file does not list" :
					 "a record before the first event");
		return;
	}
	where = stream | bytes_hold(reader_stream(p, stream), place);
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
	case RECORD_ATTR: return p->features.info.pipe ? take_attr(p, r) : "an event behind the header";
	case RECORD_EVENT_UPDATE: return take_update(p, r);
	case RECORD_FEATURE: return take_feature(p, r);
	case RECORD_BUILD_ID: return perffeatures_build_id(&p->features, r);
	case RECORD_FINISHED_ROUND:
		p->rounds = p->started = true;
		order_round(&p->order);
		return NULL;
	case RECORD_FINISHED_INIT: p->started = true; return NULL;
	default: return NULL;
	}
}

static void take_record(struct perfdata *p, uint64_t stream, uint64_t place, const struct perf_record *h, struct str r)
{
	const char *why = NULL;

	p->tally.records++;
	switch (perfrecords_use(h->type)) {
	case RECORD_USED: perfread_queue(p, stream, place, h, r); break;
	case RECORD_PASSED:
		if (h->type >= RECORD_USER)
			why = take_user(p, h->type, r);
		break;
	case RECORD_UNKNOWN: p->tally.unknown++; break;
	}
	if (why)
		reader_bad(p, place, why);
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

/* Where in what was compressed the next record would begin, nobody knows. */
static void lose_inner(struct perfdata *p, const char *why)
{
	reader_bad(p, p->inner_at, why);
	p->inner_lost = true;
	p->packed = (struct str){ 0 };
	p->packed_more = false;
	p->inner_at = bytes_end(&p->inner);
}

/* Equal stacks of 64 kB shrink a thousandfold, as their times differ. A few bytes that stand for gigabytes are no
 * recording. */
static bool is_bomb(const struct perfdata *p)
{
	return bytes_end(&p->inner) > BOMB_BYTES && bytes_end(&p->inner) / BOMB_RATIO > p->at;
}

static void inflate_on(struct perfdata *p)
{
	size_t space, made;
	char *to;

	if (is_bomb(p)) {
		lose_inner(p, "compressed data that are larger than any recording's: the rest of them is not used");
		return;
	}
	to = bytes_space(&p->inner, p->inner_at, &space);
	if (!zstdstream_inflate(&p->zstd, &p->packed, to, space, &made, &p->packed_more))
		reader_bad(p, p->at, "compressed data before this are damaged");
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
		lose_inner(p, "damaged inside compressed data: the rest of them is not used");
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
static bool perfread_stop(struct perfdata *p, const char *why)
{
	reader_bad(p, p->at, why);
	p->features.info.unfinished = true;
	if (p->raw.end != NO_END && p->raw.end > p->at)
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
		reader_bad(p, p->at, "compressed data in pieces that do not fit together");
		p->at = p->joined;
		p->joined = 0;
		return true;
	}
	s = bytes_at(&p->raw, p->at, size);
	if (s.n < size)
		return perfread_stop(p, "cut in the middle of a record");
	take_packed(p, p->at, (struct str){ s.p + COMPRESSED2_HEADER, size - COMPRESSED2_HEADER });
	p->at += size;
	p->joined = p->at < p->joined ? p->joined : 0;
	return true;
}

static bool read_compressed2(struct perfdata *p, size_t size)
{
	struct str s = bytes_at(&p->raw, p->at, COMPRESSED2_HEADER);
	uint64_t data, complete;

	if (s.n < COMPRESSED2_HEADER)
		return perfread_stop(p, "cut in the middle of a record");
	data = load64(s.p + 8);
	if (data > INNER / 2)
		return perfread_stop(p, "compressed data of a size that cannot be");
	complete = COMPRESSED2_HEADER + ((data + 7) & ~UINT64_C(7));
	if (complete > size) { /* the size overflowed */
		if (data > COMPRESSED2_MAX) {
			p->joined = p->at + COMPRESSED2_HEADER + data;
			data = COMPRESSED2_MAX;
		}
		size = COMPRESSED2_HEADER + (size_t)data;
	}
	s = bytes_at(&p->raw, p->at, COMPRESSED2_HEADER + (size_t)data);
	if (s.n < COMPRESSED2_HEADER + data)
		return perfread_stop(p, "cut in the middle of a record");
	take_packed(p, p->at, (struct str){ s.p + COMPRESSED2_HEADER, (size_t)data });
	p->at += size;
	return true;
}

/* Bytes that follow a record and are not in its size. */
static uint64_t perfread_trailing(uint32_t type, struct str r)
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
		return perfread_stop(p, "cut in the middle of a record");
	memcpy(&h, s.p, sizeof(h));
	if (h.type == RECORD_COMPRESSED2)
		return read_compressed2(p, h.size);
	if (h.size < sizeof(h))
		return perfread_stop(p, "a record without size: nothing behind it can be read");
	s = bytes_at(&p->raw, p->at, h.size);
	if (s.n < h.size)
		return perfread_stop(p, "cut in the middle of a record");
	s = str_head(s, h.size);
	skip = perfread_trailing(h.type, s);
	if (h.type == RECORD_COMPRESSED)
		take_packed(p, p->at, str_from(s, sizeof(h)));
	else
		take_record(p, 0, p->at, &h, s);
	p->at += h.size;
	if (skip > INNER / 2 || p->at + skip > p->raw.end)
		return perfread_stop(p, "the bytes behind a record are cut");
	p->at += skip;
	return true;
}

bool reader_next(struct perfdata *p)
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
