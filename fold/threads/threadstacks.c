/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/threads/threadstacks.h"

#include "common/arena.h"
#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"
#include "common/hash.h"

#include <stdlib.h>

#define BUCKETS ((size_t)1 << 15)

/* ---- hash table of threads ----------------------------------------------------------------------------------- */

/* Returns the address of the pointer to the entry of thread pid/tid. This pointer is NULL if the table has no entry for
 * the thread. */
static struct threadstack **link_to(struct threadstacks *threadstacks, uint32_t pid, uint32_t tid)
{
	struct threadstack **link;

	if (!threadstacks->bucket)
		threadstacks->bucket = mem_alloc(sizeof(*threadstacks->bucket), BUCKETS);
	link = &threadstacks->bucket[hash_pair(pid, tid) & (BUCKETS - 1)];
	while (*link && ((*link)->pid != pid || (*link)->tid != tid))
		link = &(*link)->next;
	return link;
}

static void drop_sample(struct threadstacks *threadstacks, struct threadsample *sample)
{
	threadstacks->frames -= sample->cap;
	free(sample->frame);
	*sample = (struct threadsample){ 0 };
}

static void drop_samples(struct threadstacks *threadstacks, struct threadstack *thread)
{
	drop_sample(threadstacks, &thread->newest);
	drop_sample(threadstacks, &thread->complete);
}

/* Removes the first thread from the queue of ended threads. Deletes the entry of the thread, too, unless another thread
 * has the tid now. */
static void remove_ended(struct threadstacks *threadstacks)
{
	struct threadstack *thread = threadstacks->ended;

	threadstacks->ended = thread->next_ended;
	if (!threadstacks->ended)
		threadstacks->last_ended = NULL;
	thread->next_ended = NULL;
	thread->queued = false;
	if (!thread->ended)
		return;
	if (thread->exec > threadstacks->exec)
		threadstacks->exec = thread->exec;
	*link_to(threadstacks, thread->pid, thread->tid) = thread->next;
	drop_samples(threadstacks, thread);
	free(thread);
	threadstacks->n--;
}

/* Returns the entry of thread pid/tid. Adds an entry if there is none, after it has removed threads that ended long
 * before `time` (ns); returns NULL if the table is full. */
static struct threadstack *threadstack_of(struct threadstacks *threadstacks, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct threadstack *known = *link_to(threadstacks, pid, tid), **link;

	if (known)
		return known;
	while (threadstacks->ended &&
	       (threadstacks->n >= THREADSTACKS_MAX || threadstacks->ended->ended + THREADSTACKS_ENDED_NS < time))
		remove_ended(threadstacks);
	if (threadstacks->n >= THREADSTACKS_MAX) {
		threadstacks->over = true;
		return NULL;
	}
	link = link_to(threadstacks, pid, tid);
	*link = mem_alloc(sizeof(**link), 1);
	**link = (struct threadstack){ .pid = pid, .tid = tid, .exec = pid == tid ? threadstacks->exec : 0 };
	threadstacks->n++;
	return *link;
}

/* ---- storing of samples -------------------------------------------------------------------------------------- */

static enum threadstacks_state state_of_event(struct str event)
{
	if (str_eq(event, STR("offcpu-time")))
		return THREAD_WAITING;
	return str_eq(event, STR("offcpu-time-preempted")) ? THREAD_PREEMPTED : THREAD_RUNNING;
}

/* Returns true if pjrecord left out the stack of a sample because the tenant was over budget. The period of such a
 * sample may be the sum of several waits, also of other threads. Otherwise returns false. */
static bool is_over_budget(const struct perfdata_record *record)
{
	return record->sample.nips > 1 && record->sample.ips[0] == CONTEXT_USER &&
	       record->sample.ips[1] == PJ_OVER_BUDGET_IP;
}

/* Copies the sample in a record, with its stack frame[0..n), to *sample; comm and user: as in struct threadsample.
 * Leaves *sample unchanged if the stack would exceed the limit THREADSTACKS_FRAMES, and sets `over`. */
static void store_sample(struct threadstacks *threadstacks, struct threadsample *sample,
			 const struct perfdata_record *record, uint32_t comm, bool user, const uint32_t *frame,
			 size_t n)
{
	if (n > sample->cap) {
		if (n - sample->cap > THREADSTACKS_FRAMES - threadstacks->frames) {
			threadstacks->over = true;
			return;
		}
		threadstacks->frames += n - sample->cap;
		sample->frame = mem_grow(sample->frame, sizeof(*sample->frame), n);
		sample->cap = n;
	}
	sample->comm = comm;
	sample->state = state_of_event(record->sample.event->name);
	sample->cpu = record->has_cpu ? (int64_t)record->cpu : -1;
	sample->time = record->time;
	sample->over_budget = is_over_budget(record);
	sample->length = sample->over_budget ? 0 : record->sample.period;
	sample->event = record->sample.event->name;
	sample->user = user;
	if (n)
		memcpy(sample->frame, frame, n * sizeof(*frame));
	sample->n = n;
}

void threadstacks_sample(struct threadstacks *threadstacks, const struct perfdata_record *record, uint32_t comm,
			 bool user, bool complete, const uint32_t *frame, size_t n)
{
	struct threadstack *process = threadstack_of(threadstacks, record->pid, record->pid, record->time), *thread;
	uint64_t exec = process ? process->exec : 0;

	threadstacks->over_budget |= is_over_budget(record);
	thread = threadstack_of(threadstacks, record->pid, record->tid, record->time);
	if (!thread || thread->ended || record->time < exec)
		return;
	if (thread->newest.comm && thread->newest.time < exec)
		drop_samples(threadstacks, thread);
	thread->switched |= state_of_event(record->sample.event->name) != THREAD_RUNNING;
	if (!thread->newest.comm || record->time >= thread->newest.time)
		store_sample(threadstacks, &thread->newest, record, comm, user, frame, n);
	if (complete && (!thread->complete.comm || record->time >= thread->complete.time))
		store_sample(threadstacks, &thread->complete, record, comm, user, frame, n);
}

/* ---- ends of threads, and execs ------------------------------------------------------------------------------ */

/* Applies an EXIT record: drops the samples of the thread, and queues its entry. Ignores a thread without an entry. */
static void end_stacks(struct threadstacks *threadstacks, const struct perfdata_record *record)
{
	struct threadstack *thread = *link_to(threadstacks, record->pid, record->tid);

	if (!thread)
		return;
	drop_samples(threadstacks, thread);
	thread->ended = record->time ? record->time : 1;
	if (thread->queued)
		return;
	thread->queued = true;
	*(threadstacks->last_ended ? &threadstacks->last_ended->next_ended : &threadstacks->ended) = thread;
	threadstacks->last_ended = thread;
}

/* Applies an exec, which ends all other threads of the process. The thread that called exec continues with the tid of
 * the main thread, so its old tid has no EXIT record. */
static void exec_process(struct threadstacks *threadstacks, const struct perfdata_record *record)
{
	struct threadstack *process = threadstack_of(threadstacks, record->pid, record->pid, record->time);

	if (!process)
		return;
	drop_samples(threadstacks, process);
	process->exec = record->time;
	process->ended = 0;
}

void threadstacks_record(struct threadstacks *threadstacks, const struct perfdata_record *record)
{
	struct threadstack *thread;

	if (record->kind == PERFDATA_EXIT) {
		end_stacks(threadstacks, record);
	} else if (record->kind == PERFDATA_COMM && record->comm.exec) {
		exec_process(threadstacks, record);
	} else if (record->kind == PERFDATA_COMM || record->kind == PERFDATA_FORK) {
		thread = *link_to(threadstacks, record->pid, record->tid);
		if (thread)
			thread->ended = 0;
	}
}

/* ---- list of threads ----------------------------------------------------------------------------------------- */

int threadstacks_order(uint32_t pid, uint32_t tid, uint32_t other_pid, uint32_t other_tid)
{
	bool main_thread = pid == tid, other_main = other_pid == other_tid;

	if (pid != other_pid)
		return pid < other_pid ? -1 : 1;
	if (main_thread != other_main)
		return main_thread ? -1 : 1;
	return (tid > other_tid) - (tid < other_tid);
}

static int threadstacks_cmp(const void *left, const void *right)
{
	const struct threadstack *thread = *(const struct threadstack *const *)left,
				 *other = *(const struct threadstack *const *)right;

	return threadstacks_order(thread->pid, thread->tid, other->pid, other->tid);
}

/* Returns the time of the latest exec of process `pid` in ns; 0 if there was none. If the entry of the main thread has
 * been deleted, returns the latest exec of all processes with a deleted main thread, which may be later. */
static uint64_t exec_time(const struct threadstacks *threadstacks, uint32_t pid)
{
	const struct threadstack *process = threadstacks->bucket[hash_pair(pid, pid) & (BUCKETS - 1)];

	while (process && (process->pid != pid || process->tid != pid))
		process = process->next;
	return process ? process->exec : threadstacks->exec;
}

const struct threadstack **threadstacks_list(const struct threadstacks *threadstacks, size_t *n)
{
	const struct threadstack **list = mem_alloc(sizeof(*list), (size_t)threadstacks->n + 1), *thread;

	*n = 0;
	for (size_t i = 0; threadstacks->bucket && i < BUCKETS; i++)
		for (thread = threadstacks->bucket[i]; thread; thread = thread->next)
			if (thread->newest.comm && thread->newest.time >= exec_time(threadstacks, thread->pid))
				list[(*n)++] = thread;
	qsort(list, *n, sizeof(*list), threadstacks_cmp);
	return list;
}

void threadstacks_free(struct threadstacks *threadstacks)
{
	struct threadstack *thread, *next;

	for (size_t i = 0; threadstacks->bucket && i < BUCKETS; i++)
		for (thread = threadstacks->bucket[i]; thread; thread = next) {
			next = thread->next;
			free(thread->newest.frame);
			free(thread->complete.frame);
			free(thread);
		}
	free(threadstacks->bucket);
}
