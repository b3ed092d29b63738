/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/threadcopy.h"

#include <string.h>

enum { PAGE = 4096, AREA_MAX = 64 << 10, STEPS_MAX = 16384 };

/* Addresses from here on are not in user space. A sum of one below it and a uint32_t does not overflow. */
#define ADDRESS_END (UINT64_C(1) << 62)

struct follower {
	threadcopy_read *read;
	void *to;
	size_t max_bytes;
	uint32_t reads, last; /* last: index of the area in which the last bytes were found */
	struct threadcopy *copy;
};

bool threadplan_valid(const struct threadplan *plan)
{
	if (plan->stack)
		return plan->stack == 1;
	return plan->nhops >= 1 && plan->nhops <= THREADPLAN_HOPS && plan->root_bytes <= AREA_MAX &&
	       plan->hop[0] < AREA_MAX && plan->hop[0] + 8 <= plan->root_bytes && plan->frame_bytes <= plan->after &&
	       plan->before <= AREA_MAX && plan->after <= AREA_MAX && plan->next < AREA_MAX &&
	       plan->next + 8 <= plan->frame_bytes && plan->frames > 0;
}

/* Returns the bytes [address, address + n) of the area i, NULL if it does not contain all of them. */
static const char *bytes_in(const struct threadcopy *copy, uint32_t i, uint64_t address, uint64_t n)
{
	const struct threadcopy_area *area = copy->area + i;

	if (address < area->address || address - area->address > area->n || area->n - (address - area->address) < n)
		return NULL;
	return copy->bytes + area->offset + (address - area->address);
}

static const char *copied_bytes(struct follower *follower, uint64_t address, uint64_t n)
{
	const struct threadcopy *copy = follower->copy;
	const char *bytes = copy->nareas ? bytes_in(copy, follower->last, address, n) : NULL;

	for (uint32_t i = copy->nareas; !bytes && i-- > 0;)
		if ((bytes = bytes_in(copy, i, address, n)))
			follower->last = i;
	return bytes;
}

/* Reads [begin, end) as a new area. Returns the number of bytes, which is less if a page is missing, or 0 if a maximum
 * is reached: then copy->end is THREADCOPY_LIMIT. */
static size_t read_area(struct follower *follower, uint64_t begin, uint64_t end)
{
	struct threadcopy *copy = follower->copy;
	size_t n = (size_t)(end - begin);

	if (follower->reads >= THREADCOPY_READS || copy->nareas >= THREADCOPY_READS ||
	    follower->max_bytes - copy->nbytes < n) {
		copy->end = THREADCOPY_LIMIT;
		return 0;
	}
	follower->reads++;
	n = follower->read(follower->to, begin, copy->bytes + copy->nbytes, n);
	if (n == 0)
		return 0;
	copy->area[copy->nareas++] =
		(struct threadcopy_area){ .address = begin, .n = (uint32_t)n, .offset = copy->nbytes };
	copy->nbytes += (uint32_t)n;
	return n;
}

/* Returns the 8 bytes at an address as a number in *value, from an area or else by a read. */
static bool load_pointer(struct follower *follower, uint64_t address, uint64_t *value)
{
	const char *bytes;

	if (address >= ADDRESS_END)
		return false;
	bytes = copied_bytes(follower, address, 8);
	if (!bytes && read_area(follower, address, address + 8) == 8)
		bytes = copied_bytes(follower, address, 8);
	if (bytes)
		memcpy(value, bytes, 8);
	return bytes != NULL;
}

/* Shrinks [*begin, *end) around a frame to what the areas do not contain: callers often lie in the area before. */
static void omit_copied(const struct threadcopy *copy, uint64_t frame, uint64_t frame_end, uint64_t *begin,
			uint64_t *end)
{
	for (uint32_t i = 0; i < copy->nareas; i++) {
		uint64_t from = copy->area[i].address, to = from + copy->area[i].n;

		if (from <= *begin && to > *begin && to <= frame)
			*begin = to;
		if (to >= *end && from < *end && from >= frame_end)
			*end = from;
	}
}

/* Copies what lies around a frame, unless an area contains the frame already. Returns the bytes of the frame, NULL if
 * they cannot be read or a maximum is reached. */
static const char *copy_frame(struct follower *follower, const struct threadplan *plan, uint64_t frame)
{
	const char *bytes;
	uint64_t begin, end, page = frame & ~(uint64_t)(PAGE - 1);

	if (frame >= ADDRESS_END)
		return NULL;
	bytes = copied_bytes(follower, frame, plan->frame_bytes);
	if (bytes)
		return bytes;
	begin = frame > plan->before ? frame - plan->before : 0;
	end = frame + plan->after;
	omit_copied(follower->copy, frame, frame + plan->frame_bytes, &begin, &end);
	read_area(follower, begin, end);
	bytes = copied_bytes(follower, frame, plan->frame_bytes);
	/* a page before that of the frame may be missing */
	if (!bytes && begin < page && follower->copy->end != THREADCOPY_LIMIT) {
		read_area(follower, page, end);
		bytes = copied_bytes(follower, frame, plan->frame_bytes);
	}
	return bytes;
}

/* Follows the list of frames. Returns how it ended; THREADCOPY_FAILED also if a maximum was reached in copy_frame. */
static uint32_t follow_frames(struct follower *follower, const struct threadplan *plan, uint64_t frame)
{
	uint32_t max = plan->frames < STEPS_MAX ? plan->frames : STEPS_MAX;
	uint64_t mark = 0; /* a frame that was visited, to find cycles: replaced at each power of two */

	for (uint32_t n = 1; n <= max; n++) {
		const char *bytes = copy_frame(follower, plan, frame);

		if (!bytes)
			return THREADCOPY_FAILED;
		memcpy(&frame, bytes + plan->next, 8);
		frame &= plan->mask;
		if (frame == 0)
			return THREADCOPY_COMPLETE;
		if (frame == mark)
			return THREADCOPY_LIMIT;
		if ((n & (n - 1)) == 0)
			mark = frame;
	}
	return THREADCOPY_LIMIT;
}

void threadcopy_follow(const struct threadplan *plan, threadcopy_read *read, void *to, size_t max_bytes,
		       struct threadcopy *copy)
{
	struct follower follower = { .read = read,
				     .to = to,
				     .max_bytes = max_bytes < THREADCOPY_BYTES ? max_bytes : THREADCOPY_BYTES,
				     .copy = copy };
	uint64_t at = copy->root;
	uint32_t end;

	copy->nareas = copy->nbytes = 0;
	copy->end = THREADCOPY_FAILED;
	if (at >= ADDRESS_END || read_area(&follower, at, at + plan->root_bytes) < plan->root_bytes)
		return;
	for (uint32_t i = 0; i < plan->nhops; i++) {
		if (!load_pointer(&follower, at + plan->hop[i], &at))
			return;
		if (at == 0) {
			copy->end = THREADCOPY_NO_FRAME;
			return;
		}
		if (at >= ADDRESS_END)
			return;
	}
	end = follow_frames(&follower, plan, at);
	if (copy->end != THREADCOPY_LIMIT)
		copy->end = end;
}
