/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pycheck.h - proves a layout of CPython on live memory, and walks its lists of interpreters and threads.
 *
 * A layout is proven if all lists lead forth and back, each thread has a plausible id and its interpreter, and the
 * frames of at least one thread reach its outermost one, each with a code object, an instruction in its bytecode, names
 * that are strings, and a dict of globals. The process runs meanwhile, so a contradiction counts only if it is there
 * in all of several attempts.
 */
#ifndef PJ_PYCHECK_H
#define PJ_PYCHECK_H

#include "runtimes/cpython/cpython.h"

enum pycheck_answer {
	PYCHECK_PROVEN,
	/* No thread runs a Python function, as before the first one and at the end of the process. */
	PYCHECK_NO_FRAME,
	PYCHECK_CONTRADICTED
};

/* Proves cpython->layout. *why is the reason of PYCHECK_CONTRADICTED. */
enum pycheck_answer pycheck_prove(struct cpython *cpython, const char **why);

/* Fills thread[0..cap) with all thread states. *why is NULL, or the first contradiction of the lists. */
size_t pycheck_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap, const char **why);

/* Sorts thread[0..n) by tid, leaves of several states of one thread the only one that has a frame, and returns the
 * number of those that are left. */
size_t pycheck_one_state_each(struct cpython *cpython, struct cpython_thread *thread, size_t n);

#endif
