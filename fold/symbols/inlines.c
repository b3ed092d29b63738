/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/inlines.h"

#ifdef PJ_LIBDW

#include "common/filter/broker.h"
#include "fold/symbols/dwarfimage.h"
#include "fold/symbols/elfsyms.h"
#include "common/text.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* maximum nesting of DIEs; the rest of a unit with deeper DIEs is not read. Compilers generate far less than 100
 * levels. */
#define DEPTH 512
#define CALLS_MAX 255 /* maximum nesting of inlined calls; deeper calls are left out */
#define NAME_LENGTH_MAX 16384

const bool inlines_here = true;

/* Context of a DIE. function: number of the function that contains the DIE; while scopes are collected, index of the
 * scope instead. call: index of the innermost inlined call that contains the DIE; 0: none. */
struct within {
	uint32_t function, call;
};

/* A requested address, and the index of its query. */
struct place {
	uint64_t address;
	uint32_t query;
	struct within in; /* innermost function and inlined call found so far */
};

/* An inlined call. name: id of the called function's name; outer: index of the inlined call that contains this call (0:
 * none); depth: number of nested calls from the outermost to this one. */
struct call {
	uint32_t name, outer, depth;
};

/* A namespace, class or function. die: DIE of the scope; end: end of the children of the DIE in the section; outer:
 * index of the scope that contains this scope. */
struct scope {
	Dwarf_Die die;
	const char *end;
	uint32_t outer;
};

/* The scopes of one unit: indices first to first + n - 1 in inlines.scope, in the order of their DIEs. The first scope
 * is the unit itself. */
struct scopes {
	uint32_t first, n;
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
	/* work: number of steps so far; max: its limit, above which the lookup ends with a reason */
	uint64_t work, max;
	const char *why;
	struct intern known; /* addresses of the DIEs of visited functions and units */
	struct known {
		uint32_t name;        /* for a function: id of its name; 0: not made yet */
		struct scopes scopes; /* for a unit: its scopes */
	} * known_as;                 /* results for each DIE in `known`; the index is the id of the DIE's address */
	size_t known_cap;
	struct scope *scope;
	uint32_t nscopes, scopes_cap;
	struct text text;
};

static bool inlines_give_up(struct inlines *inlines, const char *why)
{
	if (!inlines->why)
		inlines->why = why;
	return false;
}

/* Adds to the number of steps. Returns false if the limit inlines->max is exceeded: the lookup then ends. */
static bool inlines_spend(struct inlines *inlines, uint64_t steps)
{
	inlines->work += steps;
	return inlines->work <= inlines->max || inlines_give_up(inlines, "it would take too long");
}

/* ---- walk over DIEs ----------------------------------------------------------------------------------------- */

/* Callbacks of a walk over DIEs. visit returns true if the walk is to visit the children of die, with the context
 * *inner. left is called after the children; the next DIE begins at end (NULL: there is none). */
struct visitor {
	bool (*visit)(struct inlines *inlines, Dwarf_Die *die, int tag, struct within outer, struct within *inner);
	void (*left)(struct inlines *inlines, struct within inner, const char *end);
};

/* Moves *die to the next DIE that is not its child. Returns the number of levels by which the next DIE is higher (0: a
 * sibling), or -1 at the end of the unit. */
static int next_entry(struct inlines *inlines, Dwarf_Die *die)
{
	Dwarf_Die next = { 0 };
	int levels = 0, found = dwarf_siblingof(die, &next);

	if (found == 0) {
		*die = next;
		return 0;
	}
	if (found < 0 || !next.addr) {
		if (found < 0)
			inlines_give_up(inlines, "damaged");
		return -1;
	}
	/* A zero byte ends a level. The byte after it begins a DIE of the level above, or ends that level, too. */
	for (char *at = next.addr; *at == 0 && levels < DEPTH; at++, levels++)
		*die = (Dwarf_Die){ .addr = at + 1, .cu = die->cu };
	return levels;
}

/* Called at the end of the outermost level of a unit. Only padding (zero bytes) may follow up to the end of the unit;
 * other bytes are reported as damaged data. */
static void check_end(struct inlines *inlines, Dwarf_Die *unit, const char *at)
{
	Dwarf_Off offset = dwarf_dieoffset(unit), next;

	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), offset - dwarf_cuoffset(unit), &next, NULL, NULL, NULL, NULL,
			    NULL, NULL, NULL) != 0)
		return;
	for (const char *end = (const char *)unit->addr + (next - offset); at < end; at++)
		if (*at || !inlines_spend(inlines, 1)) {
			inlines_give_up(inlines, "damaged");
			break;
		}
}

/* Visits the DIEs of a unit in order, each once. The children of a DIE are skipped if visit returns false. */
static void inlines_walk(struct inlines *inlines, Dwarf_Die *unit, struct within top, const struct visitor *visitor)
{
	struct within level[DEPTH] = { top }, inner;
	Dwarf_Die die = *unit, child;
	int depth = 0, up;

	if (dwarf_child(unit, &die) != 0)
		return;
	while (inlines_spend(inlines, 1)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_invalid && !inlines_give_up(inlines, "damaged"))
			break;
		inner = level[depth];
		if (visitor->visit(inlines, &die, tag, level[depth], &inner) && dwarf_child(&die, &child) == 0) {
			if (depth + 1 == DEPTH && !inlines_give_up(inlines, "nested too deeply"))
				break;
			level[++depth] = inner;
			die = child;
			continue;
		}
		up = next_entry(inlines, &die);
		for (; up > 0 && depth > 0; up--, depth--)
			if (visitor->left)
				visitor->left(inlines, level[depth], die.addr);
		if (up > 0)
			check_end(inlines, unit, die.addr);
		if (up != 0)
			break;
	}
	for (; visitor->left && depth > 0; depth--)
		visitor->left(inlines, level[depth], NULL);
}

/* ---- names of functions ------------------------------------------------------------------------------------- */

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	const char *string = dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;

	return string && string[0] && strnlen(string, NAME_LENGTH_MAX + 1) <= NAME_LENGTH_MAX ? string : NULL;
}

static struct known *inlines_known(struct inlines *inlines, const Dwarf_Die *die)
{
	uint32_t id = intern(&inlines->known, (struct str){ (const char *)&die->addr, sizeof(die->addr) });

	if (id >= inlines->known_cap) {
		size_t cap = 2 * (size_t)id + 64;

		inlines->known_as = mem_grow(inlines->known_as, sizeof(*inlines->known_as), cap);
		memset(inlines->known_as + inlines->known_cap, 0,
		       (cap - inlines->known_cap) * sizeof(*inlines->known_as));
		inlines->known_cap = cap;
	}
	return &inlines->known_as[id];
}

static uint32_t add_scope(struct inlines *inlines, const Dwarf_Die *die, uint32_t outer)
{
	if (inlines->nscopes == inlines->scopes_cap) {
		inlines->scopes_cap = inlines->scopes_cap ? 2 * inlines->scopes_cap : 256;
		inlines->scope = mem_grow(inlines->scope, sizeof(*inlines->scope), inlines->scopes_cap);
	}
	inlines->scope[inlines->nscopes] = (struct scope){ .die = *die, .end = die->addr, .outer = outer };
	return inlines->nscopes++;
}

static bool visit_scope(struct inlines *inlines, Dwarf_Die *die, int tag, struct within outer, struct within *inner)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram: inner->function = add_scope(inlines, die, outer.function); return true;
	default: return tag == DW_TAG_lexical_block;
	}
}

/* Sets the end of a scope. The walk also calls this function for the blocks in a scope, with the same index; the last
 * call is for the scope itself. */
static void leave_scope(struct inlines *inlines, struct within inner, const char *end)
{
	inlines->scope[inner.function].end = end ? end : (const char *)UINTPTR_MAX;
}

static struct scopes scopes_of(struct inlines *inlines, Dwarf_Die *unit)
{
	static const struct visitor visitor = { visit_scope, leave_scope };
	struct scopes scopes = inlines_known(inlines, unit)->scopes;

	if (scopes.n == 0) {
		scopes.first = inlines->nscopes;
		add_scope(inlines, unit, scopes.first);
		inlines_walk(inlines, unit, (struct within){ .function = scopes.first }, &visitor);
		inlines->scope[scopes.first].end = (const char *)UINTPTR_MAX;
		scopes.n = inlines->nscopes - scopes.first;
		inlines_known(inlines, unit)->scopes = scopes;
	}
	return scopes;
}

/* Returns the index of the innermost scope that contains the DIE at `address`, other than this DIE itself; scopes.first
 * if only the unit contains the DIE. */
static uint32_t inlines_innermost(const struct inlines *inlines, struct scopes scopes, const char *address)
{
	uint32_t low = scopes.first + 1, high = scopes.first + scopes.n, at;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if ((const char *)inlines->scope[mid].die.addr < address)
			low = mid + 1;
		else
			high = mid;
	}
	for (at = low - 1; at != scopes.first && inlines->scope[at].end <= address; at = inlines->scope[at].outer)
		;
	return at;
}

/* Appends the name of a scope. gcc's class name "<lambda(int)>" becomes "{lambda(int)}": as in demangled names, but
 * without a number. */
static void put_scope_name(struct text *text, Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_name);
	struct str string = str_of(name);

	if (!name)
		text_add(text, dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}");
	else if (str_starts(string, STR("<lambda")) && str_ends(string, STR(">")))
		text_printf(text, "{%.*s}", (int)string.n - 2, string.p + 1);
	else
		text_str(text, string);
}

/* Appends the namespaces and classes of a function, each followed by "::". Used for functions without linkage name,
 * such as static functions compiled by gcc. */
static void put_scopes(struct inlines *inlines, struct text *text, Dwarf_Die *die)
{
	uint32_t chain[32];
	struct scopes scopes;
	size_t n = 0;
	Dwarf_Die unit;
	int language;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return;
	language = dwarf_srclang(&unit);
	if (language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11 ||
	    language == DW_LANG_Mips_Assembler)
		return;
	scopes = scopes_of(inlines, &unit);
	for (uint32_t at = inlines_innermost(inlines, scopes, die->addr); at != scopes.first && n < countof(chain);
	     at = inlines->scope[at].outer)
		chain[n++] = at;
	while (n-- > 0) {
		put_scope_name(text, &inlines->scope[chain[n]].die);
		text_add(text, "::");
	}
}

/* Returns the DIE that declares the function of die: follows DW_AT_abstract_origin and DW_AT_specification. */
static Dwarf_Die declaration_of(const Dwarf_Die *die)
{
	Dwarf_Die d = *die, next;
	Dwarf_Attribute attribute;

	for (int i = 0; i < 16; i++) {
		if (!dwarf_attr(&d, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&d, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &next))
			break;
		d = next;
	}
	return d;
}

static uint32_t inlines_make_name(struct inlines *inlines, Dwarf_Die *die)
{
	const char *linkage = string_of(die, DW_AT_linkage_name), *name;
	Dwarf_Die declared;

	inlines->text.n = 0;
	if (!linkage)
		linkage = string_of(die, DW_AT_MIPS_linkage_name);
	if (linkage) {
		if (!elfsyms_demangle(&inlines->text, str_of(linkage)))
			text_add(&inlines->text, linkage);
		return intern(inlines->names, text_view(&inlines->text));
	}
	name = string_of(die, DW_AT_name);
	if (!name)
		return intern(inlines->names, STR("[unknown]"));
	if (!inlines->o->as_perf) {
		declared = declaration_of(die);
		put_scopes(inlines, &inlines->text, &declared);
	}
	text_add(&inlines->text, name);
	return intern(inlines->names, text_view(&inlines->text));
}

/* Returns the id of the name of the function to which the DIE of an inlined call or function refers. The name of each
 * function is made once. */
static uint32_t inlines_name_of(struct inlines *inlines, Dwarf_Die *call)
{
	Dwarf_Die die = *call, origin;
	Dwarf_Attribute attribute;
	uint32_t name;

	if (dwarf_attr(call, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
		die = origin;
	name = inlines_known(inlines, &die)->name;
	if (!name) {
		name = inlines_make_name(inlines, &die);
		inlines_known(inlines, &die)->name = name;
		inlines_spend(inlines, inlines->text.n);
	}
	return name;
}

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
			return inlines_give_up(inlines, "damaged");
		if (ranges->next == 0 || !inlines_spend(inlines, 1))
			return false;
		if (start == 0 || start >= end)
			continue;
		ranges->at = ranges->end = inlines_first_at(inlines, start);
		while (ranges->end < inlines->n && inlines->place[ranges->end].address < end)
			ranges->end++;
		if (ranges->at < ranges->end)
			return inlines_spend(inlines, ranges->end - ranges->at);
	}
}

/* Returns the number of requested addresses in the ranges of a DIE that are not assigned to a function yet. */
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
static bool enter_function(struct inlines *inlines, Dwarf_Die *die, struct within *inner)
{
	struct ranges ranges = { .die = die };
	bool any = false;

	*inner = (struct within){ .function = inlines->functions + 1 };
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
	inlines->call[inlines->ncalls] = (struct call){ inlines_name_of(inlines, die), outer, depth };
	return inlines->ncalls++;
}

/* Enters an inlined call: assigns to it all requested addresses in its ranges whose current context is `outer`. Returns
 * true if there are such addresses; otherwise false. Sets *inner to the context in the call. */
static bool enter_call(struct inlines *inlines, Dwarf_Die *die, struct within outer, struct within *inner)
{
	struct ranges ranges = { .die = die };
	bool any = false;

	*inner = outer;
	while (next_range(inlines, &ranges))
		for (size_t i = ranges.at; i < ranges.end; i++) {
			struct within *within = &inlines->place[i].in;

			if (within->function != outer.function || within->call != outer.call)
				continue;
			if (!any) {
				if (inlines->call[outer.call].depth == CALLS_MAX)
					return inlines_give_up(inlines, "nested too deeply");
				inner->call = add_call(inlines, die, outer.call);
				any = true;
			}
			*within = *inner;
		}
	return any;
}

/* Returns true if a lexical block may contain inlined calls at requested addresses. Also returns true for a block
 * without ranges, which compilers generate for optimised code. Otherwise returns false. */
static bool enter_block(struct inlines *inlines, Dwarf_Die *die, struct within outer)
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

static bool visit_code(struct inlines *inlines, Dwarf_Die *die, int tag, struct within outer, struct within *inner)
{
	switch (tag) {
	/* the second pass visits nested functions, such as methods in classes, in any order of addresses */
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
 * the file by the names in the unit, which may form any path. So, during the call, the names in the image are
 * overwritten with the path of a memory file, which contains an image of the .dwo file (dwarfimage.h). */
static bool inlines_open_split(struct inlines *inlines, Dwarf_CU *cu, Dwarf_Die *unit, Dwarf_Die *split)
{
	static const char folder[] = "/dev/fd";
	char saved_dir[sizeof(folder)], saved_name[12], name[12];
	char *dir = (char *)(uintptr_t)string_of(unit, DW_AT_comp_dir);
	char *file = (char *)(uintptr_t)string_of(unit, DW_AT_dwo_name);
	struct dwarfimage image;
	struct elffile elffile = { .fd = -1 };
	const char *why;
	int fd, copy;

	if (!file)
		file = (char *)(uintptr_t)string_of(unit, DW_AT_GNU_dwo_name);
	fd = file && inlines->o->files.split ? inlines->o->files.split(inlines->o->files.with, dir, file) : -1;
	if (fd < 0)
		return inlines_give_up(inlines, "one of its .dwo files is missing");
	why = elffile_open(&elffile, fd);
	if (!why)
		why = dwarfimage_make(&image, &elffile, true);
	elffile_close(&elffile);
	close(fd);
	if (why)
		return inlines_give_up(inlines, "one of its .dwo files is damaged");
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
	return split->addr || inlines_give_up(inlines, "one of its .dwo files cannot be used");
}

static void look_into(struct inlines *inlines, Dwarf_Die *unit, Dwarf_Die *entries)
{
	static const struct visitor visitor = { visit_code, NULL };

	inlines->deep = false;
	inlines_walk(inlines, entries, (struct within){ 0 }, &visitor);
	inlines->deep = count_open(inlines, unit) > 0;
	if (inlines->deep)
		inlines_walk(inlines, entries, (struct within){ 0 }, &visitor);
}

static void read_units(struct inlines *inlines)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t kind;
	int found;

	while ((found = dwarf_get_units(inlines->dwarf, cu, &cu, NULL, &kind, &unit, NULL)) == 0 &&
	       inlines_spend(inlines, 1)) {
		if (!unit.addr || (kind != DW_UT_compile && kind != DW_UT_skeleton) || count_open(inlines, &unit) == 0)
			continue;
		if (kind == DW_UT_skeleton && inlines_open_split(inlines, cu, &unit, &split))
			look_into(inlines, &unit, &split);
		else
			look_into(inlines, &unit, &unit);
	}
	if (found < 0)
		inlines_give_up(inlines, "damaged");
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
		inlines_give_up(inlines, "its supplementary debug file (.gnu_debugaltlink) is missing");
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
	return inlines_spend(inlines, inlines->text.n) ? intern(inlines->names, text_view(&inlines->text)) : 0;
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

	inlines.why = open_dwarf(&main, dwarf);
	if (!inlines.why) {
		inlines.dwarf = main.dwarf;
		/* limit of steps: 16 million, 8 for each byte of debug information, 64 for each requested address */
		inlines.max = 64 * (uint64_t)n + 8 * (uint64_t)main.image.n + (1u << 24);
		inlines.call = mem_alloc(sizeof(*inlines.call), inlines.calls_cap);
		inlines_find_places(&inlines, runtime, query, n);
		inlines_open_shared(&inlines, dwarf, &shared);
		read_units(&inlines);
		inlines_answer(&inlines, query);
	}
	free(inlines.place);
	free(inlines.call);
	free(inlines.known_as);
	free(inlines.scope);
	intern_free(&inlines.known);
	text_free(&inlines.text);
	close_dwarf(&main);
	close_dwarf(&shared);
	return inlines.why;
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
