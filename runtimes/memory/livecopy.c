/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/livecopy.h"

#define PAGE 4096u

/* Reads live memory, as a callback of type threadcopy_read; `to` is a struct memory. Returns the number of bytes before
 * the first unreadable page. */
static size_t read_live(void *to, uint64_t address, void *into, size_t n)
{
	struct memory *memory = to;
	size_t got = 0;

	if (memory_bulk(memory, address, into, n))
		return n;
	/* A page is missing: read page by page up to it. */
	while (got < n) {
		size_t rest = PAGE - (address + got) % PAGE, part = rest < n - got ? rest : n - got;

		if (!memory_bulk(memory, address + got, (char *)into + got, part))
			break;
		got += part;
	}
	return got;
}

void livecopy_read(struct memory *memory, const struct threadplan *plan, uint64_t root, struct threadcopy *copy,
		   size_t cap)
{
	*copy = (struct threadcopy){ .root = root };
	threadcopy_follow(plan, read_live, memory, cap, copy);
}
