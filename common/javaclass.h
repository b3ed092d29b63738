/* SPDX-License-Identifier: Apache-2.0 */
/* javaclass.h - the one spelling of a Java class: pkg/Outer$Inner, whatever wrote it, without the addresses of hidden
 * classes. */
#ifndef PJ_JAVACLASS_H
#define PJ_JAVACLASS_H

#include "common/text.h"

/* Appends class, with '.' or '/' between packages. pkg.Outer$$Lambda/0x00007f04bc002aa0 and
 * pkg/Outer$$Lambda+0x00007f04bc002aa0 become pkg/Outer$$Lambda: the address is another one in every run. */
void java_class(struct text *out, struct str class);

#endif
