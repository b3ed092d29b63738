/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/fpcompare.h"

enum { PLACES = 6 }; /* maximum number of frames that the comparison tries to skip */
enum { OUTER = 3 };  /* maximum number of libc frames around main, or around the function of a thread */

void fpcompare_put(struct fpcompare_walk *walk, uint64_t ip, enum fpcompare_code code)
{
	if (walk->n < FPCOMPARE_FRAMES)
		walk->frame[walk->n++] = (struct fpcompare_frame){ ip, code };
}

static bool fpcompare_keeps(const struct fpcompare_walk *walk, size_t i)
{
	return walk->frame[i].code == FPCOMPARE_KEEPS;
}

/* Fills place[] with the indexes in walk->frame of the frames that frame pointers may miss: the leaf frame's caller,
 * and callers of JVM code without frame. Returns their number; at most PLACES, the innermost ones. */
static unsigned fpcompare_find_places(const struct fpcompare_walk *walk, size_t place[PLACES])
{
	unsigned n = 0;

	for (size_t i = 1; i < walk->n && n < PLACES; i++)
		if (i == 1 || walk->frame[i - 1].code == FPCOMPARE_NO_FRAME)
			place[n++] = i;
	return n;
}

/* Result of one comparison that starts at the leaf frame. at: number of frames of the walk that were compared or
 * skipped. fp: number of equal addresses in fp. lost: true if a frame of the walk was skipped. */
struct pass {
	size_t at, fp;
	bool lost;
};

/* Compares the walk with fp[0..n) up to the first difference, and returns how far they are equal. Skips the frame with
 * index place[i] in the walk if bit i of `bits` is set. */
static struct pass fpcompare_compare(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n,
				     const size_t *place, unsigned bits)
{
	struct pass pass = { 0 };
	unsigned next = 0;

	for (; pass.fp < n && pass.at < walk->n; pass.at++) {
		for (; bits >> next && (!(bits >> next & 1) || place[next] < pass.at); next++)
			;
		if (bits >> next && place[next] == pass.at) {
			pass.lost = true;
			continue;
		}
		if (walk->frame[pass.at].ip != fp[pass.fp])
			break;
		pass.fp++;
	}
	return pass;
}

/* Classifies a frame-pointer callchain that is equal to the walk, but ends before frame `at` of the walk. so_far:
 * result for the frames before `at`. */
static enum fpcompare fpcompare_at_end(const struct fpcompare_walk *walk, size_t at, enum fpcompare so_far)
{
	bool java = false;

	if (at >= walk->n)
		return so_far;
	for (size_t i = at; i < walk->n; i++)
		java |= walk->frame[i].code != FPCOMPARE_NATIVE;
	if (fpcompare_keeps(walk, at - 1))
		return FPCOMPARE_LOST;
	return !java && at > 1 && walk->n - at <= OUTER ? so_far : FPCOMPARE_FEWER;
}

/* Classifies a comparison in which one of the two stacks ended before a difference. n: length of the frame-pointer
 * callchain. */
static enum fpcompare one_ends(const struct fpcompare_walk *walk, const struct pass *pass, size_t n, bool full)
{
	enum fpcompare same = pass->lost ? FPCOMPARE_ONE_LOST : FPCOMPARE_SAME;

	if (pass->fp == n)
		return full ? same : fpcompare_at_end(walk, pass->at, same);
	if (walk->complete)
		return FPCOMPARE_OTHER;
	return walk->cut ? same : FPCOMPARE_SHORT;
}

static bool fpcompare_has(const struct fpcompare_walk *walk, uint64_t ip)
{
	for (size_t i = 0; i < walk->n; i++)
		if (walk->frame[i].ip == ip)
			return true;
	return false;
}

/* Classifies a comparison in which the stacks differ before either ends: frame pointers miss callers, or lead to other
 * callers. */
static enum fpcompare they_part(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n, bool full)
{
	enum fpcompare worst = FPCOMPARE_FEWER, end;
	size_t i = 0, at = 0, last = 0;

	for (; i < n && at < walk->n; at++) {
		if (walk->frame[at].ip == fp[i]) {
			last = at;
			i++;
		} else if (at > 1 && fpcompare_keeps(walk, at - 1)) {
			worst = FPCOMPARE_LOST;
		}
	}
	if (i == n) {
		end = full ? worst : fpcompare_at_end(walk, at, worst);
		return end > worst ? end : worst;
	}
	/* If the walk is complete, the frame pointers were wrong in two cases. A register that holds no frame pointer
	 * leads to an address that is not in the walk. While the leaf function sets up its frame, the register may also
	 * lead to an address that is in the walk. */
	if (walk->complete && !fpcompare_keeps(walk, last) &&
	    (!fpcompare_has(walk, fp[n - 1]) || (last == 0 && walk->frame[0].code == FPCOMPARE_NO_FRAME)))
		return FPCOMPARE_FEWER;
	return FPCOMPARE_OTHER;
}

enum fpcompare fpcompare_of(const struct fpcompare_walk *walk, const uint64_t *fp, size_t n, bool full, size_t *at)
{
	size_t place[PLACES];
	unsigned places = fpcompare_find_places(walk, place);

	*at = 0;
	for (unsigned bits = 0; bits < 1U << places; bits++) {
		struct pass pass = fpcompare_compare(walk, fp, n, place, bits);

		if (pass.fp == n || pass.at == walk->n)
			return one_ends(walk, &pass, n, full);
		if (pass.at > *at)
			*at = pass.at;
	}
	return they_part(walk, fp, n, full);
}
