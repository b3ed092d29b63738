/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/chunk.h"

#include "common/arena.h"
#include "common/formats/perfrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER ((size_t)256 << 10)

/* ---- buffered output of bytes ------------------------------------------------------------------------------- */

static bool chunk_write_all(struct chunk *chunk, const char *p, size_t n)
{
	while (n && !chunk->error) {
		ssize_t got = write(chunk->fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			chunk->error = errno;
			break;
		}
		p += got;
		n -= (size_t)got;
	}
	return !chunk->error;
}

static void write_out(struct chunk *chunk)
{
	chunk_write_all(chunk, chunk->buf, chunk->n);
	chunk->n = 0;
}

static void chunk_put(struct chunk *chunk, const void *p, size_t n)
{
	if (chunk->cap - chunk->n < n)
		write_out(chunk);
	if (n > chunk->cap) {
		chunk_write_all(chunk, p, n);
	} else if (n) {
		memcpy(chunk->buf + chunk->n, p, n);
		chunk->n += n;
	}
	chunk->written += n;
}

static void chunk_patch(struct chunk *chunk, uint64_t offset, const void *p, size_t n)
{
	ssize_t got;

	if (chunk->error)
		return;
	do
		got = pwrite(chunk->fd, p, n, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)n)
		chunk->error = got < 0 ? errno : EIO;
}

static void chunk_put_u32(struct text *text, uint32_t value)
{
	text_bytes(text, &value, sizeof(value));
}

static void put_u64(struct text *text, uint64_t value)
{
	text_bytes(text, &value, sizeof(value));
}

static void chunk_pad(struct text *text, size_t start, size_t to)
{
	while ((text->n - start) % to)
		text_char(text, 0);
}

/* Appends a string in perf's layout: a 32-bit length that includes the padding, then the bytes, a NUL and zeros up to a
 * multiple of 64 bytes (NAME_ALIGN). */
static void chunk_put_string(struct text *text, const char *string)
{
	size_t n = strlen(string) + 1, padded = (n + 63) & ~(size_t)63, start;

	chunk_put_u32(text, (uint32_t)padded);
	start = text->n;
	text_bytes(text, string, n);
	chunk_pad(text, start, padded);
}

void chunk_put_item(struct text *text, uint32_t type, const void *p, size_t n)
{
	size_t start = text->n;

	chunk_put_u32(text, type);
	chunk_put_u32(text, (uint32_t)n);
	text_bytes(text, p, n);
	chunk_pad(text, start, 8);
}

/* ---- feature sections --------------------------------------------------------------------------------------- */

static void describe_events(struct text *text, const struct chunk_facts *facts)
{
	chunk_put_u32(text, (uint32_t)facts->nevents);
	chunk_put_u32(text, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < facts->nevents; i++) {
		const struct chunk_event *event = facts->event + i;

		text_bytes(text, &event->attr, sizeof(event->attr));
		chunk_put_u32(text, (uint32_t)event->nids);
		chunk_put_string(text, event->name);
		for (size_t index = 0; index < event->nids; index++)
			put_u64(text, event->ids[index]);
	}
}

static void describe_unwinding(struct text *text, const struct chunk_facts *facts)
{
	bool any = false;

	for (size_t i = 0; i < facts->nevents; i++) {
		uint64_t number = i + 1;

		if (!facts->event[i].unwound)
			continue;
		if (!any)
			chunk_put_item(text, PJ_ITEM_UNWINDING, "", 0);
		any = true;
		chunk_put_item(text, PJ_ITEM_UNWOUND, &number, sizeof(number));
	}
}

static void describe_start(struct text *text, const struct chunk_facts *facts, const struct pj_window *window)
{
	chunk_put_item(text, PJ_ITEM_VERSION, PJ_VERSION, strlen(PJ_VERSION));
	chunk_put_item(text, PJ_ITEM_BOOT, facts->boot, strlen(facts->boot));
	chunk_put_item(text, PJ_ITEM_WINDOW, window, sizeof(*window));
	if (facts->max_stack)
		chunk_put_item(text, PJ_ITEM_MAX_STACK, &facts->max_stack, sizeof(facts->max_stack));
	describe_unwinding(text, facts);
}

/* Contents of the start of a file. facts: properties of the recording; window: time span of the window; wall and
 * record: start of the window in ns, on the wall clock (since 1970) and on the clock of the records
 * (CLOCK_MONOTONIC). */
struct file_start {
	const struct chunk_facts *facts;
	const struct pj_window *window;
	uint64_t wall, record;
};

/* Appends the section of a feature whose content is known at the start of a file. Returns false if the feature has no
 * such section, or no data; the caller then removes the bytes that were appended to *text. */
static bool chunk_describe(struct text *text, unsigned feature, const struct file_start *arguments)
{
	const struct chunk_facts *facts = arguments->facts;

	switch (feature) {
	case FEATURE_TRACING_DATA: text_str(text, facts->tracing); return facts->tracing.n;
	case FEATURE_HOSTNAME: return chunk_put_string(text, facts->host), true;
	case FEATURE_OSRELEASE: return chunk_put_string(text, facts->kernel), true;
	case FEATURE_VERSION: return chunk_put_string(text, "pjrecord " PJ_VERSION), true;
	case FEATURE_ARCH: return chunk_put_string(text, facts->arch), true;
	case FEATURE_NRCPUS:
		/* perf writes the number of configured CPUs first, then the number of online CPUs; perf's documentation
		 * has the opposite order */
		chunk_put_u32(text, facts->cpus);
		chunk_put_u32(text, facts->cpus_online);
		return true;
	case FEATURE_CPUDESC:
		if (facts->cpu)
			chunk_put_string(text, facts->cpu);
		return facts->cpu;
	case FEATURE_TOTAL_MEM: return put_u64(text, facts->memory), true;
	case FEATURE_CMDLINE: {
		uint32_t n = 0;

		while (facts->argv && facts->argv[n])
			n++;
		chunk_put_u32(text, n);
		for (uint32_t i = 0; i < n; i++)
			chunk_put_string(text, facts->argv[i]);
		return n;
	}
	case FEATURE_EVENT_DESC: return describe_events(text, facts), true;
	case FEATURE_CLOCKID: return put_u64(text, 1), true; /* clock resolution: 1 ns */
	case FEATURE_CLOCK_DATA:
		chunk_put_u32(text, 1); /* version of the section CLOCK_DATA */
		chunk_put_u32(text, 1); /* clock id of the records: CLOCK_MONOTONIC */
		put_u64(text, arguments->wall);
		put_u64(text, arguments->record);
		return true;
	case FEATURE_PJ_START: return describe_start(text, facts, arguments->window), true;
	default: return false;
	}
}

/* ---- start of a file or pipe -------------------------------------------------------------------------------- */

static void set_bit(uint64_t bits[4], unsigned i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_bit(const uint64_t bits[4], unsigned i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Writes everything that precedes the data of a file: the file header, event ids and attributes, feature sections, and
 * a table of these sections. */
static void begin_file(struct chunk *chunk, const struct chunk_facts *facts, const struct file_start *arguments)
{
	struct perf_file_header header = { .magic = PERF_MAGIC,
					   .size = sizeof(header),
					   .attr_size = sizeof(struct perf_event_attr) + sizeof(struct perf_section) };
	struct text text = { 0 };
	size_t ids = sizeof(header);

	text_bytes(&text, &header, sizeof(header));
	for (size_t i = 0; i < facts->nevents; i++)
		for (size_t index = 0; index < facts->event[i].nids; index++)
			put_u64(&text, facts->event[i].ids[index]);
	header.attrs = (struct perf_section){ text.n, facts->nevents * header.attr_size };
	for (size_t i = 0; i < facts->nevents; i++) {
		text_bytes(&text, &facts->event[i].attr, sizeof(facts->event[i].attr));
		put_u64(&text, ids);
		put_u64(&text, facts->event[i].nids * 8);
		ids += facts->event[i].nids * 8;
	}
	for (unsigned i = 1; i < FEATURES; i++) {
		struct perf_section place = { text.n, 0 };

		if (!chunk_describe(&text, i, arguments)) {
			text.n = place.offset;
			continue;
		}
		place.size = text.n - place.offset;
		chunk_pad(&text, 0, 8);
		set_bit(chunk->pre, i);
		text_bytes(&chunk->features, &place, sizeof(place));
	}
	header.event_types = (struct perf_section){ text.n, sizeof(chunk->pre) + chunk->features.n };
	text_bytes(&text, chunk->pre, sizeof(chunk->pre));
	text_str(&text, text_view(&chunk->features));
	chunk->data = text.n;
	header.data = (struct perf_section){ text.n, 0 };
	memcpy(text.p, &header, sizeof(header));
	chunk_put(chunk, text.p, text.n);
	text_free(&text);
}

static void chunk_put_header(struct text *text, uint32_t type, size_t size)
{
	struct perf_record record = { .type = type, .size = (uint16_t)size };

	text_bytes(text, &record, sizeof(record));
}

/* Writes the start of perf's pipe mode, in which records replace the file header. An ATTR record and a record with the
 * event's name describe each event. A FEATURE record describes each feature except TRACING_DATA, which has a record
 * type of its own; a feature that is too large for one record is left out. */
static void begin_pipe(struct chunk *chunk, const struct chunk_facts *facts, const struct file_start *arguments)
{
	uint64_t size = PERF_PIPE_HEADER;
	struct text text = { 0 };

	text_bytes(&text, PERF_MAGIC, 8);
	put_u64(&text, size);
	for (size_t i = 0; i < facts->nevents; i++) {
		const struct chunk_event *event = facts->event + i;
		size_t n = strlen(event->name) + 1, start;

		chunk_put_header(&text, RECORD_ATTR, 8 + sizeof(event->attr) + event->nids * 8);
		text_bytes(&text, &event->attr, sizeof(event->attr));
		for (size_t index = 0; index < event->nids; index++)
			put_u64(&text, event->ids[index]);
		start = text.n;
		chunk_put_header(&text, RECORD_EVENT_UPDATE, (8 + 16 + n + 7) & ~(size_t)7);
		put_u64(&text, UPDATE_NAME);
		put_u64(&text, event->nids ? event->ids[0] : 0);
		text_bytes(&text, event->name, n);
		chunk_pad(&text, start, 8);
	}
	for (unsigned i = 1; i < FEATURES; i++) {
		size_t start = text.n;

		if (i == FEATURE_TRACING_DATA)
			continue;
		chunk_put_header(&text, RECORD_FEATURE, 0);
		put_u64(&text, i);
		bool known = chunk_describe(&text, i, arguments);
		chunk_pad(&text, start, 8);
		uint16_t complete = (uint16_t)(text.n - start);
		if (!known || text.n - start > PERF_RECORD_MAX)
			text.n = start;
		else
			memcpy(text.p + start + 6, &complete, sizeof(complete));
	}
	if (facts->tracing.n) {
		chunk_put_header(&text, RECORD_TRACING_DATA, 16);
		/* size of TRACING_DATA in bytes, including padding */
		chunk_put_u32(&text, (uint32_t)((facts->tracing.n + 7) & ~(size_t)7));
		chunk_put_u32(&text, 0);
		text_str(&text, facts->tracing);
		chunk_pad(&text, 0, 8);
	}
	chunk_put(chunk, text.p, text.n);
	text_free(&text);
}

void chunk_begin(struct chunk *chunk, int fd, bool pipe, const struct chunk_facts *facts,
		 const struct pj_window *window, uint64_t wall_ns, uint64_t record_ns)
{
	struct file_start arguments = { facts, window, wall_ns, record_ns };

	*chunk = (struct chunk){ .fd = fd, .pipe = pipe, .cap = BUFFER, .buf = mem_alloc(1, BUFFER) };
	if (pipe)
		begin_pipe(chunk, facts, &arguments);
	else
		begin_file(chunk, facts, &arguments);
	chunk_flush(chunk);
}

/* ---- appending of records ----------------------------------------------------------------------------------- */

void chunk_record2(struct chunk *chunk, const void *a, size_t na, const void *b, size_t nb)
{
	chunk_put(chunk, a, na);
	chunk_put(chunk, b, nb);
	chunk->records++;
}

void chunk_record(struct chunk *chunk, const void *record, size_t n)
{
	chunk_record2(chunk, record, n, NULL, 0);
}

void chunk_flush(struct chunk *chunk)
{
	struct perf_record round = { .type = RECORD_FINISHED_ROUND, .size = sizeof(round) };
	uint64_t size;

	if (chunk->records)
		chunk_put(chunk, &round, sizeof(round));
	chunk->records = 0;
	write_out(chunk);
	size = chunk->written - chunk->data;
	if (!chunk->pipe && size != chunk->reported)
		chunk_patch(chunk, offsetof(struct perf_file_header, data) + 8, &size, sizeof(size));
	chunk->reported = size;
}

/* ---- end of a file ------------------------------------------------------------------------------------------ */

/* Completes a file: writes the table of all feature sections, in the order of their bits, then the sections that are
 * known only at the end; then sets data size and feature bits in the file header. The table includes the sections that
 * precede the data. */
static void end_file(struct chunk *chunk, const struct chunk_end *end)
{
	uint64_t bits[4], times[2] = { end->first, end->last }, size = chunk->written - chunk->data;
	struct perf_section late[3] = { { 0, end->build_ids.n },
					{ 0, end->last ? sizeof(times) : 0 },
					{ 0, end->pj.n } };
	static const unsigned feature[3] = { FEATURE_BUILD_ID, FEATURE_SAMPLE_TIME, FEATURE_PJ_END };
	struct text text = { 0 };
	size_t n = 0, index = 0;

	memcpy(bits, chunk->pre, sizeof(bits));
	for (size_t i = 0; i < countof(late); i++)
		if (late[i].size)
			set_bit(bits, feature[i]);
	for (unsigned i = 0; i < FEATURES; i++)
		n += has_bit(bits, i);
	uint64_t at = chunk->written + n * sizeof(struct perf_section);
	for (unsigned i = 0; i < FEATURES; i++) {
		if (has_bit(chunk->pre, i)) {
			text_bytes(&text, chunk->features.p + index++ * sizeof(struct perf_section),
				   sizeof(struct perf_section));
			continue;
		}
		for (size_t l = 0; l < countof(late); l++)
			if (feature[l] == i && late[l].size) {
				late[l].offset = at;
				at += late[l].size;
				text_bytes(&text, late + l, sizeof(*late));
			}
	}
	text_str(&text, end->build_ids);
	if (late[1].size)
		text_bytes(&text, times, sizeof(times));
	text_str(&text, end->pj);
	chunk_put(chunk, text.p, text.n);
	text_free(&text);
	write_out(chunk);
	chunk_patch(chunk, offsetof(struct perf_file_header, data) + 8, &size, sizeof(size));
	chunk_patch(chunk, offsetof(struct perf_file_header, features), bits, sizeof(bits));
}

/* Returns a prefix of *rest that consists of complete items and has at most `max` bytes, and removes it from *rest.
 * Drops items that are larger than max. */
static struct str some_items(struct str *rest, size_t max)
{
	struct str all = *rest;
	size_t n = 0;

	while (rest->n >= sizeof(struct pj_item)) {
		struct pj_item item;
		size_t size;

		memcpy(&item, rest->p, sizeof(item));
		size = sizeof(item) + (((size_t)item.size + 7) & ~(size_t)7);
		if (size > rest->n || (n && n + size > max))
			break;
		*rest = str_from(*rest, size);
		if (size > max) {
			all = *rest;
			continue;
		}
		n += size;
	}
	return str_head(all, n);
}

void chunk_stream_items(struct chunk *chunk, struct str items)
{
	struct str rest = items, some;
	struct text text = { 0 };

	while ((some = some_items(&rest, PERF_RECORD_MAX - 64)).n) {
		chunk_put_header(&text, RECORD_FEATURE, sizeof(struct perf_record) + 8 + some.n);
		put_u64(&text, FEATURE_PJ_END);
		text_str(&text, some);
	}
	if (text.n)
		chunk_put(chunk, text.p, text.n);
	text_free(&text);
}

void chunk_end(struct chunk *chunk, const struct chunk_end *end)
{
	/* perf treats a file with a data size of 0 as one whose recorder did not end, so this makes chunk_flush add a
	 * FINISHED_ROUND record */
	if (!chunk->pipe && chunk->written + chunk->n == chunk->data)
		chunk->records = 1;
	chunk_flush(chunk);
	if (chunk->pipe) {
		chunk_stream_items(chunk, end->pj);
		write_out(chunk);
	} else {
		end_file(chunk, end);
	}
	text_free(&chunk->features);
	free(chunk->buf);
	chunk->buf = NULL;
	chunk->cap = chunk->n = 0;
}
