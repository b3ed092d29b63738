/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/earlywaits.h"

#include "common/arena.h"
#include "common/clocks.h"

#include <stdlib.h>

/* Time since the start before which a try is too early, by its number. */
static const uint64_t delays[] = { 0, SECOND_NS, 3 * SECOND_NS };

void earlywaits_add(struct earlywaits *earlywaits, uint32_t pid, uint32_t tid)
{
	if (earlywaits->n == EARLYWAITS_MAX) {
		earlywaits->over++;
		return;
	}
	earlywaits->wait = mem_more(earlywaits->wait, sizeof(*earlywaits->wait), earlywaits->n);
	earlywaits->wait[earlywaits->n++] = (struct earlywait){ .pid = pid, .tid = tid };
}

static int tid_cmp(const void *left, const void *right)
{
	const struct earlywait *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void earlywaits_begin(struct earlywaits *earlywaits, uint64_t now)
{
	if (earlywaits->n)
		qsort(earlywaits->wait, earlywaits->n, sizeof(*earlywaits->wait), tid_cmp);
	earlywaits->begun = now;
}

void earlywaits_free(struct earlywaits *earlywaits)
{
	free(earlywaits->wait);
	*earlywaits = (struct earlywaits){ 0 };
}

/* Returns true if a thread is to be read now. */
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
	size_t n = earlywaits->n < EARLYWAITS_READ ? earlywaits->n : EARLYWAITS_READ;

	if (now < earlywaits->begun || now - earlywaits->begun > 60 * SECOND_NS)
		return NULL;
	if (now - earlywaits->last >= EARLYWAITS_PAUSE_NS) {
		earlywaits->last = now;
		earlywaits->burst = 0;
	}
	for (size_t left = n; left && earlywaits->burst < EARLYWAITS_BURST; left--) {
		size_t i = earlywaits->cursor++ % n;

		if (!earlywaits_is_due(earlywaits, i, offcpu, now))
			continue;
		earlywaits->burst++;
		earlywaits->wait[i].tries++;
		return &earlywaits->wait[i];
	}
	return NULL;
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
	for (size_t i = 0; i < earlywaits->n; i++)
		lacking += !earlywaits->wait[i].gone &&
			   offcpu_early(offcpu, earlywaits->wait[i].tid) == OFFCPU_EARLY_SILENT;
	return lacking;
}
