/* SPDX-License-Identifier: Apache-2.0 */
/* plt.h - finds names for PLT entries, the stubs of calls to other libraries: they have no symbols, but relocations. */
#ifndef PJ_PLT_H
#define PJ_PLT_H

#include "fold/symbols/elffile.h"
#include "common/text.h"

enum plt_kind {
	PLT_NONE,    /* the offset is in no stub */
	PLT_HEAD,    /* the offset is in the resolver stub, named ".plt" */
	PLT_SYMBOL,  /* stub of the symbol plt_stub.name, named "SYMBOL@plt" */
	PLT_IFUNC,   /* stub of the indirect function at plt_stub.address */
	PLT_UNKNOWN, /* stub of an unknown symbol, named "offset_0x1020@plt" */
};

struct plt_stub {
	enum plt_kind kind;
	uint64_t start;   /* file offset of the stub */
	uint64_t address; /* PLT_IFUNC: virtual address of the indirect function */
	struct str name;  /* name of the symbol; valid until the next lookup */
};

struct plt {
	struct elffile *file;
	bool as_perf;
	struct plt_part {
		/* start, end: file offsets of the section; entry: size of an entry in bytes */
		uint64_t start, end, entry;
	} lazy, direct, got; /* sections .plt, .plt.sec and .plt.got */
	uint64_t head;       /* size in bytes of .plt before its first entry */
	bool slots_read, gots_read;
	struct plt_slot *slot; /* relocations of .rela.plt, in the order of the stubs */
	size_t slots;
	/* relocations of .rela.dyn with a symbol, sorted by the virtual address of their GOT slot */
	struct plt_slot *got_slot;
	size_t got_slots;
	const struct elf_section *symbols; /* symbol table of the relocations */
	struct text text;
};

void plt_open(struct plt *plt, struct elffile *file, bool as_perf);
/* Returns the stub at a file offset; kind PLT_NONE if the offset is in no stub. */
struct plt_stub plt_at(struct plt *plt, uint64_t place);
void plt_close(struct plt *plt);

#endif
