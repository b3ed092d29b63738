/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/waitnames.h"

#include "common/arena.h"
#include "common/formats/pjsection.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

enum { WAITNAMES_SLOTS = 4096 };

struct kept {
	struct kept *chain;
	struct waitnames_wait wait;
	size_t bytes; /* of this object */
	struct waitnames_frame frame[];
};

struct waitnames {
	struct kept *slot[WAITNAMES_SLOTS];
	size_t bytes;
	struct tenants *tenants; /* a stock of TENANT_MEMORY */
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

/* Returns the link to the wait of a thread, or to the end of the chain in which it belongs. */
static struct kept **waitnames_link(struct waitnames *waitnames, uint32_t tid)
{
	struct kept **link = &waitnames->slot[hash_mix(tid, 0x9E3779B97F4A7C15u) % WAITNAMES_SLOTS];

	while (*link && (*link)->wait.tid != tid)
		link = &(*link)->chain;
	return link;
}

static void waitnames_drop(struct waitnames *waitnames, struct kept **link)
{
	struct kept *kept = *link;

	*link = kept->chain;
	waitnames->bytes -= kept->bytes;
	tenants_release(waitnames->tenants, kept->wait.tenant, TENANT_MEMORY, kept->bytes);
	free(kept);
}

void waitnames_forget(struct waitnames *waitnames, uint32_t tid)
{
	struct kept **link = waitnames_link(waitnames, tid);

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
	const struct kept *kept = *waitnames_link((struct waitnames *)(uintptr_t)waitnames, tid);

	return kept ? &kept->wait : NULL;
}

/* Returns the address of a frame in this window. A frame whose name had no space in an earlier one stays without. */
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

/* Copies the texts of the frames behind them. Frames with one text, as in a recursion, share it. */
static void copy_texts(struct kept *kept, char *to)
{
	for (size_t i = 0; i < kept->wait.n; i++) {
		struct str *text = &kept->frame[i].frame.text;

		if (i && str_eq(*text, kept->frame[i - 1].frame.text)) {
			*text = kept->frame[i - 1].frame.text;
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
	size_t bytes = sizeof(struct kept) + wait->n * sizeof(*wait->frame);
	struct kept *kept, **link;

	for (size_t i = 0; i < wait->n; i++)
		bytes += i && str_eq(wait->frame[i].frame.text, wait->frame[i - 1].frame.text) ?
				 0 :
				 wait->frame[i].frame.text.n;
	waitnames_forget(waitnames, wait->tid);
	if (bytes > WAITNAMES_BYTES - waitnames->bytes ||
	    !tenants_hold(waitnames->tenants, wait->tenant, TENANT_MEMORY, bytes))
		return false;
	kept = mem_alloc(bytes, 1);
	*kept = (struct kept){ .wait = *wait, .bytes = bytes };
	if (wait->n)
		memcpy(kept->frame, wait->frame, wait->n * sizeof(*wait->frame));
	kept->wait.frame = kept->frame;
	copy_texts(kept, (char *)(kept->frame + wait->n));
	waitnames->bytes += bytes;
	link = waitnames_link(waitnames, wait->tid);
	kept->chain = *link;
	*link = kept;
	return true;
}
