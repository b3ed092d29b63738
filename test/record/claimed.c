/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claimed - which stacks of a window pjrecord claims to be complete.
 *
 *	claimed WINDOW OUT
 *		writes a copy of the window that has only the samples whose stack is marked as complete, and prints a
 *		line for all events (0) and for each event whose stacks pjrecord unwound: number of the event, and
 *		stacks with user code: all, complete, unknown, truncated, broken
 *
 * It reads the marks at the end of callchains (PJ_ITEM_UNWINDING) itself, so it is a second reader beside pjfold. The
 * other samples get a record type that readers skip; files keep their size.
 */
#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"

#include <stdio.h>
#include <stdlib.h>

#define SKIPPED_TYPE 60u /* record type that no kernel writes */

enum { EVENTS_MAX = 64, IDS_MAX = 65536 };
enum end { COMPLETE, TRUNCATED, BROKEN, UNKNOWN, ENDS };

static char *bytes;
static uint64_t size;
static bool unwound[EVENTS_MAX + 1], all_unwound = true; /* unwound: by number of the event, from 1 */
static struct {
	uint64_t id, type; /* type: sample_type */
	unsigned event;
} ids[IDS_MAX];
static size_t nids;

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "claimed: %s\n", why);
	exit(1);
}

/* Returns n bytes of the file at an offset. */
static void *at(uint64_t offset, uint64_t n)
{
	if (offset > size || n > size - offset)
		fail("the file is too short");
	return bytes + offset;
}

static void read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t got;

	if (!file)
		fail("the window cannot be opened");
	do {
		bytes = realloc(bytes, size + (1 << 20));
		if (!bytes)
			fail("no memory");
		got = fread(bytes + size, 1, 1 << 20, file);
		size += got;
	} while (got);
	fclose(file);
}

static void read_ids(const struct perf_file_header *header)
{
	uint64_t n = header->attr_size ? header->attrs.size / header->attr_size : 0;

	if (n > EVENTS_MAX)
		fail("too many events");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = header->attrs.offset + i * header->attr_size;
		const struct perf_event_attr *attr = at(start, PERF_ATTR_MIN);
		struct perf_section list;

		memcpy(&list, at(start + header->attr_size - sizeof(list), sizeof(list)), sizeof(list));
		for (uint64_t k = 0; k < list.size / 8 && nids < IDS_MAX; k++, nids++) {
			ids[nids].id = load64(at(list.offset + 8 * k, 8));
			ids[nids].type = attr->sample_type;
			ids[nids].event = (unsigned)i + 1;
		}
	}
}

/* Notes the events of PJ_ITEM_UNWOUND in a section of pjrecord. */
static void read_items(struct perf_section section)
{
	for (uint64_t done = 0; section.size - done >= sizeof(struct pj_item);) {
		const struct pj_item *item = at(section.offset + done, sizeof(*item));
		uint64_t number;

		done += sizeof(*item);
		if (item->type == PJ_ITEM_UNWOUND) {
			number = load64(at(section.offset + done, 8));
			all_unwound = false;
			if (number <= EVENTS_MAX)
				unwound[number] = true;
		}
		done += ((uint64_t)item->size + 7) & ~UINT64_C(7);
		if (done > section.size)
			fail("an item is too long");
	}
}

static void read_features(const struct perf_file_header *header)
{
	uint64_t table = header->data.offset + header->data.size;

	for (unsigned bit = 0; bit < 256; bit++) {
		struct perf_section section;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		memcpy(&section, at(table, sizeof(section)), sizeof(section));
		table += sizeof(section);
		if (bit == FEATURE_PJ_START)
			read_items(section);
	}
}

/* Returns the offset of the number of addresses in a sample of this type, which has a callchain. */
static uint64_t chain_offset(uint64_t type)
{
	static const uint64_t before[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
					   PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
					   PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD };
	uint64_t offset = sizeof(struct perf_record);

	if (!(type & PERF_SAMPLE_IDENTIFIER) || !(type & PERF_SAMPLE_CALLCHAIN) || type & PERF_SAMPLE_READ)
		fail("samples of another recorder");
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		offset += type & before[i] ? 8 : 0;
	return offset;
}

/* Returns the end of a sample's stack; ENDS if it has no user code, or its event was not unwound. *event: number of the
 * event. */
static enum end end_of(const struct perf_record *record, unsigned *event)
{
	uint64_t id = load64((const char *)record + sizeof(*record)), offset, n, marks = 0;
	const char *chain;
	size_t i = 0;

	while (i < nids && ids[i].id != id)
		i++;
	if (i == nids)
		fail("a sample of an unknown event");
	*event = ids[i].event;
	if (!all_unwound && !unwound[*event])
		return ENDS;
	offset = chain_offset(ids[i].type);
	chain = (const char *)record + offset + 8;
	n = offset + 8 <= record->size ? load64(chain - 8) : 0;
	if (n > (record->size - offset - 8) / 8)
		fail("a callchain is longer than its sample");
	while (marks < n && load64(chain + 8 * (n - 1 - marks)) == (uint64_t)PERF_CONTEXT_USER)
		marks++;
	while (n && load64(chain + 8 * (n - 1)) != (uint64_t)PERF_CONTEXT_USER)
		n--;
	return n == 0 ? ENDS : marks < ENDS ? (enum end)marks : BROKEN;
}

static void print_counts(unsigned event, const uint64_t *count)
{
	uint64_t all = count[COMPLETE] + count[UNKNOWN] + count[TRUNCATED] + count[BROKEN];

	if (event == 0 || all)
		printf("%u %llu %llu %llu %llu %llu\n", event, (unsigned long long)all,
		       (unsigned long long)count[COMPLETE], (unsigned long long)count[UNKNOWN],
		       (unsigned long long)count[TRUNCATED], (unsigned long long)count[BROKEN]);
}

int main(int argc, char **argv)
{
	struct perf_file_header header;
	static uint64_t count[EVENTS_MAX + 1][ENDS + 1];
	unsigned event;
	FILE *out;

	if (argc != 3)
		fail("usage: claimed WINDOW OUT");
	read_file(argv[1]);
	memcpy(&header, at(0, sizeof(header)), sizeof(header));
	if (memcmp(header.magic, PERF_MAGIC, 8) != 0)
		fail("not a perf.data");
	read_ids(&header);
	read_features(&header);
	for (uint64_t done = 0; done < header.data.size;) {
		struct perf_record *record = at(header.data.offset + done, sizeof(*record));
		enum end end;

		if (record->size < sizeof(*record) || record->size > header.data.size - done)
			fail("a record of an impossible size");
		done += record->size;
		if (record->type != RECORD_SAMPLE)
			continue;
		end = end_of(record, &event);
		count[0][end]++;
		count[event][end]++;
		if (end != COMPLETE)
			record->type = SKIPPED_TYPE;
	}
	out = fopen(argv[2], "wb");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		fail("the copy cannot be written");
	for (event = 0; event <= EVENTS_MAX; event++)
		print_counts(event, count[event]);
	return 0;
}
