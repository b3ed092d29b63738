/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitjoin.h - the place at which the kernel's callchain of a wait continues a stack that was read.
 *
 * Unwinding by tables ends early at code without tables, and on stacks on which Go runs its scheduler. The kernel's
 * callchain by frame pointers may pass these. Pure.
 */
#ifndef PJ_WAITJOIN_H
#define PJ_WAITJOIN_H

#include "common/base.h"

enum { WAITJOIN_EQUAL = 3 }; /* number of consecutive equal addresses that prove that two callchains are the same */

/* Returns the index in kernel[0..m) of the last address of walk[0..n), user parts of two callchains of one stack, leaf
 * first; m if that is not certain. Certain is a place with WAITJOIN_EQUAL equal addresses towards the leaf and more
 * than any other place, and one up to which both callchains are equal: the result is the kernel's callchain then. In a
 * recursion, several places have the last address, and one equal address proves nothing. */
size_t waitjoin_find(const uint64_t *walk, size_t n, const uint64_t *kernel, size_t m);

#endif
