/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/inlines.h"

#ifdef PJ_LIBDW

#include "common/filter/broker.h"
#include "fold/symbols/dies.h"
#include "fold/symbols/dwarfimage.h"
#include "common/text.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS_MAX 255 /* maximum nesting of inlined calls; deeper calls are left out */

const bool inlines_here = true;

/* A requested address, and the index of its query. */
struct place {
	uint64_t address;
	uint32_t query;
	struct diewalk_within in; /* innermost function and inlined call found so far */
};

/* An inlined call. name: id of the called function's name; outer: index of the inlined call that contains this call (0:
 * none); depth: number of nested calls from the outermost to this one. */
struct call {
	uint32_t name, outer, depth;
};

struct inlines {
	const struct inlines_options *o;
	struct intern *names;
	Dwarf *dwarf;
	struct place *place;
	size_t n;
	struct call *call;
	uint32_t ncalls, calls_cap, functions;
	/* true in the second pass, which also visits DIEs that rarely contain code, such as classes */
	bool deep;
	struct diewalk walk;
	struct dienames called;
	struct text text;
};

/* ---- requested addresses ------------------------------------------------------------------------------------ */

static size_t inlines_first_at(const struct inlines *inlines, uint64_t address)
{
	size_t low = 0, high = inlines->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (inlines->place[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ranges {
	Dwarf_Die *die;
	ptrdiff_t next;
	Dwarf_Addr base;
	size_t at, end; /* indices of the requested addresses in this range: [at, end) */
};

/* Moves to the next address range of a DIE that contains requested addresses. Returns false if there is none, if the
 * DIE is damaged, or if the limit of steps is exceeded. Skips ranges that start at 0: the linker has discarded their
 * code. */
static bool next_range(struct inlines *inlines, struct ranges *ranges)
{
	Dwarf_Addr start, end;

	for (;;) {
		ranges->next = dwarf_ranges(ranges->die, ranges->next, &ranges->base, &start, &end);
		if (ranges->next < 0)
			return diewalk_give_up(&inlines->walk, "damaged");
		if (ranges->next == 0 || !diewalk_spend(&inlines->walk, 1))
			return false;
		if (start == 0 || start >= end)
			continue;
		ranges->at = ranges->end = inlines_first_at(inlines, start);
		while (ranges->end < inlines->n && inlines->place[ranges->end].address < end)
			ranges->end++;
		if (ranges->at < ranges->end)
			return diewalk_spend(&inlines->walk, ranges->end - ranges->at);
	}
}

/* Returns the number of requested addresses that are in the ranges of a DIE, but not yet assigned to a function. */
static size_t count_open(struct inlines *inlines, Dwarf_Die *die)
{
	struct ranges ranges = { .die = die };
	size_t open = 0;

	while (next_range(inlines, &ranges))
		for (size_t i = ranges.at; i < ranges.end; i++)
			open += inlines->place[i].in.function == 0;
	return open;
}

/* Enters a function: assigns to it all requested addresses in its ranges that are not yet assigned to a function.
 * Returns true, and gives the function a number, if there are such addresses; otherwise false. Sets *inner to the
 * context in the function, or to one without a function if the result is false. */
static bool enter_function(struct inlines *inlines, Dwarf_Die *die, struct diewalk_within *inner)
{
	struct ranges ranges = { .die = die };
	bool any = false;

	*inner = (struct diewalk_within){ .function = inlines->functions + 1 };
	while (next_range(inlines, &ranges))
		for (size_t i = ranges.at; i < ranges.end; i++)
			if (inlines->place[i].in.function == 0) {
				inlines->place[i].in = *inner;
				any = true;
			}
	if (any)
		inlines->functions++;
	else
		inner->function = 0;
	return any;
}

static uint32_t add_call(struct inlines *inlines, Dwarf_Die *die, uint32_t outer)
{
	uint32_t depth = inlines->call[outer].depth + 1;

	if (inlines->ncalls == inlines->calls_cap) {
		inlines->calls_cap *= 2;
		inlines->call = mem_grow(inlines->call, sizeof(*inlines->call), inlines->calls_cap);
	}
	inlines->call[inlines->ncalls] = (struct call){ dienames_called(&inlines->called, die), outer, depth };
	return inlines->ncalls++;
}

/* Enters an inlined call: assigns to it all requested addresses in its ranges whose current context is `outer`. Returns
 * true if there are such addresses; otherwise false. Sets *inner to the context in the call. */
static bool enter_call(struct inlines *inlines, Dwarf_Die *die, struct diewalk_within outer,
		       struct diewalk_within *inner)
{
	struct ranges ranges = { .die = die };
	bool any = false;

	*inner = outer;
	while (next_range(inlines, &ranges))
		for (size_t i = ranges.at; i < ranges.end; i++) {
			struct diewalk_within *within = &inlines->place[i].in;

			if (within->function != outer.function || within->call != outer.call)
				continue;
			if (!any) {
				if (inlines->call[outer.call].depth == CALLS_MAX)
					return diewalk_give_up(&inlines->walk, "nested too deeply");
				inner->call = add_call(inlines, die, outer.call);
				any = true;
			}
			*within = *inner;
		}
	return any;
}

/* Returns true if a lexical block may contain inlined calls at requested addresses. Also returns true for a block
 * without ranges, which compilers generate for optimised code. Otherwise returns false. */
static bool enter_block(struct inlines *inlines, Dwarf_Die *die, struct diewalk_within outer)
{
	struct ranges ranges = { .die = die };

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return true;
	while (next_range(inlines, &ranges))
		for (size_t i = ranges.at; i < ranges.end; i++)
			if (inlines->place[i].in.function == outer.function && inlines->place[i].in.call == outer.call)
				return true;
	return false;
}

static bool visit_code(void *with, Dwarf_Die *die, int tag, struct diewalk_within outer, struct diewalk_within *inner)
{
	struct inlines *inlines = with;

	switch (tag) {
	/* the second pass also enters functions inside of functions, even if the outer one has no requested address */
	case DW_TAG_subprogram:
		return (outer.function == 0 || inlines->deep) && (enter_function(inlines, die, inner) || inlines->deep);
	case DW_TAG_inlined_subroutine: return outer.function && enter_call(inlines, die, outer, inner);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt: return outer.function ? enter_block(inlines, die, outer) : inlines->deep;
	case DW_TAG_namespace:
	case DW_TAG_module: return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
	case DW_TAG_common_block: return inlines->deep;
	default: return false;
	}
}

/* ---- units and split units ---------------------------------------------------------------------------------- */

/* Reads the debug information of a split unit from its .dwo file, into *split. Returns false if that fails. libdw opens
 * the file by the names in the unit, which may form any path. So, while libdw opens it (dwarf_cu_info), the names in
 * the image are overwritten with the path of a memory file that contains an image of the .dwo file (dwarfimage.h). */
static bool inlines_open_split(struct inlines *inlines, Dwarf_CU *cu, Dwarf_Die *unit, Dwarf_Die *split)
{
	static const char folder[] = "/dev/fd";
	char saved_dir[sizeof(folder)], saved_name[12], name[12];
	char *dir = (char *)(uintptr_t)dienames_string(unit, DW_AT_comp_dir);
	char *file = (char *)(uintptr_t)dienames_string(unit, DW_AT_dwo_name);
	struct dwarfimage image;
	struct elffile elffile = { .fd = -1 };
	const char *why;
	int fd, copy;

	if (!file)
		file = (char *)(uintptr_t)dienames_string(unit, DW_AT_GNU_dwo_name);
	fd = file && inlines->o->files.split ? inlines->o->files.split(inlines->o->files.with, dir, file) : -1;
	if (fd < 0)
		return diewalk_give_up(&inlines->walk, "one of its .dwo files is missing");
	why = elffile_open(&elffile, fd);
	if (!why)
		why = dwarfimage_make(&image, &elffile, true);
	elffile_close(&elffile);
	close(fd);
	if (why)
		return diewalk_give_up(&inlines->walk, "one of its .dwo files is damaged");
	copy = broker_memory();
	snprintf(name, sizeof(name), "%d", copy);
	memset(split, 0, sizeof(*split));
	if (copy >= 0 && dir && strlen(dir) >= strlen(folder) && strlen(file) >= strlen(name) &&
	    write(copy, image.p, image.n) == (ssize_t)image.n) {
		memcpy(saved_dir, dir, sizeof(folder));
		memcpy(saved_name, file, strlen(name) + 1);
		memcpy(dir, folder, sizeof(folder));
		memcpy(file, name, strlen(name) + 1);
		dwarf_cu_info(cu, NULL, NULL, NULL, split, NULL, NULL, NULL);
		memcpy(file, saved_name, strlen(name) + 1);
		memcpy(dir, saved_dir, sizeof(folder));
	}
	if (copy >= 0)
		close(copy);
	dwarfimage_free(&image);
	return split->addr || diewalk_give_up(&inlines->walk, "one of its .dwo files cannot be used");
}

static void look_into(struct inlines *inlines, Dwarf_Die *unit, Dwarf_Die *entries)
{
	static const struct diewalk_visitor visitor = { visit_code, NULL };

	inlines->deep = false;
	diewalk_visit(&inlines->walk, entries, (struct diewalk_within){ 0 }, &visitor, inlines);
	inlines->deep = count_open(inlines, unit) > 0;
	if (inlines->deep)
		diewalk_visit(&inlines->walk, entries, (struct diewalk_within){ 0 }, &visitor, inlines);
}

static void read_units(struct inlines *inlines)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t kind;
	int found;

	while ((found = dwarf_get_units(inlines->dwarf, cu, &cu, NULL, &kind, &unit, NULL)) == 0 &&
	       diewalk_spend(&inlines->walk, 1)) {
		if (!unit.addr || (kind != DW_UT_compile && kind != DW_UT_skeleton) || count_open(inlines, &unit) == 0)
			continue;
		if (kind == DW_UT_skeleton && inlines_open_split(inlines, cu, &unit, &split))
			look_into(inlines, &unit, &split);
		else
			look_into(inlines, &unit, &unit);
	}
	if (found < 0)
		diewalk_give_up(&inlines->walk, "damaged");
}

/* ---- files with debug information --------------------------------------------------------------------------- */

/* An image of a file's debug information (dwarfimage.h), opened with libdw. */
struct opened {
	struct dwarfimage image;
	Elf *elf;
	Dwarf *dwarf;
};

static const char *open_dwarf(struct opened *opened, const struct elffile *elffile)
{
	const char *why = dwarfimage_make(&opened->image, elffile, false);

	if (why)
		return why;
	elf_version(EV_CURRENT);
	opened->elf = elf_memory(opened->image.p, opened->image.n);
	opened->dwarf = opened->elf ? dwarf_begin_elf(opened->elf, DWARF_C_READ, NULL) : NULL;
	return opened->dwarf ? NULL : "damaged";
}

static void close_dwarf(struct opened *opened)
{
	if (opened->dwarf)
		dwarf_end(opened->dwarf);
	elf_end(opened->elf);
	dwarfimage_free(&opened->image);
}

/* Opens the file with the debug information that dwz shares between files (.gnu_debugaltlink). */
static void inlines_open_shared(struct inlines *inlines, const struct elffile *elffile, struct opened *shared)
{
	struct str link = elffile_bytes((struct elffile *)(uintptr_t)elffile,
					elffile_section(elffile, STR(".gnu_debugaltlink")), 4096),
		   name = link;
	struct elffile file = { .fd = -1 };
	int fd = -1;

	if (link.n == 0)
		return;
	str_cut(&link, 0);
	if (link.n && inlines->o->files.shared) /* without a build-id after the name, the name may lack its NUL */
		fd = inlines->o->files.shared(inlines->o->files.with, name.p, link);
	if (fd >= 0 && !elffile_open(&file, fd) && !open_dwarf(shared, &file))
		dwarf_setalt(inlines->dwarf, shared->dwarf);
	else
		diewalk_give_up(&inlines->walk, "its supplementary debug file (.gnu_debugaltlink) is missing");
	elffile_close(&file);
	if (fd >= 0)
		close(fd);
}

static int inlines_place_cmp(const void *left, const void *right)
{
	const struct place *place = left, *b = right;

	return (place->address > b->address) - (place->address < b->address);
}

static void inlines_find_places(struct inlines *inlines, const struct elffile *runtime,
				const struct symbols_query *query, size_t n)
{
	inlines->place = mem_alloc(sizeof(*inlines->place), n);
	for (size_t i = 0; i < n; i++)
		if (elffile_address(runtime, query[i].address, &inlines->place[inlines->n].address))
			inlines->place[inlines->n++].query = (uint32_t)i;
	qsort(inlines->place, inlines->n, sizeof(*inlines->place), inlines_place_cmp);
}

/* Returns the id of the names of an inlined call and of its outer calls, outermost first, separated by NUL; 0 if the
 * limit of steps is exceeded. */
static uint32_t chain_name(struct inlines *inlines, uint32_t call)
{
	uint32_t chain[CALLS_MAX], n = 0;

	for (; call; call = inlines->call[call].outer)
		chain[n++] = inlines->call[call].name;
	inlines->text.n = 0;
	while (n-- > 0) {
		text_str(&inlines->text, intern_str(inlines->names, chain[n]));
		if (n)
			text_char(&inlines->text, 0);
	}
	return diewalk_spend(&inlines->walk, inlines->text.n) ? intern(inlines->names, text_view(&inlines->text)) : 0;
}

/* Sets the result of each requested address. Neighbouring addresses are mostly in the same call, so its names are made
 * once. */
static void inlines_answer(struct inlines *inlines, struct symbols_query *query)
{
	uint32_t last = 0, id = 0;

	for (size_t i = 0; i < inlines->n; i++) {
		uint32_t call = inlines->place[i].in.call;

		if (call && call != last)
			id = chain_name(inlines, last = call);
		if (call)
			query[inlines->place[i].query].inlined = id;
	}
}

const char *inlines_resolve(const struct inlines_options *options, const struct elffile *dwarf,
			    const struct elffile *runtime, struct symbols_query *query, size_t n, struct intern *names)
{
	struct inlines inlines = { .o = options, .names = names, .ncalls = 1, .calls_cap = 64 };
	struct opened main = { 0 }, shared = { 0 };

	inlines.called = (struct dienames){ .names = names, .as_perf = options->as_perf, .walk = &inlines.walk };
	inlines.walk.why = open_dwarf(&main, dwarf);
	if (!inlines.walk.why) {
		inlines.dwarf = main.dwarf;
		/* limit of steps: 16 million, 8 for each byte of debug information, 64 for each requested address */
		inlines.walk.max = 64 * (uint64_t)n + 8 * (uint64_t)main.image.n + (1u << 24);
		inlines.call = mem_alloc(sizeof(*inlines.call), inlines.calls_cap);
		inlines_find_places(&inlines, runtime, query, n);
		inlines_open_shared(&inlines, dwarf, &shared);
		read_units(&inlines);
		inlines_answer(&inlines, query);
	}
	free(inlines.place);
	free(inlines.call);
	dienames_free(&inlines.called);
	text_free(&inlines.text);
	close_dwarf(&main);
	close_dwarf(&shared);
	return inlines.walk.why;
}

#else

const bool inlines_here = false;

const char *inlines_resolve(const struct inlines_options *o, const struct elffile *dwarf, const struct elffile *runtime,
			    struct symbols_query *q, size_t n, struct intern *names)
{
	(void)o;
	(void)dwarf;
	(void)runtime;
	(void)q;
	(void)n;
	(void)names;
	return "pjfold was built without libdw";
}

#endif
