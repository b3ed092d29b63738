/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfimage.h - the debug information of an ELF file as libdw gets to see it: an ELF file of our own making, in
 * memory.
 *
 * Only the sections that tell of inlined functions, read once and unpacked (zlib, zstd, .zdebug_*), with zeros behind
 * each, so that a string without an end ends there. What is read here cannot shrink or change any more, and holds no
 * name of another file that the library would open by itself. Sizes without measure, and tables that would be read
 * again for each of many units, are refused before the library sees them.
 */
#ifndef PJ_DWARFIMAGE_H
#define PJ_DWARFIMAGE_H

#include "fold/symbols/elffile.h"

struct dwarfimage {
	char *p;
	size_t n;
};

/* Is there debug information, or that of split units (.dwo)? */
bool dwarfimage_has(const struct elffile *elffile, bool split);

/* NULL, or why there is no image. */
const char *dwarfimage_make(struct dwarfimage *image, const struct elffile *elffile, bool split);

void dwarfimage_free(struct dwarfimage *image);

#endif
