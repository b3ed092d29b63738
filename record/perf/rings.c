/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/rings.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 4096 };

struct ring {
	int fd;
	uint32_t tag;
	enum ring_kind kind;
	bool quiet;
	struct perf_event_mmap_page *page;
	char *data;
	size_t size;
	/* Positions in bytes in the record stream during rings_drain. head: end of the records in the ring; tail: end
	 * of the records that rings_drain has removed. */
	uint64_t head, tail;
	/* time of the next record in this ring, in ns of CLOCK_MONOTONIC */
	uint64_t time;
};

struct rings {
	struct ring *ring;
	/* indexes of the rings whose next record is before the horizon, as a heap with the oldest record first */
	uint32_t *heap;
	size_t n, nheap;
	uint64_t last, late, broken;
	unsigned high, left;
	bool hold;
	size_t bytes;
	uint64_t generation;                  /* result of rings_generation */
	bool (*skip)(void *to, uint32_t pid); /* filter of rings_skip; NULL: none */
	void *skip_to;
	uint64_t skipped;
	union {
		struct perf_record record;
		char bytes[PERF_RECORD_MAX + 1];
	} complete;
};

struct rings *rings_new(void)
{
	return mem_alloc(sizeof(struct rings), 1);
}

bool rings_add(struct rings *rings, int fd, size_t bytes, enum ring_kind kind, uint32_t tag)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	rings->ring = mem_grow(rings->ring, sizeof(*rings->ring), rings->n + 1);
	rings->heap = mem_grow(rings->heap, sizeof(*rings->heap), rings->n + 1);
	rings->generation++;
	rings->ring[rings->n++] =
		(struct ring){ .fd = fd, .tag = tag, .kind = kind, .page = (void *)p, .data = p + page, .size = bytes };
	rings->bytes += page + bytes;
	return true;
}

static void rings_unmap(struct rings *rings, struct ring *ring)
{
	size_t n = (size_t)(ring->data - (char *)ring->page) + ring->size;

	munmap(ring->page, n);
	rings->bytes -= n;
}

void rings_remove(struct rings *rings, uint32_t tag)
{
	size_t n = 0;

	for (size_t i = 0; i < rings->n; i++) {
		if (rings->ring[i].tag == tag)
			rings_unmap(rings, rings->ring + i);
		else
			rings->ring[n++] = rings->ring[i];
	}
	rings->generation += rings->n != n;
	rings->n = n;
}

void rings_free(struct rings *rings)
{
	if (!rings)
		return;
	for (size_t i = 0; i < rings->n; i++)
		rings_unmap(rings, rings->ring + i);
	free(rings->ring);
	free(rings->heap);
	free(rings);
}

/* ---- reading of one ring ------------------------------------------------------------------------------------- */

static void rings_copy(const struct ring *ring, uint64_t from, char *to, size_t n)
{
	size_t at = (size_t)from & (ring->size - 1), head = ring->size - at < n ? ring->size - at : n;

	memcpy(to, ring->data + at, head);
	memcpy(to + head, ring->data, n - head);
}

/* Returns the 8-byte word at a position of the record stream. All fields that are read before a record is copied are
 * aligned to 8 bytes, so no such word wraps around the end of the ring. */
static uint64_t rings_word_at(const struct ring *ring, uint64_t at)
{
	uint64_t word;

	memcpy(&word, ring->data + ((size_t)at & (ring->size - 1) & ~(size_t)7), sizeof(word));
	return word;
}

static struct perf_record header_at(const struct ring *ring, uint64_t at)
{
	uint64_t word = rings_word_at(ring, at);
	struct perf_record record;

	_Static_assert(sizeof(record) == sizeof(word), "a header is a word");
	memcpy(&record, &word, sizeof(record));
	return record;
}

static void rings_release(const struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* Returns true for record types that the filter of rings_skip may drop, because one process can cause a million such
 * records per second. The body of these records begins with the pid. */
static bool may_skip(const struct perf_record *record)
{
	return record->type == RECORD_MMAP2 || record->type == RECORD_NAMESPACES ||
	       (record->type == RECORD_COMM && !(record->misc & MISC_COMM_EXEC));
}

/* Drops records from the front of a ring, up to the first one that the filter of rings_skip does not reject. Returns
 * their space to the kernel after each eighth of the ring. */
static void skip_unwanted(struct rings *rings, struct ring *ring)
{
	for (;;) {
		uint64_t left = ring->head - ring->tail;
		struct perf_record record;

		if (left < sizeof(record) + sizeof(struct ring_sample_id))
			return;
		record = header_at(ring, ring->tail);
		if (!may_skip(&record) || record.size > left || record.size % 8 ||
		    record.size < sizeof(record) + sizeof(struct ring_sample_id))
			return;
		if (!rings->skip(rings->skip_to, (uint32_t)rings_word_at(ring, ring->tail + sizeof(record))))
			return;
		rings->skipped++;
		ring->tail += record.size;
		if (ring->tail - ring->page->data_tail > ring->size / 8)
			rings_release(ring);
	}
}

/* Sets ring->time to the time of the next record and returns true. Returns false if the ring is empty. If the next
 * bytes are no valid record, adds 1 to rings->broken, empties the ring and returns false. */
static bool rings_look(struct rings *rings, struct ring *ring)
{
	struct perf_record record;
	uint64_t left, at;

	if (rings->skip && ring->kind == RING_OF_STATE)
		skip_unwanted(rings, ring);
	left = ring->head - ring->tail;
	if (left == 0)
		return false;
	record = header_at(ring, ring->tail);
	at = record.type == RECORD_SAMPLE ?
		     offsetof(struct ring_sample, time) :
		     (uint64_t)record.size - sizeof(struct ring_sample_id) + offsetof(struct ring_sample_id, time);
	if (record.size > left || record.size % 8 || record.size < sizeof(record) + sizeof(struct ring_sample_id)) {
		rings->broken++;
		ring->tail = ring->head;
		return false;
	}
	ring->time = rings_word_at(ring, ring->tail + at);
	return true;
}

/* Removes the next record from the ring and returns a copy, because callers change records and must not write to the
 * ring. Exception: a large SAMPLE that does not wrap around the end of the ring is returned in the ring itself, with
 * *fixed true, because most of it is a stack copy, of which little is ever read. */
static struct perf_record *rings_take(struct rings *rings, struct ring *ring, bool *fixed)
{
	size_t at = (size_t)ring->tail & (ring->size - 1);
	const struct perf_record *record = &rings->complete.record;

	rings_copy(ring, ring->tail, rings->complete.bytes, sizeof(struct perf_record));
	ring->tail += record->size;
	*fixed = record->type == RECORD_SAMPLE && record->size > LARGE && ring->size - at >= record->size;
	if (*fixed)
		return (struct perf_record *)(void *)(ring->data + at);
	rings_copy(ring, ring->tail - record->size, rings->complete.bytes, record->size);
	return &rings->complete.record;
}

/* ---- merging of all rings by time ---------------------------------------------------------------------------- */

static bool rings_before(const struct rings *rings, uint32_t a, uint32_t b)
{
	const struct ring *ring = rings->ring + a, *y = rings->ring + b;

	return ring->time != y->time ? ring->time < y->time : ring->kind != y->kind ? ring->kind < y->kind : a < b;
}

static void sift_down(struct rings *rings, size_t i)
{
	uint32_t moved = rings->heap[i];

	for (size_t child; (child = 2 * i + 1) < rings->nheap; i = child) {
		if (child + 1 < rings->nheap && rings_before(rings, rings->heap[child + 1], rings->heap[child]))
			child++;
		if (!rings_before(rings, rings->heap[child], moved))
			break;
		rings->heap[i] = rings->heap[child];
	}
	rings->heap[i] = moved;
}

static unsigned rings_share(const struct ring *ring)
{
	uint64_t used = ring->head - ring->tail;

	return used >= ring->size ? 1000 : (unsigned)(used * 1000 / ring->size);
}

static void look_at_all(struct rings *rings, uint64_t horizon)
{
	rings->nheap = 0;
	rings->high = 0;
	for (uint32_t i = 0; i < rings->n; i++) {
		struct ring *ring = rings->ring + i;

		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		ring->tail = ring->page->data_tail;
		if (rings_share(ring) > rings->high)
			rings->high = rings_share(ring);
		if (rings_look(rings, ring) && ring->time < horizon)
			rings->heap[rings->nheap++] = i;
	}
	for (size_t i = rings->nheap / 2; i-- > 0;)
		sift_down(rings, i);
}

static void rings_give_back(struct rings *rings)
{
	rings->left = 0;
	for (size_t i = 0; i < rings->n; i++) {
		struct ring *ring = rings->ring + i;

		if (ring->tail != ring->page->data_tail)
			rings_release(ring);
		if (rings_share(ring) > rings->left)
			rings->left = rings_share(ring);
	}
}

void rings_skip(struct rings *rings, bool (*skip)(void *to, uint32_t pid), void *to)
{
	rings->skip = skip;
	rings->skip_to = to;
}

void rings_hold(struct rings *rings)
{
	rings->hold = true;
}

size_t rings_drain(struct rings *rings, uint64_t horizon, void (*fn)(void *to, const struct ring_record *record),
		   void *to)
{
	size_t n = 0;

	look_at_all(rings, horizon);
	for (; rings->nheap; n++) {
		struct ring *ring = rings->ring + rings->heap[0];
		uint64_t tail = ring->tail;
		struct ring_record record = { .time = ring->time, .kind = ring->kind };

		if (record.time < rings->last)
			rings->late++;
		else
			rings->last = record.time;
		record.head = rings_take(rings, ring, &record.fixed);
		fn(to, &record);
		if (unlikely(rings->hold)) {
			ring->tail = tail;
			break;
		}
		/* returns space to the kernel after each eighth of the ring, not only when rings_drain ends */
		if (ring->tail - ring->page->data_tail > ring->size / 8)
			rings_release(ring);
		if (!rings_look(rings, ring) || ring->time >= horizon)
			rings->heap[0] = rings->heap[--rings->nheap];
		if (rings->nheap)
			sift_down(rings, 0);
	}
	rings->hold = false;
	rings_give_back(rings);
	return n;
}

/* Returns true if the ring contains a LOST, LOST_SAMPLES or malformed record, or has so little space that the next
 * record might not fit. If space is short, the kernel may have dropped records already: it writes their LOST record
 * only when space is free again. */
static bool is_lossy(const struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = ring->page->data_tail;
	uint64_t margin = ring->size / 4 < PERF_RECORD_MAX ? ring->size / 4 : PERF_RECORD_MAX;
	struct perf_record record;

	if (ring->size - (head - at) < margin)
		return true;
	for (; at < head; at += record.size) {
		rings_copy(ring, at, (char *)&record, sizeof(record));
		if (record.type == RECORD_LOST || record.type == RECORD_LOST_SAMPLES || record.size < sizeof(record))
			return true;
	}
	return false;
}

bool rings_lossy(const struct rings *rings, enum ring_kind kind)
{
	for (size_t i = 0; i < rings->n; i++)
		if (rings->ring[i].kind == kind && is_lossy(rings->ring + i))
			return true;
	return false;
}

unsigned rings_high(const struct rings *rings)
{
	return rings->high;
}

unsigned rings_left(const struct rings *rings)
{
	return rings->left;
}

uint64_t rings_skipped(const struct rings *rings)
{
	return rings->skipped;
}

uint64_t rings_late(const struct rings *rings)
{
	return rings->late;
}

uint64_t rings_broken(const struct rings *rings)
{
	return rings->broken;
}

size_t rings_bytes(const struct rings *rings)
{
	return rings->bytes;
}

size_t rings_fds(const struct rings *rings, int *fd, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < rings->n; i++) {
		if (rings->ring[i].quiet)
			continue;
		if (n < max)
			fd[n] = rings->ring[i].fd;
		n++;
	}
	return n;
}

static struct ring *rings_find(const struct rings *rings, enum ring_kind kind, uint32_t tag)
{
	for (size_t i = 0; i < rings->n; i++)
		if (rings->ring[i].kind == kind && rings->ring[i].tag == tag)
			return rings->ring + i;
	return NULL;
}

int rings_fd(const struct rings *rings, enum ring_kind kind, uint32_t tag, size_t *bytes)
{
	const struct ring *ring = rings_find(rings, kind, tag);

	*bytes = ring ? ring->size : 0;
	return ring ? ring->fd : -1;
}

void rings_set_quiet(struct rings *rings, enum ring_kind kind, uint32_t tag, bool quiet)
{
	struct ring *ring = rings_find(rings, kind, tag);

	if (!ring || ring->quiet == quiet)
		return;
	ring->quiet = quiet;
	rings->generation++;
}

uint64_t rings_generation(const struct rings *rings)
{
	return rings->generation;
}
