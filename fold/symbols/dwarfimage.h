/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfimage.h - makes an ELF image in memory with the debug information of a file, as input for libdw.
 *
 * It contains only the sections that describe inlined functions, read once and decompressed (zlib, zstd, .zdebug_*),
 * each followed by zeros, so that an unterminated string ends there. The image cannot shrink or change, and contains no
 * name of another file that the library would open. Excessive sizes, and tables that the library would read again for
 * each of many units, are refused before the library sees them.
 */
#ifndef PJ_DWARFIMAGE_H
#define PJ_DWARFIMAGE_H

#include "fold/symbols/elffile.h"

struct dwarfimage {
	char *p;
	size_t n;
};

/* Returns true if the file has debug information, or that of split units (.dwo). */
bool dwarfimage_has(const struct elffile *elffile, bool split);

/* Makes the image, which dwarfimage_free frees. Returns NULL, or the reason of a failure as a static text. */
const char *dwarfimage_make(struct dwarfimage *image, const struct elffile *elffile, bool split);

void dwarfimage_free(struct dwarfimage *image);

#endif
