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

/* BUFFER: bytes of the read buffer, several times the size of the largest record (64 kB). ATTRS_MAX: maximum bytes of
 * the section of events; a larger one is a damaged header. KNOWN_RECORDS: first unknown type of record, at which
 * reading ends. */
#define BUFFER ((size_t)256 << 10)
#define ATTRS_MAX ((uint64_t)16 << 20)
#define KNOWN_RECORDS (RECORD_SCHEDSTAT_DOMAIN + 1)
#define SAMPLE_IDENTIFIER (UINT64_C(1) << 16)
#define SAMPLE_IP_TID UINT64_C(3)
#define SAMPLE_TID UINT64_C(2)
#define SAMPLE_TIME UINT64_C(4)
/* number of possible pids (PID_MAX_LIMIT of the kernel); samples with a larger pid are not counted by process */
#define PIDS (1u << 22)

/* Counts from reading a window's records. first, last: earliest and latest time of a sample, in ns of the samples'
 * clock; 0: no sample with a time. */
struct walk {
	uint64_t end; /* file offset of the byte after the last complete record */
	uint64_t samples, first, last;
	struct pj_loss loss;
	/* offset of the time in a SAMPLE record, in bytes; 0: no time, or events differ in the fields before it */
	size_t time_at;
	size_t pid_at; /* offset of the pid in a SAMPLE record, in bytes; 0: unknown */
	uint64_t processes;
	uint8_t *seen; /* bitmap with a bit for each pid, set if the pid has a sample */
};

/* Table of features of a window: file offset and size of each, by feature number; size 0: the file lacks the
 * feature. */
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

static bool rescue_within(struct perf_section section, uint64_t limit)
{
	return section.offset <= limit && section.size <= limit - section.offset;
}

static const char *rescue_read_header(int fd, struct perf_file_header *header, uint64_t *size)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || status.st_size < 0)
		return "it cannot be read";
	*size = (uint64_t)status.st_size;
	if (*size == 0)
		return "it is empty";
	if (*size < sizeof(*header) || !rescue_read_all(fd, header, sizeof(*header), 0))
		return "its header is truncated";
	if (memcmp(header->magic, PERF_MAGIC, sizeof(header->magic)) != 0 || header->size != sizeof(*header))
		return "its header is damaged, or was not written";
	if (header->attr_size < PERF_ATTR_MIN + sizeof(struct perf_section) || header->attr_size > 65536 ||
	    header->attrs.size < header->attr_size || header->attrs.size > ATTRS_MAX ||
	    !rescue_within(header->attrs, header->data.offset) || header->attrs.offset < sizeof(*header))
		return "its events are damaged, or were not written";
	if (header->data.offset > *size || header->data.offset % 8)
		return "its data starts after its end";
	return NULL;
}

/* Reads the table of features at file offset `at`. The table has an entry for each feature whose bit is set in `bits`.
 * Treats features that end after file offset `limit` as missing. Returns false if the table is truncated; then *table
 * is incomplete. */
static bool rescue_read_table(int fd, const uint64_t bits[4], uint64_t at, uint64_t limit, struct table *table)
{
	for (unsigned i = 0; i < FEATURES; i++) {
		table->at[i] = (struct perf_section){ 0 };
		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		if (at > limit || limit - at < sizeof(table->at[i]) ||
		    !rescue_read_all(fd, &table->at[i], sizeof(table->at[i]), at))
			return false;
		if (!rescue_within(table->at[i], limit))
			table->at[i] = (struct perf_section){ 0 };
		at += sizeof(table->at[i]);
	}
	return true;
}

/* Reads the table of the features that were written before the data, at the start of the window. Sets *table to an
 * empty table on failure. */
static void rescue_read_front(int fd, const struct perf_file_header *header, struct table *table)
{
	uint64_t bits[4];

	if (header->event_types.size < sizeof(bits) || !rescue_within(header->event_types, header->data.offset) ||
	    !rescue_read_all(fd, bits, sizeof(bits), header->event_types.offset) ||
	    !rescue_read_table(fd, bits, header->event_types.offset + sizeof(bits), header->data.offset, table))
		*table = (struct table){ 0 };
}

/* Sets walk->time_at and walk->pid_at, the offsets of time and pid in SAMPLE records. Leaves them 0 if the events
 * differ in the fields up to the time. */
static void find_fields(int fd, const struct perf_file_header *header, struct walk *walk)
{
	const uint64_t before = SAMPLE_IDENTIFIER | SAMPLE_IP_TID | SAMPLE_TIME;
	uint64_t sample_type = 0;
	char attr[PERF_ATTR_MIN];

	for (uint64_t at = 0; at + header->attr_size <= header->attrs.size; at += header->attr_size) {
		if (!rescue_read_all(fd, attr, sizeof(attr), header->attrs.offset + at))
			return;
		if (at && ((load64(attr + 24) ^ sample_type) & before))
			return;
		sample_type = load64(attr + 24);
	}
	if (!(sample_type & SAMPLE_TIME))
		return;
	walk->time_at =
		sizeof(struct perf_record) + 8 * (size_t)__builtin_popcountll(sample_type & before & ~SAMPLE_TIME);
	walk->pid_at = sample_type & SAMPLE_TID ? walk->time_at - 8 : 0;
}

static bool rescue_plausible(const struct perf_record *record)
{
	/* TRACING_DATA and AUXTRACE records are followed by bytes that are not records, so reading ends before them. */
	if (record->type == RECORD_TRACING_DATA || record->type == RECORD_AUXTRACE)
		return false;
	return record->type > 0 && record->type < KNOWN_RECORDS && record->size >= sizeof(*record) &&
	       record->size % 8 == 0;
}

static void rescue_count_process(struct walk *walk, uint32_t pid)
{
	uint8_t bit = (uint8_t)(1u << pid % 8);

	if (pid >= PIDS || walk->seen[pid / 8] & bit)
		return;
	walk->seen[pid / 8] |= bit;
	walk->processes++;
}

static void rescue_count(struct walk *walk, const struct perf_record *record, const char *p)
{
	if (record->type == RECORD_SAMPLE) {
		walk->samples++;
		if (walk->pid_at && record->size >= walk->pid_at + 4)
			rescue_count_process(walk, load32(p + walk->pid_at));
		if (walk->time_at && record->size >= walk->time_at + 8) {
			uint64_t time = load64(p + walk->time_at);

			walk->first = walk->first && walk->first < time ? walk->first : time;
			walk->last = walk->last > time ? walk->last : time;
		}
	} else if (record->type == RECORD_LOST && record->size >= 24) {
		/* pjrecord writes LOST for rings of process state and of switches, and LOST_SAMPLES for rings of
		 * samples */
		walk->loss.records += load64(p + 16);
	} else if (record->type == RECORD_LOST_SAMPLES && record->size >= 16 &&
		   !(record->misc & MISC_LOST_SAMPLES_BPF)) {
		walk->loss.samples += load64(p + 8);
	} else if (record->type == RECORD_THROTTLE) {
		walk->loss.throttled++;
	}
}

/* Reads records from file offset `at` to `limit`, or to the first incomplete or implausible record. Adds samples and
 * losses to *walk, and sets walk->end. */
static void walk_records(int fd, uint64_t at, uint64_t limit, struct walk *walk)
{
	char *buf = mem_alloc(1, BUFFER);
	size_t n = 0, i = 0;

	walk->end = at;
	walk->seen = mem_alloc(1, PIDS / 8);
	for (;;) {
		struct perf_record record;

		if (n - i < PERF_RECORD_MAX && at < limit) {
			size_t want;

			memmove(buf, buf + i, n - i);
			n -= i;
			i = 0;
			want = limit - at < BUFFER - n ? (size_t)(limit - at) : BUFFER - n;
			if (!rescue_read_all(fd, buf + n, want, at))
				limit = at; /* the read failed: another process is truncating the file */
			else
				n += want;
			at += limit == at ? 0 : want;
		}
		if (n - i < sizeof(record))
			break;
		memcpy(&record, buf + i, sizeof(record));
		if (!rescue_plausible(&record) || record.size > n - i)
			break;
		rescue_count(walk, &record, buf + i);
		i += record.size;
		walk->end += record.size;
	}
	free(walk->seen);
	free(buf);
}

/* Returns true if the header has feature bits. The writer sets these bits last, after the final data.size: if one is
 * set, data.size is valid. */
static bool has_end(const struct perf_file_header *header)
{
	return header->features[0] | header->features[1] | header->features[2] | header->features[3];
}

/* Returns true if the window is complete already: its run was killed between its last write and the rename. Checks the
 * table of features, too: after a power failure the header may be on disk without the table. */
static bool rescue_is_complete(int fd, const struct perf_file_header *header, uint64_t size, const struct walk *walk)
{
	struct table table;

	if (!has_end(header) || walk->end != header->data.offset + header->data.size ||
	    !rescue_read_table(fd, header->features, walk->end, size, &table))
		return false;
	for (unsigned i = 0; i < FEATURES; i++)
		if ((header->features[i / 64] >> i % 64 & 1) && !table.at[i].size)
			return false;
	return true;
}

/* Appends to out the table of features that follows the data, and the features that are computed from the records:
 * times of samples, losses. front: table of the features before the data. Sets the feature bits of the header in
 * `bits`. */
static void put_table(struct text *out, const struct table *front, const struct walk *walk, uint64_t bits[4])
{
	struct table all = *front;
	struct pj_item item = { PJ_ITEM_LOSS, sizeof(walk->loss) };
	uint64_t at = walk->end;

	for (unsigned i = 0; i < FEATURES; i++)
		at += all.at[i].size || i == FEATURE_PJ_END || (i == FEATURE_SAMPLE_TIME && walk->time_at) ?
			      sizeof(struct perf_section) :
			      0;
	all.at[FEATURE_SAMPLE_TIME] = (struct perf_section){ at, walk->time_at ? 16 : 0 };
	all.at[FEATURE_PJ_END] =
		(struct perf_section){ at + all.at[FEATURE_SAMPLE_TIME].size, sizeof(item) + sizeof(walk->loss) };
	for (unsigned i = 0; i < FEATURES; i++) {
		if (!all.at[i].size)
			continue;
		bits[i / 64] |= UINT64_C(1) << i % 64;
		text_bytes(out, &all.at[i], sizeof(all.at[i]));
	}
	if (walk->time_at) {
		text_bytes(out, &walk->first, sizeof(walk->first));
		text_bytes(out, &walk->last, sizeof(walk->last));
	}
	text_bytes(out, &item, sizeof(item));
	text_bytes(out, &walk->loss, sizeof(walk->loss));
}

static bool make_complete(int fd, struct perf_file_header *header, const struct walk *walk)
{
	struct table front;
	struct text out = { 0 };
	uint64_t bits[4] = { 0 };
	bool good;

	rescue_read_front(fd, header, &front);
	put_table(&out, &front, walk, bits);
	/* If the process is killed after this statement, the next rescue finds the same end of the records, because the
	 * table of features is not a valid record. */
	memset(header->features, 0, sizeof(header->features));
	header->data.size = walk->end - header->data.offset;
	good = rescue_write_all(fd, header, sizeof(*header), 0) && ftruncate(fd, (off_t)walk->end) == 0 &&
	       rescue_write_all(fd, out.p, out.n, walk->end);
	memcpy(header->features, bits, sizeof(bits));
	good = good && rescue_write_all(fd, header, sizeof(*header), 0);
	text_free(&out);
	return good;
}

bool chunk_rescue(int fd, struct rescued *rescued, const char **why)
{
	struct perf_file_header header;
	struct walk walk = { 0 };
	uint64_t size;

	*rescued = (struct rescued){ 0 };
	*why = rescue_read_header(fd, &header, &size);
	if (*why)
		return false;
	find_fields(fd, &header, &walk);
	walk_records(fd, header.data.offset,
		     has_end(&header) && rescue_within(header.data, size) ? header.data.offset + header.data.size :
									    size,
		     &walk);
	*rescued = (struct rescued){ walk.samples, walk.processes };
	if (walk.samples == 0)
		*why = "it has no sample";
	else if (!rescue_is_complete(fd, &header, size, &walk) && !make_complete(fd, &header, &walk))
		*why = strerror(errno);
	return *why == NULL;
}

/* Returns file offset and size of a feature of a complete or incomplete window; size 0: the window lacks the feature,
 * or is damaged. */
static struct perf_section find_feature(int fd, unsigned feature)
{
	struct perf_file_header header;
	struct table table = { 0 };
	uint64_t size;

	if (feature >= FEATURES || rescue_read_header(fd, &header, &size))
		return (struct perf_section){ 0 };
	if (!has_end(&header))
		rescue_read_front(fd, &header, &table);
	else if (!rescue_within(header.data, size) ||
		 !rescue_read_table(fd, header.features, header.data.offset + header.data.size, size, &table))
		return (struct perf_section){ 0 };
	return table.at[feature];
}

size_t chunk_item(int fd, unsigned feature, uint32_t type, void *to, size_t n)
{
	struct perf_section section = find_feature(fd, feature);
	struct pj_item item;

	while (section.size >= sizeof(item) && rescue_read_all(fd, &item, sizeof(item), section.offset)) {
		uint64_t complete = sizeof(item) + (((uint64_t)item.size + 7) & ~UINT64_C(7));

		if (item.size > section.size - sizeof(item))
			break;
		if (item.type == type) {
			n = item.size < n ? item.size : n;
			return rescue_read_all(fd, to, n, section.offset + sizeof(item)) ? n : 0;
		}
		complete = complete < section.size ? complete : section.size;
		section.offset += complete;
		section.size -= complete;
	}
	return 0;
}

bool chunk_times(int fd, uint64_t *first, uint64_t *last)
{
	struct perf_section section = find_feature(fd, FEATURE_SAMPLE_TIME);
	uint64_t time[2];

	if (section.size < sizeof(time) || !rescue_read_all(fd, time, sizeof(time), section.offset))
		return false;
	*first = time[0];
	*last = time[1];
	return true;
}
