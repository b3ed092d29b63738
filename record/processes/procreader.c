/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/procreader.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/processes/procfs.h"
#include "common/process/threads.h"
#include "common/process/timelimit.h"
#include "common/process/urgency.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	QUEUE = 256, /* maximum number of requests in the queue; further ones are refused */
	/* maximum number of answers that wait for procreader_take; with that many, the thread pauses */
	ANSWERS = 64,
	/* maximum number of threads in the answer about one process; further ones are left out (cut) */
	THREADS_MAX = 4096,
	/* maximum number of threads in the answer to a thread scan; further ones are left out (cut) */
	SURVEY_MAX = 1 << 20,
	/* maximum number of bytes that are read from one /proc/PID/maps: 65,530 lines of usual length */
	MAPS_BYTES = 8 << 20,
	/* maximum number of bytes of executable lines of one /proc/PID/maps: MAPPINGS_MAX lines of usual length */
	SAVED_BYTES = 4 << 20,
	CHUNK = 64 << 10,
	STOP_MS = 2 * PROCREADER_STALL_MS /* maximum time that procreader_stop waits for the thread, in ms */
};

struct request {
	uint32_t pid, tid;
};

struct procreader {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct request queue[QUEUE];
	size_t first, n;
	struct procreader_answer *head, **last_link;
	size_t nanswers;
	/* busy: the thread handles a request. stop: the thread must end. ended: the thread has ended. left:
	 * procreader_stop did not wait for the thread, which then frees *procreader when it ends. */
	bool busy, stop, ended, left;
};

/* ---- reading of processes --------------------------------------------------------------------------------------- */

static int open_of(uint32_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static ssize_t procreader_read_start(int fd, char *to, size_t n)
{
	ssize_t got = fd < 0 ? -1 : read(fd, to, n);

	if (fd >= 0)
		close(fd);
	return got;
}

static void read_stat(struct procreader_answer *answer)
{
	char text[1024];
	ssize_t got = procreader_read_start(open_of(answer->pid, "stat"), text, sizeof(text));
	struct str stat = { text, got > 0 ? (size_t)got : 0 };

	answer->start_ticks = procfs_parse_start(stat);
	answer->user_stacks = procfs_has_user_stacks(stat);
}

static void add_thread(struct procreader_answer *answer, uint32_t pid, uint32_t tid, bool named)
{
	struct procreader_thread *thread;
	char path[64];
	ssize_t got;

	if ((answer->nthreads & (answer->nthreads - 1)) == 0)
		answer->thread = mem_grow(answer->thread, sizeof(*thread), answer->nthreads ? 2 * answer->nthreads : 1);
	thread = &answer->thread[answer->nthreads];
	*thread = (struct procreader_thread){ .pid = pid, .tid = tid };
	if (named) {
		snprintf(path, sizeof(path), "task/%u/comm", tid);
		got = procreader_read_start(open_of(pid, path), thread->comm, COMM_MAX - 1);
		if (got <= 0)
			return;
		thread->comm[got - (thread->comm[got - 1] == '\n')] = 0;
	}
	answer->nthreads++;
}

/* Adds the threads of process pid to the answer, until the answer has `max` threads; then sets `cut`. named: true: with
 * their names. */
static void add_threads(struct procreader_answer *answer, uint32_t pid, bool named, size_t max)
{
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		uint64_t tid;

		if (!str_u64(str_of(entry->d_name), &tid))
			continue;
		if (answer->nthreads >= max) {
			answer->cut = true;
			break;
		}
		add_thread(answer, pid, (uint32_t)tid, named);
	}
	if (dir)
		closedir(dir);
}

/* Removes from text, from byte `from` on, the lines of /proc/PID/maps whose mappings are not executable; an incomplete
 * last line stays. Adds the number of remaining complete lines to *lines. Returns the byte position after these lines.
 */
static size_t keep_executable(struct text *text, size_t from, uint32_t *lines)
{
	struct str rest = { text->p + from, text->n - from };
	size_t to = from;

	for (ptrdiff_t end; (end = str_find(rest, '\n')) >= 0; rest = str_from(rest, (size_t)end + 1)) {
		struct mapping mapping = { 0 };
		struct mapped_file file = { 0 };
		size_t n = (size_t)end + 1;

		if (!procfs_parse_map(str_head(rest, (size_t)end), &mapping, &file))
			continue;
		memmove(text->p + to, rest.p, n);
		to += n;
		++*lines;
	}
	memmove(text->p + to, rest.p, rest.n);
	text->n = to + rest.n;
	return to;
}

static void read_maps(struct procreader_answer *answer)
{
	int fd = open_of(answer->pid, "maps");
	size_t from = 0, total = 0;
	uint32_t lines = 0;
	ssize_t got = -1;

	while (fd >= 0 && total < MAPS_BYTES && from < SAVED_BYTES && lines < MAPPINGS_MAX) {
		text_reserve(&answer->maps, CHUNK);
		got = read(fd, answer->maps.p + answer->maps.n, CHUNK);
		if (got <= 0)
			break;
		answer->maps.n += (size_t)got;
		total += (size_t)got;
		from = keep_executable(&answer->maps, from, &lines);
	}
	answer->maps.n = from;
	answer->maps_cut = got > 0;
	answer->cut |= answer->maps_cut;
	if (fd >= 0)
		close(fd);
}

static void procreader_scan_threads(struct procreader_answer *answer)
{
	DIR *dir = opendir("/proc");

	answer->there = dir;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		uint64_t pid;

		if (str_u64(str_of(entry->d_name), &pid))
			add_threads(answer, (uint32_t)pid, false, SURVEY_MAX);
	}
	if (dir)
		closedir(dir);
}

struct reading {
	struct request q;
	struct procreader_answer *a;
};

static void read_request(void *arg)
{
	struct reading *reading = arg;
	struct procreader_answer *answer = reading->a;
	uint32_t tid = reading->q.tid;
	uint64_t before = clock_thread_cpu();

	read_stat(answer);
	answer->there = answer->start_ticks;
	if (!tid) {
		add_threads(answer, answer->pid, true, THREADS_MAX);
	} else {
		add_thread(answer, answer->pid, answer->pid, true);
		if (tid != answer->pid)
			add_thread(answer, answer->pid, tid, true);
	}
	read_maps(answer);
	answer->cost_ns = clock_thread_cpu() - before;
}

static void drop_reading(void *arg)
{
	struct reading *reading = arg;

	procreader_answer_free(reading->a);
	free(reading);
}

static uint64_t procreader_find_place(void *arg)
{
	const struct reading *reading = arg;

	return tenant_place_of_pid(reading->q.pid);
}

static struct procreader_answer *new_answer(uint32_t pid)
{
	struct procreader_answer *answer = mem_alloc(sizeof(*answer), 1);

	answer->pid = pid;
	answer->started = clock_now();
	return answer;
}

static struct procreader_answer *procreader_send_answer(struct request request)
{
	struct procreader_answer *answer = new_answer(request.pid);
	struct reading *reading;

	/* a thread scan only lists folders of /proc, which no process can block, so it has no time limit */
	if (!request.pid) {
		uint64_t before = clock_thread_cpu();

		procreader_scan_threads(answer);
		answer->cost_ns = clock_thread_cpu() - before;
		return answer;
	}
	reading = mem_alloc(sizeof(*reading), 1);
	*reading = (struct reading){ request, answer };
	if (timelimit_call(&(struct timelimit_call){ read_request, drop_reading, procreader_find_place, reading,
						     PROCREADER_STALL_MS, 20 * PROCREADER_STALL_MS })) {
		free(reading);
		return answer;
	}
	answer = new_answer(request.pid);
	answer->stalled = true;
	return answer;
}

/* ---- main loop of the reader thread ------------------------------------------------------------------------------ */

static void free_all(struct procreader *procreader)
{
	for (struct procreader_answer *answer = procreader->head, *next; answer; answer = next) {
		next = answer->next;
		procreader_answer_free(answer);
	}
	pthread_mutex_destroy(&procreader->lock);
	pthread_cond_destroy(&procreader->work);
	pthread_cond_destroy(&procreader->done);
	free(procreader);
}

static void put_answer(struct procreader *procreader, struct procreader_answer *answer)
{
	*procreader->last_link = answer;
	procreader->last_link = &answer->next;
	procreader->nanswers++;
}

static void *procreader_run(void *arg)
{
	struct procreader *procreader = arg;
	bool left;

	urgency_lower(URGENCY_USUAL);
	pthread_mutex_lock(&procreader->lock);
	while (!procreader->stop) {
		struct procreader_answer *answer;
		struct request request;

		if (procreader->n == 0 || procreader->nanswers >= ANSWERS) {
			pthread_cond_wait(&procreader->work, &procreader->lock);
			continue;
		}
		request = procreader->queue[procreader->first];
		procreader->first = (procreader->first + 1) % QUEUE;
		procreader->n--;
		procreader->busy = true;
		pthread_mutex_unlock(&procreader->lock);
		answer = procreader_send_answer(request);
		pthread_mutex_lock(&procreader->lock);
		procreader->busy = false;
		put_answer(procreader, answer);
		pthread_cond_signal(&procreader->done);
	}
	procreader->ended = true;
	left = procreader->left;
	pthread_cond_signal(&procreader->done);
	pthread_mutex_unlock(&procreader->lock);
	if (left)
		free_all(procreader);
	return NULL;
}

struct procreader *procreader_start(void)
{
	struct procreader *procreader = mem_alloc(sizeof(*procreader), 1);

	procreader->last_link = &procreader->head;
	pthread_mutex_init(&procreader->lock, NULL);
	threads_condition(&procreader->work);
	threads_condition(&procreader->done);
	if (threads_start(NULL, 0, procreader_run, procreader) == 0)
		return procreader;
	free_all(procreader);
	return NULL;
}

void procreader_stop(struct procreader *procreader)
{
	uint64_t until = clock_now() + STOP_MS * (SECOND_NS / 1000);
	bool ended;

	if (!procreader)
		return;
	pthread_mutex_lock(&procreader->lock);
	procreader->stop = true;
	pthread_cond_signal(&procreader->work);
	while (!procreader->ended && threads_wait(&procreader->done, &procreader->lock, until))
		continue;
	ended = procreader->ended;
	procreader->left = !ended;
	pthread_mutex_unlock(&procreader->lock);
	if (ended)
		free_all(procreader);
}

bool procreader_request(struct procreader *procreader, uint32_t pid, uint32_t tid)
{
	bool space;

	pthread_mutex_lock(&procreader->lock);
	space = procreader->n < QUEUE;
	if (space)
		procreader->queue[(procreader->first + procreader->n++) % QUEUE] = (struct request){ pid, tid };
	pthread_cond_signal(&procreader->work);
	pthread_mutex_unlock(&procreader->lock);
	return space;
}

bool procreader_survey(struct procreader *procreader)
{
	return procreader_request(procreader, 0, 0);
}

struct procreader_answer *procreader_take(struct procreader *procreader, uint64_t wait_ns)
{
	uint64_t until = clock_now() + wait_ns;
	struct procreader_answer *answer;

	pthread_mutex_lock(&procreader->lock);
	while (!procreader->head && wait_ns && (procreader->n || procreader->busy) &&
	       threads_wait(&procreader->done, &procreader->lock, until))
		continue;
	answer = procreader->head;
	if (answer) {
		procreader->head = answer->next;
		procreader->last_link = procreader->head ? procreader->last_link : &procreader->head;
		procreader->nanswers--;
		pthread_cond_signal(&procreader->work);
	}
	pthread_mutex_unlock(&procreader->lock);
	return answer;
}

void procreader_answer_free(struct procreader_answer *answer)
{
	if (!answer)
		return;
	text_free(&answer->maps);
	free(answer->thread);
	free(answer);
}
