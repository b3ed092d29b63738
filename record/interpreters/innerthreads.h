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

struct innerthread {
	uint32_t inner, outer; /* ids in the innermost PID namespace and in that of the recorder */
	/* true if these are two namespaces; the ids may be equal nevertheless */
	bool nested;
};

/* Parses the line NSpid of a status file, which has an id for each namespace, that of the recorder first. Returns false
 * if the line is missing or malformed. Pure. */
bool innerthreads_parse(struct str status, struct innerthread *thread);

#endif
