/* SPDX-License-Identifier: Apache-2.0 */
/*
 * innerthreads.h - thread ids of a process in a PID namespace below ours, as the kernel's records have them.
 *
 * An interpreter stores the thread ids of its own namespace. /proc/PID/task/TID/status has both (NSpid); reading it
 * never blocks.
 */
#ifndef PJ_INNERTHREADS_H
#define PJ_INNERTHREADS_H

#include "record/interpreters/interpreter.h"

/* Replaces the ids of n threads of a process by ours, and removes threads that it does not have: the ids are data of
 * the process. process: descriptor of its /proc/PID. Returns the number of threads that remain. */
size_t innerthreads_translate(int process, struct interpreter_thread *thread, size_t n);

/* Parses the line NSpid of a status file: *outer is the first id, *inner the last one. Returns false if there is no
 * such line. Pure. */
bool innerthreads_parse(struct str status, uint32_t *outer, uint32_t *inner);

#endif
