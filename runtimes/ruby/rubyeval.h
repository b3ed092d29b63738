/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubyeval.h - finds the code of Ruby's interpreter in a stripped library: vm_exec, which runs a segment of frames, and
 * vm_exec_core, the loop that vm_exec calls.
 *
 * The code of a method consists of addresses in vm_exec_core (direct threaded code), so any iseq in memory leads to
 * vm_exec_core. Its only caller is vm_exec; a library in which several functions call it is refused. The compiler moves
 * unlikely parts of both functions elsewhere: such a part is recognized by a jump back into its function.
 */
#ifndef PJ_RUBYEVAL_H
#define PJ_RUBYEVAL_H

#include "runtimes/ruby/ruby.h"

/* Sets ruby->eval (vm_exec) and ruby->inner (vm_exec_core) from the iseq at an address. Returns NULL, or the reason
 * of a refusal. */
const char *rubyeval_find(struct ruby *ruby, uint64_t iseq);

#endif
