/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waithelper.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/offcpu/syscallfile.h"
#include "record/offcpu/waitlimits.h"
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
/* Adds a value to a counter in shared memory that only this process writes. */
#define add(p, value) __atomic_store_n((p), *(p) + (value), __ATOMIC_RELAXED)

#define SCAN_NS UINT64_C(10000000) /* minimum time in ns between two scans of the table of sleepers */
/* time in ns after which sleepers whose read exceeded a limit are tried again */
#define RETRY_NS (SECOND_NS / 10)
enum {
	SWITCH_OUT = 1 << 13,
	RECORDS = 65536,    /* maximum number of records of one ring that one poll reads */
	SLEEPERS_MAX = 4096 /* number of entries in the table of sleepers; index: tid modulo this number */
};

struct followed {
	uint32_t cpu;
	const struct perf_event_mmap_page *page;
	const char *data;
	size_t bytes;
	uint64_t cursor;
};

/* A thread that is off the CPU and may be read again. Either its stack was not read, because its process had no class
 * or exceeded a limit; or the stack was read without interpreted frames. */
struct sleeper {
	struct wait wait; /* the thread; wait.tid 0: free entry */
	bool read;
};

struct waithelper {
	struct waithelper_options o;
	struct waitqueue queue;
	struct followed *ring;
	size_t nrings;
	/* limits: for reads of stacks. frame_limits: for reads of interpreted frames. */
	struct waitlimits limits, frame_limits;
	/* start in ns of the last poll of the rings, or of the last read of the file `syscall` of a thread; each thread
	 * that is read now existed at that time */
	uint64_t followed;
	bool found; /* true: the current poll has found a switch-out */
	struct sleeper *sleeper;
	/* changes: value of waitframes_changes at the last scan of the sleepers. known: value of waitshare.known at
	 * that scan. */
	uint64_t changes;
	uint32_t known;
	uint64_t scanned; /* time of the last scan of the sleepers, in ns */
	/* time in ns at which sleepers whose read exceeded a limit are scanned again; 0: there are none */
	uint64_t retry;
};

/* ---- followed rings --------------------------------------------------------------------------------------------- */

static void unmap_ring(const struct followed *ring)
{
	size_t page = (size_t)(ring->data - (const char *)ring->page);

	munmap((void *)(uintptr_t)ring->page, page + ring->bytes);
}

/* Follows the ring in a message, from the oldest record on that pjrecord has not taken. The ring replaces an earlier
 * ring of the same CPU. Ignores the message if WAITHELPER_CPUS rings are followed. */
static void add_ring(struct waithelper *helper, const struct waithelper_message *message, int fd)
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

/* Removes all sleepers, because records were missed, so that some of the threads may run again. */
static void forget_sleepers(struct waithelper *helper)
{
	memset(helper->sleeper, 0, SLEEPERS_MAX * sizeof(*helper->sleeper));
}

/* Stops following all rings, and removes all sleepers. pjrecord then sends the current rings again. */
static void drop_rings(struct waithelper *helper)
{
	while (helper->nrings)
		unmap_ring(helper->ring + --helper->nrings);
	forget_sleepers(helper);
}

static uint64_t followed_word(const struct followed *ring, uint64_t at)
{
	const void *word = ring->data + (at & (ring->bytes - 1) & ~UINT64_C(7));

	return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

/* Sets *wait from the sample, at position `at` of a ring, of a thread that is about to leave the CPU. The callchain and
 * registers follow the fixed part of the sample. Returns false for a thread without 64-bit user registers. */
static bool load_wait(const struct waithelper *helper, const struct followed *ring, uint64_t at, uint64_t size,
		      struct wait *wait)
{
	uint64_t ids = followed_word(ring, at + offsetof(struct ring_sample, pid)), nips,
		 before = helper->o.sample_type & PERF_SAMPLE_PERIOD ? offsetof(struct ring_sample, nips) :
								       offsetof(struct ring_sample, period);

	nips = followed_word(ring, at + before);
	before += 8;
	if (nips > size / 8 || before + 8 * nips + 8 * (1 + (uint64_t)helper->o.nregisters) > size)
		return false;
	before += 8 * nips;
	*wait = (struct wait){ .pid = (uint32_t)ids,
			       .tid = (uint32_t)(ids >> 32),
			       .time = followed_word(ring, at + offsetof(struct ring_sample, time)),
			       .abi = (uint32_t)followed_word(ring, at + before),
			       .nregisters = (uint16_t)helper->o.nregisters };
	for (uint32_t i = 0; i < helper->o.nregisters; i++)
		wait->registers[i] = followed_word(ring, at + before + 8 + 8 * (uint64_t)i);
	wait->sp = wait->registers[helper->o.sp];
	return wait->abi == PERF_SAMPLE_REGS_ABI_64 && wait->tid && wait->tid != UINT32_MAX;
}

/* ---- threads to read again -------------------------------------------------------------------------------------- */

static void keep_sleeper(struct waithelper *helper, const struct wait *wait, bool read)
{
	helper->sleeper[wait->tid % SLEEPERS_MAX] = (struct sleeper){ *wait, read };
}

static void drop_sleeper(struct waithelper *helper, uint32_t tid)
{
	if (helper->sleeper[tid % SLEEPERS_MAX].wait.tid == tid)
		helper->sleeper[tid % SLEEPERS_MAX].wait.tid = 0;
}

/* ---- records of the rings --------------------------------------------------------------------------------------- */

/* Applies a sample of context-switches: queues its thread, which is about to leave the CPU. */
static void take_switched_out(struct waithelper *helper, const struct followed *ring, uint64_t at, uint64_t size)
{
	struct wait wait;

	if (!load_wait(helper, ring, at, size, &wait))
		return;
	/* If pjrecord has taken the record in the meantime, the kernel may have overwritten it: then the bytes are not
	 * used. The acquire loads of followed_word() precede the load of the tail. */
	if (load(&ring->page->data_tail) > at)
		return;
	wait.class = waitshare_class(helper->o.share, wait.pid);
	drop_sleeper(helper, wait.tid);
	if (!waitqueue_out(&helper->queue, &wait))
		add(&helper->o.share->counters.queue_full, 1);
	helper->found = true;
}

/* Applies a SWITCH record: if it is a switch-in, removes its thread, which is back on a CPU, from the queue and the
 * sleepers. head: first word of the record. */
static void take_returned(struct waithelper *helper, const struct followed *ring, uint64_t at, uint64_t size,
			  uint64_t head)
{
	uint64_t ids = followed_word(ring, at + size - sizeof(struct ring_sample_id));

	if (head >> 32 & SWITCH_OUT)
		return;
	waitqueue_in(&helper->queue, (uint32_t)(ids >> 32));
	drop_sleeper(helper, (uint32_t)(ids >> 32));
}

static void follow_ring(struct waithelper *helper, struct followed *ring)
{
	uint64_t head = load(&ring->page->data_head), tail = load(&ring->page->data_tail);
	unsigned n = 0;

	if (ring->cursor < tail) {
		add(&helper->o.share->counters.missed, 1);
		forget_sleepers(helper);
		ring->cursor = tail;
	}
	for (; ring->cursor < head && n < RECORDS; n++) {
		uint64_t word = followed_word(ring, ring->cursor), size = word >> 48;
		uint32_t type = (uint32_t)word;

		if (size < sizeof(struct perf_record) || size % 8 || size > head - ring->cursor) {
			add(&helper->o.share->counters.missed, 1);
			forget_sleepers(helper);
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

/* ---- reads of stacks and frames --------------------------------------------------------------------------------- */

/* Returns true if a read of n bytes at time now is within all limits, and charges the read to these limits. Otherwise
 * counts the reason and returns false; stores the thread as a sleeper if a later read may be allowed. class: class of
 * the thread's process. */
static bool may_read(struct waithelper *helper, const struct wait *wait, uint8_t class, size_t n, uint64_t now)
{
	struct waitshare *share = helper->o.share;
	uint32_t strict = load(&share->strict);
	bool avoided = __atomic_load_n(&share->refused[class], __ATOMIC_RELAXED);

	if (avoided || (class == 0 && strict != WAITSHARE_ALL)) {
		if (class == 0)
			keep_sleeper(helper, wait, false);
		add(&share->counters.refused, avoided || strict == WAITSHARE_AVOID);
		return false;
	}
	if (waitlimits_refuses(&helper->limits, wait->pid, now)) {
		add(&share->counters.denied, 1);
		return false;
	}
	if (!waitlimits_take(&helper->limits, class, n, now)) {
		add(&share->counters.over_budget, 1);
		keep_sleeper(helper, wait, false);
		helper->retry = now + RETRY_NS;
		return false;
	}
	return true;
}

/* Reads up to n bytes from virtual address `from` of the process of thread tid. Returns the number of bytes read; 0
 * with errno on failure. */
static size_t read_stack(uint32_t tid, uint64_t from, void *into, size_t n)
{
	struct iovec local = { into, n }, remote = { (void *)(uintptr_t)from, n };
	/* if the mapping ends earlier, the call returns the bytes up to its end */
	ssize_t got = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	if (got == 0)
		errno = EFAULT;
	return got > 0 ? (size_t)got : 0;
}

/* Reads up to n bytes of the stack of copy->wait into the copy. begun: time in ns to store as the start of the copy.
 * Returns false if the stack cannot be read, and counts the reason. */
static bool fill_copy(struct waithelper *helper, struct waitcopy *copy, uint8_t class, size_t n, uint64_t begun)
{
	struct waitshare *share = helper->o.share;
	const struct wait *wait = &copy->wait;
	bool denied;

	copy->begun = begun;
	begun = clock_now();
	__atomic_store_n(&share->reading_pid, wait->pid, __ATOMIC_RELAXED);
	store(&share->reading_since, begun);
	copy->n = (uint32_t)read_stack(wait->tid, wait->sp, copy + 1, n);
	denied = copy->n == 0 && errno == EPERM;
	store(&share->reading_since, 0);
	copy->ended = clock_now();
	waitlimits_charge(&helper->limits, class, copy->ended - begun, copy->ended);
	if (copy->n || denied)
		waitlimits_note(&helper->limits, wait->pid, denied, copy->ended);
	add(denied ? &share->counters.denied : &share->counters.failed, copy->n == 0);
	return copy->n;
}

/* State of a copy of interpreted frames of `wait`. begun: start of the copy in ns. */
struct frames_read {
	struct waithelper *helper;
	const struct wait *wait;
	uint64_t begun;
	uint8_t class;
	bool over; /* true: a limit was reached, so that further reads fail */
};

/* Reads n bytes at a virtual address of the target for threadcopy_follow (threadcopy_read). Returns the number of bytes
 * read; 0 if a limit is reached. */
static size_t read_interpreted(void *to, uint64_t address, void *into, size_t n)
{
	struct frames_read *read = to;
	uint64_t now = clock_now();

	read->over |= now - read->begun > WAITHELPER_FRAMES_NS ||
		      !waitlimits_take(&read->helper->frame_limits, read->class, n, now);
	return read->over ? 0 : read_stack(read->wait->tid, address, into, n);
}

/* Fills and publishes a copy of a thread's interpreted frames; the caller has set its members `root` and `time`.
 * Returns false, without publishing, if a limit was reached. */
static bool fill_frames(struct waithelper *helper, const struct wait *wait, uint8_t class,
			const struct threadplan *plan, struct threadcopy *copy)
{
	struct waitshare *share = helper->o.share;
	struct frames_read read = { helper, wait, clock_now(), class, false };

	copy->pid = wait->pid;
	copy->tid = wait->tid;
	copy->off_cpu = 1;
	copy->begun = read.begun;
	__atomic_store_n(&share->reading_pid, wait->pid, __ATOMIC_RELAXED);
	store(&share->reading_since, copy->begun);
	threadcopy_follow(plan, read_interpreted, &read, WAITFRAMES_BYTES, copy);
	store(&share->reading_since, 0);
	copy->read_by = clock_now();
	/* reads of frames delay reads of stacks, so the duration is charged to the limits for stacks */
	waitlimits_charge(&helper->limits, class, copy->read_by - copy->begun, copy->read_by);
	if (read.over)
		return false;
	waitframes_publish(helper->o.frames, copy);
	return true;
}

/* Copies the interpreted frames of the thread whose stack was just copied to *stack. Returns the result for
 * waitcopy.frames. */
static enum waitcopy_frames copy_frames(struct waithelper *helper, const struct waitcopy *stack, uint8_t class)
{
	struct waitcounters *counters = &helper->o.share->counters;
	const struct wait *wait = &stack->wait;
	struct threadplan plan;
	struct threadcopy *copy;
	uint64_t root;

	if (!helper->o.frames || !waitframes_find(helper->o.frames, wait->pid, wait->tid, &root, &plan))
		return WAITCOPY_NOT_ENTERED;
	if (clock_now() - helper->followed > WAITHELPER_FRAMES_NS) {
		add(&counters->frames_over, 1);
		return WAITCOPY_LEFT_OUT;
	}
	copy = waitframes_begin(helper->o.frames);
	if (!copy) {
		add(&counters->frames_full, 1);
		return WAITCOPY_LEFT_OUT;
	}
	copy->root = root;
	copy->time = wait->time ? wait->time : stack->ended;
	if (!fill_frames(helper, wait, class, &plan, copy)) {
		add(&counters->frames_over, 1);
		return WAITCOPY_LEFT_OUT;
	}
	add(&counters->frames, 1);
	return WAITCOPY_FRAMES;
}

static void copy_wait(struct waithelper *helper, const struct wait *wait, uint64_t now)
{
	struct waitshare *share = helper->o.share;
	uint8_t class = waitshare_class(share, wait->pid);
	size_t n = waitshare_wanted(share, wait->tid, wait->sp);
	struct waitcopy *copy;

	if (!may_read(helper, wait, class, n, now))
		return;
	copy = waitshare_begin(share, n);
	if (!copy) {
		add(&share->counters.ring_full, 1);
		return;
	}
	copy->wait = *wait;
	if (!fill_copy(helper, copy, class, n, now))
		return;
	copy->frames = copy_frames(helper, copy, class);
	copy->zero = 0;
	if (copy->frames == WAITCOPY_NOT_ENTERED && helper->o.frames)
		keep_sleeper(helper, wait, true);
	waitshare_publish(share, copy);
	add(&share->counters.copies, 1);
}

/* Reads the stacks of the queued threads that have been off the CPU for at least WAITHELPER_DELAY_NS. */
static void read_due(struct waithelper *helper)
{
	const struct wait *wait;

	while ((wait = waitqueue_oldest(&helper->queue)) != NULL) {
		uint64_t now = clock_now();

		if (now < wait->time || now - wait->time < WAITHELPER_DELAY_NS)
			return;
		copy_wait(helper, wait, now);
		waitqueue_drop(&helper->queue);
	}
}

/* ---- threads that are off the CPU since before the recording ---------------------------------------------------- */

enum { SYSCALL_TEXT = 256 }; /* size in bytes of the buffer for the text of /proc/PID/task/TID/syscall */

/* Sets the registers of *wait from the file `syscall` (descriptor fd) of a sleeping thread (syscallfile.h). Returns
 * false with errno: ESRCH for a thread that does not sleep; the error of the read if the kernel denies it. */
static bool load_early(struct waithelper *helper, int fd, struct wait *wait)
{
	struct waitshare *share = helper->o.share;
	char text[SYSCALL_TEXT];
	ssize_t got;

	__atomic_store_n(&share->reading_pid, wait->pid, __ATOMIC_RELAXED);
	store(&share->reading_since, clock_now());
	got = pread(fd, text, sizeof(text) - 1, 0);
	store(&share->reading_since, 0);
	if (got < 0)
		return false;
	errno = ESRCH;
	if (!syscallfile_parse((struct str){ text, (size_t)got }, &wait->registers[0], &wait->registers[1]))
		return false;
	wait->sp = wait->registers[0];
	wait->abi = PERF_SAMPLE_REGS_ABI_64;
	wait->nregisters = WAIT_EARLY_REGISTERS;
	return true;
}

/* Reads the stack of a thread that has been off the CPU since before the recording. fd: its file `syscall`, which shows
 * that the thread sleeps. `begun` of the copy is a time before the read of that file. */
static void read_early(struct waithelper *helper, const struct waithelper_message *message, int fd)
{
	struct waitshare *share = helper->o.share;
	struct wait wait = { .pid = message->pid, .tid = message->tid };
	uint64_t begun = clock_now();

	helper->followed = begun;
	if (waitlimits_refuses(&helper->limits, wait.pid, begun))
		return;
	if (!load_early(helper, fd, &wait)) {
		if (errno == EPERM)
			waitlimits_note(&helper->limits, wait.pid, true, begun);
		add(&share->counters.denied, errno == EPERM);
		return;
	}
	copy_wait(helper, &wait, begun);
}

/* Handles the pending messages of the socket. Returns false if pjrecord has ended. */
static bool take_messages(struct waithelper *helper)
{
	struct waithelper_message message;
	int fd, got;

	while ((got = fdmessage_receive(helper->o.socket, &message, sizeof(message), &fd, MSG_DONTWAIT)) == 1) {
		if (message.kind == WAITHELPER_RINGS)
			drop_rings(helper);
		if (fd < 0)
			continue;
		if (message.kind == WAITHELPER_RING)
			add_ring(helper, &message, fd);
		else if (message.kind == WAITHELPER_THREAD)
			read_early(helper, &message, fd);
		close(fd);
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR || errno == EBADMSG);
}

/* ---- later reads of sleepers ------------------------------------------------------------------------------------ */

/* Returns true if the reason for which a sleeper was not read, or was read without frames, no longer exists, so that
 * the sleeper must be read. */
static bool may_read_now(const struct waithelper *helper, const struct sleeper *sleeper)
{
	struct threadplan plan;
	uint64_t root;

	if (!sleeper->read)
		return waitshare_class(helper->o.share, sleeper->wait.pid) != 0;
	return helper->o.frames &&
	       waitframes_find(helper->o.frames, sleeper->wait.pid, sleeper->wait.tid, &root, &plan);
}

/* Reads the sleepers that can be read now, because their process has got a class or their thread was entered in the
 * table of waitframes.h. Does nothing less than SCAN_NS after the last scan. Does nothing, too, if the tables have not
 * changed since that scan and the time helper->retry is not reached. */
static void read_sleepers(struct waithelper *helper)
{
	uint64_t changes = helper->o.frames ? waitframes_changes(helper->o.frames) : 0;
	uint32_t known = load(&helper->o.share->known);
	uint64_t now = clock_now();

	if (now - helper->scanned < SCAN_NS ||
	    (changes == helper->changes && known == helper->known && (!helper->retry || now < helper->retry)))
		return;
	helper->scanned = now;
	helper->changes = changes;
	helper->known = known;
	helper->retry = 0;
	for (size_t i = 0; i < SLEEPERS_MAX; i++) {
		struct sleeper *sleeper = &helper->sleeper[i];
		struct wait wait = sleeper->wait;

		if (!wait.tid || !may_read_now(helper, sleeper))
			continue;
		sleeper->wait.tid = 0;
		copy_wait(helper, &wait, clock_now());
	}
}

/* ---- main loop of pjrecord-wait --------------------------------------------------------------------------------- */

/* Returns the time in ns to sleep after a poll. cpu: mean CPU time of a poll in ns. last: previous sleep in ns. While
 * threads leave CPUs, the process uses at most 1 / (WAITHELPER_SHARE + 1) of a CPU, unless that needs more than the
 * maximum sleep. While no thread leaves a CPU, the sleep doubles up to the maximum. */
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
	uint64_t slept = WAITHELPER_POLL_NS, before = clock_thread_cpu(), mean = 0;

	helper->o = *options;
	helper->sleeper = mem_alloc(sizeof(*helper->sleeper), SLEEPERS_MAX);
	helper->ring = mem_alloc(sizeof(*helper->ring), WAITHELPER_CPUS);
	for (;;) {
		uint64_t cpu;

		if (!take_messages(helper))
			break;
		helper->found = false;
		helper->followed = clock_now();
		for (size_t i = 0; i < helper->nrings; i++)
			follow_ring(helper, helper->ring + i);
		read_due(helper);
		read_sleepers(helper);
		add(&helper->o.share->counters.rounds, 1);
		cpu = clock_thread_cpu();
		mean = (7 * mean + cpu - before) / 8;
		before = cpu;
		slept = next_sleep(helper, mean, slept);
		nanosleep(&(struct timespec){ .tv_nsec = (long)slept }, NULL);
	}
	free(helper->ring);
	free(helper->sleeper);
	free(helper);
}
