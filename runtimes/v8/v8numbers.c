/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8numbers.h"

void v8numbers_start(struct v8numbers *numbers, struct v8 *v8, uint64_t at, uint64_t end)
{
	numbers->v8 = v8;
	numbers->at = at;
	numbers->end = end;
	numbers->next = numbers->n = 0;
	numbers->bad = false;
}

uint64_t v8numbers_byte(struct v8numbers *numbers)
{
	if (numbers->next == numbers->n) {
		uint64_t left = numbers->end - numbers->at;

		numbers->next = 0;
		numbers->n = left < V8NUMBERS_CHUNK ? (uint32_t)left : V8NUMBERS_CHUNK;
		numbers->bad = numbers->bad || numbers->n == 0 ||
			       !budget_steps(numbers->v8->memory->budget, numbers->n / 16) ||
			       !memory_read(numbers->v8->memory, numbers->at, numbers->bytes, numbers->n);
		if (numbers->bad)
			numbers->n = 0;
		numbers->at += numbers->n;
	}
	return numbers->bad ? 0 : numbers->bytes[numbers->next++];
}

bool v8numbers_end(const struct v8numbers *numbers)
{
	return numbers->bad || (numbers->next == numbers->n && numbers->at == numbers->end);
}

uint64_t v8numbers_next(struct v8numbers *numbers)
{
	uint64_t value = 0, byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && !numbers->bad; shift += 7) {
		byte = v8numbers_byte(numbers);
		numbers->bad |= shift > 56;
		value |= numbers->bad ? 0 : (byte & 0x7f) << shift;
	}
	return value;
}
