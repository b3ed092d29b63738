/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/syncread.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/threads.h"
#include "record/syncread/readerthread.h"
#include "record/syncread/switchwatch.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* minimum number of checks that must find the same copy before the reader is treated as hanging */
#define HANG_LOOKS 3u
/* time in ns: a reader that makes one copy for longer hangs, if HANG_LOOKS checks found that copy */
#define HANG_NS (2 * SECOND_NS)
#define END_NS SECOND_NS             /* ns for which syncread_free waits for the end of threads */
#define RETRY_NS (10 * SECOND_NS)    /* ns until a CPU without a reader is tried again */
#define VERDICTS_NS (10 * SECOND_NS) /* ns for which verdicts are stored */

/* State of one CPU of the recording. */
struct reader_cpu {
	uint32_t cpu;
	struct readerthread *reader; /* NULL: no reader yet, or the last one hangs in a read */
	bool active;
	uint64_t active_since, retry_at;
	/* copy: id of the copy that the reader makes; copy_seen: number of consecutive checks that found this id;
	 * copy_since: time in ns of the first of these checks */
	uint32_t copy, copy_seen;
	uint64_t copy_since;
};

struct syncread {
	struct syncread_options o;
	struct readershared *shared;
	struct reader_cpu *cpu;
	size_t ncpus;
	/* readers that were requested to end, and may still hang in a read; each frees itself once it has ended and was
	 * released */
	struct readerthread **abandoned;
	size_t nabandoned;
	struct certificate *certificate;
	struct switchwatch *watch;
	int epoll;
	/* lock of the array cpu[] and of the member `reader` of its elements: held by syncread_take and during changes;
	 * reader threads never take it */
	pthread_mutex_t lock;
	bool started;
	uint64_t expired_at, reopened;     /* reopened: sources_reopened at the last follow_cpus */
	struct syncread_counters counters; /* counts of the main thread and of ended readers */
};

const char *syncread_verdict_name(enum syncread_verdict verdict)
{
	static const char *const name[SYNCREAD_VERDICTS] = { "certified", "weak",    "no copy",   "renewed",
							     "no switch", "delayed", "continued", "resumed",
							     "awake",     "lost",    "unwatched", "late" };

	return name[verdict];
}

static int new_eventfd(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

struct syncread *syncread_new(const struct syncread_options *options)
{
	struct syncread *syncread = mem_alloc(sizeof(*syncread), 1);
	struct epoll_event poll = { .events = EPOLLIN };

	syncread->o = *options;
	if (!syncread->o.budget_ns)
		syncread->o.budget_ns = SYNCREAD_BUDGET_NS;
	if (!syncread->o.hold_ns)
		syncread->o.hold_ns = SYNCREAD_HOLD_NS;
	if (!syncread->o.switches)
		syncread->o.switches = SYNCREAD_SWITCHES;
	syncread->shared = mem_alloc(sizeof(*syncread->shared), 1);
	*syncread->shared = (struct readershared){ .threads = threadtable_new(),
						   .copies_fd = new_eventfd(),
						   .rings_fd = new_eventfd(),
						   .armed = 1,
						   .users = 1,
						   .budget_ns = syncread->o.budget_ns,
						   .best = syncread->o.best };
	if (options->sources && sources_format(options->sources))
		syncread->shared->format = *sources_format(options->sources);
	syncread->epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(syncread->epoll, EPOLL_CTL_ADD, syncread->shared->rings_fd, &poll);
	syncread->certificate = certificate_new();
	syncread->watch = switchwatch_new(syncread->o.switches, SYNCREAD_PAUSE_NS, syncread->epoll);
	pthread_mutex_init(&syncread->lock, NULL);
	return syncread;
}

/* ---- readers of CPUs ------------------------------------------------------------------------------------------ */

static struct reader_cpu *reader_cpu_find(const struct syncread *syncread, uint32_t cpu)
{
	if (cpu < syncread->ncpus && syncread->cpu[cpu].cpu == cpu)
		return syncread->cpu + cpu; /* usual case: CPUs are numbered 0 to n - 1 */
	for (size_t i = 0; i < syncread->ncpus; i++)
		if (syncread->cpu[i].cpu == cpu)
			return syncread->cpu + i;
	return NULL;
}

static void set_watch(struct syncread *syncread, struct reader_cpu *one, bool on)
{
	bool watched = switchwatch_set(syncread->watch, syncread->certificate, one->cpu, on);

	if (one->reader)
		readerthread_set(one->reader, one->active, watched);
}

static void park(struct syncread *syncread, struct reader_cpu *one)
{
	if (!one->active)
		return;
	one->active = false;
	sources_wake_each(syncread->o.sources, one->cpu, false);
	set_watch(syncread, one, false);
	rings_set_quiet(syncread->o.rings, RING_OF_SAMPLES, one->cpu, false);
}

/* Releases abandoned readers that have ended. */
static void release_ended(struct syncread *syncread)
{
	size_t n = 0;

	for (size_t i = 0; i < syncread->nabandoned; i++) {
		if (readerthread_has_ended(syncread->abandoned[i]))
			readerthread_release(syncread->abandoned[i]);
		else
			syncread->abandoned[n++] = syncread->abandoned[i];
	}
	syncread->nabandoned = n;
}

/* Number of readers of one CPU that may hang at the same time. A process with memory that never answers, such as that
 * of a FUSE file, can make the readers of all CPUs hang at once; then its tenant is avoided, and new readers go on. */
enum { HANGING_MAX = 8 };

/* Starts the reader thread of a CPU. Returns false on failure, and while HANGING_MAX earlier readers of this CPU hang.
 */
static bool start_reader(struct syncread *syncread, struct reader_cpu *one)
{
	size_t bytes, hanging = 0;
	int ring = rings_fd(syncread->o.rings, RING_OF_SAMPLES, one->cpu, &bytes);

	release_ended(syncread);
	for (size_t i = 0; i < syncread->nabandoned; i++)
		hanging += syncread->abandoned[i]->cpu == one->cpu;
	if (ring < 0 || hanging >= HANGING_MAX)
		return false;
	pthread_mutex_lock(&syncread->lock);
	one->reader = readerthread_start(syncread->shared, one->cpu, ring, bytes);
	pthread_mutex_unlock(&syncread->lock);
	return one->reader != NULL;
}

/* Makes samples of a CPU wake its reader thread. Starts the records of switches first, so that they show when the
 * reader falls asleep. */
static void activate(struct syncread *syncread, struct reader_cpu *one, uint64_t now)
{
	if (one->active || now < one->retry_at)
		return;
	one->retry_at = now + RETRY_NS;
	if (!switchwatch_has(syncread->watch, one->cpu) || (!one->reader && !start_reader(syncread, one)) ||
	    __atomic_load_n(&one->reader->broken, __ATOMIC_ACQUIRE)) {
		syncread->counters.wakes_refused++;
		return;
	}
	one->active = true;
	one->active_since = now;
	rings_set_quiet(syncread->o.rings, RING_OF_SAMPLES, one->cpu, true);
	set_watch(syncread, one, true);
	if (!sources_wake_each(syncread->o.sources, one->cpu, true)) {
		syncread->counters.wakes_refused++;
		park(syncread, one);
		return;
	}
	one->retry_at = 0;
}

/* Adds the counters of a reader to *sum. */
static void add_counters(struct syncread_counters *sum, const struct readerthread *reader)
{
	const struct readercounters *from = &reader->counters;

#define ADD(name) sum->name += __atomic_load_n(&from->name, __ATOMIC_RELAXED)
	ADD(samples);
	ADD(copies);
	ADD(failed);
	ADD(over_budget);
	ADD(ring_full);
	ADD(off);
	ADD(missed);
	ADD(slow);
	ADD(overrun);
	ADD(ns);
	ADD(wakes);
	ADD(demoted);
#undef ADD
	if (from->longest_ns > sum->longest_ns)
		sum->longest_ns = from->longest_ns;
}

/* Requests the end of a CPU's reader without waiting for it, because it may hang. The reader has descriptors of its
 * own, so those of the CPU can be closed. */
static void drop_reader(struct syncread *syncread, struct reader_cpu *one)
{
	struct readerthread *reader = one->reader;

	if (!reader)
		return;
	pthread_mutex_lock(&syncread->lock);
	one->reader = NULL;
	pthread_mutex_unlock(&syncread->lock);
	add_counters(&syncread->counters, reader);
	readerthread_end(reader);
	syncread->abandoned = mem_grow(syncread->abandoned, sizeof(*syncread->abandoned), syncread->nabandoned + 1);
	syncread->abandoned[syncread->nabandoned++] = reader;
}

/* Updates the list of CPUs: removes CPUs that went offline, adds CPUs that came online. If the events of a CPU were
 * opened again, the kernel has detached its events of context switches, too: removes all CPUs and adds them again. */
static void follow_cpus(struct syncread *syncread)
{
	size_t n, bytes;
	const uint32_t *list = sources_cpu_list(syncread->o.sources, &n);
	uint64_t reopened = sources_reopened(syncread->o.sources);

	for (size_t i = syncread->ncpus; i-- > 0;) {
		struct reader_cpu *one = syncread->cpu + i;

		if (reopened == syncread->reopened &&
		    rings_fd(syncread->o.rings, RING_OF_SAMPLES, one->cpu, &bytes) >= 0)
			continue;
		park(syncread, one);
		switchwatch_close(syncread->watch, syncread->certificate, one->cpu);
		drop_reader(syncread, one);
		pthread_mutex_lock(&syncread->lock);
		*one = syncread->cpu[--syncread->ncpus];
		pthread_mutex_unlock(&syncread->lock);
	}
	syncread->reopened = reopened;
	for (size_t i = 0; i < n; i++) {
		if (reader_cpu_find(syncread, list[i]))
			continue;
		pthread_mutex_lock(&syncread->lock);
		syncread->cpu = mem_grow(syncread->cpu, sizeof(*syncread->cpu), syncread->ncpus + 1);
		syncread->cpu[syncread->ncpus++] = (struct reader_cpu){ .cpu = list[i] };
		pthread_mutex_unlock(&syncread->lock);
		if (threadtable_processes(syncread->shared->threads))
			switchwatch_open(syncread->watch, syncread->certificate, list[i]);
	}
}

/* ---- registration of processes and threads --------------------------------------------------------------------- */

bool syncread_add_process(struct syncread *syncread, const struct syncread_process *process)
{
	uint64_t now = clock_now();

	if (!threadtable_add_process(syncread->shared->threads,
				     &(struct threadtable_process){ .pid = process->pid,
								    .tenant = process->tenant,
								    .memory = process->memory,
								    .plan = *process->plan,
								    .since = process->since },
				     now))
		return false;
	syncread->started = true;
	follow_cpus(syncread);
	for (size_t i = 0; i < syncread->ncpus; i++)
		switchwatch_open(syncread->watch, syncread->certificate, syncread->cpu[i].cpu);
	for (size_t i = 0; i < syncread->ncpus; i++)
		activate(syncread, syncread->cpu + i, now);
	return true;
}

bool syncread_add_thread(struct syncread *syncread, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since)
{
	return threadtable_add(syncread->shared->threads, pid, tid, root, since);
}

void syncread_remove_thread(struct syncread *syncread, uint32_t tid)
{
	threadtable_remove(syncread->shared->threads, tid);
}

void syncread_remove_process(struct syncread *syncread, uint32_t pid)
{
	threadtable_remove_process(syncread->shared->threads, pid);
}

bool syncread_has_process(const struct syncread *syncread, uint32_t pid)
{
	return threadtable_process(syncread->shared->threads, pid) != NULL;
}

bool syncread_has_thread(const struct syncread *syncread, uint32_t tid, uint64_t *root)
{
	const struct threadtable_entry *entry = threadtable_find(syncread->shared->threads, tid);

	*root = entry ? entry->root : 0;
	return entry != NULL;
}

/* PERF_RECORD_EXIT and FORK, and the first fields of COMM. */
struct task_record {
	struct perf_record head;
	uint32_t pid, ppid, tid, ptid;
};

struct comm_record {
	struct perf_record head;
	uint32_t pid, tid;
};

static void forget_thread(struct syncread *syncread, uint32_t tid, uint64_t time)
{
	const struct threadtable_entry *entry = threadtable_find(syncread->shared->threads, tid);

	if (entry && entry->since <= time)
		threadtable_remove(syncread->shared->threads, tid);
}

void syncread_state(struct syncread *syncread, const struct ring_record *record)
{
	const struct task_record *task = (const void *)record->head;
	const struct comm_record *comm = (const void *)record->head;
	const struct threadtable_process *process;

	if (!threadtable_processes(syncread->shared->threads))
		return;
	if (record->head->type == RECORD_EXIT || record->head->type == RECORD_FORK)
		forget_thread(syncread, task->tid, record->time);
	if (record->head->type != RECORD_COMM || !(record->head->misc & MISC_COMM_EXEC))
		return;
	process = threadtable_process(syncread->shared->threads, comm->pid);
	if (process && process->since <= record->time)
		threadtable_remove_process(syncread->shared->threads, comm->pid);
}

/* ---- copies for the consumer ---------------------------------------------------------------------------------- */

int syncread_copies_fd(const struct syncread *syncread)
{
	return syncread->shared->copies_fd;
}

void syncread_defer(struct syncread *syncread, uint32_t pid, bool deferred)
{
	uint32_t *place = &syncread->shared->deferred[pid % READERSHARED_DEFERRED];

	if (deferred || __atomic_load_n(place, __ATOMIC_RELAXED) == pid)
		__atomic_store_n(place, deferred ? pid : 0, __ATOMIC_RELAXED);
	/* Pairs with the fence in wake_consumer: either the reader sees the new slot, or the next syncread_take sees
	 * its copy. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Passes to fn the copies of a reader that wait now, and adds their number to *n. Returns false if fn returned false.
 */
static bool take_from(struct readerthread *reader, bool (*fn)(void *to, const struct threadcopy *copy), void *to,
		      size_t *n)
{
	uint64_t end = __atomic_load_n(&reader->copies.head, __ATOMIC_SEQ_CST);
	const struct threadcopy *copy;
	bool more = true;

	for (; more && reader->copies.tail < end && (copy = copyring_oldest(&reader->copies)); ++*n) {
		more = fn(to, copy);
		copyring_drop(&reader->copies);
	}
	return more;
}

size_t syncread_take(struct syncread *syncread, bool (*fn)(void *to, const struct threadcopy *copy), void *to)
{
	eventfd_t value;
	bool more = true;
	size_t n = 0;

	eventfd_read(syncread->shared->copies_fd, &value);
	__atomic_store_n(&syncread->shared->armed, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&syncread->lock);
	for (size_t i = 0; i < syncread->ncpus && more; i++)
		if (syncread->cpu[i].reader)
			more = take_from(syncread->cpu[i].reader, fn, to, &n);
	pthread_mutex_unlock(&syncread->lock);
	return n;
}

/* ---- functions for the main thread ----------------------------------------------------------------------------- */

int syncread_fd(const struct syncread *syncread)
{
	return syncread->epoll;
}

/* Activates a parked CPU to which a registered thread has migrated. */
static void on_arrival(void *to, uint32_t cpu, uint32_t tid)
{
	struct syncread *syncread = to;
	struct reader_cpu *one = reader_cpu_find(syncread, cpu);

	if (one && !one->active && threadtable_find(syncread->shared->threads, tid))
		activate(syncread, one, clock_now());
}

/* Passes the notes of a reader's copies to the certificate. */
static void take_notes(struct syncread *syncread, struct reader_cpu *one)
{
	struct certificate_copy note;
	uint32_t tid = __atomic_load_n(&one->reader->tid, __ATOMIC_ACQUIRE);

	if (tid)
		switchwatch_reader(syncread->watch, syncread->certificate, one->cpu, tid);
	while (copyring_note(&one->reader->copies, &note))
		certificate_add(syncread->certificate, &note);
}

/* Returns true if the reader has been making the same copy for HANG_NS, in at least HANG_LOOKS checks. One long gap
 * between two checks proves nothing: pjrecord itself may have been stopped. */
static bool reader_hangs(struct reader_cpu *one, uint32_t copy, uint64_t now)
{
	if (copy == 0 || copy == READERTHREAD_GIVEN_UP || copy != one->copy) {
		one->copy = copy;
		one->copy_seen = 0;
		one->copy_since = now;
		return false;
	}
	return ++one->copy_seen >= HANG_LOOKS && now - one->copy_since > HANG_NS;
}

/* Gives up a reader that hangs, and avoids the tenant of the process whose memory it reads. Parks a CPU whose reader is
 * broken or has seen no sample of a registered thread for hold_ns. On any other active CPU, requests the records of
 * switches, which a pause may have stopped. */
static void maintain_reader(struct syncread *syncread, struct reader_cpu *one, uint64_t now)
{
	uint32_t copy = __atomic_load_n(&one->reader->reading, __ATOMIC_ACQUIRE);
	uint64_t sampled;

	if (reader_hangs(one, copy, now) && readerthread_give_up(one->reader, copy)) {
		/* the tenant is avoided, because the readers of other CPUs would hang in the same memory */
		threadtable_avoid(syncread->shared->threads, one->reader->reading_tenant, now);
		syncread->counters.hung++;
		park(syncread, one);
		drop_reader(syncread, one);
		one->retry_at = now + RETRY_NS;
		return;
	}
	if (!one->active)
		return;
	sampled = __atomic_load_n(&one->reader->sampled, __ATOMIC_ACQUIRE);
	if (sampled < one->active_since)
		sampled = one->active_since;
	if (__atomic_load_n(&one->reader->broken, __ATOMIC_ACQUIRE) ||
	    (sampled < now && now - sampled > syncread->o.hold_ns))
		park(syncread, one);
	else
		set_watch(syncread, one, true);
}

static uint32_t count_readers(const struct syncread *syncread)
{
	uint32_t n = 0;

	for (size_t i = 0; i < syncread->ncpus; i++)
		n += syncread->cpu[i].reader != NULL;
	return n;
}

static void free_unused(struct syncread *syncread)
{
	struct threadtable_epoch **epoch = mem_alloc(sizeof(struct threadtable_epoch *), syncread->ncpus + 1);
	size_t n = 0;

	for (size_t i = 0; i < syncread->ncpus; i++)
		if (syncread->cpu[i].reader)
			epoch[n++] = &syncread->cpu[i].reader->epoch;
	for (size_t i = 0; i < syncread->nabandoned; i++)
		if (__atomic_load_n(&syncread->abandoned[i]->reading, __ATOMIC_ACQUIRE) != READERTHREAD_GIVEN_UP)
			epoch[n++] = &syncread->abandoned[i]->epoch;
	threadtable_free_unused(syncread->shared->threads, epoch, n);
	free(epoch);
}

static bool all_parked(const struct syncread *syncread)
{
	for (size_t i = 0; i < syncread->ncpus; i++)
		if (syncread->cpu[i].active)
			return false;
	return true;
}

void syncread_settle(struct syncread *syncread)
{
	uint64_t now;
	eventfd_t value;

	if (!syncread->started)
		return;
	now = clock_now();
	eventfd_read(syncread->shared->rings_fd, &value);
	follow_cpus(syncread);
	for (size_t i = 0; i < syncread->ncpus; i++)
		if (syncread->cpu[i].reader)
			take_notes(syncread, syncread->cpu + i);
	switchwatch_take(syncread->watch, syncread->certificate, now, on_arrival, syncread);
	for (size_t i = 0; i < syncread->ncpus; i++)
		if (syncread->cpu[i].reader)
			maintain_reader(syncread, syncread->cpu + i, now);
	syncread->counters.blocked +=
		threadtable_remove_blockers(syncread->shared->threads, now, count_readers(syncread));
	release_ended(syncread);
	free_unused(syncread);
	if (!threadtable_processes(syncread->shared->threads) && all_parked(syncread))
		switchwatch_close_all(syncread->watch, syncread->certificate);
	if (now - syncread->expired_at > VERDICTS_NS / 2) {
		syncread->expired_at = now;
		certificate_expire(syncread->certificate, now - VERDICTS_NS);
	}
}

/* Returns true if the thread left the CPU with the user registers of the sample; false if they differ or are
 * unknown. */
static bool has_stayed(const struct syncread_sample *sample, const struct certificate_result *result)
{
	const struct processor *processor = processor_here();
	struct userregs registers;

	if (!processor || !sample->nregisters)
		return false;
	registers = userregs_of(processor, sample->registers, sample->nregisters);
	return userregs_same(&registers, &result->registers, sample->in_kernel);
}

enum syncread_verdict syncread_verdict(struct syncread *syncread, const struct syncread_sample *sample)
{
	const struct threadtable_entry *entry;
	struct certificate_result result;
	enum syncread_verdict verdict;
	struct reader_cpu *one;

	if (!syncread->started)
		return SYNCREAD_NO_COPY;
	entry = threadtable_find(syncread->shared->threads, sample->tid);
	result = certificate_take(syncread->certificate, sample->tid, sample->time);
	verdict = result.verdict;
	if (verdict != SYNCREAD_NO_COPY && verdict != SYNCREAD_LATE && (!entry || entry->serial != result.serial))
		verdict = SYNCREAD_RENEWED;
	if ((verdict == SYNCREAD_CERTIFIED || verdict == SYNCREAD_WEAK) && !has_stayed(sample, &result))
		verdict = SYNCREAD_CONTINUED;
	if (entry && (one = reader_cpu_find(syncread, sample->cpu)) && !one->active)
		activate(syncread, one, clock_now());
	if (entry || verdict != SYNCREAD_NO_COPY)
		syncread->counters.verdicts[verdict]++;
	return verdict;
}

struct syncread_counters syncread_counters(const struct syncread *syncread)
{
	struct syncread_counters sum = syncread->counters;

	for (size_t i = 0; i < syncread->ncpus; i++) {
		const struct reader_cpu *one = syncread->cpu + i;

		if (!one->reader)
			continue;
		add_counters(&sum, one->reader);
		sum.readers++;
		sum.active += one->active;
		sum.readers_of[__atomic_load_n(&one->reader->class, __ATOMIC_ACQUIRE)]++;
	}
	for (size_t i = 0; i < syncread->nabandoned; i++)
		sum.abandoned += !readerthread_has_ended(syncread->abandoned[i]);
	sum.switches = switchwatch_records(syncread->watch);
	sum.pauses = switchwatch_pauses(syncread->watch);
	sum.processes = threadtable_processes(syncread->shared->threads);
	sum.threads = threadtable_threads(syncread->shared->threads);
	return sum;
}

/* Waits until all readers have ended, for END_NS at most. */
static void wait_for_end(struct syncread *syncread)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t until = clock_now() + END_NS;

	for (release_ended(syncread); syncread->nabandoned && clock_now() < until; release_ended(syncread))
		nanosleep(&moment, NULL);
}

void syncread_free(struct syncread *syncread)
{
	if (!syncread)
		return;
	for (size_t i = 0; i < syncread->ncpus; i++) {
		park(syncread, syncread->cpu + i);
		drop_reader(syncread, syncread->cpu + i);
	}
	wait_for_end(syncread);
	for (size_t i = 0; i < syncread->nabandoned; i++)
		readerthread_release(syncread->abandoned[i]);
	readershared_release(syncread->shared);
	switchwatch_free(syncread->watch);
	certificate_free(syncread->certificate);
	close(syncread->epoll);
	free(syncread->abandoned);
	free(syncread->cpu);
	pthread_mutex_destroy(&syncread->lock);
	free(syncread);
}
