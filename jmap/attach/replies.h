/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replies.h - parses what a JVM answers over the attach protocol, and /proc/PID/status. Pure: any process can pretend
 * to be a JVM.
 */
#ifndef PJ_REPLIES_H
#define PJ_REPLIES_H

#include "common/text.h"

#define REPLIES_LINE 100

/* The number in the first line of the reply, which begins at text->p + from; cuts that line off. False: no number. */
bool replies_status(struct text *text, size_t from, int *status);

/* The JDK's major version in the reply to VM.version ("... JDK 17.0.15\n"). False: none. */
bool replies_major(struct str reply, uint64_t *major);

/* The first line that is not blank, cut to fit; empty if there is none. */
void replies_first_line(struct str text, char line[REPLIES_LINE]);

/* Does the reply to "load" report success? */
bool replies_loaded(struct str reply, int status);

struct replies_signals {
	uint64_t caught, pending;
	char state; /* as in the State line; 0: no such line */
};

/* Signals of a process in the text of /proc/PID/status. False: no such text. */
bool replies_signals(struct str status, struct replies_signals *signals);

#endif
