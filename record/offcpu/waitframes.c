/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitframes.h"

#include "common/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)

/* Entry of a process in the table. version: odd while pjrecord changes the entry. */
struct entered_process {
	uint32_t version, pid; /* pid 0: free entry */
	uint64_t serial;       /* number of this entry, unique and never reused */
	struct threadplan plan;
};

struct entered_thread {
	uint32_t version, tid; /* tid 0: free entry */
	uint32_t pid, zero;
	/* serial of the entry of the thread's process; if the process now has an entry with another serial, this entry
	 * is free */
	uint64_t serial;
	uint64_t root;
};

struct entered {
	uint64_t changes;
	struct entered_process process[WAITFRAMES_PROCESSES];
	struct entered_thread thread[WAITFRAMES_THREADS];
};

/* Head of a copy in the ring, or of space that is skipped. */
struct slot {
	uint32_t size; /* number of bytes from this head to the next one, a multiple of 8 */
	uint32_t used; /* 1: a copy follows; 0: skipped space */
};

#define COPY_HEAD offsetof(struct threadcopy, bytes)
#define SLOT_MAX (sizeof(struct slot) + COPY_HEAD + WAITFRAMES_BYTES)

struct framering {
	/* position after the bytes that pjrecord-wait has written, in bytes since the ring's start; written by
	 * pjrecord-wait */
	uint64_t head;
	/* position after the bytes that pjrecord has taken, in bytes since the ring's start; written by pjrecord */
	uint64_t tail;
	_Alignas(8) char bytes[WAITFRAMES_RING];
};

_Static_assert(COPY_HEAD % 8 == 0 && WAITFRAMES_RING % 8 == 0 && 4 * SLOT_MAX < WAITFRAMES_RING, "slots are aligned");

struct waitframes {
	struct entered *entered;
	struct framering *ring;
	pthread_mutex_t lock; /* protects `ring` and `taken` between threads of pjrecord */
	/* pjrecord's own value of ring->tail, which pjrecord-wait could change; a multiple of 8 */
	uint64_t taken;
	int fd;
	uint64_t serial;
};

static void *map_shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct waitframes *waitframes_new(void)
{
	struct waitframes *waitframes = mem_alloc(sizeof(*waitframes), 1);

	pthread_mutex_init(&waitframes->lock, NULL);
	waitframes->entered = map_shared(sizeof(*waitframes->entered));
	waitframes->ring = map_shared(sizeof(*waitframes->ring));
	waitframes->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (waitframes->entered && waitframes->ring && waitframes->fd >= 0)
		return waitframes;
	waitframes_free(waitframes);
	return NULL;
}

void waitframes_free(struct waitframes *waitframes)
{
	if (!waitframes)
		return;
	if (waitframes->entered)
		munmap(waitframes->entered, sizeof(*waitframes->entered));
	if (waitframes->ring)
		munmap(waitframes->ring, sizeof(*waitframes->ring));
	if (waitframes->fd >= 0)
		close(waitframes->fd);
	pthread_mutex_destroy(&waitframes->lock);
	free(waitframes);
}

/* ---- table of entered processes and threads --------------------------------------------------------------------- */

/* begin_change and finish_change enclose each change of an entry. They make its version odd, then even again, so that
 * readers notice the change. */
static void begin_change(uint32_t *version)
{
	__atomic_store_n(version, *version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void finish_change(uint32_t *version)
{
	store(version, *version + 1);
}

/* Returns the entry of a process; NULL if the process is not in the table. */
static struct entered_process *process_place(const struct waitframes *waitframes, uint32_t pid)
{
	for (uint32_t i = 0; i < WAITFRAMES_PLACES; i++) {
		struct entered_process *place = &waitframes->entered->process[(pid + i) % WAITFRAMES_PROCESSES];

		if (__atomic_load_n(&place->pid, __ATOMIC_RELAXED) == pid)
			return place;
	}
	return NULL;
}

/* Returns the entry of a thread; NULL if the thread is not in the table. */
static struct entered_thread *thread_place(const struct waitframes *waitframes, uint32_t tid)
{
	for (uint32_t i = 0; i < WAITFRAMES_PLACES; i++) {
		struct entered_thread *place = &waitframes->entered->thread[(tid + i) % WAITFRAMES_THREADS];

		if (__atomic_load_n(&place->tid, __ATOMIC_RELAXED) == tid)
			return place;
	}
	return NULL;
}

void waitframes_set_process(struct waitframes *waitframes, uint32_t pid, const struct threadplan *plan)
{
	struct entered_process *place;

	if (!waitframes || !pid || plan->stack || !threadplan_valid(plan))
		return;
	place = process_place(waitframes, pid);
	for (uint32_t i = 0; !place && i < WAITFRAMES_PLACES; i++)
		if (!waitframes->entered->process[(pid + i) % WAITFRAMES_PROCESSES].pid)
			place = &waitframes->entered->process[(pid + i) % WAITFRAMES_PROCESSES];
	if (!place)
		return;
	begin_change(&place->version);
	place->pid = pid;
	place->serial = ++waitframes->serial;
	place->plan = *plan;
	finish_change(&place->version);
}

void waitframes_remove_process(struct waitframes *waitframes, uint32_t pid)
{
	struct entered_process *place = waitframes && pid ? process_place(waitframes, pid) : NULL;

	if (!place)
		return;
	begin_change(&place->version);
	place->pid = 0;
	place->serial = 0;
	finish_change(&place->version);
}

/* Returns true if an entry has no thread, or if the process of its thread is no longer in the table. */
static bool is_free(const struct waitframes *waitframes, const struct entered_thread *place)
{
	const struct entered_process *process = place->tid ? process_place(waitframes, place->pid) : NULL;

	return !process || process->serial != place->serial;
}

static void set_entry(struct entered_thread *place, uint32_t pid, uint32_t tid, uint64_t serial, uint64_t root)
{
	begin_change(&place->version);
	place->pid = pid;
	place->tid = tid;
	place->serial = serial;
	place->root = root;
	finish_change(&place->version);
}

bool waitframes_set_thread(struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t root)
{
	const struct entered_process *process = waitframes && pid && tid ? process_place(waitframes, pid) : NULL;
	struct entered_thread *place;

	if (!process)
		return false;
	place = thread_place(waitframes, tid);
	if (place && place->serial == process->serial && place->root == root)
		return true;
	for (uint32_t i = 0; !place && i < WAITFRAMES_PLACES; i++)
		if (is_free(waitframes, &waitframes->entered->thread[(tid + i) % WAITFRAMES_THREADS]))
			place = &waitframes->entered->thread[(tid + i) % WAITFRAMES_THREADS];
	if (!place)
		return false;
	set_entry(place, pid, tid, process->serial, root);
	store(&waitframes->entered->changes, waitframes->entered->changes + 1);
	return true;
}

void waitframes_remove_thread(struct waitframes *waitframes, uint32_t tid)
{
	struct entered_thread *place = waitframes && tid ? thread_place(waitframes, tid) : NULL;

	if (place)
		set_entry(place, 0, 0, 0, 0);
}

uint64_t waitframes_changes(const struct waitframes *waitframes)
{
	return load(&waitframes->entered->changes);
}

/* Copies an entry of n bytes to `into`. version: first member of the entry. Returns false if pjrecord changes the entry
 * at this moment; then the copy must not be used. */
static bool load_entry(const uint32_t *version, const void *entry, void *into, size_t n)
{
	uint32_t before = load(version);

	memcpy(into, entry, n);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return before % 2 == 0 && __atomic_load_n(version, __ATOMIC_RELAXED) == before;
}

bool waitframes_find(const struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t *root,
		     struct threadplan *plan)
{
	const struct entered_thread *thread_at = tid ? thread_place(waitframes, tid) : NULL;
	const struct entered_process *process_at = pid ? process_place(waitframes, pid) : NULL;
	struct entered_thread thread;
	struct entered_process process;

	if (!thread_at || !process_at || !load_entry(&thread_at->version, thread_at, &thread, sizeof(thread)) ||
	    thread.tid != tid || !load_entry(&process_at->version, process_at, &process, sizeof(process)) ||
	    process.pid != pid || process.serial != thread.serial)
		return false;
	*root = thread.root;
	*plan = process.plan;
	return threadplan_valid(plan);
}

/* ---- ring of copies --------------------------------------------------------------------------------------------- */

bool waitframes_enter(struct waitframes *waitframes, int fd)
{
	waitframes->fd = fd;
	return mprotect(waitframes->entered, sizeof(*waitframes->entered), PROT_READ) == 0;
}

static struct slot *framering_at(struct framering *ring, uint64_t at)
{
	return (void *)(ring->bytes + at % WAITFRAMES_RING);
}

struct threadcopy *waitframes_begin(struct waitframes *waitframes)
{
	struct framering *ring = waitframes->ring;
	uint64_t head = ring->head, used = head - load(&ring->tail), left = WAITFRAMES_RING - head % WAITFRAMES_RING,
		 skipped = left < SLOT_MAX ? left : 0;

	/* a copy is contiguous: the rest of the ring is skipped if the largest copy does not fit there */
	if (used > WAITFRAMES_RING || skipped + SLOT_MAX > WAITFRAMES_RING - used)
		return NULL;
	if (skipped) {
		*framering_at(ring, head) = (struct slot){ .size = (uint32_t)skipped };
		store(&ring->head, head + skipped);
	}
	return (void *)(framering_at(ring, head + skipped) + 1);
}

void waitframes_publish(struct waitframes *waitframes, const struct threadcopy *copy)
{
	struct framering *ring = waitframes->ring;
	struct slot *slot = framering_at(ring, ring->head);
	uint64_t one = 1;

	*slot = (struct slot){ .size = (uint32_t)(sizeof(*slot) + COPY_HEAD + copy->nbytes + 7) & ~7u, .used = 1 };
	store(&ring->head, ring->head + slot->size);
	if (write(waitframes->fd, &one, sizeof(one)) < 0) {
		/* the counter of the eventfd is at its limit, so the descriptor is readable anyway */
	}
}

int waitframes_fd(const struct waitframes *waitframes)
{
	return waitframes ? waitframes->fd : -1;
}

/* Returns true if the sizes in a copy from pjrecord-wait are within their limits; false if the copy must be dropped. n:
 * number of bytes of the copy in its slot. */
static bool is_possible(const struct threadcopy *copy, size_t n)
{
	return copy->nbytes <= WAITFRAMES_BYTES && copy->nbytes <= n - COPY_HEAD && copy->nareas <= THREADCOPY_READS &&
	       copy->end <= THREADCOPY_FAILED;
}

/* Takes the next slot of the ring. head: position after the last slot. If the slot has a valid copy, moves the copy to
 * *into and sets *got to true. Returns false if the slot is malformed or ends after `head`. */
static bool take_slot(struct waitframes *waitframes, uint64_t head, struct threadcopy *into, bool *got)
{
	const struct slot *at = framering_at(waitframes->ring, waitframes->taken);
	uint64_t left = WAITFRAMES_RING - waitframes->taken % WAITFRAMES_RING, waiting = head - waitframes->taken;
	struct slot slot = *at;

	if (waiting > WAITFRAMES_RING || slot.size % 8 || slot.size < sizeof(slot) || slot.size > left ||
	    slot.size > waiting)
		return false;
	if (slot.used) {
		size_t n = slot.size - sizeof(slot);

		if (n < COPY_HEAD || n > COPY_HEAD + WAITFRAMES_BYTES)
			return false;
		memcpy(into, at + 1, n);
		*got = is_possible(into, n);
	}
	waitframes->taken += slot.size;
	return true;
}

bool waitframes_take(struct waitframes *waitframes, struct threadcopy *into)
{
	bool got = false;
	uint64_t head, value;

	pthread_mutex_lock(&waitframes->lock);
	/* only a pjrecord-wait under an attacker's control writes a value that is no multiple of 8: its low bits are
	 * cleared */
	head = load(&waitframes->ring->head) & ~UINT64_C(7);
	if (waitframes->taken == head && read(waitframes->fd, &value, sizeof(value)) > 0)
		head = load(&waitframes->ring->head) & ~UINT64_C(7);
	while (!got && waitframes->taken != head && take_slot(waitframes, head, into, &got))
		;
	if (!got)
		waitframes->taken = head;
	store(&waitframes->ring->tail, waitframes->taken);
	pthread_mutex_unlock(&waitframes->lock);
	return got;
}

void waitframes_renew(struct waitframes *waitframes)
{
	struct framering *ring = waitframes ? map_shared(sizeof(*ring)) : NULL;

	if (!ring)
		return;
	pthread_mutex_lock(&waitframes->lock);
	munmap(waitframes->ring, sizeof(*waitframes->ring));
	waitframes->ring = ring;
	waitframes->taken = 0;
	pthread_mutex_unlock(&waitframes->lock);
}
