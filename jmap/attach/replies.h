/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replies.h - parses responses of the attach protocol, and the text of /proc/PID/status. Performs no I/O.
 *
 * Responses are untrusted, because any process can pretend to be a JVM.
 */
#ifndef PJ_REPLIES_H
#define PJ_REPLIES_H

#include "common/text.h"

#define REPLIES_LINE 100

/* Parses the first line of a response, which starts at text->p + from, as the number *status, and removes that line
 * from `text`. Returns false, and removes nothing, if the line is no number. */
bool replies_status(struct text *text, size_t from, int *status);

/* Sets *major to the JDK's major version in the reply to VM.version, by its first line that begins with "JDK "
 * ("JDK 17.0.15"). Returns false if the reply has no such line, or no number in it. */
bool replies_major(struct str reply, uint64_t *major);

/* Copies the first nonblank line of `text` to `line`, without blanks around it, truncated to REPLIES_LINE - 1 bytes.
 * Stores an empty string if all lines are blank. */
void replies_first_line(struct str text, char line[REPLIES_LINE]);

/* Returns true if the reply to "load" reports success. status: number in the first line of the response; reply: its
 * rest. */
bool replies_loaded(struct str reply, int status);

/* Signal masks and state of a process, from /proc/PID/status. Bit N - 1 of a mask is signal N. */
struct replies_signals {
	/* caught: signals with a handler (SigCgt); pending: signals pending for the process as a whole (ShdPnd) */
	uint64_t caught, pending;
	/* state letter of the process (R, S, T, ...); 0 if the text has no State line */
	char state;
};

/* Parses the text of /proc/PID/status into *signals. Returns false if the text lacks a signal mask. */
bool replies_signals(struct str status, struct replies_signals *signals);

#endif
