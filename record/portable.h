/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portable.h - pjrecord --portable: adds the names of functions to the complete recording, before it gets its name.
 *
 * The names are found by pjpack, which finds what pjfold finds, at the end of the recording. Processes may have ended
 * by then, so the symbol saver keeps their symbols in a temporary folder beside the recording, .NAME.symbols. pjpack
 * runs with the capabilities of the recorder, and gives them up as pjfold does. A folder that a killed run left is
 * removed by the next one for the same file.
 *
 * Order of calls: portable_find; portable_begin after privileges are dropped; then portable_pack when the recording is
 * complete and the symbol saver has ended, or portable_abandon.
 */
#ifndef PJ_PORTABLE_H
#define PJ_PORTABLE_H

#include "record/single.h"

struct portable {
	/* path of pjpack, and of the folder with the symbols; from malloc */
	char *program, *symbols;
	/* name of that folder in single->place.folder, from malloc */
	char *name;
	const struct single *single;
	/* pjpack prints its counts, too */
	bool verbose;
};

/* Finds pjpack, before any file is created. Exits with a message if there is none. */
void portable_find(struct portable *portable);

/* Creates the folder with the symbols. Exits with a message on failure. */
void portable_begin(struct portable *portable, const struct single *single, bool verbose);

/* Packs the unfinished file of `single`, and removes the folder. Returns false, with a warning, if pjpack failed: the
 * file is then unchanged. */
bool portable_pack(struct portable *portable);
void portable_abandon(struct portable *portable);

#endif
