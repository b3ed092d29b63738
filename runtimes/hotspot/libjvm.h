/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjvm.h - looks up exported symbols of a libjvm.so in the memory into which it is loaded.
 *
 * The file is not needed: it may be deleted, or replaced in the container. Only data that the dynamic loader needs is
 * read: PT_DYNAMIC, the hash tables, .dynsym. Layouts: gABI, and the GNU hash table as glibc's loader reads it.
 */
#ifndef PJ_LIBJVM_H
#define PJ_LIBJVM_H

#include "runtimes/hotspot/memory.h"

struct libjvm {
	struct memory *m;                     /* memory of the process; owned by the caller of libjvm_open */
	uint64_t base;                        /* load base: address in memory minus address in the file */
	uint64_t symbols, strings, strings_n; /* addresses of .dynsym and .dynstr; size of .dynstr in bytes */
	uint64_t gnu_hash, hash;              /* addresses of the GNU and the System V hash table; 0: none */
	uint64_t data, data_n;                /* address and size of the last writable segment; size 0: none */
};

/* Reads the headers of the libjvm.so whose first byte is mapped at base. Returns NULL, or a static string with the
 * reason. memory must exist as long as libjvm is used; there is nothing to free. */
const char *libjvm_open(struct libjvm *libjvm, struct memory *memory, uint64_t base);

/* Sets *address to the address in memory of an exported symbol. Returns false if libjvm.so does not export the symbol
 * or the memory is not readable. */
bool libjvm_symbol(struct libjvm *libjvm, struct str name, uint64_t *address);

#endif
