/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replies.h - parses responses of the attach protocol, and the text of /proc/PID/status. Does no input or output.
 *
 * The responses are untrusted, because any process can pretend to be a JVM.
 */
#ifndef PJ_REPLIES_H
#define PJ_REPLIES_H

#include "common/text.h"

#define REPLIES_LINE 100

/* Parses the number in the first line of a reply, which begins at text->p + from, into *status, and removes that line
 * from text. Returns false if there is no number. */
bool replies_status(struct text *text, size_t from, int *status);

/* Sets *major to the JDK's major version from the reply to VM.version ("... JDK 17.0.15\n"). Returns false if it has
 * none. */
bool replies_major(struct str reply, uint64_t *major);

/* Copies the first line of text that is not blank, truncated to the size of `line`; an empty string if all lines are
 * blank. */
void replies_first_line(struct str text, char line[REPLIES_LINE]);

/* Returns true if the reply to "load" reports success. */
bool replies_loaded(struct str reply, int status);

/* Masks of the signals that a process catches and of those that are pending (/proc/PID/status); bit N - 1 is
 * signal N. */
struct replies_signals {
	uint64_t caught, pending;
	/* state letter of the process (R, S, T, ...); 0: the text has no State line */
	char state;
};

/* Parses the signals and the state in the text of /proc/PID/status. Returns false if it has no masks of signals. */
bool replies_signals(struct str status, struct replies_signals *signals);

#endif
