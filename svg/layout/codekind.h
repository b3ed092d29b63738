/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codekind.h - the kind of code of a frame, by its name and place.
 *
 * The suffix that pjfold writes (`_[k]`) comes first, then the spelling, which identifies the language. Kernel
 * functions have no special names, but all functions called by the kernel's entry points are kernel code: that is the
 * place of a frame, which the caller passes from parent to child.
 */
#ifndef PJ_CODEKIND_H
#define PJ_CODEKIND_H

#include "common/str.h"

enum code {
	CODE_KERNEL,
	CODE_NATIVE,
	CODE_CPP,
	CODE_JAVA,
	CODE_JAVA_INLINED,
	CODE_JAVA_INTERPRETED,
	CODE_JIT,         /* code that a runtime of unknown language compiled */
	CODE_INTERPRETED, /* code that a runtime of unknown language interprets */
	CODE_JS,
	CODE_PYTHON,
	CODE_UNKNOWN,
	CODE_PROCESS,
	CODE_COUNT
};

enum code_place {
	CODE_PLAIN,
	CODE_OUTERMOST, /* first frame of its stacks: name of the process or thread */
	CODE_IN_KERNEL, /* an entry point of the kernel, or below one */
	CODE_IN_JS,     /* JavaScript, or called by JavaScript without a frame of another language between */
	CODE_WOKEN,     /* after a separator in a chain of wake-ups */
	CODE_PLACES
};

#define CODE_LABEL_PROCESS "process"
#define CODE_LABEL_PYTHON "Python"

const char *code_label(enum code code); /* Returns the name of a kind of code for the legend. */

bool code_enters_kernel(struct str name);
bool code_is_separator(struct str name); /* Returns true for `-` and `--`, with which flamegraph.pl separates stacks. */

/* Returns the function of a name with the file and line that pjfold --srcline appends: a.B.f of a.B.f:b.py:12. Returns
 * other names unchanged. */
struct str code_without_place(struct str name);

/* Returns the kind of code of a frame. string is the frame's name without suffix; suffix is as `_[k]`, or empty. */
enum code code_of(struct str string, struct str suffix, enum code_place place);

#endif
