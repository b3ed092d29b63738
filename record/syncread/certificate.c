/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/certificate.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

/* Undecided copies of a CPU are decided in order of their samples, in two steps: the first switch after the sample
 * (cpu_state.queue), then the return of the sampled thread (certificate.running). */
struct cpu_state {
	bool present, has_in, has_out, out_preempted;
	uint64_t on, off; /* records of context switches are complete from `on` to `off`, in ns */
	/* records of migrations to this CPU are complete from arrivals_on to arrivals_off, in ns */
	uint64_t arrivals_on, arrivals_off;
	uint32_t reader;  /* tid of the CPU's reader thread; 0 before the first copy */
	uint64_t out, in; /* times in ns at which the reader thread last left and last entered the CPU */
	struct certificate_copy
		*queue; /* copies that wait for the first context switch after their sample, oldest first */
	size_t n;
};

struct verdict_row {
	uint64_t time, serial;
	struct userregs registers;
	uint32_t tid; /* sampled thread; 0: the row is empty */
	uint8_t verdict;
};

/* A copy whose sampled thread left the CPU to the reader and has not run since. */
struct left_copy {
	struct certificate_copy copy;
	struct userregs registers; /* user registers of the sampled thread when it left the CPU */
};

struct certificate {
	struct cpu_state *cpu;
	size_t ncpus;
	struct left_copy *running;
	size_t nrunning;
	struct verdict_row *row; /* hash table of verdicts by tid and sample time, with open addressing */
	size_t nrows, mask;
	/* lost: time up to which records may be missing (certificate_lose); passed: time up to which records were
	 * passed; oldest: verdicts on samples before it were deleted; in ns */
	uint64_t lost, passed, oldest;
};

struct certificate *certificate_new(void)
{
	struct certificate *certificate = mem_alloc(sizeof(*certificate), 1);

	certificate->mask = 1023;
	certificate->row = mem_alloc(sizeof(*certificate->row), certificate->mask + 1);
	return certificate;
}

void certificate_free(struct certificate *certificate)
{
	if (!certificate)
		return;
	for (size_t i = 0; i < certificate->ncpus; i++)
		free(certificate->cpu[i].queue);
	free(certificate->cpu);
	free(certificate->running);
	free(certificate->row);
	free(certificate);
}

/* ---- table of verdicts ---------------------------------------------------------------------------------------- */

static size_t row_home(const struct certificate *certificate, uint32_t tid, uint64_t time)
{
	return (size_t)hash_mix(time ^ tid, 0x9E3779B97F4A7C15u) & certificate->mask;
}

static size_t row_place(const struct certificate *certificate, uint32_t tid, uint64_t time)
{
	size_t i = row_home(certificate, tid, time);

	while (certificate->row[i].tid && (certificate->row[i].tid != tid || certificate->row[i].time != time))
		i = (i + 1) & certificate->mask;
	return i;
}

/* Rebuilds the hash table with the rows whose sample is not older than certificate->oldest. */
static void remake_rows(struct certificate *certificate)
{
	struct certificate old = *certificate;
	size_t n = 0;

	for (size_t i = 0; i <= old.mask; i++)
		n += old.row[i].tid && old.row[i].time >= old.oldest;
	for (certificate->mask = 1023; certificate->mask < 4 * n;)
		certificate->mask = 2 * certificate->mask + 1;
	certificate->row = mem_alloc(sizeof(*certificate->row), certificate->mask + 1);
	certificate->nrows = n;
	for (size_t i = 0; i <= old.mask; i++)
		if (old.row[i].tid && old.row[i].time >= old.oldest)
			certificate->row[row_place(certificate, old.row[i].tid, old.row[i].time)] = old.row[i];
	free(old.row);
}

static void decide_left(struct certificate *certificate, const struct certificate_copy *copy, struct userregs registers,
			enum syncread_verdict verdict)
{
	size_t i;

	if (2 * certificate->nrows >= certificate->mask)
		remake_rows(certificate);
	if (certificate->nrows >= CERTIFICATE_KEPT)
		return;
	if (verdict == SYNCREAD_CERTIFIED && copy->class != SYNCREAD_FIFO)
		verdict = SYNCREAD_WEAK;
	i = row_place(certificate, copy->tid, copy->time);
	certificate->nrows += certificate->row[i].tid == 0;
	certificate->row[i] = (struct verdict_row){
		.time = copy->time,
		.serial = copy->serial,
		.registers = registers,
		.tid = copy->tid,
		.verdict = (uint8_t)verdict,
	};
}

static void decide(struct certificate *certificate, const struct certificate_copy *copy, enum syncread_verdict verdict)
{
	decide_left(certificate, copy, (struct userregs){ 0 }, verdict);
}

/* Deletes a row. Moves later rows of the same probe sequence into the gap, so that lookups still find these rows. */
static void drop_row(struct certificate *certificate, size_t gap)
{
	struct verdict_row *row = certificate->row;

	certificate->nrows--;
	for (size_t i = (gap + 1) & certificate->mask; row[i].tid; i = (i + 1) & certificate->mask) {
		size_t home = row_home(certificate, row[i].tid, row[i].time);

		if (((i - home) & certificate->mask) < ((i - gap) & certificate->mask))
			continue;
		row[gap] = row[i];
		gap = i;
	}
	row[gap].tid = 0;
}

static bool is_undecided(const struct certificate *certificate, uint32_t tid, uint64_t time)
{
	for (size_t i = 0; i < certificate->nrunning; i++)
		if (certificate->running[i].copy.tid == tid && certificate->running[i].copy.time == time)
			return true;
	for (size_t i = 0; i < certificate->ncpus; i++)
		for (size_t k = 0; k < certificate->cpu[i].n; k++)
			if (certificate->cpu[i].queue[k].tid == tid && certificate->cpu[i].queue[k].time == time)
				return true;
	return false;
}

struct certificate_result certificate_take(struct certificate *certificate, uint32_t tid, uint64_t time)
{
	size_t i = row_place(certificate, tid, time);
	struct certificate_result result = { .verdict = SYNCREAD_NO_COPY };

	if (tid == 0 || certificate->row[i].tid == 0) {
		if (is_undecided(certificate, tid, time))
			result.verdict = SYNCREAD_LATE;
		return result;
	}
	result.verdict = certificate->row[i].verdict;
	result.serial = certificate->row[i].serial;
	result.registers = certificate->row[i].registers;
	drop_row(certificate, i);
	return result;
}

void certificate_expire(struct certificate *certificate, uint64_t time)
{
	if (time <= certificate->oldest)
		return;
	certificate->oldest = time;
	if (certificate->nrows)
		remake_rows(certificate);
}

/* ---- state of CPUs -------------------------------------------------------------------------------------------- */

static struct cpu_state *cpu_of(struct certificate *certificate, uint32_t cpu)
{
	if (cpu >= CERTIFICATE_CPUS)
		return NULL;
	if (cpu >= certificate->ncpus) {
		certificate->cpu = mem_grow(certificate->cpu, sizeof(*certificate->cpu), (size_t)cpu + 1);
		memset(certificate->cpu + certificate->ncpus, 0,
		       (cpu + 1 - certificate->ncpus) * sizeof(*certificate->cpu));
		certificate->ncpus = (size_t)cpu + 1;
	}
	return certificate->cpu + cpu;
}

void certificate_watch(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time)
{
	struct cpu_state *state = cpu_of(certificate, cpu);

	if (!state)
		return;
	state->present = true;
	if (on) {
		state->on = time;
		state->off = UINT64_MAX;
		state->has_in = state->has_out = false;
	} else if (state->off > time) {
		state->off = time;
	}
}

void certificate_watch_arrivals(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time)
{
	struct cpu_state *state = cpu_of(certificate, cpu);

	if (!state)
		return;
	state->present = true;
	if (on)
		state->arrivals_on = time;
	if (on || state->arrivals_off > time)
		state->arrivals_off = on ? UINT64_MAX : time;
}

void certificate_reader(struct certificate *certificate, uint32_t cpu, uint32_t tid)
{
	struct cpu_state *state = cpu_of(certificate, cpu);

	if (!state || state->reader == tid)
		return;
	state->reader = tid;
	state->has_in = state->has_out = false;
}

void certificate_without(struct certificate *certificate, uint32_t cpu)
{
	struct cpu_state *state = cpu < certificate->ncpus ? certificate->cpu + cpu : NULL;

	if (!state)
		return;
	for (size_t i = 0; i < state->n; i++)
		decide(certificate, state->queue + i, SYNCREAD_UNWATCHED);
	free(state->queue);
	*state = (struct cpu_state){ 0 };
}

static bool is_watched(const struct cpu_state *state, uint64_t from, uint64_t to)
{
	return state->present && state->on <= from && to < state->off;
}

static bool has_arrivals(const struct cpu_state *state, uint64_t from, uint64_t to)
{
	return state->arrivals_on <= from && to < state->arrivals_off;
}

/* Returns true if each CPU has complete records of switches or of migrations between the times `from` and `to`. If
 * true, the sampled thread cannot begin to run without a record: to run on another CPU than that of its sample, it must
 * migrate, and the CPU of its sample has records of switches. */
static bool all_watched(const struct certificate *certificate, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < certificate->ncpus; i++)
		if (certificate->cpu[i].present && !is_watched(certificate->cpu + i, from, to) &&
		    !has_arrivals(certificate->cpu + i, from, to))
			return false;
	return true;
}

/* ---- decisions on copies -------------------------------------------------------------------------------------- */

void certificate_add(struct certificate *certificate, const struct certificate_copy *copy)
{
	struct cpu_state *state = cpu_of(certificate, copy->cpu);

	if (!state)
		return;
	if (copy->time <= certificate->lost) {
		decide(certificate, copy, SYNCREAD_LOST);
		return;
	}
	if (copy->time < certificate->passed || state->n >= CERTIFICATE_OPEN ||
	    (state->n && state->queue[state->n - 1].time > copy->time)) {
		decide(certificate, copy, SYNCREAD_LATE);
		return;
	}
	state->queue = mem_more(state->queue, sizeof(*state->queue), state->n);
	state->queue[state->n++] = *copy;
	certificate_reader(certificate, copy->cpu, copy->reader);
}

/* Returns true if the reader thread was asleep when the sample was taken; false if it ran then, was preempted, or left
 * the CPU before it began to wait for samples. */
static bool was_asleep(const struct cpu_state *state, const struct certificate_copy *copy)
{
	return state->has_out && !state->out_preempted && state->out >= copy->waited && state->out <= copy->time &&
	       (!state->has_in || state->in <= state->out);
}

/* Returns SYNCREAD_CERTIFIED if the first switch after the sample, *change, is from the sampled thread to its reader
 * within the delay that is allowed for the reader's scheduling policy; otherwise the reason why the copy is not
 * certified. */
static enum syncread_verdict leave_verdict(const struct cpu_state *state, const struct certificate_copy *copy,
					   const struct certificate_switch *change)
{
	if (!is_watched(state, copy->time, copy->ended))
		return SYNCREAD_UNWATCHED;
	if (!was_asleep(state, copy))
		return SYNCREAD_AWAKE;
	if (!change->out || change->tid != copy->tid || change->other != copy->reader || !change->preempted)
		return SYNCREAD_NO_SWITCH;
	if (change->time - copy->time >
	    (copy->class == SYNCREAD_FIFO ? CERTIFICATE_DELAY_NS : CERTIFICATE_DELAY_WEAK_NS))
		return SYNCREAD_DELAYED;
	return SYNCREAD_CERTIFIED;
}

static void leave(struct certificate *certificate, struct cpu_state *state, const struct certificate_switch *change)
{
	size_t n = 0;

	for (; n < state->n && state->queue[n].time <= change->time; n++) {
		const struct certificate_copy *copy = state->queue + n;
		enum syncread_verdict verdict = leave_verdict(state, copy, change);

		if (verdict != SYNCREAD_CERTIFIED) {
			decide(certificate, copy, verdict);
			continue;
		}
		certificate->running =
			mem_more(certificate->running, sizeof(*certificate->running), certificate->nrunning);
		certificate->running[certificate->nrunning++] = (struct left_copy){ *copy, change->registers };
	}
	state->n -= n;
	memmove(state->queue, state->queue + n, state->n * sizeof(*state->queue));
}

/* Decides all copies whose verdict cannot depend on records later than `time`, in ns. change: the switch-in or
 * switch-out at `time`; NULL: there is none. */
static void settle_running(struct certificate *certificate, uint64_t time, const struct certificate_switch *change)
{
	size_t remaining = 0;

	for (size_t i = 0; i < certificate->nrunning; i++) {
		const struct left_copy left = certificate->running[i];
		const struct certificate_copy *copy = &left.copy;
		bool enters = change && !change->out && change->tid == copy->tid;

		if (enters && time < copy->ended)
			decide(certificate, copy, SYNCREAD_RESUMED);
		else if (time < copy->ended)
			certificate->running[remaining++] = left;
		else if (all_watched(certificate, copy->time, copy->ended))
			decide_left(certificate, copy, left.registers, SYNCREAD_CERTIFIED);
		else if (enters && change->cpu == copy->cpu && change->other == copy->reader)
			decide_left(certificate, copy, left.registers, SYNCREAD_CERTIFIED);
		else if (enters || time - copy->ended > CERTIFICATE_RETURN_NS)
			decide(certificate, copy, SYNCREAD_UNWATCHED);
		else
			certificate->running[remaining++] = left;
	}
	certificate->nrunning = remaining;
}

void certificate_pass(struct certificate *certificate, const struct certificate_switch *change)
{
	struct cpu_state *state = cpu_of(certificate, change->cpu);

	if (change->time > certificate->passed)
		certificate->passed = change->time;
	if (certificate->nrunning)
		settle_running(certificate, change->time, change);
	if (!state)
		return;
	if (state->n)
		leave(certificate, state, change);
	if (!state->reader || change->tid != state->reader)
		return;
	if (change->out) {
		state->has_out = true;
		state->out = change->time;
		state->out_preempted = change->preempted;
	} else {
		state->has_in = true;
		state->in = change->time;
	}
}

void certificate_arrive(struct certificate *certificate, uint32_t cpu, uint32_t tid, uint64_t time)
{
	const struct certificate_switch change = { .cpu = cpu, .tid = tid, .time = time };

	if (time > certificate->passed)
		certificate->passed = time;
	if (certificate->nrunning)
		settle_running(certificate, time, &change);
}

void certificate_lose(struct certificate *certificate, uint64_t time)
{
	for (size_t i = 0; i < certificate->nrunning; i++)
		decide(certificate, &certificate->running[i].copy, SYNCREAD_LOST);
	certificate->nrunning = 0;
	for (size_t i = 0; i < certificate->ncpus; i++) {
		struct cpu_state *state = certificate->cpu + i;

		for (size_t k = 0; k < state->n; k++)
			decide(certificate, state->queue + k, SYNCREAD_LOST);
		state->n = 0;
		state->has_in = state->has_out = false;
	}
	if (time > certificate->lost)
		certificate->lost = time;
}

void certificate_advance(struct certificate *certificate, uint64_t time)
{
	if (time > certificate->passed)
		certificate->passed = time;
	settle_running(certificate, time, NULL);
	for (size_t i = 0; i < certificate->ncpus; i++) {
		struct cpu_state *state = certificate->cpu + i;
		size_t n = 0;

		for (; n < state->n && state->queue[n].ended < time; n++)
			decide(certificate, state->queue + n, SYNCREAD_NO_SWITCH);
		if (n == 0)
			continue;
		state->n -= n;
		memmove(state->queue, state->queue + n, state->n * sizeof(*state->queue));
	}
}
