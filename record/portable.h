/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portable.h - `pjrecord --portable`: adds the names of functions to the complete recording, before the file gets its
 * name.
 *
 * pjpack finds the names, as pjfold would, at the end of the recording. Processes may have ended by then, so the symbol
 * saver stores their symbols in a temporary folder beside the recording, .NAME.symbols. pjpack runs with the
 * capabilities of the recorder, and drops them as pjfold does. If a run was killed, the next run for the same file
 * removes the folder of the killed run.
 *
 * Order of calls: portable_find; portable_begin after privileges are dropped; then portable_pack when the recording is
 * complete and the symbol saver has ended, or portable_abandon.
 */
#ifndef PJ_PORTABLE_H
#define PJ_PORTABLE_H

#include "record/single.h"

struct portable {
	/* paths of pjpack and of the folder with the symbols, from malloc */
	char *program, *symbols;
	/* name of the symbol folder, from malloc; the folder is in the directory of the descriptor
	 * single->place.folder */
	char *name;
	const struct single *single;
	/* true: pjpack prints its counts, too */
	bool verbose;
};

/* Finds pjpack. Must be called before any file is created. Exits with a message if pjpack is not installed. */
void portable_find(struct portable *portable);

/* Creates the folder for the symbols. On failure, abandons `single` and exits with a message. verbose: see the
 * member. */
void portable_begin(struct portable *portable, struct single *single, bool verbose);

/* Adds the names to the unfinished file of `single`, and removes the folder with the symbols. If pjpack fails, prints a
 * warning and returns false; the file is then unchanged. */
bool portable_pack(struct portable *portable);
void portable_abandon(struct portable *portable);

#endif
