/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjvm.h - the exported symbols of a libjvm.so, from the memory that it was loaded into.
 *
 * So no file is needed, which may be deleted, or be another one in the container by now. Only what the dynamic loader
 * needs is looked at: PT_DYNAMIC, the hash tables, .dynsym. Layouts: gABI, and the GNU hash table as glibc's loader
 * reads it.
 */
#ifndef PJ_LIBJVM_H
#define PJ_LIBJVM_H

#include "runtimes/hotspot/memory.h"

struct libjvm {
	struct memory *m;
	uint64_t base;                        /* where its first byte was mapped */
	uint64_t symbols, strings, strings_n; /* addresses of .dynsym and .dynstr */
	uint64_t gnu_hash, hash;              /* of the tables; 0: none */
	uint64_t data, data_n;                /* what it may write to; 0: nothing */
};

/* NULL, or why not. */
const char *libjvm_open(struct libjvm *libjvm, struct memory *memory, uint64_t base);

/* Where a symbol is; false: it is not exported. */
bool libjvm_symbol(struct libjvm *libjvm, struct str name, uint64_t *address);

#endif
