/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/chunk.h"

#include "common/arena.h"
#include "common/formats/perfrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER ((size_t)256 << 10)

/* ---- bytes -------------------------------------------------------------------------------------------------- */

static bool chunk_write_all(struct chunk *c, const char *p, size_t n)
{
	while (n && !c->error) {
		ssize_t got = write(c->fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			c->error = errno;
			break;
		}
		p += got;
		n -= (size_t)got;
	}
	return !c->error;
}

static void write_out(struct chunk *c)
{
	chunk_write_all(c, c->buf, c->n);
	c->n = 0;
}

static void chunk_put(struct chunk *c, const void *p, size_t n)
{
	if (c->cap - c->n < n)
		write_out(c);
	if (n > c->cap) {
		chunk_write_all(c, p, n);
	} else if (n) {
		memcpy(c->buf + c->n, p, n);
		c->n += n;
	}
	c->written += n;
}

static void chunk_patch(struct chunk *c, uint64_t offset, const void *p, size_t n)
{
	ssize_t got;

	if (c->error)
		return;
	do
		got = pwrite(c->fd, p, n, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)n)
		c->error = got < 0 ? errno : EIO;
}

static void chunk_put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, &v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, &v, sizeof(v));
}

static void chunk_pad(struct text *t, size_t start, size_t to)
{
	while ((t->n - start) % to)
		text_char(t, 0);
}

/* perf's strings: length with its padding, bytes, NUL, padding to 64 (NAME_ALIGN). */
static void chunk_put_string(struct text *t, const char *s)
{
	size_t n = strlen(s) + 1, padded = (n + 63) & ~(size_t)63, start;

	chunk_put_u32(t, (uint32_t)padded);
	start = t->n;
	text_bytes(t, s, n);
	chunk_pad(t, start, padded);
}

void chunk_put_item(struct text *t, uint32_t type, const void *p, size_t n)
{
	size_t start = t->n;

	chunk_put_u32(t, type);
	chunk_put_u32(t, (uint32_t)n);
	text_bytes(t, p, n);
	chunk_pad(t, start, 8);
}

/* ---- features ----------------------------------------------------------------------------------------------- */

static void describe_events(struct text *t, const struct chunk_facts *f)
{
	chunk_put_u32(t, (uint32_t)f->nevents);
	chunk_put_u32(t, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < f->nevents; i++) {
		const struct chunk_event *e = f->event + i;

		text_bytes(t, &e->attr, sizeof(e->attr));
		chunk_put_u32(t, (uint32_t)e->nids);
		chunk_put_string(t, e->name);
		for (size_t k = 0; k < e->nids; k++)
			put_u64(t, e->ids[k]);
	}
}

static void describe_unwinding(struct text *t, const struct chunk_facts *f)
{
	bool any = false;

	for (size_t i = 0; i < f->nevents; i++) {
		uint64_t number = i + 1;

		if (!f->event[i].unwound)
			continue;
		if (!any)
			chunk_put_item(t, PJ_ITEM_UNWINDING, "", 0);
		any = true;
		chunk_put_item(t, PJ_ITEM_UNWOUND, &number, sizeof(number));
	}
}

static void describe_start(struct text *t, const struct chunk_facts *f, const struct pj_window *w)
{
	chunk_put_item(t, PJ_ITEM_VERSION, PJ_VERSION, strlen(PJ_VERSION));
	chunk_put_item(t, PJ_ITEM_BOOT, f->boot, strlen(f->boot));
	chunk_put_item(t, PJ_ITEM_WINDOW, w, sizeof(*w));
	describe_unwinding(t, f);
}

struct root_frames {
	const struct chunk_facts *facts;
	const struct pj_window *window;
	uint64_t wall, record;
};

/* The section of one feature that is known at the start; false: this is not one, or nothing is known. */
static bool chunk_describe(struct text *t, unsigned feature, const struct root_frames *s)
{
	const struct chunk_facts *f = s->facts;

	switch (feature) {
	case FEATURE_TRACING_DATA: text_str(t, f->tracing); return f->tracing.n;
	case FEATURE_HOSTNAME: return chunk_put_string(t, f->host), true;
	case FEATURE_OSRELEASE: return chunk_put_string(t, f->kernel), true;
	case FEATURE_VERSION: return chunk_put_string(t, "pjrecord " PJ_VERSION), true;
	case FEATURE_ARCH: return chunk_put_string(t, f->arch), true;
	case FEATURE_NRCPUS:
		chunk_put_u32(t, f->cpus); /* perf writes those available first, whatever its documentation says */
		chunk_put_u32(t, f->cpus_online);
		return true;
	case FEATURE_CPUDESC:
		if (f->cpu)
			chunk_put_string(t, f->cpu);
		return f->cpu;
	case FEATURE_TOTAL_MEM: return put_u64(t, f->memory), true;
	case FEATURE_CMDLINE: {
		uint32_t n = 0;

		while (f->argv && f->argv[n])
			n++;
		chunk_put_u32(t, n);
		for (uint32_t i = 0; i < n; i++)
			chunk_put_string(t, f->argv[i]);
		return n;
	}
	case FEATURE_EVENT_DESC: return describe_events(t, f), true;
	case FEATURE_CLOCKID: return put_u64(t, 1), true; /* resolution in ns */
	case FEATURE_CLOCK_DATA:
		chunk_put_u32(t, 1); /* version */
		chunk_put_u32(t, 1); /* CLOCK_MONOTONIC */
		put_u64(t, s->wall);
		put_u64(t, s->record);
		return true;
	case FEATURE_PJ_START: return describe_start(t, f, s->window), true;
	default: return false;
	}
}

/* ---- the start of a file ------------------------------------------------------------------------------------ */

static void set_bit(uint64_t bits[4], unsigned i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_bit(const uint64_t bits[4], unsigned i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Header, attributes with their ids, sections of features, the table of these; then the data. */
static void begin_file(struct chunk *c, const struct chunk_facts *f, const struct root_frames *s)
{
	struct perf_file_header h = { .magic = PERF_MAGIC,
				      .size = sizeof(h),
				      .attr_size = sizeof(struct perf_event_attr) + sizeof(struct perf_section) };
	struct text t = { 0 };
	size_t ids = sizeof(h);

	text_bytes(&t, &h, sizeof(h));
	for (size_t i = 0; i < f->nevents; i++)
		for (size_t k = 0; k < f->event[i].nids; k++)
			put_u64(&t, f->event[i].ids[k]);
	h.attrs = (struct perf_section){ t.n, f->nevents * h.attr_size };
	for (size_t i = 0; i < f->nevents; i++) {
		text_bytes(&t, &f->event[i].attr, sizeof(f->event[i].attr));
		put_u64(&t, ids);
		put_u64(&t, f->event[i].nids * 8);
		ids += f->event[i].nids * 8;
	}
	for (unsigned i = 1; i < FEATURES; i++) {
		struct perf_section place = { t.n, 0 };

		if (!chunk_describe(&t, i, s)) {
			t.n = place.offset;
			continue;
		}
		place.size = t.n - place.offset;
		chunk_pad(&t, 0, 8);
		set_bit(c->pre, i);
		text_bytes(&c->features, &place, sizeof(place));
	}
	h.event_types = (struct perf_section){ t.n, sizeof(c->pre) + c->features.n };
	text_bytes(&t, c->pre, sizeof(c->pre));
	text_str(&t, text_view(&c->features));
	c->data = t.n;
	h.data = (struct perf_section){ t.n, 0 };
	memcpy(t.p, &h, sizeof(h));
	chunk_put(c, t.p, t.n);
	text_free(&t);
}

static void chunk_put_header(struct text *t, uint32_t type, size_t size)
{
	struct perf_record r = { .type = type, .size = (uint16_t)size };

	text_bytes(t, &r, sizeof(r));
}

/* perf's pipe mode: what a file has in its header comes as records. An attribute is always that of its event; names
 * come behind it; features each in a record, where they fit into one. */
static void begin_pipe(struct chunk *c, const struct chunk_facts *f, const struct root_frames *s)
{
	uint64_t size = PERF_PIPE_HEADER;
	struct text t = { 0 };

	text_bytes(&t, PERF_MAGIC, 8);
	put_u64(&t, size);
	for (size_t i = 0; i < f->nevents; i++) {
		const struct chunk_event *e = f->event + i;
		size_t n = strlen(e->name) + 1, start = t.n;

		chunk_put_header(&t, RECORD_ATTR, 8 + sizeof(e->attr) + e->nids * 8);
		text_bytes(&t, &e->attr, sizeof(e->attr));
		for (size_t k = 0; k < e->nids; k++)
			put_u64(&t, e->ids[k]);
		start = t.n;
		chunk_put_header(&t, RECORD_EVENT_UPDATE, (8 + 16 + n + 7) & ~(size_t)7);
		put_u64(&t, UPDATE_NAME);
		put_u64(&t, e->nids ? e->ids[0] : 0);
		text_bytes(&t, e->name, n);
		chunk_pad(&t, start, 8);
	}
	for (unsigned i = 1; i < FEATURES; i++) {
		size_t start = t.n;

		if (i == FEATURE_TRACING_DATA)
			continue;
		chunk_put_header(&t, RECORD_FEATURE, 0);
		put_u64(&t, i);
		bool known = chunk_describe(&t, i, s);
		chunk_pad(&t, start, 8);
		uint16_t complete = (uint16_t)(t.n - start);
		if (!known || t.n - start > PERF_RECORD_MAX)
			t.n = start;
		else
			memcpy(t.p + start + 6, &complete, sizeof(complete));
	}
	if (f->tracing.n) {
		chunk_put_header(&t, RECORD_TRACING_DATA, 16);
		chunk_put_u32(&t, (uint32_t)((f->tracing.n + 7) & ~(size_t)7)); /* padding included */
		chunk_put_u32(&t, 0);
		text_str(&t, f->tracing);
		chunk_pad(&t, 0, 8);
	}
	chunk_put(c, t.p, t.n);
	text_free(&t);
}

void chunk_begin(struct chunk *c, int fd, bool pipe, const struct chunk_facts *f, const struct pj_window *w,
		 uint64_t wall_ns, uint64_t record_ns)
{
	struct root_frames s = { f, w, wall_ns, record_ns };

	*c = (struct chunk){ .fd = fd, .pipe = pipe, .cap = BUFFER, .buf = mem_alloc(1, BUFFER) };
	if (pipe)
		begin_pipe(c, f, &s);
	else
		begin_file(c, f, &s);
	chunk_flush(c);
}

/* ---- records ------------------------------------------------------------------------------------------------ */

void chunk_record2(struct chunk *c, const void *a, size_t na, const void *b, size_t nb)
{
	chunk_put(c, a, na);
	chunk_put(c, b, nb);
	c->records++;
}

void chunk_record(struct chunk *c, const void *record, size_t n)
{
	chunk_record2(c, record, n, NULL, 0);
}

void chunk_flush(struct chunk *c)
{
	struct perf_record round = { .type = RECORD_FINISHED_ROUND, .size = sizeof(round) };
	uint64_t size;

	if (c->records)
		chunk_put(c, &round, sizeof(round));
	c->records = 0;
	write_out(c);
	size = c->written - c->data;
	if (!c->pipe && size != c->reported)
		chunk_patch(c, offsetof(struct perf_file_header, data) + 8, &size, sizeof(size));
	c->reported = size;
}

/* ---- the end ------------------------------------------------------------------------------------------------ */

/* The table of all features, in the order of bits: those in front of the data, and those that come behind this table.
 */
static void end_file(struct chunk *c, const struct chunk_end *e)
{
	uint64_t bits[4], times[2] = { e->first, e->last }, size = c->written - c->data;
	struct perf_section late[3] = { { 0, e->build_ids.n }, { 0, e->last ? sizeof(times) : 0 }, { 0, e->pj.n } };
	static const unsigned feature[3] = { FEATURE_BUILD_ID, FEATURE_SAMPLE_TIME, FEATURE_PJ_END };
	struct text t = { 0 };
	size_t n = 0, k = 0;

	memcpy(bits, c->pre, sizeof(bits));
	for (size_t i = 0; i < countof(late); i++)
		if (late[i].size)
			set_bit(bits, feature[i]);
	for (unsigned i = 0; i < FEATURES; i++)
		n += has_bit(bits, i);
	uint64_t at = c->written + n * sizeof(struct perf_section);
	for (unsigned i = 0; i < FEATURES; i++) {
		if (has_bit(c->pre, i)) {
			text_bytes(&t, c->features.p + k++ * sizeof(struct perf_section), sizeof(struct perf_section));
			continue;
		}
		for (size_t l = 0; l < countof(late); l++)
			if (feature[l] == i && late[l].size) {
				late[l].offset = at;
				at += late[l].size;
				text_bytes(&t, late + l, sizeof(*late));
			}
	}
	text_str(&t, e->build_ids);
	if (late[1].size)
		text_bytes(&t, times, sizeof(times));
	text_str(&t, e->pj);
	chunk_put(c, t.p, t.n);
	text_free(&t);
	write_out(c);
	chunk_patch(c, offsetof(struct perf_file_header, data) + 8, &size, sizeof(size));
	chunk_patch(c, offsetof(struct perf_file_header, features), bits, sizeof(bits));
}

/* As many of the items as go into one record; *rest is what is left. One that is too large for any is left out. */
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

/* Our own items, as many records as they need. */
static void end_pipe(struct chunk *c, const struct chunk_end *e)
{
	struct str rest = e->pj, some;
	struct text t = { 0 };

	while ((some = some_items(&rest, PERF_RECORD_MAX - 64)).n) {
		chunk_put_header(&t, RECORD_FEATURE, sizeof(struct perf_record) + 8 + some.n);
		put_u64(&t, FEATURE_PJ_END);
		text_str(&t, some);
	}
	chunk_put(c, t.p, t.n);
	text_free(&t);
	write_out(c);
}

void chunk_end(struct chunk *c, const struct chunk_end *e)
{
	chunk_flush(c);
	if (c->pipe)
		end_pipe(c, e);
	else
		end_file(c, e);
	text_free(&c->features);
	free(c->buf);
	c->buf = NULL;
	c->cap = c->n = 0;
}
