/* SPDX-License-Identifier: Apache-2.0 */
/* cpulist.h - lists of CPU numbers, as the kernel prints them. The caller frees the arrays with free(). */
#ifndef PJ_CPULIST_H
#define PJ_CPULIST_H

#include "common/str.h"

/* Parses a list such as "0-3,8", the format of /sys/devices/system/cpu/online. Returns an array of *n CPU numbers; NULL
 * with *n 0 if the list has no valid number. */
uint32_t *cpulist_parse(struct str string, size_t *n);

/* Returns an array of the *n CPUs that are online now. */
uint32_t *cpulist_online(size_t *n);

/* Returns true if cpu[0..n) contains the CPU `which`. */
bool cpulist_has(const uint32_t *cpu, size_t n, uint32_t which);

#endif
