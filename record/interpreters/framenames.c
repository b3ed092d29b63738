/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/framenames.h"

#include "common/arena.h"
#include "common/formats/pjsection.h"
#include "common/intern.h"
#include "record/perf/chunk.h"

#include <stdlib.h>

/* Size in bytes after which an item is full and the next one begins. In a pipe, each item is in one record. */
#define ITEM_BYTES 32768u
/* Distance in bytes between the addresses outside of all processes. It is even, because pjfold treats an odd address as
 * that of no function. */
#define MORE_STEP 2u

/* Identifies a row of the table; two keys with the same bytes are the same row. `turn`: number of earlier rows in this
 * window for the same address, with another function or line. */
struct row_key {
	uint64_t address;
	uint32_t pid, turn;
};

struct row {
	uint64_t shown; /* address that stands for the frame in callchains */
	uint32_t language, line, text;
};

struct framenames {
	struct intern keys, texts;
	struct row *row; /* row of each key; the row of key id is at index id - 1 */
	size_t bytes;    /* sum of the sizes of all names and files in bytes */
	uint64_t more;   /* number of addresses outside of all processes that were assigned in this window */
	uint32_t left_out;
	/* limits of each tenant in this window: TENANT_MEMORY is the number of rows, TENANT_SAVED_BYTES the bytes of
	 * names and files */
	struct tenants *tenants;
};

static struct tenants *framenames_limits(void)
{
	const struct tenant_limits limits = {
		.stock = { [TENANT_MEMORY] = FRAMENAMES_MAX / 2, [TENANT_SAVED_BYTES] = FRAMENAMES_BYTES / 2 },
	};

	return tenants_new(&limits);
}

struct framenames *framenames_new(void)
{
	struct framenames *framenames = mem_alloc(sizeof(*framenames), 1);

	framenames->tenants = framenames_limits();
	return framenames;
}

static void framenames_forget(struct framenames *framenames)
{
	intern_free(&framenames->keys);
	intern_free(&framenames->texts);
	free(framenames->row);
	tenants_free(framenames->tenants);
	*framenames = (struct framenames){ 0 };
}

void framenames_free(struct framenames *framenames)
{
	if (framenames)
		framenames_forget(framenames);
	free(framenames);
}

static struct str row_key_bytes(const struct row_key *key)
{
	return (struct str){ (const char *)key, sizeof(*key) };
}

/* Returns the id of a frame's name and file in `texts`; charges a new text to the tenant. Returns 0 if there is no
 * space for a new text. */
static uint32_t framenames_text(struct framenames *framenames, struct tenant tenant, struct str text)
{
	uint32_t id = intern_find(&framenames->texts, text);

	if (id || text.n > FRAMENAMES_BYTES - framenames->bytes ||
	    !tenants_hold(framenames->tenants, tenant, TENANT_SAVED_BYTES, text.n))
		return id;
	framenames->bytes += text.n;
	return intern(&framenames->texts, text);
}

/* Returns the row for *key with the text, line and language of *wanted, and adds it if it is new. While *key has a row
 * with another text, line or language, increments key->turn, which makes *key another key. Returns NULL if there is no
 * space, or if the address has FRAMENAMES_TURNS rows already. tenant: charged for a new row; NULL: no tenant is
 * charged. */
static const struct row *framenames_row(struct framenames *framenames, struct row_key *key, const struct tenant *tenant,
					const struct row *wanted)
{
	uint32_t id;

	while ((id = intern_find(&framenames->keys, row_key_bytes(key)))) {
		const struct row *row = &framenames->row[id - 1];

		if (row->text == wanted->text && row->line == wanted->line && row->language == wanted->language)
			return row;
		if (++key->turn >= FRAMENAMES_TURNS)
			return NULL;
	}
	if (framenames->keys.n >= FRAMENAMES_MAX ||
	    (tenant && !tenants_hold(framenames->tenants, *tenant, TENANT_MEMORY, 1)))
		return NULL;
	framenames->row = mem_more(framenames->row, sizeof(*framenames->row), framenames->keys.n);
	id = intern(&framenames->keys, row_key_bytes(key));
	framenames->row[id - 1] = *wanted;
	if (key->turn)
		framenames->row[id - 1].shown = PJ_FUNCTIONS_MORE + MORE_STEP * framenames->more++;
	return &framenames->row[id - 1];
}

uint64_t framenames_note(struct framenames *framenames, uint32_t pid, struct tenant tenant,
			 const struct framenames_frame *frame)
{
	struct row_key key = { frame->address, pid, 0 }, unnamed_key = { PJ_FUNCTIONS_UNNAMED, pid, 0 };
	/* all unnamed frames share one address and therefore one row; the row's language does not matter */
	const struct row unnamed = { PJ_FUNCTIONS_UNNAMED, PJ_LANGUAGE_PYTHON, 0, 0 };
	uint32_t text = frame->text.n ? framenames_text(framenames, tenant, frame->text) : 0;
	const struct row named = { frame->address, frame->language, frame->line, text };
	const struct row *row = text ? framenames_row(framenames, &key, &tenant, &named) : NULL;

	if (row)
		return row->shown;
	framenames->left_out += frame->text.n && framenames->left_out < UINT32_MAX;
	framenames_row(framenames, &unnamed_key, NULL, &unnamed);
	return PJ_FUNCTIONS_UNNAMED;
}

/* ---- end of a window ------------------------------------------------------------------------------------------- */

/* A row with the pid of its process, for sorting. */
struct listed {
	uint32_t pid;
	struct row row;
};

static int listed_cmp(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->row.language != b->row.language)
		return a->row.language < b->row.language ? -1 : 1;
	if (a->row.text != b->row.text)
		return a->row.text < b->row.text ? -1 : 1;
	return (a->row.shown > b->row.shown) - (a->row.shown < b->row.shown);
}

/* Writes an item with the rows that have the process and language of listed[0], until it has ITEM_BYTES bytes. Returns
 * the number of rows in it. */
static size_t framenames_put_item(const struct framenames *framenames, const struct listed *listed, size_t n,
				  uint32_t left_out, struct text *item)
{
	struct pj_functions head = { .pid = listed[0].pid, .left_out = left_out, .language = listed[0].row.language };
	size_t i;

	item->n = 0;
	text_bytes(item, &head, sizeof(head));
	for (i = 0;
	     i < n && listed[i].pid == head.pid && listed[i].row.language == head.language && item->n < ITEM_BYTES;
	     i++) {
		struct str text =
			listed[i].row.text ? intern_str(&framenames->texts, listed[i].row.text) : (struct str){ 0 };
		struct pj_function row = { listed[i].row.shown, listed[i].row.line, (uint32_t)text.n };

		text_bytes(item, &row, sizeof(row));
		text_str(item, text);
	}
	return i;
}

void framenames_end(struct framenames *framenames, struct text *text)
{
	size_t n = framenames->keys.n;
	struct listed *listed = mem_alloc(sizeof(*listed), n);
	struct text item = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct row_key key;

		memcpy(&key, intern_str(&framenames->keys, (uint32_t)i + 1).p, sizeof(key));
		listed[i] = (struct listed){ key.pid, framenames->row[i] };
	}
	if (n)
		qsort(listed, n, sizeof(*listed), listed_cmp);
	for (size_t i = 0; i < n;) {
		i += framenames_put_item(framenames, listed + i, n - i, i ? 0 : framenames->left_out, &item);
		chunk_put_item(text, PJ_ITEM_FUNCTIONS, item.p, item.n);
	}
	free(listed);
	text_free(&item);
	framenames_forget(framenames);
	framenames->tenants = framenames_limits();
}
