/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfreader.h"
#include "fold/perfdata/perfsection.h"

#include <stdlib.h>

/* The reader does not map files. read() into a block that stays in the CPU's cache costs less than the page faults of a
 * mapping, read() also works for pipes, and a file that shrinks meanwhile cannot kill the process with SIGBUS. */

/* Maximum number of events in pipe mode, where no header gives their number. Further events are counted as damaged
 * parts. */
#define PIPE_EVENTS 4096
/* Maximum number of events in file mode. Further events are not read; the list is counted as one damaged part. */
#define FILE_EVENTS 65536
/* Maximum number of ids of all events together; each event has one id for each CPU. If the ids of an event would exceed
 * this maximum, they are not read, and are counted as one damaged part. */
#define IDS ((uint64_t)1 << 22)
/* Maximum size of a feature in bytes; a larger feature is not read, and is counted as a damaged part. */
#define FEATURE_MAX ((uint64_t)64 << 20)
/* Maximum number of bytes that perfdata_open() reads in pipe mode until the first sample. */
#define AHEAD ((size_t)64 << 20)

static struct place perfopen_place_of(const struct in *input)
{
	return (struct place){ input->name, 0 };
}

static void check_magic(const struct in *input, struct str first)
{
	if (str_starts(first, STR(PERF_MAGIC_SWAPPED)) || str_starts(first, STR(PERF_MAGIC_1_SWAPPED)))
		die_at(perfopen_place_of(input),
		       "perf.data of the other byte order: run perf script on a machine of that byte order");
	if (str_starts(first, STR(PERF_MAGIC_1)))
		die_at(perfopen_place_of(input), "perf.data of version 1, from before 2010: it cannot be read");
	if (!str_starts(first, STR(PERF_MAGIC)))
		die_at(perfopen_place_of(input), "not perf.data");
	if (first.n < PERF_PIPE_HEADER)
		die_at(perfopen_place_of(input), "perf.data ends in its header");
}

/* bytes_more function of file mode: reads up to n bytes of the input at file offset `at`. */
static size_t more_of_file(void *from, char *to, size_t n, uint64_t at)
{
	struct perfdata *perfdata = from;
	size_t got = in_pread(perfdata->in, to, n, at);

	progress_at(&perfdata->in->progress, at + got);
	return got;
}

/* bytes_more function of pipe mode: drops the input up to offset `at`, then reads up to n bytes. perfdata->consumed is
 * the current offset of the pipe, at most `at`. */
static size_t more_of_pipe(void *from, char *to, size_t n, uint64_t at)
{
	struct perfdata *perfdata = from;
	size_t got = 1;

	/* Read and drop the bytes before `at`: the caller has skipped them. */
	while (perfdata->consumed < at && got) {
		got = in_read(perfdata->in, to, at - perfdata->consumed < n ? (size_t)(at - perfdata->consumed) : n);
		perfdata->consumed += got;
	}
	got = got ? in_read(perfdata->in, to, n) : 0;
	perfdata->consumed += got;
	return got;
}

/* Reads the ids of one event. `section` is an array of u64 anywhere in the file. */
static void read_ids(struct perfdata *perfdata, uint32_t event, struct perf_section section)
{
	char buf[4096];

	/* A hostile file may give each event the same large section, so the limit is for all events together. */
	if (section.size / 8 > IDS - perfdata->ids) {
		reader_bad(perfdata, section.offset, "too many event ids");
		return;
	}
	perfdata->ids += section.size / 8;
	while (section.size >= 8) {
		size_t want = section.size < sizeof(buf) ? (size_t)section.size & ~(size_t)7 : sizeof(buf);
		size_t got = in_pread(perfdata->in, buf, want, section.offset) & ~(size_t)7;

		for (size_t i = 0; i < got; i += 8)
			perfevents_add_id(&perfdata->events, event, load64(buf + i));
		if (got < want)
			break;
		section.offset += got;
		section.size -= got;
	}
	if (section.size)
		reader_bad(perfdata, section.offset, "the ids of an event are truncated");
}

/* Adds the event of one entry of the header's list: an attr, then the position of its ids. size: size of the entry in
 * bytes; offset: its offset in the file. A damaged entry is counted. */
static void read_attr(struct perfdata *perfdata, const char *entry, size_t size, uint64_t offset)
{
	size_t attr_size = size - sizeof(struct perf_section), own = load32(entry + 4);
	struct perf_section ids;
	uint32_t event;

	if (own >= PERF_ATTR_MIN && own < attr_size)
		/* the attr is shorter than its entry; the bytes after it have no meaning */
		attr_size = own;
	memcpy(&ids, entry + size - sizeof(ids), sizeof(ids));
	event = perfevents_add(&perfdata->events, (struct str){ entry, attr_size });
	if (event == EVENT_NONE)
		reader_bad(perfdata, offset, "an invalid event");
	else
		read_ids(perfdata, event, ids);
}

/* Reads the events in the header of a file of file_size bytes. Ends the process with a message if there is no event. */
static void read_attrs(struct perfdata *perfdata, const struct perf_file_header *header, uint64_t file_size)
{
	uint64_t n = header->attr_size ? header->attrs.size / header->attr_size : 0;
	char *entry;

	if (header->attr_size < PERF_ATTR_MIN + sizeof(struct perf_section) || header->attr_size > 65536)
		die_at(perfopen_place_of(perfdata->in), "perf.data has events of %llu bytes: its header is damaged",
		       (unsigned long long)header->attr_size);
	if (header->attrs.offset > file_size || n > (file_size - header->attrs.offset) / header->attr_size) {
		reader_bad(perfdata, header->attrs.offset, "the events are truncated");
		n = header->attrs.offset > file_size ? 0 : (file_size - header->attrs.offset) / header->attr_size;
	}
	if (n == 0)
		die_at(perfopen_place_of(perfdata->in),
		       "perf.data has no events: nothing was recorded, or its header is damaged");
	if (n > FILE_EVENTS) {
		reader_bad(perfdata, header->attrs.offset, "more than 65536 events");
		n = FILE_EVENTS;
	}
	perfevents_init(&perfdata->events, (size_t)n);
	entry = mem_alloc(1, (size_t)header->attr_size);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t offset = header->attrs.offset + i * header->attr_size;

		if (in_pread(perfdata->in, entry, (size_t)header->attr_size, offset) < header->attr_size)
			/* the file has become shorter since its size was read: use the events before */
			break;
		read_attr(perfdata, entry, (size_t)header->attr_size, offset);
	}
	free(entry);
	if (perfdata->events.n == 0)
		die_at(perfopen_place_of(perfdata->in), "perf.data has no valid events");
}

/* Reads one feature; a section outside of the file (of file_size bytes), or larger than FEATURE_MAX, is not read but
 * counted as damaged. */
static void read_feature(struct perfdata *perfdata, unsigned feature, struct perf_section section, uint64_t file_size)
{
	const char *why;
	char *body;

	if (section.offset > file_size || section.size > file_size - section.offset) {
		reader_bad(perfdata, section.offset, "a feature ends after the file");
		return;
	}
	if (section.size > FEATURE_MAX) {
		reader_bad(perfdata, section.offset, "a feature is too large");
		return;
	}
	body = mem_alloc(1, (size_t)section.size + 1);
	section.size = in_pread(perfdata->in, body, (size_t)section.size, section.offset);
	why = perffeatures_read(&perfdata->features, &perfdata->events, feature,
				(struct str){ body, (size_t)section.size });
	if (why)
		reader_bad(perfdata, section.offset, why);
	free(body);
}

/* Reads the features that pjfold uses. The table at offset `at` has the position of one feature for each bit that is
 * set in `features`. */
static void read_features(struct perfdata *perfdata, const uint64_t features[4], uint64_t at, uint64_t file_size)
{
	struct perf_section section;
	char entry[sizeof(section)];

	for (unsigned i = 0; i < FEATURES; i++) {
		if (!perf_has_feature(features, i))
			continue;
		if (in_pread(perfdata->in, entry, sizeof(entry), at) < sizeof(entry)) {
			reader_bad(perfdata, at, "the table of features is truncated");
			return;
		}
		memcpy(&section, entry, sizeof(section));
		if (perffeatures_wants(i))
			read_feature(perfdata, i, section, file_size);
		at += sizeof(section);
	}
}

/* Returns true if the recorder did not complete the file, or if the data end after the end of the file; otherwise
 * false. perf writes the size of the data last, so this size is 0 in an unfinished file. pjrecord (`early` is true)
 * writes the size at each flush, and the header's feature bits last. */
static bool is_unfinished(const struct perf_file_header *header, bool early, uint64_t file_size)
{
	bool none = !(header->features[0] | header->features[1] | header->features[2] | header->features[3]);

	return header->data.size == 0 || header->data.offset + header->data.size > file_size || (early && none);
}

/* Opens a recording in file mode: reads header, events and features. Input that is not seekable is copied to a
 * temporary file. */
static void perfopen_open_file(struct perfdata *perfdata)
{
	struct perf_file_header header = { 0 };
	char bytes[sizeof(header)] = { 0 };
	uint64_t file_size = 0, features[4] = { 0 };
	bool early;
	const char *why;
	struct perfdata_info *info = &perfdata->features.info;

	if (!in_seekable(perfdata->in, &file_size)) {
		in_spool(perfdata->in);
		in_seekable(perfdata->in, &file_size);
	}
	if (in_pread(perfdata->in, bytes, sizeof(bytes), 0) < PERF_OLD_FILE_HEADER)
		die_at(perfopen_place_of(perfdata->in), "perf.data ends in its header");
	memcpy(&header, bytes, sizeof(header));
	if (header.size < sizeof(header))
		memset(header.features, 0, sizeof(header.features));
	if (header.size < PERF_OLD_FILE_HEADER || header.data.offset < PERF_OLD_FILE_HEADER ||
	    header.data.offset > INNER / 2 || header.data.size > INNER / 2)
		die_at(perfopen_place_of(perfdata->in), "perf.data with a damaged header");
	if (perf_has_feature(header.features, FEATURE_DIR_FORMAT))
		die_at(perfopen_place_of(perfdata->in),
		       "part of a directory of perf record --threads: use perf script -i DIRECTORY |");
	read_attrs(perfdata, &header, file_size);
	why = perfsection_early(&header, perfdata->in, features, &early);
	if (why)
		reader_bad(perfdata, header.event_types.offset, why);
	info->unfinished = is_unfinished(&header, early, file_size);
	perfdata->at = header.data.offset;
	perfdata->raw = (struct bytes){ .more = more_of_file,
					.from = perfdata,
					.end = info->unfinished ? file_size : header.data.offset + header.data.size };
	if (!info->unfinished)
		read_features(perfdata, header.features, header.data.offset + header.data.size, file_size);
	else if (early)
		read_features(perfdata, features, header.event_types.offset + sizeof(features), file_size);
}

/* Opens a recording in pipe mode: reads records up to the first sample, but at most AHEAD bytes, so that the events are
 * known when perfdata_open() returns. Ends the process with a message if there is no event. */
static void open_pipe(struct perfdata *perfdata)
{
	perfdata->at = PERF_PIPE_HEADER;
	perfdata->features.info.pipe = true;
	perfevents_init(&perfdata->events, PIPE_EVENTS);
	perfdata->raw = (struct bytes){ .more = more_of_pipe, .from = perfdata, .end = NO_END };
	while (!perfdata->started && reader_memory(perfdata) < AHEAD)
		perfdata->started = !reader_next(perfdata) || perfdata->started;
	if (perfdata->events.n == 0) {
		struct place place = perfopen_place_of(perfdata->in);

		perfdata_close(perfdata);
		die_at(place, "perf.data has no events: nothing was recorded");
	}
}

void reader_open(struct perfdata *perfdata)
{
	struct str first = in_peek(perfdata->in, PERF_PIPE_HEADER);

	check_magic(perfdata->in, first);
	if (load64(first.p + 8) == PERF_PIPE_HEADER)
		open_pipe(perfdata);
	else
		perfopen_open_file(perfdata);
	if (perfdata->features.info.clock < 0)
		perfdata->features.info.clock = perfdata->events.clock;
}
