/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/fpcompare.h"

enum { PLACES = 6 }; /* where a caller may be lost; more are not tried */
enum { OUTER = 3 };  /* libc's frames around main, and around the function of a thread */

void fpcompare_put(struct fpcompare_walk *w, uint64_t ip, enum fpcompare_code code)
{
	if (w->n < FPCOMPARE_FRAMES)
		w->frame[w->n++] = (struct fpcompare_frame){ ip, code };
}

static bool fpcompare_keeps(const struct fpcompare_walk *w, size_t i)
{
	return w->frame[i].code == FPCOMPARE_KEEPS;
}

/* Callers that frame pointers may have lost: the leaf's, and those of bare code. */
static unsigned fpcompare_find_places(const struct fpcompare_walk *w, size_t place[PLACES])
{
	unsigned n = 0;

	for (size_t i = 1; i < w->n && n < PLACES; i++)
		if (i == 1 || w->frame[i - 1].code == FPCOMPARE_BARE)
			place[n++] = i;
	return n;
}

/* A comparison from the leaf on: frames of the walk, and addresses of fp, that were passed. */
struct pass {
	size_t at, fp;
	bool lost;
};

/* Where they part, when the walk's frames at places whose bits are set are left out. */
static struct pass fpcompare_compare(const struct fpcompare_walk *w, const uint64_t *fp, size_t n, const size_t *place,
				     unsigned bits)
{
	struct pass p = { 0 };
	unsigned next = 0;

	for (; p.fp < n && p.at < w->n; p.at++) {
		for (; bits >> next && (!(bits >> next & 1) || place[next] < p.at); next++)
			;
		if (bits >> next && place[next] == p.at) {
			p.lost = true;
			continue;
		}
		if (w->frame[p.at].ip != fp[p.fp])
			break;
		p.fp++;
	}
	return p;
}

/* Frame pointers end before w's frame number at. */
static enum fpcompare fpcompare_at_end(const struct fpcompare_walk *w, size_t at, enum fpcompare so_far)
{
	bool java = false;

	if (at >= w->n)
		return so_far;
	for (size_t i = at; i < w->n; i++)
		java |= w->frame[i].code != FPCOMPARE_NATIVE;
	if (fpcompare_keeps(w, at - 1))
		return FPCOMPARE_LOST;
	return !java && at > 1 && w->n - at <= OUTER ? so_far : FPCOMPARE_FEWER;
}

/* One of the two is through. */
static enum fpcompare one_ends(const struct fpcompare_walk *w, const struct pass *p, size_t n, bool full)
{
	enum fpcompare same = p->lost ? FPCOMPARE_ONE_LOST : FPCOMPARE_SAME;

	if (p->fp == n)
		return full ? same : fpcompare_at_end(w, p->at, same);
	if (w->complete)
		return FPCOMPARE_OTHER;
	return w->cut ? same : FPCOMPARE_SHORT;
}

static bool fpcompare_has(const struct fpcompare_walk *w, uint64_t ip)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->frame[i].ip == ip)
			return true;
	return false;
}

/* They part, and neither is through: frame pointers leave callers out, or have others. */
static enum fpcompare they_part(const struct fpcompare_walk *w, const uint64_t *fp, size_t n, bool full)
{
	enum fpcompare worst = FPCOMPARE_FEWER, end;
	size_t i = 0, at = 0, last = 0;

	for (; i < n && at < w->n; at++) {
		if (w->frame[at].ip == fp[i]) {
			last = at;
			i++;
		} else if (at > 1 && fpcompare_keeps(w, at - 1)) {
			worst = FPCOMPARE_LOST;
		}
	}
	if (i == n) {
		end = full ? worst : fpcompare_at_end(w, at, worst);
		return end > worst ? end : worst;
	}
	/* a register that was no frame pointer leads nowhere; where the leaf just makes one, it may lead back */
	if (w->complete && !fpcompare_keeps(w, last) &&
	    (!fpcompare_has(w, fp[n - 1]) || (last == 0 && w->frame[0].code == FPCOMPARE_BARE)))
		return FPCOMPARE_FEWER;
	return FPCOMPARE_OTHER;
}

enum fpcompare fpcompare_of(const struct fpcompare_walk *w, const uint64_t *fp, size_t n, bool full, size_t *at)
{
	size_t place[PLACES];
	unsigned places = fpcompare_find_places(w, place);

	*at = 0;
	for (unsigned bits = 0; bits < 1U << places; bits++) {
		struct pass p = fpcompare_compare(w, fp, n, place, bits);

		if (p.fp == n || p.at == w->n)
			return one_ends(w, &p, n, full);
		if (p.at > *at)
			*at = p.at;
	}
	return they_part(w, fp, n, full);
}
