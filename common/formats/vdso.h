/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.h - finds the image of the vDSO, an ELF file that the kernel maps into each process, also into this one.
 *
 * The vDSO is in no file. So its symbols are read from this image as long as the same kernel runs, and from a saved
 * copy after a reboot. This module trusts the headers of the kernel and parses no others, so openers, which parse
 * nothing hostile, may link it.
 */
#ifndef PJ_VDSO_H
#define PJ_VDSO_H

#include "common/str.h"

/* Returns the image, which is valid until this process ends; an empty str if the kernel maps none (vdso=0), or a 32-bit
 * one. */
struct str vdso_image(void);

#endif
