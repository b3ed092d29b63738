/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/codecache.h"

#include "common/arena.h"

#include <stdlib.h>

#define HEAPS_MAX 16
/* Limit for the size of one code heap in bytes. HotSpot's ReservedCodeCacheSize is at most 2 GB. */
#define CODE_MAX ((uint64_t)4 << 30)
#define MAP_BYTES (64u << 10) /* number of bytes of a segment map per read */
#define BATCH 1024u           /* number of blocks whose first bytes are read by one memory_gather */
#define FIRST_MAX 8192u       /* limit for the number of first bytes of one block */
#define SEGMAP_BYTES_MAX (64u << 10)
#define HOPS_MAX 4096
#define SEGMENT_UNUSED 255

const char codecache_gone[] = "it ended", codecache_early[] = "its code cache does not exist yet",
	   codecache_over[] = "its code cache exceeds the limit for one JVM";

struct heap {
	uint64_t low, high; /* start and end address of the heap */
	/* Address and size of the segment map, which has one byte for each segment; 0 marks the start of a block. */
	uint64_t map, map_n;
	unsigned shift; /* log2 of the size of a segment in bytes */
};

static bool read_space(struct memory *memory, const struct vmlayout *vmlayout, uint64_t space, uint64_t *low,
		       uint64_t *n)
{
	uint64_t high;

	if (!vmlayout_read(memory, space, vmlayout->space_low, low) ||
	    !vmlayout_read(memory, space, vmlayout->space_high, &high))
		return false;
	*n = high - *low;
	return high >= *low && *n <= CODE_MAX;
}

static bool read_heap(struct memory *memory, const struct vmlayout *vmlayout, uint64_t address, struct heap *heap)
{
	uint64_t shift, n;

	if (!read_space(memory, vmlayout, address + vmlayout->heap_memory, &heap->low, &n) ||
	    !read_space(memory, vmlayout, address + vmlayout->heap_segmap, &heap->map, &heap->map_n) ||
	    !vmlayout_read(memory, address, vmlayout->heap_shift, &shift) || shift < 3 || shift > 16)
		return false;
	heap->shift = (unsigned)shift;
	heap->high = heap->low + n;
	if (heap->map_n > n >> shift)
		heap->map_n = n >> shift;
	return true;
}

static int codecache_by_address(const void *a, const void *b)
{
	const struct heap *heap = a, *y = b;

	return (heap->low > y->low) - (heap->low < y->low);
}

/* Reads the code heaps of a JVM into heap[], sorted by address, and sets *n to their number. Returns NULL, or the
 * reason of the failure. */
static const char *codecache_find_heaps(struct memory *memory, const struct vmlayout *vmlayout, struct heap *heap,
					size_t *n)
{
	uint64_t array, count = 1, data = 0;

	if (!memory_pointer(memory, vmlayout->heaps, &array))
		return codecache_gone;
	if (array == 0)
		return codecache_early;
	if (vmlayout->heaps_array && (!vmlayout_read(memory, array, vmlayout->array_n, &count) ||
				      !vmlayout_read(memory, array, vmlayout->array_data, &data)))
		return "its list of code heaps cannot be read";
	if (count == 0)
		return codecache_early;
	if (count > HEAPS_MAX)
		return "its list of code heaps is invalid";
	*n = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = array;

		if (vmlayout->heaps_array && !memory_pointer(memory, data + 8 * i, &address))
			return "its list of code heaps cannot be read";
		if (!read_heap(memory, vmlayout, address, &heap[*n]))
			return "one of its code heaps is invalid";
		*n += heap[*n].map_n > 0;
	}
	qsort(heap, *n, sizeof(*heap), codecache_by_address);
	for (size_t i = 1; i < *n; i++)
		if (heap[i].low < heap[i - 1].high)
			return "its code heaps overlap";
	return *n ? NULL : codecache_early;
}

/* Makes space for more start addresses of blocks, beyond the n existing ones. Returns false at CODECACHE_BLOCKS_MAX,
 * if the budget is exceeded, or without memory. */
static bool grow_blocks(struct codecache *codecache, struct memory *memory, size_t n)
{
	size_t cap = codecache->begin_cap ? 2 * codecache->begin_cap : 4096;
	uint64_t *begin;

	if (n >= CODECACHE_BLOCKS_MAX ||
	    !readbudget_bytes(memory->budget, (cap - codecache->begin_cap) * sizeof(*begin)))
		return false;
	begin = mem_try_grow(codecache->begin, sizeof(*begin), cap);
	if (!begin)
		return false;
	codecache->begin = begin;
	codecache->begin_cap = cap;
	return true;
}

/* Appends the start addresses of a heap's blocks to codecache->begin, and adds their number to *n. Returns NULL, or
 * the reason of the failure. */
static const char *codecache_find_blocks(struct codecache *codecache, struct memory *memory, const struct heap *heap,
					 size_t *n)
{
	if (!codecache->map)
		codecache->map = mem_grow(NULL, 1, MAP_BYTES);
	for (uint64_t from = 0; from < heap->map_n; from += MAP_BYTES) {
		uint64_t count = heap->map_n - from < MAP_BYTES ? heap->map_n - from : MAP_BYTES;
		const unsigned char *at = codecache->map, *end = codecache->map + count;

		if (!memory_bulk(memory, heap->map + from, codecache->map, count))
			return "the map of its code heap cannot be read";
		for (; at < end && (at = memchr(at, 0, (size_t)(end - at))) != NULL; at++) {
			if (*n == codecache->begin_cap && !grow_blocks(codecache, memory, *n))
				return codecache_over;
			codecache->begin[(*n)++] =
				heap->low + ((from + (uint64_t)(at - codecache->map)) << heap->shift);
		}
	}
	return NULL;
}

/* Makes space for the blobs of n blocks. Returns false if the budget is exceeded, or without memory. */
static bool grow_blobs(struct codecache *codecache, struct memory *memory, size_t n)
{
	struct blob *blob;

	if (n <= codecache->cap)
		return true;
	n += n / 4;
	blob = readbudget_bytes(memory->budget, (n - codecache->cap) * sizeof(*blob)) ?
		       mem_try_grow(codecache->blob, sizeof(*blob), n) :
		       NULL;
	if (!blob)
		return false;
	codecache->blob = blob;
	codecache->cap = n;
	return true;
}

static const struct heap *heap_of(const struct heap *heap, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= heap[i].low && address < heap[i].high)
			return &heap[i];
	return NULL;
}

/* Returns true if the C string at address `name` is HotSpot's name of an nmethod: in JDKs before 23, only the name
 * identifies nmethods. known[] caches addresses of names: [0] and [1] for nmethods, [2] and [3] for other blobs. */
static bool is_compiled_name(struct memory *memory, uint64_t name, uint64_t known[4])
{
	char text[32];

	for (unsigned i = 0; i < 4; i++)
		if (name == known[i])
			return name && i < 2;
	if (name == 0 || !memory_string(memory, name, text, sizeof(text)))
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

/* Sets *blob from the first bytes of the block at `address`. space is the distance in bytes to the next block; names is
 * the cache of is_compiled_name. Returns false if the block is free or its fields are inconsistent. */
static bool take_blob(struct codecache *codecache, struct memory *memory, const struct vmlayout *vmlayout,
		      const struct heap *heap, uint64_t space, uint64_t address, const char *bytes, uint64_t names[4],
		      struct blob *blob)
{
	uint64_t length = vmlayout_get(vmlayout->block_length, bytes) << heap->shift, size;
	const char *object = bytes + vmlayout->block_header;

	if (!(vmlayout_get(vmlayout->block_used, bytes) & 1))
		return false;
	*blob = (struct blob){ .address = address + vmlayout->block_header,
			       .name = vmlayout_get(vmlayout->blob_name, object) };
	blob->begin = vmlayout_get(vmlayout->code_begin, object);
	blob->end = vmlayout_get(vmlayout->code_end, object);
	if (vmlayout->code_offsets) {
		blob->begin += blob->address;
		blob->end += blob->address;
	}
	size = vmlayout_get(vmlayout->blob_size, object);
	if (size == 0 && blob->name == 0)
		/* HotSpot has allocated the block but not initialized it yet. */
		return false;
	if (length > space || size > length || blob->begin < blob->address || blob->end < blob->begin ||
	    blob->end > address + length) {
		codecache->torn++;
		return false;
	}
	blob->compiled = vmlayout->blob_kind.width ?
				 vmlayout_get_signed(vmlayout->blob_kind, object) == vmlayout->nmethod_kind :
				 is_compiled_name(memory, blob->name, names);
	if (!blob->compiled)
		return true;
	blob->method = vmlayout_get(vmlayout->method, object);
	blob->compile_id = (uint32_t)vmlayout_get(vmlayout->compile_id, object);
	blob->level = (int8_t)vmlayout_get_signed(vmlayout->level, object);
	/* The Method* is 0 if the method's class was unloaded: the nmethod is left out. */
	return blob->method != 0;
}

/* Reads the first `size` bytes of blocks [from, from + n) into codecache->bytes. Returns false if the process has
 * ended or the budget is exceeded. */
static bool read_blocks(struct codecache *codecache, struct memory *memory, const struct heap *heap, size_t nheaps,
			size_t from, size_t n, uint32_t size)
{
	struct memory_want want[BATCH];

	for (size_t i = 0; i < n; i++) {
		/* Bytes beyond the end of a heap are not mapped: the buffer gets zeros for them. */
		uint64_t address = codecache->begin[from + i], space = heap_of(heap, nheaps, address)->high - address;

		want[i] = (struct memory_want){ address, space < size ? (uint32_t)space : size, (uint32_t)i * size };
		if (space < size)
			memset(codecache->bytes + i * size, 0, size);
	}
	return memory_gather(memory, want, n, codecache->bytes);
}

/* Appends the blobs of blocks [from, from + count), whose first bytes are in codecache->bytes, to codecache->blob. n:
 * number of all blocks; names: cache of is_compiled_name. */
static void take_blocks(struct codecache *codecache, struct memory *memory, const struct vmlayout *vmlayout,
			const struct heap *heap, size_t nheaps, size_t from, size_t count, size_t n, uint64_t names[4])
{
	uint32_t size = vmlayout->block_header + vmlayout->blob_bytes;

	for (size_t i = from; i < from + count; i++) {
		uint64_t at = codecache->begin[i];
		const struct heap *h = heap_of(heap, nheaps, at);
		uint64_t after = i + 1 < n && codecache->begin[i + 1] < h->high ? codecache->begin[i + 1] : h->high;

		if (take_blob(codecache, memory, vmlayout, h, after - at, at, codecache->bytes + (i - from) * size,
			      names, &codecache->blob[codecache->n]))
			codecache->n++;
	}
}

static const char *codecache_scan_heaps(struct codecache *codecache, struct memory *memory,
					const struct vmlayout *vmlayout)
{
	struct heap heap[HEAPS_MAX];
	size_t nheaps = 0, n = 0;
	uint32_t size = vmlayout->block_header + vmlayout->blob_bytes;
	uint64_t names[4] = { 0 };
	const char *why = codecache_find_heaps(memory, vmlayout, heap, &nheaps);

	for (size_t i = 0; i < nheaps && !why; i++)
		why = codecache_find_blocks(codecache, memory, &heap[i], &n);
	if (why)
		return why;
	if (!codecache->bytes || codecache->bytes_each < size) {
		free(codecache->bytes);
		codecache->bytes = mem_grow(NULL, size, BATCH);
		codecache->bytes_each = size;
	}
	if (!grow_blobs(codecache, memory, n))
		return codecache_over;
	for (size_t from = 0; from < n; from += BATCH) {
		size_t count = n - from < BATCH ? n - from : BATCH;

		if (!read_blocks(codecache, memory, heap, nheaps, from, count, size))
			return codecache_gone;
		take_blocks(codecache, memory, vmlayout, heap, nheaps, from, count, n, names);
	}
	return NULL;
}

const char *codecache_scan(struct codecache *codecache, struct memory *memory, const struct vmlayout *vmlayout)
{
	const char *why;

	codecache->n = 0;
	codecache->torn = 0;
	why = codecache_scan_heaps(codecache, memory, vmlayout);
	if (memory->budget && memory->budget->over)
		why = codecache_over;
	if (why)
		codecache->n = 0;
	return why;
}

/* Sets *start to the start address of the block that contains a segment, as HotSpot's CodeHeap::find_block_for does.
 * The segment's byte in the segment map is the distance to an earlier segment of the same block; 0 marks the start
 * of a block, 255 a segment outside of blocks. Distances are up to 254, so SEGMAP_BYTES_MAX bytes cover a block of 4
 * MB with the smallest segments. If HotSpot joins free blocks, it leaves longer chains (at most 10,000 steps before
 * it repairs the map); these blocks are free and have no code. Returns false for a segment outside of blocks, and
 * beyond the limits. */
static bool find_block_start(struct memory *memory, const struct heap *heap, uint64_t segment, uint64_t *start)
{
	unsigned char map[512] = { 0 };
	uint64_t first = 1, end = 0, read = 0; /* map[] has the bytes of segments [first, end) */

	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		unsigned char distance;

		if (segment < first || segment >= end) {
			uint64_t n = segment + 1 < sizeof(map) ? segment + 1 : sizeof(map);

			read += n;
			first = segment + 1 - n;
			end = segment + 1;
			if (read > SEGMAP_BYTES_MAX || !memory_bulk(memory, heap->map + first, map, n))
				return false;
		}
		distance = map[segment - first];
		if (distance == 0) {
			*start = heap->low + (segment << heap->shift);
			return true;
		}
		if (distance == SEGMENT_UNUSED || distance > segment)
			return false;
		segment -= distance;
	}
	return false;
}

const char *codecache_at(struct memory *memory, const struct vmlayout *vmlayout, uint64_t address,
			 enum codecache_where *where, struct blob *blob)
{
	struct codecache counts = { 0 };
	struct heap heap[HEAPS_MAX];
	const struct heap *h;
	uint64_t names[4] = { 0 }, begin, segment;
	size_t nheaps = 0;
	char bytes[FIRST_MAX];
	const char *why = codecache_find_heaps(memory, vmlayout, heap, &nheaps);
	uint32_t size = vmlayout->block_header + vmlayout->blob_bytes;

	*where = CODECACHE_ELSEWHERE;
	if (why)
		return why;
	h = heap_of(heap, nheaps, address);
	if (!h)
		return NULL;
	*where = CODECACHE_FREE;
	segment = (address - h->low) >> h->shift;
	if (segment >= h->map_n || size > sizeof(bytes) || !find_block_start(memory, h, segment, &begin) ||
	    size > h->high - begin || !memory_bulk(memory, begin, bytes, size) ||
	    !take_blob(&counts, memory, vmlayout, h, h->high - begin, begin, bytes, names, blob))
		return NULL;
	if (address >= blob->begin && address < blob->end)
		*where = CODECACHE_BLOB;
	return NULL;
}

struct codecache codecache_take(struct codecache *codecache)
{
	struct codecache taken = {
		.blob = codecache->blob, .n = codecache->n, .cap = codecache->cap, .torn = codecache->torn
	};

	codecache->blob = NULL;
	codecache->n = codecache->cap = 0;
	return taken;
}

/* Also checks that the block is still allocated: a freed block keeps its first bytes, and so its compile id, while
 * HotSpot allocates parts of it from its end. */
size_t codecache_keep_same(struct memory *memory, const struct vmlayout *vmlayout, struct blob *blob, size_t n)
{
	/* These arrays are small because this thread may be profiled: its frames must fit into the stack copy of a
	 * sample. */
	struct memory_want want[BATCH / 2];
	uint64_t seen[BATCH / 6][3];
	size_t retained = 0;

	for (size_t from = 0; from < n; from += countof(seen)) {
		size_t count = n - from < countof(seen) ? n - from : countof(seen);

		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < count; i++) {
			uint64_t address = blob[from + i].address;
			uint32_t at = (uint32_t)(i * sizeof(seen[0]));

			want[3 * i] = (struct memory_want){ address + vmlayout->compile_id.at,
							    vmlayout->compile_id.width, at };
			want[3 * i + 1] =
				(struct memory_want){ address + vmlayout->method.at, vmlayout->method.width, at + 8 };
			want[3 * i + 2] =
				(struct memory_want){ address - vmlayout->block_header + vmlayout->block_used.at,
						      vmlayout->block_used.width, at + 16 };
		}
		if (!memory_gather(memory, want, 3 * count, seen))
			return 0;
		for (size_t i = 0; i < count; i++) {
			const struct blob *one = &blob[from + i];

			if (!one->compiled ||
			    ((uint32_t)seen[i][0] == one->compile_id && seen[i][1] == one->method && seen[i][2] & 1))
				blob[retained++] = *one;
		}
	}
	return retained;
}

void codecache_free(struct codecache *codecache)
{
	free(codecache->blob);
	free(codecache->map);
	free(codecache->begin);
	free(codecache->bytes);
	*codecache = (struct codecache){ 0 };
}
