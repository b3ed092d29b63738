/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/waitstacks.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/debug.h"
#include "common/hash.h"
#include "record/offcpu/waitjoin.h"
#include "record/perf/samplerecord.h"

#include <stdlib.h>

/* maximum time in ns per second for unwinding stacks of the tenants that share a row of `spent`; beyond it, copies are
 * dropped */
#define UNWIND_NS (SECOND_NS / 20)
/* maximum time in ns for which a copy waits for unwind tables; then it is dropped */
#define LATE_NS (2 * SECOND_NS)
/* maximum time in ns for which a copy waits for the names of its interpreted frames; then it is unwound without them */
#define NAMED_NS (SECOND_NS / 5)
/* SPENT_ROWS: number of rows of waitstacks.spent. SWITCHED_OUT: bit of misc in SWITCH records: the thread leaves the
 * CPU. */
enum { SPENT_ROWS = 256, SWITCHED_OUT = 1 << 13 };

/* Numbers of copies by result, for PJ_DEBUG=unwind. */
struct verdicts {
	uint64_t certified, resumed, uncertain, over_budget, malformed, late;
};

struct waitstacks {
	struct waitstacks_options o;
	struct waitcopies *copies;
	struct waitframes *frames; /* copies of frames of interpreters; NULL: no frames are copied */
	const struct sources *sources;
	bool differ; /* true: the CPUs that are online are not those that have events */
	/* time in ns; waits that began before may have ended on a CPU without events, so their copies are uncertain; 0:
	 * none */
	uint64_t sure;
	/* Attributes of composed samples. attr: with the stack copy of a switch-out. early: with the copy of a thread
	 * that has been off the CPU since before the recording. */
	struct perf_event_attr attr, early;
	struct text sample, unwound;
	struct verdicts verdicts;
	/* spent: time in ns that unwinding took in the current second; index: hash of the tenant. second: number of
	 * that second (CLOCK_MONOTONIC). */
	uint64_t spent[SPENT_ROWS], second;
	uint32_t own; /* pid of the pjrecord-wait that was last left out of the recording; 0: none */
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

/* Leaves pjrecord-wait out of the recording, before its first record is taken. It sleeps up to some thousand times a
 * second, and only because of this recording. */
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

/* ---- unwinding of copies ---------------------------------------------------------------------------------------- */

/* Composes a sample in waitstacks->sample, with the kernel's callchain of the wait, and the registers and stack of its
 * copy. Returns false if the sample would be too large, or if the number of registers is wrong. */
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

/* Returns the number of context markers that end the callchain of a broken stack; 0 if the stack is not broken, or was
 * not copied. */
static size_t broken_marks(const struct ring_sample *sample)
{
	size_t n = sample->nips, marks = 0;

	while (marks < n && sample->ips[n - 1 - marks] == CONTEXT_USER)
		marks++;
	return n > marks + 1 && (marks == PJ_MARKS_BROKEN || marks == PJ_MARKS_OTHER_STACK) ? marks : 0;
}

/* Returns the index in a callchain at which its user part begins, after the first CONTEXT_USER; n if it has none. */
static size_t user_part(const uint64_t *ips, size_t n)
{
	size_t i = 0;

	while (i < n && ips[i] != CONTEXT_USER)
		i++;
	return i < n ? i + 1 : n;
}

/* Extends the broken callchain in waitstacks->unwound, which ends with `marks` context markers: searches the kernel's
 * frame-pointer callchain for the address at which the walk broke (waitjoin_find), and appends the addresses after that
 * one. Appends nothing if that address is uncertain. Frame pointers lead beyond code without unwind tables, and beyond
 * the stacks on which Go runs its scheduler. The end of the result is not verified, so it gets the context markers of a
 * callchain from the kernel. Returns false if nothing was appended. */
static bool continue_stack(struct waitstacks *waitstacks, const struct offcpu_sample *wait, size_t marks)
{
	struct text *text = &waitstacks->unwound;
	struct ring_sample *sample = (void *)text->p;
	const uint64_t mark = CONTEXT_USER;
	size_t broken = (size_t)sample->nips - marks, walk = user_part(sample->ips, broken), kernel, more, from;

	if (wait->n == 0)
		return false;
	kernel = user_part(wait->ips, wait->n);
	from = kernel + 1 + waitjoin_find(sample->ips + walk, broken - walk, wait->ips + kernel, wait->n - kernel);
	if (from >= wait->n)
		return false;
	more = wait->n - from;
	if (text->n + 8 * (more + PJ_MARKS_NOT_VERIFIED) > SAMPLERECORD_MAX)
		return false;
	text->n -= 8 * marks;
	text_bytes(text, wait->ips + from, 8 * more);
	for (unsigned k = 0; k < PJ_MARKS_NOT_VERIFIED; k++)
		text_bytes(text, &mark, sizeof(mark));
	sample = (void *)text->p;
	sample->nips = broken + more + PJ_MARKS_NOT_VERIFIED;
	return true;
}

/* Stores the unwound callchain as the stack of the thread's wait. early: true: the wait began before the recording.
 * Returns false if there is no callchain, or no space for it. */
static bool give_stack(struct waitstacks *waitstacks, const struct offcpu_sample *wait, const struct tenant *tenant,
		       bool early)
{
	struct offcpu *offcpu = switches_offcpu(waitstacks->o.switches);
	const struct ring_sample *sample = (const void *)waitstacks->unwound.p;
	struct offcpu_stack stack = { .owner = waitcopies_class(tenant) };
	size_t marks;

	if (waitstacks->unwound.n < sizeof(*sample) || sample->nips == 0)
		return false;
	marks = broken_marks(sample);
	if (marks && continue_stack(waitstacks, wait, marks))
		sample = (const void *)waitstacks->unwound.p;
	stack.ips = sample->ips;
	stack.n = (uint32_t)sample->nips;
	stack.complete = sample->ips[sample->nips - 1] != CONTEXT_USER;
	return early ? offcpu_set_early(offcpu, wait->pid, wait->tid, &stack) :
		       offcpu_set_stack(offcpu, wait->tid, &stack);
}

/* Returns a pointer to the time in ns that was spent in this second for unwinding stacks of a tenant. The time is
 * limited by tenant: a tenant whose threads have deep stacks at each wait loses only its own stacks. */
static uint64_t *spent_on(struct waitstacks *waitstacks, const struct tenant *tenant, uint64_t now)
{
	if (now / SECOND_NS != waitstacks->second)
		memset(waitstacks->spent, 0, sizeof(waitstacks->spent));
	waitstacks->second = now / SECOND_NS;
	return &waitstacks->spent[hash_pair(tenant->key, tenant->kind) % SPENT_ROWS];
}

/* Returns true if a copy has the registers of the wait's sample: both have the same address of the next user
 * instruction. Returns true, too, if the callchain has no user part, for which the kernel's part may have left no
 * space. */
static bool is_of_wait(const struct waitstacks *waitstacks, const struct offcpu_sample *wait,
		       const struct waitcopy *head)
{
	size_t at = user_part(wait->ips, wait->n);

	return !wait->n || at == wait->n || wait->ips[at] == waitcopies_ip(waitstacks->copies, head);
}

/* Returns the time in ns that identifies the interpreted frames of a copy (threadcopy.time). */
static uint64_t time_of_copy(const struct waitcopies_copy *copy)
{
	return copy->sampled ? copy->sampled : copy->ended;
}

/* Sets *wait to the wait that a copy belongs to. Returns false if the thread is not off the CPU. Sets wait->read if
 * another copy has given the wait a stack; then the callchain in *wait has only the kernel's frames. For a wait that
 * began before the recording, sets wait->read only if that stack is complete: an incomplete one may be replaced. */
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

/* Unwinds a certified copy, whose thread was off the CPU until time `until` (ns), and stores its stack. Returns false
 * if unwind tables are still being made: then the caller tries again later. Returns true, too, if the copy is
 * malformed, over budget, or not needed. */
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
		return true; /* another copy has given the wait its stack already */
	tenant = state_tenant(waitstacks->o.state, wait.pid);
	/* Passes the tenant on again, because it may have changed since the fork. */
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
		/* keeps the stack of the other copy: that stack may have interpreted frames, this one has none */
		return true;
	if (give_stack(waitstacks, &wait, &tenant, !copy->sampled))
		waitstacks->verdicts.certified++;
	else
		waitstacks->verdicts.over_budget++;
	return true;
}

/* Returns the verdict on a copy at time `until` (ns). If a CPU had no events, waits that began before the last
 * comparison of CPUs are uncertain. */
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

/* Decides on a copy when all records before time `until` (ns) have been processed. Returns true and sets copy->done if
 * the decision was made; false if unwind tables are still being made. */
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

/* ---- records of switches and processes -------------------------------------------------------------------------- */

static void note_tenant(struct waitstacks *waitstacks, uint32_t pid)
{
	struct tenant tenant;

	if (!waitcopies_is_new(waitstacks->copies, pid) ||
	    (waitstacks->o.some && !switches_wanted(waitstacks->o.switches, pid)))
		return;
	/* In a recording of some processes, pjrecord-wait does not read a process before it has the process's
	 * tenant. */
	tenant = waitstacks->o.some ? state_identify(waitstacks->o.state, pid) : state_tenant(waitstacks->o.state, pid);
	waitcopies_process(waitstacks->copies, pid, &tenant);
}

/* Returns the newest copy of a thread's current wait that has no verdict yet; NULL if there is none. The wait may have
 * begun before the recording. */
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

/* Returns true if a copy must wait at time `until` (ns), because its interpreted frames are not named yet, or their
 * certificate is missing. Returns false after NAMED_NS, or if space for copies is short. */
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

/* Requests copies of the stacks of some threads that have been off the CPU since before the recording
 * (earlywaits_next). */
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

/* With PJ_DEBUG=unwind, prints the counts of copies. */
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

/* Compares the CPUs that are online with the CPUs that have events, and sets `differ` and `sure`. A thread may return
 * from its wait on a CPU without events. So a wait is certain only if it began when all CPUs had events, and they have
 * had events since. Returns true if the CPUs differ now, but did not before. */
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
