/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubyeval.h - the code of Ruby's interpreter in a stripped library: vm_exec, which runs a segment of frames, and
 * vm_exec_core, the loop that it calls.
 *
 * The code of a method consists of addresses in vm_exec_core (direct threaded code), so a method in memory leads to it.
 * Exactly one function calls it: that is vm_exec. If there are several, the library is refused. The compiler moves
 * unlikely parts of both elsewhere: such a part jumps back into its function.
 */
#ifndef PJ_RUBYEVAL_H
#define PJ_RUBYEVAL_H

#include "runtimes/ruby/ruby.h"

/* Sets ruby->eval (vm_exec) and ruby->inner (vm_exec_core), from the code object at iseq. Returns NULL, or the reason
 * of a refusal. */
const char *rubyeval_find(struct ruby *ruby, uint64_t iseq);

#endif
