/* SPDX-License-Identifier: Apache-2.0 */
/* javaclass.h - normalizes the name of a Java class to the form pkg/Outer$Inner, without the address of a hidden class.
 * Programs that print class names use different forms. */
#ifndef PJ_JAVACLASS_H
#define PJ_JAVACLASS_H

#include "common/text.h"

/* Appends the normalized name of class to out. The packages in class may be separated by '.' or '/'.
 * pkg.Outer$$Lambda/0x00007f04bc002aa0 and pkg/Outer$$Lambda+0x00007f04bc002aa0 become pkg/Outer$$Lambda, because the
 * address differs from run to run. */
void java_class(struct text *out, struct str class);

#endif
