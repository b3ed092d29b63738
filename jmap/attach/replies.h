/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replies.h - parses responses of the attach protocol, and /proc/PID/status. Does no input or output.
 *
 * The input is untrusted, as any process can pretend to be a JVM.
 */
#ifndef PJ_REPLIES_H
#define PJ_REPLIES_H

#include "common/text.h"

#define REPLIES_LINE 100

/* Parses the number in the first line of the reply, which begins at text->p + from, and removes that line. Returns
 * false if there is no number. */
bool replies_status(struct text *text, size_t from, int *status);

/* Returns the JDK's major version from the reply to VM.version ("... JDK 17.0.15\n"); false if there is none. */
bool replies_major(struct str reply, uint64_t *major);

/* Copies the first line that is not blank, truncated to the size of line; empty if there is none. */
void replies_first_line(struct str text, char line[REPLIES_LINE]);

/* True if the reply to "load" reports success. */
bool replies_loaded(struct str reply, int status);

/* Masks of signals, bit N - 1 for signal N. */
struct replies_signals {
	uint64_t caught, pending;
	/* letter of the State line; 0: no such line */
	char state;
};

/* Parses the signals in the text of /proc/PID/status. Returns false if it lacks them. */
bool replies_signals(struct str status, struct replies_signals *signals);

#endif
