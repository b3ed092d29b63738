/* SPDX-License-Identifier: Apache-2.0 */
/* plt.h - names PLT entries, the stubs of calls to other libraries, by their relocations, since they have no symbols.
 */
#ifndef PJ_PLT_H
#define PJ_PLT_H

#include "fold/symbols/elffile.h"
#include "common/text.h"

enum plt_kind {
	PLT_NONE,    /* no stub */
	PLT_HEAD,    /* ".plt" */
	PLT_SYMBOL,  /* name: the called symbol and "@plt" */
	PLT_IFUNC,   /* address: of an indirect function */
	PLT_UNKNOWN, /* "offset_0x1020@plt" */
};

struct plt_stub {
	enum plt_kind kind;
	uint64_t start; /* file offset */
	uint64_t address;
	struct str name; /* valid until the next lookup */
};

struct plt {
	struct elffile *file;
	bool as_perf;
	struct plt_part {
		uint64_t start, end, entry; /* file offsets; size of an entry */
	} lazy, direct, got;                /* .plt, .plt.sec, .plt.got */
	uint64_t head;                      /* bytes before the first entry of .plt */
	bool slots_read, gots_read;
	struct plt_slot *slot; /* relocations in the order of stubs */
	size_t slots;
	struct plt_slot *got_slot; /* of .rela.dyn, by offset */
	size_t got_slots;
	const struct elf_section *symbols; /* symbol table of the relocations */
	struct text text;
};

void plt_open(struct plt *plt, struct elffile *file, bool as_perf);
/* Returns the stub at a file offset. */
struct plt_stub plt_at(struct plt *plt, uint64_t place);
void plt_close(struct plt *plt);

#endif
