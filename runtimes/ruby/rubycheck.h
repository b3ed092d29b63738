/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubycheck.h - finds the threads of a Ruby process and their variable ruby_current_ec, and proves a layout by live
 * memory.
 *
 * A layout is proven if all of these hold. The list of threads is consistent in both directions. Each thread has the
 * same VM, and an execution context that points back to the thread. The value of ruby_current_ec is unique among the
 * thread-local variables of one thread. The frames of at least one thread reach the thread's outermost frame, all with
 * code and names, and the rb_vm_tag to which its execution context points lies in its native stack. The process runs
 * meanwhile, so a contradiction counts only if no attempt proves the layout and the last attempt still finds one.
 */
#ifndef PJ_RUBYCHECK_H
#define PJ_RUBYCHECK_H

#include "runtimes/ruby/ruby.h"

/* Sets ruby->vm and ruby->thread to the VM and one of its threads, by the exported symbol of the VM or else by a
 * search in the data of the library. Returns false if the VM is not found. */
bool rubycheck_find_vm(struct ruby *ruby);

enum rubycheck_answer { RUBYCHECK_PROVEN, RUBYCHECK_NO_FRAME, RUBYCHECK_CONTRADICTED };

/* Proves ruby->layout, and returns the result. If the layout is proven, sets ruby->module and ruby->variable, and *iseq
 * to the address of the iseq of one frame. Sets *why to the reason if the result is RUBYCHECK_CONTRADICTED. */
enum rubycheck_answer rubycheck_prove(struct ruby *ruby, uint64_t *iseq, const char **why);

#endif
