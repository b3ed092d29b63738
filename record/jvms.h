/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvms.h - what a Java process was told about frame pointers, without asking it.
 *
 * Options come from JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, the command line up to the main class, and _JAVA_OPTIONS; the
 * last that says something wins. @FILE on the command line and -XX:VMOptionsFile=FILE hold more of them. All of it
 * belongs to who is looked at: bytes, nothing is believed but where words end.
 */
#ifndef PJ_JVMS_H
#define PJ_JVMS_H

#include "common/text.h"

struct jvm {
	bool frame_pointers; /* -XX:+PreserveFramePointer holds */
	struct str main;     /* its class, jar or module, in the command line; empty: not known */
};

/* The content of a file that an option names, appended to t; false when it cannot be read. */
typedef bool jvm_read(void *arg, struct str name, struct text *text);

/* Texts of /proc/PID/cmdline and /proc/PID/environ. Pure but for read. */
struct jvm jvm_options(struct str cmdline, struct str environ, jvm_read *read, void *arg);

/* The next word of a file of options or of such a variable, in memory of text from where it was: blanks part words,
 * quotes hold them together, # begins a comment where comments are allowed. False: no more. */
bool jvm_word(struct str *rest, bool comments, struct text *text, struct str *word);

#endif
