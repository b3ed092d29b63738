/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/rescue.h"

#include "common/arena.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((size_t)256 << 10) /* holds the largest record many times */
#define ATTRS_MAX ((uint64_t)16 << 20)
#define KNOWN_RECORDS (RECORD_SCHEDSTAT_DOMAIN + 1)
#define SAMPLE_IDENTIFIER (UINT64_C(1) << 16)
#define SAMPLE_IP_TID UINT64_C(3)
#define SAMPLE_TID UINT64_C(2)
#define SAMPLE_TIME UINT64_C(4)
#define PIDS (1u << 22) /* the kernel's limit */

/* What a walk over the records found. */
struct walk {
	uint64_t end; /* behind the last whole record */
	uint64_t samples, first, last;
	struct pj_loss loss;
	size_t time_at; /* where in a SAMPLE its time is; 0: in none, or not always at one place */
	size_t pid_at;  /* and its process */
	uint64_t processes;
	uint8_t *seen; /* bits by number */
};

/* The table of features: where each lies; size 0: it is not there. */
struct table {
	struct perf_section at[FEATURES];
};

static bool rescue_read_all(int fd, void *to, size_t n, uint64_t at)
{
	return fullio_pread(fd, to, n, at) == n;
}

static bool rescue_write_all(int fd, const void *from, size_t n, uint64_t at)
{
	const char *p = from;

	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	return true;
}

static bool rescue_within(struct perf_section s, uint64_t limit)
{
	return s.offset <= limit && s.size <= limit - s.offset;
}

static const char *rescue_read_header(int fd, struct perf_file_header *h, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size < 0)
		return "it cannot be read";
	*size = (uint64_t)st.st_size;
	if (*size == 0)
		return "it is empty";
	if (*size < sizeof(*h) || !rescue_read_all(fd, h, sizeof(*h), 0))
		return "it ends in its header";
	if (memcmp(h->magic, PERF_MAGIC, sizeof(h->magic)) != 0 || h->size != sizeof(*h))
		return "its header is damaged, or was not written";
	if (h->attr_size < PERF_ATTR_MIN + sizeof(struct perf_section) || h->attr_size > 65536 ||
	    h->attrs.size < h->attr_size || h->attrs.size > ATTRS_MAX || !rescue_within(h->attrs, h->data.offset) ||
	    h->attrs.offset < sizeof(*h))
		return "its events are damaged, or were not written";
	if (h->data.offset > *size || h->data.offset % 8)
		return "its data begins behind its end";
	return NULL;
}

/* The table whose bits are these, at that place; sections that do not lie in front of limit are left out. False: it is
 * cut. */
static bool rescue_read_table(int fd, const uint64_t bits[4], uint64_t at, uint64_t limit, struct table *t)
{
	for (unsigned i = 0; i < FEATURES; i++) {
		t->at[i] = (struct perf_section){ 0 };
		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		if (at > limit || limit - at < sizeof(t->at[i]) ||
		    !rescue_read_all(fd, &t->at[i], sizeof(t->at[i]), at))
			return false;
		if (!rescue_within(t->at[i], limit))
			t->at[i] = (struct perf_section){ 0 };
		at += sizeof(t->at[i]);
	}
	return true;
}

/* What was known when the window began: in front of the data. */
static void rescue_read_front(int fd, const struct perf_file_header *h, struct table *t)
{
	uint64_t bits[4];

	if (h->event_types.size < sizeof(bits) || !rescue_within(h->event_types, h->data.offset) ||
	    !rescue_read_all(fd, bits, sizeof(bits), h->event_types.offset) ||
	    !rescue_read_table(fd, bits, h->event_types.offset + sizeof(bits), h->data.offset, t))
		*t = (struct table){ 0 };
}

/* Every event has to have the same fields up to the time. */
static void find_fields(int fd, const struct perf_file_header *h, struct walk *w)
{
	const uint64_t before = SAMPLE_IDENTIFIER | SAMPLE_IP_TID | SAMPLE_TIME;
	uint64_t sample_type = 0;
	char attr[PERF_ATTR_MIN];

	for (uint64_t at = 0; at + h->attr_size <= h->attrs.size; at += h->attr_size) {
		if (!rescue_read_all(fd, attr, sizeof(attr), h->attrs.offset + at))
			return;
		if (at && ((load64(attr + 24) ^ sample_type) & before))
			return;
		sample_type = load64(attr + 24);
	}
	if (!(sample_type & SAMPLE_TIME))
		return;
	w->time_at = sizeof(struct perf_record) + 8 * (size_t)__builtin_popcountll(sample_type & before & ~SAMPLE_TIME);
	w->pid_at = sample_type & SAMPLE_TID ? w->time_at - 8 : 0;
}

static bool rescue_plausible(const struct perf_record *r)
{
	/* bytes that follow these are no records */
	if (r->type == RECORD_TRACING_DATA || r->type == RECORD_AUXTRACE)
		return false;
	return r->type > 0 && r->type < KNOWN_RECORDS && r->size >= sizeof(*r) && r->size % 8 == 0;
}

static void rescue_count_process(struct walk *w, uint32_t pid)
{
	uint8_t bit = (uint8_t)(1u << pid % 8);

	if (pid >= PIDS || w->seen[pid / 8] & bit)
		return;
	w->seen[pid / 8] |= bit;
	w->processes++;
}

static void rescue_count(struct walk *w, const struct perf_record *r, const char *p)
{
	if (r->type == RECORD_SAMPLE) {
		w->samples++;
		if (w->pid_at && r->size >= w->pid_at + 4)
			rescue_count_process(w, load32(p + w->pid_at));
		if (w->time_at && r->size >= w->time_at + 8) {
			uint64_t time = load64(p + w->time_at);

			w->first = w->first && w->first < time ? w->first : time;
			w->last = w->last > time ? w->last : time;
		}
	} else if (r->type == RECORD_LOST && r->size >= 24) {
		w->loss.samples += load64(p + 16);
	} else if (r->type == RECORD_LOST_SAMPLES && r->size >= 16 && !(r->misc & MISC_LOST_SAMPLES_BPF)) {
		w->loss.samples += load64(p + 8);
	} else if (r->type == RECORD_THROTTLE) {
		w->loss.throttled++;
	}
}

/* Up to limit, or the first bytes that are no whole record. */
static void walk_records(int fd, uint64_t at, uint64_t limit, struct walk *w)
{
	char *buf = mem_alloc(1, BUFFER);
	size_t n = 0, i = 0;

	w->end = at;
	w->seen = mem_alloc(1, PIDS / 8);
	for (;;) {
		struct perf_record r;

		if (n - i < PERF_RECORD_MAX && at < limit) {
			size_t want;

			memmove(buf, buf + i, n - i);
			n -= i;
			i = 0;
			want = limit - at < BUFFER - n ? (size_t)(limit - at) : BUFFER - n;
			if (!rescue_read_all(fd, buf + n, want, at))
				limit = at; /* it shrinks */
			else
				n += want;
			at += limit == at ? 0 : want;
		}
		if (n - i < sizeof(r))
			break;
		memcpy(&r, buf + i, sizeof(r));
		if (!rescue_plausible(&r) || r.size > n - i)
			break;
		rescue_count(w, &r, buf + i);
		i += r.size;
		w->end += r.size;
	}
	free(w->seen);
	free(buf);
}

/* The bits of features are the last that is written of a file; data.size grows with it. */
static bool has_end(const struct perf_file_header *h)
{
	return h->features[0] | h->features[1] | h->features[2] | h->features[3];
}

/* Is nothing to be done, as it was killed between its last write and its new name? After a power failure the header may
 * be there and the table not. */
static bool rescue_is_complete(int fd, const struct perf_file_header *h, uint64_t size, const struct walk *w)
{
	struct table t;

	if (!has_end(h) || w->end != h->data.offset + h->data.size ||
	    !rescue_read_table(fd, h->features, w->end, size, &t))
		return false;
	for (unsigned i = 0; i < FEATURES; i++)
		if ((h->features[i / 64] >> i % 64 & 1) && !t.at[i].size)
			return false;
	return true;
}

/* The table behind the data, and what only the walk tells. */
static void put_table(struct text *out, const struct table *front, const struct walk *w, uint64_t bits[4])
{
	struct table all = *front;
	struct pj_item item = { PJ_ITEM_LOSS, sizeof(w->loss) };
	uint64_t at = w->end;

	for (unsigned i = 0; i < FEATURES; i++)
		at += all.at[i].size || i == FEATURE_PJ_END || (i == FEATURE_SAMPLE_TIME && w->time_at) ?
			      sizeof(struct perf_section) :
			      0;
	all.at[FEATURE_SAMPLE_TIME] = (struct perf_section){ at, w->time_at ? 16 : 0 };
	all.at[FEATURE_PJ_END] =
		(struct perf_section){ at + all.at[FEATURE_SAMPLE_TIME].size, sizeof(item) + sizeof(w->loss) };
	for (unsigned i = 0; i < FEATURES; i++) {
		if (!all.at[i].size)
			continue;
		bits[i / 64] |= UINT64_C(1) << i % 64;
		text_bytes(out, &all.at[i], sizeof(all.at[i]));
	}
	if (w->time_at) {
		text_bytes(out, &w->first, sizeof(w->first));
		text_bytes(out, &w->last, sizeof(w->last));
	}
	text_bytes(out, &item, sizeof(item));
	text_bytes(out, &w->loss, sizeof(w->loss));
}

static bool make_complete(int fd, struct perf_file_header *h, const struct walk *w)
{
	struct table front;
	struct text out = { 0 };
	uint64_t bits[4] = { 0 };
	bool good;

	rescue_read_front(fd, h, &front);
	put_table(&out, &front, w, bits);
	/* a kill in between: the table does not look like a record, so that the next walk ends at the same place */
	memset(h->features, 0, sizeof(h->features));
	h->data.size = w->end - h->data.offset;
	good = rescue_write_all(fd, h, sizeof(*h), 0) && ftruncate(fd, (off_t)w->end) == 0 &&
	       rescue_write_all(fd, out.p, out.n, w->end);
	memcpy(h->features, bits, sizeof(bits));
	good = good && rescue_write_all(fd, h, sizeof(*h), 0);
	text_free(&out);
	return good;
}

bool chunk_rescue(int fd, struct rescued *r, const char **why)
{
	struct perf_file_header h;
	struct walk w = { 0 };
	uint64_t size;

	*r = (struct rescued){ 0 };
	*why = rescue_read_header(fd, &h, &size);
	if (*why)
		return false;
	find_fields(fd, &h, &w);
	walk_records(fd, h.data.offset, has_end(&h) && rescue_within(h.data, size) ? h.data.offset + h.data.size : size,
		     &w);
	*r = (struct rescued){ w.samples, w.processes };
	if (w.samples == 0)
		*why = "it holds no sample";
	else if (!rescue_is_complete(fd, &h, size, &w) && !make_complete(fd, &h, &w))
		*why = strerror(errno);
	return *why == NULL;
}

/* Where that feature lies, in a file that is finished or not. */
static struct perf_section find_feature(int fd, unsigned feature)
{
	struct perf_file_header h;
	struct table t = { 0 };
	uint64_t size;

	if (feature >= FEATURES || rescue_read_header(fd, &h, &size))
		return (struct perf_section){ 0 };
	if (!has_end(&h))
		rescue_read_front(fd, &h, &t);
	else if (!rescue_within(h.data, size) ||
		 !rescue_read_table(fd, h.features, h.data.offset + h.data.size, size, &t))
		return (struct perf_section){ 0 };
	return t.at[feature];
}

size_t chunk_item(int fd, unsigned feature, uint32_t type, void *to, size_t n)
{
	struct perf_section s = find_feature(fd, feature);
	struct pj_item item;

	while (s.size >= sizeof(item) && rescue_read_all(fd, &item, sizeof(item), s.offset)) {
		uint64_t complete = sizeof(item) + (((uint64_t)item.size + 7) & ~UINT64_C(7));

		if (item.size > s.size - sizeof(item))
			break;
		if (item.type == type) {
			n = item.size < n ? item.size : n;
			return rescue_read_all(fd, to, n, s.offset + sizeof(item)) ? n : 0;
		}
		complete = complete < s.size ? complete : s.size;
		s.offset += complete;
		s.size -= complete;
	}
	return 0;
}

bool chunk_times(int fd, uint64_t *first, uint64_t *last)
{
	struct perf_section s = find_feature(fd, FEATURE_SAMPLE_TIME);
	uint64_t time[2];

	if (s.size < sizeof(time) || !rescue_read_all(fd, time, sizeof(time), s.offset))
		return false;
	*first = time[0];
	*last = time[1];
	return true;
}
