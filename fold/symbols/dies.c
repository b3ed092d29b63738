/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/dies.h"

#ifdef PJ_LIBDW

#include "common/arena.h"
#include "fold/symbols/elfsyms.h"

#include <dwarf.h>
#include <stdlib.h>

/* maximum nesting of DIEs; the rest of a unit with deeper DIEs is not read. Compilers generate far less than 100
 * levels. */
#define DEPTH 512
#define NAME_LENGTH_MAX 16384

/* ---- walk over DIEs ---------------------------------------------------------------------------------------------- */

bool diewalk_give_up(struct diewalk *walk, const char *why)
{
	if (!walk->why)
		walk->why = why;
	return false;
}

bool diewalk_spend(struct diewalk *walk, uint64_t steps)
{
	walk->work += steps;
	return walk->work <= walk->max || diewalk_give_up(walk, "it would take too long");
}

/* Moves *die to the DIE that follows it and its children. Returns the number of levels by which that DIE is higher (0:
 * a sibling), or -1 at the end of the unit or if the data are damaged. */
static int next_entry(struct diewalk *walk, Dwarf_Die *die)
{
	Dwarf_Die next = { 0 };
	int levels = 0, found = dwarf_siblingof(die, &next);

	if (found == 0) {
		*die = next;
		return 0;
	}
	if (found < 0 || !next.addr) {
		if (found < 0)
			diewalk_give_up(walk, "damaged");
		return -1;
	}
	/* A zero byte ends a level. The byte after it begins a DIE of the level above, or ends that level, too. */
	for (char *at = next.addr; *at == 0 && levels < DEPTH; at++, levels++)
		*die = (Dwarf_Die){ .addr = at + 1, .cu = die->cu };
	return levels;
}

/* Called at the end of the outermost level of a unit. Only padding (zero bytes) may follow up to the end of the unit;
 * other bytes are reported as damaged data. */
static void check_end(struct diewalk *walk, Dwarf_Die *unit, const char *at)
{
	Dwarf_Off offset = dwarf_dieoffset(unit), next;

	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), offset - dwarf_cuoffset(unit), &next, NULL, NULL, NULL, NULL,
			    NULL, NULL, NULL) != 0)
		return;
	for (const char *end = (const char *)unit->addr + (next - offset); at < end; at++)
		if (*at || !diewalk_spend(walk, 1)) {
			diewalk_give_up(walk, "damaged");
			break;
		}
}

void diewalk_visit(struct diewalk *walk, Dwarf_Die *unit, struct diewalk_within top,
		   const struct diewalk_visitor *visitor, void *with)
{
	struct diewalk_within level[DEPTH] = { top }, inner;
	Dwarf_Die die = *unit, child;
	int depth = 0, up;

	if (dwarf_child(unit, &die) != 0)
		return;
	while (diewalk_spend(walk, 1)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_invalid && !diewalk_give_up(walk, "damaged"))
			break;
		inner = level[depth];
		if (visitor->visit(with, &die, tag, level[depth], &inner) && dwarf_child(&die, &child) == 0) {
			if (depth + 1 == DEPTH && !diewalk_give_up(walk, "nested too deeply"))
				break;
			level[++depth] = inner;
			die = child;
			continue;
		}
		up = next_entry(walk, &die);
		for (; up > 0 && depth > 0; up--, depth--)
			if (visitor->left)
				visitor->left(with, level[depth], die.addr);
		if (up > 0)
			check_end(walk, unit, die.addr);
		if (up != 0)
			break;
	}
	for (; visitor->left && depth > 0; depth--)
		visitor->left(with, level[depth], NULL);
}

/* ---- names of functions ------------------------------------------------------------------------------------------ */

/* A namespace, class or function. die: DIE of the scope; end: end of the children of the DIE in the section; outer:
 * index of the scope that contains this scope. */
struct dienames_scope {
	Dwarf_Die die;
	const char *end;
	uint32_t outer;
};

/* The scopes of one unit: indices first to first + n - 1 in dienames.scope, in the order of their DIEs. The first scope
 * is the unit itself. */
struct scopes {
	uint32_t first, n;
};

struct dienames_entry {
	uint32_t name;        /* for a function: id of its name; 0: not made yet */
	struct scopes scopes; /* for a unit: its scopes */
};

const char *dienames_string(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	const char *string = dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;

	return string && string[0] && strnlen(string, NAME_LENGTH_MAX + 1) <= NAME_LENGTH_MAX ? string : NULL;
}

static struct dienames_entry *dienames_known(struct dienames *names, const Dwarf_Die *die)
{
	uint32_t id = intern(&names->known, (struct str){ (const char *)&die->addr, sizeof(die->addr) });

	if (id >= names->known_cap) {
		size_t cap = 2 * (size_t)id + 64;

		names->known_as = mem_grow(names->known_as, sizeof(*names->known_as), cap);
		memset(names->known_as + names->known_cap, 0, (cap - names->known_cap) * sizeof(*names->known_as));
		names->known_cap = cap;
	}
	return &names->known_as[id];
}

static uint32_t add_scope(struct dienames *names, const Dwarf_Die *die, uint32_t outer)
{
	if (names->nscopes == names->scopes_cap) {
		names->scopes_cap = names->scopes_cap ? 2 * names->scopes_cap : 256;
		names->scope = mem_grow(names->scope, sizeof(*names->scope), names->scopes_cap);
	}
	names->scope[names->nscopes] = (struct dienames_scope){ .die = *die, .end = die->addr, .outer = outer };
	return names->nscopes++;
}

static bool visit_scope(void *with, Dwarf_Die *die, int tag, struct diewalk_within outer, struct diewalk_within *inner)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram: inner->function = add_scope(with, die, outer.function); return true;
	default: return tag == DW_TAG_lexical_block;
	}
}

/* Sets the end of a scope. The walk also calls this function for the blocks in a scope, with the same index; the last
 * call is for the scope itself. */
static void leave_scope(void *with, struct diewalk_within inner, const char *end)
{
	struct dienames *names = with;

	names->scope[inner.function].end = end ? end : (const char *)UINTPTR_MAX;
}

static struct scopes scopes_of(struct dienames *names, Dwarf_Die *unit)
{
	static const struct diewalk_visitor visitor = { visit_scope, leave_scope };
	struct scopes scopes = dienames_known(names, unit)->scopes;

	if (scopes.n == 0) {
		scopes.first = names->nscopes;
		add_scope(names, unit, scopes.first);
		diewalk_visit(names->walk, unit, (struct diewalk_within){ .function = scopes.first }, &visitor, names);
		names->scope[scopes.first].end = (const char *)UINTPTR_MAX;
		scopes.n = names->nscopes - scopes.first;
		dienames_known(names, unit)->scopes = scopes;
	}
	return scopes;
}

/* Returns the index of the innermost scope that contains the DIE at `address`, other than this DIE itself; scopes.first
 * if only the unit contains the DIE. */
static uint32_t dienames_innermost(const struct dienames *names, struct scopes scopes, const char *address)
{
	uint32_t low = scopes.first + 1, high = scopes.first + scopes.n, at;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if ((const char *)names->scope[mid].die.addr < address)
			low = mid + 1;
		else
			high = mid;
	}
	for (at = low - 1; at != scopes.first && names->scope[at].end <= address; at = names->scope[at].outer)
		;
	return at;
}

/* Appends the name of a scope. gcc's class name "<lambda(int)>" becomes "{lambda(int)}": as in demangled names, but
 * without a number. */
static void put_scope_name(struct text *text, Dwarf_Die *die)
{
	const char *name = dienames_string(die, DW_AT_name);
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
static void put_scopes(struct dienames *names, struct text *text, Dwarf_Die *die)
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
	scopes = scopes_of(names, &unit);
	for (uint32_t at = dienames_innermost(names, scopes, die->addr); at != scopes.first && n < countof(chain);
	     at = names->scope[at].outer)
		chain[n++] = at;
	while (n-- > 0) {
		put_scope_name(text, &names->scope[chain[n]].die);
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

static uint32_t dienames_make(struct dienames *names, Dwarf_Die *die)
{
	const char *linkage = dienames_string(die, DW_AT_linkage_name), *name;
	Dwarf_Die declared;

	names->text.n = 0;
	if (!linkage)
		linkage = dienames_string(die, DW_AT_MIPS_linkage_name);
	if (linkage) {
		if (!elfsyms_demangle(&names->text, str_of(linkage)))
			text_add(&names->text, linkage);
		return intern(names->names, text_view(&names->text));
	}
	name = dienames_string(die, DW_AT_name);
	if (!name)
		return intern(names->names, STR("[unknown]"));
	if (!names->as_perf) {
		declared = declaration_of(die);
		put_scopes(names, &names->text, &declared);
	}
	text_add(&names->text, name);
	return intern(names->names, text_view(&names->text));
}

uint32_t dienames_called(struct dienames *names, Dwarf_Die *call)
{
	Dwarf_Die die = *call, origin;
	Dwarf_Attribute attribute;
	uint32_t name;

	if (dwarf_attr(call, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
		die = origin;
	name = dienames_known(names, &die)->name;
	if (!name) {
		name = dienames_make(names, &die);
		dienames_known(names, &die)->name = name;
		diewalk_spend(names->walk, names->text.n);
	}
	return name;
}

void dienames_free(struct dienames *names)
{
	free(names->known_as);
	free(names->scope);
	intern_free(&names->known);
	text_free(&names->text);
}

#endif
