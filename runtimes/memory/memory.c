/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/memory.h"

#include "common/arena.h"
#include "common/diag.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 512u
/* Size in bytes of the buffer for one read that serves several requests. It fits into the processor's cache. */
#define BOUNCE (128u << 10)
/* NEAR: largest gap between two requests that share a read, in bytes: one page, because another read call costs as much
 * as another page of the same read. HIGHEST: highest end address of a request that shares a read. */
#define NEAR PAGE
#define HIGHEST ((uint64_t)INT64_MAX)

/* Steps (readbudget.h) for a read of n bytes: 7 (0.7 us) for the lookup of the first page, and 8 for each 2 kB. */
#define READ_STEPS(n) (7 + (uint64_t)(n) / 256)

struct memory_page {
	uint32_t n; /* number of readable bytes: PAGE; 0 if the page is not readable */
	char byte[PAGE];
};

static void make_dirs(struct memory *memory)
{
	memory->number = mem_alloc(sizeof(*memory->number), PAGES);
	memory->page = mem_grow(NULL, sizeof(*memory->page), PAGES);
	memory->bounce = mem_grow(NULL, 1, BOUNCE);
}

enum taskid_answer memory_open(struct memory *memory, int process, const struct taskid *id)
{
	struct taskid_user user;
	enum taskid_answer answer;

	*memory = (struct memory){ .fd = -1 };
	answer = taskid_open_memory(process, id, &user, &memory->fd);
	if (answer != TASKID_SAME)
		memory_close(memory);
	return answer;
}

void memory_image(struct memory *memory, const struct memory_part *part, size_t n)
{
	*memory = (struct memory){ .fd = -1, .part = part, .nparts = n };
}

void memory_close(struct memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
	memory_rest(memory);
}

void memory_rest(struct memory *memory)
{
	free(memory->number);
	free(memory->page);
	free(memory->order);
	free(memory->bounce);
	memory->number = NULL;
	memory->page = NULL;
	memory->order = NULL;
	memory->order_n = 0;
	memory->bounce = NULL;
}

void memory_forget(struct memory *memory)
{
	if (memory->number)
		/* the page numbers have an array of their own, so this memset does not touch the pages */
		memset(memory->number, 0, PAGES * sizeof(*memory->number));
}

/* Copies up to n bytes of the image from `address` on, up to the first gap between its parts. Returns the number of
 * copied bytes. */
static size_t memory_read_image(const struct memory *memory, uint64_t address, char *to, size_t n)
{
	size_t low = 0, high = memory->nparts, have = 0;

	/* Binary search for the first part that ends after address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memory->part[middle].address + memory->part[middle].n <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < memory->nparts && have < n && memory->part[low].address <= address + have; low++) {
		const struct memory_part *p = &memory->part[low];
		size_t from = (size_t)(address + have - p->address),
		       part = p->n - from < n - have ? p->n - from : n - have;

		memcpy(to + have, p->bytes + from, part);
		have += part;
	}
	return have;
}

static size_t memory_read_at(const struct memory *memory, uint64_t address, void *to, size_t n)
{
	if (address > INT64_MAX || n > INT64_MAX - address || !budget_steps(memory->budget, READ_STEPS(n)))
		return 0;
	if (memory->fd < 0)
		return memory_read_image(memory, address, to, n);
	return fullio_pread(memory->fd, to, n, address);
}

static const struct memory_page *page_of(struct memory *memory, uint64_t number)
{
	/* Adjacent pages get adjacent slots of the cache. The high bits of the page number spread different heaps
	 * over the slots. */
	size_t slot = (number ^ number >> 13) & (PAGES - 1);
	struct memory_page *page;

	if (!memory->page)
		make_dirs(memory);
	page = &memory->page[slot];
	if (memory->number[slot] != number + 1) {
		memory->number[slot] = number + 1;
		page->n = memory_read_at(memory, number * PAGE, page->byte, PAGE) == PAGE ? PAGE : 0;
		if (memory->budget && memory->budget->over)
			/* The budget prevented this read, so the page is not cached as unreadable. */
			memory->number[slot] = 0;
	}
	return page;
}

bool memory_read(struct memory *memory, uint64_t address, void *to, size_t n)
{
	char *at = to;

	if (address > INT64_MAX || n > INT64_MAX - address || !budget_steps(memory->budget, 1))
		return false;
	while (n) {
		const struct memory_page *page = page_of(memory, address / PAGE);
		size_t from = address % PAGE, part = n < PAGE - from ? n : PAGE - from;

		if (page->n == 0)
			return false;
		memcpy(at, page->byte + from, part);
		at += part;
		address += part;
		n -= part;
	}
	return true;
}

bool memory_bulk(struct memory *memory, uint64_t address, void *to, size_t n)
{
	return memory_read_at(memory, address, to, n) == n;
}

/* ---- gathered requests ------------------------------------------------------------------------------------------- */

/* Radix sort by the bytes of the address, least significant first. It skips bytes that are equal in all requests. 8,000
 * requests take 0.2 ms. */
void memory_sort(struct memory *memory, struct memory_want *want, size_t count)
{
	struct memory_want *from = want, *to, *swap;
	uint64_t differ = 0;
	bool sorted = true;

	for (size_t i = 1; i < count; i++) {
		differ |= want[i].address ^ want[0].address;
		sorted = sorted && want[i - 1].address <= want[i].address;
	}
	if (sorted)
		return;
	if (memory->order_n < count) {
		free(memory->order);
		memory->order_n = count + count / 4;
		memory->order = mem_grow(NULL, sizeof(*memory->order), memory->order_n);
	}
	to = memory->order;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t start[256] = { 0 }, sum = 0;

		if (!(differ >> shift & 255))
			continue;
		for (size_t i = 0; i < count; i++)
			start[from[i].address >> shift & 255]++;
		for (unsigned i = 0; i < 256; i++) {
			size_t n = start[i];

			start[i] = sum;
			sum += n;
		}
		for (size_t i = 0; i < count; i++)
			to[start[from[i].address >> shift & 255]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != want)
		memcpy(want, from, count * sizeof(*want));
}

/* Reads the bytes of one request directly to their place in `to`. If any of them is not readable, all become 0. */
static void read_one(const struct memory *memory, const struct memory_want *want, char *to)
{
	if (memory_read_at(memory, want->address, to + want->at, want->n) != want->n)
		memset(to + want->at, 0, want->n);
}

/* Returns the number of requests from want[0] on that one read serves: neighbours with gaps of at most NEAR bytes that
 * fit into the bounce buffer together; 0 if want[0] alone does not fit. Sets *end to the end address of their bytes.
 * want[] must be sorted. */
static size_t memory_run_of(const struct memory_want *want, size_t count, uint64_t *end)
{
	uint64_t start = want->address;
	size_t n = 0;

	*end = start;
	for (; n < count && want[n].n <= BOUNCE && want[n].address <= HIGHEST - want[n].n; n++) {
		uint64_t want_end = want[n].address + want[n].n;

		if ((n && want[n].address > *end + NEAR) || want_end - start > BOUNCE)
			break;
		*end = want_end > *end ? want_end : *end;
	}
	return n;
}

/* Serves as many of the first requests as fit into one read; those that this read does not reach are read one by one.
 * Returns the number of served requests, at least 1. */
static size_t gather_run(struct memory *memory, const struct memory_want *want, size_t count, char *to)
{
	uint64_t start = want->address, end;
	size_t n = memory_run_of(want, count, &end), got;

	if (n <= 1) {
		read_one(memory, want, to);
		return 1;
	}
	got = memory_read_at(memory, start, memory->bounce, (size_t)(end - start));
	for (size_t i = 0; i < n; i++) {
		uint64_t from = want[i].address - start;

		if (from + want[i].n <= got)
			memcpy(to + want[i].at, memory->bounce + from, want[i].n);
		else
			read_one(memory, &want[i], to);
	}
	return n;
}

bool memory_gather(struct memory *memory, struct memory_want *want, size_t count, void *to)
{
	char byte;

	if (!memory->bounce)
		make_dirs(memory);
	memory_sort(memory, want, count);
	for (size_t i = 0; i < count;)
		i += gather_run(memory, want + i, count - i, to);
	if (!budget_steps(memory->budget, count))
		return false;
	return memory_read_at(memory, memory->probe, &byte, 1) == 1;
}

/* ---- strings and numbers ----------------------------------------------------------------------------------------- */

bool memory_string(struct memory *memory, uint64_t address, char *to, size_t cap)
{
	if (address > INT64_MAX || cap > INT64_MAX - address || !budget_steps(memory->budget, 1))
		return false;
	for (size_t i = 0; i < cap;) {
		const struct memory_page *page = page_of(memory, (address + i) / PAGE);
		size_t from = (address + i) % PAGE, part = cap - i < PAGE - from ? cap - i : PAGE - from, n;

		if (page->n == 0)
			return false;
		n = strnlen(page->byte + from, part);
		memcpy(to + i, page->byte + from, n < part ? n + 1 : n);
		if (n < part)
			return true;
		i += part;
	}
	return false;
}

bool memory_u64(struct memory *memory, uint64_t address, unsigned width, uint64_t *value)
{
	/* The process runs on this machine, so its numbers have this machine's byte order (little-endian). */
	uint64_t raw = 0;

	if (width == 0 || width > 8 || !memory_read(memory, address, &raw, width))
		return false;
	*value = raw;
	return true;
}

bool memory_i64(struct memory *memory, uint64_t address, unsigned width, int64_t *value)
{
	uint64_t raw;

	if (!memory_u64(memory, address, width, &raw))
		return false;
	if (width < 8 && raw >> (8 * width - 1) & 1)
		raw |= ~(uint64_t)0 << 8 * width;
	*value = (int64_t)raw;
	return true;
}

bool memory_pointer(struct memory *memory, uint64_t address, uint64_t *value)
{
	return memory_u64(memory, address, 8, value);
}
