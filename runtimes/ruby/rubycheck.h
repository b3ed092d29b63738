/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubycheck.h - finds the threads of Ruby and ruby_current_ec, and proves a layout on live memory.
 *
 * A layout is proven if the list of threads leads forth and back, each with the same VM and with an execution context
 * that leads back to it, if the value of ruby_current_ec of a thread is at one place only of its thread-local
 * variables, and if the frames of at least one thread reach its outermost one, all with code and names, and its native
 * stack has the variable that its execution context points to. The process
 * runs meanwhile, so a contradiction counts only if it is there in all of several attempts.
 */
#ifndef PJ_RUBYCHECK_H
#define PJ_RUBYCHECK_H

#include "runtimes/ruby/ruby.h"

/* Finds the VM and a thread (ruby->vm, ruby->thread): by its symbol, or in the data of the library. */
bool rubycheck_find_vm(struct ruby *ruby);

enum rubycheck_answer { RUBYCHECK_PROVEN, RUBYCHECK_NO_FRAME, RUBYCHECK_CONTRADICTED };

/* Proves ruby->layout, and sets ruby->module and variable. *why is the reason of RUBYCHECK_CONTRADICTED; *iseq is the
 * address of the code object of a frame. */
enum rubycheck_answer rubycheck_prove(struct ruby *ruby, uint64_t *iseq, const char **why);

#endif
