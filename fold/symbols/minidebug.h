/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minidebug.h - decompresses .gnu_debugdata: a small ELF file, compressed by xz, with the symbols that strip removed.
 */
#ifndef PJ_MINIDEBUG_H
#define PJ_MINIDEBUG_H

#include "common/text.h"

/* Appends the decompressed file to out. Returns false if it is damaged or too large, or if pj was built without
 * liblzma. */
bool minidebug_unpack(struct text *out, struct str packed);

#endif
