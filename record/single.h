/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.h - output file of one recording, which gets its name when it is complete, or standard output.
 *
 * Until the recording is complete, the file is called NAME.part; pjfold and perf can read it if the recorder is killed.
 * The recorder holds an exclusive lock (flock) of it. So a second recorder with the same output is refused, and the
 * file of a killed recorder, which has no lock, is replaced. The module refuses links, FIFOs and files that another
 * user may have planted (outpath.h).
 *
 * While the file is open, the recorder gives up its rights, among them root's right to write into folders of other
 * users. A helper process that keeps this right gives the file its name (renamer.h). A recording that fails leaves an
 * earlier file of that name as it is.
 *
 * Order of calls: single_open, then write to fd and single_expect, then either single_close or single_abandon.
 */
#ifndef PJ_SINGLE_H
#define PJ_SINGLE_H

#include "common/files/outpath.h"
#include "record/renamer.h"

/* The output. fd is valid from single_open to single_close or single_abandon. The caller writes to fd and must not
 * close it. */
struct single {
	int fd;
	/* path that the user gave; NULL: the output is standard output */
	const char *path;
	/* name of the unfinished file in the folder place.folder, from malloc; NULL: fd is a FIFO, a magic path or
	 * standard output */
	char *part;
	/* true: the caller of pjrecord removes the unfinished file, so messages do not offer it */
	bool temporary;
	struct outpath place;
	struct renamer renamer;
};

/* Opens the output. path: NULL: standard output. Must be called before privileges are dropped and threads start. Exits
 * with a message if the output cannot be opened or is a terminal. */
void single_open(struct single *single, const char *path);

/* Exits with a message if another program has removed or replaced the unfinished file, as a second recorder may on a
 * file system without locks: the file of that recorder would get the name of this recording. */
void single_expect(const struct single *single);

/* Completes the output: syncs the file to disk, gives it its name, and closes it. error: errno of an earlier failed
 * write; 0: no failure. Exits with a message if error is not 0, or if one of the steps fails. If the recording could
 * not be written, keeps the unfinished file, unless it is empty, and names it in the message, unless it is temporary.
 */
void single_close(struct single *single, int error);

/* Closes the output and deletes the unfinished file. */
void single_abandon(struct single *single);

#endif
