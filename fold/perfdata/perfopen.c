/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"

#include <stdlib.h>

/* Read, not mapped: read() into a block that stays in the cache costs less than the faults of a mapping, works for
 * pipes alike, and a file that shrinks meanwhile cannot kill us. */

#define PIPE_EVENTS 4096 /* in pipe mode nobody says how many will come */
#define FILE_EVENTS 65536
#define IDS ((uint64_t)1 << 22)          /* of all events: one for each event and processor */
#define FEATURE_MAX ((uint64_t)64 << 20) /* a larger one is not looked at */
#define AHEAD ((size_t)64 << 20)         /* at most that much is read before the first sample */

static struct place perfopen_place_of(const struct in *in)
{
	return (struct place){ in->name, 0 };
}

static void check_magic(const struct in *in, struct str first)
{
	if (str_starts(first, STR(PERF_MAGIC_SWAPPED)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED)))
		die_at(perfopen_place_of(in),
		       "perf.data of a machine of the other byte order: use perf script there, or where it can be read");
	if (str_starts(first, STR(PERF_MAGIC_1)))
		die_at(perfopen_place_of(in), "perf.data of version 1, from before 2010: it cannot be read");
	if (!str_starts(first, STR(PERF_MAGIC)))
		die_at(perfopen_place_of(in), "this is not perf.data");
	if (first.n < PERF_PIPE_HEADER)
		die_at(perfopen_place_of(in), "perf.data ends in its header");
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
		reader_bad(p, s.offset, "more ids of events than can be");
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
		reader_bad(p, s.offset, "the ids of an event are cut");
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
		reader_bad(p, offset, "an event that cannot be used");
	else
		read_ids(p, event, ids);
}

static void read_attrs(struct perfdata *p, const struct perf_file_header *h, uint64_t file_size)
{
	uint64_t n = h->attr_size ? h->attrs.size / h->attr_size : 0;
	char *entry;

	if (h->attr_size < PERF_ATTR_MIN + sizeof(struct perf_section) || h->attr_size > 65536)
		die_at(perfopen_place_of(p->in), "perf.data has events of %llu bytes: its header is damaged",
		       (unsigned long long)h->attr_size);
	if (h->attrs.offset > file_size || n > (file_size - h->attrs.offset) / h->attr_size) {
		reader_bad(p, h->attrs.offset, "the events are cut");
		n = h->attrs.offset > file_size ? 0 : (file_size - h->attrs.offset) / h->attr_size;
	}
	if (n == 0)
		die_at(perfopen_place_of(p->in),
		       "perf.data without events: nothing was recorded, or its header is damaged");
	if (n > FILE_EVENTS) {
		reader_bad(p, h->attrs.offset, "more than 65536 events");
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
		die_at(perfopen_place_of(p->in), "perf.data without events that can be used");
}

static void read_feature(struct perfdata *p, unsigned feature, struct perf_section s, uint64_t file_size)
{
	const char *why;
	char *body;

	if (s.offset > file_size || s.size > file_size - s.offset || s.size > FEATURE_MAX) {
		reader_bad(p, s.offset, "a feature ends behind the file");
		return;
	}
	body = mem_alloc(1, (size_t)s.size + 1);
	s.size = in_pread(p->in, body, (size_t)s.size, s.offset);
	why = perffeatures_read(&p->features, &p->events, feature, (struct str){ body, (size_t)s.size });
	if (why)
		reader_bad(p, s.offset, why);
	free(body);
}

static bool has_feature(const uint64_t features[4], unsigned feature)
{
	return features[feature / 64] >> feature % 64 & 1;
}

/* The table at that place: a section for each bit. */
static void read_features(struct perfdata *p, const uint64_t features[4], uint64_t at, uint64_t file_size)
{
	struct perf_section s;
	char entry[sizeof(s)];

	for (unsigned i = 0; i < FEATURES; i++) {
		if (!has_feature(features, i))
			continue;
		if (in_pread(p->in, entry, sizeof(entry), at) < sizeof(entry)) {
			reader_bad(p, at, "the table of features is cut");
			return;
		}
		memcpy(&s, entry, sizeof(s));
		if (perffeatures_wants(i))
			read_feature(p, i, s, file_size);
		at += sizeof(s);
	}
}

/* What pjrecord writes in front of the data: common/formats/pjsection.h. False: it is not there; old perf has something
 * else in that place. */
static bool early_features(struct perfdata *p, const struct perf_file_header *h, uint64_t features[4])
{
	struct perf_section s = h->event_types;

	if (s.size < 4 * sizeof(*features) || s.offset > h->data.offset || s.size != h->data.offset - s.offset)
		return false;
	if (in_pread(p->in, (char *)features, 4 * sizeof(*features), s.offset) < 4 * sizeof(*features)) {
		reader_bad(p, s.offset, "what is in front of the data is cut");
		return false;
	}
	return has_feature(features, FEATURE_PJ_START);
}

/* The bits of features are the last that a recorder writes; pjrecord says with each flush how much data there is, perf
 * at the end. */
static bool is_unfinished(const struct perf_file_header *h, bool early, uint64_t file_size)
{
	bool none = !(h->features[0] | h->features[1] | h->features[2] | h->features[3]);

	return h->data.size == 0 || h->data.offset + h->data.size > file_size || (early && none);
}

static void perfopen_open_file(struct perfdata *p)
{
	struct perf_file_header h = { 0 };
	char bytes[sizeof(h)] = { 0 };
	uint64_t file_size = 0, features[4] = { 0 };
	bool early;
	struct perfdata_info *info = &p->features.info;

	if (!in_seekable(p->in, &file_size)) {
		in_spool(p->in);
		in_seekable(p->in, &file_size);
	}
	if (in_pread(p->in, bytes, sizeof(bytes), 0) < PERF_OLD_FILE_HEADER)
		die_at(perfopen_place_of(p->in), "perf.data ends in its header");
	memcpy(&h, bytes, sizeof(h));
	if (h.size < sizeof(h))
		memset(h.features, 0, sizeof(h.features));
	if (h.size < PERF_OLD_FILE_HEADER || h.data.offset < PERF_OLD_FILE_HEADER || h.data.offset > INNER / 2 ||
	    h.data.size > INNER / 2)
		die_at(perfopen_place_of(p->in), "perf.data with a damaged header");
	if (has_feature(h.features, FEATURE_DIR_FORMAT))
		die_at(perfopen_place_of(p->in),
		       "part of a directory of perf record --threads: perf script -i DIRECTORY |");
	read_attrs(p, &h, file_size);
	early = early_features(p, &h, features);
	info->unfinished = is_unfinished(&h, early, file_size);
	p->at = h.data.offset;
	p->raw = (struct bytes){ .more = more_of_file,
				 .from = p,
				 .end = info->unfinished ? file_size : h.data.offset + h.data.size };
	if (!info->unfinished)
		read_features(p, h.features, h.data.offset + h.data.size, file_size);
	else if (early)
		read_features(p, features, h.event_types.offset + sizeof(features), file_size);
}

/* Up to where the samples begin, so that the events are known. */
static void open_pipe(struct perfdata *p)
{
	p->at = PERF_PIPE_HEADER;
	p->features.info.pipe = true;
	perfevents_init(&p->events, PIPE_EVENTS);
	p->raw = (struct bytes){ .more = more_of_pipe, .from = p, .end = NO_END };
	while (!p->started && reader_memory(p) < AHEAD)
		p->started = !reader_next(p) || p->started;
	if (p->events.n == 0) {
		struct place place = perfopen_place_of(p->in);

		perfdata_close(p);
		die_at(place, "perf.data without events: nothing was recorded");
	}
}

void reader_open(struct perfdata *p)
{
	struct str first = in_peek(p->in, PERF_PIPE_HEADER);

	check_magic(p->in, first);
	if (load64(first.p + 8) == PERF_PIPE_HEADER)
		open_pipe(p);
	else
		perfopen_open_file(p);
	if (p->features.info.clock < 0)
		p->features.info.clock = p->events.clock;
}
