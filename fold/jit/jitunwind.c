/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/jitunwind.h"

#include <stdlib.h>

/* Updates the memory size of table i, which grows when lookups decode rows of the table. */
static void jitunwind_measure(struct jitunwind *jitunwind, size_t i)
{
	size_t bytes = unwind_table_bytes(jitunwind->table[i]);

	jitunwind->bytes += bytes - jitunwind->memory[i];
	jitunwind->memory[i] = bytes;
}

bool jitunwind_find(struct jitunwind *jitunwind, const struct jit_code *code, struct unwind_code *tables)
{
	/* The jitdump stores equal sections once, so the address of a section's bytes identifies the section. */
	struct {
		const char *section;
		uint64_t bytes, end;
	} key = { code->unwind.p, code->unwind.n, (code->size + 7) & ~UINT64_C(7) };
	struct str name = { (const char *)&key, sizeof(key) };
	uint32_t id, had = jitunwind->keys.n;
	const char *why;

	if (code->unwind.n == 0 || code->size > UINT64_MAX - 7)
		return false;
	id = intern_find(&jitunwind->keys, name);
	if (!id && (had == JITUNWIND_TABLES || code->unwind.n > JITUNWIND_SECTION)) {
		jitunwind->refused++;
		return false;
	}
	if (!id) {
		id = intern(&jitunwind->keys, name);
		jitunwind->table = mem_more(jitunwind->table, sizeof(struct unwind_table *), had);
		jitunwind->table[id - 1] = unwind_table_memory(code->unwind, key.end, &why);
		jitunwind->memory = mem_more(jitunwind->memory, sizeof(*jitunwind->memory), had);
		jitunwind->memory[id - 1] = 0;
	}
	if (!jitunwind->table[id - 1])
		return false;
	jitunwind_measure(jitunwind, id - 1);
	if (jitunwind->bytes > JITUNWIND_BYTES) {
		jitunwind->refused++;
		return false;
	}
	*tables = (struct unwind_code){ jitunwind->table[id - 1], code->start };
	return true;
}

void jitunwind_free(struct jitunwind *jitunwind)
{
	for (uint32_t i = 0; i < jitunwind->keys.n; i++)
		unwind_table_close(jitunwind->table[i]);
	free(jitunwind->table);
	free(jitunwind->memory);
	intern_free(&jitunwind->keys);
	*jitunwind = (struct jitunwind){ 0 };
}
