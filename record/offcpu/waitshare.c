/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitshare.h"

#include "common/hash.h"

#include <string.h>
#include <sys/mman.h>

#define MASK (WAITSHARE_BYTES - 1)

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)

struct waitshare *waitshare_new(void)
{
	struct waitshare *waitshare =
		mmap(NULL, sizeof(*waitshare), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return waitshare == MAP_FAILED ? NULL : waitshare;
}

void waitshare_free(struct waitshare *waitshare)
{
	if (waitshare)
		munmap(waitshare, sizeof(*waitshare));
}

/* ---- classes of processes --------------------------------------------------------------------------------------- */

uint8_t waitshare_class(const struct waitshare *waitshare, uint32_t pid)
{
	uint32_t entry = __atomic_load_n(&waitshare->process[pid % WAITSHARE_PIDS], __ATOMIC_RELAXED);

	return pid && entry >> 8 == pid ? (uint8_t)entry : 0;
}

void waitshare_set_class(struct waitshare *waitshare, uint32_t pid, uint8_t class)
{
	uint32_t *entry = &waitshare->process[pid % WAITSHARE_PIDS];
	uint32_t wanted = class ? pid << 8 | class : 0;

	if (pid >> 24 || (!class && *entry >> 8 != pid) || *entry == wanted)
		return;
	__atomic_store_n(entry, wanted, __ATOMIC_RELAXED);
	/* with WAITSHARE_ALL, processes of class 0 are read, too, so no thread waits for its class and `known` need not
	 * change */
	if (class && load(&waitshare->strict) != WAITSHARE_ALL)
		store(&waitshare->known, waitshare->known + 1);
}

/* ---- writer of the ring ----------------------------------------------------------------------------------------- */

static size_t waitshare_space(size_t n)
{
	return (sizeof(struct waitcopy) + n + 7) & ~(size_t)7;
}

struct waitcopy *waitshare_begin(struct waitshare *waitshare, size_t n)
{
	uint64_t head = waitshare->head, used = head - load(&waitshare->tail);
	size_t size = waitshare_space(n), at = (size_t)(head & MASK), left = WAITSHARE_BYTES - at, skipped = 0;
	struct waitcopy *copy;

	/* a copy is contiguous: if it does not fit before the end of the ring, the rest of the ring is skipped; a head
	 * in the rest, if one fits there, marks it as skipped */
	if (size > left)
		skipped = left;
	if (used > WAITSHARE_BYTES || skipped + size > WAITSHARE_BYTES - used)
		return NULL;
	if (skipped >= sizeof(*copy)) {
		copy = (void *)(waitshare->bytes + at);
		*copy = (struct waitcopy){ .size = (uint32_t)skipped };
	}
	if (skipped)
		store(&waitshare->head, head + skipped);
	return (void *)(waitshare->bytes + ((head + skipped) & MASK));
}

void waitshare_publish(struct waitshare *waitshare, struct waitcopy *copy)
{
	copy->size = (uint32_t)waitshare_space(copy->n);
	store(&waitshare->head, waitshare->head + copy->size);
}

/* ---- reader of the ring ----------------------------------------------------------------------------------------- */

bool waitshare_next(const struct waitshare *waitshare, uint64_t *at, struct waitcopy *copy, const char **stack,
		    bool *broken)
{
	uint64_t head = load(&waitshare->head);

	while (*at < head) {
		size_t place = (size_t)(*at & MASK), left = WAITSHARE_BYTES - place;

		if (left < sizeof(*copy)) {
			*at += left;
			continue;
		}
		memcpy(copy, waitshare->bytes + place, sizeof(*copy));
		if (copy->size % 8 || copy->size < sizeof(*copy) || copy->size > left || copy->size > head - *at ||
		    copy->n > copy->size - sizeof(*copy) || copy->n > WAITSHARE_STACK ||
		    copy->wait.nregisters > WAIT_REGISTERS || copy->frames > WAITCOPY_LEFT_OUT) {
			*broken = true;
			return false;
		}
		*at += copy->size;
		*stack = waitshare->bytes + place + sizeof(*copy);
		if (copy->wait.tid)
			return true;
	}
	return false;
}

void waitshare_drop(struct waitshare *waitshare, uint64_t at)
{
	store(&waitshare->tail, at);
}

unsigned waitshare_level(const struct waitshare *waitshare)
{
	uint64_t used = load(&waitshare->head) - waitshare->tail;

	return (unsigned)((used < WAITSHARE_BYTES ? used : WAITSHARE_BYTES) * 1000 / WAITSHARE_BYTES);
}

/* ---- addresses of root frames ----------------------------------------------------------------------------------- */

enum {
	PART = 15,  /* log2 of the size in bytes of a part of a stack; each part has its own stored root frame */
	ABOVE = 256 /* number of bytes above the address of a root frame that are read, too */
};

static size_t waitshare_slot(uint32_t tid, uint64_t sp)
{
	return (size_t)hash_mix(tid ^ (sp >> PART << 32), 0x9E3779B97F4A7C15u) & (WAITSHARE_TOPS - 1);
}

size_t waitshare_wanted(const struct waitshare *waitshare, uint32_t tid, uint64_t sp)
{
	uint64_t top = __atomic_load_n(&waitshare->top[waitshare_slot(tid, sp)], __ATOMIC_RELAXED);

	if (top <= sp || top - sp > WAITSHARE_STACK)
		return WAITSHARE_FIRST;
	return top - sp > WAITSHARE_STACK - ABOVE ? WAITSHARE_STACK : (size_t)(top - sp) + ABOVE;
}

void waitshare_learn(struct waitshare *waitshare, uint32_t tid, uint64_t sp, size_t used)
{
	if (used > WAITSHARE_STACK)
		used = WAITSHARE_STACK;
	__atomic_store_n(&waitshare->top[waitshare_slot(tid, sp)], sp + used, __ATOMIC_RELAXED);
}
