/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/goinlines.h"

#include "fold/symbols/gosyms.h"
#include "unwind/dwarf/dwarfbytes.h"

#include <stdlib.h>

/* Offsets in bytes of members of struct _func. TABLES: the number of pctab tables. DATA_18, DATA_20: the number of data
 * (funcdata), in Go 1.18 and Go 1.20. OFFSETS_18, OFFSETS_20: the list of the offsets of the tables; the list of the
 * offsets of the data follows it. */
enum { TABLES = 28, DATA_18 = 39, DATA_20 = 43, OFFSETS_18 = 40, OFFSETS_20 = 44 };

/* INLINE_TABLE: Go's PCDATA_InlTreeIndex, an index into the pctab tables of a function. INLINE_TREE: Go's
 * FUNCDATA_InlTree, an index into the data of a function. */
enum { INLINE_TABLE = 2, INLINE_TREE = 3 };
/* Value of the offset of a function's data if the function lacks these data. */
#define NO_DATA UINT32_MAX

/* An inlined call in the tree, in Go 1.18 and Go 1.20. SIZE_*: size in bytes of an entry for a call. NAME_*,
 * POSITION_*: offsets in bytes of name and position in the entry. */
enum { SIZE_18 = 20, NAME_18 = 12, POSITION_18 = 16, SIZE_20 = 16, NAME_20 = 4, POSITION_20 = 8 };

enum {
	CALLS_MAX = 255, /* maximum nesting of inlined calls; a deeper call is treated as damaged */
	/* maximum number of spans of one function; a function with more is treated as damaged */
	SPANS_MAX = 1 << 20,
	VALUES_BLOCK = 4096,  /* number of bytes of pctab that are read at a time */
	WORK_MAX = 128 << 20, /* limit for the part of `max` that depends on the size of the section, in steps */
	VALUE_MAX = 20,       /* maximum size in bytes of a span in pctab: two numbers of 10 bytes */
};

/* Range of addresses of a function with the same innermost inlined call, from the end of the previous span. `end` is
 * relative to the start of the function. */
struct span {
	uint32_t end;
	int32_t call; /* index of the inlined call in the tree; -1: none */
};

struct goinlines {
	struct gosyms gosyms;
	struct intern *names;
	struct gosyms_function function; /* function to which `span` belongs */
	struct span *span;
	size_t n, cap;
	uint64_t tree; /* virtual address of the function's inline tree; 0: none */
	int32_t last;  /* last: inlined call of the previous query in this function; last_id: id of its names */
	uint32_t last_id;
	/* work: number of steps so far; max: its limit, above which functions are treated as damaged */
	uint64_t work, max;
	bool damaged; /* true if a table of a function or an inlined call is damaged */
	struct text text;
};

/* ---- spans of a function ---------------------------------------------------------------------------------------- */

/* Adds a span that ends at offset `end` of the function. Returns false if a limit of spans is exceeded, or if `call` is
 * no valid index. */
static bool goinlines_add(struct goinlines *inlines, uint64_t end, int64_t call)
{
	if (inlines->n == SPANS_MAX || ++inlines->work > inlines->max || call < -1 || call > INT32_MAX)
		return false;
	if (inlines->n == inlines->cap) {
		inlines->cap = inlines->cap ? 2 * inlines->cap : 256;
		inlines->span = mem_grow(inlines->span, sizeof(*inlines->span), inlines->cap);
	}
	inlines->span[inlines->n++] = (struct span){ (uint32_t)end, (int32_t)call };
	return true;
}

/* Reads the pctab table at offset `at` of the section for a function of `size` bytes. The table has pairs: change of
 * the value, which starts at -1, and length of the code with that value. Returns false if the table is damaged. */
static bool goinlines_read_spans(struct goinlines *inlines, uint64_t at, uint64_t size)
{
	const struct gotable *gotable = &inlines->gosyms.gotable;
	char block[VALUES_BLOCK];
	struct dwarf_bytes bytes = { 0 };
	uint64_t end = 0, read = at;
	int64_t call = -1;

	while (end < size) {
		uint64_t change, length;

		if (dwarf_left(&bytes) < VALUE_MAX && read < gotable->table) {
			size_t left = dwarf_left(&bytes), want = sizeof(block) - left;

			if (left)
				memmove(block, bytes.p, left);
			want = gotable->table - read < want ? (size_t)(gotable->table - read) : want;
			want = gotable_read(gotable, read, block + left, want);
			read = want ? read + want : gotable->table;
			bytes = dwarf_bytes_of((struct str){ block, left + want });
		}
		change = dwarf_uleb(&bytes);
		if (change == 0 && end)
			break; /* the end of the table; padding follows */
		if (bytes.bad || change > UINT32_MAX)
			return false;
		call += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		length = dwarf_uleb(&bytes) * gotable->quantum;
		if (bytes.bad || length == 0 || length > size - end)
			return false;
		end += length;
		if (!goinlines_add(inlines, end, call))
			return false;
	}
	return !bytes.bad;
}

/* Reads the spans of a function and the address of its inline tree. On failure, the function has neither. */
static void goinlines_enter(struct goinlines *inlines, const struct gosyms_function *function)
{
	const struct gotable *gotable = &inlines->gosyms.gotable;
	uint64_t place = function->place, offsets = place + (gotable->since_20 ? OFFSETS_20 : OFFSETS_18),
		 tables = gotable_number(gotable, place + TABLES, 4),
		 data = gotable_number(gotable, place + (gotable->since_20 ? DATA_20 : DATA_18), 1), at, tree;

	inlines->function = *function;
	inlines->n = 0;
	inlines->tree = 0;
	inlines->last = -1;
	inlines->damaged |= tables > UINT32_MAX || data > UINT8_MAX;
	if (tables > UINT32_MAX || data > UINT8_MAX || tables <= INLINE_TABLE || data <= INLINE_TREE)
		return;
	at = gotable_number(gotable, offsets + 4 * INLINE_TABLE, 4);
	tree = gotable_number(gotable, offsets + 4 * tables + 4 * INLINE_TREE, 4);
	if (at == 0 || tree == NO_DATA)
		return;
	inlines->damaged |= at >= gotable->table - gotable->values || tree > NO_DATA;
	if (at >= gotable->table - gotable->values || tree > NO_DATA)
		return;
	if (goinlines_read_spans(inlines, gotable->values + at, function->end - function->start))
		inlines->tree = gotable->gofunc + tree;
	else
		inlines->n = 0;
	inlines->damaged |= !inlines->tree;
}

/* Returns the index of the innermost inlined call at an offset of the function; -1 if there is none. */
static int32_t goinlines_call_at(const struct goinlines *inlines, uint64_t offset)
{
	size_t low = 0, high = inlines->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (inlines->span[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < inlines->n ? inlines->span[low].call : -1;
}

/* ---- inlined calls ---------------------------------------------------------------------------------------------- */

/* Reads entry `call` of the inline tree. Sets *name to the offset of the name of the called function, and *position to
 * the offset, in the function, of an instruction of the outer call. Returns false if the entry cannot be read. */
static bool goinlines_read_call(const struct goinlines *inlines, int32_t call, uint32_t *name, uint32_t *position)
{
	const struct gotable *gotable = &inlines->gosyms.gotable;
	size_t size = gotable->since_20 ? SIZE_20 : SIZE_18;
	char bytes[SIZE_18];
	uint64_t offset;

	if (!gotable_offset(gotable, inlines->tree + (uint64_t)call * size, &offset) ||
	    elfhead_bytes(gotable->head, offset, bytes, size) < size)
		return false;
	memcpy(name, bytes + (gotable->since_20 ? NAME_20 : NAME_18), sizeof(*name));
	memcpy(position, bytes + (gotable->since_20 ? POSITION_20 : POSITION_18), sizeof(*position));
	return true;
}

/* Returns the id of the names of an inlined call and of its outer calls, outermost first, separated by NUL; 0 if one of
 * these calls is damaged. */
static uint32_t goinlines_names(struct goinlines *inlines, int32_t call)
{
	uint32_t chain[CALLS_MAX], n = 0, position;

	while (call >= 0) {
		int32_t inner = call;

		if (n == CALLS_MAX || ++inlines->work > inlines->max ||
		    !goinlines_read_call(inlines, call, &chain[n++], &position))
			return 0;
		call = goinlines_call_at(inlines, position);
		if (call >= inner)
			return 0;
	}
	inlines->text.n = 0;
	while (n-- > 0) {
		if (!gosyms_name(&inlines->gosyms, chain[n], &inlines->text))
			return 0;
		if (n)
			text_char(&inlines->text, 0);
	}
	return intern(inlines->names, text_view(&inlines->text));
}

/* Returns the id of the names of the inlined calls at an address; 0 if there are none. */
static uint32_t goinlines_at(struct goinlines *inlines, const struct gosyms_function *function, uint64_t address)
{
	int32_t call;

	if (inlines->function.place != function->place || inlines->function.start != function->start)
		goinlines_enter(inlines, function);
	call = inlines->tree ? goinlines_call_at(inlines, address - function->start) : -1;
	if (call < 0)
		return 0;
	if (call != inlines->last)
		inlines->last_id = goinlines_names(inlines, call);
	inlines->damaged |= !inlines->last_id;
	inlines->last = call;
	return inlines->last_id;
}

/* ---- lookups in a file ------------------------------------------------------------------------------------------ */

/* Translates the file offsets of query[0..*n) to addresses, and returns them in ascending order. Sets *n to the number
 * of addresses. The caller frees the result. */
static struct gosyms_place *goinlines_places(const struct elffile *elffile, const struct symbols_query *query,
					     size_t *n)
{
	uint64_t *at = mem_alloc(sizeof(*at), *n + 1);
	struct gosyms_place *place;

	for (size_t i = 0; i < *n; i++)
		at[i] = query[i].address;
	place = gosyms_places(elffile, at, n);
	free(at);
	return place;
}

bool goinlines_resolve(const struct elffile *elffile, struct symbols_query *query, size_t n, struct intern *names,
		       const char **why)
{
	struct goinlines inlines = { .names = names };
	struct gosyms_finder *finder;
	struct gosyms_function function;
	struct gosyms_place *place;

	if (!gosyms_open(&inlines.gosyms, elffile) ||
	    (!inlines.gosyms.gotable.gofunc && !gotable_find_module(&inlines.gosyms.gotable)) ||
	    !inlines.gosyms.gotable.gofunc)
		return false;
	/* limit of steps: 1 million, 1 for each byte of the section, 64 for each query */
	inlines.max = (1u << 20) + (inlines.gosyms.gotable.size < WORK_MAX ? inlines.gosyms.gotable.size : WORK_MAX) +
		      64 * (uint64_t)n;
	finder = mem_alloc(sizeof(*finder), 1);
	finder->gosyms = &inlines.gosyms;
	place = goinlines_places(elffile, query, &n);
	for (size_t i = 0; i < n; i++)
		if (gosyms_find(finder, place[i].address, &function))
			query[place[i].index].inlined = goinlines_at(&inlines, &function, place[i].address);
	*why = NULL;
	if (inlines.damaged)
		*why = inlines.work > inlines.max ? "exceeds the limit for one file" :
						    "table of inlined calls is damaged, or beyond a limit";
	free(place);
	free(finder);
	free(inlines.span);
	text_free(&inlines.text);
	return true;
}
