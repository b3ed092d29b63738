/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/codeitems.h"

#include "common/formats/jmapfile.h"
#include "record/perf/chunk.h"

#include <stdlib.h>

/* Size in bytes from which on an item is full: its last entry may exceed this size. In a pipe, each item is in one
 * record, so an item must stay below 64 kB. */
#define ITEM_BYTES 32768u

/* A PJ_ITEM_CODE or PJ_ITEM_CODE_NAMES item under construction. */
struct item {
	struct text *out;
	enum pj_item_type type;
	uint32_t pid, jvm;
	uint64_t left_out;
	struct text body;
};

static void end_item(struct item *item)
{
	if (item->body.n)
		chunk_put_item(item->out, item->type, item->body.p, item->body.n);
	item->body.n = 0;
}

/* Starts an item if none is open. An open item that is full is ended first. */
static void begin_item(struct item *item)
{
	struct pj_codes head = { item->pid, item->jvm, item->left_out };

	if (item->body.n >= ITEM_BYTES)
		end_item(item);
	if (item->body.n)
		return;
	text_bytes(&item->body, &head, item->type == PJ_ITEM_CODE ? sizeof(head) : sizeof(struct pj_code_names));
	item->left_out = 0;
}

/* Appends the names of an entry that are not in the window yet or, if `stream`, not in the stream yet. done[id]: 1 if
 * the window has the name `id`. */
static void put_names(struct codenames_jvm *jvm, const struct code_entry *entry, char *done, bool stream,
		      struct item *item)
{
	for (uint32_t i = 0; i < entry->nnames; i++) {
		uint32_t id = entry->name[i], *number = &jvm->names.number[id];
		struct str name = intern_str(&jvm->names.names, id);
		struct pj_code_name head;

		if (!id || done[id] || (stream && *number != CODEITEMS_NO_NAME))
			continue;
		if (*number == CODEITEMS_NO_NAME)
			*number = jvm->names_written++;
		head = (struct pj_code_name){ *number, (uint32_t)name.n };
		done[id] = 1;
		begin_item(item);
		text_bytes(&item->body, &head, sizeof(head));
		text_str(&item->body, name);
	}
}

static void put_rows(const struct codenames_jvm *jvm, const struct code_entry *entry, uint64_t until, struct item *item)
{
	struct str rest = text_view(&entry->rows);
	uint32_t at = 0;

	while (rest.n >= sizeof(struct pj_code)) {
		struct pj_code row;
		size_t tree;

		memcpy(&row, rest.p, sizeof(row));
		tree = row.bytes;
		row.from = entry->from;
		row.until = until;
		if (entry->written)
			row.nnames = row.bytes = 0;
		begin_item(item);
		text_bytes(&item->body, &row, sizeof(row));
		for (uint32_t i = 0; i < row.nnames && at < entry->nnames; i++) {
			uint32_t id = entry->name[at++], number = id ? jvm->names.number[id] : CODEITEMS_NO_NAME;

			text_bytes(&item->body, &number, sizeof(number));
		}
		text_str(&item->body, str_head(str_from(rest, sizeof(row)), row.bytes));
		rest = str_from(rest, sizeof(row) + tree);
	}
}

/* Returns true if an entry must be written now: it has a name, and a frame was in its blob. In a stream, it must also
 * be new, or have left the cache, so that the end of its lifetime is known. */
static bool is_entry_due(const struct code_entry *entry, bool stream)
{
	return entry->state == CODE_NAMED && entry->until && (!stream || !entry->written || !entry->cached);
}

void codeitems_put(struct codenames_jvm *jvm, bool stream, struct text *text)
{
	struct item names = { text, PJ_ITEM_CODE_NAMES, jvm->pid, jvm->number, 0, { 0 } },
		    codes = { text, PJ_ITEM_CODE, jvm->pid, jvm->number, jvm->left_out, { 0 } };
	char *done = mem_alloc(1, jvm->names.names.n + 1);

	if (jvm->left_out)
		begin_item(&codes);
	for (uint32_t id = 1; id <= jvm->n; id++)
		if (is_entry_due(codeentry_of(jvm, id), stream) && !codeentry_of(jvm, id)->written)
			put_names(jvm, codeentry_of(jvm, id), done, stream, &names);
	end_item(&names);
	for (uint32_t id = 1; id <= jvm->n; id++) {
		struct code_entry *entry = codeentry_of(jvm, id);

		if (!is_entry_due(entry, stream))
			continue;
		put_rows(jvm, entry, stream && entry->cached ? UINT64_MAX : entry->until, &codes);
		entry->written = stream;
	}
	end_item(&codes);
	text_free(&names.body);
	text_free(&codes.body);
	free(done);
}
