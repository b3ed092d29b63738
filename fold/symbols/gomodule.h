/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gomodule.h - finds the moduledata of a Go program without symbols: the structure by which Go's runtime finds its
 * tables.
 *
 * The structure begins with the address of .gopclntab. A data section holds that word, or, in a program of variable
 * address, a relocation writes it. More than one word may be equal to that address, so a structure counts as found only
 * if the addresses and sizes of all parts of .gopclntab in it are those of the section's header.
 * Layouts: moduledata in src/runtime/symtab.go, of Go 1.18 to 1.27.
 */
#ifndef PJ_GOMODULE_H
#define PJ_GOMODULE_H

#include "fold/symbols/gosyms.h"

/* Sets gosyms->gofunc, and gosyms->text if the header of the section lacks it. Changes nothing and returns false if
 * no moduledata is proven. The cost is bounded by a limit of bytes that are searched. */
bool gomodule_find(struct gosyms *gosyms);

#endif
