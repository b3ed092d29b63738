/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loadedfile.h - looks up exported symbols of a program or shared library in the memory of the process that loaded it.
 *
 * The file itself is not needed: it may be deleted, or replaced in the container. Only data that the dynamic loader
 * needs is read: PT_DYNAMIC, the hash tables, .dynsym. References: gABI, and the GNU hash table as glibc's loader reads
 * it.
 */
#ifndef PJ_LOADEDFILE_H
#define PJ_LOADEDFILE_H

#include "runtimes/memory/memory.h"

struct loadedfile {
	struct memory *m;                     /* memory of the process; owned by the caller of loadedfile_open */
	uint64_t base;                        /* load base: address in memory minus address in the file */
	uint64_t symbols, strings, strings_n; /* addresses of .dynsym and .dynstr; size of .dynstr in bytes */
	uint64_t gnu_hash, hash;              /* addresses of the GNU and the System V hash table; 0: none */
	uint64_t data, data_n;                /* address and size of the last writable segment; size 0: none */
	uint64_t unwind;                      /* address of PT_GNU_EH_FRAME; 0: none */
};

/* Reads the headers of the file whose first byte is mapped at base. Returns NULL, or the reason of the failure: a
 * static string, in which "its" means the process. memory must exist as long as *file is used. There is nothing to
 * free. */
const char *loadedfile_open(struct loadedfile *file, struct memory *memory, uint64_t base);

/* Sets *address to the address in memory of an exported symbol. Returns false if the file does not export the symbol or
 * the memory is not readable. */
bool loadedfile_symbol(struct loadedfile *file, struct str name, uint64_t *address);

/* Sets *address to the address in memory of an exported symbol, and *size to its size in bytes, which is hostile, too.
 * Returns false if the file does not export the symbol or the memory is not readable. */
bool loadedfile_symbol_size(struct loadedfile *file, struct str name, uint64_t *address, uint64_t *size);

#endif
