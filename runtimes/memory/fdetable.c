/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of .eh_frame_hdr and FDEs: LSB 5, "Exception Frames". */
#include "runtimes/memory/fdetable.h"

#define TABLE_MAX (1u << 20) /* limit for the number of FDEs; a table with more is refused */
#define ENTRY_BYTES 8u

static int32_t fdetable_signed(const unsigned char *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Accepts only version 1 of .eh_frame_hdr with these encodings: pointer to .eh_frame in 4 bytes of any kind, number of
 * FDEs udata4, table datarel sdata4. */
bool fdetable_open(struct fdetable *table, const struct loadedfile *file)
{
	unsigned char head[12];

	if (!file->unwind || !memory_read(file->m, file->unwind, head, sizeof(head)) || head[0] != 1 ||
	    (head[1] & 15) != 0x0b || head[2] != 0x03 || head[3] != 0x3b)
		return false;
	*table = (struct fdetable){ .memory = file->m,
				    .header = file->unwind,
				    .table = file->unwind + sizeof(head),
				    .n = (uint32_t)fdetable_signed(head + 8) };
	return table->n > 0 && table->n <= TABLE_MAX;
}

/* Sets [*start, *end) to the range of FDE i. Returns false if the FDE is not readable or contradicts the table, or the
 * range is too large. */
static bool fdetable_entry(const struct fdetable *table, uint32_t i, uint64_t *start, uint64_t *end)
{
	unsigned char entry[ENTRY_BYTES], fde[16];
	uint64_t at;

	if (!memory_read(table->memory, table->table + (uint64_t)i * ENTRY_BYTES, entry, sizeof(entry)))
		return false;
	*start = table->header + (uint64_t)(int64_t)fdetable_signed(entry);
	at = table->header + (uint64_t)(int64_t)fdetable_signed(entry + 4);
	/* Fields of an FDE, 4 bytes each: length, CIE, start of the range (relative to this field), size of the
	 * range. */
	if (!memory_read(table->memory, at, fde, sizeof(fde)) ||
	    at + 8 + (uint64_t)(int64_t)fdetable_signed(fde + 8) != *start)
		return false;
	*end = *start + (uint32_t)fdetable_signed(fde + 12);
	return *end - *start <= FDETABLE_FUNCTION_MAX;
}

bool fdetable_range(const struct fdetable *table, uint64_t address, uint64_t *start, uint64_t *end)
{
	uint32_t low = 0, high = table->n;
	unsigned char entry[ENTRY_BYTES];

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (!memory_read(table->memory, table->table + (uint64_t)middle * ENTRY_BYTES, entry, sizeof(entry)))
			return false;
		if (table->header + (uint64_t)(int64_t)fdetable_signed(entry) <= address)
			low = middle;
		else
			high = middle;
	}
	return fdetable_entry(table, low, start, end) && address >= *start && address < *end;
}

bool fdetable_all(const struct fdetable *table, uint64_t *start, uint64_t *end)
{
	uint64_t other;

	return fdetable_entry(table, 0, start, &other) && fdetable_entry(table, table->n - 1, &other, end) &&
	       *start < *end;
}
