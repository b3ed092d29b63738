/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/earlywaits.h"

#include "common/arena.h"
#include "common/clocks.h"

#include <stdlib.h>

/* Minimum time in ns between earlywaits_begin and a read of a thread; index: number of earlier reads of the thread. */
static const uint64_t delays[] = { 0, SECOND_NS, 3 * SECOND_NS };

/* number of threads at which the table is cut to EARLYWAITS_MAX threads while earlywaits_add fills it */
enum { ADDED_MAX = 2 * EARLYWAITS_MAX };

/* ---- order of the threads --------------------------------------------------------------------------------------- */

static int number_cmp(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int tid_cmp(const void *left, const void *right)
{
	return number_cmp(((const struct earlywait *)left)->tid, ((const struct earlywait *)right)->tid);
}

static int turn_cmp(const void *left, const void *right)
{
	const struct earlywait *a = left, *b = right;

	return a->turn != b->turn ? number_cmp(a->turn, b->turn) : tid_cmp(left, right);
}

static int tenant_and_turn_cmp(const void *left, const void *right)
{
	const struct earlywait *a = left, *b = right;

	return a->tenant != b->tenant ? number_cmp(a->tenant, b->tenant) : turn_cmp(left, right);
}

static int tenant_and_process_cmp(const void *left, const void *right)
{
	const struct earlywait *a = left, *b = right;

	if (a->tenant != b->tenant)
		return number_cmp(a->tenant, b->tenant);
	return a->pid != b->pid ? number_cmp(a->pid, b->pid) : tid_cmp(left, right);
}

/* Sorts the threads by turns: the first thread of each tenant, then the second thread of each tenant, and so on. The
 * threads of a tenant take turns by process in the same way. */
static void by_turns(struct earlywaits *earlywaits)
{
	struct earlywait *wait = earlywaits->wait;
	size_t n = earlywaits->n;

	if (!n)
		return;
	qsort(wait, n, sizeof(*wait), tenant_and_process_cmp);
	for (size_t i = 0; i < n; i++)
		wait[i].turn = i && wait[i - 1].tenant == wait[i].tenant && wait[i - 1].pid == wait[i].pid ?
				       wait[i - 1].turn + 1 :
				       0;
	qsort(wait, n, sizeof(*wait), tenant_and_turn_cmp);
	for (size_t i = 0; i < n; i++)
		wait[i].turn = i && wait[i - 1].tenant == wait[i].tenant ? wait[i - 1].turn + 1 : 0;
	qsort(wait, n, sizeof(*wait), turn_cmp);
}

/* Sorts the threads by turns and removes those beyond EARLYWAITS_MAX, which are threads of the tenants with the most
 * threads. Adds the number of removed threads to earlywaits->over. */
static void earlywaits_cut(struct earlywaits *earlywaits)
{
	by_turns(earlywaits);
	if (earlywaits->n <= EARLYWAITS_MAX)
		return;
	earlywaits->over += earlywaits->n - EARLYWAITS_MAX;
	earlywaits->n = EARLYWAITS_MAX;
}

void earlywaits_add(struct earlywaits *earlywaits, uint64_t tenant, uint32_t pid, uint32_t tid)
{
	if (earlywaits->n == ADDED_MAX)
		earlywaits_cut(earlywaits);
	earlywaits->wait = mem_more(earlywaits->wait, sizeof(*earlywaits->wait), earlywaits->n);
	earlywaits->wait[earlywaits->n++] = (struct earlywait){ .tenant = tenant, .pid = pid, .tid = tid };
}

void earlywaits_begin(struct earlywaits *earlywaits, uint64_t now)
{
	earlywaits_cut(earlywaits);
	for (size_t i = 0; i < earlywaits->n; i++)
		earlywaits->wait[i].turn = (uint32_t)i;
	if (earlywaits->n)
		qsort(earlywaits->wait, earlywaits->n, sizeof(*earlywaits->wait), tid_cmp);
	earlywaits->nread = earlywaits->n < EARLYWAITS_READ ? earlywaits->n : EARLYWAITS_READ;
	earlywaits->order = mem_alloc(sizeof(*earlywaits->order), earlywaits->nread + 1);
	for (size_t i = 0; i < earlywaits->n; i++)
		if (earlywaits->wait[i].turn < earlywaits->nread)
			earlywaits->order[earlywaits->wait[i].turn] = (uint32_t)i;
	earlywaits->begun = earlywaits->updated = now;
}

void earlywaits_free(struct earlywaits *earlywaits)
{
	free(earlywaits->wait);
	free(earlywaits->order);
	*earlywaits = (struct earlywaits){ 0 };
}

/* Returns true if the stack of the thread with index i in `wait` must be read at time now (ns). */
static bool earlywaits_is_due(const struct earlywaits *earlywaits, size_t i, const struct offcpu *offcpu, uint64_t now)
{
	const struct earlywait *wait = &earlywaits->wait[i];
	enum offcpu_early early;

	if (wait->gone || wait->tries == countof(delays) || now - earlywaits->begun < delays[wait->tries])
		return false;
	early = offcpu_early(offcpu, wait->tid);
	return early == OFFCPU_EARLY_SILENT || early == OFFCPU_EARLY_READ;
}

const struct earlywait *earlywaits_next(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now)
{
	if (now < earlywaits->begun || now - earlywaits->begun > 60 * SECOND_NS || offcpu_has_lost(offcpu))
		return NULL;
	/* each burst searches from the start of the order, so second reads of the first threads precede first reads of
	 * later threads */
	if (now - earlywaits->last >= EARLYWAITS_PAUSE_NS) {
		earlywaits->last = now;
		earlywaits->burst = 0;
		earlywaits->cursor = 0;
	}
	while (earlywaits->cursor < earlywaits->nread && earlywaits->burst < EARLYWAITS_BURST) {
		size_t i = earlywaits->order[earlywaits->cursor++];

		if (!earlywaits_is_due(earlywaits, i, offcpu, now))
			continue;
		earlywaits->burst++;
		earlywaits->wait[i].tries++;
		return &earlywaits->wait[i];
	}
	return NULL;
}

void earlywaits_defer(struct earlywaits *earlywaits, const struct earlywait *wait)
{
	earlywaits->wait[wait - earlywaits->wait].tries--;
	earlywaits->burst = EARLYWAITS_BURST;
}

void earlywaits_retry(struct earlywaits *earlywaits, const struct offcpu *offcpu)
{
	if (earlywaits->again == EARLYWAITS_RETRIES)
		return;
	earlywaits->again++;
	for (size_t i = 0; i < earlywaits->n; i++) {
		struct earlywait *wait = &earlywaits->wait[i];

		if (wait->tries && !wait->gone && offcpu_early(offcpu, wait->tid) == OFFCPU_EARLY_SILENT)
			wait->tries--;
	}
}

uint32_t earlywaits_pid(const struct earlywaits *earlywaits, uint32_t tid)
{
	const struct earlywait key = { .tid = tid }, *found = NULL;

	if (earlywaits->n)
		found = bsearch(&key, earlywaits->wait, earlywaits->n, sizeof(key), tid_cmp);
	return found && !found->gone ? found->pid : 0;
}

void earlywaits_update(struct earlywaits *earlywaits, const struct offcpu *offcpu)
{
	for (size_t i = 0; i < earlywaits->n; i++) {
		struct earlywait *wait = &earlywaits->wait[i];
		enum offcpu_early early = wait->gone ? OFFCPU_EARLY_SILENT : offcpu_early(offcpu, wait->tid);

		wait->gone |= early == OFFCPU_EARLY_RETURNED || early == OFFCPU_EARLY_NONE;
		earlywaits->returned += early == OFFCPU_EARLY_RETURNED;
	}
}

void earlywaits_tick(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now)
{
	if (now - earlywaits->updated < SECOND_NS / 2)
		return;
	earlywaits->updated = now;
	earlywaits_update(earlywaits, offcpu);
}

void earlywaits_end(struct earlywaits *earlywaits, bool (*alive)(void *to, uint32_t tid), void *to)
{
	for (size_t i = 0; i < earlywaits->n; i++)
		earlywaits->wait[i].gone |= !alive(to, earlywaits->wait[i].tid);
}

uint64_t earlywaits_lacking(struct earlywaits *earlywaits, const struct offcpu *offcpu)
{
	uint64_t lacking = earlywaits->over;

	earlywaits_update(earlywaits, offcpu);
	lacking += earlywaits->returned;
	earlywaits->returned = 0;
	for (size_t i = 0; i < earlywaits->n; i++) {
		enum offcpu_early early =
			earlywaits->wait[i].gone ? OFFCPU_EARLY_NONE : offcpu_early(offcpu, earlywaits->wait[i].tid);

		lacking += early == OFFCPU_EARLY_SILENT || early == OFFCPU_EARLY_LOST;
	}
	return lacking;
}
