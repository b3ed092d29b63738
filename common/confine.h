/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - a filter gives up its rights before it reads an input.
 *
 * Recordings, stacks, symbol tables and pictures are hostile data. Afterwards the filter can read files, and write only below the
 * folders of its outputs and those that it names; it can start no program, open no network socket, and reach no other process
 * (sandbox.h).
 */
#ifndef PJ_CONFINE_H
#define PJ_CONFINE_H

#include "base.h"

enum { CONFINE_FILES = 4 };

struct confine {
	const char *output[CONFINE_FILES]; /* files that will be written, links among them; NULL: none */
	const char *folder[CONFINE_FILES]; /* folders that will be written in; NULL: none */
	bool unprivileged;                 /* give up capabilities, too */
};

/* To be called before threads start. Returns the first layer that this kernel lacks, for a message, or NULL: the other layers hold. */
const char *confine(const struct confine *c);

#endif
