/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/chunkinfo.h"

#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"
#include "common/files/fullio.h"

#include <unistd.h>

/* maximum number of bytes that are read of the section before the samples, which is small (three items) */
#define SECTION_MAX 65536
#define EVENTS_MAX 1024

static bool chunkinfo_at(int fd, uint64_t offset, void *p, size_t n)
{
	return fullio_pread(fd, p, n, offset) == n;
}

static void chunkinfo_take_item(struct chunkinfo *chunkinfo, uint32_t type, const unsigned char *p, size_t n)
{
	struct pj_window window;

	if (type == PJ_ITEM_BOOT && n == BOOT_ID) {
		memcpy(chunkinfo->boot, p, BOOT_ID);
		chunkinfo->boot[BOOT_ID] = 0;
	} else if (type == PJ_ITEM_WINDOW && n >= sizeof(window)) {
		memcpy(&window, p, sizeof(window));
		if (window.end > window.begin && window.end != UINT64_MAX) {
			chunkinfo->begin = window.begin;
			chunkinfo->end = window.end;
		}
	}
}

static void take_items(struct chunkinfo *chunkinfo, int fd, const struct perf_section *section)
{
	static __thread unsigned char buf[SECTION_MAX];
	size_t n = section->size < sizeof(buf) ? (size_t)section->size : sizeof(buf), i = 0;
	struct pj_item item;

	if (!chunkinfo_at(fd, section->offset, buf, n))
		return;
	while (n - i >= sizeof(item)) {
		memcpy(&item, buf + i, sizeof(item));
		i += sizeof(item);
		if (item.size > n - i)
			return;
		chunkinfo_take_item(chunkinfo, item.type, buf + i, item.size);
		i += ((size_t)item.size + 7) & ~(size_t)7;
		if (i > n)
			return;
	}
}

/* Reads the section before the samples. `table`: file offset of the header's feature bits; after them comes one struct
 * perf_section for each bit that is set, in bit order. */
static void chunkinfo_read_front(struct chunkinfo *chunkinfo, int fd, uint64_t table)
{
	uint64_t bits[4];
	struct perf_section section;
	uint64_t offset = table + sizeof(bits);

	if (!table || !chunkinfo_at(fd, table, bits, sizeof(bits)))
		return;
	for (unsigned i = 0; i < FEATURE_PJ_START; i++)
		if (bits[i / 64] >> i % 64 & 1)
			offset += sizeof(section);
	if ((bits[FEATURE_PJ_START / 64] >> FEATURE_PJ_START % 64 & 1) &&
	    chunkinfo_at(fd, offset, &section, sizeof(section)))
		take_items(chunkinfo, fd, &section);
}

static unsigned count_events(int fd, const struct perf_file_header *header)
{
	uint64_t n = header->attr_size ? header->attrs.size / header->attr_size : 0;
	unsigned events = 0;

	for (uint64_t i = 0; i < n && i < EVENTS_MAX; i++) {
		struct perf_event_attr attr;

		if (!chunkinfo_at(fd, header->attrs.offset + i * header->attr_size, &attr, PERF_ATTR_MIN))
			return events;
		events += attr.type != PERF_TYPE_SOFTWARE || attr.config != PERF_COUNT_SW_DUMMY;
	}
	return events;
}

void chunkinfo_read(struct chunkinfo *chunkinfo, int fd)
{
	struct perf_file_header header;

	*chunkinfo = (struct chunkinfo){ 0 };
	if (!chunkinfo_at(fd, 0, &header, sizeof(header)) || memcmp(header.magic, PERF_MAGIC, 8) != 0)
		return;
	chunkinfo->perf = true;
	chunkinfo->events = count_events(fd, &header);
	chunkinfo_read_front(chunkinfo, fd, header.event_types.offset);
}
