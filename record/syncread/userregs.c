/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/userregs.h"

#include "common/hash.h"

struct userregs userregs_of(const struct processor *processor, const uint64_t *value, size_t n)
{
	uint64_t all[64], entry[64];
	size_t nall = 0, nentry = 0, missing = 0, k = 0;

	for (unsigned number = 0; number < 64 && k < n; number++) {
		uint64_t bit = UINT64_C(1) << number;

		if (!(processor->perf & bit))
			continue;
		if (number != processor->perf_ip)
			all[nall++] = value[k];
		if (processor->perf_entry & bit)
			entry[nentry++] = value[k];
		else if (value[k] == UINT64_MAX)
			missing++; /* the kernel's value for a register that it does not have */
		k++;
	}
	if (k != (size_t)__builtin_popcountll(processor->perf))
		return (struct userregs){ 0 };
	return (struct userregs){ .all = missing >= 4 ? 0 : hash_bytes(all, nall * sizeof(*all)) | 1,
				  .entry = hash_bytes(entry, nentry * sizeof(*entry)) | 1 };
}

bool userregs_same(const struct userregs *sample, const struct userregs *left, bool in_kernel)
{
	if (!in_kernel && sample->all && left->all)
		return sample->all == left->all;
	return sample->entry && sample->entry == left->entry;
}
