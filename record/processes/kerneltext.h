/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerneltext.h - parses texts in which the kernel describes itself: kallsyms, modules, modules.dep.
 *
 * Pure: no input or output. Names in these texts come from loaded modules and BPF programs, whose authors choose them.
 */
#ifndef PJ_KERNELTEXT_H
#define PJ_KERNELTEXT_H

#include "common/str.h"

#define KERNELTEXT_MODULE 64 /* size of a module's name in bytes, including its NUL: MODULE_NAME_LEN of the kernel */

/* Parses a line of /proc/kallsyms, "ADDRESS TYPE NAME\t[MODULE]". Sets *module to "[MODULE]", empty for the core
 * kernel. Returns false if the line is malformed or the address is 0 (hidden by kptr_restrict). */
bool kerneltext_symbol(struct str line, uint64_t *address, struct str *name, struct str *module);

/* Parses a line of /proc/modules, "NAME SIZE USES USERS STATE 0xADDRESS". Sets `name`, *start to the address of the
 * module and *size to its size in bytes. Returns false if the line is malformed or the address is no kernel address. */
bool kerneltext_module(struct str line, char name[KERNELTEXT_MODULE], uint64_t *start, uint64_t *size);

/* Returns the path /lib/modules/RELEASE/... of the file of module `name`, according to the text of modules.dep;
 * "[name]" if that text does not list the module. The caller frees the string with free(). */
char *kerneltext_module_path(struct str modules_dep, const char *release, const char *name);

#endif
