/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwinder.h"

#include "common/arena.h"
#include "common/diag.h"
#include "record/interpreters/interpstarter.h"
#include "record/java/allocations.h"
#include "record/perf/chunk.h"
#include "record/unwind/cfitables.h"
#include "record/unwind/samplestack.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct unwinder {
	struct cfitables *tables;
	struct javacode *javacode;
	struct javanames *names;
	struct interpreters *interpreters; /* reads frames of interpreters; NULL: these are not read */
	struct samplestack *unwinding;
	struct samplestack *waiting; /* converter for unwinder_wait; NULL: unwinder_wait will not be called */
	const struct processes *processes;
	uint64_t allocation_limit;              /* maximum plausible size of an allocation in bytes */
	struct allocation_history *allocations; /* NULL before the first sample of an allocation */
	struct allocation_counts counts;
	/* epoll descriptor that is readable when unwinder_take has work; -1: none */
	int fd;
	uint64_t now; /* time in ns (clock_now) of the current poll of the rings */
	bool flush;
};

/* Starts a helper process for interpreters. owner: the unwind tables. Implements interpstarter.start. */
static pid_t unwinder_start_interphelper(void *owner, int socket, int memory)
{
	return cfitables_start_interphelper(owner, socket, memory);
}

struct unwinder *unwinder_fork(enum interpreters_choice interpreters)
{
	struct unwinder *unwinder = mem_alloc(sizeof(*unwinder), 1);

	unwinder->tables = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });
	unwinder->javacode = javacode_new();
	if (interpreters)
		unwinder->interpreters = interpreters_new(
			interpreters, &(struct interpstarter){ unwinder_start_interphelper, unwinder->tables });
	unwinder->fd = -1;
	return unwinder;
}

static void unwinder_watch(const struct unwinder *unwinder, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(unwinder->fd, EPOLL_CTL_ADD, fd, &event);
}

static void unwinder_start_interpreters(struct unwinder *unwinder, const struct unwinder_options *options)
{
	int fd[INTERPRETERS_FDS];

	if (!unwinder->interpreters)
		return;
	interpreters_start(unwinder->interpreters, options->processes, options->sources, options->rings,
			   options->frames);
	samplestack_interpret(unwinder->unwinding, unwinder->interpreters);
	if (unwinder->waiting && options->frames)
		samplestack_interpret(unwinder->waiting, unwinder->interpreters);
	interpreters_fds(unwinder->interpreters, fd);
	for (size_t i = 0; i < INTERPRETERS_FDS; i++)
		unwinder_watch(unwinder, fd[i]);
}

void unwinder_start(struct unwinder *unwinder, const struct unwinder_options *options)
{
	if (!unwinder)
		return;
	unwinder->processes = options->processes;
	unwinder->allocation_limit = allocation_limit();
	cfitables_budgets(unwinder->tables, options->budgets);
	javacode_start(unwinder->javacode, options->processes, options->budgets);
	unwinder->names = javanames_new();
	unwinder->unwinding =
		samplestack_new(options->processes, unwinder->tables, unwinder->javacode, unwinder->names);
	samplestack_limit(unwinder->unwinding, options->max_frames);
	samplestack_kernel_limit(unwinder->unwinding, options->max_stack);
	if (options->waits) {
		unwinder->waiting =
			samplestack_new(options->processes, unwinder->tables, unwinder->javacode, unwinder->names);
		samplestack_limit(unwinder->waiting, options->max_frames);
		samplestack_kernel_limit(unwinder->waiting, options->max_stack);
	}
	unwinder->fd = epoll_create1(EPOLL_CLOEXEC);
	unwinder_watch(unwinder, cfitables_fd(unwinder->tables));
	unwinder_start_interpreters(unwinder, options);
	if (options->verify)
		samplestack_verify(unwinder->unwinding, options->shown);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	samplestack_free(unwinder->unwinding);
	samplestack_free(unwinder->waiting);
	allocation_history_free(unwinder->allocations);
	interpreters_free(unwinder->interpreters);
	javacode_free(unwinder->javacode);
	javanames_free(unwinder->names);
	cfitables_stop(unwinder->tables);
	if (unwinder->fd >= 0)
		close(unwinder->fd);
	free(unwinder);
}

int unwinder_fd(const struct unwinder *unwinder)
{
	return unwinder ? unwinder->fd : -1;
}

void unwinder_take(struct unwinder *unwinder, uint64_t now)
{
	if (!unwinder)
		return;
	cfitables_take(unwinder->tables, now);
	if (unwinder->interpreters)
		interpreters_take(unwinder->interpreters, now);
}

void unwinder_flush(struct unwinder *unwinder)
{
	if (unwinder && unwinder->interpreters)
		interpreters_flush(unwinder->interpreters);
}

void unwinder_state(struct unwinder *unwinder, const struct ring_record *record)
{
	if (unwinder && unwinder->interpreters)
		interpreters_state(unwinder->interpreters, record);
}

void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush)
{
	if (!unwinder)
		return;
	unwinder->now = now;
	unwinder->flush = flush;
	javacode_begin(unwinder->javacode, horizon, now, flush);
	if (unwinder->interpreters)
		interpreters_take(unwinder->interpreters, now);
}

bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out)
{
	return samplestack_sample(unwinder->unwinding, attr, sample, !unwinder->flush, unwinder->now, out);
}

bool unwinder_repeats(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		      uint64_t event)
{
	bool repeats;

	if (!unwinder)
		return false;
	if (!unwinder->allocations)
		unwinder->allocations = allocation_history_new();
	repeats = allocation_repeats(unwinder->allocations, attr, sample, event);
	unwinder->counts.repeated += repeats;
	return repeats;
}

/* Warns once that the registers of a process are no arguments of an allocation. */
static void warn_of_allocation(struct unwinder *unwinder, uint32_t pid)
{
	if (unwinder->counts.implausible++ == 0)
		warn("process %u: the arguments of an allocation are implausible: such samples have 0 bytes and no class",
		     pid);
}

/* Notes the class for the names of the window. Returns the address to show: the class, or 0 for one without a name.
 * Sets *noted to false if the window has no space even for that. */
static uint64_t note_class(struct unwinder *unwinder, const struct process *process, uint64_t klass, uint64_t time,
			   bool *noted)
{
	/* opens the JVM, so that the name can be read, even if none of its code was on a stack yet */
	struct javacode_jvm *jvm = javacode_of(unwinder->javacode, process);
	struct javanames_jvm owner = jvm ? javacode_owner(jvm) : (struct javanames_jvm){ .pid = process->pid };

	*noted = true;
	if (jvm && javanames_note(unwinder->names, &owner, klass | PJ_CLASS_BIT, time))
		return klass;
	unwinder->counts.unread += !jvm;
	unwinder->counts.left_out += jvm != NULL;
	*noted = javanames_note(unwinder->names, &owner, PJ_CLASS_BIT, time);
	return 0;
}

void unwinder_allocation(struct unwinder *unwinder, const struct perf_event_attr *attr,
			 const struct ring_sample *sample, struct text *out)
{
	const struct process *process = processes_find(unwinder->processes, sample->pid);
	struct allocation allocation;
	bool noted;

	if (!allocation_read(attr, sample, unwinder->allocation_limit, &allocation)) {
		allocation_weigh(out, 0);
		warn_of_allocation(unwinder, sample->pid);
		return;
	}
	allocation_weigh(out, allocation.bytes);
	if (!process || !allocation_has_place(out))
		return;
	allocation.klass = note_class(unwinder, process, allocation.klass, sample->time, &noted);
	if (noted)
		allocation_put_class(out, allocation.klass);
}

struct allocation_counts unwinder_allocations(const struct unwinder *unwinder)
{
	return unwinder ? unwinder->counts : (struct allocation_counts){ 0 };
}

bool unwinder_wait(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct unwinder_read *read, struct text *out, size_t *used)
{
	uint64_t shown = samplestack_counts(unwinder->waiting).interpreted_shown;

	samplestack_off_cpu(unwinder->waiting, read->until, read->frames);
	if (!samplestack_sample(unwinder->waiting, attr, sample, !unwinder->flush, unwinder->now, out))
		return false;
	read->shown = samplestack_counts(unwinder->waiting).interpreted_shown != shown;
	*used = samplestack_used(unwinder->waiting);
	return true;
}

bool unwinder_has_wait(const struct unwinder *unwinder, uint32_t tid, uint64_t time, uint64_t until)
{
	return !unwinder->interpreters || interpreters_has_wait(unwinder->interpreters, tid, time, until);
}

void unwinder_resumed(struct unwinder *unwinder, uint32_t tid)
{
	if (unwinder->interpreters)
		interpreters_resumed(unwinder->interpreters, tid);
}

bool unwinder_saw_interpreter(const struct unwinder *unwinder)
{
	return unwinder && samplestack_saw_interpreter(unwinder->unwinding);
}

void unwinder_note(struct unwinder *unwinder, struct ring_sample *sample)
{
	if (!unwinder || !unwinder->waiting)
		return;
	samplestack_note(unwinder->waiting, sample->pid, sample->time, sample->ips, sample->nips);
	if (unwinder->interpreters)
		interpreters_rename(unwinder->interpreters, sample->tid, sample->ips, sample->nips);
}

bool unwinder_skip(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct text *out)
{
	return samplestack_skip(unwinder->unwinding, attr, sample, out);
}

void unwinder_recount(struct unwinder *unwinder, const uint64_t *ips, uint64_t nips)
{
	samplestack_recount(unwinder->unwinding, ips, nips);
}

void unwinder_name(struct unwinder *unwinder)
{
	if (unwinder)
		javacode_name(unwinder->javacode, unwinder->names);
}

void unwinder_tick(struct unwinder *unwinder, uint64_t now)
{
	if (!unwinder)
		return;
	cfitables_tick(unwinder->tables, now);
	javacode_tick(unwinder->javacode, now);
	if (unwinder->interpreters)
		interpreters_tick(unwinder->interpreters, now);
}

/* Adds the counts of interpreted frames of `waiting`, the converter of stacks read off the CPU, to *counts, and resets
 * them. */
static void add_waits(struct pj_unwinding *counts, struct samplestack *waiting)
{
	struct pj_unwinding waits = samplestack_counts(waiting);

	counts->interpreted += waits.interpreted;
	counts->interpreted_shown += waits.interpreted_shown;
	counts->interpreted_late += waits.interpreted_late;
	counts->interpreted_unsure += waits.interpreted_unsure;
	counts->interpreted_invalid += waits.interpreted_invalid;
	counts->interpreted_other += waits.interpreted_other;
	counts->functions += waits.functions;
	counts->functions_unnamed += waits.functions_unnamed;
	samplestack_reset_counts(waiting);
}

struct pj_unwinding unwinder_end(struct unwinder *unwinder, struct stacks_by_name *names)
{
	struct pj_unwinding counts;

	*names = (struct stacks_by_name){ 0 };
	if (!unwinder)
		return (struct pj_unwinding){ 0 };
	javanames_recheck(unwinder->names);
	unwinder_name(unwinder);
	counts = samplestack_counts(unwinder->unwinding);
	*names = samplestack_names(unwinder->unwinding);
	samplestack_reset_counts(unwinder->unwinding);
	if (unwinder->waiting)
		add_waits(&counts, unwinder->waiting);
	counts.interpreters = unwinder->interpreters != NULL;
	if (unwinder->interpreters)
		counts.interpreters_private = interpreters_private(unwinder->interpreters);
	return counts;
}

void unwinder_put_code(struct unwinder *unwinder, struct text *text)
{
	if (unwinder)
		javacode_put_names(unwinder->javacode, true, text);
}

void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, bool stream, struct text *text)
{
	if (!unwinder)
		return;
	javacode_put_names(unwinder->javacode, stream, text);
	chunk_put_item(text, PJ_ITEM_UNWINDING, counts, sizeof(*counts));
	javanames_end(unwinder->names, text);
	if (unwinder->interpreters)
		interpreters_end(unwinder->interpreters, text);
}

struct helper_counts unwinder_helpers(const struct unwinder *unwinder)
{
	return unwinder ? cfitables_count(unwinder->tables).helpers : (struct helper_counts){ 0 };
}

struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder)
{
	return unwinder ? javacode_count(unwinder->javacode).helpers : (struct helper_counts){ 0 };
}

struct helper_counts unwinder_interpreter_helpers(const struct unwinder *unwinder)
{
	return unwinder && unwinder->interpreters ? interpreters_helpers(unwinder->interpreters) :
						    (struct helper_counts){ 0 };
}
