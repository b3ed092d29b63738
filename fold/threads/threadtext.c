/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/threads/threadtext.h"

#include "common/visible.h"

#include <stdlib.h>

/* ---- state of a thread at the end of the window -------------------------------------------------------------- */

enum shown_state { SHOWN_RUNNING, SHOWN_WAITING, SHOWN_PREEMPTED, SHOWN_UNKNOWN };

/* Returns the last ns of the window or, if its end is unknown, the time of the last record. */
static uint64_t last_ns(const struct threadtext *threadtext)
{
	return threadtext->border ? threadtext->border - 1 : threadtext->last;
}

/* Returns the time in ns from a sample to the end of the window; 0 if the sample is later. */
static uint64_t age_at_end(const struct threadtext *threadtext, const struct threadsample *sample)
{
	return sample->time < last_ns(threadtext) ? last_ns(threadtext) - sample->time : 0;
}

static enum shown_state state_at_end(const struct threadtext *threadtext, const struct threadstack *thread)
{
	const struct threadsample *newest = &thread->newest;
	bool at_end = threadtext->border && newest->time == threadtext->border - 1;

	if (at_end && newest->state == THREAD_WAITING)
		return SHOWN_WAITING;
	if (at_end && newest->state == THREAD_PREEMPTED)
		return SHOWN_PREEMPTED;
	if (!threadtext->border || threadtext->uncertain || threadtext->over_budget ||
	    (threadtext->left_out && !thread->switched) || age_at_end(threadtext, newest) > THREADTEXT_RECENT_NS)
		return SHOWN_UNKNOWN;
	return SHOWN_RUNNING;
}

/* Returns the sample whose stack is shown. For a thread that is not waiting, this is the newest sample with a complete
 * stack, if there is one that is at most THREADTEXT_RECENT_NS older than the newest sample. In all other cases it is
 * the newest sample. */
static const struct threadsample *shown_sample(const struct threadstack *thread, enum shown_state state)
{
	const struct threadsample *newest = &thread->newest, *complete = &thread->complete;

	if (state == SHOWN_WAITING || !complete->comm || newest->time - complete->time > THREADTEXT_RECENT_NS)
		return newest;
	return complete;
}

/* ---- lines of a thread --------------------------------------------------------------------------------------- */

/* Appends a time, given in ns, in milliseconds with one decimal. */
static void put_ms(struct text *text, uint64_t ns)
{
	text_printf(text, "%llu.%llu ms", (unsigned long long)(ns / 1000000), (unsigned long long)(ns / 100000 % 10));
}

/* Appends a state like "waiting for at least 5.0 ms". length: time in ns; 0 is unknown and left out. */
static void put_off_cpu(struct text *text, const char *state, uint64_t length)
{
	text_add(text, state);
	if (!length)
		return;
	text_add(text, " for at least ");
	put_ms(text, length);
}

/* Appends the name of a thread in quotation marks. Quotation marks in the name are escaped like control characters, so
 * that no name imitates the text after it; visible_bytes() restores the name. */
static void put_name(struct text *text, struct str name)
{
	text_char(text, '"');
	for (;;) {
		struct str part = str_cut(&name, '"');
		bool more = name.p == part.p + part.n + 1;

		visible_str(text, part);
		if (!more)
			break;
		text_add(text, "\\x22");
	}
	text_char(text, '"');
}

/* Appends the line with the name and the state of a thread, and with the time and event of its stack. */
static void put_state(const struct threadtext *threadtext, const struct threadstack *thread, enum shown_state state,
		      struct text *text)
{
	const struct threadsample *newest = &thread->newest, *shown = shown_sample(thread, state);
	uint64_t age = age_at_end(threadtext, shown);

	put_name(text, intern_str(&threadtext->addrspace->comms, newest->comm));
	text_printf(text, " tid %u, ", thread->tid);
	switch (state) {
	case SHOWN_WAITING: put_off_cpu(text, "waiting", newest->length); break;
	case SHOWN_PREEMPTED: put_off_cpu(text, "preempted", newest->length); break;
	case SHOWN_UNKNOWN: text_add(text, "state unknown"); break;
	case SHOWN_RUNNING:
		text_add(text, "running");
		if (newest->state == THREAD_RUNNING && newest->cpu >= 0)
			text_printf(text, ", last sampled on CPU %lld", (long long)newest->cpu);
		break;
	}
	if (age >= 100000) {
		text_add(text, ", stack of ");
		put_ms(text, age);
		text_add(text, " before the end");
	}
	text_add(text, ", ");
	visible_str(text, shown->event);
	text_char(text, '\n');
}

/* Returns the module that is shown for a location; empty if there is none. The path of a perf map is not shown: it is a
 * file with names, not with code. */
static struct str module_of(const struct threadtext *threadtext, const struct location *location)
{
	const struct addrspace *addrspace = threadtext->addrspace;

	if (location->kind == LOCATION_CODE ||
	    (location->kind == LOCATION_IN_DSO && addrspace->dso[location->dso].kind == DSO_JIT))
		return STR("[jit]");
	if (location->kind == LOCATION_IN_DSO && addrspace->dso[location->dso].kind == DSO_NOWHERE)
		return STR("");
	return threadtext->dso(addrspace, location);
}

/* Appends one line for each frame of a location: inlined calls before their callers. */
static void put_location_frames(const struct threadtext *threadtext, uint32_t location, struct text *text)
{
	struct str module = module_of(threadtext, &threadtext->locations->location[location]);

	for (uint32_t i = threadtext->first[location + 1]; i-- > threadtext->first[location];) {
		text_add(text, "  at ");
		visible_str(text, intern_str(&threadtext->stacks->frames, threadtext->frame[i]));
		if (module.n) {
			text_add(text, " (");
			visible_str(text, module);
			text_char(text, ')');
		}
		text_char(text, '\n');
	}
}

static bool is_user_code(const struct threadtext *threadtext, const struct location *location)
{
	enum dso_kind kind;

	if (location->kind != LOCATION_IN_DSO)
		return true;
	kind = threadtext->addrspace->dso[location->dso].kind;
	return kind != DSO_KERNEL && kind != DSO_SYMBOL;
}

/* Returns the line after a stack that is not known to be complete; NULL if it is complete. end: the end of the stack;
 * NULL if the recording does not contain it, because the callers come from frame pointers. */
static const char *line_of_end(const struct location *end)
{
	if (!end)
		return "[callers by frame pointers: some may be missing]";
	switch (end->end) {
	case STACK_COMPLETE: return NULL;
	case STACK_BROKEN: return "[incomplete: no caller was found]";
	case STACK_OTHER_STACK: return "[incomplete: the caller is on another stack]";
	case STACK_NOT_COPIED: return "[incomplete: in exec or exit]";
	case STACK_UNKNOWN: return "[callers may be missing: not all code keeps frame pointers]";
	case STACK_COPY_CUT:
	case STACK_EVENT_LIMIT:
	case STACK_KERNEL_LIMIT:
	case STACK_TRUNCATED: break;
	}
	return "[truncated: outer callers were not recorded]";
}

static void put_stack(const struct threadtext *threadtext, const struct threadsample *sample, struct text *text)
{
	const struct location *end = NULL;
	const char *line = NULL;
	bool any = false;

	for (size_t i = 0; i < sample->n; i++) {
		uint32_t id = sample->frame[i] & ~LOCATION_BIT;
		const struct location *location = &threadtext->locations->location[id];

		if (location->kind == LOCATION_STACK_END)
			end = location;
		if (!location_is_code(location))
			continue;
		any |= is_user_code(threadtext, location);
		put_location_frames(threadtext, id, text);
	}
	if (any)
		line = line_of_end(end);
	else if (sample->user)
		line = "[no frame of user code was recorded]";
	if (sample->over_budget)
		line = "[over budget: its stack was left out]";
	if (line)
		text_printf(text, "  %s\n", line);
}

/* Appends the lines of a thread that has a stack, and counts the thread. */
static void put_thread(const struct threadtext *threadtext, const struct threadstack *thread, struct text *text,
		       struct threadtext_counts *counts)
{
	enum shown_state state = state_at_end(threadtext, thread);

	put_state(threadtext, thread, state, text);
	put_stack(threadtext, shown_sample(thread, state), text);
	counts->running += state == SHOWN_RUNNING;
	counts->waiting += state == SHOWN_WAITING;
	counts->preempted += state == SHOWN_PREEMPTED;
	counts->unknown += state == SHOWN_UNKNOWN;
}

static void put_without_stack(const struct listed_thread *thread, struct text *text)
{
	put_name(text, thread->name);
	text_printf(text, " tid %u, no stack\n  [no sample: it did not run, and its stack was not read]\n",
		    thread->tid);
}

/* ---- warnings before the threads ----------------------------------------------------------------------------- */

static void put_lost_count(struct text *text, const char **before, uint64_t n, const char *one, const char *many)
{
	if (!n)
		return;
	text_add(text, *before);
	text_grouped(text, n);
	text_printf(text, " %s", n == 1 ? one : many);
	*before = ", ";
}

/* Appends the lines about the entire recording: losses and limits that make states and stacks uncertain or absent. */
static void put_warnings(const struct threadtext *threadtext, const struct threadstacks *threadstacks,
			 struct text *text)
{
	const char *before = "[lost: ";
	size_t n = text->n;

	if (!threadtext->border)
		text_add(text, "[the end of the recording is missing: states of threads are unknown]\n");
	put_lost_count(text, &before, threadtext->lost_switches, "record of a context switch",
		       "records of context switches");
	put_lost_count(text, &before, threadtext->lost_records, "record of a process", "records of processes");
	put_lost_count(text, &before, threadtext->lost_samples, "sample", "samples");
	if (*before == ',')
		text_add(text, "]\n");
	if (threadtext->uncertain)
		text_add(
			text,
			"[records or stacks of context switches are missing: only waiting and preempted threads have a "
			"certain state]\n");
	if (threadtext->over_budget)
		text_add(text, "[times of tenants over budget were summed: only waiting and preempted threads have a "
			       "certain state]\n");
	if (threadstacks->over)
		text_printf(text, "[limit of %d threads or %zu frames: other stacks are left out]\n", THREADSTACKS_MAX,
			    THREADSTACKS_FRAMES);
	if (text->n > n)
		text_char(text, '\n');
}

/* ---- report of all threads ----------------------------------------------------------------------------------- */

/* Starts the lines of a thread of process `next`: appends an empty line after the previous thread, and a heading if
 * *pid, the process of the previous thread, is another one. Sets *pid to next. */
static void begin_block(struct text *text, uint64_t *pid, uint32_t next)
{
	if (*pid != UINT64_MAX)
		text_char(text, '\n');
	if (*pid != next)
		text_printf(text, "process %u\n\n", next);
	*pid = next;
}

/* Appends each thread of threadtext->list: with its stack if it is in thread[0..n), the threads with a stack, otherwise
 * without one. The list and the array are sorted by threadstacks_order. */
static void put_listed(const struct threadtext *threadtext, const struct threadstack **thread, size_t n,
		       struct text *text, struct threadtext_counts *counts)
{
	const struct threadlist *list = threadtext->list;
	uint64_t pid = UINT64_MAX;

	for (size_t i = 0, k = 0; i < list->n; i++) {
		const struct listed_thread *listed = &list->thread[i];
		int order = 1;

		while (k < n &&
		       (order = threadstacks_order(thread[k]->pid, thread[k]->tid, listed->pid, listed->tid)) < 0)
			k++;
		begin_block(text, &pid, listed->pid);
		if (k < n && order == 0) {
			put_thread(threadtext, thread[k], text, counts);
		} else {
			put_without_stack(listed, text);
			counts->without_stack++;
		}
	}
}

void threadtext_write(const struct threadtext *threadtext, const struct threadstacks *threadstacks, struct text *text,
		      struct threadtext_counts *counts)
{
	size_t n;
	const struct threadstack **thread = threadstacks_list(threadstacks, &n);
	uint64_t pid = UINT64_MAX;

	put_warnings(threadtext, threadstacks, text);
	if (threadtext->list)
		put_listed(threadtext, thread, n, text, counts);
	for (size_t i = 0; !threadtext->list && i < n; i++) {
		begin_block(text, &pid, thread[i]->pid);
		put_thread(threadtext, thread[i], text, counts);
	}
	free(thread);
}

uint64_t threadtext_stacks(const struct threadtext_counts *counts)
{
	return counts->running + counts->waiting + counts->preempted + counts->unknown;
}

void threadtext_sentence(const struct threadtext_counts *counts, struct text *text)
{
	uint64_t all = threadtext_stacks(counts) + counts->without_stack;

	text_grouped(text, all);
	text_add(text, all == 1 ? " thread: " : " threads: ");
	text_grouped(text, counts->running);
	text_add(text, " running, ");
	text_grouped(text, counts->waiting);
	text_add(text, " waiting, ");
	text_grouped(text, counts->preempted);
	text_add(text, " preempted");
	if (counts->unknown) {
		text_add(text, ", ");
		text_grouped(text, counts->unknown);
		text_add(text, " in unknown state");
	}
	if (counts->without_stack) {
		text_add(text, ", ");
		text_grouped(text, counts->without_stack);
		text_add(text, " without a stack");
	}
}

void threadreport_free(struct threadreport *report)
{
	threadlist_free(&report->list);
	text_free(&report->text);
}
