/* SPDX-License-Identifier: Apache-2.0 */
/* plt.h - names PLT entries, the stubs of calls to other libraries, by their relocations, since they have no symbols.
 */
#ifndef PJ_PLT_H
#define PJ_PLT_H

#include "fold/symbols/elffile.h"
#include "common/text.h"

enum plt_kind {
	PLT_NONE,    /* the offset is in no stub */
	PLT_HEAD,    /* the resolver stub, named ".plt" */
	PLT_SYMBOL,  /* stub of the symbol plt_stub.name, named "SYMBOL@plt" */
	PLT_IFUNC,   /* stub of the indirect function at plt_stub.address */
	PLT_UNKNOWN, /* stub of an unknown symbol, named "offset_0x1020@plt" */
};

struct plt_stub {
	enum plt_kind kind;
	uint64_t start; /* file offset of the stub */
	uint64_t address;
	struct str name; /* name of the symbol; valid until the next lookup */
};

struct plt {
	struct elffile *file;
	bool as_perf;
	struct plt_part {
		uint64_t start, end, entry; /* file offsets of the section, and bytes of an entry */
	} lazy, direct, got;                /* sections .plt, .plt.sec and .plt.got */
	uint64_t head;                      /* bytes of .plt before its first entry */
	bool slots_read, gots_read;
	struct plt_slot *slot; /* relocations of .rela.plt, in the order of the stubs */
	size_t slots;
	struct plt_slot *got_slot; /* relocations of .rela.dyn, sorted by offset */
	size_t got_slots;
	const struct elf_section *symbols; /* symbol table of the relocations */
	struct text text;
};

void plt_open(struct plt *plt, struct elffile *file, bool as_perf);
/* Returns the stub at a file offset. */
struct plt_stub plt_at(struct plt *plt, uint64_t place);
void plt_close(struct plt *plt);

#endif
