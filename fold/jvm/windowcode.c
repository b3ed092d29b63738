/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jvm/windowcode.h"

#include "common/arena.h"
#include "common/formats/jmapfile.h"
#include "common/formats/pjrows.h"
#include "common/formats/pjsection.h"
#include "common/intern.h"
#include "fold/jvm/inlinetree.h"

#include <stdlib.h>

/* Maximum number of code blobs that one lookup examines: blobs that contain the address, and blobs that end before it.
 * Code that would need a longer search is not found. */
#define STEPS_MAX 64

struct code {
	struct jit_code code;
	/* Last time, in ns, at which the code certainly existed. */
	uint64_t until;
	/* Highest end address of this blob and all blobs of the process before it, in order of start addresses. */
	uint64_t highest;
	struct inlinetree *inlined;
	const struct str *names;
};

/* All code blobs of one process. */
struct codes {
	uint32_t pid;
	/* n elements. If `sorted` is true, they are sorted by start address, then by code.from. */
	struct code **code;
	size_t n;
	bool sorted;
};

/* Identity of a code blob in the items of a window. Two keys with the same bytes are the same blob; `zero` is in place
 * of padding, whose bytes would be undefined. */
struct code_key {
	uint64_t start;
	uint32_t pid, jvm, size, compile_id, kind, zero;
};

struct name_key {
	uint32_t jvm, number;
};

struct windowcode {
	struct arena arena;
	struct intern name_keys, code_keys;
	struct str *name;   /* names, by id in name_keys minus 1 */
	struct code **code; /* latest blob with each key, by id in code_keys minus 1; NULL: no blob has the key */
	struct codes *process;
	size_t nprocesses, n;
	uint64_t left_out;
};

/* ---- names of code -------------------------------------------------------------------------------------------- */

static struct str name_key_bytes(const struct name_key *key)
{
	return (struct str){ (const char *)key, sizeof(*key) };
}

const char *windowcode_take_names(struct windowcode *windowcode, struct str body)
{
	struct pjrows rows = { .rest = body };
	struct pj_code_names head = { 0 };
	struct pj_code_name row;
	struct str name;

	pjrows_head(&rows, &head, sizeof(head));
	while (pjrows_next(&rows, &row, sizeof(row), offsetof(struct pj_code_name, size), &name)) {
		struct name_key key = { .jvm = head.jvm, .number = row.number };
		uint32_t before = windowcode->name_keys.n, id;

		id = intern(&windowcode->name_keys, name_key_bytes(&key));
		if (id <= before)
			continue;
		windowcode->name = mem_more(windowcode->name, sizeof(*windowcode->name), before);
		windowcode->name[before] = arena_copy(&windowcode->arena, name);
	}
	return rows.cut ? "a list of names of code is truncated" : NULL;
}

static struct str name_of(const struct windowcode *windowcode, uint32_t jvm, uint32_t number)
{
	struct name_key key = { jvm, number };
	uint32_t id = intern_find(&windowcode->name_keys, name_key_bytes(&key));

	return id ? windowcode->name[id - 1] : (struct str){ 0 };
}

/* ---- lists of code -------------------------------------------------------------------------------------------- */

static struct codes *codes_of(const struct windowcode *windowcode, uint32_t pid)
{
	for (size_t i = 0; i < windowcode->nprocesses; i++)
		if (windowcode->process[i].pid == pid)
			return &windowcode->process[i];
	return NULL;
}

static struct codes *codes_add(struct windowcode *windowcode, uint32_t pid)
{
	struct codes *codes = codes_of(windowcode, pid);

	if (codes)
		return codes;
	windowcode->process = mem_more(windowcode->process, sizeof(*windowcode->process), windowcode->nprocesses);
	codes = &windowcode->process[windowcode->nprocesses++];
	*codes = (struct codes){ .pid = pid };
	return codes;
}

/* Adds a code blob, and sets *latest to it. A blob whose own name is unknown is left out. numbers: numbers of the
 * blob's names, its own name first. tree: inlined calls of the blob. Returns NULL, or the error. */
static const char *windowcode_add(struct windowcode *windowcode, const struct code_key *key, const struct pj_code *row,
				  struct str numbers, struct str tree, struct code **latest)
{
	struct code *code = arena_new(&windowcode->arena, struct code, 1);
	struct str *names = arena_new(&windowcode->arena, struct str, row->nnames);
	struct codes *codes;

	for (uint32_t i = 0; i < row->nnames; i++) {
		uint32_t number;

		memcpy(&number, numbers.p + sizeof(number) * i, sizeof(number));
		names[i] = name_of(windowcode, key->jvm, number);
	}
	if (names[0].n == 0)
		return NULL;
	*code = (struct code){ .code = { .start = row->start,
					 .size = row->size,
					 .from = row->from,
					 .index = row->compile_id,
					 .name = names[0] },
			       .until = row->until,
			       .names = names };
	*latest = code;
	codes = codes_add(windowcode, key->pid);
	codes->code = mem_more(codes->code, sizeof(struct code *), codes->n);
	codes->code[codes->n++] = code;
	codes->sorted = false;
	windowcode->n++;
	return tree.n ? inlinetree_parse(&windowcode->arena, tree, row->nnames, &code->inlined) : NULL;
}

/* Reads one entry of PJ_ITEM_CODE. An entry with names is a new blob. An entry without names sets the end of the
 * lifetime of a blob listed before. Returns NULL, or the error. */
static const char *take_code(struct windowcode *windowcode, const struct pj_codes *head, const struct pj_code *row,
			     struct str numbers, struct str tree)
{
	struct code_key key = { row->start, head->pid, head->jvm, row->size, row->compile_id, row->kind, 0 };
	struct str bytes = { (const char *)&key, sizeof(key) };
	uint32_t before = windowcode->code_keys.n, id;

	if (row->size > UINT64_MAX - row->start || row->from > row->until)
		return "invalid code";
	id = intern(&windowcode->code_keys, bytes);
	if (id > before) {
		windowcode->code = mem_more(windowcode->code, sizeof(struct code *), before);
		windowcode->code[before] = NULL;
	}
	if (row->nnames)
		return windowcode_add(windowcode, &key, row, numbers, tree, &windowcode->code[id - 1]);
	if (windowcode->code[id - 1])
		windowcode->code[id - 1]->until = row->until;
	return NULL;
}

const char *windowcode_take(struct windowcode *windowcode, struct str body)
{
	static const char cut[] = "a list of code is truncated";
	const char *bad = NULL;
	struct pj_codes head;
	struct pj_code row;

	if (body.n < sizeof(head))
		return cut;
	memcpy(&head, body.p, sizeof(head));
	windowcode->left_out += head.left_out;
	for (body = str_from(body, sizeof(head)); body.n;) {
		struct str numbers, tree;
		const char *why;

		if (body.n < sizeof(row))
			return cut;
		memcpy(&row, body.p, sizeof(row));
		body = str_from(body, sizeof(row));
		if (row.nnames > body.n / 4 || row.bytes > body.n - 4 * (size_t)row.nnames)
			return cut;
		numbers = str_head(body, 4 * (size_t)row.nnames);
		tree = str_head(str_from(body, numbers.n), row.bytes);
		body = str_from(body, numbers.n + tree.n);
		why = take_code(windowcode, &head, &row, numbers, tree);
		bad = bad ? bad : why;
	}
	return bad;
}

/* ---- lookup of code ------------------------------------------------------------------------------------------- */

static int windowcode_cmp(const void *left, const void *right)
{
	const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;

	if (a->code.start != b->code.start)
		return a->code.start < b->code.start ? -1 : 1;
	return (a->code.from > b->code.from) - (a->code.from < b->code.from);
}

static void windowcode_sort(struct codes *codes)
{
	uint64_t highest = 0;

	qsort(codes->code, codes->n, sizeof(struct code *), windowcode_cmp);
	for (size_t i = 0; i < codes->n; i++) {
		uint64_t end = codes->code[i]->code.start + codes->code[i]->code.size;

		highest = end > highest ? end : highest;
		codes->code[i]->highest = highest;
	}
	codes->sorted = true;
}

bool windowcode_has(const struct windowcode *windowcode, uint32_t pid)
{
	return windowcode && codes_of(windowcode, pid);
}

/* The result is the blob with the highest start of all blobs that contain the address at this time: a stub lies within
 * a larger blob, which has a name of its own. */
const struct jit_code *windowcode_find(struct windowcode *windowcode, uint32_t pid, uint64_t address, uint64_t time)
{
	struct codes *codes = windowcode ? codes_of(windowcode, pid) : NULL;
	size_t low = 0, high = codes ? codes->n : 0;

	if (codes && !codes->sorted)
		windowcode_sort(codes);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (codes->code[middle]->code.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned steps = 0; low-- > 0 && codes->code[low]->highest > address && steps < STEPS_MAX; steps++) {
		struct code *code = codes->code[low];

		if (address - code->code.start >= code->code.size || time < code->code.from || time > code->until)
			continue;
		return inlinetree_at(code->inlined, &code->code, address - code->code.start, code->names,
				     &windowcode->arena);
	}
	return NULL;
}

/* ---- creation and release ------------------------------------------------------------------------------------- */

size_t windowcode_count(const struct windowcode *windowcode)
{
	return windowcode ? windowcode->n : 0;
}

uint64_t windowcode_left_out(const struct windowcode *windowcode)
{
	return windowcode ? windowcode->left_out : 0;
}

struct windowcode *windowcode_new(void)
{
	return mem_alloc(sizeof(struct windowcode), 1);
}

void windowcode_free(struct windowcode *windowcode)
{
	if (!windowcode)
		return;
	for (size_t i = 0; i < windowcode->nprocesses; i++)
		free(windowcode->process[i].code);
	free(windowcode->process);
	free(windowcode->code);
	free(windowcode->name);
	intern_free(&windowcode->name_keys);
	intern_free(&windowcode->code_keys);
	arena_free(&windowcode->arena);
	free(windowcode);
}
