/*
 * mutate.h - changes to inputs that are a row of records, for LLVMFuzzerCustomMutator: the records stay records.
 *
 * libFuzzer's own changes shift whatever is behind them, so most inputs of a format with sizes end at the first record
 * that does not fit. Here a record is taken out, doubled, moved, filled by libFuzzer and given its new size, or a
 * number in it is replaced by another one of the input, by one near it or by an extreme. One change in eight is
 * libFuzzer's own: broken structures have to be seen, too.
 */
#ifndef PJ_FUZZ_MUTATE_H
#define PJ_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Only there with libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t limit) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t limit, unsigned seed);

struct mutate_format {
	/* Where records begin and end; false: the input has none. */
	bool (*range)(const uint8_t *data, size_t n, size_t *start, size_t *end);
	size_t (*size)(const uint8_t *record, size_t left);   /* bytes of a record; 0: none begins there */
	void (*set_size)(uint8_t *record, size_t size);       /* NULL: nothing in it gives its size */
	void (*set_end)(uint8_t *data, size_t n, size_t end); /* the records end there now; NULL: nothing gives that */
	size_t head;                                          /* bytes of a record that are not filled anew */
};

enum { MUTATE_RECORDS = 512 };

static inline uint64_t mutate_lot(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return below ? (*state >> 20) % below : 0;
}

/* Replaces a number of 1, 2, 4 or 8 bytes in data[from..to). */
static inline void mutate_number(uint8_t *data, size_t n, size_t from, size_t to, uint64_t *state)
{
	size_t width = (size_t)1 << mutate_lot(state, 4), at, other;
	uint64_t value = 0;

	if (to - from < width || n < 8)
		return;
	at = from + mutate_lot(state, to - from - width + 1);
	if (mutate_lot(state, 4))
		at -= (at - from) % width;
	other = mutate_lot(state, n - 7);
	memcpy(&value, data + at, width);
	switch (mutate_lot(state, 9)) {
	case 0: memcpy(&value, data + other, width); break;
	case 1: value += 1 + mutate_lot(state, 32); break;
	case 2: value -= 1 + mutate_lot(state, 32); break;
	case 3: value = (uint64_t)1 << mutate_lot(state, 64); break;
	case 4: value = ~(uint64_t)0 >> mutate_lot(state, 64); break;
	case 5: value += mutate_lot(state, 65536) * 8; break;
	case 6: value = 0; break;
	case 7: value = n - mutate_lot(state, n); break;
	default: value ^= (uint64_t)1 << mutate_lot(state, 64); break;
	}
	memcpy(data + at, &value, width);
}

/* data[at..at + old) gets `size` bytes of room; what is behind moves. Returns the new n. */
static inline size_t mutate_resize(uint8_t *data, size_t n, size_t at, size_t old, size_t size)
{
	memmove(data + at + size, data + at + old, n - at - old);
	return n - old + size;
}

/* Where the records are; at[count] is the end of the last one. */
static inline size_t mutate_list(const struct mutate_format *format, const uint8_t *data, size_t start, size_t end,
				 size_t at[MUTATE_RECORDS + 1])
{
	size_t count = 0, size;

	at[0] = start;
	while (count < MUTATE_RECORDS && at[count] < end &&
	       (size = format->size(data + at[count], end - at[count])) > 0 && size <= end - at[count]) {
		at[count + 1] = at[count] + size;
		count++;
	}
	return count;
}

/* One record is filled by libFuzzer and gets the size that comes of it. */
static inline size_t mutate_fill(const struct mutate_format *format, uint8_t *data, size_t n, size_t limit, size_t at,
				 size_t old)
{
	size_t body = old - format->head, space = limit - n, max = body + (space < 256 ? space : 256), size;
	uint8_t copy[65536];

	if (old < format->head || max > sizeof(copy) || max == 0)
		return n;
	memcpy(copy, data + at + format->head, body);
	size = LLVMFuzzerMutate(copy, body, max);
	n = mutate_resize(data, n, at + format->head, body, size);
	memcpy(data + at + format->head, copy, size);
	if (format->set_size)
		format->set_size(data + at, format->head + size);
	return n;
}

static inline size_t mutate_one(const struct mutate_format *format, uint8_t *data, size_t n, size_t limit,
				uint64_t *state)
{
	size_t start, end, at[MUTATE_RECORDS + 1], count, i, k, size, before = n;

	if (!format->range(data, n, &start, &end) || end > n || start > end ||
	    (count = mutate_list(format, data, start, end, at)) == 0) {
		mutate_number(data, n, 0, n, state);
		return n;
	}
	i = mutate_lot(state, count);
	k = mutate_lot(state, count);
	size = at[i + 1] - at[i];
	switch (mutate_lot(state, 8)) {
	case 0: /* out */ n = mutate_resize(data, n, at[i], size, 0); break;
	case 1: /* a copy in front of another */
		if (size <= limit - n && size <= 65536) {
			uint8_t copy[65536];

			memcpy(copy, data + at[i], size);
			n = mutate_resize(data, n, at[k], 0, size);
			memcpy(data + at[k], copy, size);
		}
		break;
	case 2: n = mutate_fill(format, data, n, limit, at[i], size); break;
	case 3: /* what is in front of the records */ mutate_number(data, n, 0, start, state); break;
	default:
		mutate_number(data, n, at[i] + (mutate_lot(state, 4) && size > format->head ? format->head : 0),
			      at[i + 1], state);
		break;
	}
	if (format->set_end && n != before)
		format->set_end(data, n, end + n - before);
	return n;
}

static inline size_t mutate(const struct mutate_format *format, uint8_t *data, size_t n, size_t limit, unsigned seed)
{
	uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;

	if (n < 16 || (mutate_lot(&state, 8) == 0 && LLVMFuzzerMutate))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, n, limit) : n;
	for (uint64_t times = 1 + mutate_lot(&state, 4); times; times--)
		n = mutate_one(format, data, n, limit, &state);
	return n;
}

#endif
