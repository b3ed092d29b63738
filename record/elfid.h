/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfid.h - the build-id of an ELF file, by reading nothing but its headers and notes.
 *
 * As the kernel does it for MMAP2 records (lib/buildid.c): program headers of type PT_NOTE. Hostile files: everything is
 * bounded, nothing is mapped.
 */
#ifndef PJ_ELFID_H
#define PJ_ELFID_H

#include "base.h"

unsigned elfid_read(int fd, uint8_t id[20]); /* its size, at most 20; 0: none */

#endif
