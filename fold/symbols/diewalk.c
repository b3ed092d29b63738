/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/diewalk.h"

#ifdef PJ_LIBDW

#include <dwarf.h>

/* maximum nesting of DIEs; the rest of a unit with deeper DIEs is not read. Compilers generate far less than 100
 * levels. */
#define DEPTH 512

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

/* Moves *die to the next DIE that is not its child. Returns the number of levels by which the next DIE is higher (0: a
 * sibling), or -1 at the end of the unit. */
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

#endif
