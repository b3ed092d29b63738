/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - reads the id of this boot, because PIDs and CLOCK_MONOTONIC start again at each boot, while files in DIR
 * remain. */
#ifndef PJ_BOOT_H
#define PJ_BOOT_H

#include "common/base.h"

#define BOOT_ID 36 /* length of a boot id in bytes: hexadecimal digits and '-' */

/* Reads the boot id; proc is usually "/proc". Returns false and an empty id if it is not readable or invalid. */
bool boot_id(const char *proc, char id[BOOT_ID + 1]);

#endif
