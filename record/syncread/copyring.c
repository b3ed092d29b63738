/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/copyring.h"

#include <string.h>
#include <sys/mman.h>

/* A slot of the ring of copies. size: bytes of the slot, that is, of this header and the copy; a multiple of 8. 0: the
 * next slot is at the start of the ring. */
struct slot {
	uint64_t size;
	struct threadcopy copy;
};

#define SLOT_MAX (sizeof(struct slot) + THREADCOPY_BYTES)

bool copyring_init(struct copyring *copyring)
{
	size_t n = COPYRING_BYTES + COPYRING_NOTES * sizeof(*copyring->note);
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	*copyring = (struct copyring){ .bytes = p, .note = (void *)(p + COPYRING_BYTES) };
	return true;
}

void copyring_free(struct copyring *copyring)
{
	if (copyring->bytes)
		munmap(copyring->bytes, COPYRING_BYTES + COPYRING_NOTES * sizeof(*copyring->note));
	*copyring = (struct copyring){ 0 };
}

static struct slot *slot_at(const struct copyring *copyring, uint64_t at)
{
	return (void *)(copyring->bytes + at % COPYRING_BYTES);
}

struct threadcopy *copyring_begin(struct copyring *copyring)
{
	uint64_t tail = __atomic_load_n(&copyring->tail, __ATOMIC_ACQUIRE), at = copyring->head;
	uint64_t left = COPYRING_BYTES - at % COPYRING_BYTES;

	if (copyring->notes_head - __atomic_load_n(&copyring->notes_tail, __ATOMIC_ACQUIRE) >= COPYRING_NOTES)
		return NULL;
	if (tail == at && left < COPYRING_BYTES) {
		/* no copy waits: restart at the first byte of the ring, so that few pages of it are touched */
		copyring->begun = at + left;
		copyring->next_base = at + left;
		return &slot_at(copyring, copyring->begun)->copy;
	}
	if (tail < copyring->base)
		tail = copyring->base;
	copyring->begun = left < SLOT_MAX ? at + left : at;
	if (copyring->begun + SLOT_MAX - tail > COPYRING_BYTES)
		return NULL;
	if (left < SLOT_MAX)
		slot_at(copyring, at)->size = 0;
	return &slot_at(copyring, copyring->begun)->copy;
}

void copyring_end(struct copyring *copyring, const struct threadcopy *copy, const struct certificate_copy *note)
{
	struct slot *slot = slot_at(copyring, copyring->begun);

	slot->size = (sizeof(*slot) + copy->nbytes + 7) & ~UINT64_C(7);
	copyring->note[copyring->notes_head % COPYRING_NOTES] = *note;
	if (copyring->next_base > copyring->base && copyring->next_base <= copyring->begun)
		__atomic_store_n(&copyring->base, copyring->next_base, __ATOMIC_RELEASE);
	__atomic_store_n(&copyring->head, copyring->begun + slot->size, __ATOMIC_RELEASE);
	__atomic_store_n(&copyring->notes_head, copyring->notes_head + 1, __ATOMIC_RELEASE);
}

bool copyring_is_filling(const struct copyring *copyring)
{
	uint64_t tail = __atomic_load_n(&copyring->tail, __ATOMIC_ACQUIRE);

	return copyring->head - (tail < copyring->base ? copyring->base : tail) >= COPYRING_BYTES / 8;
}

const struct threadcopy *copyring_oldest(struct copyring *copyring)
{
	uint64_t head = __atomic_load_n(&copyring->head, __ATOMIC_ACQUIRE), at = copyring->tail;

	if (at == head)
		return NULL;
	if (at < __atomic_load_n(&copyring->base, __ATOMIC_ACQUIRE)) {
		at = copyring->base;
		__atomic_store_n(&copyring->tail, at, __ATOMIC_RELEASE);
	}
	if (slot_at(copyring, at)->size == 0) {
		at += COPYRING_BYTES - at % COPYRING_BYTES;
		__atomic_store_n(&copyring->tail, at, __ATOMIC_RELEASE);
	}
	return &slot_at(copyring, at)->copy;
}

void copyring_drop(struct copyring *copyring)
{
	uint64_t size = slot_at(copyring, copyring->tail)->size;

	__atomic_store_n(&copyring->tail, copyring->tail + size, __ATOMIC_RELEASE);
}

bool copyring_note(struct copyring *copyring, struct certificate_copy *note)
{
	if (copyring->notes_tail == __atomic_load_n(&copyring->notes_head, __ATOMIC_ACQUIRE))
		return false;
	*note = copyring->note[copyring->notes_tail % COPYRING_NOTES];
	__atomic_store_n(&copyring->notes_tail, copyring->notes_tail + 1, __ATOMIC_RELEASE);
	return true;
}
