/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - a filter gives up its rights before it reads an input.
 *
 * Recordings, stacks, symbol tables and pictures are hostile data. After confine() the process has no capability, can
 * open no file, start no program, open no socket, reach no other process, and makes 25 different system calls at most
 * (sandbox.h). A second process, the broker, opens files for it (broker.h): it has the capabilities of the starter, and
 * writes only below the folders of the outputs and those that are named here. Without inputs and outputs (a filter
 * between two pipes) there is no broker.
 */
#ifndef PJ_CONFINE_H
#define PJ_CONFINE_H

#include "common/base.h"

enum { CONFINE_FILES = 4 };

struct confine {
	char *const *input;                /* paths of inputs, ended by NULL; may be NULL */
	const char *file[CONFINE_FILES];   /* paths of other files that options name for reading; NULL: none */
	const char *output[CONFINE_FILES]; /* paths of files to write, which may be links; NULL: none */
	const char *folder[CONFINE_FILES]; /* folders to write in; NULL: none */
	bool reads_others;                 /* true if inputs name further files: then there is a broker in any case */
	bool threads;                      /* true if the process will start threads */
	bool unprivileged;                 /* true if the broker gives up its capabilities, too */
};

/* Starts the broker if needed, and gives up the rights of the process. Call this before threads start. Warns of layers
 * of the sandbox that this kernel lacks (sandbox_warn); the other layers are in force. */
void confine(const struct confine *confinement);

#endif
