/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitjoin.h - finds the address from which on the kernel's callchain of a wait continues a stack that was unwound from
 * a copy.
 *
 * Unwinding by tables ends early at code without tables, and on the stacks on which Go runs its scheduler. The kernel's
 * callchain by frame pointers may continue beyond such frames. Pure: no input or output.
 */
#ifndef PJ_WAITJOIN_H
#define PJ_WAITJOIN_H

#include "common/base.h"

/* minimum number of consecutive equal addresses that prove that two callchains are of the same stack */
enum { WAITJOIN_EQUAL = 3 };

/* Returns the index in kernel[0..m) of the last address of walk[0..n); both are user parts of callchains of one stack,
 * leaf first. Returns m if the index is not certain. The index is certain if both callchains are equal from the leaf up
 * to the end of walk. It is certain, too, if at least WAITJOIN_EQUAL addresses from there towards the leaf are equal,
 * and more than at any other index. The reason: in a recursion several indexes hold the last address, and one equal
 * address proves nothing. */
size_t waitjoin_find(const uint64_t *walk, size_t n, const uint64_t *kernel, size_t m);

#endif
