/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minidebug.h - decompresses .gnu_debugdata: a small ELF file, compressed by xz, with the symbols that strip removed.
 */
#ifndef PJ_MINIDEBUG_H
#define PJ_MINIDEBUG_H

#include "common/text.h"

/* Appends the decompressed file to out. Returns false if the file is damaged or exceeds 64 MB (out then contains a part
 * of it), or if pj was built without liblzma. */
bool minidebug_unpack(struct text *out, struct str packed);

#endif
