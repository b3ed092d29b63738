/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - reads the boot id of the running kernel. Files in DIR outlive a reboot, but PIDs and CLOCK_MONOTONIC start
 * again: so files store the id of their boot. */
#ifndef PJ_BOOT_H
#define PJ_BOOT_H

#include "common/base.h"

#define BOOT_ID 36 /* length of a boot id in bytes: hexadecimal digits and '-' */

/* Reads the boot id below proc, usually "/proc". Returns false and sets an empty id if it is not readable or
 * invalid. */
bool boot_id(const char *proc, char id[BOOT_ID + 1]);

#endif
