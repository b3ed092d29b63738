/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "arena.h"
#include "diag.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 512u
#define BATCH 512u /* runs in a call; the kernel takes up to 1024 */
#define BOUNCE (128u << 10) /* so much stays in the processor's cache */
/* A piece costs 0.7 us, as do 2 kB more of one. Less than a page, so that no page is read that nothing is wanted of. */
#define NEAR 2048u
#define HIGHEST ((uint64_t)INT64_MAX)

/* Steps that a read of so many bytes takes (budget.h): 0.7 us for a page that is looked up, as much for 2 kB. */
#define READ_STEPS(n) (7 + (uint64_t)(n) / 256)

struct memory_page {
	uint32_t n; /* bytes that could be read: all, or none */
	char byte[PAGE];
};

static void make_rooms(struct memory *m)
{
	m->number = mem_alloc(sizeof(*m->number), PAGES);
	m->page = mem_grow(NULL, sizeof(*m->page), PAGES);
	m->bounce = mem_grow(NULL, 1, BOUNCE);
}

bool memory_open(struct memory *m, int process, pid_t pid)
{
	*m = (struct memory){ .fd = openat(process, "mem", O_RDONLY | O_CLOEXEC), .pid = pid };
	return m->fd >= 0;
}

void memory_image(struct memory *m, const struct memory_piece *piece, size_t n)
{
	*m = (struct memory){ .fd = -1, .piece = piece, .npieces = n };
}

void memory_close(struct memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	memory_rest(m);
}

void memory_rest(struct memory *m)
{
	free(m->number);
	free(m->page);
	free(m->order);
	free(m->bounce);
	m->number = NULL;
	m->page = NULL;
	m->order = NULL;
	m->order_n = 0;
	m->bounce = NULL;
}

void memory_forget(struct memory *m)
{
	if (m->number)
		memset(m->number, 0, PAGES * sizeof(*m->number)); /* apart from the bytes, which stay untouched */
}

/* What the image has from address on, without a hole. */
static size_t read_image(const struct memory *m, uint64_t address, char *to, size_t n)
{
	size_t low = 0, high = m->npieces, have = 0;

	while (low < high) { /* the first piece that ends behind address */
		size_t middle = low + (high - low) / 2;

		if (m->piece[middle].address + m->piece[middle].n <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < m->npieces && have < n && m->piece[low].address <= address + have; low++) {
		const struct memory_piece *p = &m->piece[low];
		size_t from = (size_t)(address + have - p->address), part = p->n - from < n - have ? p->n - from : n - have;

		memcpy(to + have, p->bytes + from, part);
		have += part;
	}
	return have;
}

static size_t read_at(const struct memory *m, uint64_t address, void *to, size_t n)
{
	if (address > INT64_MAX || n > INT64_MAX - address || !budget_steps(m->budget, READ_STEPS(n)))
		return 0;
	if (m->fd < 0)
		return read_image(m, address, to, n);
	return whole_pread(m->fd, to, n, address);
}

static const struct memory_page *page_of(struct memory *m, uint64_t number)
{
	/* neighbours in memory are neighbours in the table; the high bits keep the heaps apart */
	size_t slot = (number ^ number >> 13) & (PAGES - 1);
	struct memory_page *p;

	if (!m->page)
		make_rooms(m);
	p = &m->page[slot];
	if (m->number[slot] != number + 1) {
		m->number[slot] = number + 1;
		p->n = read_at(m, number * PAGE, p->byte, PAGE) == PAGE ? PAGE : 0;
		if (m->budget && m->budget->over)
			m->number[slot] = 0; /* not read, and not unreadable either */
	}
	return p;
}

bool memory_read(struct memory *m, uint64_t address, void *to, size_t n)
{
	char *at = to;

	if (address > INT64_MAX || n > INT64_MAX - address || !budget_steps(m->budget, 1))
		return false;
	while (n) {
		const struct memory_page *p = page_of(m, address / PAGE);
		size_t from = address % PAGE, part = n < PAGE - from ? n : PAGE - from;

		if (p->n == 0)
			return false;
		memcpy(at, p->byte + from, part);
		at += part;
		address += part;
		n -= part;
	}
	return true;
}

bool memory_bulk(struct memory *m, uint64_t address, void *to, size_t n)
{
	return read_at(m, address, to, n) == n;
}

/* ---- many pieces ------------------------------------------------------------------------------------------------ */

/* By bytes of the address, the lowest first, passing over those that all have in common: 8,000 in 0.2 ms. */
void memory_sort(struct memory *m, struct memory_want *want, size_t count)
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
	if (m->order_n < count) {
		free(m->order);
		m->order_n = count + count / 4;
		m->order = mem_grow(NULL, sizeof(*m->order), m->order_n);
	}
	to = m->order;
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

/* How much of the runs could be read, from the first on. */
static size_t read_runs(struct memory *m, const struct iovec *run, size_t n, size_t total)
{
	struct iovec whole = { m->bounce, total };
	size_t have = 0;

	if (!budget_steps(m->budget, n * READ_STEPS(0) + total / 256))
		return 0;
	if (m->fd >= 0 && !m->by_file) {
		ssize_t got = process_vm_readv(m->pid, &whole, 1, run, n, 0);

		if (got >= 0)
			return (size_t)got;
		m->by_file = errno == EPERM || errno == ENOSYS; /* a filter of system calls, as containers have */
		if (!m->by_file)
			return 0;
	}
	for (size_t i = 0; i < n; i++) {
		size_t got = read_at(m, (uint64_t)(uintptr_t)run[i].iov_base, m->bounce + have, run[i].iov_len);

		have += got;
		if (got < run[i].iov_len)
			break;
	}
	return have;
}

/* Alone, straight to its place. */
static void read_one(const struct memory *m, const struct memory_want *w, char *to)
{
	if (read_at(m, w->address, to + w->at, w->n) != w->n)
		memset(to + w->at, 0, w->n);
}

/* The first of the pieces, as many as fit into one call; how many that were. */
static size_t gather_some(struct memory *m, const struct memory_want *want, size_t count, char *to)
{
	struct iovec run[BATCH];
	size_t first[BATCH + 1], n = 0, total = 0, next = 0, got, done = 0;

	if (want->n > BOUNCE || want->address > HIGHEST - want->n) {
		read_one(m, want, to);
		return 1;
	}
	while (next < count && n < BATCH) {
		uint64_t begin = want[next].address, end = begin;

		first[n] = next;
		for (; next < count && want[next].n <= BOUNCE && want[next].address <= HIGHEST - want[next].n; next++) {
			uint64_t behind = want[next].address + want[next].n;

			if ((next > first[n] && want[next].address > end + NEAR) || behind - begin > BOUNCE - total)
				break;
			end = behind > end ? behind : end;
		}
		if (next == first[n])
			break;
		run[n++] = (struct iovec){ (void *)(uintptr_t)begin, (size_t)(end - begin) };
		total += (size_t)(end - begin);
	}
	first[n] = next;
	got = read_runs(m, run, n, total);
	for (size_t i = 0; i < n; i++) {
		bool whole = done + run[i].iov_len <= got;

		for (size_t k = first[i]; k < first[i + 1]; k++) {
			if (whole)
				memcpy(to + want[k].at, m->bounce + done + (want[k].address - (uint64_t)(uintptr_t)run[i].iov_base), want[k].n);
			else
				read_one(m, &want[k], to);
		}
		if (!whole)
			return first[i + 1]; /* something in it is not there; those behind it were not tried */
		done += run[i].iov_len;
	}
	return next;
}

/* process_vm_readv goes by the number of a process, which may be somebody else's by now, or by another program. What
 * was read counts only if the memory that was opened at first can still be read afterwards: it was the same process
 * then. */
bool memory_gather(struct memory *m, struct memory_want *want, size_t count, void *to)
{
	char byte;

	if (!m->bounce)
		make_rooms(m);
	memory_sort(m, want, count);
	for (size_t i = 0; i < count;)
		i += gather_some(m, want + i, count - i, to);
	if (!budget_steps(m->budget, count))
		return false;
	return read_at(m, m->probe, &byte, 1) == 1;
}

/* ---- small things ----------------------------------------------------------------------------------------------- */

bool memory_string(struct memory *m, uint64_t address, char *to, size_t cap)
{
	if (address > INT64_MAX || cap > INT64_MAX - address || !budget_steps(m->budget, 1))
		return false;
	for (size_t i = 0; i < cap;) {
		const struct memory_page *p = page_of(m, (address + i) / PAGE);
		size_t from = (address + i) % PAGE, part = cap - i < PAGE - from ? cap - i : PAGE - from, n;

		if (p->n == 0)
			return false;
		n = strnlen(p->byte + from, part);
		memcpy(to + i, p->byte + from, n < part ? n + 1 : n);
		if (n < part)
			return true;
		i += part;
	}
	return false;
}

bool memory_u64(struct memory *m, uint64_t address, unsigned width, uint64_t *value)
{
	uint64_t raw = 0; /* little-endian, as this machine: the process runs on it */

	if (width == 0 || width > 8 || !memory_read(m, address, &raw, width))
		return false;
	*value = raw;
	return true;
}

bool memory_i64(struct memory *m, uint64_t address, unsigned width, int64_t *value)
{
	uint64_t raw;

	if (!memory_u64(m, address, width, &raw))
		return false;
	if (width < 8 && raw >> (8 * width - 1) & 1)
		raw |= ~(uint64_t)0 << 8 * width;
	*value = (int64_t)raw;
	return true;
}

bool memory_pointer(struct memory *m, uint64_t address, uint64_t *value)
{
	return memory_u64(m, address, 8, value);
}
