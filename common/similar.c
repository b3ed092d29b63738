/* SPDX-License-Identifier: Apache-2.0 */
#include "common/similar.h"

#define WORD_MAX 32

/* Returns the edit distance of a and b: the least number of insertions, deletions and replacements of a byte, and swaps
 * of adjacent bytes. Each has at most WORD_MAX bytes. */
static unsigned distance_of(struct str a, struct str b)
{
	unsigned row[3][WORD_MAX + 1];

	for (unsigned k = 0; k <= b.n; k++)
		row[0][k] = k;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned *now = row[i % 3];
		const unsigned *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned k = 1; k <= b.n; k++) {
			unsigned best = last[k - 1] + (a.p[i - 1] != b.p[k - 1]);

			best = last[k] + 1 < best ? last[k] + 1 : best;
			best = now[k - 1] + 1 < best ? now[k - 1] + 1 : best;
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1] &&
			    before[k - 2] + 1 < best)
				best = before[k - 2] + 1;
			now[k] = best;
		}
	}
	return row[a.n % 3][b.n];
}

struct similar similar_to(struct str word)
{
	return (struct similar){ .word = word, .limit = word.n < 5 ? 2 : 3 };
}

void similar_offer(struct similar *similar, struct str known)
{
	unsigned distance;

	if (similar->word.n < 2 || similar->word.n > WORD_MAX || known.n < 2 || known.n > WORD_MAX)
		return;
	distance = str_starts(known, similar->word) ? 1 : distance_of(similar->word, known);
	if (distance < similar->limit && distance < similar->word.n) {
		similar->limit = distance;
		similar->found = known;
	}
}
