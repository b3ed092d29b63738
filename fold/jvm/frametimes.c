/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jvm/frametimes.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"

#include <stdlib.h>

struct one {
	struct code_blob blob;
	struct str runs;
	struct frametimes_life life;
};

struct frametimes {
	/* All blobs, n elements. If `sorted` is true, they are sorted by start address; of several blobs with the same
	 * start, the later blob comes first. */
	struct one *one;
	size_t n;
	/* All times, in ns, at which the existence of a blob changes between no, possible and certain; sorted, without
	 * duplicates. */
	uint64_t *time;
	size_t ntimes;
	bool sorted;
	/* Time interval for which `code` is valid if `made` is true: time[stretch - 1] <= t < time[stretch]. SIZE_MAX:
	 * `code` is valid for time 0. */
	size_t stretch;
	bool made;
	struct javaunwind_code code;
	struct code_blob *blob;
	/* By index in `blob`: frame states of the blob (blobcodec.h). */
	struct str *runs;
};

struct frametimes *frametimes_new(void)
{
	return mem_alloc(sizeof(struct frametimes), 1);
}

void frametimes_free(struct frametimes *frametimes)
{
	if (!frametimes)
		return;
	free(frametimes->one);
	free(frametimes->time);
	free(frametimes->blob);
	free(frametimes->runs);
	free(frametimes);
}

void frametimes_returns(struct frametimes *frametimes, uint64_t call_stub, uint64_t continuation)
{
	frametimes->code.call_stub_return = call_stub;
	frametimes->code.continuation_return = continuation;
}

void frametimes_add(struct frametimes *frametimes, const struct code_blob *blob, struct str runs,
		    const struct frametimes_life *life)
{
	if (blob->start >= blob->end)
		return;
	frametimes->one = mem_more(frametimes->one, sizeof(*frametimes->one), frametimes->n);
	frametimes->one[frametimes->n++] = (struct one){ *blob, runs, *life };
	frametimes->sorted = frametimes->made = false;
}

/* ---- selection of blobs by time interval ------------------------------------------------------------------------- */

static int one_cmp(const void *left, const void *right)
{
	const struct one *one = left, *b = right;

	if (one->blob.start != b->blob.start)
		return one->blob.start < b->blob.start ? -1 : 1;
	if (one->life.from != b->life.from)
		return one->life.from > b->life.from ? -1 : 1;
	return (one->blob.end > b->blob.end) - (one->blob.end < b->blob.end);
}

static int time_cmp(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static uint64_t frametimes_after(uint64_t time)
{
	return time == UINT64_MAX ? time : time + 1;
}

/* Sorts the blobs, and collects in `time` the times at which the existence of a blob changes. */
static void frametimes_sort(struct frametimes *frametimes)
{
	size_t n = 0;

	qsort(frametimes->one, frametimes->n, sizeof(*frametimes->one), one_cmp);
	frametimes->time = mem_grow(frametimes->time, sizeof(*frametimes->time), 4 * frametimes->n + 1);
	for (size_t i = 0; i < frametimes->n; i++) {
		const struct frametimes_life *life = &frametimes->one[i].life;
		const uint64_t at[] = { life->may_from, life->from, frametimes_after(life->until),
					frametimes_after(life->may_until) };

		for (size_t index = 0; index < countof(at); index++)
			if (n == 0 || frametimes->time[n - 1] != at[index])
				frametimes->time[n++] = at[index];
	}
	qsort(frametimes->time, n, sizeof(*frametimes->time), time_cmp);
	frametimes->ntimes = 0;
	for (size_t i = 0; i < n; i++)
		if (frametimes->ntimes == 0 || frametimes->time[frametimes->ntimes - 1] != frametimes->time[i])
			frametimes->time[frametimes->ntimes++] = frametimes->time[i];
	frametimes->blob = mem_grow(frametimes->blob, sizeof(*frametimes->blob), frametimes->n + 1);
	frametimes->runs = mem_grow(frametimes->runs, sizeof(*frametimes->runs), frametimes->n + 1);
	frametimes->sorted = true;
}

static size_t stretch_of(const struct frametimes *frametimes, uint64_t time)
{
	size_t low = 0, high = frametimes->ntimes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frametimes->time[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Existence of a blob at a time: NOT: it did not exist; MAYBE: it may have existed; SURELY: it certainly existed. */
enum { NOT, MAYBE, SURELY };

static int was_there(const struct one *one, uint64_t time)
{
	if (time == 0 ? one->life.until == UINT64_MAX : time >= one->life.from && time <= one->life.until)
		return SURELY;
	return time && time >= one->life.may_from && time <= one->life.may_until ? MAYBE : NOT;
}

/* Stores in code.blob the blobs that existed at `time` (0: those that never disappeared), without overlaps. Of
 * overlapping blobs, prefers one that certainly existed to one that may have existed, then the one that appeared later.
 * The result is valid for the interval between two changes of the code that contains `time`. */
static void frametimes_make(struct frametimes *frametimes, uint64_t time)
{
	const struct one *before = NULL;
	size_t n = 0;
	int last = NOT;

	for (size_t i = 0; i < frametimes->n; i++) {
		int there = was_there(&frametimes->one[i], time);

		if (there == NOT)
			continue;
		if (n && frametimes->one[i].blob.start < frametimes->blob[n - 1].end) {
			if (there < last || (there == last && frametimes->one[i].life.from <= before->life.from))
				continue;
			n--;
		}
		/* Never true, since the selected blobs are sorted and disjoint. The test keeps them disjoint even if
		 * the selection has an error. */
		if (n && frametimes->one[i].blob.start < frametimes->blob[n - 1].end)
			continue;
		before = &frametimes->one[i];
		frametimes->blob[n] = before->blob;
		frametimes->runs[n++] = before->runs;
		last = there;
	}
	frametimes->code.blob = frametimes->blob;
	frametimes->code.n = n;
}

const struct javaunwind_code *frametimes_at(struct frametimes *frametimes, uint64_t time)
{
	size_t stretch;

	if (!frametimes || frametimes->n == 0)
		return NULL;
	if (!frametimes->sorted)
		frametimes_sort(frametimes);
	stretch = time ? stretch_of(frametimes, time) : SIZE_MAX;
	if (!frametimes->made || stretch != frametimes->stretch)
		frametimes_make(frametimes, time);
	frametimes->made = true;
	frametimes->stretch = stretch;
	return frametimes->code.n ? &frametimes->code : NULL;
}

int frametimes_how(const struct frametimes *frametimes, const struct code_blob *blob, uint64_t address)
{
	return (int)blobcodec_how(frametimes->runs[blob - frametimes->blob], address - blob->start);
}
