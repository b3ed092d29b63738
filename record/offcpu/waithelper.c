/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waithelper.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/perf/rings.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)
/* For counters with one writer. */
#define add(p, value) __atomic_store_n((p), *(p) + (value), __ATOMIC_RELAXED)

#define ALIVE_NS (SECOND_NS / 5) /* ns between looks at the socket */
enum { SWITCH_OUT = 1 << 13, RECORDS = 65536 /* most records of one ring in one look */ };

struct followed {
	uint32_t cpu;
	const struct perf_event_mmap_page *page;
	const char *data;
	size_t bytes;
	uint64_t cursor;
};

/* Number of reads that are left. */
struct credit {
	uint32_t left;
	uint64_t refilled;
};

struct waithelper {
	struct waithelper_options o;
	struct waitqueue queue;
	struct followed *ring;
	size_t nrings;
	struct credit all, class[WAITSHARE_CLASSES];
	bool found; /* this look found a switch-out */
};

/* ---- rings ------------------------------------------------------------------------------------------------------ */

static void unmap_ring(const struct followed *ring)
{
	size_t page = (size_t)(ring->data - (const char *)ring->page);

	munmap((void *)(uintptr_t)ring->page, page + ring->bytes);
}

/* Follows a ring, from the records on that pjrecord has not taken yet, in place of an earlier one of the same CPU. */
static void add_ring(struct waithelper *helper, const struct waithelper_ring *message, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i = 0;
	char *p = mmap(NULL, page + (size_t)message->bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return;
	while (i < helper->nrings && helper->ring[i].cpu != message->cpu)
		i++;
	if (i == WAITHELPER_CPUS) {
		munmap(p, page + (size_t)message->bytes);
		return;
	}
	if (i < helper->nrings)
		unmap_ring(helper->ring + i);
	else
		helper->nrings++;
	helper->ring[i] = (struct followed){
		.cpu = message->cpu, .page = (void *)p, .data = p + page, .bytes = (size_t)message->bytes
	};
	helper->ring[i].cursor = load(&helper->ring[i].page->data_tail);
}

/* Takes the messages of the socket. Returns false if pjrecord has ended. */
static bool take_messages(struct waithelper *helper)
{
	struct waithelper_ring message;
	int fd, got;

	while ((got = fdmessage_receive(helper->o.socket, &message, sizeof(message), &fd, MSG_DONTWAIT)) == 1) {
		if (fd < 0)
			continue;
		add_ring(helper, &message, fd);
		close(fd);
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR || errno == EBADMSG);
}

static uint64_t followed_word(const struct followed *ring, uint64_t at)
{
	uint64_t word;

	memcpy(&word, ring->data + (at & (ring->bytes - 1) & ~UINT64_C(7)), sizeof(word));
	return word;
}

/* A sample: a thread is about to leave the CPU. The callchain and the registers follow the fixed part. */
static void take_switched_out(struct waithelper *helper, const struct followed *ring, uint64_t at, uint64_t size)
{
	uint64_t ids = followed_word(ring, at + offsetof(struct ring_sample, pid)),
		 before = helper->o.sample_type & PERF_SAMPLE_PERIOD ? offsetof(struct ring_sample, nips) :
								       offsetof(struct ring_sample, period),
		 nips, abi;
	uint32_t tid = (uint32_t)(ids >> 32);
	struct wait *wait;

	nips = followed_word(ring, at + before);
	before += 8;
	if (tid == 0 || tid == UINT32_MAX || nips > size / 8 ||
	    before + 8 * nips + 8 * (1 + helper->o.nregisters) > size)
		return;
	before += 8 * nips;
	abi = followed_word(ring, at + before);
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	wait = waitqueue_out(&helper->queue, tid);
	if (!wait) {
		add(&helper->o.share->counters.queue_full, 1);
		return;
	}
	wait->pid = (uint32_t)ids;
	wait->time = followed_word(ring, at + offsetof(struct ring_sample, time));
	wait->abi = (uint32_t)abi;
	wait->nregisters = helper->o.nregisters;
	for (uint32_t i = 0; i < helper->o.nregisters; i++)
		wait->registers[i] = followed_word(ring, at + before + 8 + 8 * (uint64_t)i);
	wait->sp = wait->registers[helper->o.sp];
	helper->found = true;
	/* pjrecord has taken the record meanwhile: the kernel may have overwritten it */
	if (load(&ring->page->data_tail) > at)
		waitqueue_in(&helper->queue, tid);
}

/* A switch record: takes a thread out that is back on a CPU. */
static void take_returned(struct waithelper *helper, const struct followed *ring, uint64_t at, uint64_t size,
			  uint64_t head)
{
	uint64_t ids = followed_word(ring, at + size - sizeof(struct ring_sample_id));

	if (!(head >> 32 & SWITCH_OUT))
		waitqueue_in(&helper->queue, (uint32_t)(ids >> 32));
}

static void follow_ring(struct waithelper *helper, struct followed *ring)
{
	uint64_t head = load(&ring->page->data_head), tail = load(&ring->page->data_tail);
	unsigned n = 0;

	if (ring->cursor < tail) {
		add(&helper->o.share->counters.missed, 1);
		ring->cursor = tail;
	}
	for (; ring->cursor < head && n < RECORDS; n++) {
		uint64_t word = followed_word(ring, ring->cursor), size = word >> 48;
		uint32_t type = (uint32_t)word;

		if (size < sizeof(struct perf_record) || size % 8 || size > head - ring->cursor) {
			add(&helper->o.share->counters.missed, 1);
			ring->cursor = head;
			return;
		}
		if (type == RECORD_SAMPLE && size >= sizeof(struct ring_sample))
			take_switched_out(helper, ring, ring->cursor, size);
		else if ((type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE) &&
			 size >= sizeof(struct perf_record) + sizeof(struct ring_sample_id))
			take_returned(helper, ring, ring->cursor, size, word);
		ring->cursor += size;
	}
}

/* ---- reads ------------------------------------------------------------------------------------------------------ */

/* Takes one read off a credit that is refilled with `rate` a second, and holds as many as a tenth of a second gives. */
static bool take_credit(struct credit *credit, uint32_t rate, uint64_t now)
{
	uint64_t past = now - credit->refilled, most = rate / 10;

	if (past >= SECOND_NS / 100) {
		uint64_t more = past > SECOND_NS ? rate : past * rate / SECOND_NS;

		credit->left = (uint32_t)(credit->left + more < most ? credit->left + more : most);
		credit->refilled = now;
	}
	if (credit->left == 0)
		return false;
	credit->left--;
	return true;
}

static bool may_read(struct waithelper *helper, const struct wait *wait, uint64_t now)
{
	struct waitshare *share = helper->o.share;
	uint8_t class = share->class[wait->pid & (WAITSHARE_PIDS - 1)];

	uint32_t strict = load(&share->strict);

	if (share->refused[class] || (class == 0 && strict != WAITSHARE_ALL)) {
		add(&share->counters.refused, share->refused[class] || strict == WAITSHARE_AVOID);
		return false;
	}
	if (!take_credit(&helper->class[class], WAITHELPER_CLASS, now) ||
	    !take_credit(&helper->all, WAITHELPER_READS, now)) {
		add(&share->counters.over_budget, 1);
		return false;
	}
	return true;
}

/* Reads up to n bytes from address `from` of a process on. Returns the number of bytes, 0 on failure. */
static size_t read_stack(uint32_t tid, uint64_t from, void *into, size_t n)
{
	struct iovec local = { into, n }, remote = { (void *)(uintptr_t)from, n };
	/* where the memory ends before, the call returns the bytes up to there */
	ssize_t got = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static void copy_wait(struct waithelper *helper, const struct wait *wait)
{
	struct waitshare *share = helper->o.share;
	size_t n = waitshare_wanted(share, wait->tid, wait->sp);
	struct waitcopy *copy = waitshare_begin(share, n);

	if (!copy) {
		add(&share->counters.ring_full, 1);
		return;
	}
	copy->wait = *wait;
	copy->begun = clock_now();
	__atomic_store_n(&share->reading_pid, wait->pid, __ATOMIC_RELAXED);
	store(&share->reading_since, copy->begun);
	copy->n = (uint32_t)read_stack(wait->tid, wait->sp, copy + 1, n);
	store(&share->reading_since, 0);
	copy->ended = clock_now();
	if (copy->n == 0) {
		add(&share->counters.failed, 1);
		return;
	}
	waitshare_publish(share, copy);
	add(&share->counters.copies, 1);
}

/* Reads the threads that have been off the CPU for long enough. */
static void read_due(struct waithelper *helper)
{
	const struct wait *wait;

	while ((wait = waitqueue_oldest(&helper->queue)) != NULL) {
		uint64_t now = clock_now();

		if (now < wait->time || now - wait->time < WAITHELPER_DELAY_NS)
			return;
		if (may_read(helper, wait, now))
			copy_wait(helper, wait);
		waitqueue_drop(&helper->queue);
	}
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

/* Returns the time to sleep after a look that took cpu ns: such that the process takes a share of 1 / (WAITHELPER_SHARE
 * + 1) of a CPU at most while threads leave CPUs, and less the longer none does. */
static uint64_t next_sleep(const struct waithelper *helper, uint64_t cpu, uint64_t last)
{
	uint64_t least = cpu * WAITHELPER_SHARE;

	least = least < WAITHELPER_POLL_NS ? WAITHELPER_POLL_NS : least;
	if (!helper->found && 2 * last > least)
		least = 2 * last;
	return least < WAITHELPER_POLL_MOST_NS ? least : WAITHELPER_POLL_MOST_NS;
}

void waithelper_run(const struct waithelper_options *options)
{
	struct waithelper *helper = mem_alloc(sizeof(*helper), 1);
	uint64_t asked = 0, slept = WAITHELPER_POLL_NS, before = clock_thread_cpu(), mean = 0;

	helper->o = *options;
	helper->ring = mem_alloc(sizeof(*helper->ring), WAITHELPER_CPUS);
	for (;;) {
		uint64_t now = clock_now(), cpu;

		if (now - asked >= ALIVE_NS || helper->nrings == 0) {
			if (!take_messages(helper))
				break;
			asked = now;
		}
		helper->found = false;
		for (size_t i = 0; i < helper->nrings; i++)
			follow_ring(helper, helper->ring + i);
		read_due(helper);
		add(&helper->o.share->counters.rounds, 1);
		cpu = clock_thread_cpu();
		mean = (7 * mean + cpu - before) / 8;
		before = cpu;
		slept = next_sleep(helper, mean, slept);
		nanosleep(&(struct timespec){ .tv_nsec = (long)slept }, NULL);
	}
	free(helper->ring);
	free(helper);
}
