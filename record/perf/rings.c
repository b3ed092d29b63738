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
	struct perf_event_mmap_page *page;
	char *data;
	size_t size;
	uint64_t head, tail; /* of this drain: what is there, what was taken */
	uint64_t time;       /* of the record at tail */
};

struct rings {
	struct ring *ring;
	uint32_t *heap; /* rings with a record before the horizon, the oldest first */
	size_t n, nheap;
	uint64_t last, late, broken;
	unsigned high, left;
	bool hold;
	size_t bytes;
	bool (*skip)(void *to, uint32_t pid); /* NULL: all records are wanted */
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

bool rings_add(struct rings *r, int fd, size_t bytes, enum ring_kind kind, uint32_t tag)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	r->ring = mem_grow(r->ring, sizeof(*r->ring), r->n + 1);
	r->heap = mem_grow(r->heap, sizeof(*r->heap), r->n + 1);
	r->ring[r->n++] =
		(struct ring){ .fd = fd, .tag = tag, .kind = kind, .page = (void *)p, .data = p + page, .size = bytes };
	r->bytes += page + bytes;
	return true;
}

static void rings_unmap(struct rings *r, struct ring *ring)
{
	size_t n = (size_t)(ring->data - (char *)ring->page) + ring->size;

	munmap(ring->page, n);
	r->bytes -= n;
}

void rings_remove(struct rings *r, uint32_t tag)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (r->ring[i].tag == tag)
			rings_unmap(r, r->ring + i);
		else
			r->ring[n++] = r->ring[i];
	}
	r->n = n;
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		rings_unmap(r, r->ring + i);
	free(r->ring);
	free(r->heap);
	free(r);
}

/* ---- one ring ------------------------------------------------------------------------------------------------ */

static void rings_copy(const struct ring *ring, uint64_t from, char *to, size_t n)
{
	size_t at = (size_t)from & (ring->size - 1), head = ring->size - at < n ? ring->size - at : n;

	memcpy(to, ring->data + at, head);
	memcpy(to + head, ring->data, n - head);
}

/* The 8 bytes at a place; all that we look at in a record before it is copied are aligned, so none is in two parts. */
static uint64_t rings_word_at(const struct ring *ring, uint64_t at)
{
	uint64_t word;

	memcpy(&word, ring->data + ((size_t)at & (ring->size - 1) & ~(size_t)7), sizeof(word));
	return word;
}

static struct perf_record header_at(const struct ring *ring, uint64_t at)
{
	uint64_t word = rings_word_at(ring, at);
	struct perf_record h;

	_Static_assert(sizeof(h) == sizeof(word), "a header is a word");
	memcpy(&h, &word, sizeof(h));
	return h;
}

static void rings_release(const struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* Records of which a process can make a million in a second. They begin with its pid. */
static bool may_skip(const struct perf_record *h)
{
	return h->type == RECORD_MMAP2 || h->type == RECORD_NAMESPACES ||
	       (h->type == RECORD_COMM && !(h->misc & MISC_COMM_EXEC));
}

/* Moves tail behind records that are not wanted (rings_skip). */
static void skip_unwanted(struct rings *r, struct ring *ring)
{
	for (;;) {
		uint64_t left = ring->head - ring->tail;
		struct perf_record h;

		if (left < sizeof(h) + sizeof(struct ring_tail))
			return;
		h = header_at(ring, ring->tail);
		if (!may_skip(&h) || h.size > left || h.size % 8 || h.size < sizeof(h) + sizeof(struct ring_tail))
			return;
		if (!r->skip(r->skip_to, (uint32_t)rings_word_at(ring, ring->tail + sizeof(h))))
			return;
		r->skipped++;
		ring->tail += h.size;
		if (ring->tail - ring->page->data_tail > ring->size / 8)
			rings_release(ring);
	}
}

/* The time of the record at tail, or false: nothing is left, or what is there is no record (then the ring is emptied).
 */
static bool rings_look(struct rings *r, struct ring *ring)
{
	struct perf_record h;
	uint64_t left, at;

	if (r->skip && ring->kind == RING_OF_STATE)
		skip_unwanted(r, ring);
	left = ring->head - ring->tail;
	if (left == 0)
		return false;
	h = header_at(ring, ring->tail);
	at = h.type == RECORD_SAMPLE ? offsetof(struct ring_sample, time) :
				       (uint64_t)h.size - sizeof(struct ring_tail) + offsetof(struct ring_tail, time);
	if (h.size > left || h.size % 8 || h.size < sizeof(h) + sizeof(struct ring_tail)) {
		r->broken++;
		ring->tail = ring->head;
		return false;
	}
	ring->time = rings_word_at(ring, ring->tail + at);
	return true;
}

/* A copy, for whoever gets it changes it: the kernel lets nobody write into a ring. Not of what is large, most of which
 * is the copy of a stack, and most of that is never looked at. */
static struct perf_record *rings_take(struct rings *r, struct ring *ring, bool *fixed)
{
	size_t at = (size_t)ring->tail & (ring->size - 1);
	const struct perf_record *h = &r->complete.record;

	rings_copy(ring, ring->tail, r->complete.bytes, sizeof(struct perf_record));
	ring->tail += h->size;
	*fixed = h->type == RECORD_SAMPLE && h->size > LARGE && ring->size - at >= h->size;
	if (*fixed)
		return (struct perf_record *)(void *)(ring->data + at);
	rings_copy(ring, ring->tail - h->size, r->complete.bytes, h->size);
	return &r->complete.record;
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

static bool rings_before(const struct rings *r, uint32_t a, uint32_t b)
{
	const struct ring *x = r->ring + a, *y = r->ring + b;

	return x->time != y->time ? x->time < y->time : x->kind != y->kind ? x->kind < y->kind : a < b;
}

static void sift_down(struct rings *r, size_t i)
{
	uint32_t moved = r->heap[i];

	for (size_t child; (child = 2 * i + 1) < r->nheap; i = child) {
		if (child + 1 < r->nheap && rings_before(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (!rings_before(r, r->heap[child], moved))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = moved;
}

static unsigned rings_share(const struct ring *ring)
{
	uint64_t used = ring->head - ring->tail;

	return used >= ring->size ? 1000 : (unsigned)(used * 1000 / ring->size);
}

static void look_at_all(struct rings *r, uint64_t horizon)
{
	r->nheap = 0;
	r->high = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		struct ring *ring = r->ring + i;

		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		ring->tail = ring->page->data_tail;
		if (rings_share(ring) > r->high)
			r->high = rings_share(ring);
		if (rings_look(r, ring) && ring->time < horizon)
			r->heap[r->nheap++] = i;
	}
	for (size_t i = r->nheap / 2; i-- > 0;)
		sift_down(r, i);
}

static void rings_give_back(struct rings *r)
{
	r->left = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct ring *ring = r->ring + i;

		if (ring->tail != ring->page->data_tail)
			rings_release(ring);
		if (rings_share(ring) > r->left)
			r->left = rings_share(ring);
	}
}

void rings_skip(struct rings *r, bool (*skip)(void *to, uint32_t pid), void *to)
{
	r->skip = skip;
	r->skip_to = to;
}

void rings_hold(struct rings *r)
{
	r->hold = true;
}

size_t rings_drain(struct rings *r, uint64_t horizon, void (*fn)(void *to, const struct ring_record *record), void *to)
{
	size_t n = 0;

	look_at_all(r, horizon);
	for (; r->nheap; n++) {
		struct ring *ring = r->ring + r->heap[0];
		uint64_t tail = ring->tail;
		struct ring_record record = { .time = ring->time, .kind = ring->kind };

		if (record.time < r->last)
			r->late++;
		else
			r->last = record.time;
		record.head = rings_take(r, ring, &record.fixed);
		fn(to, &record);
		if (unlikely(r->hold)) {
			ring->tail = tail;
			break;
		}
		if (ring->tail - ring->page->data_tail > ring->size / 8) /* room for the kernel, while we go on */
			rings_release(ring);
		if (!rings_look(r, ring) || ring->time >= horizon)
			r->heap[0] = r->heap[--r->nheap];
		if (r->nheap)
			sift_down(r, 0);
	}
	r->hold = false;
	rings_give_back(r);
	return n;
}

/* Is there a LOST record in it? The ring is full when the next record might not fit: then the LOST is still to come. */
static bool is_lossy(const struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = ring->page->data_tail;
	uint64_t margin = ring->size / 4 < PERF_RECORD_MAX ? ring->size / 4 : PERF_RECORD_MAX;
	struct perf_record h;

	if (ring->size - (head - at) < margin)
		return true;
	for (; at < head; at += h.size) {
		rings_copy(ring, at, (char *)&h, sizeof(h));
		if (h.type == RECORD_LOST || h.type == RECORD_LOST_SAMPLES || h.size < sizeof(h))
			return true;
	}
	return false;
}

bool rings_lossy(const struct rings *r, enum ring_kind kind)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ring[i].kind == kind && is_lossy(r->ring + i))
			return true;
	return false;
}

unsigned rings_high(const struct rings *r)
{
	return r->high;
}

unsigned rings_left(const struct rings *r)
{
	return r->left;
}

uint64_t rings_skipped(const struct rings *r)
{
	return r->skipped;
}

uint64_t rings_late(const struct rings *r)
{
	return r->late;
}

uint64_t rings_broken(const struct rings *r)
{
	return r->broken;
}

size_t rings_bytes(const struct rings *r)
{
	return r->bytes;
}

size_t rings_fds(const struct rings *r, int *fd, size_t max)
{
	for (size_t i = 0; i < r->n && i < max; i++)
		fd[i] = r->ring[i].fd;
	return r->n;
}
