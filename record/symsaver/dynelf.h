/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynelf.h - makes an ELF file from the loaded parts of a program: segments, build-id, .dynsym.
 *
 * For programs whose file cannot be opened, read from the memory of their process, and for files without sections. The
 * loaded parts have no section headers, so the tables are found by PT_DYNAMIC, as the dynamic linker does; each segment
 * becomes a section without bytes that contains the symbols. .symtab is not loaded: local names are lost.
 *
 * Both functions write to the empty file `out` at most max bytes. They return NULL, or the reason of a failure as a
 * static text (see elfreducer_write), and fill *reduced.
 */
#ifndef PJ_DYNELF_H
#define PJ_DYNELF_H

#include "record/symsaver/elfreducer.h"

/* Makes the file from a program in memory. mem is a descriptor of /proc/PID/mem, base the address of the first byte of
 * the program's file. */
const char *dynelf_from_memory(int mem, uint64_t base, int out, uint64_t max, struct reduced *reduced);

/* Makes the file from the segments of the ELF file `in`. */
const char *dynelf_from_file(int in, int out, uint64_t max, struct reduced *reduced);

#endif
