/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynelf.h - makes an ELF file from the loaded segments of a program: program headers, build-id, .dynsym.
 *
 * Used for programs whose file cannot be opened (then the source is the memory of their process), and for files without
 * section headers. As in the dynamic linker, PT_DYNAMIC leads to the tables. Each segment becomes a section without
 * bytes (SHT_NOBITS), to which the symbols refer. .symtab is not loaded, so local names are lost.
 *
 * Both functions write the file to the empty file `out` and fill *reduced. max: limit for the bytes of the symbol and
 * string tables. They return NULL on success, otherwise the reason as a static text (see elfreducer_write).
 */
#ifndef PJ_DYNELF_H
#define PJ_DYNELF_H

#include "record/symsaver/elfreducer.h"

/* Makes the ELF file from a program in memory. Returns NULL on success, otherwise the reason as a static text. mem:
 * descriptor of /proc/PID/mem. base: virtual address of the first byte of the program's file. */
const char *dynelf_from_memory(int mem, uint64_t base, int out, uint64_t max, struct reduced *reduced);

/* Makes the ELF file from the segments of the ELF file `in`. Returns NULL on success, otherwise the reason as a static
 * text. */
const char *dynelf_from_file(int in, int out, uint64_t max, struct reduced *reduced);

#endif
