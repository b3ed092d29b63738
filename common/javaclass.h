/* SPDX-License-Identifier: Apache-2.0 */
/* javaclass.h - normalizes the name of a Java class to pkg/Outer$Inner, whatever program wrote it, without the
 * addresses of hidden classes. */
#ifndef PJ_JAVACLASS_H
#define PJ_JAVACLASS_H

#include "common/text.h"

/* Appends the normalized name of class, which has '.' or '/' between packages. pkg.Outer$$Lambda/0x00007f04bc002aa0 and
 * pkg/Outer$$Lambda+0x00007f04bc002aa0 become pkg/Outer$$Lambda, because the address differs from run to run. */
void java_class(struct text *out, struct str class);

#endif
