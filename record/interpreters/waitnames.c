/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/waitnames.h"

#include "common/arena.h"
#include "common/formats/pjsection.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

enum { WAITNAMES_SLOTS = 4096 };

struct waitnames_entry {
	struct waitnames_entry *chain;
	struct waitnames_wait wait;
	size_t bytes; /* size of this entry in bytes, with frames and texts */
	struct waitnames_frame frame[];
};

struct waitnames {
	struct waitnames_entry *slot[WAITNAMES_SLOTS];
	size_t bytes;
	struct tenants *tenants; /* limits of memory in bytes (TENANT_MEMORY) for each tenant */
};

struct waitnames *waitnames_new(void)
{
	const struct tenant_limits limits = { .stock = { [TENANT_MEMORY] = WAITNAMES_BYTES / 2 } };
	struct waitnames *waitnames = mem_alloc(sizeof(*waitnames), 1);

	waitnames->tenants = tenants_new(&limits);
	return waitnames;
}

void waitnames_free(struct waitnames *waitnames)
{
	if (!waitnames)
		return;
	waitnames_forget_all(waitnames);
	tenants_free(waitnames->tenants);
	free(waitnames);
}

/* Returns the address of the pointer to a thread's entry in its hash chain; if the thread has no entry, of the pointer
 * at the chain's end. */
static struct waitnames_entry **waitnames_link(struct waitnames *waitnames, uint32_t tid)
{
	struct waitnames_entry **link = &waitnames->slot[hash_mix(tid, 0x9E3779B97F4A7C15u) % WAITNAMES_SLOTS];

	while (*link && (*link)->wait.tid != tid)
		link = &(*link)->chain;
	return link;
}

static void waitnames_drop(struct waitnames *waitnames, struct waitnames_entry **link)
{
	struct waitnames_entry *entry = *link;

	*link = entry->chain;
	waitnames->bytes -= entry->bytes;
	tenants_release(waitnames->tenants, entry->wait.tenant, TENANT_MEMORY, entry->bytes);
	free(entry);
}

void waitnames_forget(struct waitnames *waitnames, uint32_t tid)
{
	struct waitnames_entry **link = waitnames_link(waitnames, tid);

	if (*link)
		waitnames_drop(waitnames, link);
}

void waitnames_forget_all(struct waitnames *waitnames)
{
	for (size_t i = 0; i < WAITNAMES_SLOTS; i++)
		while (waitnames->slot[i])
			waitnames_drop(waitnames, &waitnames->slot[i]);
}

const struct waitnames_wait *waitnames_find(const struct waitnames *waitnames, uint32_t tid)
{
	const struct waitnames_entry *entry = *waitnames_link((struct waitnames *)(uintptr_t)waitnames, tid);

	return entry ? &entry->wait : NULL;
}

/* Adds frame i of a wait to the names of this window. Returns its address in this window. A frame that got no name in
 * an earlier window, for lack of space, stays without a name. */
static uint64_t address_now(const struct waitnames_wait *wait, size_t i, struct framenames *names)
{
	struct framenames_frame frame = wait->frame[i].frame;

	if (wait->frame[i].shown == PJ_FUNCTIONS_UNNAMED)
		frame.text.n = 0;
	return framenames_note(names, wait->pid, wait->tenant, &frame);
}

void waitnames_rename(const struct waitnames *waitnames, struct framenames *names, uint32_t tid, uint64_t *ips,
		      uint64_t nips)
{
	const struct waitnames_wait *wait = waitnames_find(waitnames, tid);
	bool differ = false;

	for (size_t i = 0; wait && i < wait->n; i++)
		differ |= address_now(wait, i, names) != wait->frame[i].shown;
	for (uint64_t k = 0; differ && k < nips; k++) {
		size_t i = 0;

		while (i < wait->n && wait->frame[i].shown != ips[k])
			i++;
		if (i < wait->n)
			ips[k] = address_now(wait, i, names);
	}
}

/* Copies the texts of the frames to `to`. Consecutive frames with the same text, as in a recursion, share one copy. */
static void copy_texts(struct waitnames_entry *entry, char *to)
{
	for (size_t i = 0; i < entry->wait.n; i++) {
		struct str *text = &entry->frame[i].frame.text;

		if (i && str_eq(*text, entry->frame[i - 1].frame.text)) {
			*text = entry->frame[i - 1].frame.text;
			continue;
		}
		if (text->n)
			memcpy(to, text->p, text->n);
		text->p = to;
		to += text->n;
	}
}

bool waitnames_keep(struct waitnames *waitnames, const struct waitnames_wait *wait)
{
	size_t bytes = sizeof(struct waitnames_entry) + wait->n * sizeof(*wait->frame);
	struct waitnames_entry *entry, **link;

	for (size_t i = 0; i < wait->n; i++)
		bytes += i && str_eq(wait->frame[i].frame.text, wait->frame[i - 1].frame.text) ?
				 0 :
				 wait->frame[i].frame.text.n;
	waitnames_forget(waitnames, wait->tid);
	if (bytes > WAITNAMES_BYTES - waitnames->bytes ||
	    !tenants_hold(waitnames->tenants, wait->tenant, TENANT_MEMORY, bytes))
		return false;
	entry = mem_alloc(bytes, 1);
	*entry = (struct waitnames_entry){ .wait = *wait, .bytes = bytes };
	if (wait->n)
		memcpy(entry->frame, wait->frame, wait->n * sizeof(*wait->frame));
	entry->wait.frame = entry->frame;
	copy_texts(entry, (char *)(entry->frame + wait->n));
	waitnames->bytes += bytes;
	link = waitnames_link(waitnames, wait->tid);
	entry->chain = *link;
	*link = entry;
	return true;
}
