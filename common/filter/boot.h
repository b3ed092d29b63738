/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - which boot this is: numbers of processes and CLOCK_MONOTONIC begin anew with each, files in DIR go on. */
#ifndef PJ_BOOT_H
#define PJ_BOOT_H

#include "common/base.h"

#define BOOT_ID 36 /* bytes: hexadecimal digits and '-' */

/* As proc ("/proc") has it. False, and id is empty: it cannot be read, or is none. */
bool boot_id(const char *proc, char id[BOOT_ID + 1]);

#endif
