/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynelf.h - an ELF file made from what a loaded program has of itself: segments, build-id, .dynsym.
 *
 * For programs whose file cannot be had, read from the memory of their process, and for files without sections. What is
 * loaded has no section headers, so tables are found as the dynamic linker finds them, by PT_DYNAMIC, and each segment
 * becomes a section without bytes, for symbols to lie in. .symtab is not loaded: local names are lost.
 */
#ifndef PJ_DYNELF_H
#define PJ_DYNELF_H

#include "record/symsaver/elfreducer.h"

/* Memory of a process: mem is /proc/PID/mem, base where the first byte of the file is mapped. */
const char *dynelf_from_memory(int mem, uint64_t base, int out, uint64_t max, struct reduced *reduced);

/* A file, by its segments. */
const char *dynelf_from_file(int in, int out, uint64_t max, struct reduced *reduced);

#endif
