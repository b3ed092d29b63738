/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitjoin.h"

#include <string.h>

/* Returns the number of consecutive equal addresses, counted from walk[n - 1] and kernel[i] towards the leaf. */
static size_t waitjoin_equal(const uint64_t *walk, size_t n, const uint64_t *kernel, size_t i)
{
	size_t same = 0;

	while (same < n && same <= i && kernel[i - same] == walk[n - 1 - same])
		same++;
	return same;
}

size_t waitjoin_find(const uint64_t *walk, size_t n, const uint64_t *kernel, size_t m)
{
	size_t best = m, most = WAITJOIN_EQUAL - 1;

	if (n && n <= m && memcmp(walk, kernel, n * sizeof(*walk)) == 0)
		return n - 1;
	for (size_t i = 0; i < m; i++) {
		size_t same = waitjoin_equal(walk, n, kernel, i);

		if (same > most) {
			best = i;
			most = same;
		} else if (same == most) {
			best = m;
		}
	}
	return best;
}
