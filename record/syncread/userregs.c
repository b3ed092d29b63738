/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/userregs.h"

#include "common/hash.h"

/* RESULT: perf's index of the register with the result of a system call (ax, x0). MISSING: number of callee-saved
 * registers that a kernel may not record (bx and r12 to r15 on x86-64). */
enum { RESULT = 0, MISSING = 5 };

struct userregs userregs_of(const struct processor *processor, const uint64_t *value, size_t n)
{
	uint64_t all[64], preserved[64], entry[64];
	size_t nall = 0, npreserved = 0, nentry = 0, missing = 0, k = 0;
	struct userregs registers = { 0 };

	for (unsigned number = 0; number < 64 && k < n; number++) {
		uint64_t bit = UINT64_C(1) << number;

		if (!(processor->perf & bit))
			continue;
		if (number != processor->perf_ip)
			all[nall++] = value[k];
		if (number != RESULT)
			preserved[npreserved++] = value[k];
		if (processor->perf_entry & bit)
			entry[nentry++] = value[k];
		else if (value[k] == UINT64_MAX)
			missing++; /* UINT64_MAX is the kernel's value for a register that it did not record */
		k++;
	}
	if (k != (size_t)__builtin_popcountll(processor->perf))
		return registers;
	if (missing < MISSING) {
		registers.all = hash_bytes(all, nall * sizeof(*all)) | 1;
		registers.preserved = hash_bytes(preserved, npreserved * sizeof(*preserved)) | 1;
	}
	registers.entry = hash_bytes(entry, nentry * sizeof(*entry)) | 1;
	return registers;
}

bool userregs_same(const struct userregs *sample, const struct userregs *left, bool in_kernel)
{
	if (sample->all && left->all)
		return in_kernel ? sample->preserved == left->preserved : sample->all == left->all;
	return sample->entry && sample->entry == left->entry;
}
