/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.h - the kernel's vDSO: an ELF image that it maps into each process, also into this one.
 *
 * No file has it, so its symbols are read from here while the kernel runs, or from a copy after a reboot. This module
 * trusts the kernel's headers and parses no others, so processes that open files of others may link it.
 */
#ifndef PJ_VDSO_H
#define PJ_VDSO_H

#include "common/str.h"

/* Returns the image, which is valid until this process ends; empty if the kernel maps none (vdso=0), or a 32-bit
 * one. */
struct str vdso_image(void);

#endif
