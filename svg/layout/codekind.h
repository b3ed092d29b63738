/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codekind.h - finds the code kind of a frame by its suffix, its name and its place in the stack.
 *
 * The suffix that pjfold writes (`_[k]`) has precedence; then the spelling of the name identifies the language. Kernel
 * functions have no typical names, but all functions below an entry point of the kernel are kernel code. So the caller
 * computes for each frame a place in the stack (enum code_place) from the places of its callers.
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
	CODE_JIT,         /* code compiled by a runtime of unknown language */
	CODE_INTERPRETED, /* code interpreted by a runtime of unknown language */
	CODE_JS,
	CODE_PYTHON,
	CODE_UNKNOWN,
	CODE_PROCESS,
	CODE_COUNT
};

enum code_place {
	CODE_PLAIN,
	CODE_OUTERMOST, /* outermost frame: name of the process or thread */
	CODE_IN_KERNEL, /* entry point of the kernel, or called below one */
	CODE_IN_JS,     /* JavaScript, or called by JavaScript with no frame of another language between */
	CODE_WOKEN,     /* after a separator in a chain of wake-ups */
	CODE_PLACES
};

#define CODE_LABEL_PROCESS "process"
#define CODE_LABEL_PYTHON "Python"

/* Returns the name that the legend shows for a code kind. */
const char *code_label(enum code code);

/* Returns true for an entry point of the kernel on x86 or arm64, and for the first function of a kernel thread or an
 * idle CPU. */
bool code_enters_kernel(struct str name);
/* Returns true for `-` and `--`, by which flamegraph.pl separates stacks; false for all other names. */
bool code_is_separator(struct str name);

/* Returns a name without the file and line that pjfold --srcline appends: a.B.f for a.B.f:b.py:12. Returns other names
 * unchanged. */
struct str code_without_place(struct str name);

/* Returns the code kind of a frame. string: its name without suffix; suffix: e.g. `_[k]`, or empty; place: its place in
 * the stack. */
enum code code_of(struct str string, struct str suffix, enum code_place place);

/* The two steps of code_of, for callers that have one name in several places. code_by_name returns the code kind that
 * the name alone shows. code_in_place returns the code kind of the frame; named: result of code_by_name. */
enum code code_by_name(struct str string);
enum code code_in_place(struct str string, struct str suffix, enum code_place place, enum code named);

#endif
