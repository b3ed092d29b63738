/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/readerthread.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/formats/perfrecord.h"
#include "common/process/threads.h"
#include "common/process/urgency.h"
#include "record/perf/rings.h"
#include "record/perf/samplerecord.h"
#include "unwind/dwarf/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)128 << 10)

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)
/* Adds to a counter that only one thread writes. */
#define add(p, value) __atomic_store_n((p), *(p) + (value), __ATOMIC_RELAXED)

static __thread struct readerthread *self;

/* ---- scheduling policy ---------------------------------------------------------------------------------------- */

/* Sets the scheduling policy of this thread. Returns false if the kernel refuses. Uses the raw system call because
 * musl's sched_setscheduler() always fails with ENOSYS. */
static bool set_policy(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return syscall(SYS_sched_setscheduler, 0, policy | SCHED_RESET_ON_FORK, &param) == 0;
}

/* Signal handler of the timer of CPU time: the last bound of a real-time thread. Runs after each READERTHREAD_BOUND_NS
 * of CPU time of a reader thread. If the thread has not slept since the handler's last run, moves it to SCHED_OTHER. */
static void on_bound(int number)
{
	struct readerthread *reader = self;
	int error = errno;
	uint64_t wake = reader ? load(&reader->counters.wakes) : 0;

	(void)number;
	if (reader && load(&reader->busy_since) && reader->checked == wake && reader->class == SYNCREAD_FIFO) {
		set_policy(SCHED_OTHER, 0);
		store(&reader->class, SYNCREAD_NORMAL);
		add(&reader->counters.demoted, 1);
		store(&reader->demoted_at, clock_now());
	}
	if (reader)
		reader->checked = wake;
	errno = error;
}

static bool set_bound(timer_t *timer)
{
	const struct itimerspec each = { .it_interval = { .tv_nsec = READERTHREAD_BOUND_NS },
					 .it_value = { .tv_nsec = READERTHREAD_BOUND_NS } };
	struct sigaction action = { .sa_handler = on_bound, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 7 };
	sigset_t set;

#ifdef sigev_notify_thread_id
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
#else
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
#endif
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 7);
	return sigaction(SIGRTMIN + 7, &action, NULL) == 0 && pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 &&
	       timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer) == 0 && timer_settime(*timer, 0, &each, NULL) == 0;
}

/* Sets the scheduling policy of this thread to the first one from shared->best on that the kernel allows, and returns
 * it. Without the timer of CPU time a thread never gets a real-time policy. */
static enum syncread_class set_class(struct readerthread *reader)
{
	enum syncread_class best = reader->shared->best;

	if (best == SYNCREAD_FIFO && (reader->bounded = set_bound(&reader->bound)) && set_policy(SCHED_FIFO, 1))
		return SYNCREAD_FIFO;
	if (best <= SYNCREAD_URGENT) {
		urgency_raise();
		if (getpriority(PRIO_PROCESS, 0) <= URGENCY_NOW)
			return SYNCREAD_URGENT;
	}
	if (best == SYNCREAD_NORMAL)
		setpriority(PRIO_PROCESS, 0, URGENCY_USUAL);
	return SYNCREAD_NORMAL;
}

/* Restores SCHED_FIFO for a thread that on_bound demoted, after a pause that doubles each time. The thread may have
 * been demoted without fault: for instance, the hypervisor did not run the virtual CPU for some ms. So a demotion an
 * hour after the last one counts as the first. */
static void regain_class(struct readerthread *reader)
{
	uint64_t demoted_at = load(&reader->demoted_at), now = clock_now();

	if (!demoted_at)
		return;
	if (reader->regained_at && demoted_at > reader->regained_at + READERTHREAD_FORGET_NS)
		reader->regained = 0;
	if (now - demoted_at < READERTHREAD_DEMOTED_NS << (reader->regained < 6 ? reader->regained : 6))
		return;
	reader->regained++;
	reader->regained_at = now;
	if (!set_policy(SCHED_FIFO, 1)) {
		store(&reader->demoted_at, clock_now());
		return;
	}
	store(&reader->demoted_at, 0);
	store(&reader->class, SYNCREAD_FIFO);
}

static bool pin(uint32_t cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	bool pinned;

	if (!set)
		return false;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	pinned = sched_setaffinity(0, bytes, set) == 0;
	CPU_FREE(set);
	return pinned;
}

/* ---- ring for samples ---------------------------------------------------------------------------------------------
 */

struct found {
	uint64_t at, time;
	uint32_t pid, tid;
};

static uint64_t ring_word(const struct readerthread *reader, uint64_t at)
{
	uint64_t word;

	memcpy(&word, reader->data + (at & (reader->size - 1) & ~UINT64_C(7)), sizeof(word));
	return word;
}

/* Sets *newest to the sample at position `at` of the ring, unless it is a sample of this reader thread or of the idle
 * thread. Counts the earlier *newest as missed if its thread is registered. */
static void look_at_sample(struct readerthread *reader, uint64_t at, struct found *newest)
{
	uint64_t ids = ring_word(reader, at + offsetof(struct ring_sample, pid));
	struct found found = { .at = at,
			       .time = ring_word(reader, at + offsetof(struct ring_sample, time)),
			       .pid = (uint32_t)ids,
			       .tid = (uint32_t)(ids >> 32) };

	if (found.tid == reader->tid || found.tid == 0)
		return;
	if (newest->tid && threadtable_find(reader->shared->threads, newest->tid)) {
		add(&reader->counters.samples, 1);
		add(&reader->counters.missed, 1);
	}
	*newest = found;
}

/* Wakes the main thread when the ring becomes more than half full, because the main thread does not poll this ring. */
static void check_level(struct readerthread *reader, uint64_t used)
{
	bool full = used > reader->size / 2;

	if (full && !reader->full && eventfd_write(reader->shared->rings_fd, 1) != 0)
		return;
	reader->full = full;
}

/* Moves the cursor to the end of the ring and sets *newest to the newest sample since the last call. Returns false if
 * there is no new sample, if the kernel may have overwritten it, or if the ring has more than READERTHREAD_RECORDS new
 * records (overrun). */
static bool look(struct readerthread *reader, struct found *newest)
{
	uint64_t head = load(&reader->page->data_head), tail = load(&reader->page->data_tail);
	unsigned n = 0;

	*newest = (struct found){ 0 };
	if (reader->cursor < tail)
		reader->cursor = tail;
	for (; reader->cursor < head; n++) {
		uint64_t word = ring_word(reader, reader->cursor), size = word >> 48;

		if (n >= READERTHREAD_RECORDS || size < sizeof(struct perf_record) || size % 8 ||
		    size > head - reader->cursor) {
			add(&reader->counters.overrun, 1);
			reader->cursor = head;
			newest->tid = 0;
			break;
		}
		if ((uint32_t)word == RECORD_SAMPLE && size >= sizeof(struct ring_sample))
			look_at_sample(reader, reader->cursor, newest);
		reader->cursor += size;
	}
	check_level(reader, head - load(&reader->page->data_tail));
	/* the kernel may have overwritten a sample that the main thread has consumed */
	return newest->tid && newest->at >= load(&reader->page->data_tail);
}

/* ---- copies of frames ----------------------------------------------------------------------------------------- */

struct memory_of {
	const struct readerthread *reader;
	uint32_t copy; /* id of the copy, equal to reader->reading unless the owner gave the thread up */
	int fd;
};

static size_t read_target(void *to, uint64_t address, void *into, size_t n)
{
	const struct memory_of *memory = to;
	ssize_t got;

	if (load(&memory->reader->end) || load(&memory->reader->reading) != memory->copy)
		return 0; /* the owner gave this thread up, so the descriptor may be closed */
	got = pread(memory->fd, into, n, (off_t)address);
	return got > 0 ? (size_t)got : 0;
}

/* n: number of times that the thread slept or waited. cpu: CPU time of the thread, in ns. */
struct waits {
	long n;
	uint64_t cpu;
};

static struct waits count_waits(void)
{
	struct rusage usage = { .ru_nvcsw = 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return (struct waits){ usage.ru_nvcsw, clock_thread_cpu() };
}

/* Charges the target process, not the reader's budget, for the time that this thread waited for the process's memory
 * during a copy. Counting waits costs some us, so it begins only when one copy of the process took longer than
 * READERTHREAD_SUSPECT_NS: that makes the process suspect. The copy that made the process suspect is charged in full if
 * it took longer than READERTHREAD_SLOW_NS. before: counts at the start of the copy; NULL if the process is not
 * suspect. ns: duration of the copy. */
static void readerthread_charge(struct readerthread *reader, struct threadtable_process *process,
				const struct waits *before, uint64_t ns)
{
	struct waits after;
	uint64_t cpu;

	if (!before) {
		if (ns <= READERTHREAD_SUSPECT_NS)
			return;
		__atomic_store_n(&process->suspect, 1, __ATOMIC_RELAXED);
		reader->blocked += ns; /* the wait is not charged to the budget; the timer still bounds the CPU time */
		if (ns > READERTHREAD_SLOW_NS)
			__atomic_add_fetch(&process->blocked_ns, ns, __ATOMIC_RELAXED);
		return;
	}
	after = count_waits();
	cpu = after.cpu - before->cpu;
	if (after.n == before->n || cpu >= ns)
		return;
	reader->blocked += ns - cpu;
	__atomic_add_fetch(&process->blocked_ns, ns - cpu, __ATOMIC_RELAXED);
}

/* Copies the frames of a thread by the plan of its process. Returns false if the owner has given this reader thread up
 * during the copy. */
static bool follow_plan(struct readerthread *reader, const struct threadtable_entry *entry, struct threadcopy *copy)
{
	struct threadtable_process *process = entry->process;
	struct threadplan plan = process->plan;
	struct memory_of memory = { reader, reader->next, process->memory };
	uint64_t none = 0;
	uint32_t number = reader->next;
	bool suspect = __atomic_load_n(&process->suspect, __ATOMIC_RELAXED);
	struct waits before = suspect ? count_waits() : (struct waits){ 0 };
	bool first;

	copy->root = entry->root;
	copy->begun = clock_now();
	first = __atomic_compare_exchange_n(&process->reading_since, &none, copy->begun, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	reader->next = reader->next == UINT32_MAX ? 2 : reader->next + 1;
	reader->reading_tenant = process->tenant;
	store(&reader->reading, number);
	threadcopy_follow(&plan, read_target, &memory, THREADCOPY_BYTES, copy);
	if (!__atomic_compare_exchange_n(&reader->reading, &number, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		store(&reader->end, 1);
		return false;
	}
	copy->read_by = clock_now();
	readerthread_charge(reader, process, suspect ? &before : NULL, copy->read_by - copy->begun);
	if (first)
		store(&process->reading_since, 0);
	return true;
}

/* Returns the value of a register in a sample, by its CFI slot; 0 if the sample lacks it. */
static uint64_t register_of(const struct samplerecord *record, uint64_t mask, unsigned slot)
{
	const struct processor *processor = processor_here();

	for (unsigned number = 0, k = 0; number < countof(processor->of_perf); number++) {
		if (!(mask & UINT64_C(1) << number))
			continue;
		if (processor->of_perf[number] == slot || (slot == CFI_RA && number == processor->perf_ip))
			return record->regs[k];
		k++;
	}
	return 0;
}

/* Copies the sample's record, and locates the stack copy in it. Returns false if the record has no stack copy, or if
 * the main thread consumed the record during the copy. */
static bool take_sample_record(const struct readerthread *reader, const struct found *found, struct threadcopy *copy)
{
	const struct perf_event_attr *format = &reader->shared->format;
	size_t size = ring_word(reader, found->at) >> 48, from = found->at & (reader->size - 1);
	size_t first = size < reader->size - from ? size : reader->size - from;
	struct samplerecord record;

	/* the word is the record's size only if the main thread has not consumed the record */
	if (size < sizeof(struct ring_sample) || size > reader->size || found->at < load(&reader->page->data_tail))
		return false;
	copy->begun = clock_now();
	memcpy(copy->bytes, reader->data + from, first);
	memcpy(copy->bytes + first, reader->data, size - first);
	if (found->at < load(&reader->page->data_tail) || !format->sample_stack_user || !processor_here() ||
	    !samplerecord_parse(format, (const void *)copy->bytes, &record) || !record.abi || !record.stack.n ||
	    record.stack.n > format->sample_stack_user)
		return false;
	copy->ip = register_of(&record, format->sample_regs_user, CFI_RA);
	copy->bp = register_of(&record, format->sample_regs_user, CFI_RBP);
	copy->root = register_of(&record, format->sample_regs_user, CFI_RSP);
	copy->end = THREADCOPY_COMPLETE;
	copy->nareas = 1;
	copy->nbytes = (uint32_t)size;
	copy->area[0] = (struct threadcopy_area){ .address = copy->root,
						  .n = (uint32_t)record.stack.n,
						  .offset = (uint32_t)(record.stack.p - copy->bytes) };
	copy->read_by = clock_now();
	return true;
}

/* Makes copies_fd readable for a new copy, unless the process is deferred and less than an eighth of the ring of copies
 * is used. The fence pairs with the fence of syncread_defer. */
static void wake_consumer(struct readerthread *reader, uint32_t pid)
{
	struct readershared *shared = reader->shared;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shared->deferred[pid % READERSHARED_DEFERRED], __ATOMIC_RELAXED) == pid &&
	    !copyring_is_filling(&reader->copies))
		return;
	if (__atomic_exchange_n(&shared->armed, 0, __ATOMIC_SEQ_CST))
		eventfd_write(shared->copies_fd, 1);
}

static void copy_stack(struct readerthread *reader, const struct found *found, const struct threadtable_entry *entry)
{
	struct certificate_copy note = { .cpu = reader->cpu,
					 .tid = found->tid,
					 .reader = reader->tid,
					 .class = reader->class,
					 .serial = entry->serial,
					 .waited = reader->waited,
					 .time = found->time };
	struct threadcopy *copy = copyring_begin(&reader->copies);

	if (!copy) {
		add(&reader->counters.ring_full, 1);
		return;
	}
	copy->pid = found->pid;
	copy->tid = found->tid;
	copy->time = found->time;
	if (entry->process->plan.stack ? !take_sample_record(reader, found, copy) : !follow_plan(reader, entry, copy))
		return;
	note.begun = copy->begun;
	note.ended = copy->read_by;
	/* on_bound may have demoted the thread during the copy: the note gets the worse of both policies */
	note.class = reader->class > note.class ? reader->class : note.class;
	copyring_end(&reader->copies, copy, &note);
	add(&reader->counters.copies, 1);
	add(&reader->counters.failed, copy->end == THREADCOPY_FAILED);
	wake_consumer(reader, found->pid);
}

/* Returns true if a reader thread has been reading the process's memory for more than READERTHREAD_SLOW_NS, so that the
 * memory may hang. */
static bool is_slow(const struct threadtable_entry *entry)
{
	uint64_t since = load(&entry->process->reading_since);

	return since && clock_now() - since > READERTHREAD_SLOW_NS;
}

/* Copies the frames of the newest sample's thread, if the thread is registered. */
static void read_sample(struct readerthread *reader, bool within_budget)
{
	const struct threadtable_entry *entry;
	struct found found;

	if (!look(reader, &found))
		return;
	entry = threadtable_find(reader->shared->threads, found.tid);
	if (!entry || entry->process->pid != found.pid)
		return;
	add(&reader->counters.samples, 1);
	store(&reader->sampled, found.time);
	if (!within_budget)
		add(&reader->counters.over_budget, 1);
	else if (entry->process->plan.stack)
		copy_stack(reader, &found,
			   entry); /* a record in the ring does not change, so its copy needs no certificate */
	else if (!load(&reader->watched))
		add(&reader->counters.off, 1);
	else if (found.time <= reader->waited)
		add(&reader->counters.missed, 1);
	else if (is_slow(entry))
		add(&reader->counters.slow, 1);
	else
		copy_stack(reader, &found, entry);
}

/* ---- main loop of the thread ----------------------------------------------------------------------------------- */

/* Reduces reader->spent by the budget for the time since the last call. Returns true if the thread may read at `now`
 * (ns): then at most a fifth of a second's budget is spent. Returns false otherwise. */
static bool reader_has_budget(struct readerthread *reader, uint64_t now)
{
	uint64_t budget = reader->shared->budget_ns, burst = budget / 5, past = now - reader->refilled;
	uint64_t refill = past >= SECOND_NS ? budget : past * budget / SECOND_NS;

	reader->refilled = now;
	reader->spent = reader->spent > refill ? reader->spent - refill : 0;
	return reader->spent <= burst;
}

/* Handles one wakeup: copies the frames of the newest sample's thread, and charges the time of the wakeup to the
 * budget. */
static void work(struct readerthread *reader)
{
	uint64_t begin = clock_now(), ns;
	bool within_budget = reader_has_budget(reader, begin);

	add(&reader->counters.wakes, 1);
	store(&reader->busy_since, begin);
	reader->blocked = 0;
	threadtable_step(&reader->epoch);
	read_sample(reader, within_budget);
	threadtable_step(&reader->epoch);
	ns = clock_now() - begin;
	store(&reader->busy_since, 0);
	reader->spent += ns > reader->blocked ? ns - reader->blocked : 0;
	add(&reader->counters.ns, ns);
	if (ns > reader->counters.longest_ns)
		store(&reader->counters.longest_ns, ns);
	if (!within_budget) {
		const struct timespec nap = { .tv_nsec = READERTHREAD_NAP_NS };

		nanosleep(&nap, NULL);
	}
}

static void clear_control(const struct readerthread *reader)
{
	eventfd_t value;

	eventfd_read(reader->control, &value);
}

/* Waits for a sample if the reader is active, otherwise for a request of its owner, and handles the wakeup. */
static void wait_and_work(struct readerthread *reader, bool *was_active)
{
	struct pollfd poll_of[] = { { .fd = reader->control, .events = POLLIN },
				    { .fd = reader->ring, .events = POLLIN } };
	bool active = load(&reader->active) && !reader->broken;

	if (active && !*was_active)
		reader->cursor = load(&reader->page->data_head);
	*was_active = active;
	regain_class(reader);
	reader->waited = clock_now();
	if (poll(poll_of, active ? 2 : 1, -1) < 0)
		return;
	if (poll_of[0].revents)
		clear_control(reader);
	if (!active)
		return;
	if (poll_of[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		/* a `broken` reader is parked: otherwise each later poll() would return at once */
		store(&reader->broken, 1);
	else if (poll_of[1].revents && load(&reader->active))
		work(reader);
}

static void free_reader(struct readerthread *reader)
{
	munmap((void *)(uintptr_t)reader->page, reader->size + (size_t)(reader->data - (const char *)reader->page));
	copyring_free(&reader->copies);
	close(reader->ring);
	close(reader->control);
	readershared_release(reader->shared);
	free(reader);
}

void readerthread_release(struct readerthread *reader)
{
	if (__atomic_sub_fetch(&reader->users, 1, __ATOMIC_ACQ_REL) == 0)
		free_reader(reader);
}

static void *run(void *arg)
{
	struct readerthread *reader = arg;
	bool was_active = false;

	self = reader;
	prctl(PR_SET_NAME, "pj-syncread");
	if (!pin(reader->cpu))
		store(&reader->broken, 1);
	store(&reader->class, set_class(reader));
	store(&reader->tid, (uint32_t)syscall(SYS_gettid));
	reader->refilled = clock_now();
	while (!load(&reader->end))
		wait_and_work(reader, &was_active);
	if (reader->bounded)
		timer_delete(reader->bound);
	store(&reader->ended, 1);
	self = NULL;
	readerthread_release(reader);
	return NULL;
}

/* ---- functions for the owner thread ---------------------------------------------------------------------------- */

static bool map_ring(struct readerthread *reader, int ring, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p;

	reader->ring = fcntl(ring, F_DUPFD_CLOEXEC, 0);
	reader->control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p = reader->ring < 0 ? MAP_FAILED : mmap(NULL, page + bytes, PROT_READ, MAP_SHARED, reader->ring, 0);
	if (p == MAP_FAILED)
		return false;
	reader->page = (void *)p;
	reader->data = p + page;
	reader->size = bytes;
	return reader->control >= 0 && copyring_init(&reader->copies);
}

struct readerthread *readerthread_start(struct readershared *shared, uint32_t cpu, int ring, size_t bytes)
{
	struct readerthread *reader = mem_alloc(sizeof(*reader), 1);
	int error;

	*reader =
		(struct readerthread){ .shared = shared, .cpu = cpu, .users = 2, .next = 2, .ring = -1, .control = -1 };
	__atomic_add_fetch(&shared->users, 1, __ATOMIC_ACQ_REL);
	if (map_ring(reader, ring, bytes)) {
		error = threads_start(NULL, STACK_BYTES, run, reader);
		if (error == 0)
			return reader;
	} else {
		error = errno;
	}
	if (reader->page)
		munmap((void *)(uintptr_t)reader->page,
		       reader->size + (size_t)(reader->data - (const char *)reader->page));
	copyring_free(&reader->copies);
	if (reader->ring >= 0)
		close(reader->ring);
	if (reader->control >= 0)
		close(reader->control);
	free(reader);
	readershared_release(shared);
	errno = error;
	return NULL;
}

void readerthread_set(struct readerthread *reader, bool active, bool watched)
{
	store(&reader->watched, watched);
	if (load(&reader->active) == active)
		return;
	store(&reader->active, active);
	eventfd_write(reader->control, 1);
}

bool readerthread_give_up(struct readerthread *reader, uint32_t copy)
{
	return __atomic_compare_exchange_n(&reader->reading, &copy, READERTHREAD_GIVEN_UP, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

void readerthread_end(struct readerthread *reader)
{
	store(&reader->end, 1);
	eventfd_write(reader->control, 1);
}

bool readerthread_has_ended(const struct readerthread *reader)
{
	return load(&reader->ended);
}

void readershared_release(struct readershared *shared)
{
	if (__atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	close(shared->copies_fd);
	close(shared->rings_fd);
	threadtable_free(shared->threads);
	free(shared);
}
