/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/frametimes.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"

#include <stdlib.h>

struct one {
	struct code_blob blob;
	struct str runs;
	struct frametimes_life life;
};

struct frametimes {
	struct one *one; /* by start once they are sorted; of several, the later first */
	size_t n;
	uint64_t *time; /* at which something changes, each once */
	size_t ntimes;
	bool sorted;
	/* the stretch from time[stretch - 1] to before time[stretch] */
	size_t stretch;
	bool made;
	struct javaunwind_code code;
	struct code_blob *blob;
	struct str *runs; /* of piece */
};

struct frametimes *frametimes_new(void)
{
	return mem_alloc(sizeof(struct frametimes), 1);
}

void frametimes_free(struct frametimes *f)
{
	if (!f)
		return;
	free(f->one);
	free(f->time);
	free(f->blob);
	free(f->runs);
	free(f);
}

void frametimes_returns(struct frametimes *f, uint64_t call_stub, uint64_t continuation)
{
	f->code.call_stub_return = call_stub;
	f->code.continuation_return = continuation;
}

void frametimes_add(struct frametimes *f, const struct code_blob *p, struct str runs,
		    const struct frametimes_life *life)
{
	if (p->start >= p->end)
		return;
	f->one = mem_more(f->one, sizeof(*f->one), f->n);
	f->one[f->n++] = (struct one){ *p, runs, *life };
	f->sorted = f->made = false;
}

/* ---- stretches ------------------------------------------------------------------------------------------------- */

static int one_cmp(const void *va, const void *vb)
{
	const struct one *a = va, *b = vb;

	if (a->blob.start != b->blob.start)
		return a->blob.start < b->blob.start ? -1 : 1;
	if (a->life.from != b->life.from)
		return a->life.from > b->life.from ? -1 : 1;
	return (a->blob.end > b->blob.end) - (a->blob.end < b->blob.end);
}

static int time_cmp(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static uint64_t frametimes_after(uint64_t time)
{
	return time == UINT64_MAX ? time : time + 1;
}

static void frametimes_sort(struct frametimes *f)
{
	size_t n = 0;

	qsort(f->one, f->n, sizeof(*f->one), one_cmp);
	f->time = mem_grow(f->time, sizeof(*f->time), 4 * f->n + 1);
	for (size_t i = 0; i < f->n; i++) {
		const struct frametimes_life *l = &f->one[i].life;
		const uint64_t at[] = { l->may_from, l->from, frametimes_after(l->until),
					frametimes_after(l->may_until) };

		for (size_t k = 0; k < countof(at); k++)
			if (n == 0 || f->time[n - 1] != at[k])
				f->time[n++] = at[k];
	}
	qsort(f->time, n, sizeof(*f->time), time_cmp);
	f->ntimes = 0;
	for (size_t i = 0; i < n; i++)
		if (f->ntimes == 0 || f->time[f->ntimes - 1] != f->time[i])
			f->time[f->ntimes++] = f->time[i];
	f->blob = mem_grow(f->blob, sizeof(*f->blob), f->n + 1);
	f->runs = mem_grow(f->runs, sizeof(*f->runs), f->n + 1);
	f->sorted = true;
}

static size_t stretch_of(const struct frametimes *f, uint64_t time)
{
	size_t low = 0, high = f->ntimes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->time[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum { NOT, MAYBE, SURELY };

static int was_there(const struct one *o, uint64_t time)
{
	if (time == 0 ? o->life.until == UINT64_MAX : time >= o->life.from && time <= o->life.until)
		return SURELY;
	return time && time >= o->life.may_from && time <= o->life.may_until ? MAYBE : NOT;
}

static void frametimes_make(struct frametimes *f, uint64_t time)
{
	const struct one *before = NULL;
	size_t n = 0;
	int last = NOT;

	for (size_t i = 0; i < f->n; i++) {
		int there = was_there(&f->one[i], time);

		if (there == NOT)
			continue;
		if (n && f->one[i].blob.start < f->blob[n - 1].end) {
			if (there < last || (there == last && f->one[i].life.from <= before->life.from))
				continue;
			n--;
		}
		if (n &&
		    f->one[i].blob.start < f->blob[n - 1].end) /* what is before the one that lost is certain, too */
			continue;
		before = &f->one[i];
		f->blob[n] = before->blob;
		f->runs[n++] = before->runs;
		last = there;
	}
	f->code.blob = f->blob;
	f->code.n = n;
}

const struct javaunwind_code *frametimes_at(struct frametimes *f, uint64_t time)
{
	size_t stretch;

	if (!f || f->n == 0)
		return NULL;
	if (!f->sorted)
		frametimes_sort(f);
	stretch = time ? stretch_of(f, time) : SIZE_MAX;
	if (!f->made || stretch != f->stretch)
		frametimes_make(f, time);
	f->made = true;
	f->stretch = stretch;
	return f->code.n ? &f->code : NULL;
}

int frametimes_how(const struct frametimes *f, const struct code_blob *p, uint64_t address)
{
	return (int)blobcodec_how(f->runs[p - f->blob], address - p->start);
}
