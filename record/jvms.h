/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvms.h - finds the frame-pointer option and the main class of a JVM in its command line and environment.
 *
 * A JVM reads options from JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, the command line up to the main class, and
 * _JAVA_OPTIONS, in this order. The last option that sets a flag decides. @FILE on the command line and
 * -XX:VMOptionsFile=FILE name files with more options. All of these texts are hostile input: the parser relies on
 * nothing except where words end.
 */
#ifndef PJ_JVMS_H
#define PJ_JVMS_H

#include "common/text.h"

struct jvm {
	/* true: -XX:+PreserveFramePointer is in effect */
	bool frame_pointers;
	/* main class, jar or module, as a part of cmdline; empty if it is unknown */
	struct str main;
};

/* Appends the content of option file `name` of the target process to text. Returns false if the file cannot be read. */
typedef bool jvm_read(void *arg, struct str name, struct text *text);

/* Evaluates the contents of /proc/PID/cmdline and /proc/PID/environ. read: called with `arg` for each option file;
 * NULL: option files are ignored. Does no other input or output. */
struct jvm jvm_options(struct str cmdline, struct str environ, jvm_read *read, void *arg);

/* Sets *word to the next word of an option file, or of a variable such as JAVA_TOOL_OPTIONS, and *rest to the remaining
 * text. Blanks separate words, and quotes join them. comments: true: # starts a comment, and a backslash in quotes
 * escapes a byte (option files). *word points into text, which each call overwrites. Returns false, without setting
 * *word, if no word remains. */
bool jvm_word(struct str *rest, bool comments, struct text *text, struct str *word);

#endif
