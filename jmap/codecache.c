/* SPDX-License-Identifier: Apache-2.0 */
#include "codecache.h"

#include "arena.h"

#include <stdlib.h>

#define MOST_HEAPS 16
#define MOST_CODE ((uint64_t)4 << 30) /* ReservedCodeCacheSize is at most 2 GB */
#define MOST_BLOCKS (8u << 20)

const char codecache_gone[] = "it ended", codecache_early[] = "its code cache is not made yet";

struct heap {
	uint64_t low, high;       /* of its memory */
	uint64_t map, map_n;      /* a byte a segment: 0 where a block begins */
	unsigned shift;           /* bytes a segment, as a power of two */
};

static void *room(struct codecache *c, unsigned which, size_t size, size_t n)
{
	if (c->room[which].cap < size * n) {
		c->room[which].cap = size * n + size * n / 4;
		free(c->room[which].p);
		c->room[which].p = mem_grow(NULL, 1, c->room[which].cap);
	}
	return c->room[which].p;
}

static bool read_space(struct memory *m, const struct vmlayout *l, uint64_t space, uint64_t *low, uint64_t *n)
{
	uint64_t high;

	if (!vmlayout_read(m, space, l->space_low, low) || !vmlayout_read(m, space, l->space_high, &high))
		return false;
	*n = high - *low;
	return high >= *low && *n <= MOST_CODE;
}

static bool read_heap(struct memory *m, const struct vmlayout *l, uint64_t address, struct heap *h)
{
	uint64_t shift, n;

	if (!read_space(m, l, address + l->heap_memory, &h->low, &n) || !read_space(m, l, address + l->heap_segmap, &h->map, &h->map_n) ||
	    !vmlayout_read(m, address, l->heap_shift, &shift) || shift < 3 || shift > 16)
		return false;
	h->shift = (unsigned)shift;
	h->high = h->low + n;
	if (h->map_n > n >> shift)
		h->map_n = n >> shift;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct heap *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* NULL, or why not. */
static const char *find_heaps(struct memory *m, const struct vmlayout *l, struct heap *heap, size_t *n)
{
	uint64_t array, count = 1, data = 0;

	if (!memory_pointer(m, l->heaps, &array))
		return codecache_gone;
	if (array == 0)
		return codecache_early;
	if (l->heaps_array && (!vmlayout_read(m, array, l->array_n, &count) || !vmlayout_read(m, array, l->array_data, &data)))
		return "its list of code heaps cannot be read";
	if (count == 0)
		return codecache_early;
	if (count > MOST_HEAPS)
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
	qsort(heap, *n, sizeof(*heap), by_address);
	return *n ? NULL : codecache_early;
}

/* Addresses of where blocks begin, appended to at[]. */
static bool find_blocks(struct codecache *c, struct memory *m, const struct heap *h, uint64_t **at, size_t *n)
{
	unsigned char *map = room(c, 0, 1, h->map_n + 8);
	size_t most = *n;

	if (!memory_bulk(m, h->map, map, h->map_n))
		return false;
	for (uint64_t i = 0; i < h->map_n; i++)
		most += map[i] == 0;
	if (most > MOST_BLOCKS)
		return false;
	*at = mem_grow(*at, sizeof(**at), most + 1);
	for (uint64_t i = 0; i < h->map_n; i++)
		if (map[i] == 0)
			(*at)[(*n)++] = h->low + (i << h->shift);
	return true;
}

static const struct heap *heap_of(const struct heap *heap, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= heap[i].low && address < heap[i].high)
			return &heap[i];
	return NULL;
}

/* Does the name of the blob say that it is a compiled method? JDKs before 23 tell it only so. */
static bool is_compiled_name(struct memory *m, uint64_t name, uint64_t known[2])
{
	char text[32];

	if (name == known[0])
		return true;
	if (name == known[1] || name == 0 || !memory_string(m, name, text, sizeof(text)))
		return false;
	if (!str_eq(str_of(text), STR("nmethod")) && !str_eq(str_of(text), STR("native nmethod"))) {
		known[1] = name;
		return false;
	}
	known[0] = name;
	return true;
}

/* The blob in a block whose first bytes were read; false: free, or makes no sense. */
static bool take_blob(struct codecache *c, struct memory *m, const struct vmlayout *l, const struct heap *h,
		      uint64_t address, const char *bytes, uint64_t names[2], struct blob *b)
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
	if (length > h->high - address || size > length || b->begin < b->address || b->end < b->begin || b->end > address + length) {
		c->torn++;
		return false;
	}
	b->compiled = l->blob_kind.width ? vmlayout_get_signed(l->blob_kind, object) == l->nmethod_kind : is_compiled_name(m, b->name, names);
	if (!b->compiled)
		return true;
	b->method = vmlayout_get(l->method, object);
	b->compile_id = (uint32_t)vmlayout_get(l->compile_id, object);
	b->level = (int8_t)vmlayout_get_signed(l->level, object);
	return b->method != 0; /* 0: its class is gone */
}

const char *codecache_scan(struct codecache *c, struct memory *m, const struct vmlayout *l)
{
	struct heap heap[MOST_HEAPS];
	size_t nheaps = 0, n = 0, size = l->block_header + l->blob_bytes;
	uint64_t *at = c->room[1].p, names[2] = { 0, 0 };
	const char *why = find_heaps(m, l, heap, &nheaps);
	char *bytes;

	c->n = 0;
	c->torn = 0;
	for (size_t i = 0; i < nheaps && !why; i++)
		if (!find_blocks(c, m, &heap[i], &at, &n))
			why = "the map of its code heap cannot be read";
	c->room[1].p = at;
	if (why)
		return why;
	bytes = room(c, 2, size, n + 1);
	if (!memory_scatter(m, at, n, size, bytes))
		return codecache_gone;
	for (size_t i = 0; i < n; i++) { /* what lies behind the end of a heap is not there */
		const struct heap *h = heap_of(heap, nheaps, at[i]);

		if (h->high - at[i] < size)
			memory_bulk(m, at[i], bytes + i * size, (size_t)(h->high - at[i]));
	}
	if (n > c->cap) {
		c->cap = n + n / 4;
		c->blob = mem_grow(c->blob, sizeof(*c->blob), c->cap);
	}
	for (size_t i = 0; i < n; i++)
		if (take_blob(c, m, l, heap_of(heap, nheaps, at[i]), at[i], bytes + i * size, names, &c->blob[c->n]))
			c->n++;
	return NULL;
}

bool codecache_same(struct memory *m, const struct vmlayout *l, const struct blob *b)
{
	uint64_t id, method;

	if (!b->compiled)
		return true;
	return vmlayout_read(m, b->address, l->compile_id, &id) && id == b->compile_id && vmlayout_read(m, b->address, l->method, &method) &&
	       method == b->method;
}

void codecache_free(struct codecache *c)
{
	free(c->blob);
	for (size_t i = 0; i < countof(c->room); i++)
		free(c->room[i].p);
	*c = (struct codecache){ 0 };
}
