/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/threadcopy.h"

#include <string.h>

enum { PAGE = 4096, OBJECT_MAX = 4096, AREA_MAX = 64 << 10, STEPS_MAX = 16384, ARRAY_OWNER_MAX = 4096 };

/* Maximum size in words of a VM stack that has an array of frames (2 GB); a larger size ends the copy as
 * THREADCOPY_FAILED. */
#define ARRAY_WORDS_MAX (UINT64_C(1) << 28)

/* Exclusive limit for the index of the last element of an array of objects; an index beyond it ends the copy as
 * THREADCOPY_FAILED. */
#define OBJECTS_MAX (1 << 20)

/* End of user addresses. The sum of an address below it and a uint32_t does not overflow. */
#define ADDRESS_END (UINT64_C(1) << 62)

struct follower {
	threadcopy_read *read;
	void *to;
	size_t max_bytes;
	uint32_t reads, last; /* number of reads; index of the area in which the last bytes were found */
	uint64_t object;      /* address of the object that was copied last */
	struct threadcopy *copy;
};

static bool array_valid(const struct threadplan *plan)
{
	uint32_t bytes = plan->array.bytes;

	return bytes == 0 ||
	       (bytes <= ARRAY_OWNER_MAX && plan->array.start < bytes && bytes - plan->array.start >= 8 &&
		plan->array.words < bytes && bytes - plan->array.words >= 8 && plan->hop[plan->nhops - 1] < bytes &&
		bytes - plan->hop[plan->nhops - 1] >= 8 && plan->array.link_before <= plan->before && plan->after >= 8);
}

static bool object_valid(const struct threadplan *plan)
{
	if (plan->object_bytes == 0)
		return plan->objects == 0;
	return plan->array.bytes == 0 && plan->object_bytes <= OBJECT_MAX && plan->object < AREA_MAX &&
	       plan->object + 8 <= plan->frame_bytes && plan->objects <= 1 &&
	       (plan->objects == 0 || (plan->object_last < AREA_MAX && plan->object_last + 4 <= plan->frame_bytes));
}

bool threadplan_valid(const struct threadplan *plan)
{
	if (plan->stack)
		return plan->stack == 1;
	return plan->nhops >= 1 && plan->nhops <= THREADPLAN_HOPS && plan->root_bytes <= AREA_MAX &&
	       plan->hop[0] < AREA_MAX && plan->hop[0] + 8 <= plan->root_bytes && plan->frame_bytes <= plan->after &&
	       plan->before <= AREA_MAX && plan->after <= AREA_MAX && plan->next < AREA_MAX &&
	       plan->next + 8 <= plan->frame_bytes && plan->frames > 0 && array_valid(plan) && object_valid(plan);
}

/* Returns the bytes [address, address + n) from area i, or NULL if the area does not contain all of them. */
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

/* Reads [begin, end) as a new area. Returns the number of bytes read: less than requested if a page is missing, 0 if a
 * maximum is reached or the first page is missing. At a maximum it also sets copy->end to THREADCOPY_LIMIT. */
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

/* Sets *value to the 8 bytes at an address, from an area that contains them or by a read. Returns false if these bytes
 * are not readable. */
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

/* Shrinks the range [*begin, *end) around a frame by the bytes that areas contain already, but not into the frame
 * itself, [frame, frame_end). Callers are often adjacent to the previous area. */
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

/* Copies the bytes around a frame, unless an area contains the frame already. Returns the bytes of the frame, or NULL
 * if these bytes cannot be read or a maximum is reached. */
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
	/* The page before the frame's page may be missing: start at the frame's page. */
	if (!bytes && begin < page && follower->copy->end != THREADCOPY_LIMIT) {
		read_area(follower, page, end);
		bytes = copied_bytes(follower, frame, plan->frame_bytes);
	}
	return bytes;
}

/* Copies the object of a frame, unless an area contains it already, THREADCOPY_OBJECTS reads are made, or the copy
 * would have no space left for the next frame. `frame` points to the copied bytes of the frame. */
static void copy_object(struct follower *follower, const struct threadplan *plan, const char *frame)
{
	uint64_t object, needed = (uint64_t)plan->object_bytes + plan->before + plan->after;

	if (plan->object_bytes == 0 || follower->reads >= THREADCOPY_OBJECTS ||
	    follower->max_bytes - follower->copy->nbytes < needed)
		return;
	memcpy(&object, frame + plan->object, 8);
	if (object == 0 || object >= ADDRESS_END || object == follower->object ||
	    copied_bytes(follower, object, plan->object_bytes))
		return;
	follower->object = object;
	read_area(follower, object, object + plan->object_bytes);
}

/* Copies the array of objects of a frame, the last elements first. `frame` points to the copied bytes of the frame.
 * Returns false if a part of it cannot be read or a maximum is reached. */
static bool copy_objects(struct follower *follower, const struct threadplan *plan, const char *frame)
{
	uint64_t start, at, area = AREA_MAX / plan->object_bytes * plan->object_bytes;
	int32_t last;

	memcpy(&start, frame + plan->object, 8);
	memcpy(&last, frame + plan->object_last, 4);
	if (last == -1)
		return true;
	if (last < 0 || last >= OBJECTS_MAX || start == 0 || start >= ADDRESS_END)
		return false;
	for (at = start + ((uint64_t)last + 1) * plan->object_bytes; at > start;) {
		uint64_t n = at - start < area ? at - start : area;

		if (read_area(follower, at - n, at) < n)
			return false;
		at -= n;
	}
	return true;
}

/* Follows the list of frames, and returns how it ended: THREADCOPY_FAILED also if a read reached a maximum.
 * copy->end is then THREADCOPY_LIMIT already, and takes precedence over the result. */
static uint32_t follow_frames(struct follower *follower, const struct threadplan *plan, uint64_t frame)
{
	uint32_t max = plan->frames < STEPS_MAX ? plan->frames : STEPS_MAX;
	uint64_t mark = 0; /* a visited frame, to detect cycles; replaced after 1, 2, 4, 8, ... frames */

	for (uint32_t n = 1; n <= max; n++) {
		const char *bytes = copy_frame(follower, plan, frame);

		if (!bytes)
			return THREADCOPY_FAILED;
		memcpy(&frame, bytes + plan->next, 8);
		if (plan->objects && !copy_objects(follower, plan, bytes))
			return THREADCOPY_FAILED;
		if (!plan->objects)
			copy_object(follower, plan, bytes);
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

/* ---- frames in an array ------------------------------------------------------------------------------------------ */

/* A stack with an array of frames at its end: values grow up from its start, frames grow down from its end. */
struct arraystack {
	uint64_t start, frame, end; /* addresses of the stack's start, of the innermost frame and of the stack's end */
};

static bool array_stack(const struct threadplan *plan, const char *owner, uint64_t frame, struct arraystack *stack)
{
	uint64_t words;

	memcpy(&stack->start, owner + plan->array.start, 8);
	memcpy(&words, owner + plan->array.words, 8);
	stack->frame = frame;
	if (stack->start >= ADDRESS_END || words > ARRAY_WORDS_MAX)
		return false;
	stack->end = stack->start + 8 * words;
	return frame >= stack->start && frame < stack->end && (stack->end - frame) % plan->frame_bytes == 0;
}

/* Copies n frames in areas of at most AREA_MAX bytes. Returns the number of bytes that were read. */
static uint64_t copy_array(struct follower *follower, const struct threadplan *plan, uint64_t begin, uint64_t n)
{
	uint64_t at = begin, end = begin + n * plan->frame_bytes;
	uint64_t area = AREA_MAX / plan->frame_bytes * plan->frame_bytes;

	while (at < end) {
		uint64_t wanted = end - at < area ? end - at : area, got = read_area(follower, at, at + wanted);

		at += got;
		if (got < wanted)
			break;
	}
	return at - begin;
}

/* Copies the environment at address `at`, which belongs to a frame in the stack, unless an area contains it already. */
static void copy_environment(struct follower *follower, const struct threadplan *plan, const struct arraystack *stack,
			     uint64_t at)
{
	uint64_t low = at - plan->array.link_before, begin = at - plan->before, end = at + 8;

	if (at >= ADDRESS_END || at < plan->before || copied_bytes(follower, low, end - low))
		return;
	if (low >= stack->start && end <= stack->frame) {
		begin = end - stack->start > AREA_MAX ? end - AREA_MAX : stack->start;
		omit_copied(follower->copy, low, end, &begin, &end);
		read_area(follower, begin, end);
		return;
	}
	/* Pages around the environment may be missing: read only the environment. */
	if (read_area(follower, begin, at + plan->after) < plan->before + 8 && follower->copy->end != THREADCOPY_LIMIT)
		read_area(follower, low, end);
}

static uint32_t follow_array(struct follower *follower, const struct threadplan *plan, const struct arraystack *stack)
{
	uint64_t n = (stack->end - stack->frame) / plan->frame_bytes, link;
	uint64_t max = plan->frames < STEPS_MAX ? plan->frames : STEPS_MAX;
	uint64_t there = copy_array(follower, plan, stack->frame, n < max ? n : max);

	for (uint64_t i = 0; i < there / plan->frame_bytes && follower->copy->end != THREADCOPY_LIMIT; i++) {
		const char *frame = copied_bytes(follower, stack->frame + i * plan->frame_bytes, plan->frame_bytes);

		if (!frame)
			return THREADCOPY_FAILED;
		memcpy(&link, frame + plan->next, 8);
		copy_environment(follower, plan, stack, link & plan->mask);
	}
	if (n > max)
		return THREADCOPY_LIMIT;
	return there == n * plan->frame_bytes ? THREADCOPY_COMPLETE : THREADCOPY_FAILED;
}

/* Copies the owner structure (threadplan.array), the array of frames, and the environments of the frames. Returns how
 * the copy ended, an enum threadcopy_end. */
static uint32_t follow_owner(struct follower *follower, const struct threadplan *plan, uint64_t owner)
{
	const char *bytes = NULL;
	struct arraystack stack;
	uint64_t frame;

	if (read_area(follower, owner, owner + plan->array.bytes) == plan->array.bytes)
		bytes = copied_bytes(follower, owner, plan->array.bytes);
	if (!bytes)
		return THREADCOPY_FAILED;
	memcpy(&frame, bytes + plan->hop[plan->nhops - 1], 8);
	if (frame == 0)
		return THREADCOPY_NO_FRAME;
	if (!array_stack(plan, bytes, frame, &stack))
		return THREADCOPY_FAILED;
	return follow_array(follower, plan, &stack);
}

/* Follows hops [0, n) from *at, and sets *at to the last pointer. Returns false if a pointer is 0 (copy->end is then
 * THREADCOPY_NO_FRAME), invalid or not readable. */
static bool follow_hops(struct follower *follower, const struct threadplan *plan, uint32_t n, uint64_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!load_pointer(follower, *at + plan->hop[i], at))
			return false;
		if (*at == 0) {
			follower->copy->end = THREADCOPY_NO_FRAME;
			return false;
		}
		if (*at >= ADDRESS_END)
			return false;
	}
	return true;
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
	if (!follow_hops(&follower, plan, plan->nhops - (plan->array.bytes > 0), &at))
		return;
	end = plan->array.bytes ? follow_owner(&follower, plan, at) : follow_frames(&follower, plan, at);
	if (copy->end != THREADCOPY_LIMIT)
		copy->end = end;
}

/* ---- lookup of bytes in a copy ----------------------------------------------------------------------------------- */

struct threadcopy_view threadcopy_view_of(const struct threadcopy *copy)
{
	return (struct threadcopy_view){ .copy = copy,
					 .nareas = copy->nareas < THREADCOPY_READS ? copy->nareas : THREADCOPY_READS };
}

static const char *area_bytes(const struct threadcopy_view *view, uint32_t i, uint64_t address, uint32_t n)
{
	const struct threadcopy_area *area = &view->copy->area[i];

	if (address < area->address || n > area->n || address - area->address > area->n - n ||
	    area->n > view->copy->nbytes || area->offset > view->copy->nbytes - area->n)
		return NULL;
	return view->copy->bytes + area->offset + (address - area->address);
}

const char *threadcopy_bytes(struct threadcopy_view *view, uint64_t address, uint32_t n)
{
	const char *bytes = view->last < view->nareas ? area_bytes(view, view->last, address, n) : NULL;

	for (uint32_t i = 0; !bytes && i < view->nareas; i++) {
		bytes = area_bytes(view, i, address, n);
		view->last = i;
	}
	return bytes;
}
