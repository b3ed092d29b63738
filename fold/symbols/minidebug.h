/* SPDX-License-Identifier: Apache-2.0 */
/* minidebug.h - .gnu_debugdata: a small ELF file, packed by xz, with the symbols that were stripped. */
#ifndef PJ_MINIDEBUG_H
#define PJ_MINIDEBUG_H

#include "common/text.h"

/* Unpacks; false when it is damaged, too large, or pj was built without liblzma (minidebug_known tells). */
bool minidebug_unpack(struct text *out, struct str packed);
bool minidebug_known(void);

#endif
