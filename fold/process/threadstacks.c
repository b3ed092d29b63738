/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/threadstacks.h"

#include "common/visible.h"

#include <stdlib.h>

/* ---- pass 1 -------------------------------------------------------------------------------------------------- */

static struct threadstack *threadstack_of(struct threadstacks *threadstacks, uint32_t pid, uint32_t tid)
{
	const uint32_t key[] = { pid, tid };
	uint32_t before = threadstacks->keys.n,
		 id = intern(&threadstacks->keys, (struct str){ (const char *)key, sizeof(key) });

	if (id > before) {
		threadstacks->thread = mem_more(threadstacks->thread, sizeof(*threadstacks->thread), before);
		threadstacks->thread[id - 1] = (struct threadstack){ .pid = pid, .tid = tid };
	}
	return &threadstacks->thread[id - 1];
}

static enum threadstacks_state state_of_event(struct str event)
{
	if (str_eq(event, STR("offcpu-time")))
		return THREAD_WAITING;
	return str_eq(event, STR("offcpu-time-preempted")) ? THREAD_PREEMPTED : THREAD_RUNNING;
}

/* Makes *sample a copy of the sample of a record. */
static void store_sample(struct threadsample *sample, const struct perfdata_record *record, uint32_t comm, bool user,
			 const uint32_t *frame, size_t n)
{
	sample->comm = comm;
	sample->state = state_of_event(record->sample.event->name);
	sample->cpu = record->has_cpu ? (int64_t)record->cpu : -1;
	sample->time = record->time;
	sample->length = record->sample.period;
	sample->event = record->sample.event->name;
	sample->user = user;
	if (n > sample->cap) {
		sample->frame = mem_grow(sample->frame, sizeof(*sample->frame), n);
		sample->cap = n;
	}
	if (n)
		memcpy(sample->frame, frame, n * sizeof(*frame));
	sample->n = n;
}

void threadstacks_sample(struct threadstacks *threadstacks, const struct perfdata_record *record, uint32_t comm,
			 bool user, bool complete, const uint32_t *frame, size_t n)
{
	struct threadstack *thread = threadstack_of(threadstacks, record->pid, record->tid);

	if (!thread->newest.comm || record->time >= thread->newest.time)
		store_sample(&thread->newest, record, comm, user, frame, n);
	if (complete && (!thread->complete.comm || record->time >= thread->complete.time))
		store_sample(&thread->complete, record, comm, user, frame, n);
}

void threadstacks_delete(struct threadstacks *threadstacks, uint32_t pid, uint32_t tid)
{
	struct threadstack *thread = threadstack_of(threadstacks, pid, tid);

	thread->newest.comm = thread->complete.comm = 0;
}

/* Returns the sample to show: that of a wait that lasts until the end, otherwise a recent complete one. A thread that
 * is preempted at the end could run, so it is as one that runs. */
static const struct threadsample *shown_sample(const struct threadstack *thread, uint64_t end_ns)
{
	const struct threadsample *newest = &thread->newest, *complete = &thread->complete;
	bool waits = newest->state == THREAD_WAITING && newest->time >= end_ns;

	if (waits || !complete->comm || newest->time - complete->time > THREADSTACKS_RECENT_NS)
		return newest;
	return complete;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* By pid; the main thread of a process first, then by tid. */
static int threadstacks_cmp(const void *left, const void *right)
{
	const struct threadstack *a = *(const struct threadstack *const *)left,
				 *b = *(const struct threadstack *const *)right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if ((a->tid == a->pid) != (b->tid == b->pid))
		return a->tid == a->pid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Appends a time in milliseconds with one decimal. */
static void put_ms(struct text *text, uint64_t ns)
{
	text_printf(text, "%llu.%llu ms", (unsigned long long)(ns / 1000000), (unsigned long long)(ns / 100000 % 10));
}

/* Appends the line with the name and the state of a thread. A wait or preemption that ended before the recording did
 * is in the past: the thread ran afterwards, between two samples, so its state is "running". */
static void put_state(uint32_t tid, const struct threadsample *sample, const struct threadstacks_names *names,
		      struct text *text)
{
	static const char *const off_cpu[] = { [THREAD_WAITING] = "waiting", [THREAD_PREEMPTED] = "preempted" };
	uint64_t ago = names->end_ns > sample->time ? names->end_ns - sample->time : 0;

	text_char(text, '"');
	visible_str(text, intern_str(&names->addrspace->comms, sample->comm));
	text_printf(text, "\" tid %u, ", tid);
	if (sample->state == THREAD_RUNNING) {
		text_add(text, "running");
		if (sample->cpu >= 0)
			text_printf(text, " on CPU %lld", (long long)sample->cpu);
	} else {
		text_add(text, ago ? "running, after it was " : "");
		text_printf(text, "%s for ", off_cpu[sample->state]);
		put_ms(text, sample->length);
	}
	if (ago) {
		text_add(text, ", ");
		put_ms(text, ago);
		text_add(text, " before the end");
	}
	text_add(text, ", ");
	visible_str(text, sample->event);
	text_char(text, '\n');
}

/* Appends the lines of a location: those of inlined calls before that of their caller. */
static void put_location_frames(const struct threadstacks_names *names, uint32_t location, struct text *text)
{
	struct str dso = names->dso(names->addrspace, &names->locations->location[location]);

	for (uint32_t i = names->first[location + 1]; i-- > names->first[location];) {
		text_add(text, "  at ");
		visible_str(text, intern_str(&names->stacks->frames, names->frame[i]));
		if (dso.n) {
			text_add(text, " (");
			visible_str(text, dso);
			text_char(text, ')');
		}
		text_char(text, '\n');
	}
}

static bool is_user_code(const struct threadstacks_names *names, const struct location *location)
{
	enum dso_kind kind;

	if (location->kind != LOCATION_IN_DSO)
		return true;
	kind = names->addrspace->dso[location->dso].kind;
	return kind != DSO_KERNEL && kind != DSO_SYMBOL;
}

/* Returns the line after a stack that is not known to be complete; NULL if it is complete. `end` is NULL if the
 * recording does not have the end of the stack: its callers are by frame pointers. */
static const char *line_of_end(const struct location *end)
{
	if (!end)
		return "[callers by frame pointers: some may be missing]";
	switch (end->end) {
	case STACK_COMPLETE: return NULL;
	case STACK_BROKEN: return "[incomplete: no caller was found]";
	case STACK_UNKNOWN: return "[callers may be missing: not all code keeps frame pointers]";
	case STACK_COPY_CUT:
	case STACK_EVENT_LIMIT:
	case STACK_KERNEL_LIMIT:
	case STACK_TRUNCATED: break;
	}
	return "[truncated: outer callers were not recorded]";
}

static void put_stack(const struct threadsample *sample, const struct threadstacks_names *names, struct text *text)
{
	const struct location *end = NULL;
	bool any = false;
	const char *line = NULL;

	for (size_t i = 0; i < sample->n; i++) {
		uint32_t id = sample->frame[i] & ~LOCATION_BIT;
		const struct location *location = &names->locations->location[id];

		if (location->kind == LOCATION_STACK_END)
			end = location;
		if (!location_is_code(location))
			continue;
		any |= is_user_code(names, location);
		put_location_frames(names, id, text);
	}
	if (any)
		line = line_of_end(end);
	else if (sample->user)
		line = "[no frame of user code was recorded]";
	if (line)
		text_printf(text, "  %s\n", line);
}

void threadstacks_write(const struct threadstacks *threadstacks, const struct threadstacks_names *names,
			struct text *text)
{
	const struct threadstack **order = mem_alloc(sizeof(*order), (size_t)threadstacks->keys.n + 1);
	size_t n = 0;

	for (uint32_t i = 0; i < threadstacks->keys.n; i++)
		if (threadstacks->thread[i].newest.comm)
			order[n++] = &threadstacks->thread[i];
	qsort(order, n, sizeof(*order), threadstacks_cmp);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || order[i]->pid != order[i - 1]->pid)
			text_printf(text, "%sprocess %u\n\n", i ? "\n" : "", order[i]->pid);
		else
			text_char(text, '\n');
		put_state(order[i]->tid, shown_sample(order[i], names->end_ns), names, text);
		put_stack(shown_sample(order[i], names->end_ns), names, text);
	}
	free(order);
}

void threadstacks_free(struct threadstacks *threadstacks)
{
	for (uint32_t i = 0; i < threadstacks->keys.n; i++) {
		free(threadstacks->thread[i].newest.frame);
		free(threadstacks->thread[i].complete.frame);
	}
	free(threadstacks->thread);
	intern_free(&threadstacks->keys);
}
