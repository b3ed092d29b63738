/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renamer.h - gives the complete recording its name, or removes the incomplete one, after the recorder gave up its
 * rights.
 *
 * In a folder of another user (root in a folder of the user who called sudo), the recorder can create a file. After it
 * has given up its rights, it cannot rename the file. So a helper process, pjrecord-rename, is forked before. It keeps
 * the right to write to folders, which its sandbox limits to this folder. It waits for one command, and does nothing if
 * the recorder ends without a command.
 *
 * A recorder that has no rights to lose renames the file itself, and so does one whose helper failed.
 */
#ifndef PJ_RENAMER_H
#define PJ_RENAMER_H

#include "common/base.h"

#include <sys/types.h>

struct renamer {
	int folder;              /* descriptor of the folder of both files */
	const char *part, *name; /* names of the incomplete and of the complete file */
	pid_t pid;               /* pid of the helper process; 0: there is none */
	int socket;
};

/* Starts the helper process if this process may lose the right to rename files in the folder; otherwise, or on failure,
 * none runs. folder, part and name must be valid until the call of renamer_finish. */
void renamer_start(struct renamer *renamer, int folder, const char *part, const char *name);

/* Renames the incomplete file to `name` (complete true) or removes it (false), and ends the helper process. If `name`
 * is perf.data, an existing file of that name becomes perf.data.old first, as with perf record; a warning is printed if
 * it cannot. An existing file of another name, which the user chose, is replaced. Returns 0, or the errno of the
 * failure. */
int renamer_finish(struct renamer *renamer, bool complete);

#endif
