/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbolized/symbolized.h"

#include "common/arena.h"
#include "common/formats/jmapfile.h"
#include "common/formats/pjsection.h"

#include <stdlib.h>
#include <zlib.h>

#define BLOCK ((size_t)1 << 16)

/* A DSO. key: number of the text that is the key of the DSO. rows: the addresses of the DSO in the section. */
struct symbolized_dso {
	uint32_t key;
	struct symbolized_rows rows;
};

/* Code at an address of a process from time `from` (ns on the recording's clock) on. name, inlined: numbers of texts,
 * 0: none. made: the code as a result of lookups; NULL before the first lookup. */
struct symbolized_entry {
	uint64_t address, from;
	uint32_t name, inlined;
	struct jit_code *made;
};

struct symbolized_process {
	uint32_t pid, flags;
	size_t first, n; /* the process has the entries entry[first] to entry[first + n - 1] */
};

enum { PROCESS_REPLACES = 1, FRAME_METHOD = 1, FRAME_EXACT = 2 };

struct symbolized {
	struct pj_names head;
	struct text bytes; /* the decompressed stream, which contains the texts */
	uint32_t *text;    /* offset in `bytes` of each text; the first text has number 1 */
	size_t ntexts;
	struct symbolized_dso *dso;
	size_t ndsos;
	struct symbolized_process *process;
	size_t nprocesses;
	struct symbolized_entry *entry;
	size_t nentries;
	struct arena arena; /* memory of symbolized_entry.made */
	/* stacks: the remaining stacks, nstacks of them. frames: the remaining frames of the current stack. address:
	 * address of the last frame that was read. */
	struct str stacks, frames;
	uint64_t nstacks, address;
	/* sum of the sizes in bytes of the texts to which entries refer, counted for each reference */
	uint64_t referred;
};

static const char truncated[] = "the stored names are truncated", invalid[] = "the stored names are invalid",
		  too_many[] = "the stored names exceed their limits";

/* ---- decompression of the section ------------------------------------------------------------------------------- */

/* Decompresses a zlib stream and appends the result, which must have `size` bytes, to *to. Returns NULL, or the error.
 */
static const char *symbolized_inflate(struct str stream, uint64_t size, struct text *to)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)stream.p, .avail_in = (uInt)stream.n };
	int status = stream.n > UINT32_MAX || size > PJ_NAMES_MAX ? Z_DATA_ERROR : inflateInit(&z);

	if (status != Z_OK)
		return too_many;
	while (status == Z_OK && to->n <= size) {
		text_reserve(to, BLOCK);
		z.next_out = (Bytef *)to->p + to->n;
		z.avail_out = (uInt)BLOCK;
		status = inflate(&z, Z_NO_FLUSH);
		to->n += BLOCK - z.avail_out;
	}
	inflateEnd(&z);
	return status == Z_STREAM_END ? (to->n == size ? NULL : invalid) : status == Z_BUF_ERROR ? truncated : invalid;
}

/* ---- parsing of the decompressed stream ------------------------------------------------------------------------- */

static struct str symbolized_text(const struct symbolized *symbolized, uint64_t number)
{
	struct str text;
	uint64_t n;

	if (number == 0)
		return (struct str){ 0 };
	text = str_from(text_view(&symbolized->bytes), symbolized->text[number]);
	jmap_get(&text, &n);
	return str_head(text, (size_t)n);
}

static const char *symbolized_take_texts(struct symbolized *symbolized, struct str *rest)
{
	uint64_t count, n;

	if (!jmap_get(rest, &count))
		return truncated;
	if (count > PJ_NAMES_TEXTS)
		return too_many;
	symbolized->text = mem_alloc(sizeof(*symbolized->text), 1);
	for (; count; count--) {
		size_t offset = symbolized->bytes.n - rest->n;

		if (!jmap_get(rest, &n) || n > rest->n)
			return truncated;
		if (n == 0)
			return invalid;
		symbolized->ntexts++;
		symbolized->text = mem_more(symbolized->text, sizeof(*symbolized->text), symbolized->ntexts);
		symbolized->text[symbolized->ntexts] = (uint32_t)offset;
		*rest = str_from(*rest, (size_t)n);
	}
	return NULL;
}

/* Takes n numbers of texts from *rest. Returns false if a number is missing or too large. */
static bool symbolized_take_numbers(const struct symbolized *symbolized, struct str *rest, uint64_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!jmap_get(rest, &number[i]) || number[i] > symbolized->ntexts)
			return false;
	return true;
}

/* Takes n numbers of texts from *rest, and adds the sizes of these texts to `referred`. Returns false if a number is
 * missing or too large, or if `referred` exceeds its limit: without the limit, many references to one long text would
 * cost unlimited work. */
static bool symbolized_take_references(struct symbolized *symbolized, struct str *rest, uint64_t *number, size_t n)
{
	if (!symbolized_take_numbers(symbolized, rest, number, n))
		return false;
	for (size_t i = 0; i < n; i++)
		symbolized->referred += symbolized_text(symbolized, number[i]).n;
	return symbolized->referred <= PJ_NAMES_REFERRED;
}

/* Checks the addresses of a DSO, and sets *rows to their position in the section. Returns NULL, or the error. */
static const char *symbolized_take_rows(struct symbolized *symbolized, struct str *rest, struct symbolized_rows *rows)
{
	uint64_t address = 0, delta, number[3];

	rows->rest = *rest;
	for (uint64_t i = 0; i < rows->left; i++) {
		if (!jmap_get(rest, &delta) || !symbolized_take_references(symbolized, rest, number, countof(number)))
			return invalid;
		if (delta > UINT64_MAX - address || (i && delta == 0))
			return invalid;
		address += delta;
	}
	rows->rest.n -= rest->n;
	return NULL;
}

static const char *symbolized_take_dsos(struct symbolized *symbolized, struct str *rest)
{
	uint64_t count, key, why;

	if (!jmap_get(rest, &count))
		return truncated;
	if (count > PJ_NAMES_DSOS)
		return too_many;
	for (; count; count--) {
		struct symbolized_dso *dso;
		const char *bad;

		symbolized->dso = mem_more(symbolized->dso, sizeof(*symbolized->dso), symbolized->ndsos);
		dso = &symbolized->dso[symbolized->ndsos];
		*dso = (struct symbolized_dso){ 0 };
		if (!symbolized_take_references(symbolized, rest, &key, 1) || !jmap_get(rest, &why) ||
		    !jmap_get(rest, &dso->rows.left))
			return truncated;
		dso->key = (uint32_t)key;
		dso->rows.why = why > UINT8_MAX ? UINT8_MAX : (unsigned)why;
		if (symbolized->ndsos &&
		    str_cmp(symbolized_text(symbolized, dso[-1].key), symbolized_text(symbolized, dso->key)) >= 0)
			return invalid;
		bad = symbolized_take_rows(symbolized, rest, &dso->rows);
		if (bad)
			return bad;
		symbolized->ndsos++;
	}
	return NULL;
}

/* Reads n code entries of one process. Returns NULL, or the error. */
static const char *symbolized_take_entries(struct symbolized *symbolized, struct str *rest, uint64_t n)
{
	uint64_t address = 0, from = 0, delta, time, number[2];

	if (n > PJ_NAMES_CODE - symbolized->nentries)
		return too_many;
	for (uint64_t i = 0; i < n; i++) {
		struct symbolized_entry *entry;

		if (!jmap_get(rest, &delta) || !jmap_get(rest, &time) ||
		    !symbolized_take_references(symbolized, rest, number, countof(number)))
			return truncated;
		from = i && delta == 0 ? from : 0;
		if (delta > UINT64_MAX - address || time > UINT64_MAX - from)
			return invalid;
		symbolized->entry = mem_more(symbolized->entry, sizeof(*symbolized->entry), symbolized->nentries);
		entry = &symbolized->entry[symbolized->nentries++];
		*entry = (struct symbolized_entry){ address += delta, from += time, (uint32_t)number[0],
						    (uint32_t)number[1], NULL };
	}
	return NULL;
}

static const char *symbolized_take_processes(struct symbolized *symbolized, struct str *rest)
{
	uint64_t count, pid, flags, n;

	if (!jmap_get(rest, &count))
		return truncated;
	if (count > PJ_NAMES_PROCESSES)
		return too_many;
	for (; count; count--) {
		struct symbolized_process *process;
		const char *bad;

		symbolized->process = mem_more(symbolized->process, sizeof(*process), symbolized->nprocesses);
		process = &symbolized->process[symbolized->nprocesses];
		if (!jmap_get(rest, &pid) || !jmap_get(rest, &flags) || !jmap_get(rest, &n))
			return truncated;
		if (pid > UINT32_MAX || (symbolized->nprocesses && process[-1].pid >= pid))
			return invalid;
		*process =
			(struct symbolized_process){ (uint32_t)pid, (uint32_t)flags, symbolized->nentries, (size_t)n };
		bad = symbolized_take_entries(symbolized, rest, n);
		if (bad)
			return bad;
		symbolized->nprocesses++;
	}
	return NULL;
}

static const char *symbolized_take_stacks(struct symbolized *symbolized, struct str *rest)
{
	uint64_t n, end, flags;
	int64_t delta;

	if (!jmap_get(rest, &symbolized->nstacks))
		return truncated;
	symbolized->stacks = *rest;
	for (uint64_t i = 0; i < symbolized->nstacks; i++) {
		if (!jmap_get(rest, &n) || !jmap_get(rest, &end))
			return truncated;
		for (; n; n--)
			if (!jmap_get_signed(rest, &delta) || !jmap_get(rest, &flags))
				return truncated;
	}
	return rest->n ? invalid : NULL;
}

static const char *symbolized_parse(struct symbolized *symbolized)
{
	struct str rest = text_view(&symbolized->bytes);
	const char *why = symbolized_take_texts(symbolized, &rest);

	why = why ? why : symbolized_take_dsos(symbolized, &rest);
	why = why ? why : symbolized_take_processes(symbolized, &rest);
	return why ? why : symbolized_take_stacks(symbolized, &rest);
}

const char *symbolized_read(struct symbolized **symbolized, struct str section)
{
	struct symbolized *made = mem_alloc(sizeof(*made), 1);
	const char *why = truncated;

	*symbolized = NULL;
	if (section.n >= sizeof(made->head)) {
		memcpy(&made->head, section.p, sizeof(made->head));
		why = made->head.version == PJ_NAMES_VERSION ?
			      symbolized_inflate(str_from(section, sizeof(made->head)), made->head.size, &made->bytes) :
			      "the stored names are of a newer pjpack: update pjfold";
		why = why ? why : symbolized_parse(made);
	}
	if (why)
		symbolized_free(made);
	else
		*symbolized = made;
	return why;
}

void symbolized_free(struct symbolized *symbolized)
{
	if (!symbolized)
		return;
	text_free(&symbolized->bytes);
	free(symbolized->text);
	free(symbolized->dso);
	free(symbolized->process);
	free(symbolized->entry);
	arena_free(&symbolized->arena);
	free(symbolized);
}

bool symbolized_has_inlined(const struct symbolized *symbolized)
{
	return symbolized->head.flags & PJ_NAMES_INLINED;
}

size_t symbolized_count(const struct symbolized *symbolized)
{
	return symbolized->ndsos + symbolized->nprocesses;
}

uint64_t symbolized_left_out(const struct symbolized *symbolized)
{
	return symbolized->head.left_out;
}

/* ---- keys of DSOs ----------------------------------------------------------------------------------------------- */

void symbolized_key_file(struct text *key, struct str tenant, const struct build_id *id, const struct file_id *numbers,
			 struct str path)
{
	text_char(key, 'f');
	text_str(key, tenant);
	text_char(key, 0);
	text_char(key, (char)id->n);
	if (id->n)
		text_bytes(key, id->byte, id->n < BUILD_ID_MAX ? id->n : BUILD_ID_MAX);
	else
		text_bytes(key, numbers, sizeof(*numbers));
	text_str(key, path);
}

void symbolized_key_process(struct text *key, uint32_t pid)
{
	text_char(key, 'j');
	text_bytes(key, &pid, sizeof(pid));
}

void symbolized_key_image(struct text *key, struct str name)
{
	text_char(key, 'i');
	text_str(key, name);
}

/* ---- lookups of names, code and stacks -------------------------------------------------------------------------- */

bool symbolized_find(const struct symbolized *symbolized, struct str key, struct symbolized_rows *rows)
{
	size_t low = 0, high = symbolized->ndsos;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(symbolized_text(symbolized, symbolized->dso[middle].key), key);

		if (order == 0) {
			*rows = symbolized->dso[middle].rows;
			return true;
		}
		low = order < 0 ? middle + 1 : low;
		high = order < 0 ? high : middle;
	}
	return false;
}

bool symbolized_row(const struct symbolized *symbolized, struct symbolized_rows *rows, struct symbolized_row *row)
{
	uint64_t delta = 0, number[3] = { 0 };

	if (rows->left == 0)
		return false;
	rows->left--;
	jmap_get(&rows->rest, &delta);
	symbolized_take_numbers(symbolized, &rows->rest, number, countof(number));
	rows->address += delta;
	*row = (struct symbolized_row){ rows->address, symbolized_text(symbolized, number[0]),
					symbolized_text(symbolized, number[1]),
					symbolized_text(symbolized, number[2]) };
	return true;
}

static const struct symbolized_process *symbolized_process(const struct symbolized *symbolized, uint32_t pid)
{
	size_t low = 0, high = symbolized->nprocesses;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbolized->process[middle].pid == pid)
			return &symbolized->process[middle];
		if (symbolized->process[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

enum symbolized_has symbolized_has_code(const struct symbolized *symbolized, uint32_t pid)
{
	const struct symbolized_process *process = symbolized_process(symbolized, pid);

	return !process ? SYMBOLIZED_NONE : process->flags & PROCESS_REPLACES ? SYMBOLIZED_ALL : SYMBOLIZED_MORE;
}

const struct jit_code *symbolized_code(struct symbolized *symbolized, uint32_t pid, uint64_t address, uint64_t time)
{
	const struct symbolized_process *process = symbolized_process(symbolized, pid);
	size_t first = process ? process->first : 0, low = first, high = process ? first + process->n : 0;
	struct symbolized_entry *entry;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		entry = &symbolized->entry[middle];
		if (entry->address < address || (entry->address == address && entry->from <= time))
			low = middle + 1;
		else
			high = middle;
	}
	entry = low > first ? &symbolized->entry[low - 1] : NULL;
	if (!entry || entry->address != address || entry->name == 0)
		return NULL;
	if (!entry->made) {
		entry->made = arena_new(&symbolized->arena, struct jit_code, 1);
		*entry->made = (struct jit_code){ .start = address,
						  .size = 1,
						  .from = entry->from,
						  .name = symbolized_text(symbolized, entry->name),
						  .inlined = symbolized_text(symbolized, entry->inlined) };
	}
	return entry->made;
}

bool symbolized_stack(struct symbolized *symbolized, uint64_t *n, unsigned *end)
{
	struct str *rest = &symbolized->stacks;
	uint64_t number = 0, flags;
	int64_t delta;

	*n = 0;
	if (symbolized->nstacks == 0)
		return false;
	symbolized->nstacks--;
	jmap_get(rest, n);
	jmap_get(rest, &number);
	*end = number > UINT8_MAX ? UINT8_MAX : (unsigned)number;
	symbolized->frames = *rest;
	symbolized->address = 0;
	for (uint64_t i = 0; i < *n; i++) {
		jmap_get_signed(rest, &delta);
		jmap_get(rest, &flags);
	}
	return true;
}

struct symbolized_frame symbolized_frame(struct symbolized *symbolized)
{
	uint64_t flags = 0;
	int64_t delta = 0;

	jmap_get_signed(&symbolized->frames, &delta);
	jmap_get(&symbolized->frames, &flags);
	symbolized->address += (uint64_t)delta;
	return (struct symbolized_frame){ symbolized->address, flags & FRAME_EXACT, flags & FRAME_METHOD };
}
