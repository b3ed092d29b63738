/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvms.h - the frame pointer option of a JVM, from its command line and environment.
 *
 * Options come from JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, the command line up to the main class, and _JAVA_OPTIONS,
 * in this order; the last one that sets the flag wins. @FILE on the command line and -XX:VMOptionsFile=FILE name
 * files with more options. All of these texts are hostile input: the parser assumes nothing about them except where
 * words end.
 */
#ifndef PJ_JVMS_H
#define PJ_JVMS_H

#include "common/text.h"

struct jvm {
	/* true: -XX:+PreserveFramePointer is in force */
	bool frame_pointers;
	/* main class, jar or module: a part of the text cmdline; empty if it is unknown */
	struct str main;
};

/* Appends the content of the option file `name` of the target process to text. Returns false if it cannot be read. */
typedef bool jvm_read(void *arg, struct str name, struct text *text);

/* Evaluates the texts of /proc/PID/cmdline and /proc/PID/environ. read: reads option files; NULL: none are read. Does
 * no input or output except by read. */
struct jvm jvm_options(struct str cmdline, struct str environ, jvm_read *read, void *arg);

/* Sets *word to the next word of an option file or of a variable such as JAVA_TOOL_OPTIONS, and moves *rest after it.
 * Blanks separate words and quotes join them; # starts a comment if `comments` is set. The word is in text, which each
 * call overwrites. Returns false at the end. */
bool jvm_word(struct str *rest, bool comments, struct text *text, struct str *word);

#endif
