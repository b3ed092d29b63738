/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/chunkinfo.h"

#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"
#include "common/files/fullio.h"

#include <unistd.h>

#define SECTION_MAX 65536 /* of the part in front, which holds three items; more is not looked at */
#define EVENTS_MAX 1024

static bool chunkinfo_at(int fd, uint64_t offset, void *p, size_t n)
{
	return fullio_pread(fd, p, n, offset) == n;
}

static void chunkinfo_take_item(struct chunkinfo *c, uint32_t type, const unsigned char *p, size_t n)
{
	struct pj_window w;

	if (type == PJ_ITEM_BOOT && n == BOOT_ID) {
		memcpy(c->boot, p, BOOT_ID);
		c->boot[BOOT_ID] = 0;
	} else if (type == PJ_ITEM_WINDOW && n >= sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		if (w.end > w.begin && w.end != UINT64_MAX) {
			c->begin = w.begin;
			c->end = w.end;
		}
	}
}

static void take_items(struct chunkinfo *c, int fd, const struct perf_section *s)
{
	static __thread unsigned char buf[SECTION_MAX];
	size_t n = s->size < sizeof(buf) ? (size_t)s->size : sizeof(buf), i = 0;
	struct pj_item item;

	if (!chunkinfo_at(fd, s->offset, buf, n))
		return;
	while (n - i >= sizeof(item)) {
		memcpy(&item, buf + i, sizeof(item));
		i += sizeof(item);
		if (item.size > n - i)
			return;
		chunkinfo_take_item(c, item.type, buf + i, item.size);
		i += ((size_t)item.size + 7) & ~(size_t)7;
		if (i > n)
			return;
	}
}

/* Behind the bits stand the sections of those that are set, in order. */
static void chunkinfo_read_front(struct chunkinfo *c, int fd, uint64_t table)
{
	uint64_t bits[4];
	struct perf_section s;
	uint64_t offset = table + sizeof(bits);

	if (!table || !chunkinfo_at(fd, table, bits, sizeof(bits)))
		return;
	for (unsigned i = 0; i < FEATURE_PJ_START; i++)
		if (bits[i / 64] >> i % 64 & 1)
			offset += sizeof(s);
	if ((bits[FEATURE_PJ_START / 64] >> FEATURE_PJ_START % 64 & 1) && chunkinfo_at(fd, offset, &s, sizeof(s)))
		take_items(c, fd, &s);
}

static unsigned count_events(int fd, const struct perf_file_header *h)
{
	uint64_t n = h->attr_size ? h->attrs.size / h->attr_size : 0;
	unsigned events = 0;

	for (uint64_t i = 0; i < n && i < EVENTS_MAX; i++) {
		struct perf_event_attr a;

		if (!chunkinfo_at(fd, h->attrs.offset + i * h->attr_size, &a, PERF_ATTR_MIN))
			return events;
		events += a.type != PERF_TYPE_SOFTWARE || a.config != PERF_COUNT_SW_DUMMY;
	}
	return events;
}

void chunkinfo_read(struct chunkinfo *c, int fd)
{
	struct perf_file_header h;

	*c = (struct chunkinfo){ 0 };
	if (!chunkinfo_at(fd, 0, &h, sizeof(h)) || memcmp(h.magic, PERF_MAGIC, 8) != 0)
		return;
	c->perf = true;
	c->events = count_events(fd, &h);
	chunkinfo_read_front(c, fd, h.event_types.offset);
}
