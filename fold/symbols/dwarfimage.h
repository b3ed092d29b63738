/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarfimage.h - makes an ELF image in memory with the debug information of a file, as input for libdw.
 *
 * The image contains only the sections that describe inlined functions, read once and decompressed (zlib, zstd,
 * .zdebug_*). Zeros follow each section, so that an unterminated string ends there. Unlike a file, the image cannot
 * shrink or change, and it contains no name of another file that libdw would open. The module refuses excessive sizes,
 * and abbreviation tables that libdw would read again for each of many units.
 */
#ifndef PJ_DWARFIMAGE_H
#define PJ_DWARFIMAGE_H

#include "fold/symbols/elffile.h"

struct dwarfimage {
	char *p;
	size_t n;
};

/* Returns true if the file has debug information (split is false), or debug information of split units, .dwo (split is
 * true). */
bool dwarfimage_has(const struct elffile *elffile, bool split);

/* Makes the image; dwarfimage_free frees it. split: true: of the debug information for split units (.dwo). Returns
 * NULL, or a static text with the reason of a failure. */
const char *dwarfimage_make(struct dwarfimage *image, const struct elffile *elffile, bool split);

void dwarfimage_free(struct dwarfimage *image);

#endif
