/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "arena.h"
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 2048u /* 8 MB: what the names of 10,000 methods are spread over fits most of it */
#define BATCH 1024u /* IOV_MAX */

struct memory_page {
	uint64_t number; /* + 1; 0: none */
	uint32_t n;      /* bytes that could be read: all, or none */
	char byte[PAGE];
};

bool memory_open(struct memory *m, int process, pid_t pid)
{
	*m = (struct memory){ .fd = openat(process, "mem", O_RDONLY | O_CLOEXEC), .pid = pid };
	if (m->fd < 0)
		return false;
	m->page = mem_grow(NULL, sizeof(*m->page), PAGES);
	memory_forget(m);
	return true;
}

void memory_image(struct memory *m, const struct memory_piece *piece, size_t n)
{
	*m = (struct memory){ .fd = -1, .piece = piece, .npieces = n };
	m->page = mem_grow(NULL, sizeof(*m->page), PAGES);
	memory_forget(m);
}

void memory_close(struct memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	free(m->page);
	m->page = NULL;
}

void memory_forget(struct memory *m)
{
	for (size_t i = 0; i < PAGES; i++)
		m->page[i].number = 0;
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
	size_t have = 0;

	if (address > INT64_MAX || n > INT64_MAX - address)
		return 0;
	if (m->fd < 0)
		return read_image(m, address, to, n);
	while (have < n) {
		ssize_t got = pread(m->fd, (char *)to + have, n - have, (off_t)(address + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return have;
}

static const struct memory_page *page_of(struct memory *m, uint64_t number)
{
	/* neighbours in memory are neighbours in the table; the high bits keep the heaps apart */
	struct memory_page *p = &m->page[(number ^ number >> 13) & (PAGES - 1)];

	if (p->number != number + 1) {
		p->number = number + 1;
		p->n = read_at(m, number * PAGE, p->byte, PAGE) == PAGE ? PAGE : 0;
	}
	return p;
}

bool memory_read(struct memory *m, uint64_t address, void *to, size_t n)
{
	char *at = to;

	if (address > INT64_MAX || n > INT64_MAX - address)
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

/* Pieces first..last-1 in one call; 0: not even the first. */
static size_t scatter_some(const struct memory *m, const uint64_t *address, size_t count, size_t size, char *to)
{
	static _Thread_local struct iovec from[BATCH];
	struct iovec whole = { to, count * size };
	ssize_t got;

	if (m->fd < 0) {
		size_t i = 0;

		while (i < count && read_image(m, address[i], to + i * size, size) == size)
			i++;
		return i;
	}
	for (size_t i = 0; i < count; i++)
		from[i] = (struct iovec){ (void *)(uintptr_t)address[i], size };
	got = process_vm_readv(m->pid, &whole, 1, from, count, 0);
	return got < 0 ? 0 : (size_t)got / size;
}

/* process_vm_readv goes by the number of a process, which may be somebody else's by now, or by another program. What
 * was read counts only if the memory that was opened at first can still be read afterwards: it was the same process
 * then. */
bool memory_scatter(struct memory *m, const uint64_t *address, size_t count, size_t size, void *to)
{
	char *out = to, byte;

	for (size_t i = 0; i < count;) {
		size_t n = count - i < BATCH ? count - i : BATCH, got = scatter_some(m, address + i, n, size, out + i * size);

		i += got;
		if (got < n) { /* this one fails, or begins in one page and goes on in another that is not there */
			memset(out + i * size, 0, size);
			i++;
		}
	}
	return read_at(m, m->probe, &byte, 1) == 1;
}

bool memory_string(struct memory *m, uint64_t address, char *to, size_t cap)
{
	for (size_t i = 0; i < cap;) {
		size_t part = PAGE - (address + i) % PAGE;

		if (part > cap - i)
			part = cap - i;
		if (!memory_read(m, address + i, to + i, part))
			return false;
		if (memchr(to + i, 0, part))
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
