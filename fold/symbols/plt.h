/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt.h - the stubs through which programs call libraries: no symbol names them, relocations tell.
 *
 * As perf 6.3 and later do it (.plt, .plt.sec, .plt.got, IFUNC, ".plt" for the common head), or as perf 6.1 did (.plt
 * alone). Tables are read when a place in a stub is asked for, not before.
 */
#ifndef PJ_PLT_H
#define PJ_PLT_H

#include "fold/symbols/elffile.h"
#include "common/text.h"

enum plt_kind {
	PLT_NONE,    /* no stub is here */
	PLT_HEAD,    /* ".plt" */
	PLT_SYMBOL,  /* name: of the symbol that is called, then "@plt" */
	PLT_IFUNC,   /* address: of an indirect function */
	PLT_UNKNOWN, /* "offset_0x1020@plt" */
};

struct plt_stub {
	enum plt_kind kind;
	uint64_t start; /* place in the file */
	uint64_t address;
	struct str name; /* valid until the next question */
};

struct plt {
	struct elffile *file;
	bool as_perf;
	struct plt_part {
		uint64_t start, end, entry; /* places; size of an entry */
	} lazy, direct, got;                /* .plt, .plt.sec, .plt.got */
	uint64_t head;                      /* bytes before the first entry of .plt */
	bool slots_read, gots_read;
	struct plt_slot *slot; /* relocations in the order of stubs */
	size_t slots;
	struct plt_slot *got_slot; /* of .rela.dyn, by offset */
	size_t got_slots;
	const struct elf_section *symbols; /* what slots refer to */
	struct text text;
};

void plt_open(struct plt *plt, struct elffile *file, bool as_perf);
struct plt_stub plt_at(struct plt *plt, uint64_t place);
void plt_close(struct plt *plt);

#endif
