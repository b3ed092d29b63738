/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/interpthread.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/debug.h"
#include "common/process/threads.h"
#include "record/interpreters/innerthreads.h"
#include "record/java/jvmopen.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Maximum number of orders in the queue. interpthread_order refuses further ones, and the main thread repeats them
 * later. */
enum { ORDERS_MAX = 4096 };

/* Maximum number of copies of frames of threads off the CPU that this thread takes before it checks for orders
 * again. */
enum { WAITS_MAX = 64 };

/* Time in ms after which the thread takes the reply to the last copy, if no other copy comes before. */
enum { REPLY_MS = 20 };

/* Time in ns between two polls for deferred copies. The main thread reads a sample at least 100 ms after the sample's
 * time, or calls interpthread_flush first. */
#define DEFERRED_NS UINT64_C(60000000)

/* Maximum time in ms for which interpthread_flush waits. */
enum { FLUSH_MS = 100 };

/* Copies of a process are deferred once KNOWN_MIN copies in a row, over at least KNOWN_NS (ns), had no new code. New
 * code in a process with deferred copies costs the names of its samples up to the next poll (DEFERRED_NS). That happens
 * at most once in KNOWN_NS. */
enum { KNOWN_MIN = 64 };
#define KNOWN_NS (SECOND_NS * 5 / 2)

/* A process that the main thread ordered to open. */
struct interp_process {
	struct interpclient_process client;
	uint64_t start;
	uint64_t helper; /* serial number of the helper in which the process is open; 0: none */
	uint32_t pid;
	/* known: number of copies in a row whose code had been read before the sample, at most KNOWN_MIN; known_since:
	 * time in ns of the first of these copies. */
	uint32_t known;
	uint64_t known_since;
	/* True while copies of the process may be deferred: the language is deferrable, and no copy had code that
	 * replaced other code at its address, or code whose source is a string. With such code, the original code may
	 * be back at the address before a deferred copy is read, so that the change is not noticed. Once false, this
	 * member remains false. */
	bool deferrable;
	bool deferred;
};

struct interpthread {
	struct interpclient *client;
	struct syncread *copies;
	struct waitframes *waits; /* NULL: there are no copies of threads off the CPU */
	struct threadcopy *wait;  /* buffer for a copy from `waits`; NULL if waits is NULL */
	struct framestore *store;
	pthread_t thread;
	bool running, all;
	_Atomic bool stop;
	int orders_fd, news_fd, flushed_fd;
	pthread_mutex_t lock; /* protects the members from `flush` to `last` */
	bool flush;           /* true: the main thread waits in interpthread_flush */
	struct interpthread_order order[ORDERS_MAX];
	size_t norders;
	struct interpthread_news *first, **last;
	/* Members below: used by the thread alone. */
	bool sent;      /* true: copies were sent, and the reply to them was not processed yet */
	size_t waiting; /* number of copies added to the next request */
	/* true: one of the waiting copies is of a thread off the CPU, or of a process whose copies are not deferred */
	bool urgent;
	size_t ndeferred; /* number of processes whose copies are deferred */
	/* true: the deferral of a process has ended; some of its copies may wait without having woken this thread */
	bool undeferred;
	uint64_t looked; /* time in ns at which the thread last took copies of the synchronous reader */
	struct interpclient_frames frames[INTERP_COPIES];
	struct interp_process *slot[INTERP_SLOTS];
	struct interpthread_order taken[ORDERS_MAX];
};

static void interpthread_signal(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0) {
		/* the counter has its maximum, so the descriptor is readable */
	}
}

static void interpthread_clear(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) < 0) {
		/* the descriptor was not readable */
	}
}

/* ---- news for the main thread ----------------------------------------------------------------------------------- */

static struct interpthread_news *interpthread_news_new(const struct interp_process *process, bool opened)
{
	struct interpthread_news *news = mem_alloc(sizeof(*news), 1);

	news->number = process->client.number;
	news->pid = process->pid;
	news->opened = opened;
	news->memory = -1;
	news->since = clock_now();
	return news;
}

static void interpthread_post(struct interpthread *thread, struct interpthread_news *news)
{
	pthread_mutex_lock(&thread->lock);
	*thread->last = news;
	thread->last = &news->next;
	pthread_mutex_unlock(&thread->lock);
	interpthread_signal(thread->news_fd);
}

void interpthread_news_free(struct interpthread_news *news)
{
	if (!news)
		return;
	if (news->memory >= 0)
		close(news->memory);
	free(news->thread);
	free(news);
}

struct interpthread_news *interpthread_take(struct interpthread *thread)
{
	struct interpthread_news *news;

	pthread_mutex_lock(&thread->lock);
	news = thread->first;
	if (news)
		thread->first = news->next;
	if (!thread->first) {
		thread->last = &thread->first;
		interpthread_clear(thread->news_fd);
	}
	pthread_mutex_unlock(&thread->lock);
	return news;
}

int interpthread_fd(const struct interpthread *thread)
{
	return thread->news_fd;
}

/* ---- opening of processes --------------------------------------------------------------------------------------- */

static struct interp_process *interpthread_find(const struct interpthread *thread, uint64_t number, uint32_t pid)
{
	for (size_t i = 0; i < INTERP_SLOTS; i++)
		if (thread->slot[i] &&
		    (number ? thread->slot[i]->client.number == number : thread->slot[i]->pid == pid))
			return thread->slot[i];
	return NULL;
}

/* Starts or ends the deferring of a process's copies. */
static void interpthread_defer(struct interpthread *thread, struct interp_process *process, bool deferred)
{
	if (process->deferred == deferred)
		return;
	process->deferred = deferred;
	thread->ndeferred += deferred ? 1 : (size_t)-1;
	thread->undeferred |= !deferred;
	syncread_defer(thread->copies, process->pid, deferred);
}

static void interpthread_close(struct interpthread *thread, struct interp_process *process)
{
	interpthread_defer(thread, process, false);
	if (process->helper && process->helper == interpclient_helper(thread->client))
		interpclient_close(thread->client, &process->client);
	thread->slot[process->client.slot] = NULL;
	free(process);
}

/* Translates the thread ids in *news to ids as in the kernel's records, and charges the CPU time to the tenant. folder:
 * descriptor of /proc/PID. */
static void interpthread_translate(struct interpthread *thread, const struct interp_process *process, int folder,
				   struct interpthread_news *news)
{
	uint64_t begin = clock_thread_cpu();

	news->n = innerthreads_translate(folder, news->thread, news->n);
	interpclient_spend(thread->client, &process->client, clock_thread_cpu() - begin);
}

/* Sets the reason for which the files of a process could not be opened. Without `all`, the reason names the remedy for
 * a daemon that changed its user. */
static void interpthread_refuse(const struct interpthread *thread, const struct hotspot_reason *why,
				struct interpthread_news *news)
{
	news->result.answer = INTERPRETER_REFUSED;
	news->is_private = !thread->all && str_eq(str_of(why->code), STR(HOTSPOT_NOT_DUMPABLE));
	snprintf(news->result.why, sizeof(news->result.why), "%s",
		 news->is_private ? "its own user may not read it; if it changed its user, --interpreters=all, as "
				    "root, shows its functions (to all who may read the result)" :
				    why->why);
}

/* Opens the memory and mappings of a process, and lets the helper open the process. Fills *news. Returns true if the
 * process is open. */
static bool interpthread_open_files(struct interpthread *thread, struct interp_process *process,
				    struct interpthread_news *news)
{
	struct hotspot_reason why;
	struct jvmopen *files;
	char path[64];
	int folder;

	snprintf(path, sizeof(path), "/proc/%u", process->pid);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	process->client.tenant = tenant_of(folder);
	files = jvmopen_files(folder, process->start, thread->all ? taskid_reader() : TASKID_FOR_USER, &why);
	if (files) {
		int fd[INTERP_FDS] = { files->fd[JVM_FD_MEM], files->fd[JVM_FD_MAPS] };
		enum interpclient_answer answer =
			interpclient_open(thread->client, &process->client, fd, &news->result, &news->thread, &news->n);

		if (answer == INTERPCLIENT_DONE && news->result.answer == INTERPRETER_OPEN &&
		    taskid_is(files->process, &files->id)) {
			const struct interpreter *interpreter = interpreter_of_language(news->result.language);

			news->memory = fcntl(fd[INTERP_FD_MEM], F_DUPFD_CLOEXEC, 0);
			process->deferrable = interpreter && interpreter->deferrable;
			interpthread_translate(thread, process, folder, news);
		} else if (answer != INTERPCLIENT_DONE) {
			/* the helper failed, or the tenant is over budget: the main thread tries again */
			news->result.answer = INTERPRETER_EARLY;
		}
		jvmopen_free(files);
	} else {
		interpthread_refuse(thread, &why, news);
	}
	close(folder);
	return news->memory >= 0;
}

static void interpthread_open(struct interpthread *thread, struct interp_process *process)
{
	struct interpthread_news *news = interpthread_news_new(process, true);

	news->failed = !interpthread_open_files(thread, process, news);
	news->tenant = process->client.tenant;
	process->helper = news->failed ? 0 : interpclient_helper(thread->client);
	if (news->failed)
		interpthread_close(thread, process);
	interpthread_post(thread, news);
}

/* Closes a process that is not open in the present helper, because the helper was restarted. Sets news->failed, so that
 * the main thread opens the process again. */
static void interpthread_lose(struct interpthread *thread, struct interp_process *process,
			      struct interpthread_news *news)
{
	news->failed = true;
	news->result.answer = INTERPRETER_EARLY;
	interpthread_close(thread, process);
}

static void interpthread_list(struct interpthread *thread, struct interp_process *process)
{
	struct interpthread_news *news = interpthread_news_new(process, false);
	enum interpclient_answer answer = INTERPCLIENT_LOST;
	char path[64];
	int folder;

	if (process->helper == interpclient_helper(thread->client))
		answer = interpclient_threads(thread->client, &process->client, &news->thread, &news->n);
	if (answer == INTERPCLIENT_LOST) {
		interpthread_lose(thread, process, news);
	} else if (news->n) {
		snprintf(path, sizeof(path), "/proc/%u", process->pid);
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		interpthread_translate(thread, process, folder, news);
		if (folder >= 0)
			close(folder);
	}
	interpthread_post(thread, news);
}

static void interpthread_add(struct interpthread *thread, const struct interpthread_order *order)
{
	struct interp_process *process = mem_alloc(sizeof(*process), 1);
	uint32_t slot = 0;

	*process = (struct interp_process){ .client = { .number = order->number },
					    .start = order->start,
					    .pid = order->pid };
	while (slot < INTERP_SLOTS && thread->slot[slot])
		slot++;
	if (slot == INTERP_SLOTS) {
		struct interpthread_news *news = interpthread_news_new(process, true);

		news->failed = true;
		news->result.answer = INTERPRETER_REFUSED;
		snprintf(news->result.why, sizeof(news->result.why), "too many processes");
		free(process);
		interpthread_post(thread, news);
		return;
	}
	process->client.slot = slot;
	thread->slot[slot] = process;
	interpthread_open(thread, process);
}

/* ---- orders and copies ------------------------------------------------------------------------------------------ */

bool interpthread_order(struct interpthread *thread, const struct interpthread_order *order)
{
	bool taken;

	pthread_mutex_lock(&thread->lock);
	taken = thread->norders < ORDERS_MAX;
	if (taken)
		thread->order[thread->norders++] = *order;
	pthread_mutex_unlock(&thread->lock);
	interpthread_signal(thread->orders_fd);
	return taken;
}

static void interpthread_obey(struct interpthread *thread, const struct interpthread_order *order)
{
	struct interp_process *process = interpthread_find(thread, order->number, 0);

	if (order->what == INTERPTHREAD_OPEN && !process)
		interpthread_add(thread, order);
	else if (order->what == INTERPTHREAD_THREADS && process)
		interpthread_list(thread, process);
	else if (order->what == INTERPTHREAD_CLOSE && process)
		interpthread_close(thread, process);
}

/* Closes and frees a process that is no longer open in the helper, and sends the main thread the news, so that it opens
 * the process again. */
static void interpthread_lost(struct interpthread *thread, struct interp_process *process)
{
	struct interpthread_news *news = interpthread_news_new(process, false);

	interpthread_lose(thread, process, news);
	interpthread_post(thread, news);
}

/* Stores the frames of one copy. Updates the number of copies in a row without new code, and starts or ends the
 * deferral of the process's copies. */
static void interpthread_take_frames(struct interpthread *thread, struct interpclient_frames *frames)
{
	struct interp_process *process = interpthread_find(thread, frames->process, 0);
	uint64_t now = clock_now();

	if (frames->list)
		framestore_put(thread->store, frames->list, process ? process->client.tenant : (struct tenant){ 0 });
	if (!process)
		return;
	if (frames->lost) {
		interpthread_lost(thread, process);
		return;
	}
	/* does not count this copy: repeated sleeps in the same code do not prove that the process runs no new code */
	if (frames->off_cpu && frames->known)
		return;
	if (frames->reuses)
		process->deferrable = false;
	if (!frames->known)
		process->known = 0;
	else if (process->known++ == 0)
		process->known_since = now;
	else if (process->known > KNOWN_MIN)
		process->known = KNOWN_MIN;
	interpthread_defer(thread, process,
			   process->deferrable && process->known == KNOWN_MIN &&
				   now - process->known_since >= KNOWN_NS);
}

/* Waits for the reply to the last request, unless it was processed already, and stores the frames. To be called at the
 * next wakeup of the thread, when the reply has usually arrived: waiting for it right after the request would cost one
 * more wakeup. */
static void interpthread_collect(struct interpthread *thread)
{
	size_t n;

	if (!thread->sent)
		return;
	thread->sent = false;
	n = interpclient_take_frames(thread->client, thread->frames);
	for (size_t i = 0; i < n; i++)
		interpthread_take_frames(thread, &thread->frames[i]);
}

/* Sends the waiting copies. If all of them are of processes with deferred copies, waits for the reply at once, because
 * these copies are old already. */
static void interpthread_send(struct interpthread *thread)
{
	bool urgent = thread->urgent;

	if (!thread->waiting)
		return;
	thread->waiting = 0;
	thread->urgent = false;
	thread->sent = interpclient_send_copies(thread->client) == INTERPCLIENT_DONE;
	if (!urgent)
		interpthread_collect(thread);
}

/* For a copy of a thread off the CPU whose frames cannot be found: stores an empty list (INTERPRETER_LATE), so that the
 * main thread does not wait for the frames. */
static void interpthread_store_late(struct interpthread *thread, const struct threadcopy *copy)
{
	struct framelist *list = framelist_new(0, 0);

	if (!list)
		return;
	/* an empty list needs no share of a tenant */
	list->pid = copy->pid;
	list->tid = copy->tid;
	list->time = copy->time;
	list->root = copy->root;
	list->read_by = copy->read_by;
	list->end = INTERPRETER_LATE;
	framestore_put(thread->store, list, (struct tenant){ 0 });
}

/* Lets the helper find the frames of a copy. Deferred copies wait to be sent in one request, together with the first
 * copy that is not deferred. A copy of a thread off the CPU is sent at once, because the thread may run again. Returns
 * false if the thread must end. */
static bool interpthread_name(void *to, const struct threadcopy *copy)
{
	struct interpthread *thread = to;
	struct interp_process *process;
	bool urgent;

	interpthread_collect(thread);
	process = interpthread_find(thread, 0, copy->pid);
	if (!process)
		return !thread->stop;
	if (process->helper != interpclient_helper(thread->client)) {
		interpthread_lost(thread, process);
		return !thread->stop;
	}
	urgent = copy->off_cpu || !process->deferred;
	if (!interpclient_add_copy(thread->client, &process->client, copy, urgent)) {
		interpthread_send(thread);
		interpthread_collect(thread);
		process = interpthread_find(thread, 0, copy->pid);
		urgent = copy->off_cpu || (process && !process->deferred);
		if (!process || !interpclient_add_copy(thread->client, &process->client, copy, urgent))
			return !thread->stop;
	}
	thread->waiting++;
	thread->urgent |= urgent;
	if (urgent)
		interpthread_send(thread);
	if (copy->off_cpu && !thread->sent)
		interpthread_store_late(thread, copy);
	debug(DEBUG_UNWIND, "thread %u: its copy is sent %" PRIu64 " us after the sample", copy->tid,
	      (clock_now() - copy->time) / 1000);
	return !thread->stop;
}

/* Takes all waiting copies of the synchronous reader and returns their number. If the deferral of a process ended
 * meanwhile, takes copies again: some may have arrived without waking this thread. */
static size_t interpthread_take_copies(struct interpthread *thread)
{
	size_t n = 0;

	thread->looked = clock_now();
	do {
		thread->undeferred = false;
		n += syncread_take(thread->copies, interpthread_name, thread);
		interpthread_send(thread);
	} while (thread->undeferred && !thread->stop);
	return n;
}

/* Ends the deferral of all processes, because no copies have come lately: the next copy then wakes this thread
 * again. */
static void interpthread_rest(struct interpthread *thread)
{
	for (size_t i = 0; i < INTERP_SLOTS && thread->ndeferred; i++)
		if (thread->slot[i])
			interpthread_defer(thread, thread->slot[i], false);
	interpthread_take_copies(thread);
}

/* Returns true if the thread must take copies of the synchronous reader now: no process is deferred, deferred copies
 * are due, or a copy that is not deferred waits. */
static bool interpthread_is_due(const struct interpthread *thread)
{
	struct pollfd polled = { .fd = syncread_copies_fd(thread->copies), .events = POLLIN };

	return !thread->ndeferred || clock_now() - thread->looked >= DEFERRED_NS || poll(&polled, 1, 0) > 0;
}

/* Takes the copies of threads off the CPU. Copies of the synchronous reader come first: most sleeps last longer than
 * the time until a sampled thread runs on. */
static void interpthread_take_waits(struct interpthread *thread)
{
	for (unsigned i = 0; i < WAITS_MAX && !thread->stop && waitframes_take(thread->waits, thread->wait); i++) {
		interpthread_name(thread, thread->wait);
		if (interpthread_is_due(thread))
			interpthread_take_copies(thread);
	}
}

/* Performs the waiting orders one by one, and takes copies before and after each of them, as copies are urgent. */
static void interpthread_work(struct interpthread *thread)
{
	size_t n, copies = 0;
	bool flush, due;

	interpthread_clear(thread->orders_fd);
	interpthread_collect(thread);
	pthread_mutex_lock(&thread->lock);
	n = thread->norders;
	memcpy(thread->taken, thread->order, n * sizeof(*thread->taken));
	thread->norders = 0;
	flush = thread->flush;
	thread->flush = false;
	pthread_mutex_unlock(&thread->lock);
	/* copies of threads off the CPU do not end the deferral of a process */
	due = n || flush || interpthread_is_due(thread);
	if (due)
		copies = interpthread_take_copies(thread);
	if (thread->waits)
		interpthread_take_waits(thread);
	for (size_t i = 0; i < n && !thread->stop; i++) {
		interpthread_collect(thread);
		interpthread_obey(thread, &thread->taken[i]);
		copies += interpthread_take_copies(thread);
	}
	if (due && thread->ndeferred && !copies && !n)
		interpthread_rest(thread);
	if (flush) {
		interpthread_collect(thread);
		if (thread->undeferred)
			interpthread_take_copies(thread);
		interpthread_collect(thread);
		interpthread_signal(thread->flushed_fd);
	}
}

/* Returns the time in ms until deferred copies must be taken. */
static int interpthread_deferred_ms(const struct interpthread *thread)
{
	uint64_t since = clock_now() - thread->looked;

	return since < DEFERRED_NS ? (int)((DEFERRED_NS - since) / 1000000) + 1 : 0;
}

/* Waits for orders and copies: at most REPLY_MS if a reply is outstanding; otherwise, if copies of a process are
 * deferred, until they must be taken. */
static void interpthread_wait(struct interpthread *thread)
{
	struct pollfd polled[] = { { .fd = thread->orders_fd, .events = POLLIN },
				   { .fd = syncread_copies_fd(thread->copies), .events = POLLIN },
				   { .fd = waitframes_fd(thread->waits), .events = POLLIN } };
	int wait_ms = -1;

	if (thread->sent)
		wait_ms = REPLY_MS;
	else if (thread->ndeferred)
		wait_ms = interpthread_deferred_ms(thread);
	poll(polled, countof(polled), wait_ms);
}

static void *interpthread_run(void *to)
{
	struct interpthread *thread = to;

	while (!thread->stop) {
		interpthread_wait(thread);
		interpthread_work(thread);
	}
	return NULL;
}

/* ---- creation and release --------------------------------------------------------------------------------------- */

struct interpthread *interpthread_new(bool all, const struct interpstarter *starter)
{
	struct interpthread *thread = mem_alloc(sizeof(*thread), 1);

	thread->all = all;
	pthread_mutex_init(&thread->lock, NULL);
	thread->last = &thread->first;
	thread->orders_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	thread->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	thread->flushed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	thread->client = interpclient_new(starter);
	return thread;
}

bool interpthread_start(struct interpthread *thread, struct syncread *copies, struct waitframes *waits,
			struct framestore *store)
{
	thread->copies = copies;
	thread->waits = waits;
	thread->wait = waits ? mem_alloc(1, sizeof(*thread->wait) + WAITFRAMES_BYTES) : NULL;
	thread->store = store;
	thread->running = thread->orders_fd >= 0 && thread->news_fd >= 0 && thread->flushed_fd >= 0 &&
			  threads_start(&thread->thread, 0, interpthread_run, thread) == 0;
	return thread->running;
}

void interpthread_free(struct interpthread *thread)
{
	struct interpthread_news *news;

	if (!thread)
		return;
	thread->stop = true;
	if (thread->running) {
		interpthread_signal(thread->orders_fd);
		pthread_join(thread->thread, NULL);
	}
	for (size_t i = 0; i < INTERP_SLOTS; i++)
		free(thread->slot[i]);
	while ((news = interpthread_take(thread)))
		interpthread_news_free(news);
	interpclient_free(thread->client);
	free(thread->wait);
	if (thread->orders_fd >= 0)
		close(thread->orders_fd);
	if (thread->news_fd >= 0)
		close(thread->news_fd);
	if (thread->flushed_fd >= 0)
		close(thread->flushed_fd);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

void interpthread_flush(struct interpthread *thread)
{
	struct pollfd polled = { .fd = thread->flushed_fd, .events = POLLIN };

	if (!thread->running)
		return;
	interpthread_clear(thread->flushed_fd);
	pthread_mutex_lock(&thread->lock);
	thread->flush = true;
	pthread_mutex_unlock(&thread->lock);
	interpthread_signal(thread->orders_fd);
	poll(&polled, 1, FLUSH_MS);
}

struct helper_counts interpthread_count(const struct interpthread *thread)
{
	return interpclient_count(thread->client);
}
