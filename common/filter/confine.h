/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - makes a filter give up its rights before it reads an input.
 *
 * Recordings, stacks, symbol tables and pictures are hostile input. After confine() the process has no capability; it
 * can open no file, start no program, open no socket, access no other process, and make at most 26 different system
 * calls (sandbox.h). Another process, the broker, opens files for it (broker.h). The broker has the capabilities of the
 * user, and writes only below the folders of the outputs and those in struct confine.
 *
 * A filter has no broker if it writes to standard output and reads standard input and at most 64 named regular files:
 * then it opens them before it gives up its rights, which saves 0.5 ms. It has a broker with --unprivileged, if an
 * option names another file, and if inputs name further files (perf.data) or may do so.
 */
#ifndef PJ_CONFINE_H
#define PJ_CONFINE_H

#include "common/base.h"

enum { CONFINE_FILES = 4 };

struct confine {
	char *const *input;                /* paths of inputs, with NULL at the end; NULL: none */
	const char *file[CONFINE_FILES];   /* paths of other files to read, which options name; NULL: none */
	const char *output[CONFINE_FILES]; /* paths of files to write, which may be symbolic links; NULL: none */
	const char *folder[CONFINE_FILES]; /* folders to create files in; NULL: none */
	bool reads_others; /* true if inputs name further files to read, for which a broker is always needed */
	bool threads;      /* true if the filter will start threads */
	bool unprivileged; /* true if the broker gives up its capabilities, as the filter does */
};

/* Starts the broker if one is needed, and gives up the rights of this process. Must be called before threads start.
 * Warns if the kernel lacks a layer of the sandbox (sandbox_warn); the other layers are active. */
void confine(const struct confine *confinement);

#endif
