/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/scripts.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/debug.h"
#include "record/interpreters/interpthread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS (SECOND_NS / 1000)
/* Pauses in ns before the opening of a process is tried again: RETRY_NS is the first one, RETRY_MAX_NS the longest. */
#define RETRY_NS (50 * MS_NS)
#define RETRY_MAX_NS (60 * SECOND_NS)
/* Longest pause in ns for a process that ran no function when it was opened (PHP-FPM: between two requests). */
#define RETRY_EARLY_NS (5 * SECOND_NS)
/* Pauses in ns before the list of threads is read again: THREADS_NS is the first one, THREADS_MAX_NS the longest. */
#define THREADS_NS (50 * MS_NS)
#define THREADS_MAX_NS SECOND_NS

struct scripts {
	struct scripts_readers readers;
	struct interpthread *thread;
	bool started, failed; /* started: true if the thread runs; failed: true if the thread could not be started */
	struct script **script;
	size_t n;
	uint64_t number, now;
	uint64_t not_entered; /* number of threads for which `waits` had no free slot */
};

/* ---- states of processes ---------------------------------------------------------------------------------------- */

/* Returns the index of a process's script; if the process has none, the index at which to insert it. */
static size_t scripts_index(const struct scripts *scripts, uint32_t pid)
{
	size_t low = 0, high = scripts->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (scripts->script[middle]->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct script *scripts_find(const struct scripts *scripts, uint32_t pid)
{
	size_t i = scripts_index(scripts, pid);

	return i < scripts->n && scripts->script[i]->pid == pid ? scripts->script[i] : NULL;
}

static struct script *scripts_add(struct scripts *scripts, uint32_t pid, uint64_t began)
{
	struct script *script = mem_alloc(sizeof(*script), 1);
	size_t i = scripts_index(scripts, pid);

	*script = (struct script){ .pid = pid, .began = began };
	scripts->script = mem_more(scripts->script, sizeof(*scripts->script), scripts->n);
	memmove(scripts->script + i + 1, scripts->script + i, (scripts->n++ - i) * sizeof(*scripts->script));
	scripts->script[i] = script;
	return script;
}

/* Sends an order for a script's process to the thread. Returns false if too many orders wait. */
static bool script_order(struct scripts *scripts, const struct script *script, enum interpthread_kind what,
			 uint64_t start)
{
	return interpthread_order(scripts->thread,
				  &(struct interpthread_order){
					  .what = what, .pid = script->pid, .number = script->number, .start = start });
}

static void script_unregister(struct scripts *scripts, const struct script *script)
{
	syncread_remove_process(scripts->readers.syncread, script->pid);
	waitframes_remove_process(scripts->readers.waits, script->pid);
}

/* Closes a script's process. Returns false if the order could not be sent: then the script is unchanged, and the caller
 * tries again later. */
static bool script_close(struct scripts *scripts, struct script *script)
{
	if (script->state != SCRIPT_CLOSED && !script_order(scripts, script, INTERPTHREAD_CLOSE, 0))
		return false;
	if (script->state == SCRIPT_OPEN)
		script_unregister(scripts, script);
	script->state = SCRIPT_CLOSED;
	return true;
}

static bool scripts_run(struct scripts *scripts)
{
	if (!scripts->started && !scripts->failed) {
		scripts->started = interpthread_start(scripts->thread, scripts->readers.syncread,
						      scripts->readers.waits, scripts->readers.store);
		scripts->failed = !scripts->started;
	}
	return scripts->started;
}

static void script_open(struct scripts *scripts, struct script *script, const struct process *process)
{
	if (!scripts_run(scripts))
		return;
	script->number = ++scripts->number;
	if (!script_order(scripts, script, INTERPTHREAD_OPEN, process->start_ticks))
		return;
	script->state = SCRIPT_OPENING;
	script->listing = false;
	script->version = process->maps->version;
}

/* Opens the process of a closed script now, or, if its pause is not over, once it is over. */
static void script_reopen(struct scripts *scripts, struct script *script, const struct process *process)
{
	if (script->state == SCRIPT_CLOSED && scripts->now >= script->retry)
		script_open(scripts, script, process);
	script->reopen = script->state == SCRIPT_CLOSED;
}

struct script *scripts_note(struct scripts *scripts, const struct process *process)
{
	struct script *script;

	if (!process || process->exited || !process->maps || !process->maps->interpreters)
		return NULL;
	script = scripts_find(scripts, process->pid);
	if (script && script->began != process->since) {
		if (!script_close(scripts, script))
			return NULL;
		*script = (struct script){ .pid = process->pid, .began = process->since };
	}
	if (!script)
		script = scripts_add(scripts, process->pid, process->since);
	if (script->state == SCRIPT_OPEN && !syncread_has_process(scripts->readers.syncread, process->pid)) {
		/* the synchronous reader has removed the process: reading its memory blocks, or it calls exec */
		if (script_close(scripts, script))
			script->retry = scripts->now + RETRY_MAX_NS;
	}
	if (script->state == SCRIPT_OPEN && script->outdated && scripts->now >= script->retry)
		script_close(scripts, script);
	script_reopen(scripts, script, process);
	return script;
}

void scripts_list(struct scripts *scripts, struct script *script)
{
	if (!script->listing && scripts->now >= script->threads_at) {
		script->listing = script_order(scripts, script, INTERPTHREAD_THREADS, 0);
		script->relist = !script->listing;
	} else {
		script->relist = true;
	}
}

/* Opens the processes, and lists the threads, for which a sample requested that during a pause, if this pause is over
 * now. */
static void scripts_catch_up(struct scripts *scripts)
{
	for (size_t i = 0; i < scripts->n; i++) {
		struct script *script = scripts->script[i];
		const struct process *process;

		if (!script->reopen && !script->relist)
			continue;
		process = processes_find(scripts->readers.processes, script->pid);
		if (!process || process->exited || process->since != script->began || !process->maps) {
			script->reopen = script->relist = false;
			continue;
		}
		if (script->reopen)
			script_reopen(scripts, script, process);
		if (script->relist && script->state == SCRIPT_OPEN)
			scripts_list(scripts, script);
	}
}

/* ---- news of the thread ----------------------------------------------------------------------------------------- */

/* Registers the threads in *news that are not registered yet. Returns true if there was at least one. */
static bool script_register(struct scripts *scripts, const struct script *script, const struct interpthread_news *news)
{
	bool any = false;

	for (size_t i = 0; i < news->n; i++) {
		uint64_t root;

		if (syncread_has_thread(scripts->readers.syncread, news->thread[i].tid, &root) &&
		    root == news->thread[i].root)
			continue;
		if (!syncread_add_thread(scripts->readers.syncread, script->pid, news->thread[i].tid,
					 news->thread[i].root, news->since))
			continue;
		if (scripts->readers.waits && !waitframes_set_thread(scripts->readers.waits, script->pid,
								     news->thread[i].tid, news->thread[i].root))
			scripts->not_entered++;
		any = true;
	}
	return any;
}

static void script_opened(struct scripts *scripts, struct script *script, struct interpthread_news *news)
{
	const struct interpreter *interpreter;
	bool early = news->failed && news->result.answer == INTERPRETER_EARLY;
	uint64_t limit = early ? RETRY_EARLY_NS : RETRY_MAX_NS;
	int memory = news->memory;

	script->reopen = script->outdated = false;
	script->pause = script->pause ? 2 * script->pause : RETRY_NS;
	if (script->pause > limit)
		script->pause = limit;
	script->retry = scripts->now + script->pause;
	script->state = SCRIPT_CLOSED;
	script->is_private = news->is_private;
	if (news->failed) {
		debug(DEBUG_UNWIND, "process %u: interpreter is not read: %s", script->pid,
		      early ? "it is starting" : news->result.why);
		memcpy(script->why, news->result.why, sizeof(script->why));
		/* the threads of the process may now wait for long, so it is opened again without another sample */
		script->reopen = early && script->pause < limit;
		return;
	}
	news->memory = -1;
	script->tenant = news->tenant;
	script->state = SCRIPT_OPEN;
	if (!syncread_add_process(scripts->readers.syncread, &(struct syncread_process){ .pid = script->pid,
											 .tenant = script->tenant,
											 .memory = memory,
											 .plan = &news->result.plan,
											 .since = news->since })) {
		script_close(scripts, script);
		return;
	}
	waitframes_set_process(scripts->readers.waits, script->pid, &news->result.plan);
	script->on_stack = news->result.plan.stack;
	script->language = news->result.language;
	/* the language comes from the helper process, so it may be invalid */
	interpreter = interpreter_of_language(script->language);
	script->frames_lead = !interpreter || interpreter->frames_lead;
	script->frame_in_r14 = interpreter && interpreter->frame_in_r14;
	script->nevals = news->result.nevals;
	memcpy(script->eval, news->result.eval, sizeof(script->eval));
	onestack_hostframe(&script->hostframe, script->eval, script->nevals);
	script_register(scripts, script, news);
	debug(DEBUG_UNWIND, "process %u: interpreter with %zu threads is read", script->pid, news->n);
}

static void script_listed(struct scripts *scripts, struct script *script, const struct interpthread_news *news)
{
	bool any = !news->failed && script_register(scripts, script, news);

	script->listing = false;
	script->threads_pause = any || !script->threads_pause ? THREADS_NS : 2 * script->threads_pause;
	if (script->threads_pause > THREADS_MAX_NS)
		script->threads_pause = THREADS_MAX_NS;
	script->threads_at = scripts->now + script->threads_pause;
	if (!news->failed)
		return;
	script_unregister(scripts, script);
	script->state = SCRIPT_CLOSED;
	script->retry = scripts->now + RETRY_NS;
}

void scripts_take(struct scripts *scripts, uint64_t now)
{
	struct interpthread_news *news;

	scripts->now = now;
	if (!scripts->started)
		return;
	while ((news = interpthread_take(scripts->thread))) {
		struct script *script = scripts_find(scripts, news->pid);

		if (!script || script->number != news->number)
			; /* nothing to do: the process was closed meanwhile */
		else if (news->opened)
			script_opened(scripts, script, news);
		else if (script->state == SCRIPT_OPEN)
			script_listed(scripts, script, news);
		interpthread_news_free(news);
	}
	scripts_catch_up(scripts);
}

void scripts_flush(struct scripts *scripts)
{
	if (scripts->started)
		interpthread_flush(scripts->thread);
}

void scripts_tick(struct scripts *scripts, uint64_t now)
{
	size_t left = 0;

	scripts->now = now;
	for (size_t i = 0; i < scripts->n; i++) {
		struct script *script = scripts->script[i];
		const struct process *process = processes_find(scripts->readers.processes, script->pid);

		if ((process && !process->exited && process->since == script->began) ||
		    !script_close(scripts, script)) {
			scripts->script[left++] = script;
			continue;
		}
		free(script);
	}
	scripts->n = left;
}

/* ---- creation and release --------------------------------------------------------------------------------------- */

struct scripts *scripts_new(bool all, const struct interpstarter *starter)
{
	struct scripts *scripts = mem_alloc(sizeof(*scripts), 1);

	scripts->thread = interpthread_new(all, starter);
	return scripts;
}

void scripts_start(struct scripts *scripts, const struct scripts_readers *readers)
{
	scripts->readers = *readers;
	scripts->now = clock_now();
}

void scripts_free(struct scripts *scripts)
{
	if (!scripts)
		return;
	interpthread_free(scripts->thread);
	for (size_t i = 0; i < scripts->n; i++)
		free(scripts->script[i]);
	free(scripts->script);
	free(scripts);
}

bool scripts_started(const struct scripts *scripts)
{
	return scripts->started;
}

int scripts_fd(const struct scripts *scripts)
{
	return interpthread_fd(scripts->thread);
}

void scripts_debug(const struct scripts *scripts)
{
	if (scripts->not_entered)
		debug(DEBUG_UNWIND, "waits: %" PRIu64 " threads without a place", scripts->not_entered);
}

uint64_t scripts_private(const struct scripts *scripts)
{
	uint64_t n = 0;

	for (size_t i = 0; i < scripts->n; i++)
		n += scripts->script[i]->is_private;
	return n;
}

struct helper_counts scripts_helpers(const struct scripts *scripts)
{
	return interpthread_count(scripts->thread);
}
