/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pycheck.h - proves a layout of CPython by live memory, and walks the lists of interpreters and threads.
 *
 * A layout is proven if all lists are consistent in both directions, each thread has a plausible id and its
 * interpreter, and the frames of at least one thread reach its outermost frame: each with a code object, an instruction
 * in its bytecode, names that are strings, and a dict of globals. The process runs meanwhile, so a contradiction counts
 * only if all of several attempts find one.
 */
#ifndef PJ_PYCHECK_H
#define PJ_PYCHECK_H

#include "runtimes/cpython/cpython.h"

enum pycheck_answer {
	PYCHECK_PROVEN,
	/* No thread runs a Python function: the process is starting or ending. */
	PYCHECK_NO_FRAME,
	PYCHECK_CONTRADICTED
};

/* Proves cpython->layout, and returns the result. Sets *why to the reason if the result is PYCHECK_CONTRADICTED. */
enum pycheck_answer pycheck_prove(struct cpython *cpython, const char **why);

/* Fills thread[0..cap) with all thread states and returns their number. Sets *why to the first contradiction of the
 * lists; to NULL if there is none. */
size_t pycheck_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap, const char **why);

/* Sorts thread[0..n) by tid and keeps one state for each thread. Of several states of a thread, the only state with a
 * frame is kept; if no state, or more than one, has a frame, or the frames of one are not readable, the thread is
 * dropped. Returns the number of remaining threads. */
size_t pycheck_one_state_each(struct cpython *cpython, struct cpython_thread *thread, size_t n);

#endif
