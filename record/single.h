/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.h - output file of one recording, which appears under its name when it is complete, or standard output.
 *
 * While it is written, the file is called NAME.part; pjfold and perf can read it if the recorder is killed. Links,
 * FIFOs and files that another user may have planted are refused (outpath.h).
 *
 * Order of calls: single_open, then write to fd, then either single_close or single_abandon.
 */
#ifndef PJ_SINGLE_H
#define PJ_SINGLE_H

#include "common/files/outpath.h"

/* The output. fd is valid from single_open to single_close or single_abandon; the caller writes to it and does not
 * close it. */
struct single {
	int fd;
	/* path that the user gave; NULL: standard output */
	const char *path;
	/* name of the unfinished file in place.folder, from malloc; NULL if fd is a FIFO or standard output, which
	 * is written directly */
	char *part;
	struct outpath place;
};

/* Opens the output; path is NULL for standard output. Exits with a message if it cannot be opened or is a terminal. */
void single_open(struct single *single, const char *path);

/* Completes the output: syncs the file to disk, gives it its name and closes it. error: errno of a failed write, 0 for
 * none. Exits with a message if error is not 0 or one of these steps fails. */
void single_close(struct single *single, int error);

/* Closes the output and deletes the unfinished file. */
void single_abandon(struct single *single);

#endif
