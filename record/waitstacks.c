/* SPDX-License-Identifier: Apache-2.0 */
#include "record/waitstacks.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/debug.h"
#include "common/hash.h"
#include "record/offcpu/waitjoin.h"
#include "record/perf/samplerecord.h"

#include <stdlib.h>

#define UNWIND_NS (SECOND_NS / 20) /* longest time in a second for the stacks of tenants that share a row */
#define LATE_NS (2 * SECOND_NS)    /* longest time for which a copy waits for unwind tables */
#define NAMED_NS (SECOND_NS / 5)   /* longest time for which it waits for the names of interpreted frames */
enum { SPENT_ROWS = 256, SWITCHED_OUT = 1 << 13, MARKS = 4 /* of a callchain of the kernel (PJ_ITEM_UNWINDING) */ };

/* Numbers of copies by their verdict, for PJ_DEBUG=unwind. */
struct verdicts {
	uint64_t certified, resumed, uncertain, over_budget, malformed, late;
};

struct waitstacks {
	struct waitstacks_options o;
	struct waitcopies *copies;
	struct waitframes *frames; /* NULL: frames of interpreters are not read */
	const struct sources *sources;
	bool differ;   /* a CPU is online without events, or has gone */
	uint64_t sure; /* waits that began earlier may have ended on a CPU without events */
	/* of a sample with a copy of the stack; of one of a thread that is off the CPU since before the recording */
	struct perf_event_attr attr, early;
	struct text sample, unwound;
	struct verdicts verdicts;
	/* time that unwinding took in this second, by a hash of the tenant */
	uint64_t spent[SPENT_ROWS], second;
	uint32_t own; /* pid of the process that is left out of the recording, or of the last one */
};

struct waitstacks *waitstacks_new(const struct perf_event_attr *attr, const struct rings *rings,
				  const struct sources *sources, bool interpreters)
{
	struct waitstacks *waitstacks;
	struct waitframes *frames = interpreters ? waitframes_new() : NULL;
	struct waitcopies *copies = waitcopies_fork(attr, rings, sources, frames);

	if (!copies) {
		waitframes_free(frames);
		return NULL;
	}
	waitstacks = mem_alloc(sizeof(*waitstacks), 1);
	waitstacks->copies = copies;
	waitstacks->frames = frames;
	waitstacks->sources = sources;
	waitstacks->attr = *attr;
	waitstacks->attr.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	waitstacks->attr.sample_stack_user = WAITSHARE_STACK;
	waitstacks->early = waitstacks->attr;
	waitstacks->early.sample_regs_user = waitcopies_early_registers(copies);
	return waitstacks;
}

void waitstacks_free(struct waitstacks *waitstacks)
{
	if (!waitstacks)
		return;
	waitcopies_free(waitstacks->copies);
	waitframes_free(waitstacks->frames);
	text_free(&waitstacks->sample);
	text_free(&waitstacks->unwound);
	free(waitstacks);
}

struct waitframes *waitstacks_frames(const struct waitstacks *waitstacks)
{
	return waitstacks ? waitstacks->frames : NULL;
}

/* Leaves the process that reads stacks out of the recording, before its first record is taken. Its sleeps are up to
 * some thousand a second, and nothing but this recording causes them. */
static void leave_out_own(struct waitstacks *waitstacks)
{
	uint32_t pid = waitcopies_pid(waitstacks->copies);

	if (!pid || pid == waitstacks->own)
		return;
	switches_leave_out(waitstacks->o.switches, pid);
	if (waitstacks->own)
		earlywaits_retry(switches_early(waitstacks->o.switches), switches_offcpu(waitstacks->o.switches));
	waitstacks->own = pid;
}

void waitstacks_start(struct waitstacks *waitstacks, const struct waitstacks_options *options)
{
	if (!waitstacks)
		return;
	waitstacks->o = *options;
	waitcopies_limit(waitstacks->copies, options->some);
	leave_out_own(waitstacks);
	waitstacks_follow(waitstacks);
}

void waitstacks_follow(struct waitstacks *waitstacks)
{
	if (waitstacks)
		waitcopies_follow(waitstacks->copies);
}

/* ---- unwinding -------------------------------------------------------------------------------------------------- */

/* Composes a sample with the registers and the copy of the stack. Returns false if it would be too large. */
static bool compose(struct waitstacks *waitstacks, const struct perf_event_attr *attr, const struct offcpu_sample *wait,
		    const struct waitcopy *head, const char *stack)
{
	struct ring_sample sample = { .head = { .type = RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
				      .pid = wait->pid,
				      .tid = wait->tid,
				      .time = wait->time,
				      .cpu = wait->cpu,
				      .nips = wait->n };
	struct text *text = &waitstacks->sample;
	uint64_t abi = head->wait.abi, copied = head->n, space = (copied + 7) & ~UINT64_C(7);
	size_t n = sizeof(sample) + 8 * ((size_t)wait->n + head->wait.nregisters + 3) + (size_t)space;
	const char zeros[8] = { 0 };

	if (n > SAMPLERECORD_MAX || head->wait.nregisters != (uint32_t)__builtin_popcountll(attr->sample_regs_user))
		return false;
	sample.head.size = (uint16_t)n;
	text->n = 0;
	text_bytes(text, &sample, sizeof(sample));
	text_bytes(text, wait->ips, 8 * (size_t)wait->n);
	text_bytes(text, &abi, sizeof(abi));
	text_bytes(text, head->wait.registers, 8 * (size_t)head->wait.nregisters);
	text_bytes(text, &space, sizeof(space));
	text_bytes(text, stack, (size_t)copied);
	text_bytes(text, zeros, (size_t)(space - copied));
	text_bytes(text, &copied, sizeof(copied));
	return true;
}

/* Returns true if the callchain ends with the two marks of a broken stack. */
static bool is_broken(const struct ring_sample *sample)
{
	uint64_t n = sample->nips;

	return n > 3 && sample->ips[n - 1] == CONTEXT_USER && sample->ips[n - 2] == CONTEXT_USER &&
	       sample->ips[n - 3] != CONTEXT_USER;
}

/* Returns the index behind the first CONTEXT_USER of a callchain: where its user part begins; n if it has none. */
static size_t user_part(const uint64_t *ips, size_t n)
{
	size_t i = 0;

	while (i < n && ips[i] != CONTEXT_USER)
		i++;
	return i < n ? i + 1 : n;
}

/* Continues a broken callchain by that of the kernel, from the address on where it broke, if it is certain which one
 * that is: code without unwind tables, and stacks on which Go runs its scheduler, are passed by frame pointers. The
 * result has the marks of a callchain of the kernel, as its end is not verified. Returns false if nothing was appended.
 */
static bool continue_stack(struct waitstacks *waitstacks, const struct offcpu_sample *wait)
{
	struct text *text = &waitstacks->unwound;
	struct ring_sample *sample = (void *)text->p;
	const uint64_t mark = CONTEXT_USER;
	size_t broken = (size_t)sample->nips - 2, walk = user_part(sample->ips, broken), kernel, more, from;

	if (wait->n == 0)
		return false;
	kernel = user_part(wait->ips, wait->n);
	from = kernel + 1 + waitjoin_find(sample->ips + walk, broken - walk, wait->ips + kernel, wait->n - kernel);
	if (from >= wait->n)
		return false;
	more = wait->n - from;
	if (text->n + 8 * (more + MARKS) > SAMPLERECORD_MAX)
		return false;
	text->n -= 16;
	text_bytes(text, wait->ips + from, 8 * more);
	for (unsigned k = 0; k < MARKS; k++)
		text_bytes(text, &mark, sizeof(mark));
	sample = (void *)text->p;
	sample->nips = broken + more + MARKS;
	return true;
}

/* Gives the thread the callchain that was unwound. early: it is off the CPU since before the recording. Returns false
 * if there is no space for it. */
static bool give_stack(struct waitstacks *waitstacks, const struct offcpu_sample *wait, const struct tenant *tenant,
		       bool early)
{
	struct offcpu *offcpu = switches_offcpu(waitstacks->o.switches);
	const struct ring_sample *sample = (const void *)waitstacks->unwound.p;
	struct offcpu_stack stack = { .owner = waitcopies_class(tenant) };

	if (waitstacks->unwound.n < sizeof(*sample) || sample->nips == 0)
		return false;
	if (is_broken(sample) && continue_stack(waitstacks, wait))
		sample = (const void *)waitstacks->unwound.p;
	stack.ips = sample->ips;
	stack.n = (uint32_t)sample->nips;
	stack.complete = sample->ips[sample->nips - 1] != CONTEXT_USER;
	return early ? offcpu_set_early(offcpu, wait->pid, wait->tid, &stack) :
		       offcpu_set_stack(offcpu, wait->tid, &stack);
}

/* Returns the time that was spent in this second for the stacks of a tenant: deep stacks at each wait are its own loss.
 */
static uint64_t *spent_on(struct waitstacks *waitstacks, const struct tenant *tenant, uint64_t now)
{
	if (now / SECOND_NS != waitstacks->second)
		memset(waitstacks->spent, 0, sizeof(waitstacks->spent));
	waitstacks->second = now / SECOND_NS;
	return &waitstacks->spent[hash_pair(tenant->key, tenant->kind) % SPENT_ROWS];
}

/* Returns true if the registers of a copy are those of the sample: both have the address of the instruction that is
 * next in user code. The kernel's part may have left no space for it in the callchain. */
static bool is_of_wait(const struct waitstacks *waitstacks, const struct offcpu_sample *wait,
		       const struct waitcopy *head)
{
	size_t at = user_part(wait->ips, wait->n);

	return !wait->n || at == wait->n || wait->ips[at] == waitcopies_ip(waitstacks->copies, head);
}

/* Returns the time under which the unwinder has the frames of a copy (threadcopy.time). */
static uint64_t time_of_copy(const struct waitcopies_copy *copy)
{
	return copy->sampled ? copy->sampled : copy->ended;
}

/* Sets *wait to the wait that a copy is of. Returns false if the thread is not off the CPU. If it has a stack of an
 * earlier copy already, wait->read is set, and its callchain is that of the kernel's frames alone; of a thread that is
 * off the CPU since before the recording, only if that stack is complete: others are read again to replace it. */
static bool wait_of_copy(struct waitstacks *waitstacks, const struct waitcopies_copy *copy, struct offcpu_sample *wait)
{
	const struct offcpu *offcpu = switches_offcpu(waitstacks->o.switches);

	if (copy->sampled) {
		if (!offcpu_wait(offcpu, copy->tid, wait))
			return false;
		if (wait->read && user_part(wait->ips, wait->n) < wait->n)
			wait->n = (uint32_t)user_part(wait->ips, wait->n) - 1;
		return true;
	}
	*wait = (struct offcpu_sample){ .pid = earlywaits_pid(switches_early(waitstacks->o.switches), copy->tid),
					.tid = copy->tid,
					.read = offcpu_early(offcpu, copy->tid) == OFFCPU_EARLY_COMPLETE,
					.time = time_of_copy(copy) };
	return wait->pid;
}

/* Unwinds a copy that is certified: the thread was off the CPU until `until`. Returns false if unwind tables are being
 * made. */
static bool waitstacks_unwind(struct waitstacks *waitstacks, const struct waitcopies_copy *copy, uint64_t until)
{
	const struct perf_event_attr *attr = copy->sampled ? &waitstacks->attr : &waitstacks->early;
	uint32_t tid = copy->tid;
	struct offcpu_sample wait;
	struct waitcopy head;
	const char *stack;
	uint64_t now = clock_now();
	struct unwinder_read read = { .until = until - OFFCPU_MARGIN_NS, .frames = copy->frames };
	struct tenant tenant;
	bool unwound;
	size_t used;

	if (!wait_of_copy(waitstacks, copy, &wait) || !waitcopies_bytes(waitstacks->copies, copy, &head, &stack) ||
	    head.wait.tid != tid || head.wait.time != copy->sampled || !is_of_wait(waitstacks, &wait, &head) ||
	    !compose(waitstacks, attr, &wait, &head, stack)) {
		waitstacks->verdicts.malformed++;
		return true;
	}
	if (wait.read && copy->frames != WAITCOPY_FRAMES)
		return true; /* a later copy was decided before */
	tenant = state_tenant(waitstacks->o.state, wait.pid);
	/* a process may have a tenant of its own since it was forked */
	waitcopies_process(waitstacks->copies, wait.pid, &tenant);
	state_note(waitstacks->o.state, wait.pid, wait.tid, waitcopies_ip(waitstacks->copies, &head));
	if (state_is_stale(waitstacks->o.state, wait.pid) ||
	    !budgets_has(waitstacks->o.budgets, tenant, 8 * (uint64_t)waitstacks->o.max_frames, wait.time) ||
	    *spent_on(waitstacks, &tenant, now) > UNWIND_NS) {
		waitstacks->verdicts.over_budget++;
		return true;
	}
	unwound = unwinder_wait(waitstacks->o.unwinder, attr, (const void *)waitstacks->sample.p, &read,
				&waitstacks->unwound, &used);
	*spent_on(waitstacks, &tenant, now) += clock_now() - now;
	if (!unwound)
		return false;
	waitcopies_learn(waitstacks->copies, tid, head.wait.sp, used);
	if (wait.read && !read.shown)
		return true; /* the stack that it has may show them */
	if (give_stack(waitstacks, &wait, &tenant, !copy->sampled))
		waitstacks->verdicts.certified++;
	else
		waitstacks->verdicts.over_budget++;
	return true;
}

/* Returns the verdict on a copy. CPUs without events make waits uncertain that began before these were compared last.
 */
static enum offcpu_verdict verdict_on(const struct waitstacks *waitstacks, const struct waitcopies_copy *copy,
				      uint64_t until)
{
	const struct offcpu_copy read = {
		.tid = copy->tid, .sampled = copy->sampled, .begun = copy->begun, .ended = copy->ended
	};
	const struct offcpu *offcpu = switches_offcpu(waitstacks->o.switches);

	if (copy->sampled < waitstacks->sure)
		return OFFCPU_UNCERTAIN;
	return copy->sampled ? offcpu_verdict(offcpu, &read, until) : offcpu_early_verdict(offcpu, &read, until);
}

/* Decides on a copy: all records before `until` were taken. Returns false if unwind tables are being made. */
static bool waitstacks_decide(struct waitstacks *waitstacks, struct waitcopies_copy *copy, uint64_t until)
{
	switch (verdict_on(waitstacks, copy, until)) {
	case OFFCPU_CERTIFIED:
		if (!waitstacks_unwind(waitstacks, copy, until))
			return false;
		break;
	case OFFCPU_RESUMED: waitstacks->verdicts.resumed++; break;
	default: waitstacks->verdicts.uncertain++; break;
	}
	copy->done = true;
	return true;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static void note_tenant(struct waitstacks *waitstacks, uint32_t pid)
{
	struct tenant tenant;

	if (!waitcopies_is_new(waitstacks->copies, pid) ||
	    (waitstacks->o.some && !switches_wanted(waitstacks->o.switches, pid)))
		return;
	/* without its tenant, a process of a recording of some processes is not read */
	tenant = waitstacks->o.some ? state_identify(waitstacks->o.state, pid) : state_tenant(waitstacks->o.state, pid);
	waitcopies_process(waitstacks->copies, pid, &tenant);
}

/* Returns the newest copy without a verdict of a thread's present wait, which may have begun before the recording; NULL
 * if there is none. */
static struct waitcopies_copy *copy_of_thread(struct waitstacks *waitstacks, uint32_t tid)
{
	struct offcpu_sample wait;

	if (!offcpu_wait(switches_offcpu(waitstacks->o.switches), tid, &wait))
		wait.time = 0;
	return waitcopies_find(waitstacks->copies, tid, wait.time);
}

bool waitstacks_record(struct waitstacks *waitstacks, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));
	struct waitcopies_copy *copy;

	if (!waitstacks)
		return true;
	if (record->kind == RING_OF_STATE) {
		if (head->type == RECORD_EXIT && id->pid == id->tid)
			waitcopies_exit(waitstacks->copies, id->pid);
		return true;
	}
	if (head->type != RECORD_SWITCH && head->type != RECORD_SWITCH_CPU_WIDE)
		return true;
	if (head->misc & SWITCHED_OUT) {
		note_tenant(waitstacks, id->pid);
		return true;
	}
	while ((copy = copy_of_thread(waitstacks, id->tid)) != NULL)
		if (!waitstacks_decide(waitstacks, copy, record->time))
			return false;
	return true;
}

void waitstacks_recorded(struct waitstacks *waitstacks, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));
	bool out = (head->type == RECORD_SWITCH || head->type == RECORD_SWITCH_CPU_WIDE) && head->misc & SWITCHED_OUT;

	if (waitstacks && (out || head->type == RECORD_EXIT))
		unwinder_resumed(waitstacks->o.unwinder, id->tid);
}

/* Returns true if the frames of the thread's interpreter are being named, or their certificate is still to come. */
static bool waits_for_names(const struct waitstacks *waitstacks, const struct waitcopies_copy *copy, uint64_t until)
{
	return copy->frames == WAITCOPY_FRAMES && until - copy->ended < NAMED_NS &&
	       !waitcopies_press(waitstacks->copies) &&
	       !unwinder_has_wait(waitstacks->o.unwinder, copy->tid, time_of_copy(copy), until - OFFCPU_MARGIN_NS);
}

void waitstacks_settle(struct waitstacks *waitstacks, uint64_t until)
{
	struct waitcopies_copy *copy;

	if (!waitstacks)
		return;
	for (size_t i = 0; (copy = waitcopies_at(waitstacks->copies, i)) != NULL; i++) {
		if (copy->done)
			continue;
		if (copy->ended >= until || until - copy->ended <= OFFCPU_MARGIN_NS)
			break;
		if (waits_for_names(waitstacks, copy, until) || waitstacks_decide(waitstacks, copy, until))
			continue;
		if (waitcopies_press(waitstacks->copies) || until - copy->ended > LATE_NS) {
			waitstacks->verdicts.late++;
			copy->done = true;
		}
	}
	waitcopies_release(waitstacks->copies);
}

/* Sends some of the threads to the process that are off the CPU since before the recording. */
static void read_early_waits(struct waitstacks *waitstacks, uint64_t now)
{
	struct earlywaits *early = switches_early(waitstacks->o.switches);
	const struct offcpu *offcpu = switches_offcpu(waitstacks->o.switches);
	const struct earlywait *wait;

	while (waitstacks->sure == 0 && (wait = earlywaits_next(early, offcpu, now)) != NULL) {
		struct tenant tenant = state_identify(waitstacks->o.state, wait->pid);

		waitcopies_process(waitstacks->copies, wait->pid, &tenant);
		if (!waitcopies_read(waitstacks->copies, wait->pid, wait->tid))
			earlywaits_defer(early, wait);
	}
}

static struct tenant waitstacks_tenant(void *to, uint32_t pid)
{
	return state_tenant(((struct waitstacks *)to)->o.state, pid);
}

/* With PJ_DEBUG=unwind, prints the counts. */
static void waitstacks_debug(const struct waitstacks *waitstacks)
{
	const struct verdicts *verdicts = &waitstacks->verdicts;
	struct waitcounters counters = waitcopies_counters(waitstacks->copies);

	debug(DEBUG_UNWIND,
	      "waits: %llu certified, %llu resumed, %llu uncertain, %llu over budget, %llu malformed, %llu late; %llu read, %llu "
	      "not readable, %llu denied, %llu ring full, %llu queue full, %llu over rate, %llu refused, %llu gaps, %llu rounds; "
	      "%llu of interpreters, %llu over rate, %llu ring full",
	      (unsigned long long)verdicts->certified, (unsigned long long)verdicts->resumed,
	      (unsigned long long)verdicts->uncertain, (unsigned long long)verdicts->over_budget,
	      (unsigned long long)verdicts->malformed, (unsigned long long)verdicts->late,
	      (unsigned long long)counters.copies, (unsigned long long)counters.failed,
	      (unsigned long long)counters.denied, (unsigned long long)counters.ring_full,
	      (unsigned long long)counters.queue_full, (unsigned long long)counters.over_budget,
	      (unsigned long long)counters.refused, (unsigned long long)counters.missed,
	      (unsigned long long)counters.rounds, (unsigned long long)counters.frames,
	      (unsigned long long)counters.frames_over, (unsigned long long)counters.frames_full);
}

/* Compares the CPUs with those that have events. A thread may leave the CPU, and return on one without events: so waits
 * are certain only if they began when all CPUs had events, and all still have. Returns true if they have changed. */
static bool check_cpus(struct waitstacks *waitstacks)
{
	bool before = waitstacks->differ;

	waitstacks->differ = sources_cpus_differ(waitstacks->sources);
	if (before || waitstacks->differ)
		waitstacks->sure = clock_now();
	return waitstacks->differ && !before;
}

bool waitstacks_begin(struct waitstacks *waitstacks, uint64_t now)
{
	bool changed;

	if (!waitstacks)
		return false;
	changed = check_cpus(waitstacks);
	waitcopies_tick(waitstacks->copies, now, waitstacks_tenant, waitstacks);
	leave_out_own(waitstacks);
	read_early_waits(waitstacks, now);
	waitcopies_collect(waitstacks->copies);
	waitstacks_debug(waitstacks);
	return changed;
}

struct helper_counts waitstacks_helpers(const struct waitstacks *waitstacks)
{
	return waitstacks ? waitcopies_helpers(waitstacks->copies) : (struct helper_counts){ 0 };
}

struct waitcounters waitstacks_counters(const struct waitstacks *waitstacks)
{
	return waitstacks ? waitcopies_counters(waitstacks->copies) : (struct waitcounters){ 0 };
}
