/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/codecache.h"

#include "common/arena.h"

#include <stdlib.h>

#define HEAPS_MAX 16
#define CODE_MAX ((uint64_t)4 << 30) /* ReservedCodeCacheSize is at most 2 GB */
#define MAP_BYTES (64u << 10)        /* of a segment map that are read at once */
#define BATCH 1024u                  /* blocks whose first bytes are read at once */
#define FIRST_MAX 8192u              /* and how many these are */
#define SEGMAP_BYTES_MAX (64u << 10)
#define HOPS_MAX 4096
#define SEGMENT_UNUSED 255

const char codecache_gone[] = "it ended", codecache_early[] = "its code cache is not made yet",
	   codecache_over[] = "its code cache costs more than one JVM may";

struct heap {
	uint64_t low, high;  /* of its memory */
	uint64_t map, map_n; /* a byte a segment: 0 where a block begins */
	unsigned shift;      /* bytes a segment, as a power of two */
};

static bool read_space(struct memory *m, const struct vmlayout *l, uint64_t space, uint64_t *low, uint64_t *n)
{
	uint64_t high;

	if (!vmlayout_read(m, space, l->space_low, low) || !vmlayout_read(m, space, l->space_high, &high))
		return false;
	*n = high - *low;
	return high >= *low && *n <= CODE_MAX;
}

static bool read_heap(struct memory *m, const struct vmlayout *l, uint64_t address, struct heap *h)
{
	uint64_t shift, n;

	if (!read_space(m, l, address + l->heap_memory, &h->low, &n) ||
	    !read_space(m, l, address + l->heap_segmap, &h->map, &h->map_n) ||
	    !vmlayout_read(m, address, l->heap_shift, &shift) || shift < 3 || shift > 16)
		return false;
	h->shift = (unsigned)shift;
	h->high = h->low + n;
	if (h->map_n > n >> shift)
		h->map_n = n >> shift;
	return true;
}

static int codecache_by_address(const void *a, const void *b)
{
	const struct heap *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* NULL, or why not. */
static const char *codecache_find_heaps(struct memory *m, const struct vmlayout *l, struct heap *heap, size_t *n)
{
	uint64_t array, count = 1, data = 0;

	if (!memory_pointer(m, l->heaps, &array))
		return codecache_gone;
	if (array == 0)
		return codecache_early;
	if (l->heaps_array &&
	    (!vmlayout_read(m, array, l->array_n, &count) || !vmlayout_read(m, array, l->array_data, &data)))
		return "its list of code heaps cannot be read";
	if (count == 0)
		return codecache_early;
	if (count > HEAPS_MAX)
		return "its list of code heaps makes no sense";
	*n = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = array;

		if (l->heaps_array && !memory_pointer(m, data + 8 * i, &address))
			return "its list of code heaps cannot be read";
		if (!read_heap(m, l, address, &heap[*n]))
			return "one of its code heaps makes no sense";
		*n += heap[*n].map_n > 0;
	}
	qsort(heap, *n, sizeof(*heap), codecache_by_address);
	for (size_t i = 1; i < *n; i++)
		if (heap[i].low < heap[i - 1].high)
			return "its code heaps lie one upon the other";
	return *n ? NULL : codecache_early;
}

/* Room for one block more. False: there are too many. */
static bool grow_blocks(struct codecache *c, struct memory *m, size_t n)
{
	size_t cap = c->begin_cap ? 2 * c->begin_cap : 4096;
	uint64_t *begin;

	if (n >= CODECACHE_BLOCKS_MAX || !readbudget_bytes(m->budget, (cap - c->begin_cap) * sizeof(*begin)))
		return false;
	begin = mem_try_grow(c->begin, sizeof(*begin), cap);
	if (!begin)
		return false;
	c->begin = begin;
	c->begin_cap = cap;
	return true;
}

/* Addresses of where blocks begin, appended to c->begin. NULL, or why not. */
static const char *codecache_find_blocks(struct codecache *c, struct memory *m, const struct heap *h, size_t *n)
{
	if (!c->map)
		c->map = mem_grow(NULL, 1, MAP_BYTES);
	for (uint64_t from = 0; from < h->map_n; from += MAP_BYTES) {
		uint64_t count = h->map_n - from < MAP_BYTES ? h->map_n - from : MAP_BYTES;
		const unsigned char *at = c->map, *end = c->map + count;

		if (!memory_bulk(m, h->map + from, c->map, count))
			return "the map of its code heap cannot be read";
		for (; at < end && (at = memchr(at, 0, (size_t)(end - at))) != NULL; at++) {
			if (*n == c->begin_cap && !grow_blocks(c, m, *n))
				return codecache_over;
			c->begin[(*n)++] = h->low + ((from + (uint64_t)(at - c->map)) << h->shift);
		}
	}
	return NULL;
}

/* Room for the blobs of n blocks. */
static bool grow_blobs(struct codecache *c, struct memory *m, size_t n)
{
	struct blob *blob;

	if (n <= c->cap)
		return true;
	n += n / 4;
	blob = readbudget_bytes(m->budget, (n - c->cap) * sizeof(*blob)) ? mem_try_grow(c->blob, sizeof(*blob), n) :
									   NULL;
	if (!blob)
		return false;
	c->blob = blob;
	c->cap = n;
	return true;
}

static const struct heap *heap_of(const struct heap *heap, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= heap[i].low && address < heap[i].high)
			return &heap[i];
	return NULL;
}

/* Does the name of the blob say that it is a compiled method? JDKs before 23 tell it only so. known: addresses of names
 * that were read, first those of methods, then others. */
static bool is_compiled_name(struct memory *m, uint64_t name, uint64_t known[4])
{
	char text[32];

	for (unsigned i = 0; i < 4; i++)
		if (name == known[i])
			return name && i < 2;
	if (name == 0 || !memory_string(m, name, text, sizeof(text)))
		return false;
	if (str_eq(str_of(text), STR("nmethod"))) {
		known[0] = name;
	} else if (str_eq(str_of(text), STR("native nmethod"))) {
		known[1] = name;
	} else {
		known[3] = known[2];
		known[2] = name;
		return false;
	}
	return true;
}

/* The blob in a block whose first bytes were read; room: up to the next block. False: free, or makes no sense. */
static bool take_blob(struct codecache *c, struct memory *m, const struct vmlayout *l, const struct heap *h,
		      uint64_t space, uint64_t address, const char *bytes, uint64_t names[4], struct blob *b)
{
	uint64_t length = vmlayout_get(l->block_length, bytes) << h->shift, size;
	const char *object = bytes + l->block_header;

	if (!(vmlayout_get(l->block_used, bytes) & 1))
		return false;
	*b = (struct blob){ .address = address + l->block_header, .name = vmlayout_get(l->blob_name, object) };
	b->begin = vmlayout_get(l->code_begin, object);
	b->end = vmlayout_get(l->code_end, object);
	if (l->code_offsets) {
		b->begin += b->address;
		b->end += b->address;
	}
	size = vmlayout_get(l->blob_size, object);
	if (size == 0 && b->name == 0)
		return false; /* given, and not filled in yet */
	if (length > space || size > length || b->begin < b->address || b->end < b->begin ||
	    b->end > address + length) {
		c->torn++;
		return false;
	}
	b->compiled = l->blob_kind.width ? vmlayout_get_signed(l->blob_kind, object) == l->nmethod_kind :
					   is_compiled_name(m, b->name, names);
	if (!b->compiled)
		return true;
	b->method = vmlayout_get(l->method, object);
	b->compile_id = (uint32_t)vmlayout_get(l->compile_id, object);
	b->level = (int8_t)vmlayout_get_signed(l->level, object);
	return b->method != 0; /* 0: its class is gone */
}

/* The first bytes of so many blocks, from number `from` on, into c->bytes. */
static bool read_blocks(struct codecache *c, struct memory *m, const struct heap *heap, size_t nheaps, size_t from,
			size_t n, uint32_t size)
{
	struct memory_want want[BATCH];

	for (size_t i = 0; i < n; i++) { /* what lies behind the end of a heap is not there */
		uint64_t address = c->begin[from + i], space = heap_of(heap, nheaps, address)->high - address;

		want[i] = (struct memory_want){ address, space < size ? (uint32_t)space : size, (uint32_t)i * size };
		if (space < size)
			memset(c->bytes + i * size, 0, size);
	}
	return memory_gather(m, want, n, c->bytes);
}

/* Takes the blobs out of so many blocks whose first bytes are in c->bytes. */
static void take_blocks(struct codecache *c, struct memory *m, const struct vmlayout *l, const struct heap *heap,
			size_t nheaps, size_t from, size_t count, size_t n, uint64_t names[4])
{
	uint32_t size = l->block_header + l->blob_bytes;

	for (size_t i = from; i < from + count; i++) {
		uint64_t at = c->begin[i];
		const struct heap *h = heap_of(heap, nheaps, at);
		uint64_t after = i + 1 < n && c->begin[i + 1] < h->high ? c->begin[i + 1] : h->high;

		if (take_blob(c, m, l, h, after - at, at, c->bytes + (i - from) * size, names, &c->blob[c->n]))
			c->n++;
	}
}

static const char *codecache_scan_heaps(struct codecache *c, struct memory *m, const struct vmlayout *l)
{
	struct heap heap[HEAPS_MAX];
	size_t nheaps = 0, n = 0;
	uint32_t size = l->block_header + l->blob_bytes;
	uint64_t names[4] = { 0 };
	const char *why = codecache_find_heaps(m, l, heap, &nheaps);

	for (size_t i = 0; i < nheaps && !why; i++)
		why = codecache_find_blocks(c, m, &heap[i], &n);
	if (why)
		return why;
	if (!c->bytes || c->bytes_each < size) {
		free(c->bytes);
		c->bytes = mem_grow(NULL, size, BATCH);
		c->bytes_each = size;
	}
	if (!grow_blobs(c, m, n))
		return codecache_over;
	for (size_t from = 0; from < n; from += BATCH) {
		size_t count = n - from < BATCH ? n - from : BATCH;

		if (!read_blocks(c, m, heap, nheaps, from, count, size))
			return codecache_gone;
		take_blocks(c, m, l, heap, nheaps, from, count, n, names);
	}
	return NULL;
}

const char *codecache_scan(struct codecache *c, struct memory *m, const struct vmlayout *l)
{
	const char *why;

	c->n = 0;
	c->torn = 0;
	why = codecache_scan_heaps(c, m, l);
	if (m->budget && m->budget->over)
		why = codecache_over;
	if (why)
		c->n = 0;
	return why;
}

/* The start of the block that contains a segment, by the segment map as HotSpot's CodeHeap::find_block_for reads it:
 * the byte of a segment is the distance to an earlier segment of the same block, 0 at the start of a block, 255 where
 * no block is. Distances are up to 254, so SEGMAP_BYTES_MAX bytes cover a block of 4 MB of the smallest segments;
 * chains that free blocks joined (at most 10,000 before HotSpot repairs the map) are of free blocks, which have no
 * code. */
static bool find_block_start(struct memory *m, const struct heap *h, uint64_t segment, uint64_t *start)
{
	unsigned char map[512] = { 0 };
	uint64_t first = 1, end = 0, read = 0; /* segments whose bytes are in map: none yet */

	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		unsigned char distance;

		if (segment < first || segment >= end) {
			uint64_t n = segment + 1 < sizeof(map) ? segment + 1 : sizeof(map);

			read += n;
			first = segment + 1 - n;
			end = segment + 1;
			if (read > SEGMAP_BYTES_MAX || !memory_bulk(m, h->map + first, map, n))
				return false;
		}
		distance = map[segment - first];
		if (distance == 0) {
			*start = h->low + (segment << h->shift);
			return true;
		}
		if (distance == SEGMENT_UNUSED || distance > segment)
			return false;
		segment -= distance;
	}
	return false;
}

const char *codecache_at(struct memory *m, const struct vmlayout *l, uint64_t address, enum codecache_where *where,
			 struct blob *b)
{
	struct codecache counts = { 0 };
	struct heap heap[HEAPS_MAX];
	const struct heap *h;
	uint64_t names[4] = { 0 }, begin, segment;
	size_t nheaps = 0;
	char bytes[FIRST_MAX];
	const char *why = codecache_find_heaps(m, l, heap, &nheaps);
	uint32_t size = l->block_header + l->blob_bytes;

	*where = CODECACHE_ELSEWHERE;
	if (why)
		return why;
	h = heap_of(heap, nheaps, address);
	if (!h)
		return NULL;
	*where = CODECACHE_FREE;
	segment = (address - h->low) >> h->shift;
	if (segment >= h->map_n || size > sizeof(bytes) || !find_block_start(m, h, segment, &begin) ||
	    size > h->high - begin || !memory_bulk(m, begin, bytes, size) ||
	    !take_blob(&counts, m, l, h, h->high - begin, begin, bytes, names, b))
		return NULL;
	if (address >= b->begin && address < b->end)
		*where = CODECACHE_BLOB;
	return NULL;
}

struct codecache codecache_take(struct codecache *c)
{
	struct codecache taken = { .blob = c->blob, .n = c->n, .cap = c->cap, .torn = c->torn };

	c->blob = NULL;
	c->n = c->cap = 0;
	return taken;
}

/* A block that was freed keeps what it has at its begin, while its end is given away. */
size_t codecache_keep_same(struct memory *m, const struct vmlayout *l, struct blob *blob, size_t n)
{
	struct memory_want
		want[BATCH / 2]; /* on the stack of a thread that is sampled, too: less than is copied of it */
	uint64_t seen[BATCH / 6][3];
	size_t saved = 0;

	for (size_t from = 0; from < n; from += countof(seen)) {
		size_t count = n - from < countof(seen) ? n - from : countof(seen);

		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < count; i++) {
			uint64_t address = blob[from + i].address;
			uint32_t at = (uint32_t)(i * sizeof(seen[0]));

			want[3 * i] = (struct memory_want){ address + l->compile_id.at, l->compile_id.width, at };
			want[3 * i + 1] = (struct memory_want){ address + l->method.at, l->method.width, at + 8 };
			want[3 * i + 2] = (struct memory_want){ address - l->block_header + l->block_used.at,
								l->block_used.width, at + 16 };
		}
		if (!memory_gather(m, want, 3 * count, seen))
			return 0;
		for (size_t i = 0; i < count; i++) {
			const struct blob *b = &blob[from + i];

			if (!b->compiled ||
			    ((uint32_t)seen[i][0] == b->compile_id && seen[i][1] == b->method && seen[i][2] & 1))
				blob[saved++] = *b;
		}
	}
	return saved;
}

void codecache_free(struct codecache *c)
{
	free(c->blob);
	free(c->map);
	free(c->begin);
	free(c->bytes);
	*c = (struct codecache){ 0 };
}
