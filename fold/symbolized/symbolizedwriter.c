/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbolized/symbolizedwriter.h"

#include "common/diag.h"
#include "common/formats/jmapfile.h"
#include "common/formats/pjsection.h"

#include <stdlib.h>
#include <zlib.h>

/* Maximum size in bytes of a number in the stream. */
#define NUMBER 10
/* Maximum size in bytes of an entry of any kind: four numbers. */
#define ENTRY (4 * NUMBER)

/* An address of a DSO, with the numbers of its texts; 0: no text. */
struct symbolizedwriter_address {
	uint64_t address;
	uint32_t name, module, inlined;
};

struct symbolizedwriter_dso {
	unsigned why;
	struct symbolizedwriter_address *row;
	size_t n;
};

struct symbolizedwriter_code {
	uint32_t pid, name, inlined;
	uint64_t address, time;
	size_t order; /* sequence number of the entry, in the order of calls */
};

/* Key of an address of a process in `places`. Keys are compared as bytes, so `zero` fills the padding. */
struct place_key {
	uint64_t address;
	uint32_t pid, zero;
};

/* ---- collecting of results -------------------------------------------------------------------------------------- */

/* Returns true if n more bytes fit into the section, and adds n to its size. Otherwise counts a left-out result and
 * returns false. */
static bool symbolizedwriter_fits(struct symbolizedwriter *writer, uint64_t n)
{
	if (n > PJ_NAMES_MAX - writer->bytes) {
		writer->left_out++;
		return false;
	}
	writer->bytes += n;
	return true;
}

/* Returns the number of a text for an entry. Adds the text if it is new. Returns 0 if the text is empty, or if it is
 * left out because of a limit. */
static uint32_t symbolizedwriter_text(struct symbolizedwriter *writer, struct str text)
{
	uint32_t id = text.n ? intern_find(&writer->texts, text) : 0;

	if (text.n == 0)
		return 0;
	if ((!id && writer->texts.n >= PJ_NAMES_TEXTS) || text.n > PJ_NAMES_REFERRED - writer->referred) {
		writer->left_out++;
		return 0;
	}
	if (!id && !symbolizedwriter_fits(writer, text.n + NUMBER))
		return 0;
	writer->referred += text.n;
	return id ? id : intern(&writer->texts, text);
}

size_t symbolizedwriter_dso(struct symbolizedwriter *writer, struct str key, unsigned why)
{
	uint32_t id = intern_find(&writer->keys, key);

	if (id)
		return id - 1;
	if (writer->keys.n >= PJ_NAMES_DSOS) {
		writer->left_out++;
		return SIZE_MAX;
	}
	if (symbolizedwriter_text(writer, key) == 0 || !symbolizedwriter_fits(writer, ENTRY))
		return SIZE_MAX;
	id = intern(&writer->keys, key);
	writer->dso = mem_more(writer->dso, sizeof(*writer->dso), id - 1);
	writer->dso[id - 1] = (struct symbolizedwriter_dso){ .why = why };
	return id - 1;
}

void symbolizedwriter_row(struct symbolizedwriter *writer, size_t dso, const struct symbolized_row *row)
{
	struct symbolizedwriter_dso *to;

	if (dso == SIZE_MAX || !symbolizedwriter_fits(writer, ENTRY))
		return;
	to = &writer->dso[dso];
	to->row = mem_more(to->row, sizeof(*to->row), to->n);
	to->row[to->n++] = (struct symbolizedwriter_address){ row->address, symbolizedwriter_text(writer, row->name),
							      symbolizedwriter_text(writer, row->module),
							      symbolizedwriter_text(writer, row->inlined) };
}

/* Adds a code entry, and makes it the latest one of its address. place: id of the address in `places`. */
static void symbolizedwriter_add_code(struct symbolizedwriter *writer, const struct symbolizedwriter_code *code,
				      uint32_t place)
{
	writer->code = mem_more(writer->code, sizeof(*writer->code), writer->ncode);
	writer->code[writer->ncode] = *code;
	writer->latest[place - 1] = writer->ncode++;
}

/* Adds process `pid` to the processes with code, if it is new. If `replaces` is true, marks that its code comes from a
 * jitdump. Returns false if a limit is reached. */
static bool symbolizedwriter_process(struct symbolizedwriter *writer, uint32_t pid, bool replaces)
{
	struct str bytes = { (const char *)&pid, sizeof(pid) };
	uint32_t id = intern_find(&writer->pids, bytes);

	if (!id) {
		if (writer->pids.n >= PJ_NAMES_PROCESSES) {
			writer->left_out++;
			return false;
		}
		if (!symbolizedwriter_fits(writer, ENTRY))
			return false;
		id = intern(&writer->pids, bytes);
		writer->replaces = mem_more(writer->replaces, 1, id - 1);
		writer->replaces[id - 1] = 0;
	}
	writer->replaces[id - 1] |= replaces;
	return true;
}

void symbolizedwriter_code(struct symbolizedwriter *writer, uint32_t pid, bool replaces, uint64_t address,
			   uint64_t time, const struct jit_code *code)
{
	struct place_key key = { address, pid, 0 };
	struct str bytes = { (const char *)&key, sizeof(key) };
	uint32_t place = intern_find(&writer->places, bytes);
	struct symbolizedwriter_code entry = { .pid = pid, .address = address, .time = time, .order = writer->ncode };
	struct symbolizedwriter_code *latest = place ? &writer->code[writer->latest[place - 1]] : NULL;
	bool full = writer->ncode >= PJ_NAMES_CODE;

	if (!symbolizedwriter_process(writer, pid, replaces))
		return;
	entry.name = code ? symbolizedwriter_text(writer, code->name) : 0;
	entry.inlined = code ? symbolizedwriter_text(writer, code->inlined) : 0;
	if (latest ? latest->name == entry.name && latest->inlined == entry.inlined : entry.name == 0)
		return;
	writer->left_out += full;
	if (full || !symbolizedwriter_fits(writer, ENTRY)) {
		/* Without an entry of its own, the new code would get the name of the previous entry: remove that
		 * name. */
		if (latest)
			latest->name = latest->inlined = 0;
		return;
	}
	if (!place) {
		place = intern(&writer->places, bytes);
		writer->latest = mem_more(writer->latest, sizeof(*writer->latest), place - 1);
	}
	symbolizedwriter_add_code(writer, &entry, place);
}

bool symbolizedwriter_stack(struct symbolizedwriter *writer, uint64_t n, unsigned end)
{
	writer->left_out += writer->full;
	writer->full = writer->full || !symbolizedwriter_fits(writer, 2 * NUMBER * (n + 1));
	if (writer->full)
		return false;
	jmap_number(&writer->stacks, n);
	jmap_number(&writer->stacks, end);
	writer->nstacks++;
	return true;
}

void symbolizedwriter_frame(struct symbolizedwriter *writer, const struct symbolized_frame *frame,
			    const struct symbolized_frame *before)
{
	jmap_signed(&writer->stacks, (int64_t)(frame->address - (before ? before->address : 0)));
	jmap_number(&writer->stacks, (frame->method ? 1 : 0) | (frame->exact ? 2 : 0));
}

/* ---- writing of the section ------------------------------------------------------------------------------------- */

static void symbolizedwriter_put_texts(const struct symbolizedwriter *writer, struct text *body)
{
	jmap_number(body, writer->texts.n);
	for (uint32_t id = 1; id <= writer->texts.n; id++) {
		struct str text = intern_str(&writer->texts, id);

		jmap_number(body, text.n);
		text_str(body, text);
	}
}

static int symbolizedwriter_by_address(const void *left, const void *right)
{
	const struct symbolizedwriter_address *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Sorts the addresses of a DSO, and merges entries with equal addresses. An address with two different results loses
 * its name. */
static void symbolizedwriter_merge(struct symbolizedwriter *writer, struct symbolizedwriter_dso *dso)
{
	size_t n = 0;

	if (dso->n)
		qsort(dso->row, dso->n, sizeof(*dso->row), symbolizedwriter_by_address);
	for (size_t i = 0; i < dso->n; i++) {
		struct symbolizedwriter_address *last = n ? &dso->row[n - 1] : NULL;

		if (!last || last->address != dso->row[i].address) {
			dso->row[n++] = dso->row[i];
		} else if (last->name != dso->row[i].name || last->module != dso->row[i].module ||
			   last->inlined != dso->row[i].inlined) {
			*last = (struct symbolizedwriter_address){ .address = last->address };
			writer->conflicts++;
		}
	}
	dso->n = n;
}

static void symbolizedwriter_put_dso(struct symbolizedwriter *writer, uint32_t key, struct text *body)
{
	struct symbolizedwriter_dso *dso = &writer->dso[key - 1];
	uint64_t before = 0;

	symbolizedwriter_merge(writer, dso);
	jmap_number(body, intern_find(&writer->texts, intern_str(&writer->keys, key)));
	jmap_number(body, dso->why);
	jmap_number(body, dso->n);
	for (size_t i = 0; i < dso->n; i++) {
		const struct symbolizedwriter_address *row = &dso->row[i];

		jmap_number(body, row->address - before);
		jmap_number(body, row->name);
		jmap_number(body, row->module);
		jmap_number(body, row->inlined);
		before = row->address;
		writer->named += row->name != 0;
	}
}

static void symbolizedwriter_put_dsos(struct symbolizedwriter *writer, struct text *body)
{
	uint32_t *rank = intern_ranks(&writer->keys), n = writer->keys.n;
	uint32_t *by_rank = mem_alloc(sizeof(*by_rank), (size_t)n + 1);

	for (uint32_t id = 1; id <= n; id++)
		by_rank[rank[id]] = id;
	jmap_number(body, n);
	for (uint32_t i = 0; i < n; i++)
		symbolizedwriter_put_dso(writer, by_rank[i], body);
	free(by_rank);
	free(rank);
}

static int symbolizedwriter_by_time(const void *left, const void *right)
{
	const struct symbolizedwriter_code *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int symbolizedwriter_by_pid(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Appends code[0..n), the code entries of a process, to *body. */
static void symbolizedwriter_put_code(const struct symbolizedwriter_code *code, size_t n, struct text *body)
{
	jmap_number(body, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t address = i ? code[i - 1].address : 0,
			 time = i && address == code[i].address ? code[i - 1].time : 0;

		jmap_number(body, code[i].address - address);
		jmap_number(body, code[i].time - time);
		jmap_number(body, code[i].name);
		jmap_number(body, code[i].inlined);
	}
}

static void symbolizedwriter_put_processes(struct symbolizedwriter *writer, struct text *body)
{
	uint32_t *pid = mem_alloc(sizeof(*pid), (size_t)writer->pids.n + 1), n = writer->pids.n;
	size_t at = 0, end;

	for (uint32_t id = 1; id <= n; id++)
		memcpy(&pid[id - 1], intern_str(&writer->pids, id).p, sizeof(*pid));
	qsort(pid, n, sizeof(*pid), symbolizedwriter_by_pid);
	if (writer->ncode)
		qsort(writer->code, writer->ncode, sizeof(*writer->code), symbolizedwriter_by_time);
	jmap_number(body, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = intern_find(&writer->pids, (struct str){ (const char *)&pid[i], sizeof(*pid) });

		for (end = at; end < writer->ncode && writer->code[end].pid == pid[i];)
			end++;
		jmap_number(body, pid[i]);
		jmap_number(body, writer->replaces[id - 1]);
		symbolizedwriter_put_code(end > at ? writer->code + at : NULL, end - at, body);
		at = end;
	}
	free(pid);
}

void symbolizedwriter_put(struct symbolizedwriter *writer, struct text *section)
{
	struct pj_names head = { .version = PJ_NAMES_VERSION, .flags = writer->inlined ? PJ_NAMES_INLINED : 0 };
	struct text body = { 0 };
	uLongf n;

	symbolizedwriter_put_texts(writer, &body);
	symbolizedwriter_put_dsos(writer, &body);
	symbolizedwriter_put_processes(writer, &body);
	jmap_number(&body, writer->nstacks);
	text_str(&body, text_view(&writer->stacks));
	head.size = body.n;
	head.left_out = writer->left_out;
	n = compressBound((uLong)body.n);
	text_bytes(section, &head, sizeof(head));
	text_reserve(section, n);
	if (compress2((Bytef *)section->p + section->n, &n, (const Bytef *)body.p, (uLong)body.n, Z_BEST_COMPRESSION) !=
	    Z_OK)
		die("cannot compress %zu bytes of names", body.n);
	section->n += n;
	text_free(&body);
}

void symbolizedwriter_free(struct symbolizedwriter *writer)
{
	for (uint32_t i = 0; i < writer->keys.n; i++)
		free(writer->dso[i].row);
	intern_free(&writer->texts);
	intern_free(&writer->keys);
	intern_free(&writer->places);
	intern_free(&writer->pids);
	free(writer->dso);
	free(writer->code);
	free(writer->latest);
	free(writer->replaces);
	text_free(&writer->stacks);
	*writer = (struct symbolizedwriter){ 0 };
}
