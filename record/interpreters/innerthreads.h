/* SPDX-License-Identifier: Apache-2.0 */
/*
 * innerthreads.h - translates thread ids of a process in another PID namespace to ids of the recorder's namespace.
 *
 * An interpreter stores thread ids of its own namespace; the kernel's records have ids of the recorder's namespace.
 * /proc/PID/task/TID/status has both (NSpid). Reading it never blocks.
 */
#ifndef PJ_INNERTHREADS_H
#define PJ_INNERTHREADS_H

#include "record/interpreters/interpreter.h"

/* Replaces the ids of n threads of a process, and INTERPRETER_MAIN_THREAD, by ids of the recorder's namespace. Removes
 * threads that the process does not have: the ids come from the memory of the process, so they may be wrong. process:
 * descriptor of /proc/PID. Returns the number of threads that remain. */
size_t innerthreads_translate(int process, struct interpreter_thread *thread, size_t n);

/* Parses the line NSpid of a status file: sets *outer to its first id (recorder's namespace) and *inner to its last one
 * (innermost namespace). Returns false if the line is missing or malformed. Pure. */
bool innerthreads_parse(struct str status, uint32_t *outer, uint32_t *inner);

#endif
