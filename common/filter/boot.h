/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - the id of this boot: PIDs and CLOCK_MONOTONIC start again at each boot, files in DIR stay. */
#ifndef PJ_BOOT_H
#define PJ_BOOT_H

#include "common/base.h"

#define BOOT_ID 36 /* bytes: hexadecimal digits and '-' */

/* Reads the boot id below proc ("/proc"). Returns false with an empty id if it is not readable or invalid. */
bool boot_id(const char *proc, char id[BOOT_ID + 1]);

#endif
