/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - a filter gives up its rights before it reads an input.
 *
 * Recordings, stacks, symbol tables and pictures are hostile data. Afterwards the process has no capability, can open
 * no file, start no program, open no socket, reach no other process, and makes 25 different system calls at most
 * (sandbox.h). A second process, the broker, opens files for it (broker.h): it has the capabilities of the starter, and
 * writes only below the folders of the outputs and those that are named here. Without inputs and outputs (a filter
 * between two pipes) there is no broker.
 */
#ifndef PJ_CONFINE_H
#define PJ_CONFINE_H

#include "common/base.h"

enum { CONFINE_FILES = 4 };

struct confine {
	char *const *input;                /* operands, up to NULL; may be NULL */
	const char *file[CONFINE_FILES];   /* other files that are read, by options; NULL: none */
	const char *output[CONFINE_FILES]; /* files that will be written, links among them; NULL: none */
	const char *folder[CONFINE_FILES]; /* folders that will be written in; NULL: none */
	bool reads_others;                 /* files that inputs name: there is a broker in any case */
	bool threads;                      /* threads will be started */
	bool unprivileged;                 /* the broker gives up its capabilities, too */
};

/* Gives up the rights of the process. Call it before threads start. Warns of layers that this kernel lacks
 * (sandbox_warn); the others are in force. */
void confine(const struct confine *confinement);

#endif
